"""Learning curves: power laws are found again, the gain and its interval follow from them, few labels say nothing."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.ensemble import expected_gain, subset_errors
from semisvm.ensemble.power_law import Prior, fit_power_law

SIZES = np.array([20.0, 30.0, 40.0])


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(subset_errors, "N_DRAWS", 4)


@pytest.fixture
def gaussians():
    X, y = make_two_gaussians(200, random_state=0)
    return X, hide_labels(y, 40, random_state=0)


@pytest.mark.parametrize("error", [0.02, 0.2, 0.4])
@pytest.mark.parametrize("exponent", [0.0, 0.3, 1.0])
def test_an_exact_power_law_is_extrapolated_exactly(error, exponent):
    errors = error * (SIZES / 50) ** -exponent
    curve = fit_power_law(SIZES, errors, np.full(3, 20.0), 50)
    np.testing.assert_allclose(curve.error, error, rtol=1e-9)
    np.testing.assert_allclose(curve.error_at(200), error * 4.0**-exponent, rtol=1e-9)
    np.testing.assert_allclose(curve.gain(150)[0], error * (1 - 4.0**-exponent), rtol=1e-9, atol=1e-12)


def test_the_fit_is_the_most_likely_one():
    errors, counts, prior = np.array([0.3, 0.1, 0.15]), np.array([10.0, 12.0, 8.0]), Prior(-2.0, 0.7, 0.4, 0.3)

    def negative_log_posterior(parameters):
        p = np.exp(parameters[0] - parameters[1] * np.log(SIZES / 50))
        likelihood = counts @ (errors * np.log(p) - p)
        priors = ((parameters[0] + 2.0) / 0.7) ** 2 + ((parameters[1] - 0.4) / 0.3) ** 2
        return 0.5 * priors - likelihood

    curve = fit_power_law(SIZES, errors, counts, 50, prior)
    best = minimize(negative_log_posterior, [-2.0, 0.4], tol=1e-12).x
    np.testing.assert_allclose([np.log(curve.error), curve.exponent], best, atol=1e-5)


def test_no_errors_leave_what_was_known_before():
    prior = Prior(np.log(0.15), 1.0, 0.45, 0.25)
    curve = fit_power_law(SIZES, np.zeros(3), np.full(3, 20.0), 50, prior)
    assert 0.0 < curve.error < 0.05
    assert abs(curve.exponent - 0.45) < 0.2


def test_the_deviation_of_the_gain_is_that_of_its_parameters():
    prior = Prior(np.log(0.15), 1.0, 0.45, 0.25)
    curve = fit_power_law(SIZES, np.array([0.3, 0.25, 0.2]), np.full(3, 2000.0), 50, prior)
    rng = np.random.default_rng(0)
    drawn = rng.multivariate_normal([np.log(curve.error), curve.exponent], curve.covariance, 20000)
    gains = np.exp(drawn[:, 0]) * (1 - (70 / 50) ** -drawn[:, 1])
    np.testing.assert_allclose(curve.gain(20)[1], gains.std(), rtol=0.05)


def test_more_labels_bring_more_and_intervals_narrow_with_the_labels(gaussians):
    X, partly = gaussians
    few, many = (expected_gain(X, partly, n=n, random_state=0) for n in (20, 200))
    assert few.n_labels == 40
    assert few.sizes == many.sizes == (16, 24, 32)
    assert few.errors == many.errors
    assert 0 < few.gain < many.gain < few.error
    assert few.low < few.gain < few.high <= few.error
    assert few == expected_gain(X, partly, n=20, random_state=0)
    labeled = make_two_gaussians(200, random_state=0)[1]
    sure = expected_gain(X, labeled, n=20, random_state=0)  # no sample is unlabeled
    assert sure.high - sure.low < few.high - few.low
    assert "held-out errors so far" in str(few)
    assert str(few).startswith("20 more labels are expected to lower the error from ")


def test_errors_are_those_of_held_out_samples():
    """Labels that say nothing are predicted no better than by chance, labels that say all without error."""
    rng = np.random.default_rng(0)
    X = np.r_[rng.standard_normal((60, 2)), rng.standard_normal((60, 2)) + 20]
    truth = np.repeat([0, 1], 60)
    for labels, low, high in ((truth, 0.0, 0.0), (rng.permutation(truth), 0.3, 0.7)):
        codes = np.where(rng.permutation(120) < 60, labels, -1)
        sizes, errors, n_used = subset_errors.held_out_errors(X, codes, np.random.default_rng(0))
        assert sizes.tolist() == [24, 36, 48]
        assert n_used == 60
        assert low <= errors.min() <= errors.max() <= high


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_several_classes_and_sparse_samples(form):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = np.maximum(rng.standard_normal((90, 4)) + 2 * np.eye(4)[y], 0)
    found = expected_gain(form(X), np.where(np.arange(90) < 45, y, -1), random_state=0)
    assert 0 < found.gain < found.error < 0.67


def test_many_labels_are_used_in_part(monkeypatch, gaussians):
    monkeypatch.setattr(subset_errors, "MAX_LABELED", 20)
    monkeypatch.setattr(subset_errors, "MAX_UNLABELED", 30)
    found = expected_gain(*gaussians, random_state=0)
    assert found.sizes == (8, 12, 16)
    assert found.n_labels == 40
    assert expected_gain(*gaussians, level=0.95, random_state=0).low < found.low


def test_too_few_labels_to_tell():
    X, y = make_two_gaussians(100, random_state=0)
    found = expected_gain(X, hide_labels(y, 29, random_state=0))
    assert found.conclusion == "too few labels to tell: there are 29, and at least 30 are needed"
    assert (found.error, found.gain, found.low, found.high, found.sizes) == (None, None, None, None, ())
    assert str(found) == found.conclusion
    many = np.arange(100) % 10
    assert "at least 40 are needed" in expected_gain(X, np.where(np.arange(100) < 39, many, -1)).conclusion


def test_refusals():
    X, y = make_two_gaussians(60, random_state=0)
    with pytest.raises(ValueError, match=r"level=1\.5 is not allowed"):
        expected_gain(X, y, level=1.5)
    with pytest.raises(ValueError, match=r"n=0\.5 is not allowed"):
        expected_gain(X, y, n=0.5)
    with pytest.raises(ValueError, match="y holds only one class"):
        expected_gain(X, np.ones(60))
    with pytest.raises(ValueError, match="X has 60 samples and y has 10 values"):
        expected_gain(X, y[:10])
