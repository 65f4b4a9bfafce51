"""Classes that are Gaussians or mixtures of them: moments, order and Bayes errors."""

import math

import numpy as np
import pytest
from bayes import assert_bayes_error, log_normal, log_sum
from scipy.stats import norm

from semisvm.datasets import make_gaus50, make_gaus50x, make_gaussian_clusters, make_two_gaussians

SIGNS = np.repeat([1.0, -1.0], 25)  # of the second cluster of Gaus50x


def test_default_shape_and_dtype():
    X, y = make_two_gaussians(random_state=0)
    assert X.shape == (550, 50)
    assert X.dtype == np.float64
    assert y.shape == (550,)


@pytest.mark.parametrize(("n", "counts"), [(2, [1, 1]), (10, [5, 5]), (11, [6, 5])])
def test_classes_have_equal_sizes_or_one_more_in_the_first(n, counts):
    X, y = make_two_gaussians(n, 3, random_state=1)
    assert X.shape == (n, 3)
    assert np.bincount(y, minlength=3).tolist() == [0, *counts]


def test_samples_are_in_random_order():
    _, y = make_two_gaussians(200, 2, random_state=0)
    assert 60 < (np.diff(y) != 0).sum() < 140  # sorted: 1, alternating: 199


def test_means_and_covariance_are_the_documented_ones():
    n, shift = 20_000, 0.4
    X, y = make_two_gaussians(n, 4, shift=shift, random_state=0)
    five_standard_errors = 5.0 / math.sqrt(n / 2)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), -shift, atol=five_standard_errors)
    np.testing.assert_allclose(X[y == 2].mean(axis=0), shift, atol=five_standard_errors)
    np.testing.assert_allclose(np.cov(X[y == 1].T), np.eye(4), atol=1.5 * five_standard_errors)


@pytest.mark.parametrize(("n_features", "shift"), [(50, 0.23), (4, 0.5), (1, 1.0)])
def test_best_linear_rule_has_the_bayes_error(n_features, shift):
    n = 40_000
    X, y = make_two_gaussians(n, n_features, shift=shift, random_state=0)
    error = ((X.sum(axis=1) > 0) != (y == 2)).mean()
    bayes = 0.5 * math.erfc(shift * math.sqrt(n_features) / math.sqrt(2.0))
    assert error == pytest.approx(bayes, abs=5.0 * math.sqrt(bayes * (1.0 - bayes) / n))


def test_gaus50_has_the_moments_of_the_articles():
    n = 20_000
    X, y = make_gaus50(n, random_state=0)
    five_standard_errors = 5.0 / math.sqrt(n / 2)
    assert abs(np.mean(y == 2) - 0.5) < 5.0 * 0.5 / math.sqrt(n)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), -0.23, atol=five_standard_errors)
    np.testing.assert_allclose(X[y == 2].mean(axis=0), 0.23, atol=five_standard_errors)
    np.testing.assert_allclose(np.cov(X[y == 2].T), np.eye(50), atol=1.5 * five_standard_errors)


def test_bayes_error_of_gaus50():
    mean = np.full(50, 0.23)
    assert_bayes_error(make_gaus50, lambda X: [log_normal(X, -mean), log_normal(X, mean)], norm.cdf(-0.23 * 50**0.5))


def test_gaus50x_has_the_moments_of_the_articles():
    n, mean = 20_000, np.r_[np.full(25, 0.25), np.full(25, 0.25 * (0.49 - 0.51))]
    X, y = make_gaus50x(n, random_state=0)
    five_standard_errors = 5.0 / math.sqrt(n / 2)
    for label, sign in ((1, -1.0), (2, 1.0)):
        members = X[y == label]
        between = np.zeros((50, 50))
        between[25:, 25:] = 0.25**2 * (1.0 - (0.49 - 0.51) ** 2)  # variance of the cluster's mean
        np.testing.assert_allclose(members.mean(axis=0), sign * mean, atol=1.1 * five_standard_errors)
        np.testing.assert_allclose(np.cov(members.T), np.eye(50) + between, atol=1.6 * five_standard_errors)


def gaus50x_bayes_error():
    """By integration over the sums of the first and the last 25 features, divided by 5: two standard normals."""
    step = 0.02
    grid = np.arange(-8.0, 8.0, step) + step / 2
    first, last = np.meshgrid(grid, grid, indexing="ij")
    of_two = norm.pdf(first - 1.25) * (0.49 * norm.pdf(last - 1.25) + 0.51 * norm.pdf(last + 1.25))
    of_one = norm.pdf(first + 1.25) * (0.49 * norm.pdf(last + 1.25) + 0.51 * norm.pdf(last - 1.25))
    return 0.5 * np.minimum(of_one, of_two).sum() * step**2


def test_bayes_error_of_gaus50x():
    def log_densities(X):
        return [
            log_sum((0.49, log_normal(X, sign * np.full(50, 0.25))), (0.51, log_normal(X, sign * 0.25 * SIGNS)))
            for sign in (-1.0, 1.0)
        ]

    assert_bayes_error(make_gaus50x, log_densities, gaus50x_bayes_error())


@pytest.mark.parametrize("clusters_per_class", [1, 2])
def test_means_of_gaussian_clusters(clusters_per_class):
    n = 8_000
    X, y = make_gaussian_clusters(n, 5, clusters_per_class, random_state=0)
    cluster = np.arange(n) % 4
    assert np.array_equal(y, cluster % 2 + 1)
    for number in range(4):
        second = 0.0 if clusters_per_class == 1 else (-5.0, -5.0, 5.0, 5.0)[number]
        expected = [(-2.5, 2.5)[number % 2], second, 0.0, 0.0, 0.0]
        members = X[cluster == number]
        np.testing.assert_allclose(members.mean(axis=0), expected, atol=5.0 / math.sqrt(n / 4))
        np.testing.assert_allclose(np.cov(members.T), np.eye(5), atol=7.5 / math.sqrt(n / 4))


@pytest.mark.parametrize("clusters_per_class", [1, 2])
def test_bayes_error_of_gaussian_clusters(clusters_per_class):
    heights = [0.0] if clusters_per_class == 1 else [-5.0, 5.0]

    def log_densities(X):
        weight = 1.0 / len(heights)
        return [log_sum(*((weight, log_normal(X, [side, height, 0.0])) for height in heights)) for side in (-2.5, 2.5)]

    def make(n, random_state):
        return make_gaussian_clusters(n, 3, clusters_per_class, random_state)

    make.__doc__ = make_gaussian_clusters.__doc__
    assert_bayes_error(make, log_densities, norm.cdf(-2.5), n=100_000)


def test_the_second_cluster_needs_a_second_feature():
    assert make_gaussian_clusters(4, 1)[0].shape == (4, 1)
    with pytest.raises(ValueError, match=r"n_features=1 has no second feature .* pass n_features=2 or more"):
        make_gaussian_clusters(4, 1, 2)


def test_the_order_of_random_numbers_is_fixed():
    rng = np.random.default_rng(7)
    y = 1 + (rng.random(20) < 0.5)
    noise = rng.standard_normal((20, 50))
    X, found = make_gaus50(20, random_state=7)
    np.testing.assert_array_equal(found, y)
    np.testing.assert_array_equal(X, noise + 0.23 * (2.0 * y[:, None] - 3.0))
    rng = np.random.default_rng(7)
    y, is_second = 1 + (rng.random(20) < 0.5), rng.random(20) < 0.51
    noise = rng.standard_normal((20, 50))
    X, found = make_gaus50x(20, random_state=7)
    np.testing.assert_array_equal(found, y)
    mean = 0.25 * np.where(is_second[:, None], SIGNS, 1.0)
    np.testing.assert_array_equal(X, noise + (2.0 * y[:, None] - 3.0) * mean)
