"""Local search over the labels of the unlabeled rows, under the squared loss.

For fixed labels the best machine costs 1/2 y'Sy (``linalg``), so a search compares labelings without training anything:
S2RLSC of Gieseke, Kramer, Airola and Pahikkala tries rows in turn, S2LS-SVM 1 of Adankon, Cheriet and Biem the row with
the largest error. Where the balance leaves no room for a flip, two rows of opposite labels are swapped.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from ..balance import Count, Free
from ..linalg import Labelings, labelings
from ..losses import Squared, SymmetricSquared
from ..problem import Problem
from ..solution import Certificate, Solution
from ..spaces import in_threads, threads
from .least_squares import System, Taking, fitted, machine, system_of
from .limits import deadline

DRIFTED = 10_000  # flips after which the best labeling is looked at afresh before the search ends
EVEN = 1e-9  # of all weight: what a sum of weights may be off by rounding


def labels_by_score(f: np.ndarray, weight: np.ndarray, balance: tuple) -> np.ndarray:
    """Labels of +-1 by the sign of the scores, or by their rank if the signs break the balance."""
    y = np.where(f > 0, 1.0, -1.0)
    low, high = limits_of(balance, weight)
    if low <= weight @ (y > 0) <= high:
        return y
    order = np.argsort(-f, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(weight[order])])
    off = np.abs(sums - balance.r * sums[-1])
    nearest = np.flatnonzero(off <= off.min() + EVEN * sums[-1])
    count = nearest[np.abs(sums[nearest] - sums[np.count_nonzero(f > 0)]).argmin()]
    y[order] = np.where(np.arange(len(f)) < count, 1.0, -1.0)
    return y


def labels_in_band(f: np.ndarray, weight: np.ndarray, balance: tuple) -> np.ndarray:
    """Labels of +-1 by the rank of the scores: of those that the balance allows, the nearest to their signs."""
    low, high = limits_of(balance, weight)
    order = np.argsort(-f, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(weight[order])])
    allowed = np.flatnonzero((low <= sums) & (sums <= high))
    if not len(allowed):
        return labels_by_score(f, weight, balance)
    count = allowed[np.abs(allowed - np.count_nonzero(f > 0)).argmin()]
    y = np.full(len(f), -1.0)
    y[order[:count]] = 1.0
    return y


def limits_of(balance: tuple, weight: np.ndarray, y: np.ndarray | None = None) -> tuple[float, float]:
    """Between which sums the weight of positive rows may move.

    Rows of equal weight: as many as lie within the slack, or the number nearest to the share (both, if two are).
    Otherwise the share and its slack, widened so that the labels y, which are as near as one gets, are inside.
    """
    if not isinstance(balance, Count):
        return -np.inf, np.inf
    total = weight.sum()
    low, high = (balance.r - balance.slack) * total, (balance.r + balance.slack) * total
    unit = weight[0]
    if np.all(weight == unit):
        low, high = np.ceil(low / unit - EVEN), np.floor(high / unit + EVEN)
        if low > high:
            exact = balance.r * len(weight)
            low, high = np.ceil(exact - 0.5 - EVEN), np.floor(exact + 0.5 + EVEN)
        low, high = low * unit, high * unit
    elif y is not None:
        now = weight @ (y > 0)
        low, high = min(low, now), max(high, now)
    return low - EVEN * total, high + EVEN * total


def weights_of(problem: Problem, system: System | Taking) -> np.ndarray:
    """Weights in the balance of the rows to be labeled."""
    return problem.weights_of(system.rows[system.free])


@dataclass(frozen=True)
class LabelSearch:
    """Flips and swaps of labels until none improves.

    Parameters
    ----------
    search : {"round_robin", "steepest", "largest"}
        Try the rows in turn, from the least certain on; always take the best flip; or take the row of largest error,
        as S2LS-SVM 1 is printed.
    n_init : int
        Labelings to start from: the supervised one, then random ones.
    max_iter : int
        Largest number of rounds over the rows.
    max_time : float or None
        Seconds after which the best so far is returned.
    """

    search: str = "round_robin"
    n_init: int = 1
    max_iter: int = 1000
    max_time: float | None = None

    losses = (Squared,)
    unlabeled_losses = (type(None), SymmetricSquared)
    balances = (Free, Count)

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Search from the labels of the supervised machine or of another solution."""
        end = deadline(self.max_time)
        if problem.unlabeled is None or not len(system_of(problem).free):
            return fitted(problem.alone(), callback)
        first = start if start is not None else fitted(problem.alone())
        system = system_of(problem)
        f = first.scores[system.rows[system.free]]
        weight = weights_of(problem, system)
        own = labels_by_score(f, weight, problem.balance)
        if start is not None:
            own = start.labels[system.rows[system.free]]
        order = np.argsort(np.abs(f), kind="stable")  # rows in an order that does not depend on how they came
        side = 1.0 if f[order[-1]] > 0 else -1.0  # and a side that changes with the names of the classes
        Y = _starts(own, order, weight, problem.balance, self.n_init, side, np.random.default_rng(rng))
        parts = _parts(system, problem, Y, weight, limits_of(problem.balance, weight, own))
        trace: list[dict] = []

        def told(flipped: int) -> str | None:
            """A row of the trace; the reason to stop, if there is one."""
            best = min(float(part.values().min()) for part in parts)
            trace.append({"step": len(trace), "objective": best, "flips": flipped})
            if callback is not None and callback(trace[-1]):
                return "stopped"
            if len(trace) > self.max_iter:
                return "max_iter"
            return "max_time" if time.perf_counter() > end else None

        try:
            status = told(0) or self._search(parts, order, told)
        except KeyboardInterrupt:
            status = "interrupted"
        return _best(problem, system, parts, status, trace)

    def _search(self, parts: list[Labelings], order: np.ndarray, told) -> str:
        """Rounds until no part moves."""
        total = 0
        while True:
            made = [0] * len(parts)

            def round_of(number: int, made=made) -> None:
                made[number] = self._round(parts[number], order)

            in_threads(round_of, list(range(len(parts))))
            total += sum(made)
            # the printed rule leaves some flips; and few flips gather no rounding that could hide one
            if not sum(made) and (self.search == "largest" or total <= DRIFTED or not _revived(parts)):
                return "converged"
            reason = told(sum(made))
            if reason:
                return reason

    def _round(self, part: Labelings, order: np.ndarray) -> int:
        """A round over the rows of every labeling, then swaps for those that flips leave at rest."""
        if self.search == "largest":
            return sum(_largest(part, r) for r in range(len(part.Y)))
        if self.search == "steepest":
            made = sum(part.descend(r) for r in range(len(part.Y)))
        else:
            made = part.sweep(order)
        if not made:
            bound = [r for r in range(len(part.Y)) if not part.allowed(r).all()]
            made = sum(part.swap(r) for r in bound)
            part.idle[bound] = 0
        return made


def _leader(parts: list[Labelings]) -> tuple[Labelings, int]:
    """The best labeling."""
    values = [part.values() for part in parts]
    chosen = int(np.argmin([v.min() for v in values]))
    return parts[chosen], int(values[chosen].argmin())


def _revived(parts: list[Labelings]) -> bool:
    """Whether the best labeling can still gain by a flip, once what was kept up to date is computed afresh."""
    part, r = _leader(parts)
    part.refresh_one(r)
    part.idle[r] = 0
    return part.flip_left(r) > 0


def _starts(own, order, weight, balance, n_init, side, rng) -> np.ndarray:
    """The first labeling, then random ones that keep the balance."""
    Y = np.tile(own, (n_init, 1))
    u = len(own)
    if isinstance(balance, Count) and np.all(weight == weight[0]):
        low, high = limits_of(balance._replace(slack=0.0), weight)
        count = int(np.ceil(low / weight[0]) if side > 0 else np.floor(high / weight[0]))
        rank = rng.permuted(np.tile(np.arange(u), (n_init - 1, 1)), axis=1)
        Y[1:, order] = np.where(rank < count if side > 0 else rank >= u - count, 1.0, -1.0)
        return Y
    tight = balance._replace(slack=0.0) if isinstance(balance, Count) else balance
    for r in range(1, n_init):
        Y[r, order] = labels_by_score(side * rng.normal(size=u), weight[order], tight)
    return Y


def _parts(system: System, problem: Problem, Y, weight, band) -> list[Labelings]:
    """The labelings in as many parts as there are threads."""
    fixed = np.zeros(len(system.rows))
    fixed[system.labeled] = problem.signs[system.rows[system.labeled]]
    count = min(threads(), max(1, len(Y) // 4))
    return [labelings(system.form, fixed, system.free, part, weight, *band) for part in np.array_split(Y, count)]


def _largest(part: Labelings, r: int) -> int:
    """Flip the row of largest |alpha| with y alpha > 0 if that lowers the objective; a pair under a tight balance."""
    y, alpha = part.Y[r], part.alpha(r)
    error = y * alpha
    if part.allowed(r).all():
        rows = [int(error.argmax())]
    else:
        sides = [np.flatnonzero(y > 0), np.flatnonzero(y < 0)]
        if not all(len(side) for side in sides):
            return 0
        rows = [int(side[error[side].argmax()]) for side in sides]
    few = np.array(rows)
    delta = 2.0 * (part.diagonal[few] - error[few]).sum()
    if len(few) == 2:
        delta -= 4.0 * part.form.block(part.free[few])[0, 1]
    moved = part.positive[r] - y[few] @ part.weight[few]
    if error[few].min() <= 0 or delta >= -1e-11 * part.diagonal[few].sum() or not part.low <= moved <= part.high:
        return 0
    part.positive[r] = moved
    part._relabel(r, few, -y[few])
    return 1


def _best(problem: Problem, system: System, parts: list[Labelings], status: str, trace: list[dict]) -> Solution:
    """The best labeling as a machine, with what is left to gain by a flip, or by a swap if flips are barred."""
    part, r = _leader(parts)
    left = part.flip_left(r)
    if not part.allowed(r).all():
        left = max(left, part.swap_left(r))
    solution = machine(problem, system, part.full(r), status=status, n_iter=len(trace), trace=trace)
    solution.certificate = Certificate("no_flip" if left == 0 else "monotone", left)
    return solution
