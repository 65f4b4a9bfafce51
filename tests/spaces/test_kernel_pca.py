"""Kernel PCA against the eigenvalues of the kernel matrix; containers and new samples: see test_nystroem.py."""

import numpy as np
import pytest

from factories import random_samples
from references import assert_close, kernel_matrix
from semisvm.spaces import Kernel, kernel_pca

KERNELS = [Kernel("rbf", 0.3), Kernel("linear"), Kernel("poly", 0.5, 1.0, 2), Kernel("laplacian", 0.4)]
N = 80


@pytest.mark.parametrize("kernel", KERNELS, ids=[kernel.name for kernel in KERNELS])
@pytest.mark.parametrize("r", [1, 3, 20, N, N + 5])
def test_features_are_the_best_approximation_of_their_rank(kernel, r):
    X = random_samples(N)
    K, space = kernel_matrix(kernel, X), kernel_pca(kernel, X, r)
    d, U = np.linalg.eigh(K)
    assert_close(space.X @ space.X.T, (U[:, -r:] * d[-r:]) @ U[:, -r:].T)
    assert space.X.shape[1] == min(r, np.linalg.matrix_rank(K, tol=1e-10))
    assert_close(space.X.T @ space.X, np.diag(d[::-1][: space.X.shape[1]]))  # orthogonal, the largest first


def test_signs_of_components_do_not_depend_on_the_order_of_samples():
    X, order = random_samples(N), np.random.default_rng(6).permutation(N)
    space, other = kernel_pca(KERNELS[0], X, 5), kernel_pca(KERNELS[0], X[order], 5)
    assert_close(other.X, space.X[order], 1e-7)
    assert (space.X[np.abs(space.X).argmax(axis=0), np.arange(5)] > 0).all()


def test_random_projections_find_the_leading_components():
    X = random_samples(200, 3)
    kernel = Kernel("rbf", 0.3)
    exact, found = kernel_pca(kernel, X, 30), kernel_pca(kernel, X, 30, randomized=True)
    gram = kernel_matrix(kernel, X)
    errors = [np.linalg.norm(gram - space.X @ space.X.T) for space in (exact, found)]
    assert errors[1] < 1.05 * errors[0]
    np.testing.assert_allclose(found.X[:, :5] @ found.X[:, :5].T, exact.X[:, :5] @ exact.X[:, :5].T, atol=1e-3)
    np.testing.assert_allclose(gram @ found.transform, found.X, atol=0.05)
    again = kernel_pca(kernel, X, 30, randomized=True)
    np.testing.assert_array_equal(again.X, found.X)
    few = kernel_pca(kernel, X[:90], 40, randomized=True)  # too few samples for projections to pay
    np.testing.assert_array_equal(few.X, kernel_pca(kernel, X[:90], 40).X)
