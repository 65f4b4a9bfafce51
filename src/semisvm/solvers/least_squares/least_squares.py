"""Least squares with fixed labels: one linear system, and held-out scores in closed form.

With alpha = S y the model without the samples g scores them y_g - (S_gg)^-1 alpha_g: no model is trained again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...losses import Squared
from ...problem import Problem
from ...solution import Solution
from ..base import Accepts, Callback, Solver
from .system import build_system, solve_labeled


@dataclass(frozen=True)
class LeastSquares(Solver):
    """The least-squares SVM of the labeled samples, in closed form.

    Parameters
    ----------
    max_time : float or None
        As in ``Solver``; one linear system is always solved to the end.

    References
    ----------
    .. [1] J. A. K. Suykens and J. Vandewalle, "Least squares support vector machine classifiers", Neural Processing
       Letters 9, 1999. https://doi.org/10.1023/A:1018628609742
    .. [2] G. C. Cawley, "Leave-one-out cross-validation based model selection criteria for weighted LS-SVMs", IJCNN,
       2006. https://doi.org/10.1109/IJCNN.2006.246634
    """

    accepts: ClassVar[Accepts] = Accepts((Squared,), held_out=True)

    def needs_samples(self) -> None:
        """Nothing: products are enough."""

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Solve the system."""
        return solve_labeled(problem, callback)

    def held_out_scores(self, problem: Problem, solution: Solution, groups: list[np.ndarray]) -> np.ndarray:
        """Scores of labeled samples by models without their group, in closed form."""
        system = build_system(problem)
        position = np.full(problem.space.n, -1)
        position[system.samples] = np.arange(len(system.samples))
        groups = [position[group][position[group] >= 0] for group in groups]
        scores = solution.scores.copy()
        y, alpha = problem.signs[system.samples], solution.multipliers[system.samples]
        scores[system.samples] = system.form.leave_one_out(y, alpha, groups)
        return scores
