"""Successive linear programs for a concave loss of unlabeled samples and the 1-norm of w.

minimize  ||w||_1 + sum over labeled i of c_i (1 - y_i f_i)_+ + sum over unlabeled j of c_j min(r_j, s_j)
r_j = (1 - f_j)_+ and s_j = (1 + f_j)_+, the losses at both labels

min(r, s) is concave in r and s. The linear function with weight 1 on the smaller of the two at the present point and 0
on the other (1/2 on each if they are equal) is tangent to it there and nowhere below. The linear program with the
tangent in its place has an optimum no larger than the present objective, and the objective at its solution is no larger
still. Where the program decreases nothing the point is stationary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...balance import Free, Mean
from ...losses import Hinge, SymmetricHinge
from ...problem import Problem
from ...solution import Certificate, Solution, gap_certificate
from ..base import Accepts, Callback, Solver, StoppingRule
from .linear_program import HingeLosses, LPSolution, labeled_losses, solution_from_lp, solve_lp, trivial_solution

ZERO_SCORE = 1e-9  # the losses at both labels are equal up to this score
MIN_DECREASE = 1e-9  # of the objective: a smaller decrease is rounding error
STATIONARY = 1e-6  # of the objective: what the last program of a converged solution may leave to gain


@dataclass(frozen=True)
class ConcaveLP(Solver):
    """Linear programs, each at the labels of smaller loss of the last one, until none decreases the objective.

    Parameters
    ----------
    max_iter : int
        Largest number of linear programs, that of the labeled samples included.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    G. Fung and O. L. Mangasarian, "Semi-supervised support vector machines for unlabeled data classification",
    Optimization Methods and Software 15, 2001.
    """

    max_iter: int = 1000

    accepts: ClassVar[Accepts] = Accepts((Hinge,), (SymmetricHinge,), (Free, Mean), norms=(1,), space="features")

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Minimize, from the SVM of the labeled samples or from another solution."""
        stop = StoppingRule(self.max_iter, self.max_time, callback)
        iterations = _Iterations(problem, stop)
        with stop:
            iterations.run(start)
        return iterations.solution()


class _Iterations:
    """The iterations of one problem.

    Attributes
    ----------
    best : Solution
        The best point so far.
    lower_bound : float
        The optimum of the labeled samples alone.
    last : tuple or None
        The losses of the last program at a tangent, and its solution.
    possible_decrease : float
        What the last program leaves to gain; infinite unless it decreased nothing.
    """

    def __init__(self, problem: Problem, stop: StoppingRule):
        self.problem, self.stop = problem, stop
        self.lower_bound, self.possible_decrease = 0.0, np.inf
        self.last: tuple[HingeLosses, LPSolution] | None = None
        self.best = solution_from_lp(problem, trivial_solution(problem))

    def run(self, start: Solution | None) -> None:
        """Solve the program of the labeled samples, then those at tangents until one decreases nothing."""
        first = solve_lp(self.problem, labeled_losses(self.problem), self.stop)
        if first is None:
            self.stop.end("max_time")
        else:
            self.lower_bound = first.lower_bound
            if start is not None:
                first = first._replace(coef=start.coef, intercept=start.intercept)
            self.best = solution_from_lp(self.problem, first)
        is_supervised = first is not None and not len(self.problem.searched)
        if is_supervised:
            self.possible_decrease = 0.0
        self._log(self.problem.signs, converged=is_supervised)
        while self.stop.running:
            self._step()

    def _step(self) -> None:
        """Solve the program with the tangent at the present point."""
        before, losses = self.best, tangent_losses(self.problem, self.best.scores)
        if self.last is not None and all(np.array_equal(old, new) for old, new in zip(self.last[0], losses)):
            point: LPSolution | None = self.last[1]  # the same program has the same solution
        else:
            point = solve_lp(self.problem, losses, self.stop)
        if point is None:
            self.stop.end("max_time")
            return
        self.last = losses, point
        found = solution_from_lp(self.problem, point)
        converged = found.objective >= before.objective - MIN_DECREASE * abs(before.objective)
        if converged:
            self.best = replace(before, multipliers=point.multipliers)  # they belong to the tangent at this point
            self.possible_decrease = max(before.objective - point.lower_bound, 0.0)
        else:
            self.best = found
        self._log(before.labels, converged)

    def _log(self, labels_before: np.ndarray, converged: bool) -> None:
        n_changed = np.count_nonzero((labels_before != self.best.labels)[~self.problem.is_labeled])
        self.stop.log_iteration({"objective": self.best.objective, "changed": int(n_changed)}, converged)

    def solution(self) -> Solution:
        """The best point; stationary if the last program decreased nothing, else bounded by the labeled samples."""
        certificate = gap_certificate(self.best.objective, self.lower_bound)
        if np.isfinite(self.possible_decrease):
            tol = STATIONARY * abs(self.best.objective)
            certificate = Certificate("stationary", self.possible_decrease, self.lower_bound, certificate.gap, tol)
        status, trace = str(self.stop.status), self.stop.trace
        return replace(self.best, certificate=certificate, status=status, trace=trace, n_iter=max(len(trace), 1))


def tangent_losses(problem: Problem, f: np.ndarray) -> HingeLosses:
    """The losses of the program at scores f: at unlabeled samples the smaller of both, or half of each."""
    labeled, searched = labeled_losses(problem), problem.searched
    weight = np.where(f[searched] > ZERO_SCORE, 1.0, np.where(f[searched] < -ZERO_SCORE, 0.0, 0.5))
    samples, signs = np.r_[searched, searched], np.repeat([1.0, -1.0], len(searched))
    cost = np.r_[weight, 1.0 - weight] * problem.cost[samples]
    has_cost = cost > 0
    return HingeLosses(*(np.r_[old, new[has_cost]] for old, new in zip(labeled, (samples, signs, cost))))
