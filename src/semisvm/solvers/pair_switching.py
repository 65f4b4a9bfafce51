"""Pair switching (SVM-light's transductive machine, Joachims): the worst pair of labels changes places, over and over.

The unlabeled rows with the highest scores of the supervised machine are called positive, as many as the balance wants.
Their costs rise from a hundred-thousandth to the whole; that of positive labels starts n_+ / n_- times as high, so
costs belong to labels. At each level the two rows of opposite labels whose change of places gains most change places
and the machine is trained again from where it was, until no pair gains. With f held a change lowers the losses, with
labels held training does: the objective of a level falls with every change. The last level has the whole cost on both
sides. Joachims asks for two positive slacks with a sum above 2, which is f_- > f_+ inside both margins; any f_- > f_+
gains, so that is asked here.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from ..balance import Count, Free
from ..losses import Hinge, SquaredHinge, SymmetricHinge, SymmetricSquaredHinge
from ..problem import Problem
from ..solution import Certificate, Solution
from .held_labels import Changes, Trainer, filled, free_rows, judged, supervised
from .limits import LOOSE, Limits, deadline

FIRST, GROWTH = 1e-5, 2.0
LEAST = 1e-9  # of the costs of the rows that change: a gain below is none
TIGHTER = 4  # how many times the tolerance is divided by ten before a change that lowers nothing is taken back


@dataclass(frozen=True)
class PairSwitching:
    """Changes of the worst pair of labels under rising costs of the unlabeled rows.

    Parameters
    ----------
    tol : float
        Largest violation of the optimality conditions of the last machine, in units of f.
    max_iter : int
        Largest number of machines trained.
    max_time : float or None
        Seconds after which the best so far is returned.
    """

    tol: float = 1e-3
    max_iter: int = 100_000
    max_time: float | None = None

    losses = (Hinge, SquaredHinge)
    unlabeled_losses = (type(None), SymmetricHinge, SymmetricSquaredHinge)
    balances = (Free, Count)
    on_gram = True

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Search from the supervised machine, or at the whole cost from the labels of another solution."""
        end = deadline(self.max_time)
        rows = free_rows(problem)
        nothing = problem.unlabeled is None or not (problem.cost[rows] > 0).any()
        first = supervised(problem, self.tol, self.max_time) if start is None or nothing else start
        if nothing or (start is None and first.status != "converged"):
            return first
        search = Search(problem, first, self, callback, end)
        try:
            status = search.descend(1.0, 1.0) if start is not None else search.rise()
        except KeyboardInterrupt:
            status = "interrupted"
        return search.end(status)


class Search:
    """The search of one problem.

    Parameters
    ----------
    problem : Problem
        With rows whose labels are sought.
    first : Solution
        Where the first labels come from.
    solver : PairSwitching
        Tolerance and limits.
    callback : callable or None
        Sees a row of the trace after every machine.
    end : float
        ``time.perf_counter()`` after which nothing new is begun.
    """

    def __init__(self, problem: Problem, first: Solution, solver: PairSwitching, callback=None, end: float = np.inf):
        self.problem, self.solver, self.callback, self.end_time = problem, solver, callback, end
        self.changes = Changes(problem)
        self.rows = self.changes.rows
        self.y = np.where(problem.is_labeled, problem.signs, 0.0)
        self.y[self.rows] = self.changes.fitting(first.labels[self.rows], first.scores[self.rows])
        self.band = self.changes.band(self.y[self.rows])
        self.trainer = Trainer(problem, Limits(2**62, self.end_time))
        self.trace: list[dict] = []

    def rise(self) -> str:
        """Level after level, the last at the whole cost."""
        positive = np.count_nonzero(self.y[self.rows] > 0)
        negative = len(self.rows) - positive
        plus, minus = FIRST * (positive / negative if positive and negative else 1.0), FIRST
        while True:
            plus, minus = min(plus, 1.0), min(minus, 1.0)
            status = self.descend(plus, minus)
            if status != "converged" or plus == minus == 1.0:
                return status
            plus, minus = GROWTH * plus, GROWTH * minus

    def descend(self, plus: float, minus: float) -> str:
        """Change places at one level until none gains."""
        whole = plus == minus == 1.0
        tol = self.solver.tol * (1.0 if whole else LOOSE)
        self.train(tol, plus, minus)
        reason = self.told(plus, minus, 0)
        while reason is None:
            y = self.y[self.rows]
            gain = self.changes.gains(self.trainer.scores()[self.rows], y, plus, minus)
            few, most = self.changes.best(gain, y, self.band)
            fell = most > LEAST * self.problem.cost[self.rows[few]].sum()
            if fell:
                fell, reason = self.change(few, tol, plus, minus)
            if not fell:
                return reason or (self.polished() if whole else "converged")
            reason = self.told(plus, minus, len(few))
        return reason

    def change(self, few: np.ndarray, tol: float, plus: float, minus: float) -> tuple[bool, str | None]:
        """Change labels and train, as exactly as it takes to see the objective fall; takes it back if it does not.

        Returned are whether it fell, and why training ended early if it did.
        """
        before, y, value = self.trainer.copy(), self.y, self.trainer.value()
        self.y = y.copy()
        self.y[self.rows[few]] *= -1.0
        for exact in tol * 0.1 ** np.arange(TIGHTER):
            fell, status = self.train(exact, plus, minus) < value, self.trainer.point.status
            if fell or status != "converged":
                break
        if not fell:
            self.trainer, self.y = before, y
        return fell, None if status == "converged" else status

    def train(self, tol: float, plus: float, minus: float) -> float:
        """The machine of the present labels at a level."""
        cost = self.problem.cost.copy()
        cost[self.rows] *= np.where(self.y[self.rows] > 0, plus, minus)
        return self.trainer.train(self.y, cost, tol)

    def polished(self) -> str:
        """The last machine, to the last digits."""
        self.trainer.train(self.y, self.problem.cost, self.solver.tol, polish=True)
        self.told(1.0, 1.0, 0)
        return self.trainer.point.status

    def told(self, plus: float, minus: float, changed: int) -> str | None:
        """A row of the trace; the reason to stop, if there is one."""
        trainer = self.trainer
        full = trainer.copy()
        full.problem = filled(self.problem, self.y)
        self.trace.append(
            {
                "step": len(self.trace),
                "objective": full.value(),
                "level_objective": trainer.value(),
                "level": min(plus, minus),
                "changed": changed,
                "pair_steps": trainer.limits.steps,
                "violation": trainer.point.violation,
            }
        )
        if trainer.point.status != "converged":
            return trainer.point.status
        if self.callback is not None and self.callback(self.trace[-1]):
            return "stopped"
        if len(self.trace) >= self.solver.max_iter:
            return "max_iter"
        return "max_time" if time.perf_counter() > self.end_time else None

    def end(self, status: str) -> Solution:
        """The last machine, judged at the whole cost."""
        if self.trainer.point is None:
            self.trainer.train(self.y, None, np.inf)
        solution = judged(self.problem, self.trainer, self.y, status, self.trace)
        if status != "converged":
            y = self.y[self.rows]
            left = self.changes.best(self.changes.gains(solution.scores[self.rows], y), y, self.band)[1]
            if left > 0:
                solution.certificate = Certificate("monotone", left)
        return solution
