"""Cholesky features against the kernel matrix; singular matrices; models on new samples."""

import numpy as np
import pytest

from factories import random_samples
from references import assert_close, kernel_matrix
from semisvm.spaces import DesignMatrix, Kernel, cholesky_features, has_cholesky_factor, kernel_pca, leading_directions

KERNELS = [Kernel("rbf", 0.3), Kernel("linear"), Kernel("poly", 0.5, 1.0, 2), Kernel("laplacian", 0.4)]
N = 60


@pytest.mark.parametrize("kernel", KERNELS, ids=[kernel.name for kernel in KERNELS])
@pytest.mark.parametrize("copies", [1, 2], ids=["distinct", "twice"])
def test_products_are_kernel_values_and_models_are_those_of_samples(kernel, copies):
    X = np.tile(random_samples(N), (copies, 1))
    K, space = kernel_matrix(kernel, X), cholesky_features(kernel, X)
    assert_close(space.X @ space.X.T, K, 1e-9)
    assert space.X.shape[1] == np.linalg.matrix_rank(K, tol=1e-10)
    w = np.random.default_rng(0).standard_normal(space.X.shape[1])
    new = random_samples(7, seed=3)
    other = kernel_pca(kernel, X, len(X))  # the same function in other coordinates
    v = np.linalg.lstsq(other.X, space.X @ w, rcond=None)[0]
    scores = kernel_matrix(kernel, new, space.landmarks) @ space.landmark_coef(w)
    np.testing.assert_allclose(scores, kernel_matrix(kernel, new, X) @ other.landmark_coef(v), atol=1e-6)
    np.testing.assert_array_equal(space.landmarks, X[space.support])


def test_rows_of_a_factor_are_triangular_and_are_read_to_their_end():
    space = cholesky_features(KERNELS[3], random_samples(N))
    assert (np.triu(space.X, 1) == 0.0).all()
    np.testing.assert_array_equal(space.design.row_ends, np.arange(4, N + 1, 4))
    full = np.ones((9, 5))
    full[:4, 3:] = 0.0
    full[2, 3] = 1.0
    np.testing.assert_array_equal(DesignMatrix(full).row_ends, [4, 5, 5])


def test_kernels_that_may_be_indefinite_have_none():
    assert not has_cholesky_factor(Kernel("precomputed"))
    assert not has_cholesky_factor(Kernel("multiquadric", 1.0, 1.0))
    assert not has_cholesky_factor(Kernel(lambda A, B: A @ B.T))
    assert has_cholesky_factor(Kernel("rbf", 0.3))


def test_kernel_of_zeros_is_refused():
    with pytest.raises(ValueError, match="every kernel value is zero"):
        cholesky_features(Kernel("linear"), np.zeros((5, 2)))


def test_leading_directions_are_those_of_the_largest_variance():
    X = random_samples(200, 5) @ np.diag([100.0, 30.0, 10.0, 3.0, 1.0])
    U, S = DesignMatrix(X).leading
    np.testing.assert_allclose(U @ U.T, np.eye(len(U)), atol=1e-12)
    np.testing.assert_allclose(S, X @ U.T)
    assert np.square(S).sum() > 0.999 * (np.linalg.eigvalsh(X.T @ X)[-len(U) :]).sum()


@pytest.mark.parametrize("order", ["triangular", "permuted"])
def test_leading_directions_leave_out_nothing_but_zeros(order, monkeypatch):
    monkeypatch.setattr(leading_directions, "N_ROWS", 7)
    X = np.tril(random_samples(90, 90) * np.linspace(10.0, 0.1, 90))[:, :75]
    X = X if order == "triangular" else X[np.random.default_rng(0).permutation(90)]
    design = DesignMatrix(X)
    U, S = design.leading
    full = leading_directions.leading_directions(design.rows, np.full(len(design.row_ends), 75))
    np.testing.assert_allclose(S, X @ U.T, atol=1e-10)
    np.testing.assert_allclose(U.T @ U, full.U.T @ full.U, atol=1e-9)
