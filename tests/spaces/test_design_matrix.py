"""Products with X, its transpose and a Hessian against numpy: dense or CSR, of some columns, in threads or not."""

import numpy as np
import pytest
from scipy import sparse

from semisvm.spaces import design_matrix, kernels
from semisvm.spaces.design_matrix import DesignMatrix

KINDS = ["dense64", "dense32", "csr64", "csr32", "int64 indices"]
N, D = 61, 7

every_kind = pytest.mark.parametrize("kind", KINDS)
in_threads_or_not = pytest.mark.parametrize("n_threads", [1, 3])


def random_matrix(n=N, d=D):
    X = np.random.default_rng(0).standard_normal((n, d))
    X[np.abs(X) < 0.6] = 0.0
    X[::9] = 0.0
    return X


def make_design(X, kind):
    """A design matrix, and the same numbers as a dense array of float64."""
    X = X.astype(np.float32 if kind.endswith("32") else np.float64)
    if kind.startswith("dense"):
        return DesignMatrix(X), X.astype(np.float64)
    csr = sparse.csr_array(X)
    if kind == "int64 indices":
        csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
        assert csr.indices.dtype == csr.indptr.dtype == np.int64
    return DesignMatrix(csr), X.astype(np.float64)


def random_columns(length, width, seed):
    return np.random.default_rng(seed).standard_normal(length if width is None else (length, width))


def random_curvature(width, n=N):
    """None at some samples, and at others only in some columns."""
    H = np.abs(random_columns(n, width, 3)) * (random_columns(n, width, 4) > 0)
    H[5:12] = 0.0
    return H


def use_threads(monkeypatch, count):
    """Blocks as if the matrix were large: some for threads, and within these some that fit the cache."""
    if count > 1:
        monkeypatch.setattr(design_matrix, "SMALL", 0)
        monkeypatch.setattr(design_matrix, "CACHE_SIZE", 0)
        monkeypatch.setattr(design_matrix, "n_available_threads", lambda: count)


def assert_equal(found, expected, rtol=1e-12):
    assert found.dtype == np.float64
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)


def check_products(design, X, V, P, H, shift):
    """Every product against numpy."""
    assert_equal(design.product(V), X @ V)
    assert_equal(design.adjoint(P), X.T @ P)
    wanted = np.asarray(P > 0.3)
    assert_equal(design.partial_product(V, wanted)[wanted], (X @ V)[wanted])
    out, totals, scores = design.hessian_product(V, shift, H)
    middle = H * (X @ V + shift)
    assert_equal(np.where(H != 0.0, scores, 0.0), np.where(H != 0.0, X @ V + shift, 0.0))
    known = ~np.isnan(scores)
    assert_equal(scores[known], (X @ V + shift)[known])
    assert_equal(out, X.T @ middle)
    assert_equal(np.asarray(totals), np.asarray(middle.sum(axis=0)))
    single = design.X.dtype == np.float32  # squares are computed in the precision of X
    assert_equal(design.weighted_squares(H), (X**2).T @ H, 1e-6 if single else 1e-12)


def check_random_products(design, X, width):
    n, d = X.shape
    shift = 0.4 if width is None else np.linspace(-1.0, 2.0, width)
    V, P, H = random_columns(d, width, 1), random_columns(n, width, 2), random_curvature(width, n)
    before = [array.copy() for array in (V, P, H)]
    check_products(design, X, V, P, H, shift)
    for now, then in zip((V, P, H), before):
        np.testing.assert_array_equal(now, then)


@every_kind
@in_threads_or_not
def test_products_are_those_of_numpy(kind, n_threads, monkeypatch):
    use_threads(monkeypatch, n_threads)
    design, X = make_design(random_matrix(), kind)
    for width in (None, 1, 2, 3, 4, 5, 8, 10):  # None is a single column without an axis of its own
        assert len(design._parts(width or 1)) == n_threads
        check_random_products(design, X, width)
    for small in (random_matrix()[1:2], random_matrix()[:, :1], random_matrix()[1:2, :1], np.zeros((4, 3))):
        design, X = make_design(small, kind)
        for width in (None, 1, 4, 5):
            check_random_products(design, X, width)
    assert design.max_norm == 0.0


@every_kind
def test_one_shift_serves_all_columns_and_samples_without_curvature_do_not_count(kind):
    design, X = make_design(random_matrix(), kind)
    V = random_columns(D, 5, 1)
    check_products(design, X, V, random_columns(N, 5, 2), random_curvature(5), -1.7)
    check_products(design, X, V, np.zeros((N, 5)), np.zeros((N, 5)), 3.0)
    for column in range(5):  # one column alone, among the four that go together and beside them
        H = np.zeros((N, 5))
        H[:, column] = 1.0 + np.arange(N)
        check_products(design, X, V, H, H, 3.0)


@every_kind
@in_threads_or_not
def test_columns_may_be_in_any_order_in_memory(kind, n_threads, monkeypatch):
    use_threads(monkeypatch, n_threads)
    design, X = make_design(random_matrix(), kind)
    V, P, H = (
        np.asfortranarray(array) for array in (random_columns(D, 10, 1), random_columns(N, 10, 2), random_curvature(10))
    )
    for part in (slice(None), slice(0, 5), slice(1, None, 2), slice(None, None, -1), 3):
        check_products(design, X, V[:, part], P[:, part], H[:, part], 0.5)


@every_kind
@pytest.mark.parametrize("n_threads", [2, 5, 100])
def test_threads_take_every_sample_once_and_equal_numbers_of_entries(kind, n_threads, monkeypatch):
    use_threads(monkeypatch, n_threads)
    design, X = make_design(random_matrix(), kind)
    parts = design._parts(1)
    taken = np.concatenate([np.arange(part.start, part.stop) for part in parts])
    np.testing.assert_array_equal(taken, np.arange(N))
    n_entries = np.count_nonzero(X, axis=1) if design.sparse else np.full(N, D)
    assert max(n_entries[part].sum() for part in parts) <= n_entries.sum() / len(parts) + 2 * D
    check_random_products(design, X, 5)


@pytest.mark.parametrize("kind", ["dense64", "csr64"])
def test_small_matrices_are_left_to_one_thread(kind, monkeypatch):
    monkeypatch.setattr(design_matrix, "n_available_threads", lambda: 3)
    design, X = make_design(random_matrix(), kind)
    assert design._parts(10) == [slice(0, N)]
    monkeypatch.setattr(design_matrix, "SMALL", 4 * (np.count_nonzero(X) if design.sparse else N * D))
    assert len(design._parts(4)) == 1
    assert len(design._parts(5)) == 3


@every_kind
def test_norms_of_samples(kind):
    design, X = make_design(random_matrix(), kind)
    rtol = 1e-6 if kind.endswith("32") else 1e-12
    np.testing.assert_allclose(design.squared_norms(), (X**2).sum(axis=1), rtol=rtol)
    assert isinstance(design.max_norm, float)
    assert design.max_norm == pytest.approx(np.linalg.norm(X, axis=1).max(), rel=1e-6)


def test_entries_of_one_place_are_summed_before_they_are_squared(monkeypatch):
    X = sparse.csr_array((np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 0, 1, 1]), np.array([0, 2, 2, 4])), shape=(3, 2))
    np.testing.assert_array_equal(DesignMatrix(X).squared_norms(), [9.0, 0.0, 49.0])
    monkeypatch.setattr(kernels, "BLOCK", 1)  # by single rows
    np.testing.assert_array_equal(DesignMatrix(X).squared_norms(), [9.0, 0.0, 49.0])


@every_kind
def test_weighted_gram_norms_of_mapped_samples_and_parts(kind, monkeypatch):
    monkeypatch.setattr(design_matrix, "BLOCK_ROWS", 10)
    design, X = make_design(random_matrix(), kind)
    cost, T, shift = np.abs(random_columns(N, None, 3)), random_columns(D, 4, 5), random_columns(4, None, 6)
    gram, sums = design.weighted_gram(cost)
    rtol = 1e-5 if kind.endswith("32") else 1e-12  # sums of CSR of float32 are of that type
    np.testing.assert_allclose(gram, X.T @ (cost[:, None] * X), rtol=rtol, atol=rtol)
    assert_equal(sums, X.T @ cost)
    assert_equal(design.mapped_norms(T, shift), np.square(X @ T + shift).sum(axis=1))
    some = np.array([3, 8, 9, 40])
    assert_equal(design.take(some).product(T), (X @ T)[some])
    assert design.take(np.arange(N)) is design


def test_a_visit_sees_all_samples_in_order():
    design, X = make_design(random_matrix(), "dense64")

    def running_sums(rows, state, factor, weights):
        sums = state[0] + factor * np.cumsum(weights[:, None] * rows, axis=0)
        return (sums[-1],), (sums,)

    weights = random_columns(N, None, 1)
    (last,), (sums,) = design.visit(running_sums, (np.ones(D),), (2.0,), (weights,))
    assert_equal(sums, 1.0 + 2.0 * np.cumsum(weights[:, None] * X, axis=0))
    np.testing.assert_array_equal(last, sums[-1])
