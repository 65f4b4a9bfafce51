"""The supervised machine with squared hinges, by finite Newton: one convex solve, several classes together."""

from __future__ import annotations

from dataclasses import dataclass

from ..balance import Free, Mean
from ..losses import SquaredHinge
from ..problem import Problem
from ..solution import Solution
from ..spaces import Features
from .smo import SMO
from .together import Search, together


@dataclass(frozen=True)
class FiniteNewton:
    """Newton steps in the primal; kernels without features go to SMO.

    Parameters
    ----------
    tol : float
        Gradient at which the machine is solved, relative to that of the losses at w = 0.
    max_iter : int
        Largest number of solves.
    max_time : float or None
        Seconds after which the best so far is returned.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float | None = None

    losses = (SquaredHinge,)
    unlabeled_losses = (type(None),)
    balances = (Free, Mean)

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Solve one problem."""
        if not isinstance(problem.space, Features):
            return SMO(self.tol, max_time=self.max_time).solve(problem, callback=callback)
        return self.solve_all([problem], [callback])[0]

    def solve_all(self, problems: list[Problem], callbacks: list) -> list[Solution]:
        """Solve several problems in one space of features together."""
        return together(problems, [Search(problem, self.tol) for problem in problems], self, callbacks)
