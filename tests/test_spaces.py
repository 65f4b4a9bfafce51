"""Spaces against dense linear algebra, the memory rule, and scores at new rows."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info

from semisvm import decision, kernels, spaces
from semisvm.kernels import KERNELS, Kernel
from semisvm.spaces import TILE, Features, Gram

N = 2 * TILE + 77  # three tiles, the last one short
NAMED = [Kernel(name, gamma=5.0 if name == "kmod" else 0.2, coef0=1.0, degree=2) for name in KERNELS]
RBF = Kernel("rbf", 0.2)
SOME, OTHERS = np.array([900, 3, 512, 40, 1100]), np.array([7, 511, 3])

every_kernel = pytest.mark.parametrize("kernel", NAMED, ids=[kernel.name for kernel in NAMED])
every_table = pytest.mark.parametrize(
    "table", [np.asarray, sparse.csr_matrix, sparse.csr_array], ids=["dense", "csr_matrix", "csr_array"]
)


def random_rows(n=N, columns=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, columns))


def thin_table(n=N, columns=200):
    """A sparse table below the share at which it is made dense."""
    return sparse.random_array((n, columns), density=0.02, format="csr", rng=np.random.default_rng(1))


def random_coefficients(n=N):
    """One in three is zero."""
    rng = np.random.default_rng(2)
    return rng.standard_normal(n) * (rng.random(n) < 0.67)


def dense_truth(kernel, X):
    X = X.toarray() if sparse.issparse(X) else X
    points = kernels.rows(kernel, X - (0.0 if KERNELS[kernel.name].of == "product" else X.mean(axis=0)), np.float64)
    K = kernels.block(kernel, points, points)
    np.fill_diagonal(K, kernels.diagonal(kernel, points))
    return K


def assert_close(found, expected, tolerance=1e-7):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


@every_kernel
def test_the_whole_matrix_over_several_tiles_equals_the_kernel(kernel):
    X = random_rows()
    assert_close(Gram(kernel, X).whole, dense_truth(kernel, X))


@pytest.mark.parametrize("held", [True, False])
def test_blocks_are_parts_of_the_matrix(held):
    X = random_rows()
    K, gram = dense_truth(RBF, X), Gram(RBF, X)
    assert gram.held is False
    if held:
        assert gram.whole is gram.whole
    assert gram.held is held
    assert_close(gram.square(SOME), K[np.ix_(SOME, SOME)])
    assert_close(gram.diagonal(), K.diagonal())


@every_kernel
@pytest.mark.parametrize("held", [True, False])
def test_a_gram_does_the_algebra_of_its_matrix(kernel, held):
    X, a = random_rows(), random_coefficients()
    K, gram = dense_truth(kernel, X), Gram(kernel, X)
    if held:
        assert gram.whole.shape == K.shape
    assert_close(gram.times(a), K @ a)
    assert_close(gram.scores(a, 0.7), K @ a + 0.7)
    assert_close(gram.norm2(a), a @ K @ a)
    assert_close(gram.adjoint(a), K @ a)
    np.testing.assert_array_equal(gram.from_dual(a), a)
    np.testing.assert_array_equal(gram.times(np.zeros(N)), np.zeros(N))
    assert gram.gram() is gram


def test_cached_rows_stay_right_while_others_push_them_out(monkeypatch):
    monkeypatch.setenv("SEMISVM_MEMORY", str(30 * 100 * 8))  # room for 30 of 100 rows
    X, rng = random_rows(100), np.random.default_rng(3)
    K, gram = dense_truth(RBF, X), Gram(RBF, X)
    assert gram.cache.capacity == 30
    for size in (20, 30, 5, 45, 20, 17, 100, 12):
        index, support = rng.permutation(100)[: min(size, 30)], rng.permutation(100)[:size]
        a = np.zeros(100)
        a[support] = rng.standard_normal(size)
        assert_close(gram.times(a), K @ a)
        assert_close(gram.cache.values[gram.cache.slots(index)], K[index])
        held = np.flatnonzero(gram.cache.slot >= 0)
        assert len(held) <= 30
        assert_close(gram.cache.values[gram.cache.slot[held]], K[held])
    assert not gram.held


@every_kernel
def test_many_rows_are_held_in_float32_close_to_float64(kernel, monkeypatch):
    monkeypatch.setattr(spaces, "EXACT_ROWS", 100)
    X = random_rows()
    gram = Gram(kernel, X)
    assert gram.whole.dtype == np.float32
    assert_close(gram.whole, dense_truth(kernel, X), tolerance=1e-5)


def test_few_rows_and_functions_are_held_in_float64(monkeypatch):
    monkeypatch.setattr(spaces, "EXACT_ROWS", 100)
    assert Gram(RBF, random_rows(100)).dtype == np.float64
    assert Gram(Kernel(lambda A, B: A @ B.T), random_rows(101)).dtype == np.float64


def test_the_memory_rule(monkeypatch):
    X = np.linspace(0.0, 1.0, 20_000)[:, None]
    monkeypatch.setenv("SEMISVM_MEMORY", "1e9")
    gram = Gram(RBF, X)
    assert gram.bytes == 4 * 20_000**2
    assert not gram.fits
    with pytest.raises(MemoryError, match=r"20,000 rows takes 1\.5 GiB and the limit is 0\.9 GiB.*SEMISVM_MEMORY"):
        _ = gram.whole
    assert_close(gram.square(SOME), np.exp(-0.2 * (X[SOME] - X[SOME].T) ** 2), tolerance=1e-6)
    monkeypatch.setenv("SEMISVM_MEMORY", "1.7e9")
    assert gram.fits


def test_the_limit_without_the_variable_is_at_most_four_gib(monkeypatch):
    monkeypatch.delenv("SEMISVM_MEMORY", raising=False)
    assert 0 < spaces.gram_limit() <= 4 * 2**30


def test_a_precomputed_matrix_is_taken_as_it_is(monkeypatch):
    monkeypatch.setenv("SEMISVM_MEMORY", "1")
    K, a = dense_truth(RBF, random_rows(60)), random_coefficients(60)
    gram = Gram(Kernel("precomputed"), K)
    index = np.array([5, 59, 0])
    assert gram.fits
    assert gram.whole is K
    assert_close(gram.times(a), K @ a)
    assert_close(gram.square(index), K[np.ix_(index, index)])


@every_table
def test_features_equal_the_gram_of_a_linear_kernel(table):
    X, a = random_rows(), random_coefficients()
    space, gram = Features(table(X)), Gram(Kernel("linear"), table(X))
    w = space.from_dual(a)
    assert_close(w, X.T @ a)
    assert_close(space.scores(w, -0.4), gram.scores(a, -0.4))
    assert_close(space.norm2(w), gram.norm2(a))
    assert_close(space.adjoint(a), X.T @ a)
    assert_close(space.gram().whole, X @ X.T)


def test_rows_far_from_the_origin_keep_exact_distances():
    X = random_rows() + 1e6
    expected = np.exp(-0.2 * ((X[SOME][:, None] - X[OTHERS]) ** 2).sum(axis=2))
    assert_close(Gram(RBF, X).whole[np.ix_(SOME, OTHERS)], expected, tolerance=1e-8)


@every_kernel
@every_table
def test_a_full_sparse_table_is_made_dense_and_gives_the_same(kernel, table):
    X = random_rows(200)
    gram = Gram(kernel, table(X))
    assert isinstance(gram.rows.X, np.ndarray)
    assert_close(gram.whole, dense_truth(kernel, X))


@every_kernel
def test_a_thin_sparse_table_stays_sparse_and_gives_the_same(kernel):
    X = thin_table()
    gram = Gram(kernel, X)
    assert sparse.issparse(gram.rows.X)
    assert_close(gram.whole, dense_truth(kernel, X))


@every_kernel
@pytest.mark.parametrize("new", [np.asarray, sparse.csr_array], ids=["dense new", "sparse new"])
@pytest.mark.parametrize("train", [np.asarray, sparse.csr_matrix], ids=["dense train", "sparse train"])
def test_scores_at_the_training_rows_are_those_of_the_space(kernel, train, new):
    X, a = thin_table().toarray(), random_coefficients()
    expected = Gram(kernel, train(X)).scores(a, 0.3)
    coef, b = np.array([a, -a]), np.array([0.3, 0.0])
    found = decision.kernel_scores(kernel, new(X), train(X), coef, b)
    assert_close(found, np.c_[expected, 0.3 - expected], tolerance=1e-8)


@every_table
def test_scores_stay_exact_far_from_the_origin(table):
    X, a = random_rows(200) + 1e6, random_coefficients(200)
    expected = Gram(RBF, X).scores(a, 0.3)
    found = decision.kernel_scores(RBF, table(X), table(X), a[None], np.array([0.3]))
    assert_close(found[:, 0], expected, tolerance=1e-6)


def test_scores_without_kept_rows_are_the_intercept():
    found = decision.kernel_scores(RBF, random_rows(5), np.empty((0, 4)), np.empty((2, 0)), np.array([0.3, -1.0]))
    np.testing.assert_array_equal(found, np.tile([0.3, -1.0], (5, 1)))


@every_table
def test_linear_and_precomputed_scores_are_products(table):
    X, coef, b = random_rows(50), random_rows(2, 4, seed=5), np.array([0.3, -1.0])
    assert_close(decision.linear_scores(table(X), coef, b), X @ coef.T + b)
    assert_close(decision.kernel_scores(Kernel("precomputed"), X, X, coef, b), X @ coef.T + b)


def test_threads_that_overlap_leave_the_number_of_blas_threads_as_it_was():
    def blas_threads():
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    before = blas_threads()
    with spaces.one_blas_thread:  # as two tasks in threads do: the first to enter leaves first
        spaces.one_blas_thread.__enter__()
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {1}
    spaces.one_blas_thread.__exit__()
    assert blas_threads() == before
