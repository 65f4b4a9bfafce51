"""Two classes in the plane: moons, and labels that mislead."""

import math

import numpy as np
import pytest
from bayes import assert_bayes_error
from scipy.stats import norm
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from semisvm.datasets import make_misleading_clusters, make_two_moons


def test_two_moons_are_those_of_scikit_learn():
    X, y = make_moons(51, noise=0.2, random_state=3)
    found, classes = make_two_moons(51, 0.2, random_state=3)
    np.testing.assert_array_equal(found, X)
    np.testing.assert_array_equal(classes, y + 1)


def moon_densities(X, noise):
    """Densities of the two half circles, angles uniform, with Gaussian noise."""
    angles = math.pi * (np.arange(400) + 0.5) / 400
    circles = [(np.cos(angles), np.sin(angles)), (1.0 - np.cos(angles), 0.5 - np.sin(angles))]
    out = []
    for x, y in circles:
        squared = (X[:, :1] - x) ** 2 + (X[:, 1:] - y) ** 2
        out.append(np.exp(-0.5 * squared / noise**2).mean(axis=1) / (2.0 * math.pi * noise**2))
    return out


@pytest.mark.parametrize("noise", [0.1, 0.15, 0.2])
def test_bayes_error_of_two_moons(noise):
    step = 0.04
    grid = np.stack(np.meshgrid(np.arange(-2, 3, step), np.arange(-1.6, 2.1, step)), axis=-1).reshape(-1, 2)
    exact = 0.5 * np.minimum(*moon_densities(grid, noise)).sum() * step**2
    assert f"{100.0 * exact:.2f} % at {noise}" in make_two_moons.__doc__
    n = 10_000
    X, y = make_two_moons(n, noise, random_state=0)
    error = np.mean(np.argmax(moon_densities(X, noise), axis=0) + 1 != y)
    assert error == pytest.approx(exact, abs=3.0 * math.sqrt(exact * (1 - exact) / n))


def densities_of_misleading_clusters(X, side):
    """Density of class 2 (side 1) or 1 (side -1)."""
    first = 0.9 * norm.pdf(X[:, 0], side, 0.8) + 0.1 * norm.pdf(X[:, 0], -5.0 * side, 0.5)
    return first * norm.pdf(X[:, 1], side, 0.4)


def test_bayes_error_of_misleading_clusters():
    step = 0.02
    grid = np.stack(np.meshgrid(np.arange(-8, 8, step), np.arange(-3, 3, step)), axis=-1).reshape(-1, 2)
    exact = 0.5 * np.minimum(*(densities_of_misleading_clusters(grid, side) for side in (-1, 1))).sum() * step**2

    def make(n, random_state):
        return make_misleading_clusters(n, random_state=random_state)[:2]

    make.__doc__ = make_misleading_clusters.__doc__
    assert_bayes_error(make, lambda X: [densities_of_misleading_clusters(X, side) for side in (-1, 1)], exact)


def test_moments_of_misleading_clusters():
    n = 40_000
    X, y, _ = make_misleading_clusters(n, random_state=0)
    between = 0.9 * 0.1 * 6.0**2  # variance of the mean of the cluster
    variances = np.array([0.9 * 0.64 + 0.1 * 0.25 + between, 0.16])
    for label, side in ((1, -1.0), (2, 1.0)):
        members = X[y == label]
        assert len(members) == n / 2
        assert np.all(abs(members.mean(axis=0) - [0.4 * side, side]) < 5.0 * np.sqrt(variances / (n / 2)))
        np.testing.assert_allclose(members.var(axis=0), variances, rtol=10.0 / math.sqrt(n / 2))
        small = members[:, 0] * side < -3.0
        assert np.mean(small) == pytest.approx(0.1, abs=5.0 * math.sqrt(0.09 / (n / 2)))


def test_errors_of_two_simple_rules():
    n, doc = 40_000, make_misleading_clusters.__doc__
    X, y, _ = make_misleading_clusters(n, random_state=0)
    halfway = 0.9 * norm.cdf(-2.5 / math.hypot(1.5 * 0.8, 0.4)) + 0.1 * norm.cdf(6.5 / math.hypot(1.5 * 0.5, 0.4))
    for scores, exact, digits in ((1.5 * X[:, 0] + X[:, 1], halfway, 1), (X[:, 1], norm.cdf(-2.5), 2)):
        error = np.mean((scores > 0) != (y == 2))
        assert error == pytest.approx(exact, abs=3.0 * math.sqrt(exact * (1 - exact) / n))
        assert f"{100 * exact:.{digits}f} %" in doc


@pytest.mark.parametrize("n_labeled", [2, 5, 20])
def test_labeled_are_the_nearest_samples_of_each_class(n_labeled):
    X, y, y_partial = make_misleading_clusters(100, n_labeled, random_state=1)
    is_labeled = y_partial != -1
    np.testing.assert_array_equal(y_partial[is_labeled], y[is_labeled])
    for label, side, count in ((1, -1.0, math.ceil(n_labeled / 2)), (2, 1.0, n_labeled // 2)):
        assert np.sum(y_partial == label) == count
        distances = np.linalg.norm(X - [1.5 * side, side], axis=1)
        assert distances[y_partial == label].max() < distances[(y == label) & ~is_labeled].min()


@pytest.mark.parametrize("seed", range(3))
def test_the_most_confident_samples_of_both_classes_are_wrong(seed):
    """What the figure shows: x1 and x2, and self-training from there."""
    X, y, y_partial = make_misleading_clusters(random_state=seed)
    labels, wrong = np.where(y_partial == -1, 0, y_partial), []
    while np.any(labels == 0):
        scores = SVC(kernel="linear").fit(X[labels > 0], labels[labels > 0]).decision_function(X)
        rest = np.flatnonzero(labels == 0)
        extremes = rest[[scores[rest].argmin(), scores[rest].argmax()]]
        labels[extremes] = np.where(scores[extremes] > 0, 2, 1)
        wrong.append(labels[extremes] != y[extremes])
    assert np.all(wrong[0])
    assert np.mean(labels != y) > 0.05  # ten times the error of the second feature


def test_more_labels_than_samples_are_refused():
    with pytest.raises(ValueError, match="n_labeled=11 is more than n_samples=10; pass n_labeled=10 or less"):
        make_misleading_clusters(10, 11)
