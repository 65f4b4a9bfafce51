"""Successive linear programs (Fung and Mangasarian): a concave loss on unlabeled rows, the 1-norm of w.

minimise  ||w||_1 + sum over labeled i of c_i (1 - y_i f_i)_+ + sum over unlabeled j of c_j min(r_j, s_j)
r_j = (1 - f_j)_+ and s_j = (1 + f_j)_+, the losses at both labels

min(r, s) is concave in r and s. With weight 1 on the smaller of the two at the present machine and 0 on the other, a
half on each if they are equal, it is a plane that touches it there and is nowhere below. The linear program with this
plane in its place has a solution no worse than the present machine, and the objective there is lower still; where the
program gains nothing the machine is stationary.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..balance import Free, Mean
from ..losses import Hinge, SymmetricHinge
from ..problem import Problem, objective
from ..solution import Certificate, Solution
from . import linear_program as lp
from .limits import deadline

EVEN = 1e-9  # scores this small take no side
GAIN = 1e-9  # of the objective: a fall this small is none


@dataclass
class _Run:
    """The best machine so far, and how it came about."""

    problem: Problem
    point: lp.Point
    value: float
    trace: list[dict] = field(default_factory=list)

    @property
    def scores(self) -> np.ndarray:
        return self.problem.space.scores(self.point.w, self.point.b)

    def note(self, labels_before: np.ndarray) -> dict:
        changed = np.count_nonzero((labels_before != self.labels())[~self.problem.is_labeled])
        self.trace.append({"step": len(self.trace), "objective": self.value, "changed": int(changed)})
        return self.trace[-1]

    def labels(self) -> np.ndarray:
        sides = np.where(self.scores > 0, 1.0, -1.0)
        return np.where(self.problem.is_labeled, self.problem.signs, sides)


@dataclass(frozen=True)
class ConcaveLP:
    """Linear programs, each at the better labels of the last, until none gains.

    Parameters
    ----------
    max_iter : int
        Largest number of linear programs, that of the labeled rows included.
    max_time : float or None
        Seconds after which the best so far is returned.
    """

    max_iter: int = 1000
    max_time: float | None = None

    losses = (Hinge,)
    unlabeled_losses = (type(None), SymmetricHinge)
    balances = (Free, Mean)
    norms = (1,)
    on_features = True

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Go on from the machine of the labeled rows, or from another solution."""
        end = deadline(self.max_time)
        run = _Run(problem, *_judged(problem, lp.zero(problem)))
        bound, left, status = 0.0, np.inf, "max_time"
        try:
            first = lp.solve(problem, lp.labeled_sides(problem), end)
            if first is not None:
                bound = first.bound
                first = first if start is None else first._replace(w=start.coef, b=start.intercept)
                run.point, run.value = _judged(problem, first)
            row = run.note(problem.signs)
            if callback is not None and callback(row):
                status = "stopped"
            elif first is not None:
                left, status = self._steps(run, end, callback)
        except KeyboardInterrupt:
            status = "interrupted"
        return _solution(run, status, bound, left)

    def _steps(self, run: _Run, end: float, callback) -> tuple[float, str]:
        """Programs until one gains nothing; returns what the last said is left to gain, and the status."""
        if not len(free_rows(run.problem)):
            return 0.0, "converged"
        while len(run.trace) < self.max_iter:
            before, labels = run.value, run.labels()
            point = lp.solve(run.problem, planes(run.problem, run.scores), end)
            if point is None:
                return np.inf, "max_time"
            value = objective(run.problem, point.w, point.b)
            done = value >= before - GAIN * abs(before)
            if done:
                run.point = run.point._replace(multipliers=point.multipliers)  # those of the program at this end
            else:
                run.point, run.value = point, value
            row = run.note(labels)
            if callback is not None and callback(row) and not done:
                return np.inf, "stopped"
            if done:
                return max(before - point.bound, 0.0), "converged"
        return np.inf, "max_iter"


def free_rows(problem: Problem) -> np.ndarray:
    """The unlabeled rows that cost something."""
    if problem.unlabeled is None:
        return np.zeros(0, dtype=int)
    return np.flatnonzero(~problem.is_labeled & (problem.cost > 0))


def planes(problem: Problem, f: np.ndarray) -> lp.Sides:
    """The losses of the program at scores f: the smaller of r and s, or half of both."""
    known, free = lp.labeled_sides(problem), free_rows(problem)
    weight = np.where(f[free] > EVEN, 1.0, np.where(f[free] < -EVEN, 0.0, 0.5))
    rows, side = np.r_[free, free], np.repeat([1.0, -1.0], len(free))
    cost = np.r_[weight, 1.0 - weight] * problem.cost[rows]
    counts = cost > 0
    return lp.Sides(*(np.r_[old, new[counts]] for old, new in zip(known, (rows, side, cost))))


def _judged(problem: Problem, point: lp.Point) -> tuple[lp.Point, float]:
    return point, objective(problem, point.w, point.b)


def _solution(run: _Run, status: str, bound: float, left: float) -> Solution:
    """The best machine; stationary if the last program gained nothing, else bounded by the labeled rows alone."""
    gap = max(run.value - bound, 0.0)
    certificate = Certificate("gap", gap, bound, gap)
    if np.isfinite(left):
        certificate = Certificate("stationary", left, bound, gap)
    w, b, multipliers, _ = run.point
    told = {"n_iter": max(len(run.trace), 1), "multipliers": multipliers, "trace": run.trace}
    return Solution(w, b, run.scores, run.labels(), run.value, certificate, status, **told)
