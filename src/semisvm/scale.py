"""Numbers that users leave to the data: the width of a kernel and the size of its feature space.

All of them look at at most ``SAMPLE`` rows, spread evenly over the table, and count a row of weight w like w rows.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from . import kernels
from .kernels import Kernel

SAMPLE = 1000
FARTHEST = 20.0  # exp(-20) is the least that a window gives to the nearest row of a typical one


def _sample(X, weights: np.ndarray):
    if X.shape[0] <= SAMPLE:
        return X, weights
    index = np.linspace(0, X.shape[0] - 1, SAMPLE).astype(int)
    return X[index], weights[index]


def _centred_sample(X, weights: np.ndarray):
    """The sample, moved to the origin if dense: distances and variances stay, and stay exact."""
    X, weights = _sample(X, weights)
    return (X if sparse.issparse(X) else X - X.mean(axis=0)), weights


def width(kernel: Kernel, gamma: str | float, X, weights: np.ndarray) -> float:
    """The number behind ``gamma``.

    "scale" is 1/(number of columns times variance of X), as in scikit-learn; "median" is 0.5 / median squared distance
    of two rows; "auto" is 1/number of columns. These suit kernels of products and squared distances. A kernel of the
    plain distance takes the square root and kmod, which divides by the squared distance, the inverse.
    """
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "scale":
        variance = _variance(X, weights)
        value = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    elif gamma == "auto":
        value = 1.0 / X.shape[1]
    else:
        middle = median_squared_distance(X, weights)
        value = 0.5 / middle if middle > 0 else 1.0
    known = kernels.form(kernel)
    if kernel.name == "kmod":
        return 1.0 / value
    return float(np.sqrt(value)) if known is not None and known.of == "distance" else value


def _variance(X, weights: np.ndarray) -> float:
    """Variance of all entries of X together."""
    w = weights / weights.sum()
    if sparse.issparse(X):
        mean = (X.T @ w).sum() / X.shape[1]
        return float((X.multiply(X).T @ w).sum() / X.shape[1] - mean**2)
    mean = (w @ X).mean()
    variance = float((w @ np.square(X - mean)).mean())
    # a variance that is but rounding of the mean is none
    return variance if variance > (8.0 * np.finfo(np.float64).eps * mean) ** 2 else 0.0


def median_squared_distance(X, weights: np.ndarray) -> float:
    """Median of ||x_i - x_j||^2 over pairs of rows; positive distances only, should the median be zero."""
    X, weights = _centred_sample(X, weights)
    squared = Kernel("linear")
    rows = kernels.rows(squared, X, np.float64)
    product = kernels.block(squared, rows, rows)
    norm = product.diagonal().copy()
    distance = np.maximum(norm[:, None] + norm - 2.0 * product, 0.0)
    above = np.triu_indices(len(norm), 1)
    values = np.r_[distance[above], np.zeros(len(norm))]
    weight = np.r_[np.outer(weights, weights)[above], np.maximum(weights * (weights - 1.0) / 2.0, 0.0)]
    middle = _weighted_median(values, weight)
    if middle > 0 or not (values > 0).any():
        return middle
    return _weighted_median(values[values > 0], weight[values > 0])


def _weighted_median(values: np.ndarray, weight: np.ndarray) -> float:
    order = np.argsort(values)
    total = np.cumsum(weight[order])
    if not len(total) or total[-1] <= 0:
        return 0.0
    half = 0.5 * total[-1]
    low = values[order[np.searchsorted(total, half * (1 - 1e-12))]]
    high = values[order[min(np.searchsorted(total, half * (1 + 1e-12), side="right"), len(order) - 1)]]
    return float(0.5 * (low + high))


def total_variance(kernel: Kernel, X, weights: np.ndarray) -> float:
    """Sum of the variances of the features: mean k(x, x) minus mean k(x, z)."""
    if kernel.name == "precomputed":
        index = np.linspace(0, len(X) - 1, min(len(X), SAMPLE)).astype(int)
        K, w = np.asarray(X)[np.ix_(index, index)], weights[index] / weights[index].sum()
    else:
        known = kernels.form(kernel)
        free = kernel.name == "linear" or (known is not None and known.of != "product")
        X, weights = (_centred_sample if free else _sample)(X, weights)
        rows = kernels.rows(kernel, X, np.float64)
        K, w = kernels.block(kernel, rows, rows), weights / weights.sum()
    return float(w @ K.diagonal() - w @ K @ w)


def window(X) -> float:
    """The gamma of Gaussian windows under which rows that are left out are most likely.

    Maximises the sum over rows i of log mean over j != i of (gamma/pi)^(d/2) exp(-gamma ||x_i - x_j||^2), over at most
    ``SAMPLE`` rows, no two of them equal; gamma stays where windows reach some other row.
    """
    X, _ = _centred_sample(X, np.ones(X.shape[0]))
    squared = Kernel("linear")
    rows = kernels.rows(squared, X, np.float64)
    product = kernels.block(squared, rows, rows)
    norm = product.diagonal().copy()
    distance = np.maximum(norm[:, None] + norm - 2.0 * product, 0.0)
    noise = 1e-12 * max(float(norm.max(initial=0.0)), np.finfo(float).tiny)
    first = np.array([not (distance[i, :i] <= noise).any() for i in range(len(norm))])
    distance = distance[np.ix_(first, first)]
    if len(distance) < 2:
        return 1.0
    np.fill_diagonal(distance, np.inf)
    nearest = float(np.median(distance.min(axis=1)))
    farthest = float(distance[np.isfinite(distance)].max())
    half = 0.5 * X.shape[1]

    def unlikely(log_gamma: float) -> float:
        gamma = np.exp(log_gamma)
        return -float(half * len(distance) * log_gamma + logsumexp(-gamma * distance, axis=1).sum())

    bounds = (np.log(0.1 / farthest), np.log(FARTHEST / nearest))
    return float(np.exp(minimize_scalar(unlikely, bounds=bounds, method="bounded").x))
