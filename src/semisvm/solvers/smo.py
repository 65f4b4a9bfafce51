"""One dual solver for every machine with a hinge.

    maximise  sum phi_i(a_i) - 1/2 a'(K + diag(ridge)) a      subject to  sum a = 0,  lo <= a <= hi

with phi_i linear, or concave with one kink (see ``pairs``). SVM, ramp loss and CCCP differ in the boxes and in the
start alone. Order of calls in ``solve_dual``: start from any point; move it into the box and onto sum a = 0; pair steps
until no coordinate violates the conditions of optimality by more than tol; at the end solve the linear system of the
free coordinates, so that small problems are right to the last digit. The pair steps run

- on the block of all rows whose box is open, if the memory rule lets the kernel matrix be held; rows that can no longer
  move are left out on the way (shrinking) and looked at again at the end;
- on cached kernel rows, fetched a batch of violators at a time, if few rows will ever have a multiplier;
- else on the block of an active set of free rows and worst violators, one such set after another.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..balance import Free
from ..losses import Hinge, SquaredHinge
from ..problem import Problem
from ..rowcache import RowCache
from ..solution import Solution
from ..spaces import one_blas_thread, submatrix
from .dual import Dual, DualPoint, formulate, solution_of
from .limits import Limits, deadline
from .pairs import all_slopes, inside_box, pair_steps, summary

BLOCK_ROWS = 4096  # a block of the rows that can move is made whole up to this many
FIRST_ROWS = 8192  # rows of the first active set
ACTIVE_ROWS = 16384  # rows of a later one: 1 GiB of float32
FETCH_ROWS = 128  # kernel rows computed at once where one is missing
POLISH_ROWS = 300
ROUNDING = 1e-13  # a sum this small beside its terms is zero
SHRINK = 0.7  # compact the block when this share of it is left


@dataclass
class _State:
    """The arrays of a run over all coordinates, virtual ones last."""

    dual: Dual
    a: np.ndarray
    known_f: np.ndarray | None = None
    pieces: tuple = field(init=False)
    V: np.ndarray = field(init=False)
    ridge: np.ndarray = field(init=False)
    diagonal: np.ndarray = field(init=False)
    f: np.ndarray = field(init=False)

    def __post_init__(self):
        dual, n = self.dual, self.dual.gram.n
        V = np.zeros((0, n)) if dual.virtual is None else dual.virtual
        k = len(V)
        free = np.full(k, np.inf)
        slope = _with(dual.slope, np.zeros(0) if dual.virtual_slope is None else dual.virtual_slope)
        hi = _with(dual.hi, free)
        mid = hi if dual.mid is None else _with(dual.mid, free)
        high = slope if dual.high_slope is None else _with(dual.high_slope, np.zeros(k))
        self.pieces = (_with(dual.lo, -free), mid, hi, slope, high)
        self.V = np.ascontiguousarray(V, dtype=dual.gram.dtype)
        self.ridge = np.zeros(n + k) if dual.ridge is None else _with(dual.ridge, np.zeros(k))
        self.diagonal = _with(dual.gram.diagonal(), self.V[:, n:].diagonal()) + self.ridge
        self.a = _with(self.a, np.zeros(n + k - len(self.a))).astype(np.float64)
        if self.known_f is not None:
            self.f = self.known_f.copy()
            return
        self.f = self.ridge * self.a
        self.f[:n] += dual.gram.times(self.a[:n])
        if k:
            self.f[:n] += self.a[n:] @ self.V[:, :n]
            self.f[n:] += self.V @ self.a

    def slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """``up`` and ``down`` of every coordinate."""
        up, down = np.empty_like(self.a), np.empty_like(self.a)
        all_slopes(self.a, *self.pieces, up, down)
        return up, down

    def add(self, change: np.ndarray, stale: np.ndarray) -> None:
        """Bring f at the real rows ``stale`` up to date with a change of a."""
        n = self.dual.gram.n
        if len(stale) and change.any():
            self.f[stale] += self.dual.gram.times(change[:n])[stale]
            self.f[stale] += change[n:] @ self.V[:, stale] + self.ridge[stale] * change[stale]

    def enter_box(self) -> None:
        """Move a into the box and onto sum a = 0, and f with it; nothing happens to a feasible point."""
        n, lo, hi = self.dual.gram.n, self.pieces[0], self.pieces[2]
        within, total, size = inside_box(self.a, lo, hi)
        if within and abs(total) <= ROUNDING * size:
            return
        moved = feasible(self.a, lo, hi)
        change = moved - self.a
        self.a = moved
        if change.any():
            self.add(change, np.arange(n))
            self.f[n:] += self.V @ change


def _with(head: np.ndarray, tail: np.ndarray) -> np.ndarray:
    """Both arrays, one behind the other; the first itself if the second is empty."""
    return np.concatenate([head, tail]) if len(tail) else head


def feasible(a: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """A point of the box that sums to zero, as few coordinates away from a as a greedy sweep finds."""
    a = np.clip(a, lo, hi)
    free = np.flatnonzero(np.isinf(hi) & np.isinf(lo))
    if len(free):
        if abs(a.sum()) > ROUNDING * np.abs(a).sum():
            a[free[0]] -= a.sum()
        return a
    for _ in range(3):
        excess = a.sum()
        if abs(excess) <= ROUNDING * np.abs(a).sum():
            break
        room = a - lo if excess > 0 else hi - a
        order = np.argsort(-room, kind="stable")
        taken = np.minimum(np.cumsum(room[order]), abs(excess))
        a[order] -= np.sign(excess) * np.diff(taken, prepend=0.0)
        a = np.clip(a, lo, hi)
    return a


def solve_dual(
    dual: Dual,
    start: np.ndarray | DualPoint | None = None,
    tol: float = 1e-3,
    limits: Limits | None = None,
    polish: bool = True,
    whole: bool = True,
) -> DualPoint:
    """Solve the dual, from zeros or from any point.

    Parameters
    ----------
    dual : Dual
        The problem.
    start : array of shape (n,) or (n + k,), or DualPoint, optional
        Where to start; moved into the box and onto sum a = 0 if it is not there. A point of another dual with the
        same kernel, ridge and virtual rows brings its f along.
    tol : float
        Largest violation that counts as none, in units of f.
    limits : Limits, optional
        What ends the steps early.
    polish : bool
        Whether to solve the free coordinates exactly at the end, where the kernel is in double precision.
    whole : bool
        Whether to compute the whole kernel matrix where the memory rule allows; False pays where few rows will have
        a multiplier.
    """
    if isinstance(start, DualPoint):
        state = _State(dual, start.a.copy(), start.f)
    else:
        state = _State(dual, np.zeros(dual.gram.n) if start is None else np.array(start, dtype=np.float64))
    state.enter_box()
    limits = limits or Limits()
    try:
        status = _rounds(state, tol, limits, whole)
        if polish and status == "converged" and dual.gram.dtype == np.float64:
            _polish(state)
    except KeyboardInterrupt:
        status = "interrupted"
        state = _State(dual, state.a)
    top, bottom, multiplier, inside = summary(state.a, state.f, *state.pieces)
    if not inside:
        multiplier = 0.5 * (top + bottom) if np.isfinite(top + bottom) else 0.0
    return DualPoint(state.a, state.f, multiplier, max(top - bottom, 0.0), limits.steps, status)


def _bounds(state: _State) -> tuple[float, float]:
    return summary(state.a, state.f, *state.pieces)[:2]


def _rounds(state: _State, tol: float, limits: Limits, whole: bool) -> str:
    """Pair steps until no coordinate violates.

    They run on the block of all rows that can move, if the matrix is held or may be; on cached rows, if few will have a
    multiplier (``whole`` is False); else on the block of one active set after another.
    """
    gram = state.dual.gram
    open_rows = np.flatnonzero(state.dual.lo < state.dual.hi)
    if len(open_rows) > SHRINK * gram.n:
        open_rows = np.arange(gram.n)
    block = gram.held or (whole and gram.fits) or len(open_rows) <= BLOCK_ROWS
    cache = None if whole or gram.held else gram.cache  # from here on also what changes f elsewhere is cached
    last = np.inf
    while True:
        top, bottom = _bounds(state)
        if top - bottom <= tol:
            return "converged"
        if limits.status:
            return limits.status
        if block:
            K = gram.whole if len(open_rows) == gram.n and gram.fits else gram.square(open_rows)
            _steps_on_block(state, K, open_rows, tol, limits)
        elif cache is not None:
            _steps_on_cache(state, cache, tol, limits)
        else:
            active = _active(state, top, bottom, FIRST_ROWS if last == np.inf else ACTIVE_ROWS)
            goal = max(0.5 * tol, 0.1 * min(last, top - bottom, 1.0))
            last = top - bottom
            _steps_on_block(state, gram.square(active), active, goal, limits)


def _active(state: _State, top: float, bottom: float, limit: int) -> np.ndarray:
    """The free rows and the worst violators, at most ``limit``."""
    n = state.dual.gram.n
    up, down = state.slopes()
    middle = 0.5 * (top + bottom)
    off = np.maximum(up - state.f - middle, middle - down + state.f)
    inside = _inside(state)
    off[inside] = np.maximum(off[inside], 0.4 * (top - bottom))  # behind the worst pair, which must not be cut off
    off = off[:n] + 1e-9 * np.random.default_rng(0).random(n)  # ties, as at the start, are broken at random
    moving = np.flatnonzero(off > 0)
    if len(moving) > limit:
        moving = np.sort(moving[np.argpartition(-off[moving], limit)[:limit]])
    return moving


def _steps_on_cache(state: _State, cache: RowCache, tol: float, limits: Limits) -> None:
    """Pair steps over all rows; whenever a kernel row is missing it is computed together with those likely next."""
    n = state.dual.gram.n
    up, down = state.slopes()
    while True:
        period = min(1000, limits.left)
        made, wide, missing = pair_steps(
            cache.values, cache.slot, state.V, state.diagonal, state.ridge, state.pieces,
            state.a, state.f, up, down, tol, period,
        )  # fmt: skip
        if missing >= 0:
            cache.slots(_wanted(missing, (up - state.f)[:n], (down - state.f)[:n], cache))
        if limits.count(made, wide) or (missing < 0 and (wide <= tol or made < period)):
            return


def _wanted(missing: int, above: np.ndarray, below: np.ndarray, cache: RowCache) -> np.ndarray:
    """The missing row and the worst violators of both sides without a cached row.

    At most half of the cache, so that both rows of a pair are there after at most two such calls.
    """
    half = max(min(FETCH_ROWS, cache.capacity // 2) - 1, 0) // 2
    out = cache.slot >= 0
    sides = []
    for key in (np.where(out, np.inf, -above), np.where(out, np.inf, below)):
        side = np.argpartition(key, half)[:half] if half < len(key) else np.arange(len(key))
        sides.append(side[np.isfinite(key[side])])
    return np.unique(np.r_[missing, *sides])


def _steps_on_block(state: _State, K: np.ndarray, active: np.ndarray, tol: float, limits: Limits) -> None:
    """Pair steps on a block until its violation is at most tol; it shrinks to the rows that still move."""
    n, a_before, f_before = state.dual.gram.n, state.a.copy(), state.f.copy()
    virtual = np.arange(n, len(state.a))
    while True:
        here = _with(active, virtual)
        pieces = tuple(piece[here] for piece in state.pieces)
        a, f, ridge, diagonal = state.a[here], state.f[here], state.ridge[here], state.diagonal[here]
        V = np.ascontiguousarray(state.V[:, here])
        slot = np.arange(len(active))
        up, down = np.empty_like(a), np.empty_like(a)
        all_slopes(a, *pieces, up, down)
        shrunk = False
        while not shrunk:
            period = min(max(1000, len(active) // 2), limits.left)
            made, wide, _ = pair_steps(K, slot, V, diagonal, ridge, pieces, a, f, up, down, tol, period)
            state.a[here], state.f[here] = a, f
            if limits.count(made, wide) or wide <= tol or made < period:
                if len(active) < n:
                    stale = np.setdiff1d(np.arange(n), active, assume_unique=True)
                    state.f[stale] = f_before[stale]  # what left the block on the way saw only some of the steps
                    state.add(state.a - a_before, stale)
                return
            top, bottom = np.max(up - f), np.min(down - f)
            stays = ((up - f >= bottom) | (down - f <= top))[: len(active)]
            shrunk = stays.mean() < SHRINK
        left = np.flatnonzero(stays)
        active, K = active[left], submatrix(K, left, left)


def _inside(state: _State) -> np.ndarray:
    """Coordinates strictly inside a linear piece of their phi."""
    lo, mid, hi = state.pieces[:3]
    return np.flatnonzero((state.a > lo) & (state.a < hi) & (state.a != mid))


def _polish(state: _State) -> None:
    """Solve slope - f = b for the free coordinates, all others fixed; keep the result if it violates less."""
    inside, n = _inside(state), state.dual.gram.n
    if not 0 < len(inside) <= POLISH_ROWS:
        return
    real, virtual = inside[inside < n], inside[inside >= n]
    k = len(inside)
    H = np.zeros((k + 1, k + 1))
    H[: len(real), : len(real)] = state.dual.gram.square(real)
    H[len(real) : k, :k] = state.V[np.ix_(virtual - n, inside)]
    H[: len(real), len(real) : k] = state.V[np.ix_(virtual - n, real)].T
    H[np.arange(k), np.arange(k)] += state.ridge[inside]
    H[k, :k] = H[:k, k] = 1.0
    up, _ = state.slopes()
    # the free part of f is H a; the sum of the free coordinates has to stay what brings the total to zero
    right = np.r_[(up - state.f)[inside] + H[:k, :k] @ state.a[inside], state.a[inside].sum() - state.a.sum()]
    with one_blas_thread:
        solved = _solve(H, right)[:k]
    lo, mid, hi = (piece[inside] for piece in state.pieces[:3])
    below = state.a[inside] < mid
    if (solved < np.where(below, lo, mid)).any() or (solved > np.where(below, mid, hi)).any():
        return
    exact = state.a.copy()
    exact[inside] = solved
    trial = _State(state.dual, exact)
    if np.subtract(*_bounds(trial)) < np.subtract(*_bounds(state)):
        state.a, state.f = trial.a, trial.f


def _solve(H: np.ndarray, right: np.ndarray) -> np.ndarray:
    """H^-1 right, or the shortest least-squares solution where rows coincide."""
    try:
        solved = np.linalg.solve(H, right)
        if np.abs(H @ solved - right).max() <= 1e-10 * (1.0 + np.abs(right).max()):
            return solved
    except np.linalg.LinAlgError:
        pass
    return np.linalg.lstsq(H, right, rcond=None)[0]


@dataclass(frozen=True)
class SMO:
    """Sequential minimal optimisation of a supervised problem with hinge or squared hinge loss.

    Parameters
    ----------
    tol : float
        Largest violation of the optimality conditions, in units of f.
    max_iter : int
        Largest number of pair steps.
    max_time : float or None
        Seconds after which the best so far is returned.
    """

    tol: float = 1e-3
    max_iter: int = 10_000_000
    max_time: float | None = None

    losses = (Hinge, SquaredHinge)
    unlabeled_losses = (type(None),)
    balances = (Free,)
    on_gram = True

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Minimise, from the multipliers of another solution if there is one."""
        limits = Limits(self.max_iter, deadline(self.max_time), callback)
        first = None if start is None else start.multipliers
        point = solve_dual(formulate(problem), first, self.tol, limits)
        return solution_of(problem, point, kind="kkt")
