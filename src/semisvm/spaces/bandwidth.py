"""Kernel parameters that are left to the data: gamma, and the total variance of the features.

All functions look at no more than ``N_SUBSAMPLE`` samples, spread evenly over X, and count a sample of weight w like w
samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from .._threads import tiles
from . import kernels
from .distances import to_squared_distances
from .kernels import Kernel

N_SUBSAMPLE = 1000
TILE = 64  # rows of temporary values
MAX_EXPONENT = 20.0  # the largest Parzen gamma gives the nearest neighbor of a typical sample exp(-20)
NEGLIGIBLE = 1e-14  # of the terms of a variance: this much is rounding error


def _subsample(X: Any, weights: np.ndarray, n_samples: int | None = None) -> tuple[Any, np.ndarray]:
    n_samples = N_SUBSAMPLE if n_samples is None else n_samples
    if X.shape[0] <= n_samples:
        return X, weights
    index = np.linspace(0, X.shape[0] - 1, n_samples).astype(int)
    return X[index], weights[index]


def _centered_subsample(X: Any, weights: np.ndarray, n_samples: int | None = None) -> tuple[Any, np.ndarray]:
    """The subsample, centered: distances and variances are unchanged and lose no digits to an offset."""
    X, weights = _subsample(X, weights, n_samples)
    return kernels.centered(X)[0], weights


def resolve_gamma(kernel: Kernel, gamma: str | float, X: Any, weights: np.ndarray) -> float:
    """The number behind the parameter ``gamma``.

    "scale" is 1/(n_features times variance of X), as in scikit-learn; "median" is 0.5 / median squared distance of two
    samples; "auto" is 1/n_features. These suit kernels of products and squared distances. A kernel of the plain
    distance takes the square root and kmod, which divides by the squared distance, the inverse.
    """
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "scale":
        variance = _variance(X, weights)
        value = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    elif gamma == "auto":
        value = 1.0 / X.shape[1]
    else:
        median = median_squared_distance(X, weights)
        value = 0.5 / median if median > 0 else 1.0
    form = kernels.form_of(kernel)
    if kernel.name == "kmod":
        return 1.0 / value
    return float(np.sqrt(value)) if form is not None and form.argument == "distance" else value


def _variance(X: Any, weights: np.ndarray) -> float:
    """Variance of all entries of X together."""
    w = weights / weights.sum()
    if sparse.issparse(X):
        mean = (X.T @ w).sum() / X.shape[1]
        return float((X.multiply(X).T @ w).sum() / X.shape[1] - mean**2)
    mean = (w @ X).mean()
    variance = float((w @ np.square(X - mean)).mean())
    # a variance within the rounding error of the mean is zero
    return variance if variance > (8.0 * np.finfo(np.float64).eps * mean) ** 2 else 0.0


def _squared_distances(X: Any) -> np.ndarray:
    """||x_i - x_j||^2 of all pairs, in the memory of the products."""
    linear = Kernel("linear")
    samples = kernels.prepare(linear, X, np.float64)
    distances = kernels.evaluate(linear, samples, samples)
    norms = distances.diagonal().copy()
    to_squared_distances(distances, norms, norms)
    return distances


def median_squared_distance(X: Any, weights: np.ndarray, n_samples: int | None = None) -> float:
    """Median of ||x_i - x_j||^2 over pairs of samples; of the positive ones, should the median be zero.

    Pairs are those of a subsample of at most ``n_samples``, None for ``N_SUBSAMPLE``.
    """
    X, weights = _centered_subsample(X, weights, n_samples)
    upper = ~np.tri(X.shape[0], dtype=bool)
    values = _squared_distances(X)[upper]
    if len(values) and np.all(weights == 1.0):
        median = _median(values)
        return median if median > 0 or not values.any() else _median(values[values > 0])
    pair_weights = np.outer(weights, weights)[upper]
    if not np.all(weights <= 1.0):  # pairs of a sample with its own copies
        values = np.r_[values, np.zeros(X.shape[0])]
        pair_weights = np.r_[pair_weights, np.maximum(weights * (weights - 1.0) / 2.0, 0.0)]
    median = _weighted_median(values, pair_weights)
    positive = values > 0
    if median > 0 or not positive.any():
        return median
    return _weighted_median(values[positive], pair_weights[positive])


def _median(values: np.ndarray) -> float:
    """The median, ten times as fast as NumPy's, which puts two elements in place and so does without vector loops."""
    middle = len(values) // 2
    parted = np.partition(values, middle)
    return float(parted[middle] if len(values) % 2 else 0.5 * (parted[:middle].max() + parted[middle]))


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    if len(values) and np.all(weights == weights[0]) and weights[0] > 0:
        return _median(values)
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    if not len(total) or total[-1] <= 0:
        return 0.0
    half = 0.5 * total[-1]
    low = values[order[np.searchsorted(total, half * (1 - 1e-12))]]
    high = values[order[min(np.searchsorted(total, half * (1 + 1e-12), side="right"), len(order) - 1)]]
    return float(0.5 * (low + high))


def total_variance(kernel: Kernel, X: Any, weights: np.ndarray) -> float:
    """Sum of the variances of the features: mean k(x, x) minus mean k(x, z); 0 where that is rounding error."""
    if kernel.name == "linear":
        return _linear_variance(X, weights)
    if kernel.name == "precomputed":
        index, weights = _subsample(np.arange(len(X)), weights)
        K = np.asarray(X)[np.ix_(index, index)]
    else:
        form = kernels.form_of(kernel)
        of_distances = form is not None and form.needs_distance
        X, weights = (_centered_subsample if of_distances else _subsample)(X, weights)
        samples = kernels.prepare(kernel, X, np.float64)
        K = kernels.evaluate(kernel, samples, samples)
    w = weights / weights.sum()
    size = float(w @ K.diagonal())
    variance = size - float(w @ K @ w)
    return variance if variance > NEGLIGIBLE * abs(size) else 0.0


def _linear_variance(X: Any, weights: np.ndarray) -> float:
    """The total variance of the samples themselves: mean ||x||^2 minus ||mean x||^2, without kernel values."""
    X, weights = _subsample(X, weights)
    largest = float(np.abs(X.data if sparse.issparse(X) else X).max(initial=0.0))
    X = kernels.centered(X)[0]
    w = weights / weights.sum()
    mean = X.T @ w
    variance = float(w @ kernels.squared_norms(X) - mean @ mean)
    return variance if variance > X.shape[1] * (NEGLIGIBLE * largest) ** 2 else 0.0


def parzen_gamma(X: Any) -> float:
    """The gamma of Gaussian Parzen windows with the largest leave-one-out likelihood.

    Maximizes the sum over i of log mean over j != i of (gamma/pi)^(d/2) exp(-gamma ||x_i - x_j||^2), over distinct
    samples of a subsample; gamma is bounded so that windows reach some other sample.
    """
    X, _ = _centered_subsample(X, np.ones(X.shape[0]))
    distance = _squared_distances(X)
    norms = kernels.squared_norms(X.astype(np.float64, copy=False))
    noise = 1e-12 * max(float(norms.max(initial=0.0)), np.finfo(float).tiny)
    distinct = np.array([not (distance[i, :i] <= noise).any() for i in range(len(norms))])
    distance = distance[np.ix_(distinct, distinct)]
    if len(distance) < 2:
        return 1.0
    np.fill_diagonal(distance, np.inf)
    nearest = float(np.median(distance.min(axis=1)))
    farthest = float(distance[np.isfinite(distance)].max())
    half = 0.5 * X.shape[1]

    def negative_log_likelihood(log_gamma: float) -> float:
        gamma = np.exp(log_gamma)
        windows = [logsumexp(-gamma * distance[part], axis=1) for part in tiles(len(distance), TILE)]
        return -float(half * len(distance) * log_gamma + np.concatenate(windows).sum())

    bounds = (np.log(0.1 / farthest), np.log(MAX_EXPONENT / nearest))
    return float(np.exp(minimize_scalar(negative_log_likelihood, bounds=bounds, method="bounded").x))
