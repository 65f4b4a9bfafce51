"""Machines with a hinge whose unlabeled rows hold labels: what searches over labels train, each from the one before.

With labels y of +-1 on all rows the problem is an SVM, and its dual differs between two labelings in the boxes of the
rows that changed, and between two costs in the width of boxes. So a point of one is a start for the other: multipliers
at a bound move with it, those of changed rows go to zero, the rest stays.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import losses
from ..balance import Free
from ..kernels import Kernel
from ..problem import Problem, objective_of_scores
from ..solution import Certificate, Solution
from ..spaces import Gram, submatrix
from .dual import Dual, DualPoint, formulate, read, solution_of
from .label_search import labels_in_band, limits_of
from .limits import Limits
from .smo import SMO, solve_dual


def free_rows(problem: Problem) -> np.ndarray:
    """The rows whose labels are sought."""
    there = np.ones(len(problem.signs), dtype=bool) if problem.weights is None else problem.weights > 0
    return np.flatnonzero(~problem.is_labeled & there)


def filled(problem: Problem, y: np.ndarray, cost: np.ndarray | None = None) -> Problem:
    """The problem with labels on all rows, and with other costs if they are given."""
    return problem._replace(signs=y, cost=problem.cost if cost is None else cost, unlabeled=None, balance=Free())


def block(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """The kernel values of some rows with each other, in double precision; the whole matrix is made once for all."""
    gram = problem.space.gram()
    K = submatrix(gram.whole, rows, rows) if gram.fits else gram.square(rows)
    return np.asarray(K, dtype=np.float64)


def restricted(problem: Problem, rows: np.ndarray) -> Problem:
    """The problem of some rows, on their block of the kernel matrix."""
    weights = None if problem.weights is None else problem.weights[rows]
    space = Gram(Kernel("precomputed"), block(problem, rows))
    return problem._replace(space=space, signs=problem.signs[rows], cost=problem.cost[rows], weights=weights)


class Trainer:
    """The machine of one labeling after the other.

    Parameters
    ----------
    problem : Problem
        Whose labeled loss is a hinge or a squared hinge.
    limits : Limits
        What ends pair steps early.

    Attributes
    ----------
    point, dual, problem : DualPoint, Dual, Problem
        The last machine, its dual and the problem that it solves.
    """

    def __init__(self, problem: Problem, limits: Limits):
        self.problem, self.limits = problem, limits
        self.dual: Dual | None = None
        self.point: DualPoint | None = None

    def copy(self) -> Trainer:
        """A trainer at the same machine: points are never changed in place."""
        twin = Trainer(self.problem, self.limits)
        twin.dual, twin.point = self.dual, self.point
        return twin

    def train(self, y: np.ndarray, cost: np.ndarray | None = None, tol: float = 1e-3, polish: bool = False) -> float:
        """The machine of labels and costs, from the last one; returns its objective at these costs."""
        self.problem = filled(self.problem, y, cost)
        dual = formulate(self.problem)
        start = None if self.point is None else _carried(self.point, self.dual, dual)
        self.point, self.dual = solve_dual(dual, start, tol, self.limits, polish=polish), dual
        return self.value()

    def scores(self) -> np.ndarray:
        """F at the rows."""
        return read(self.problem, self.dual, self.point)[0]

    def value(self) -> float:
        """The objective at the present machine, at the costs it was trained for."""
        f, b, norm2 = read(self.problem, self.dual, self.point)
        return objective_of_scores(self.problem, norm2, f, b)


def _carried(point: DualPoint, old: Dual, new: Dual) -> DualPoint | np.ndarray:
    """A start for a new dual: multipliers at a bound go to the new one, and f is brought along if few of them moved."""
    n = old.gram.n
    a = point.a.copy()
    own = a[:n]
    for side, was, now in ((1.0, old.hi, new.hi), (-1.0, old.lo, new.lo)):
        tied = (own == was) & (side * was > 0) & (side * now > 0) & (now != was) & np.isfinite(now)
        own[tied] = now[tied]
    if not np.array_equal(own, point.a[:n]):
        return a
    f = point.f.copy()
    if old.ridge is not None:
        f[:n] += (new.ridge - old.ridge) * own
    return replace(point, f=f)


def judged(problem: Problem, trainer: Trainer, y: np.ndarray, status: str, trace: list[dict]) -> Solution:
    """The trained machine with labels y, judged by the problem at full costs."""
    held = filled(problem, y)
    solution = solution_of(held, replace(trainer.point, status=status), "kkt", trace, n_iter=max(len(trace), 1))
    solution.certificate = Certificate("stationary", solution.certificate.value)
    return solution


def with_bound(solution: Solution, bound: float) -> Solution:
    """The solution with a bound that no labeling lies below."""
    gap = max(solution.objective - bound, 0.0)
    solution.certificate = Certificate("gap", gap, bound, gap)
    return solution


def supervised(problem: Problem, tol: float, max_time: float | None, callback=None) -> Solution:
    """The machine of the labeled rows, with labels in the balance on the others."""
    solution = SMO(tol, max_time=max_time).solve(problem.alone(), callback=callback)
    rows = free_rows(problem)
    if len(rows) and problem.unlabeled is not None:
        solution.labels[rows] = labels_in_band(solution.scores[rows], problem.weights_of(rows), problem.balance)
    return solution


class Changes:
    """What changes of labels gain while f is held.

    A flip of row j gains c_j (k(y_j) loss(y_j f_j) - k(-y_j) loss(-y_j f_j)), k being the share of the cost that counts
    for a label; two rows of opposite labels that change places gain the sum. The weight of positive rows stays in the
    band of the balance.

    Parameters
    ----------
    problem : Problem
        Its labeled loss is that of the rows with a label held.
    """

    def __init__(self, problem: Problem):
        self.rows = free_rows(problem)
        self.weight = problem.weights_of(self.rows)
        self.even = bool(np.all(self.weight == self.weight[0])) if len(self.rows) else True
        self.problem = problem

    def band(self, y: np.ndarray) -> tuple[float, float]:
        """Between which sums the weight of positive rows may move from labels y."""
        return limits_of(self.problem.balance, self.weight, y)

    def fitting(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Labels y, or labels by the rank of f if y breaks the balance."""
        low, high = limits_of(self.problem.balance, self.weight)
        if low <= self.weight @ (y > 0) <= high:
            return y
        return labels_in_band(f, self.weight, self.problem.balance)

    def gains(self, f: np.ndarray, y: np.ndarray, plus: float = 1.0, minus: float = 1.0) -> np.ndarray:
        """What each flip of a row gains; f and y over the sought rows."""
        up = plus * losses.value(self.problem.labeled, f)
        down = minus * losses.value(self.problem.labeled, -f)
        return self.problem.cost[self.rows] * np.where(y > 0, up - down, down - up)

    def best(self, gain: np.ndarray, y: np.ndarray, band: tuple[float, float]) -> tuple[np.ndarray, float]:
        """The flip of largest gain, or the change of places where the balance forbids some flip: rows, and the gain."""
        positive = float(self.weight @ (y > 0))
        after = positive - y * self.weight
        allowed = (band[0] <= after) & (after <= band[1])
        rows, most = np.zeros(0, dtype=int), 0.0
        if allowed.any():
            lone = int(np.argmax(np.where(allowed, gain, -np.inf)))
            if gain[lone] > most:
                rows, most = np.array([lone]), float(gain[lone])
        ups, downs = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
        if allowed.all() or not len(ups) or not len(downs):
            return rows, most
        pair, both = self._pair(gain, ups, downs, positive, band)
        return (pair, both) if both > most else (rows, most)

    def _pair(self, gain, ups, downs, positive, band) -> tuple[np.ndarray, float]:
        """The best pair; where weights differ, over all pairs that stay in the band."""
        top = downs[gain[downs].argmax()]
        if self.even:
            first = ups[gain[ups].argmax()]
            return np.array([first, top]), float(gain[first] + gain[top])
        pair, most = np.zeros(0, dtype=int), 0.0
        for row in ups[np.argsort(-gain[ups], kind="stable")]:
            if gain[row] + gain[top] <= most:
                break
            after = positive - self.weight[row] + self.weight[downs]
            fits = np.where((band[0] <= after) & (after <= band[1]), gain[downs], -np.inf)
            if gain[row] + fits.max() > most:
                pair, most = np.array([row, downs[fits.argmax()]]), float(gain[row] + fits.max())
        return pair, most
