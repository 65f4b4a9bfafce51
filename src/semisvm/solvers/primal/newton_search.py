"""Searches over labels that solve one squared-hinge problem after another, each from the last point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...problem import Problem
from ...solution import Certificate, Solution
from ..base import StoppingRule
from .batch import POLISH, Coroutine
from .newton import HingeCosts, derivatives, minimize
from .operator import Iterate, PrimalOperator


class _Candidate(NamedTuple):
    """A point of the search with its labels and the costs it was solved for."""

    iterate: Iterate
    labels: np.ndarray
    costs: HingeCosts


class NewtonSearch:
    """The state of the search of one problem.

    Parameters
    ----------
    problem : Problem
        In a space of features.
    tol : float
        Violation at which the last solve ends.
    stop : StoppingRule
        What ends the search; a solve is an iteration.
    at_labels : bool
        Whether the objective is that at the labels, or at the better label of each sample.

    Attributes
    ----------
    labels : array of shape (n,)
        The present labels, 0 where there are none yet.
    iterate : Iterate
        The last point.
    """

    def __init__(self, problem: Problem, tol: float, stop: StoppingRule, at_labels: bool = False):
        self.problem, self.tol, self.stop = problem, tol, stop
        self.searched = problem.searched
        self.weights = problem.weights_of(self.searched)
        self.at_labels = at_labels and len(self.searched) > 0
        self.operator = PrimalOperator(problem)
        self.labels = problem.signs.copy()
        self.iterate = self.operator.zero()
        self._costs = self.costs(0.0)
        self._logged_labels, self._logged_level = self.labels, 0.0
        self._candidate = _Candidate(self.iterate, self.labels, self._costs)

    def costs(self, share: float, positive: np.ndarray | float = 0.0) -> HingeCosts:
        """Costs with those of searched samples times ``share``, which are positive with the probabilities given."""
        signs, cost = self.problem.signs, self.problem.cost
        up, down = np.where(signs == 1.0, cost, 0.0), np.where(signs == -1.0, cost, 0.0)
        rest = share * cost[self.searched]
        up[self.searched], down[self.searched] = rest * positive, rest * (1.0 - positive)
        return HingeCosts(up, down)

    def label_costs(self, share: float) -> HingeCosts:
        """Costs with those of searched samples times ``share``, at their present labels."""
        return self.costs(share, (self.labels[self.searched] > 0).astype(float))

    def relabel(self, y: np.ndarray) -> None:
        """Give the searched samples labels y; earlier label arrays are not changed."""
        self.labels = self.labels.copy()
        self.labels[self.searched] = y

    def solve(self, costs: HingeCosts, tol: float) -> Coroutine[None]:
        """Minimize at the given costs from the last point; a violation above ``tol`` at the end ends the search."""
        self.iterate, self._costs = (yield from minimize(self.operator, costs, self.iterate, tol, self.stop)), costs
        if self.iterate.violation > tol and not self.stop.time_is_over:
            self.stop.end("stalled")

    def polish(self) -> Coroutine[None]:
        """The last solve, to the last digits, and the end of the search."""
        self.iterate = yield from minimize(self.operator, self._costs, self.iterate, POLISH * self.tol, self.stop)
        self.log(self._logged_level, converged=True)

    def solve_and_polish(self, costs: HingeCosts) -> Coroutine[None]:
        """The last solve at the given costs, and the end of the search."""
        yield from self.solve(costs, self.tol)
        self.log(0.0)
        if self.stop.running:
            yield from self.polish()

    def log(self, level: float, converged: bool = False) -> None:
        """Log a solve and what became of the labels, and keep the best point."""
        value = self.operator.objective(self.iterate, self.labels if self.at_labels else None)
        self._candidate = _Candidate(self.iterate, self.labels, self._costs)
        self.stop.offer(value, self._candidate)
        changed = np.count_nonzero(self._logged_labels[self.searched] != self.labels[self.searched])
        self._logged_labels, self._logged_level = self.labels, level
        self.stop.log_iteration(
            {"objective": value, "level": level, "changed": int(changed), "violation": self.iterate.violation},
            converged,
        )

    def solution(self) -> Solution:
        """The last point if the search has converged, else the best one, recomputed."""
        found = self._candidate
        if self.stop.status not in (None, "converged") and self.stop.best is not None:
            found = self.stop.best[1]
        kind = "stationary" if len(self.searched) else "kkt"
        certificate = Certificate(kind, min(found.iterate.violation, np.finfo(float).max), tol=self.tol)

        def gradient(f: np.ndarray) -> np.ndarray:
            return derivatives(f, *found.costs)[0]

        return self.operator.solution(found.iterate, found.labels, gradient, certificate, self.stop, self.at_labels)
