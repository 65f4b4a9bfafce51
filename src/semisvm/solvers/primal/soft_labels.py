"""Probabilities of labels at a temperature, with a given mean: what deterministic annealing alternates with solves.

An unlabeled sample is positive with probability p and pays p g less T times its entropy, g being its loss as a positive
sample less that as a negative one. The sum over the samples is smallest at

    p = 1/(1 + exp((g - nu)/T)),

nu such that the weighted mean of p is the share asked for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import jit

EPS = np.finfo(float).eps
MAX_EVALUATIONS = 200  # of the mean
ROUNDING = 1e-14  # of the mean, and of nu relative to the temperature
LAST_STEP = 1e-8  # of Newton, relative to the temperature: the next would be less than rounding error


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
    """The nu between two bounds at which the mean is the share, from a first guess, and whether it is.

    Newton's method; bisection where it would leave the bounds or the last step did not halve the excess.
    """
    last = np.inf
    for _ in range(MAX_EVALUATIONS):
        excess, slope = _excess(nu, g, temperature, share, weights)
        if abs(excess) <= ROUNDING:
            return nu, True
        if excess < 0.0:
            low = nu
        else:
            high = nu
        new = nu - excess / slope if slope > 0.0 else low
        if abs(new - nu) <= LAST_STEP * temperature and abs(new) * EPS <= ROUNDING * temperature:
            return new, True
        if not low < new < high or abs(excess) > 0.5 * last:
            new = 0.5 * (low + high)
        if new in (nu, low, high):
            break
        nu, last = new, abs(excess)
    return nu, False


@jit()
def _probabilities(g, nu, rest, temperature):
    """p at the multiplier nu + rest."""
    out = np.empty_like(g)
    for i in range(len(g)):
        out[i] = _logistic((rest - (g[i] - nu)) / temperature)
    return out


class SoftLabels(NamedTuple):
    """The probabilities, and the multiplier nu of the condition on their mean."""

    p: np.ndarray
    nu: float


def soft_labels(
    g: np.ndarray, temperature: float, share: float | None, weights: np.ndarray, guess: float | None = None
) -> SoftLabels:
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
    guess : float or None
        About what nu is; None for what it is at the temperature zero.
    """
    if share is None:
        return SoftLabels(_probabilities(g, 0.0, 0.0, temperature), 0.0)
    if not 0.0 < share < 1.0:
        return SoftLabels(np.full(len(g), float(share)), 0.0)
    weights = weights / weights.sum()
    shift = temperature * np.log(share / (1.0 - share))
    smallest, largest = g.min(), g.max()
    margin = 8.0 * np.spacing(max(-smallest, largest))
    low, high = smallest + shift - margin, largest + shift + margin
    guess = float(np.quantile(g, share)) if guess is None else guess
    nu, is_exact = _find_nu(g, temperature, share, weights, low, high, min(max(guess, low), high))
    rest = 0.0
    if not is_exact:  # once more, where nu has all its digits
        rest, _ = _find_nu(g - nu, temperature, share, weights, -margin, margin, 0.0)
    return SoftLabels(_probabilities(g, nu, rest, temperature), nu)


@jit()
def _relative_entropy(p, q):
    """p log(p/q), 0 for p = 0."""
    return p * np.log(p / max(q, 1e-300)) if p > 0.0 else 0.0


@jit()
def loss_differences(f):
    """Squared hinge losses of positive samples, less those of negative ones."""
    out = np.empty_like(f)
    for i in range(len(f)):
        below, above = max(1.0 - f[i], 0.0), max(1.0 + f[i], 0.0)
        out[i] = below * below - above * above
    return out


@jit()
def free_losses(f, p, cost, temperature):
    """Sum of cost times squared hinge losses at soft labels less the temperature times their entropy."""
    total = 0.0
    for i in range(len(f)):
        below, above = max(1.0 - f[i], 0.0), max(1.0 + f[i], 0.0)
        losses = p[i] * below * below + (1.0 - p[i]) * above * above
        minus_entropy = _relative_entropy(p[i], 1.0) + _relative_entropy(1.0 - p[i], 1.0)
        total += cost[i] * (losses + temperature * minus_entropy)
    return total


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
