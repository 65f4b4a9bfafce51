"""Breiman's data: moments and Bayes errors."""

import math

import numpy as np
import pytest
from bayes import assert_bayes_error, bayes_error_on, log_normal
from scipy.special import log_ndtr
from scipy.stats import ncx2, norm

from semisvm.datasets import make_ringnorm, make_twonorm, make_waveform

N = 20_000
A = 2.0 / math.sqrt(20.0)
# the waves of classes 1, 2 and 3: triangles around features 7, 15 and 11
FEATURE = np.arange(1, 22)
WAVE_7, WAVE_15, WAVE_11 = (np.maximum(6.0 - abs(FEATURE - peak), 0.0) for peak in (7, 15, 11))
PAIRS = [(WAVE_7, WAVE_15), (WAVE_7, WAVE_11), (WAVE_15, WAVE_11)]


@pytest.mark.parametrize("make", [make_twonorm, make_ringnorm])
def test_classes_are_drawn_with_equal_probability(make):
    _, y = make(N, random_state=0)
    assert set(y) == {1, 2}
    assert abs(np.mean(y == 1) - 0.5) < 5.0 * 0.5 / math.sqrt(N)
    switches = np.mean(np.diff(y) != 0)
    assert abs(switches - 0.5) < 5.0 * 0.5 / math.sqrt(N)


@pytest.mark.parametrize(
    ("make", "means", "variances"), [(make_twonorm, (A, -A), (1.0, 1.0)), (make_ringnorm, (0.0, A), (4.0, 1.0))]
)
def test_means_and_covariances(make, means, variances):
    X, y = make(N, random_state=0)
    assert X.shape == (N, 20)
    for label, mean, variance in zip((1, 2), means, variances):
        standard_error = math.sqrt(variance / (N / 2))
        np.testing.assert_allclose(X[y == label].mean(axis=0), mean, atol=5.0 * standard_error)
        covariance = np.cov(X[y == label].T)
        np.testing.assert_allclose(covariance, variance * np.eye(20), atol=7.5 * variance / math.sqrt(N / 2))


def test_bayes_error_of_twonorm():
    assert_bayes_error(make_twonorm, lambda X: [log_normal(X, A), log_normal(X, -A)], norm.cdf(-2.0))


def test_bayes_error_of_twonorm_does_not_depend_on_the_number_of_features():
    X, y = make_twonorm(40_000, 3, random_state=0)
    error = np.mean((X.sum(axis=1) < 0) != (y == 2))
    assert error == pytest.approx(norm.cdf(-2.0), abs=3.0 * math.sqrt(0.0228 * 0.9772 / 40_000))


def ringnorm_bayes_error(squared_mean, d=20):
    """Class 1 lies outside of the sphere |x - 4/3 m|^2 = 4/3 (2 d log 2 + |m|^2 / 3)."""
    radius = 4.0 / 3.0 * (2.0 * d * math.log(2.0) + squared_mean / 3.0)
    wide_inside = ncx2.cdf(radius / 4.0, d, 16.0 / 9.0 * squared_mean / 4.0)
    return 0.5 * (wide_inside + ncx2.sf(radius, d, squared_mean / 9.0))


def test_bayes_error_of_ringnorm():
    def log_densities(X):
        return [log_normal(X, 0.0, 4.0), log_normal(X, A)]

    assert_bayes_error(make_ringnorm, log_densities, ringnorm_bayes_error(4.0), n=100_000)
    assert f"{100.0 * ringnorm_bayes_error(1.0):.2f} %" in make_ringnorm.__doc__  # of the other definition


def waveform_log_densities(X):
    """The integral over u of N(x; u a + (1 - u) b, I), up to a constant."""
    out = []
    for a, b in PAIRS:
        direction = a - b
        length = np.linalg.norm(direction)
        along = (X - b) @ direction / length
        across = ((X - b) ** 2).sum(axis=1) - along**2
        upper, lower = log_ndtr(along), log_ndtr(along - length)
        out.append(-0.5 * across + upper + np.log1p(-np.exp(lower - upper)) - math.log(length))
    return out


def test_density_of_waveform_by_quadrature():
    X, _ = make_waveform(5, random_state=1)
    u = (np.arange(4000) + 0.5) / 4000
    for found, (a, b) in zip(waveform_log_densities(X), PAIRS):
        squared = ((X[:, None] - u[:, None] * a - (1.0 - u[:, None]) * b) ** 2).sum(axis=2)
        # the common constant of the Gaussian in one direction
        expected = np.log(np.exp(-0.5 * squared).mean(axis=1)) - 0.5 * math.log(2.0 * math.pi)
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_bayes_error_of_waveform_is_the_stated_one():
    n = 60_000
    X, y = make_waveform(n, random_state=0)
    error = bayes_error_on(X, y, waveform_log_densities)
    assert error == pytest.approx(0.133, abs=3.0 * math.sqrt(0.133 * 0.867 / n))
    densities = np.exp(waveform_log_densities(X))
    error = np.mean((densities[1] > densities[0] + densities[2]) != (y == 2))
    assert error == pytest.approx(0.083, abs=3.0 * math.sqrt(0.083 * 0.917 / n))
    assert "13.3 %" in make_waveform.__doc__
    assert "8.3 %" in make_waveform.__doc__


def test_moments_of_waveform():
    X, y = make_waveform(N, random_state=0)
    assert X.shape == (N, 21)
    np.testing.assert_allclose(np.bincount(y)[1:] / N, 1 / 3, atol=5.0 * math.sqrt(2 / 9 / N))
    for label, (a, b) in enumerate(PAIRS, start=1):
        covariance = np.eye(21) + np.outer(a - b, a - b) / 12.0  # 1/12 is the variance of u
        deviations = np.sqrt(np.diag(covariance))
        atol = 5.0 * deviations / math.sqrt(N / 3)
        assert np.all(abs(X[y == label].mean(axis=0) - (a + b) / 2.0) < atol)
        error = abs(np.cov(X[y == label].T) - covariance)
        assert np.all(error < 7.5 * np.outer(deviations, deviations) / math.sqrt(N / 3))
