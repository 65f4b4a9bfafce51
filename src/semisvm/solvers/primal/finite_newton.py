"""The supervised squared-hinge SVM by finite Newton: one convex solve, several classes in one pass over the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...balance import Free, Mean
from ...losses import SquaredHinge
from ...problem import Problem
from ...solution import Solution
from ..base import Accepts, Callback, StoppingRule
from ..dual import SMO
from .batch import BatchSolver, Coroutine
from .newton_search import NewtonSearch


@dataclass(frozen=True)
class FiniteNewton(BatchSolver):
    """Newton steps in the primal; kernels without features are solved by SMO.

    Parameters
    ----------
    tol : float
        Root of the decrease of the objective that a Newton step predicts at which a solve ends, relative to the
        objective.
    max_iter : int
        Largest number of solves.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    S. S. Keerthi and D. DeCoste, "A modified finite Newton method for fast solution of large scale linear SVMs", JMLR
    6, 2005. https://jmlr.org/papers/v6/keerthi05a.html
    """

    accepts: ClassVar[Accepts] = Accepts((SquaredHinge,), balances=(Free, Mean), batch=True)

    def solve_supervised(self, problem: Problem, callback: Callback | None) -> Solution:
        """The dual of a problem behind a kernel, with its balance."""
        return SMO(self.tol, max_time=self.max_time).solve(problem, callback=callback)

    def coroutine(self, problem: Problem, stop: StoppingRule) -> Coroutine[Solution]:
        """One solve, then its last digits."""
        search = NewtonSearch(problem, self.tol, stop)
        with stop:
            yield from search.solve_and_polish(search.costs(0.0))
        return search.solution()
