"""The point of a run of SMO, and how it is moved onto the constraints."""

from __future__ import annotations

from copy import copy

import numpy as np

from .dual_problem import Dual
from .pair_steps import box_and_sum, set_all_slopes, summarize

ROUNDING = 1e-13  # a sum this small beside its terms is zero


class Iterate:
    """The present point and the arrays of a run over all coordinates, those of virtual samples last.

    Where f is known it need not be computed.
    """

    def __init__(self, dual: Dual, a: np.ndarray, f: np.ndarray | None = None):
        self.dual, n = dual, dual.gram.n
        V = np.zeros((0, n)) if dual.virtual is None else dual.virtual
        k = len(V)
        infinite = np.full(k, np.inf)
        slope = join(dual.slope, np.zeros(0) if dual.virtual_slope is None else dual.virtual_slope)
        upper = join(dual.upper, infinite)
        kink = upper if dual.kink is None else join(dual.kink, infinite)
        slope_above = slope if dual.slope_above is None else join(dual.slope_above, np.zeros(k))
        self.pieces = (join(dual.lower, -infinite), kink, upper, slope, slope_above)
        self.V = np.ascontiguousarray(V, dtype=dual.gram.dtype)
        self.ridge = np.zeros(n + k) if dual.ridge is None else join(dual.ridge, np.zeros(k))
        self.diagonal = join(dual.gram.diagonal(), self.V[:, n:].diagonal()) + self.ridge
        self.a = join(a, np.zeros(n + k - len(a))).astype(np.float64)
        self.f = self._compute_f() if f is None else f.copy()

    def _compute_f(self) -> np.ndarray:
        n = self.dual.gram.n
        f = self.ridge * self.a
        f[:n] += self.dual.gram.product(self.a[:n])
        if len(self.V):
            f[:n] += self.a[n:] @ self.V[:, :n]
            f[n:] += self.V @ self.a
        return f

    def at(self, a: np.ndarray) -> Iterate:
        """Another point of the same dual, its f computed anew."""
        other = copy(self)
        other.a = a
        other.f = other._compute_f()
        return other

    def slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """``up`` and ``down`` of every coordinate."""
        up, down = np.empty_like(self.a), np.empty_like(self.a)
        set_all_slopes(self.a, *self.pieces, up, down)
        return up, down

    def value(self) -> float:
        """The dual objective: sum of phi(a), less half of a'f."""
        lower, kink, _, slope, slope_above = self.pieces
        start = np.where(np.isfinite(lower), lower, 0.0)  # phi is known up to a constant
        above = np.maximum(self.a - kink, 0.0)
        phi = slope * (self.a - above - start) + slope_above * above
        return float(phi.sum() - 0.5 * self.a @ self.f)

    def extremes(self) -> tuple[float, float]:
        """Largest up - f and smallest down - f: their difference is the violation."""
        return summarize(self.a, self.f, *self.pieces)[:2]

    def free(self) -> np.ndarray:
        """Coordinates strictly inside a linear piece of their phi."""
        lower, kink, upper = self.pieces[:3]
        return np.flatnonzero((self.a > lower) & (self.a < upper) & (self.a != kink))

    def update_f(self, change: np.ndarray, samples: np.ndarray) -> None:
        """Bring f at some real samples up to date with a change of a."""
        n = self.dual.gram.n
        if len(samples) and change.any():
            self.f[samples] += self.dual.gram.product(change[:n])[samples]
            self.f[samples] += change[n:] @ self.V[:, samples] + self.ridge[samples] * change[samples]

    def project(self) -> None:
        """Move a within the bounds and onto sum a = 0, and f with it; a feasible point stays."""
        lower, upper = self.pieces[0], self.pieces[2]
        within, total, size = box_and_sum(self.a, lower, upper)
        if within and abs(total) <= ROUNDING * size:
            return
        self.move_to(feasible_point(self.a, lower, upper))

    def move_to(self, a: np.ndarray) -> None:
        """Another point, and its f."""
        n, change = self.dual.gram.n, a - self.a
        self.a = a
        if change.any():
            self.update_f(change, np.arange(n))
            self.f[n:] += self.V @ change


def join(head: np.ndarray, tail: np.ndarray) -> np.ndarray:
    """Both arrays concatenated; the first itself if the second is empty."""
    return np.concatenate([head, tail]) if len(tail) else head


def feasible_point(a: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """A point within the bounds that sums to zero, changing as few coordinates of a as a greedy sweep finds."""
    a = np.clip(a, lower, upper)
    unbounded = np.flatnonzero(np.isinf(upper) & np.isinf(lower))
    if len(unbounded):
        if abs(a.sum()) > ROUNDING * np.abs(a).sum():
            a[unbounded[0]] -= a.sum()
        return a
    for _ in range(3):
        excess = a.sum()
        if abs(excess) <= ROUNDING * np.abs(a).sum():
            break
        slack = a - lower if excess > 0 else upper - a
        order = np.argsort(-slack, kind="stable")
        taken = np.minimum(np.cumsum(slack[order]), abs(excess))
        a[order] -= np.sign(excess) * np.diff(taken, prepend=0.0)
        a = np.clip(a, lower, upper)
    return a


def sum_to_zero(a: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """A point within the bounds that sums to zero, by changes of coordinates strictly inside of them if these do."""
    is_free = (a > lower) & (a < upper)
    a = feasible_point(a, np.where(is_free, lower, a), np.where(is_free, upper, a))
    return feasible_point(a, lower, upper)
