"""Watching the searches over labels."""

from typing import NamedTuple

import numpy as np
import pytest

from semisvm.problem import Problem
from semisvm.solvers.primal.newton import HingeCosts
from semisvm.solvers.primal.newton_search import NewtonSearch
from semisvm.solvers.primal.operator import Iterate, PrimalOperator


class LoggedSolve(NamedTuple):
    """A solve of a search: its costs and its goal, where it ended, and the labels that were chosen there."""

    problem: Problem
    level: float
    tol: float
    reduction: float
    costs: HingeCosts
    iterate: Iterate
    labels: np.ndarray

    @property
    def f(self):
        return self.iterate.f

    def value(self, costs):
        """The objective of given costs at the point, in plain numpy."""
        f = self.iterate.f
        losses = costs.positive @ np.maximum(1.0 - f, 0.0) ** 2 + costs.negative @ np.maximum(1.0 + f, 0.0) ** 2
        return PrimalOperator(self.problem).half_norm2(self.iterate.theta) + losses

    def value_at(self, labels):
        """The objective of the problem at given labels."""
        return self.value(HingeCosts(*(self.problem.cost * (labels == side) for side in (1.0, -1.0))))


@pytest.fixture
def record_search(monkeypatch):
    """Solve a problem; returns the solution and the solves of its search."""

    def record(solver, problem):
        solves, requested = [], []
        original_solve, original_log = NewtonSearch.solve, NewtonSearch.log

        def solve(self, costs, tol, reduction=0.0):
            requested[:] = [costs, tol, reduction]
            yield from original_solve(self, costs, tol, reduction)

        def log(self, level, converged=False):
            costs, tol, reduction = requested
            solves.append(LoggedSolve(self.problem, level, tol, reduction, costs, self.iterate, self.labels.copy()))
            original_log(self, level, converged)

        with monkeypatch.context() as patch:
            patch.setattr(NewtonSearch, "solve", solve)
            patch.setattr(NewtonSearch, "log", log)
            solution = solver.solve(problem)
        return solution, solves

    return record
