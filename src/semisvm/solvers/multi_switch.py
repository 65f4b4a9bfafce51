"""Multiple switching (SVMlin, Sindhwani and Keerthi): many pairs of labels are exchanged between two solves.

The unlabeled rows with the highest scores of the supervised machine are called positive, as many as the balance wants.
Their cost rises from a hundred-thousandth to the whole by half each time. At each cost the machine is solved with the
labels held, then positive rows change places with negative ones of higher score, the worst pairs first, until no pair
is left. With f held a change of places lowers the losses, with labels held a solve does: the objective of a level never
rises, and the number of positive rows stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..balance import Count, Free
from ..losses import SquaredHinge, SymmetricSquaredHinge
from ..problem import Problem
from ..solution import Solution
from ..spaces import Features
from .finite_newton import FiniteNewton
from .gradient import supervised
from .label_search import labels_in_band
from .limits import LOOSE
from .together import Ask, Search, together

FIRST, GROWTH = 1e-5, 1.5
TIGHT = 1e-2  # of tol: the last switches are sought at a machine as exact as that


class Switching(Search):
    """The search of one problem.

    Parameters
    ----------
    problem : Problem
        In a space of features.
    tol : float
        Violation at which the last solves are done.
    max_switches : int
        Largest number of pairs between two solves.
    """

    labels_count = True

    def __init__(self, problem: Problem, tol: float, max_switches: int):
        super().__init__(problem, tol)
        self.max_switches = max_switches

    def next(self, f: np.ndarray, violation: float) -> Ask | None:
        """Switch; a rest without switches ends the level."""
        if not len(self.free):
            return super().next(f, violation)
        if self.level == 0.0:
            self.labels = self.labels.copy()
            self.labels[self.free] = labels_in_band(f[self.free], self.weight, self.problem.balance)
            return self._at(FIRST)
        if self.ask.polish:
            return None
        if self._switched(f[self.free]):
            return self._at(self.level)
        if self.level < 1.0:
            return self._at(min(GROWTH * self.level, 1.0))
        return self.ask._replace(tol=TIGHT * self.tol) if self.ask.tol == self.tol else self.polished(self.ask)

    def _at(self, level: float) -> Ask:
        self.level = level
        costs = self.costs_at(level, (self.labels[self.free] > 0).astype(float))
        return Ask(costs, self.tol if level == 1.0 else LOOSE * self.tol)

    def _switched(self, f: np.ndarray) -> bool:
        """Exchange the labels that gain most, if that lowers the losses."""
        y = self.labels[self.free]
        wanted = labels_in_band(f, self.weight, self.problem.balance)
        rows = np.concatenate([_first(self.max_switches, wanted, y, f, side) for side in (1.0, -1.0)])
        own, turned = (np.maximum(1.0 - side * y[rows] * f[rows], 0.0) ** 2 for side in (1.0, -1.0))
        cost = self.problem.cost[self.free][rows]
        if not cost @ (own - turned) > 1e-12 * (cost @ own):
            return False
        self.labels = self.labels.copy()
        self.labels[self.free[rows]] = -y[rows]
        return True


def _first(count: int, wanted: np.ndarray, y: np.ndarray, f: np.ndarray, side: float) -> np.ndarray:
    """The rows that are to change to ``side``, those farthest on that side first, no more than ``count``."""
    rows = np.flatnonzero((wanted == side) & (y != side))
    return rows if len(rows) <= count else rows[np.argsort(-side * f[rows], kind="stable")[:count]]


@dataclass(frozen=True)
class MultiSwitch:
    """Switching of many pairs under a rising cost of the unlabeled rows.

    Parameters
    ----------
    tol : float
        Gradient at which a solve is done, relative to that of the losses at w = 0.
    max_iter : int
        Largest number of solves.
    max_time : float or None
        Seconds after which the best so far is returned.
    max_switches : int
        Largest number of pairs between two solves.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float | None = None
    max_switches: int = 10_000

    losses = (SquaredHinge,)
    unlabeled_losses = (type(None), SymmetricSquaredHinge)
    balances = (Free, Count)
    on_features = True

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Search one problem; where no label is missing there may be a kernel in the place of features."""
        if not isinstance(problem.space, Features):
            return FiniteNewton(self.tol, max_time=self.max_time).solve(supervised(problem), callback=callback)
        return self.solve_all([problem], [callback])[0]

    def solve_all(self, problems: list[Problem], callbacks: list) -> list[Solution]:
        """Search several problems in one space together."""
        searches = [Switching(problem, self.tol, self.max_switches) for problem in problems]
        return together(problems, searches, self, callbacks)
