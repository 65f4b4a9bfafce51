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
