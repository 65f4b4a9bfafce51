"""Bayes rules and their errors."""

import math

import numpy as np
import pytest
from scipy.special import logsumexp


def log_normal(X, mean, variance=1.0):
    """Logarithm of the density of a Gaussian with the covariance variance I."""
    d = X.shape[1]
    return -0.5 * ((X - np.asarray(mean)) ** 2).sum(axis=1) / variance - 0.5 * d * math.log(2.0 * math.pi * variance)


def log_sum(*parts):
    """Logarithm of a mixture of (weight, log density)."""
    return logsumexp([math.log(weight) + values for weight, values in parts], axis=0)


def bayes_error_on(X, y, log_densities):
    """Error of the class of largest density; classes are 1, 2, ... and equally probable."""
    return np.mean(np.argmax(log_densities(X), axis=0) + 1 != y)


def assert_bayes_error(make, log_densities, exact, n=40_000):
    """The rule of the exact densities has the exact error within three standard errors, and the docstring states it."""
    error = bayes_error_on(*make(n, random_state=0), log_densities)
    assert error == pytest.approx(exact, abs=3.0 * math.sqrt(exact * (1.0 - exact) / n))
    assert f"{100.0 * exact:.2f} %" in make.__doc__
