"""The losses of a level of a path, in Python and in compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ... import losses
from ..._jit import jit
from ...losses import Loss


class SmoothObjective(NamedTuple):
    """A smooth sum of losses over all samples, as a function of their scores.

    Attributes
    ----------
    labeled, unlabeled : loss
        With a parameter for all samples, or one per sample.
    signs, cost : float arrays of shape (n,)
        +1 and -1 for labeled samples, 0 for the others; the cost of a unit of loss.
    """

    labeled: Loss
    unlabeled: Loss
    signs: np.ndarray
    cost: np.ndarray

    def value(self, f: np.ndarray) -> float:
        """The sum."""
        known, rest = self.signs != 0, self.signs == 0
        of_labeled = losses.value(losses.of_sample(self.labeled, known), self.signs[known] * f[known])
        of_unlabeled = losses.value(losses.of_sample(self.unlabeled, rest), f[rest])
        return float(self.cost[known] @ of_labeled + self.cost[rest] @ of_unlabeled)

    def gradient(self, f: np.ndarray) -> np.ndarray:
        """The first derivatives by the scores."""
        known, rest, out = self.signs != 0, self.signs == 0, np.empty(len(f))
        signs = self.signs[known]
        out[known] = signs * losses.slope(losses.of_sample(self.labeled, known), signs * f[known])
        out[rest] = losses.slope(losses.of_sample(self.unlabeled, rest), f[rest])
        return self.cost * out

    def curvature(self, f: np.ndarray) -> np.ndarray:
        """The second derivatives by the scores."""
        known, rest, out = self.signs != 0, self.signs == 0, np.empty(len(f))
        out[known] = losses.curvature(losses.of_sample(self.labeled, known), self.signs[known] * f[known])
        out[rest] = losses.curvature(losses.of_sample(self.unlabeled, rest), f[rest])
        return self.cost * out


@jit()
def loss_of_sample(objective, i, score):
    """The loss of sample i at a score, and its derivative."""
    sign, cost = objective.signs[i], objective.cost[i]
    if sign == 0.0:
        unlabeled = losses.of_sample(objective.unlabeled, i)
        return cost * losses.value(unlabeled, score), cost * losses.slope(unlabeled, score)
    labeled = losses.of_sample(objective.labeled, i)
    return cost * losses.value(labeled, sign * score), cost * sign * losses.slope(labeled, sign * score)
