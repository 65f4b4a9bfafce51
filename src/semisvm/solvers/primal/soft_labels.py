"""Probabilities of labels at a temperature, with a given mean: what deterministic annealing alternates with solves.

An unlabeled sample is positive with probability p and pays p g less T times its entropy, g being its loss as a positive
sample less that as a negative one. The sum over the samples is smallest at

    p = 1/(1 + exp((g - nu)/T)),

nu such that the weighted mean of p is the share asked for.
"""

from __future__ import annotations

import numpy as np

from ..._jit import jit

MAX_EVALUATIONS = 200  # of the mean
ROUNDING = 1e-14  # of the mean


@jit()
def _logistic(x):
    """1/(1 + exp(-x))."""
    if x >= 0.0:
        return 1.0 / (1.0 + np.exp(-x))
    e = np.exp(x)
    return e / (1.0 + e)


@jit()
def _excess(nu, g, temperature, share, weights):
    """The weighted mean of p less the share, and its derivative by nu; the weights have the sum 1."""
    total, slope = -share, 0.0
    for i in range(len(g)):
        p = _logistic((nu - g[i]) / temperature)
        total += weights[i] * p
        slope += weights[i] * p * (1.0 - p)
    return total, slope / temperature


@jit()
def _find_nu(g, temperature, share, weights, low, high, nu):
    """The nu between two bounds at which the mean is the share, from a first guess.

    Newton's method; bisection where it would leave the bounds or the last step did not halve the excess.
    """
    last = np.inf
    for _ in range(MAX_EVALUATIONS):
        excess, slope = _excess(nu, g, temperature, share, weights)
        if abs(excess) <= ROUNDING:
            break
        if excess < 0.0:
            low = nu
        else:
            high = nu
        new = nu - excess / slope if slope > 0.0 else low
        if not low < new < high or abs(excess) > 0.5 * last:
            new = 0.5 * (low + high)
        if new in (nu, low, high):
            break
        nu, last = new, abs(excess)
    return nu


@jit()
def _probabilities(g, temperature):
    out = np.empty_like(g)
    for i in range(len(g)):
        out[i] = _logistic(-g[i] / temperature)
    return out


def soft_labels(g: np.ndarray, temperature: float, share: float | None, weights: np.ndarray) -> np.ndarray:
    """The p that minimizes sum of weights (p g - temperature entropy(p)) with a weighted mean of ``share``.

    Parameters
    ----------
    g : array of shape (u,)
        Loss of a sample as a positive one, less its loss as a negative one.
    temperature : float
        Above 0.
    share : float or None
        The mean of p; None for no condition.
    weights : array of shape (u,)
        Weights of the samples.
    """
    if share is None:
        return _probabilities(g, temperature)
    if not 0.0 < share < 1.0:
        return np.full(len(g), float(share))
    weights = weights / weights.sum()
    shift = temperature * np.log(share / (1.0 - share))
    margin = 8.0 * np.spacing(np.abs(g).max())
    low, high = g.min() + shift - margin, g.max() + shift + margin
    guess = np.quantile(g, share)  # nu at the temperature zero
    g = g - _find_nu(g, temperature, share, weights, low, high, min(max(guess, low), high))
    g = g - _find_nu(g, temperature, share, weights, -margin, margin, 0.0)  # once more, where nu has all its digits
    return _probabilities(g, temperature)


@jit()
def _relative_entropy(p, q):
    """p log(p/q), 0 for p = 0."""
    return p * np.log(p / max(q, 1e-300)) if p > 0.0 else 0.0


@jit()
def divergence(p, q, weights):
    """The weighted mean of the Kullback-Leibler divergence of p from q."""
    total, size = 0.0, 0.0
    for i in range(len(p)):
        q_i = min(q[i], 1.0 - 1e-16)
        total += weights[i] * (_relative_entropy(p[i], q_i) + _relative_entropy(1.0 - p[i], 1.0 - q_i))
        size += weights[i]
    return total / size


@jit()
def entropy(p, weights):
    """The weighted mean entropy of p, in bits."""
    total, size = 0.0, 0.0
    for i in range(len(p)):
        total -= weights[i] * (_relative_entropy(p[i], 1.0) + _relative_entropy(1.0 - p[i], 1.0))
        size += weights[i]
    return total / (np.log(2.0) * size)
