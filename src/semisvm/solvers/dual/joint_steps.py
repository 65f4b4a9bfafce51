"""Steps along all free coordinates of the dual at once: the Newton steps of their linear system.

With the others fixed, the free coordinates solve slope - f = b and sum a = 0. Pair steps find that point slowly where a
combination of several samples has almost no curvature, as with a large C on few features: a step of one pair changes f
at the others, so that the next ones undo most of it. The Newton step goes there at once, or to the first bound.
"""

from __future__ import annotations

import numpy as np

from ..._threads import single_blas_thread
from .iterate import Iterate

LIMIT = 300  # free coordinates up to which their system is solved
RIDGE = 1e-12  # of the largest element: what makes a system of coinciding samples solvable


def solve_free(iterate: Iterate) -> None:
    """Solve the free coordinates, all others fixed; keep the result if the violation is smaller."""
    free = iterate.free()
    if not 0 < len(free) <= LIMIT:
        return
    low, high, up = _piece(iterate, free)
    H, right = _system(iterate, free, up)
    right += H[:, :-1] @ iterate.a[free]
    with single_blas_thread:
        solved = _solve_symmetric(H, right)[:-1]
    if (solved < low).any() or (solved > high).any():
        return
    exact = iterate.a.copy()
    exact[free] = solved
    trial = iterate.at(exact)
    if np.subtract(*trial.extremes()) < np.subtract(*iterate.extremes()):
        iterate.a, iterate.f = trial.a, trial.f


def joint_steps(iterate: Iterate) -> None:
    """Newton steps of the free coordinates, each up to the first end of a linear piece, until one is complete.

    They are taken back if they do not increase the dual objective, which is computed anew: with samples far from the
    origin the change of f may be rounding error alone.
    """
    before = iterate.at(iterate.a)
    _newton_steps(iterate)
    after = iterate.at(iterate.a)
    best = after if after.value() > before.value() else before
    iterate.a, iterate.f = best.a, best.f


def _newton_steps(iterate: Iterate) -> None:
    for _ in range(LIMIT):
        free = iterate.free()
        if not 1 < len(free) <= LIMIT:
            return
        low, high, up = _piece(iterate, free)
        H, right = _system(iterate, free, up)
        right[-1] = 0.0
        H[np.arange(len(free)), np.arange(len(free))] += RIDGE * np.abs(H).max()
        with single_blas_thread:
            try:
                step = np.linalg.solve(H, right)[:-1]
            except np.linalg.LinAlgError:  # samples coincide behind a kernel whose values on the diagonal are negative
                return
        if not right[:-1] @ step > 0.0:  # by rounding
            return
        end = np.where(step > 0.0, high, low)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            ratio = np.where(step != 0.0, (end - iterate.a[free]) / step, np.inf)
        length = min(float(ratio.min()), 1.0)
        moved = iterate.a.copy()
        moved[free] = np.where(ratio <= length, end, np.clip(iterate.a[free] + length * step, low, high))
        iterate.move_to(moved)
        if length == 1.0:
            return


def _system(iterate: Iterate, free: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The matrix of the free coordinates, bordered by the sum, and the right side for a change of them.

    ``up`` are the slopes of phi there.
    """
    n, k = iterate.dual.gram.n, len(free)
    real, virtual = free[free < n], free[free >= n]
    H = np.zeros((k + 1, k + 1))
    H[: len(real), : len(real)] = iterate.dual.gram.block(real)
    if len(virtual):
        H[len(real) : k, :k] = iterate.V[np.ix_(virtual - n, free)]
        H[: len(real), len(real) : k] = iterate.V[np.ix_(virtual - n, real)].T
    if iterate.dual.ridge is not None:
        H[np.arange(k), np.arange(k)] += iterate.ridge[free]
    size = max(H.max(), -H.min()) or 1.0  # the border is as large as the kernel values, on whatever scale these are
    H[k, :k] = H[:k, k] = size
    return H, np.append(up - iterate.f[free], -size * iterate.a.sum())


def _piece(iterate: Iterate, free: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ends of the linear pieces of phi on which the free coordinates are, and the slopes of these."""
    lower, kink, upper, slope, slope_above = (piece[free] for piece in iterate.pieces)
    below = iterate.a[free] < kink
    return np.where(below, lower, kink), np.where(below, kink, upper), np.where(below, slope, slope_above)


def _solve_symmetric(H: np.ndarray, right: np.ndarray) -> np.ndarray:
    """H^-1 right, or the least-squares solution of smallest norm where samples coincide."""
    try:
        solved = np.linalg.solve(H, right)
        if np.abs(H @ solved - right).max() <= 1e-10 * (1.0 + np.abs(right).max()):
            return solved
    except np.linalg.LinAlgError:
        pass
    return np.linalg.lstsq(H, right, rcond=None)[0]
