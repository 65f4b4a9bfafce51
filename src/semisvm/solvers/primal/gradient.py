"""nabla-TSVM: a smooth loss on unlabeled samples, whose cost increases.

The unlabeled samples pay exp(-3 f^2), which is largest at the decision boundary. Their cost increases from 1 % of the
full cost to the full cost in eleven levels by a constant factor, each minimized from the last point: an early, nearly
convex problem guides the later ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ... import losses
from ...balance import Free, Mean
from ...losses import Gaussian, SquaredHinge
from ...problem import Problem
from ..base import Accepts
from .smooth_path import N_LEVELS, SmoothPath, by_label
from .trust_region import SmoothObjective

FIRST_LEVEL = 0.01


@dataclass(frozen=True)
class GradientPath(SmoothPath):
    """The cost of unlabeled samples increases in levels; Newton steps in a trust region at each.

    Parameters
    ----------
    tol : float
        Norm of the gradient at which a level is solved, relative to that of the losses at w = 0.
    max_iter : int
        Largest number of Newton steps at a level.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    O. Chapelle and A. Zien, "Semi-supervised classification by low density separation", AISTATS, 2005.
    https://proceedings.mlr.press/r5/chapelle05b.html
    """

    accepts: ClassVar[Accepts] = Accepts((SquaredHinge,), (Gaussian,), (Free, Mean), space="features", batch=True)

    def levels(self, problem: Problem) -> list[tuple[float, SmoothObjective]]:
        """Shares of the cost of unlabeled samples, and the losses."""
        shares = FIRST_LEVEL ** np.linspace(1, 0, N_LEVELS)
        return [(float(share), losses_with_share(problem, float(share))) for share in shares]


def losses_with_share(problem: Problem, share: float) -> SmoothObjective:
    """The losses of a problem with the cost of unlabeled samples multiplied by ``share``."""
    labeled_loss, unlabeled_loss = problem.labeled, problem.unlabeled
    assert unlabeled_loss is not None, "a path needs an unlabeled loss"
    known = problem.is_labeled
    signs, cost, rest = problem.signs[known], problem.cost[known], share * problem.cost[~known]

    def value(f: np.ndarray) -> float:
        of_labeled = cost @ losses.value(labeled_loss, signs * f[known])
        return float(of_labeled + rest @ losses.value(unlabeled_loss, f[~known]))

    def gradient(f: np.ndarray) -> np.ndarray:
        of_labeled = cost * signs * losses.slope(labeled_loss, signs * f[known])
        return by_label(known, of_labeled, rest * losses.slope(unlabeled_loss, f[~known]))

    def curvature(f: np.ndarray) -> np.ndarray:
        of_labeled = cost * losses.curvature(labeled_loss, signs * f[known])
        return by_label(known, of_labeled, rest * losses.curvature(unlabeled_loss, f[~known]))

    return SmoothObjective(value, gradient, curvature, known)
