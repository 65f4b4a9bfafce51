"""The gamma of Parzen windows: the largest leave-one-out likelihood, and what it does not depend on."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import KernelDensity

from semisvm.spaces import bandwidth
from semisvm.spaces.bandwidth import parzen_gamma


def leave_one_out_likelihood(X, gamma):
    """log likelihood of the samples, each under Gaussian windows around all others."""
    squared = cdist(X, X, "sqeuclidean")
    others = squared[~np.eye(len(X), dtype=bool)].reshape(len(X), -1)
    density = np.mean(np.exp(-gamma * others), axis=1)
    return float(0.5 * X.shape[1] * len(X) * np.log(gamma / np.pi) + np.log(density + 1e-300).sum())


def sample_sets():
    rng = np.random.default_rng(4)
    base = rng.standard_normal((30, 2))
    return {
        "one feature": rng.standard_normal((25, 1)),
        "uneven features": rng.standard_normal((40, 3)) * [1.0, 5.0, 0.1] + 100.0,
        "clusters": np.vstack([center + 0.05 * rng.standard_normal((12, 2)) for center in rng.standard_normal((4, 2))]),
        "near pairs": np.vstack([base, base + 0.02 * rng.standard_normal((30, 2))]),
        "heavy tails": rng.standard_cauchy((40, 2)),
        "integers": np.unique(rng.integers(0, 6, (60, 2)), axis=0).astype(float),
    }


every_sample_set = pytest.mark.parametrize("X", sample_sets().values(), ids=sample_sets())


@every_sample_set
def test_leave_one_out_likelihood_is_maximal(X):
    found = parzen_gamma(X)
    grid = np.exp(np.linspace(np.log(found) - 7.0, np.log(found) + 7.0, 281))  # steps of a twentieth
    values = [leave_one_out_likelihood(X, gamma) for gamma in grid]
    best = leave_one_out_likelihood(X, found)
    assert best >= max(values)
    assert abs(np.log(found / grid[np.argmax(values)])) < 0.051
    assert min(leave_one_out_likelihood(X, found * factor) for factor in (0.99, 1.01)) < best


def test_likelihood_is_that_of_kernel_densities():
    X = sample_sets()["one feature"]
    found = parzen_gamma(X)
    windows = KernelDensity(bandwidth=np.sqrt(0.5 / found))
    held_out = [windows.fit(np.delete(X, i, axis=0)).score_samples(X[[i]])[0] for i in range(len(X))]
    assert sum(held_out) == pytest.approx(leave_one_out_likelihood(X, found), abs=1e-6)


@every_sample_set
def test_units_origin_duplicates_and_sparsity(X):
    expected = parzen_gamma(X)
    for factor in (1e-3, 1e5):
        assert parzen_gamma(factor * X) == pytest.approx(expected / factor**2, rel=1e-3)
    assert parzen_gamma(X + 1e6) == pytest.approx(expected, rel=1e-3)
    assert parzen_gamma(np.vstack([X, X])) == pytest.approx(expected, rel=1e-3)
    assert parzen_gamma(np.vstack([X[5:6], X, X[:3], X[5:6]])) == pytest.approx(expected, rel=1e-3)
    X = np.where(np.abs(X) > np.quantile(np.abs(X), 0.3), X, 0.0)
    for kind in (sparse.csr_array, sparse.csr_matrix):
        assert parzen_gamma(kind(X)) == pytest.approx(parzen_gamma(X), rel=1e-3)


@pytest.mark.parametrize("X", [[[0.0], [2.0]], [[1.0, 5.0, 1.0], [2.0, 5.0, 3.0]]], ids=["one feature", "three"])
def test_two_samples_have_a_closed_form(X):
    """The maximum of (gamma / pi)^(d/2) exp(-gamma r^2) is at d / (2 r^2)."""
    X = np.array(X)
    expected = 0.5 * X.shape[1] / ((X[0] - X[1]) ** 2).sum()
    assert parzen_gamma(X) == pytest.approx(expected, rel=1e-3)
    assert parzen_gamma(np.repeat(X, 5, axis=0)) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_samples_without_a_distance_have_a_gamma_of_one(kind):
    for X in (np.array([[3.0, 1.0]]), np.full((20, 3), 7.1), np.zeros((4, 2))):
        assert parzen_gamma(kind(X)) == 1.0


def test_windows_of_many_features_reach_the_nearest_neighbor():
    """The maximum is at about d / (2 r^2), where a kernel value of single precision would underflow."""
    X = np.random.default_rng(5).standard_normal((50, 400))
    nearest = np.sort(cdist(X, X, "sqeuclidean"), axis=1)[:, 1]
    found = parzen_gamma(X)
    assert found * np.median(nearest) == pytest.approx(bandwidth.MAX_EXPONENT, rel=1e-3)
    assert leave_one_out_likelihood(X, 1.5 * found) > leave_one_out_likelihood(X, found)


def test_many_samples_are_subsampled(monkeypatch):
    X = np.random.default_rng(6).standard_normal((121, 2))
    whole = parzen_gamma(X)
    monkeypatch.setattr(bandwidth, "N_SUBSAMPLE", 60)
    expected = parzen_gamma(X[np.linspace(0, 120, 60).astype(int)])
    assert parzen_gamma(X) == pytest.approx(expected, rel=1e-9)
    assert whole != pytest.approx(expected, rel=1e-2)
