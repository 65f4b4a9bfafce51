"""Sequential minimal optimization: one solver of the dual (stated in ``pair_steps``) of every model with a hinge.

SVM, ramp loss and CCCP differ in the bounds and in the start alone. Order of calls in ``solve_dual``: start from any
point; project it onto the constraints; pair steps until no coordinate violates the optimality conditions by more than
tol, or change nothing any more because tol is below what the arithmetic can reach; after many of them joint steps of
the free coordinates, and one at the end, so that small problems are exact to the last digits.
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

from ...losses import Hinge, SquaredHinge
from ...problem import Problem
from ...solution import Solution
from ...spaces import RowCache, largest_block, submatrix
from ..base import Accepts, Callback, Solver, StoppingRule
from .dual_problem import Dual, DualPoint, build_dual
from .duality_gap import Start, solve_within_gap
from .iterate import Iterate, join
from .joint_steps import joint_steps, solve_free
from .pair_steps import pair_steps, set_all_slopes, summarize
from .stagnation import Patience, Stagnation

BLOCK_SIZE = 4096  # the block of the samples that can move is computed whole up to this many, within the memory rule
FIRST_ACTIVE = 8192  # samples of the first active set, within the memory rule like those of later ones
MAX_ACTIVE = 16384  # samples of a later one: 1 GiB of float32
N_FETCHED = 128  # kernel rows computed at once where one is missing
MAX_PAIR_STEPS = 10_000_000
PERIOD = 1000  # pair steps between two looks at the limits
MAX_ROUNDS = 20  # of many pair steps and joint steps without a smaller violation
MANY = 5_000  # pair steps, or 20 a sample if that is more, after which joint steps are tried
SHRINK = 0.7  # shrink the block when this share of it is left


def solve_dual(
    dual: Dual,
    start: np.ndarray | DualPoint | None = None,
    tol: float = 1e-3,
    stop: StoppingRule | None = None,
    polish: bool = True,
    whole_matrix: bool = True,
    f_of_fixed: bool = True,
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
    f_of_fixed : bool
        Whether f of the point returned is wanted at samples whose bounds are equal, too; another dual may free them.
    """
    if isinstance(start, DualPoint):
        iterate = Iterate(dual, start.a.copy(), start.f)
    else:
        iterate = Iterate(dual, np.zeros(dual.gram.n) if start is None else np.array(start, dtype=np.float64))
    iterate.project()
    stop = stop or StoppingRule(MAX_PAIR_STEPS)
    with stop:
        _run_pair_steps(iterate, tol, stop, whole_matrix, f_of_fixed)
        if polish and stop.status in ("converged", "stalled") and dual.gram.dtype == np.float64:
            solve_free(iterate)
    if stop.interrupted or stop.status == "stalled":  # f of half a step, or with the rounding errors of many
        iterate = iterate.at(iterate.a)
    top, bottom, multiplier, n_free = summarize(iterate.a, iterate.f, *iterate.pieces)
    if stop.status == "stalled" and top - bottom <= tol:
        stop.status = "converged"
    if not n_free:
        multiplier = 0.5 * (top + bottom) if np.isfinite(top + bottom) else 0.0
    status = "interrupted" if stop.interrupted else stop.status or "converged"  # Ctrl-C is heard while polishing, too
    return DualPoint(iterate.a, iterate.f, multiplier, max(top - bottom, 0.0), stop.n_iter, status)


def _run_pair_steps(iterate: Iterate, tol: float, stop: StoppingRule, whole_matrix: bool, f_of_fixed: bool) -> None:
    """Pair steps until the violation is at most tol, on a block, on cached rows or on active sets (see above)."""
    gram = iterate.dual.gram
    movable = np.flatnonzero(iterate.dual.lower < iterate.dual.upper)
    followed = np.arange(gram.n) if f_of_fixed else movable
    if len(movable) > SHRINK * gram.n:
        movable = np.arange(gram.n)
    on_block = gram.is_computed or (whole_matrix and gram.fits_memory)
    largest = 0 if on_block else largest_block(gram.dtype.itemsize)
    on_block = on_block or len(movable) <= min(BLOCK_SIZE, largest)
    cache = None if whole_matrix or gram.is_computed else gram.row_cache()  # from here on ``product`` uses it as well
    last, rounds = np.inf, Patience(MAX_ROUNDS)
    while True:
        top, bottom = iterate.extremes()
        if top - bottom <= tol:
            stop.status = "converged"  # whatever limit was reached with the last step
        if not stop.running:
            return
        n_steps = stop.n_iter
        if on_block:
            whole = len(movable) == gram.n and gram.fits_memory
            many = stop.n_iter + max(MANY, 20 * len(movable))
            K = gram.compute() if whole else iterate.dual.block(movable)
            _steps_on_block(iterate, K, movable, followed, tol, stop, many)
            if stop.running and stop.n_iter >= many:
                joint_steps(iterate)
                if rounds.is_over(np.subtract(*iterate.extremes())):
                    stop.end("stalled")
        elif cache is not None:
            _steps_on_cache(iterate, cache, tol, stop)
        else:
            limit = min(FIRST_ACTIVE if last == np.inf else MAX_ACTIVE, largest)
            active = _active_set(iterate, top, bottom, limit)
            goal = max(0.5 * tol, 0.1 * min(last, top - bottom, 1.0))
            last = top - bottom
            _steps_on_block(iterate, gram.block(active), active, followed, goal, stop)
        if stop.running and stop.n_iter == n_steps:  # a violation of tol and a rounding error, which no pair has
            stop.end("stalled")


def _active_set(iterate: Iterate, top: float, bottom: float, limit: int) -> np.ndarray:
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


def _steps_on_cache(iterate: Iterate, cache: RowCache, tol: float, stop: StoppingRule) -> None:
    """Pair steps over all samples; a missing kernel row is computed together with those that are likely to be next."""
    n, stagnation = iterate.dual.gram.n, Stagnation()
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
        if steps >= PERIOD and stagnation.is_lost(before, iterate.a, violation, iterate.diagonal):
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


def _steps_on_block(
    iterate: Iterate,
    K: np.ndarray,
    active: np.ndarray,
    followed: np.ndarray,
    tol: float,
    stop: StoppingRule,
    end: float = np.inf,
) -> None:
    """Pair steps on a block until its violation is at most tol, or to a number ``end`` of steps in all.

    The block shrinks to the samples that still move; f is then brought up to date at those that are ``followed``.
    """
    n, a_before, f_before = iterate.dual.gram.n, iterate.a.copy(), iterate.f.copy()
    virtual, stagnation = np.arange(n, len(iterate.a)), Stagnation()
    while True:
        here = slice(None) if len(active) == n else join(active, virtual)  # then views of the arrays of the run
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
            if steps >= PERIOD and stagnation.is_lost(before, a, violation, diagonal):
                stop.end("stalled")
            if not stop.running or violation <= tol or steps < period or stop.n_iter >= end:
                others = followed[:0] if len(active) == n else np.setdiff1d(followed, active, assume_unique=True)
                if len(others):
                    iterate.f[others] = f_before[others]  # those that left the block have seen only some of the steps
                    iterate.update_f(iterate.a - a_before, others)
                return
            top, bottom = np.max(up - f), np.min(down - f)
            can_move = ((up - f >= bottom) | (down - f <= top))[: len(active)]
            shrunk = can_move.mean() < SHRINK
        left = np.flatnonzero(can_move)
        active, K = active[left], submatrix(K, left, left)


@dataclass(frozen=True)
class SMO(Solver):
    """Sequential minimal optimization of a supervised problem with hinge or squared hinge loss.

    The tolerance is tightened while the duality gap is large (``duality_gap``).

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

        def by_pair_steps(dual: Dual, start: Start, tol: float, stop: StoppingRule) -> DualPoint:
            return solve_dual(dual, start, tol, stop, f_of_fixed=False)

        limit = StoppingRule(max_time=self.max_time, callback=callback)
        return solve_within_gap(problem, build_dual(problem), by_pair_steps, start, self.tol, self.max_iter, limit)
