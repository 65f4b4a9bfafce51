r"""Calibrators: nondecreasing functions from the score of a class to its probability.

Both are fitted to scores f of held-out samples with the smoothed targets of [1]_,

.. math:: t_i = \frac{n_+ + 1}{n_+ + 2} \text{ at samples of the class, } \frac{1}{n_- + 2} \text{ at the others,}

of total weights n_+ and n_-, so that no finite number of labels makes a probability 0 or 1. The sigmoid has the largest
likelihood,

.. math:: \max_{a \ge 0,\, b} \sum_i w_i \left[t_i \log P_i + (1 - t_i) \log(1 - P_i)\right],
   \qquad P = 1/(1 + \exp(-(a f + b))),

by Newton's method with a line search [2]_; a is not negative, so that the probability does not fall with the score.
Isotonic regression [3]_ is the nondecreasing function that has the least squares. It commutes with the smoothing: its
values are those of the targets 0 and 1, mapped to the interval of the smoothed ones.

References
----------
.. [1] J. C. Platt, "Probabilistic outputs for support vector machines and comparisons to regularized likelihood
   methods", in Advances in Large Margin Classifiers, MIT Press, 1999.
.. [2] H.-T. Lin, C.-J. Lin and R. C. Weng, "A note on Platt's probabilistic outputs for support vector machines",
   Machine Learning 68, 2007. https://doi.org/10.1007/s10994-007-5018-6
.. [3] B. Zadrozny and C. Elkan, "Transforming classifier scores into accurate multiclass probability estimates", KDD
   2002. https://doi.org/10.1145/775047.775151
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from ..balance import SCORE_ROUNDING

MAX_STEPS = 100  # of Newton's method, which takes about ten
GRADIENT = 1e-12  # at which it ends, as a part of the total weight
SUFFICIENT = 1e-4  # part of the predicted decrease that a step has to reach


class Calibrator(Protocol):
    """From scores to probabilities."""

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of a class at its scores."""


class Sigmoid(NamedTuple):
    """1/(1 + exp(-(slope f + offset)))."""

    slope: float
    offset: float

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of a class at its scores."""
        return expit(self.slope * scores + self.offset)


def smoothed_targets(is_class: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Platt's targets of samples of a class and of the others."""
    positive, negative = weights[is_class].sum(), weights[~is_class].sum()
    return np.where(is_class, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))


def fit_sigmoid(scores: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> Sigmoid:
    """The sigmoid of largest likelihood whose slope is not negative."""
    total = weights.sum()
    center = weights @ scores / total
    scale = np.sqrt(weights @ np.square(scores - center) / total)
    constant = Sigmoid(0.0, float(logit(weights @ targets / total)))
    if not scale > 1e-12 * np.abs(scores).max():  # all scores are equal
        return constant
    design = np.column_stack([(scores - center) / scale, np.ones(len(scores))])

    def loss(point: np.ndarray) -> float:
        z = design @ point
        return float(weights @ (np.logaddexp(0.0, z) - targets * z))

    point = np.array([0.0, constant.offset])
    for _ in range(MAX_STEPS):
        p = expit(design @ point)
        gradient = design.T @ (weights * (p - targets))
        if np.abs(gradient).max() <= GRADIENT * total:
            break
        hessian = (design.T * (weights * p * (1.0 - p))) @ design
        step = -np.linalg.solve(hessian + 1e-12 * total * np.eye(2), gradient)
        now, slope, length = loss(point), float(gradient @ step), 1.0
        while loss(point + length * step) > now + SUFFICIENT * length * slope and length > 1e-10:
            length *= 0.5
        if length <= 1e-10:  # no step decreases the loss any more
            break
        point = point + length * step
    if point[0] <= 0.0:
        return constant
    return Sigmoid(float(point[0] / scale), float(point[1] - point[0] * center / scale))


def fit_isotonic(scores: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> IsotonicRegression:
    """Isotonic regression; beyond the scores that it was fitted to it is constant."""
    return IsotonicRegression(out_of_bounds="clip").fit(_merge_equal(scores), targets, sample_weight=weights)


def _merge_equal(scores: np.ndarray) -> np.ndarray:
    """Scores, those equal that differ by rounding error: samples on a margin, which have no order."""
    order = scores.argsort()
    ascending = scores[order]
    is_first = np.diff(ascending, prepend=-np.inf) > SCORE_ROUNDING * np.abs(scores).max()
    merged = np.empty_like(scores)
    merged[order] = ascending[is_first][is_first.cumsum() - 1]
    return merged


METHODS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], Calibrator]] = {
    "sigmoid": fit_sigmoid,
    "isotonic": fit_isotonic,
}


def fit_calibrators(method: str, scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> list[Calibrator]:
    """A calibrator for every column of scores: of the second of two classes, or of each class against the rest."""
    classes = [1] if scores.shape[1] == 1 else range(scores.shape[1])
    found = []
    for code, column in zip(classes, scores.T):
        found.append(METHODS[method](column, smoothed_targets(codes == code, weights), weights))
    return found


def calibrated_probabilities(calibrators: list[Calibrator], scores: np.ndarray) -> np.ndarray:
    """Probabilities of all classes; those of several are divided by their sum."""
    columns = np.column_stack([calibrator.predict(column) for calibrator, column in zip(calibrators, scores.T)])
    if columns.shape[1] == 1:
        return np.hstack([1.0 - columns, columns])
    return columns / columns.sum(axis=1, keepdims=True)
