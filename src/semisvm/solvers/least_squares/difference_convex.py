"""TLS-SVM by difference-of-convex steps: fit, take the signs, fit again.

The symmetric squared loss 1/2 (1 - |f|)^2 is convex minus |f|; its tangent at the present scores turns a step into
least squares with the labels sign(f). Each step decreases the objective, and once no sign changes the point is
stationary. With a balance the labels are the closest ones that keep it: +1 for the highest scores, as many as it
requires.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...balance import Count, Free, labels_by_sign, nearest_labels
from ...losses import Squared, SymmetricSquared
from ...problem import Problem
from ...solution import Certificate, Solution
from ..base import Accepts, Callback, Solver, StoppingRule
from .system import System, last_model, searched_solution, solve_labeled, system_in_time


@dataclass(frozen=True)
class DifferenceConvex(Solver):
    """Labels by the sign of f, f by the labels, until they agree.

    Parameters
    ----------
    max_iter : int
        Largest number of steps.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    .. [1] J. Shim and K. Seok, "A transductive least squares support vector machine with the difference convex
       algorithm", Journal of the Korean Data and Information Science Society 25, 2014.
    .. [2] A. L. Yuille and A. Rangarajan, "The concave-convex procedure", Neural Computation 15, 2003.
       https://doi.org/10.1162/08997660360581958
    """

    max_iter: int = 1000

    accepts: ClassVar[Accepts] = Accepts((Squared,), (SymmetricSquared,), (Free, Count))

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Step from the supervised model or from another solution."""
        stop = StoppingRule(self.max_iter, self.max_time, callback)
        if not len(problem.searched):
            return solve_labeled(problem.labeled_only(), callback)
        first = solve_labeled(problem.labeled_only()) if start is None else start
        weights = problem.weights_of(problem.searched)
        labels = labels_by_sign(first.scores[problem.searched], weights, problem.balance)
        system = system_in_time(problem, stop)
        if system is None:
            return last_model(problem, first, labels, str(stop.status), self.max_time)
        y = problem.signs[system.samples].copy()
        y[system.searched] = labels
        n_changed = len(problem.searched)
        with stop:
            while stop.running:
                value, f, new = _next_labels(problem, system, y)
                changes = new != y[system.searched]
                stop.log_iteration({"objective": value, "changed": n_changed}, converged=not changes.any())
                if stop.running:
                    y[system.searched] = new
                    n_changed = int(np.count_nonzero(changes))
        _, f, new = _next_labels(problem, system, y)
        violation = float(np.abs(f[new != y[system.searched]]).max(initial=0.0))
        return searched_solution(problem, system, y, Certificate("stationary", violation, tol=0.0), stop)

    def prepare(self, problems: Sequence[Problem], stop: StoppingRule) -> None:
        """The system, which all classes against the rest share."""
        if len(problems) > 1 and len(problems[0].searched):
            system_in_time(problems[0], stop)


def _next_labels(problem: Problem, system: System, y: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """The objective and the scores of the labels y, and the labels closest to these scores within the balance.

    The present ones are kept if the others do not decrease the objective.
    """
    alpha = system.form.product(y)
    f, present = system.form.scores(y, alpha)[system.searched], y[system.searched]
    new = nearest_labels(f, present, problem.weights_of(problem.searched), problem.balance)
    if problem.cost[problem.searched] @ ((new - present) * f) <= 0:
        new = present  # weights that differ may leave no closer labels within the balance
    return system.form.value(y, alpha), f, new
