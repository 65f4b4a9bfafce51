"""Sequential minimal optimization: one solver of the dual (stated in ``pair_steps``) of every model with a hinge.

SVM, ramp loss and CCCP differ in the bounds and in the start alone. Order of calls in ``solve_dual``: start from any
point; project it onto the constraints; pair steps until no coordinate violates the optimality conditions by more than
tol, or change nothing any more because tol is below what the arithmetic can reach; at the end solve the linear system
of the free coordinates, so that small problems are exact to the last digits.
The pair steps run

- on the block of all samples whose coordinates can move, if the memory rule lets the kernel matrix be held; samples
  that can no longer move are left out on the way (shrinking) and checked again at the end;
- on cached kernel rows, fetched a batch of violators at a time, if few samples will ever have a multiplier;
- else on the block of an active set of free samples and worst violators, one such set after another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._threads import single_blas_thread
from ...losses import Hinge, SquaredHinge
from ...problem import Problem
from ...solution import Solution
from ...spaces import RowCache, submatrix
from ..base import Accepts, Callback, Solver, StoppingRule
from .dual_problem import Dual, DualPoint, build_dual, solution_from_dual
from .pair_steps import box_and_sum, pair_steps, set_all_slopes, summarize

BLOCK_SIZE = 4096  # the block of the samples that can move is computed whole up to this many
FIRST_ACTIVE = 8192  # samples of the first active set
MAX_ACTIVE = 16384  # samples of a later one: 1 GiB of float32
N_FETCHED = 128  # kernel rows computed at once where one is missing
MAX_PAIR_STEPS = 10_000_000
PERIOD = 1000  # pair steps between two looks at the limits
POLISHED = 300  # free coordinates up to which their linear system is solved at the end
ROUNDING = 1e-13  # a sum this small beside its terms is zero
SHRINK = 0.7  # shrink the block when this share of it is left


class _Iterate:
    """The present point and the arrays of a run over all coordinates, those of virtual samples last.

    Where f is known it need not be computed.
    """

    def __init__(self, dual: Dual, a: np.ndarray, f: np.ndarray | None = None):
        self.dual, n = dual, dual.gram.n
        V = np.zeros((0, n)) if dual.virtual is None else dual.virtual
        k = len(V)
        infinite = np.full(k, np.inf)
        slope = _join(dual.slope, np.zeros(0) if dual.virtual_slope is None else dual.virtual_slope)
        upper = _join(dual.upper, infinite)
        kink = upper if dual.kink is None else _join(dual.kink, infinite)
        slope_above = slope if dual.slope_above is None else _join(dual.slope_above, np.zeros(k))
        self.pieces = (_join(dual.lower, -infinite), kink, upper, slope, slope_above)
        self.V = np.ascontiguousarray(V, dtype=dual.gram.dtype)
        self.ridge = np.zeros(n + k) if dual.ridge is None else _join(dual.ridge, np.zeros(k))
        self.diagonal = _join(dual.gram.diagonal(), self.V[:, n:].diagonal()) + self.ridge
        self.a = _join(a, np.zeros(n + k - len(a))).astype(np.float64)
        if f is not None:
            self.f = f.copy()
            return
        self.f = self.ridge * self.a
        self.f[:n] += dual.gram.product(self.a[:n])
        if k:
            self.f[:n] += self.a[n:] @ self.V[:, :n]
            self.f[n:] += self.V @ self.a

    def slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """``up`` and ``down`` of every coordinate."""
        up, down = np.empty_like(self.a), np.empty_like(self.a)
        set_all_slopes(self.a, *self.pieces, up, down)
        return up, down

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
        n, lower, upper = self.dual.gram.n, self.pieces[0], self.pieces[2]
        within, total, size = box_and_sum(self.a, lower, upper)
        if within and abs(total) <= ROUNDING * size:
            return
        moved = feasible_point(self.a, lower, upper)
        change = moved - self.a
        self.a = moved
        if change.any():
            self.update_f(change, np.arange(n))
            self.f[n:] += self.V @ change


def _join(head: np.ndarray, tail: np.ndarray) -> np.ndarray:
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


def solve_dual(
    dual: Dual,
    start: np.ndarray | DualPoint | None = None,
    tol: float = 1e-3,
    stop: StoppingRule | None = None,
    polish: bool = True,
    whole_matrix: bool = True,
) -> DualPoint:
    """Solve the dual, from zeros or from any point.

    Parameters
    ----------
    dual : Dual
        The problem.
    start : array of shape (n,) or (n + k,), or DualPoint, optional
        Where to start; projected onto the constraints if it does not meet them. A point of another dual with the same
        kernel, ridge and virtual samples brings its f along.
    tol : float
        Largest violation of the optimality conditions at a solution, in units of f.
    stop : StoppingRule, optional
        What ends the pair steps early; not used before.
    polish : bool
        Whether to solve the free coordinates exactly at the end, where the kernel is in double precision.
    whole_matrix : bool
        Whether to compute the whole kernel matrix where the memory rule allows; False pays where few samples will have
        a multiplier.
    """
    if isinstance(start, DualPoint):
        iterate = _Iterate(dual, start.a.copy(), start.f)
    else:
        iterate = _Iterate(dual, np.zeros(dual.gram.n) if start is None else np.array(start, dtype=np.float64))
    iterate.project()
    stop = stop or StoppingRule(MAX_PAIR_STEPS)
    with stop:
        _run_pair_steps(iterate, tol, stop, whole_matrix)
        if polish and stop.status in ("converged", "stalled") and dual.gram.dtype == np.float64:
            _polish(iterate)
    if stop.interrupted:
        iterate = _Iterate(dual, iterate.a)
    top, bottom, multiplier, n_free = summarize(iterate.a, iterate.f, *iterate.pieces)
    if not n_free:
        multiplier = 0.5 * (top + bottom) if np.isfinite(top + bottom) else 0.0
    status = "interrupted" if stop.interrupted else stop.status or "converged"  # Ctrl-C is heard while polishing, too
    return DualPoint(iterate.a, iterate.f, multiplier, max(top - bottom, 0.0), stop.n_iter, status)


def _run_pair_steps(iterate: _Iterate, tol: float, stop: StoppingRule, whole_matrix: bool) -> None:
    """Pair steps until the violation is at most tol, on a block, on cached rows or on active sets (see above)."""
    gram = iterate.dual.gram
    movable = np.flatnonzero(iterate.dual.lower < iterate.dual.upper)
    if len(movable) > SHRINK * gram.n:
        movable = np.arange(gram.n)
    on_block = gram.is_computed or (whole_matrix and gram.fits_memory) or len(movable) <= BLOCK_SIZE
    cache = None if whole_matrix or gram.is_computed else gram.row_cache()  # from here on ``product`` uses it as well
    last = np.inf
    while True:
        top, bottom = iterate.extremes()
        if top - bottom <= tol:
            stop.status = "converged"  # whatever limit was reached with the last step
        if not stop.running:
            return
        if on_block:
            K = gram.compute() if len(movable) == gram.n and gram.fits_memory else gram.block(movable)
            _steps_on_block(iterate, K, movable, tol, stop)
        elif cache is not None:
            _steps_on_cache(iterate, cache, tol, stop)
        else:
            active = _active_set(iterate, top, bottom, FIRST_ACTIVE if last == np.inf else MAX_ACTIVE)
            goal = max(0.5 * tol, 0.1 * min(last, top - bottom, 1.0))
            last = top - bottom
            _steps_on_block(iterate, gram.block(active), active, goal, stop)


def _active_set(iterate: _Iterate, top: float, bottom: float, limit: int) -> np.ndarray:
    """The free samples and the worst violators, at most ``limit``."""
    n = iterate.dual.gram.n
    up, down = iterate.slopes()
    middle = 0.5 * (top + bottom)
    violation = np.maximum(up - iterate.f - middle, middle - down + iterate.f)
    free = iterate.free()
    violation[free] = np.maximum(violation[free], 0.4 * (top - bottom))  # after the worst pair, which must be included
    violation = violation[:n] + 1e-9 * np.random.default_rng(0).random(n)  # ties, as at the start, are broken at random
    active = np.flatnonzero(violation > 0)
    if len(active) > limit:
        active = np.sort(active[np.argpartition(-violation[active], limit)[:limit]])
    return active


def _steps_on_cache(iterate: _Iterate, cache: RowCache, tol: float, stop: StoppingRule) -> None:
    """Pair steps over all samples; a missing kernel row is computed together with those that are likely to be next."""
    n = iterate.dual.gram.n
    up, down = iterate.slopes()
    while True:
        period, before = int(min(PERIOD, stop.max_iter - stop.n_iter)), iterate.a.copy()
        steps, violation, missing = pair_steps(
            cache.values, cache.slot, iterate.V, iterate.diagonal, iterate.ridge, iterate.pieces,
            iterate.a, iterate.f, up, down, tol, period,
        )  # fmt: skip
        if missing >= 0:
            cache.slots(_rows_to_fetch(missing, (up - iterate.f)[:n], (down - iterate.f)[:n], cache))
        stop.count(steps, {"pair_steps": stop.n_iter + steps, "violation": float(violation)})
        if steps >= PERIOD and _is_unchanged(before, iterate.a):
            stop.end("stalled")
        if not stop.running or (missing < 0 and (violation <= tol or steps < period)):
            return


def _rows_to_fetch(missing: int, above: np.ndarray, below: np.ndarray, cache: RowCache) -> np.ndarray:
    """The missing row and the worst violators of both sides without a cached row.

    At most half of the cache, so that both rows of a pair are there after no more than two such calls.
    """
    half = max(min(N_FETCHED, cache.capacity // 2) - 1, 0) // 2
    cached = cache.slot >= 0
    sides = []
    for key in (np.where(cached, np.inf, -above), np.where(cached, np.inf, below)):
        side = np.argpartition(key, half)[:half] if half < len(key) else np.arange(len(key))
        sides.append(side[np.isfinite(key[side])])
    return np.unique(np.r_[missing, *sides])


def _steps_on_block(iterate: _Iterate, K: np.ndarray, active: np.ndarray, tol: float, stop: StoppingRule) -> None:
    """Pair steps on a block until its violation is at most tol; it shrinks to the samples that still move."""
    n, a_before, f_before = iterate.dual.gram.n, iterate.a.copy(), iterate.f.copy()
    virtual = np.arange(n, len(iterate.a))
    while True:
        here = _join(active, virtual)
        pieces = tuple(piece[here] for piece in iterate.pieces)
        a, f, ridge, diagonal = iterate.a[here], iterate.f[here], iterate.ridge[here], iterate.diagonal[here]
        V = np.ascontiguousarray(iterate.V[:, here])
        slot = np.arange(len(active))
        up, down = np.empty_like(a), np.empty_like(a)
        set_all_slopes(a, *pieces, up, down)
        shrunk = False
        while not shrunk:
            period, before = int(min(max(PERIOD, len(active) // 2), stop.max_iter - stop.n_iter)), a.copy()
            steps, violation, _ = pair_steps(K, slot, V, diagonal, ridge, pieces, a, f, up, down, tol, period)
            iterate.a[here], iterate.f[here] = a, f
            stop.count(steps, {"pair_steps": stop.n_iter + steps, "violation": float(violation)})
            if steps >= PERIOD and _is_unchanged(before, a):
                stop.end("stalled")
            if not stop.running or violation <= tol or steps < period:
                if len(active) < n:
                    others = np.setdiff1d(np.arange(n), active, assume_unique=True)
                    iterate.f[others] = f_before[others]  # those that left the block have seen only some of the steps
                    iterate.update_f(iterate.a - a_before, others)
                return
            top, bottom = np.max(up - f), np.min(down - f)
            can_move = ((up - f >= bottom) | (down - f <= top))[: len(active)]
            shrunk = can_move.mean() < SHRINK
        left = np.flatnonzero(can_move)
        active, K = active[left], submatrix(K, left, left)


def _is_unchanged(before: np.ndarray, a: np.ndarray) -> bool:
    """Whether many pair steps were lost in rounding: tol is below what the arithmetic can reach."""
    return bool(np.abs(a - before).max() <= np.finfo(np.float64).eps * np.abs(a).max())


def _polish(iterate: _Iterate) -> None:
    """Solve slope - f = b for the free coordinates, all others fixed; keep the result if the violation is smaller."""
    free, n = iterate.free(), iterate.dual.gram.n
    if not 0 < len(free) <= POLISHED:
        return
    real, virtual = free[free < n], free[free >= n]
    k = len(free)
    H = np.zeros((k + 1, k + 1))
    H[: len(real), : len(real)] = iterate.dual.gram.block(real)
    H[len(real) : k, :k] = iterate.V[np.ix_(virtual - n, free)]
    H[: len(real), len(real) : k] = iterate.V[np.ix_(virtual - n, real)].T
    H[np.arange(k), np.arange(k)] += iterate.ridge[free]
    H[k, :k] = H[:k, k] = 1.0
    up, _ = iterate.slopes()
    # the free part of f is H a; the sum of the free coordinates has to stay what makes the total zero
    right = np.r_[(up - iterate.f)[free] + H[:k, :k] @ iterate.a[free], iterate.a[free].sum() - iterate.a.sum()]
    with single_blas_thread:
        solved = _solve_symmetric(H, right)[:k]
    lower, kink, upper = (piece[free] for piece in iterate.pieces[:3])
    below = iterate.a[free] < kink
    if (solved < np.where(below, lower, kink)).any() or (solved > np.where(below, kink, upper)).any():
        return
    exact = iterate.a.copy()
    exact[free] = solved
    trial = _Iterate(iterate.dual, exact)
    if np.subtract(*trial.extremes()) < np.subtract(*iterate.extremes()):
        iterate.a, iterate.f = trial.a, trial.f


def _solve_symmetric(H: np.ndarray, right: np.ndarray) -> np.ndarray:
    """H^-1 right, or the least-squares solution of smallest norm where samples coincide."""
    try:
        solved = np.linalg.solve(H, right)
        if np.abs(H @ solved - right).max() <= 1e-10 * (1.0 + np.abs(right).max()):
            return solved
    except np.linalg.LinAlgError:
        pass
    return np.linalg.lstsq(H, right, rcond=None)[0]


@dataclass(frozen=True)
class SMO(Solver):
    """Sequential minimal optimization of a supervised problem with hinge or squared hinge loss.

    Parameters
    ----------
    tol : float
        Largest violation of the optimality conditions, in units of f.
    max_iter : int
        Largest number of pair steps.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    J. C. Platt, "Fast training of support vector machines using sequential minimal optimization", in Advances in Kernel
    Methods, MIT Press, 1999. R.-E. Fan, P.-H. Chen and C.-J. Lin, "Working set selection using second order information
    for training support vector machines", JMLR 6, 2005. https://jmlr.org/papers/v6/fan05a.html
    """

    tol: float = 1e-3
    max_iter: int = MAX_PAIR_STEPS

    accepts: ClassVar[Accepts] = Accepts((Hinge, SquaredHinge), space="gram")

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Minimize, from the multipliers of another solution if there is one."""
        stop = StoppingRule(self.max_iter, self.max_time, callback)
        point = solve_dual(build_dual(problem), None if start is None else start.multipliers, self.tol, stop)
        return solution_from_dual(problem, point, "kkt", self.tol)
