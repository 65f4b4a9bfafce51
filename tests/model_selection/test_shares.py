"""Estimated class shares, against the formulas by brute force and against what is known of the samples."""

import numpy as np
import pytest
from scipy import sparse

from factories import blobs, two_gaussians
from semisvm.balance import AskedShares, standard_error
from semisvm.model_selection import shares
from semisvm.model_selection.shares import ShareEstimator, decide_shares
from semisvm.spaces import Gram, Kernel
from semisvm.spaces.bandwidth import median_squared_distance


def codes_of(y):
    return np.where(y == -1, -1, y - np.min(y[y != -1]))


def estimate(X, codes, weights=None, n_classes=None, **options):
    weights = np.ones(len(codes)) if weights is None else weights
    return ShareEstimator(X, codes >= 0, weights, **options).estimate(codes, n_classes or codes.max() + 1)


def rbf(X):
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.exp(-0.5 / np.median(distances[np.triu_indices(len(X), 1)]) * distances)


def ridge_with_intercept(K, targets):
    """Coefficients and intercept of kernel ridge regression, from its normal equations."""
    m = len(K)
    system = np.block([[K + shares.RIDGE * np.eye(m), np.ones((m, 1))], [np.ones((1, m)), np.zeros((1, 1))]])
    solved = np.linalg.solve(system, np.vstack([targets, np.zeros(targets.shape[1])]))
    return solved[:-1], solved[-1]


def estimate_by_refits(K, codes, k):
    """The formulas of the module with every sample really left out."""
    known, rest = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    m, u = len(known), len(rest)
    t = np.where(codes[known][:, None] == np.arange(k), 1.0, -1.0)
    left_out = np.empty_like(t)
    for i in range(m):
        others = np.delete(np.arange(m), i)
        a, b = ridge_with_intercept(K[np.ix_(known[others], known[others])], t[others])
        left_out[i] = K[known[i], known[others]] @ a + b
    a, b = ridge_with_intercept(K[np.ix_(known, known)], t)
    p_l, p_u = np.clip(left_out, -1, 1), np.clip(K[np.ix_(rest, known)] @ a + b, -1, 1)
    covariance = sum(np.cov(p_l[:, c], t[:, c], bias=True)[0, 1] for c in range(k))
    variance = max(p_l.var(axis=0).sum(), np.vstack([p_l, p_u]).var(axis=0).sum())
    w = min(max(covariance / variance, 0), 1) * m / (m + 4) * u / (u + m)
    r = (np.bincount(codes[known], minlength=k) + 1) / (m + k) + w / 2 * (p_u.mean(axis=0) - p_l.mean(axis=0))
    r = np.maximum(r, min(0.02, 0.2 / k))
    rho2 = min(max((2 * w * covariance - w**2 * variance) / t.var(axis=0).sum(), 0), 0.9)
    return r / r.sum(), (m + k) / (1 - rho2)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_classes", "n_labeled"), [(2, 4), (2, 16), (3, 15)])
def test_the_estimate_is_that_of_real_refits(n_classes, n_labeled, seed):
    X, y = blobs(n_classes, n=40, n_labeled=n_labeled, seed=seed)
    found = estimate(X, codes_of(y))
    expected, n_labels = estimate_by_refits(rbf(X), codes_of(y), n_classes)
    np.testing.assert_allclose(found.shares, expected, rtol=1e-9)
    assert found.n_labels == pytest.approx(n_labels, rel=1e-9)
    assert found.shares.sum() == pytest.approx(1.0)


def test_kernel_values_and_sparse_samples_give_the_same_estimate():
    X, y = two_gaussians(60, 16)
    codes = codes_of(y)
    expected = estimate(X, codes)
    for found in (estimate(sparse.csr_array(X), codes), estimate(rbf(X), codes, precomputed=True)):
        np.testing.assert_allclose(found.shares, expected.shares, rtol=1e-9)
    gamma = 0.5 / median_squared_distance(X, np.ones(len(X)))
    np.testing.assert_allclose(estimate(X, codes, gamma=gamma).shares, expected.shares, rtol=1e-12)
    scaled = Gram(Kernel("rbf", gamma), X).compute() * 7.0
    np.testing.assert_allclose(estimate(scaled, codes, precomputed=True).shares, expected.shares, rtol=1e-9)


@pytest.mark.parametrize("precomputed", [False, True])
def test_a_weight_of_two_is_a_sample_twice_in_any_order(precomputed):
    X, y = two_gaussians(50, 12)
    codes = codes_of(y)
    twice = np.r_[np.flatnonzero(codes >= 0)[:5], np.flatnonzero(codes < 0)[:9]]
    weights = np.ones(len(y))
    weights[twice] = 2.0
    rows = np.random.default_rng(0).permutation(np.r_[np.arange(len(y)), twice])
    gamma = 0.5 / median_squared_distance(X[rows], np.ones(len(rows)))
    K = Gram(Kernel("rbf", gamma), X).compute()
    samples, repeated = (K, K[np.ix_(rows, rows)]) if precomputed else (X, X[rows])
    weighted = estimate(samples, codes, weights, precomputed=precomputed)
    found = estimate(repeated, codes[rows], precomputed=precomputed)
    np.testing.assert_allclose(weighted.shares, found.shares, rtol=1e-9)
    assert weighted.n_labels == pytest.approx(found.n_labels, rel=1e-9)


def test_an_estimator_of_more_labels_gives_the_estimate_of_fewer():
    """A fold asks the estimator of the whole fit without its held-out labels, which must not be seen."""
    X, y = blobs(n=60, n_labeled=24)
    codes = codes_of(y)
    estimator = ShareEstimator(X, codes >= 0, np.ones(len(codes)))
    estimator.estimate(codes, 3)
    held = np.flatnonzero(codes >= 0)[::4]
    without = np.where(np.isin(np.arange(len(codes)), held), -1, codes)
    found, expected = estimator.estimate(without, 3), estimate(X, without)
    np.testing.assert_allclose(found.shares, expected.shares, rtol=1e-9)
    assert found.n_labels == pytest.approx(expected.n_labels, rel=1e-9)


@pytest.mark.parametrize(("share", "factor"), [(0.1, 0.9), (0.5, 0.6), (0.8, 0.6)])
def test_the_estimate_is_nearer_than_counted_labels_and_as_near_as_it_says(share, factor):
    rng = np.random.default_rng(0)
    errors, counted, scores = [], [], []
    for _ in range(60):
        y = (rng.random(220) < share).astype(int)
        X = rng.standard_normal((220, 5)) + 1.5 * y[:, None]
        codes = np.where(np.arange(220) < 20, y, -1)
        if len(set(codes)) < 3:
            continue
        found, truth = estimate(X, codes), y[20:].mean()
        errors.append(found.shares[1] - truth)
        counted.append(y[:20].mean() - truth)
        scores.append(errors[-1] ** 2 / (found.shares[0] * found.shares[1] / found.n_labels))
    assert np.mean(np.square(errors)) < factor * np.mean(np.square(counted))
    assert 0.3 < np.mean(scores) < 2.0


def test_samples_that_tell_nothing_leave_laplaces_rule():
    y = np.repeat([0, 1, -1], [6, 2, 40])
    same = estimate(np.ones((48, 3)), y)
    np.testing.assert_allclose(same.shares, [0.7, 0.3])
    assert same.n_labels == pytest.approx(10.0)


def test_many_labels_are_counted_and_many_samples_thinned_out(monkeypatch):
    X, y = two_gaussians(400, 100)
    codes = codes_of(y)
    whole = estimate(X, codes)
    monkeypatch.setattr(shares, "MAX_VALUES", 100 * 250)
    np.testing.assert_allclose(estimate(X, codes).shares, whole.shares, atol=0.02)
    monkeypatch.setattr(shares, "MAX_LABELED", 99)
    counts = np.bincount(codes[codes >= 0])
    np.testing.assert_allclose(estimate(X, codes).shares, (counts + 1) / 102)
    assert estimate(X, codes).n_labels == 102


def test_shares_of_every_kind():
    classes, codes, weights = np.array(["a", "b"]), np.array([0, 1, -1, 0]), np.array([1.0, 1.0, 5.0, 2.0])
    for given in (None, "auto", "labeled"):
        found = decide_shares(given, classes, codes, weights, None)
        np.testing.assert_allclose(found.shares, [0.75, 0.25])
        assert found.n_labels == 4.0
    for given, expected in ((0.2, [0.8, 0.2]), ({"b": 4.0, "a": 1}, [0.2, 0.8]), (0, [1, 0]), (1, [0, 1])):
        known = decide_shares(given, classes, codes, weights, None)
        np.testing.assert_allclose(known.shares, expected)
        assert known.n_labels == np.inf
    X = np.arange(8.0).reshape(4, 2)
    estimator = ShareEstimator(X, codes >= 0, weights)
    assert isinstance(decide_shares("auto", classes, codes, weights, estimator), AskedShares)
    np.testing.assert_allclose(decide_shares("labeled", classes, codes, weights, estimator).shares, [0.75, 0.25])


def test_standard_errors_let_no_class_vanish():
    assert standard_error(0.3, np.inf) == 0.0
    assert standard_error(0.5, 100.0) == pytest.approx(0.05)
    for share in (0.01, 0.2, 0.97, 0.0, 1.0):
        assert standard_error(share, 1.0) <= min(share, 1.0 - share) / 2
