"""The kernel matrix, whole and by blocks, against the formula, and the memory rule."""

import numpy as np
import pytest
from scipy import sparse

from factories import random_samples
from references import assert_close, kernel_matrix
from semisvm import _threads
from semisvm.spaces import Gram, Kernel, gram
from semisvm.spaces.kernels import KERNELS

N = 183
NAMED = {name: Kernel(name, gamma=5.0 if name == "kmod" else 0.2, coef0=1.0, degree=2) for name in KERNELS}
RBF = NAMED["rbf"]
SOME, OTHERS = np.array([160, 3, 112, 40, 182]), np.array([7, 111, 3])
every_kernel = pytest.mark.parametrize("kernel", NAMED.values(), ids=NAMED)


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles of 50 rows: the matrices have four of them a side, the last one short."""
    monkeypatch.setattr(_threads, "TILE", 50)
    monkeypatch.setattr(gram, "TILE", 50)


def random_coefficients(share=0.67):
    rng = np.random.default_rng(2)
    return rng.standard_normal(N) * (rng.random(N) < share)


def test_a_given_matrix_has_its_rows_in_memory_one_after_the_other():
    K = kernel_matrix(RBF, random_samples(N))
    columns, rows = np.asfortranarray(K), np.ascontiguousarray(K)
    for given in (rows, columns, np.repeat(K, 2, axis=1)[:, ::2]):
        space = Gram(Kernel("precomputed"), given)
        assert space.compute().flags.c_contiguous
        np.testing.assert_array_equal(space.compute(), K)
        assert np.shares_memory(space.compute(), given) == (given is rows or given is columns)  # K is symmetric


@every_kernel
@pytest.mark.parametrize("computed", [True, False])
def test_gram_does_the_algebra_of_its_matrix(kernel, computed, small_tiles):
    X, a = random_samples(N), random_coefficients()
    K, space = kernel_matrix(kernel, X), Gram(kernel, X)
    assert space.is_computed is False
    if computed:
        assert_close(space.compute(), K, 1e-7)
        assert space.compute() is space.compute()
    assert_close(space.diagonal(), K.diagonal(), 1e-7)
    assert_close(space.block(SOME), K[np.ix_(SOME, SOME)], 1e-7)
    assert_close(space.cross_block(SOME, OTHERS), K[np.ix_(SOME, OTHERS)], 1e-7)
    assert_close(space.cross_block(slice(10, 30), OTHERS), K[10:30, OTHERS], 1e-7)
    assert_close(space.squared_distances(7), K.diagonal() + K[7, 7] - 2.0 * K[7], 1e-7)
    assert_close(space.product(random_coefficients(0.3)), K @ random_coefficients(0.3), 1e-7)  # from some of the rows
    assert space.is_computed is computed
    assert_close(space.scores(a, 0.7), K @ a + 0.7, 1e-7)
    assert_close(space.norm2(a), a @ K @ a, 1e-7)
    np.testing.assert_array_equal(space.product(0.0 * a), np.zeros(N))
    np.testing.assert_array_equal(space.from_dual(a), a)
    assert space.gram() is space
    with pytest.raises(TypeError, match="1-norm of w needs a space of features"):
        space.norm1(a)


@every_kernel
def test_many_samples_are_held_in_float32_close_to_float64(kernel, monkeypatch):
    monkeypatch.setattr(gram, "FLOAT64_SAMPLES", 100)
    X = random_samples(N)
    K = Gram(kernel, X).compute()
    assert K.dtype == np.float32
    assert_close(K, kernel_matrix(kernel, X), 1e-4)
    for space in (Gram(kernel, X[:100]), Gram(kernel, X, float64=True), Gram(Kernel(lambda A, B: A @ B.T), X)):
        assert space.dtype == np.float64


@every_kernel
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_samples_with_many_entries_are_made_dense_and_others_stay_sparse(kernel, container, small_tiles):
    few_entries = sparse.random_array((N, 200), density=0.02, random_state=np.random.default_rng(1)).toarray()
    for X, stays_sparse in ((random_samples(N), False), (few_entries, True)):
        space = Gram(kernel, container(X))
        assert sparse.issparse(space.samples.X) is stays_sparse
        assert_close(space.compute(), kernel_matrix(kernel, X), 1e-7)


def test_samples_far_from_the_origin_keep_exact_distances():
    X = random_samples(N) + 1e6
    assert_close(Gram(RBF, X).compute(), kernel_matrix(RBF, X), 1e-8)


def test_matrix_beyond_the_memory_limit_is_refused_and_its_blocks_are_not(monkeypatch):
    X = np.linspace(0.0, 1.0, 20_000)[:, None]
    monkeypatch.setenv("SEMISVM_MEMORY", "1e9")
    space = Gram(RBF, X)
    assert space.n_bytes == 4 * 20_000**2
    assert not space.fits_memory
    with pytest.raises(MemoryError, match=r"20,000 samples.* takes 1\.5 GiB and the limit is 953\.7 MiB.*SEMISVM"):
        space.compute()
    assert_close(space.block(SOME), kernel_matrix(RBF, X[SOME]), 1e-6)
    monkeypatch.setenv("SEMISVM_MEMORY", "1.7e9")
    assert space.fits_memory


def test_rows_are_cached_within_the_memory_limit(monkeypatch):
    monkeypatch.setenv("SEMISVM_MEMORY", str(30 * 100 * 8))  # 30 of 100 rows
    X, rng = random_samples(100), np.random.default_rng(3)
    K, space = kernel_matrix(RBF, X), Gram(RBF, X)
    cache = space.row_cache()
    assert cache is space.row_cache()
    assert cache.capacity == 30
    for size in (20, 30, 5, 45, 20, 17, 100, 12):
        index, a = rng.permutation(100)[: min(size, 30)], np.zeros(100)
        a[rng.permutation(100)[:size]] = rng.standard_normal(size)
        assert_close(space.product(a), K @ a)
        assert_close(cache.values[cache.slots(index)], K[index])
    assert not space.is_computed


def test_precomputed_matrix_is_taken_as_it_is(monkeypatch):
    monkeypatch.setenv("SEMISVM_MEMORY", "1")
    K, a = kernel_matrix(RBF, random_samples(N)), random_coefficients()
    space = Gram(Kernel("precomputed"), K)
    assert space.fits_memory
    assert space.compute() is K
    assert_close(space.product(a), K @ a)
    assert_close(space.block(SOME), K[np.ix_(SOME, SOME)])
    assert_close(space.diagonal(), K.diagonal())


def test_kernel_that_overflows_is_refused():
    with pytest.raises(ValueError, match="'poly' has values that are not finite numbers, by overflow; scale X"):
        Gram(Kernel("poly", degree=400), 1e3 * random_samples(N))


# ---- indefinite matrices ----


@pytest.mark.parametrize("n, largest", [(30, 1000), (30, 10)], ids=["all samples", "Krylov space"])
def test_negative_curvature_is_found_where_it_is(n, largest, monkeypatch):
    """K = Z Z' - v v': negative along v, and on sums of zero only if v is not constant."""
    monkeypatch.setattr(gram, "N_PROBED", largest)
    Z, v = random_samples(n, 5), np.zeros(n)
    v[[0, 1]] = 9.0, -9.0
    definite, indefinite, shifted = Z @ Z.T, Z @ Z.T - np.outer(v, v), Z @ Z.T - 9.0
    for sum_zero in (False, True):
        assert not Gram(Kernel("precomputed"), definite).is_indefinite(sum_zero)
        assert Gram(Kernel("precomputed"), indefinite).is_indefinite(sum_zero)
        assert Gram(Kernel("precomputed"), shifted).is_indefinite(sum_zero) != sum_zero
    assert not Gram(RBF, Z).is_indefinite(False)
