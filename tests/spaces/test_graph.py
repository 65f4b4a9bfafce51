"""Features of a graph of nearest neighbours, against its definition."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from factories import random_samples
from semisvm.spaces import graph
from semisvm.spaces.graph import N_NEIGHBORS, RIDGE, neighbor_graph


def kernel_by_definition(X):
    """D^-1/2 (L + eps)^-1 D^-1/2 with loops over the samples."""
    n = len(X)
    d = cdist(X, X)
    W = np.zeros((n, n))
    nearest = [np.argsort(np.where(np.arange(n) == i, np.inf, d[i]))[:N_NEIGHBORS] for i in range(n)]
    width = [d[i, nearest[i][-1]] for i in range(n)]
    for i in range(n):
        for j in nearest[i]:
            W[i, j] = W[j, i] = np.exp(-(d[i, j] ** 2) / (width[i] * width[j]))
    root = np.sqrt(W.sum(axis=1))
    laplacian = np.eye(n) - W / np.outer(root, root)
    values, vectors = np.linalg.eigh(laplacian)
    return values, vectors, root


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_features_are_those_of_the_regularized_laplacian(container):
    X = random_samples(60)
    space = neighbor_graph(container(X), 12)
    values, vectors, root = kernel_by_definition(X)
    Z = vectors[:, :12] / np.sqrt(values[:12] + RIDGE) / root[:, None]
    np.testing.assert_allclose(space.X @ space.X.T, Z @ Z.T, atol=1e-8)


def test_lanczos_finds_what_lapack_finds(monkeypatch):
    X = random_samples(80)
    dense = neighbor_graph(X, 6).X
    monkeypatch.setattr(graph, "DENSE_SAMPLES", 10)
    found = neighbor_graph(X, 6).X
    np.testing.assert_allclose(found @ found.T, dense @ dense.T, atol=1e-4)


def test_new_samples_have_the_mean_of_their_neighbors_and_training_samples_their_own_features():
    X = np.vstack([random_samples(50), random_samples(50)[:5]])  # some twice
    space = neighbor_graph(X, 10)
    np.testing.assert_allclose(space.extension.extend(X, space.X)[5:50], space.X[5:50], atol=1e-12)
    np.testing.assert_allclose(space.extension.extend(X[:5], space.X), 0.5 * (space.X[:5] + space.X[50:]), atol=1e-12)
    new = random_samples(7, seed=9)
    d = cdist(new, X)
    for x, features in zip(d, space.extension.extend(new, space.X)):
        nearest = np.argsort(x)[:N_NEIGHBORS]
        own = x[nearest[-1]]
        others = np.array([np.sort(cdist(X[[j]], X)[0])[N_NEIGHBORS] for j in nearest])
        weights = np.exp(-(x[nearest] ** 2) / (own * others))
        np.testing.assert_allclose(features, weights @ space.X[nearest] / weights.sum(), atol=1e-10)


def test_far_and_equal_samples_give_finite_features():
    for X in (np.zeros((15, 2)), np.r_[np.zeros((20, 1)), [[1e8]]], 1e-150 * random_samples(30)):
        space = neighbor_graph(X, 8)
        assert np.isfinite(space.X).all()
        assert np.isfinite(space.extension.extend(X + 1.0, space.X)).all()
