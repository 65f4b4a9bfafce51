"""What the methods on features share: supervised problems behind a kernel, and runs of too many steps, are left to SMO.

Their dual has bounds alone (``build_box_dual``); that of SMO has virtual samples for the intercept and the balance.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ...losses import Hinge, SquaredHinge
from ...problem import Problem
from ...solution import Solution
from ...spaces import Features
from ..base import Accepts, Callback, Solver, StoppingRule
from .dual_problem import Dual, DualPoint, build_box_dual, solution_from_dual, with_virtual_samples
from .duality_gap import Start
from .smo import MAX_PAIR_STEPS, SMO, solve_dual


def go_on_by_pairs(problem: Problem, dual: Dual, point: DualPoint, tol: float, stop: StoppingRule) -> DualPoint:
    """The solution by SMO from a point of another method."""
    solved = solve_dual(with_virtual_samples(problem, dual), point, tol, stop.nested(MAX_PAIR_STEPS))
    return replace(solved, n_iter=point.n_iter + solved.n_iter)


@dataclass(frozen=True)
class FeatureSolver(Solver):
    """A solver of supervised problems on features.

    Parameters
    ----------
    tol : float
        Largest violation of the optimality conditions, in units of f.
    max_iter : int
        Largest number of iterations; behind a kernel, of as many pair steps as there are samples.
    max_time : float or None
        Seconds after which the best solution so far is returned.
    """

    tol: float = 1e-3
    max_iter: int = 10_000

    accepts: ClassVar[Accepts] = Accepts((Hinge, SquaredHinge))

    @abstractmethod
    def solve_box_dual(self, problem: Problem, dual: Dual, start: Start, stop: StoppingRule) -> DualPoint:
        """Solve the dual of a problem on features from any multipliers, or zeros."""

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Minimize, from the multipliers of another solution if there is one."""
        if not isinstance(problem.space, Features):
            pair_steps = self.max_iter * problem.space.n
            return SMO(self.tol, pair_steps, max_time=self.max_time).solve(problem, start, callback)
        stop = StoppingRule(self.max_iter, self.max_time, callback)
        given = None if start is None else start.multipliers
        point = self.solve_box_dual(problem, build_box_dual(problem), given, stop)
        return solution_from_dual(problem, point, "kkt", self.tol)
