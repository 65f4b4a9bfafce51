"""Sigmoid calibration with one parameter: the slope that turns scores into probabilities.

Binary and pairwise: P(positive) = 1/(1 + exp(-slope f)). One-vs-rest: P_k proportional to exp(slope f_k). There is no
offset, so that the most probable class is the predicted one. The slope maximizes the likelihood of held-out labels,
with the labels smoothed as in [1]_, so that scores that separate the classes do not make it infinite:

    sum over samples of w [ (1 - e) log P(true class) + e/(k - 1) sum over the others of log P ],    e = 1/(total w + 2)

References
----------
.. [1] J. C. Platt, "Probabilistic outputs for support vector machines and comparisons to regularized likelihood
   methods", in Advances in Large Margin Classifiers, MIT Press, 1999.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

LARGEST = 1e6


def fit_slope(scores: np.ndarray, truth: np.ndarray, weights: np.ndarray) -> float:
    """The slope that fits held-out scores best.

    Parameters
    ----------
    scores : array of shape (m, k)
        Held-out scores, one column per class; binary f as the columns -f/2 and f/2.
    truth : int array of shape (m,)
        Column of the true class.
    weights : array of shape (m,)
        Weights of the samples.

    Returns
    -------
    float
        Above 0; close to 0 if the scores do not separate the classes.
    """
    size = np.abs(scores).mean()
    if not size > 0:
        return 1.0
    smoothing, k = 1.0 / (weights.sum() + 2.0), scores.shape[1]
    relative = np.ascontiguousarray(scores.T) / size
    of_others = smoothing / (k - 1)
    goal = (1.0 - smoothing - of_others) * relative[truth, np.arange(len(truth))] + of_others * relative.sum(axis=0)

    def derivative(slope: float) -> float:
        """Derivative of the log-likelihood in the slope of scores of size one."""
        likelihood = slope * relative
        likelihood -= likelihood.max(axis=0)
        np.exp(likelihood, out=likelihood)
        expected = (likelihood * relative).sum(axis=0) / likelihood.sum(axis=0)
        return float(weights @ (goal - expected))

    low, high = 1e-6, 1.0
    if derivative(low) <= 0:
        return low / size
    while derivative(high) > 0 and high < LARGEST:
        high *= 4.0
    return (high if derivative(high) > 0 else brentq(derivative, low, high, xtol=1e-14, rtol=1e-14)) / size
