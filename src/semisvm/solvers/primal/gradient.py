"""nabla-TSVM: a smooth loss on unlabeled samples, whose cost increases.

The unlabeled samples pay exp(-3 f^2), which is largest at the decision boundary. Their cost increases from 1 % of the
full cost to the full cost in eleven levels by a constant factor, each minimized from the last point: an early, nearly
convex problem guides the later ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...balance import Free, Mean
from ...losses import Gaussian, SquaredHinge
from ...problem import Problem
from ..base import Accepts
from .smooth_objective import SmoothObjective
from .smooth_path import SmoothPath

FIRST_LEVEL = 0.01


@dataclass(frozen=True)
class GradientPath(SmoothPath):
    """The cost of unlabeled samples increases in eleven levels; each is minimized from the end of the one before.

    Parameters
    ----------
    tol : float
        Norm of the gradient at which a level is solved, relative to that of the losses at w = 0.
    max_iter : int
        Largest number of steps at a level.
    n_levels : int
        Number of levels.
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
        shares = FIRST_LEVEL ** np.linspace(1, 0, self.n_levels)
        return [(float(share), losses_with_share(problem, float(share))) for share in shares]


def losses_with_share(problem: Problem, share: float) -> SmoothObjective:
    """The losses of a problem with the cost of unlabeled samples multiplied by ``share``."""
    assert problem.unlabeled is not None, "a path needs an unlabeled loss"
    cost = np.where(problem.is_labeled, problem.cost, share * problem.cost)
    return SmoothObjective(problem.labeled, problem.unlabeled, problem.signs, cost)
