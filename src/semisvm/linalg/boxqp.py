"""Convex quadratic programs over a box."""

from __future__ import annotations

import numpy as np
from scipy import linalg

TINY = 1e-13
RIDGE = 1e-11


def box_qp(P: np.ndarray, q: np.ndarray, x: np.ndarray, low: float = -1.0, high: float = 1.0) -> np.ndarray:
    """Minimise 1/2 x'Px + q'x over low <= x <= high, by projected Newton steps.

    Coordinates at a bound whose gradient keeps them there are fixed; the rest solve their own system (Bertsekas 1982).
    Where the projected step does not fall enough, steps end at the first bound instead. P is positive semidefinite.

    Parameters
    ----------
    P : array of shape (m, m)
        Symmetric.
    q : array of shape (m,)
        Linear part.
    x : array of shape (m,)
        Where to start, inside the box.
    low, high : float
        The box.

    Returns
    -------
    array of shape (m,)
        The minimiser.
    """
    size = np.abs(P).max(initial=0.0) + np.abs(q).max(initial=0.0)
    ridge = RIDGE * (np.trace(P) + size)
    x = np.clip(x, low, high)
    for _ in range(200 + len(q)):
        g = P @ x + q
        fixed = ((x <= low) & (g >= 0)) | ((x >= high) & (g <= 0))
        if np.abs(g[~fixed]).max(initial=0.0) <= TINY * size:
            break
        step = _newton(P, g, ~fixed, ridge)
        trial = np.clip(x + step, low, high)
        d = trial - x
        if g @ d + 0.5 * d @ (P @ d) >= 0.25 * min(g @ d, 0.0):
            trial = _within_face(P, g, x, step, fixed, ridge, low, high)
        if np.array_equal(trial, x):
            break
        x = trial
    return x


def _newton(P, g, free, ridge):
    """The Newton step of the free coordinates."""
    free = np.flatnonzero(free)
    block = P[np.ix_(free, free)]
    block[np.diag_indices(len(free))] += ridge
    step = np.zeros(len(g))
    step[free] = -linalg.solve(block, g[free], assume_a="pos", check_finite=False)
    return step


def _within_face(P, g, x, step, fixed, ridge, low, high):
    """Newton steps up to the first bound, which is then fixed, until one is taken whole: always falls."""
    fixed = fixed.copy()
    while True:
        to = np.where(step > 0, high, low)
        with np.errstate(over="ignore"):
            room = np.divide(to - x, step, out=np.full(len(x), np.inf), where=step != 0)
        share = min(room.min(), 1.0)
        hit = room <= share
        moved = np.where(hit, to, np.clip(x + share * step, low, high))
        g, x = g + P @ (moved - x), moved
        fixed |= hit
        if share == 1.0 or fixed.all():
            return x
        step = _newton(P, g, ~fixed, ridge)


def lower_bound(value: float, gradient: np.ndarray, x: np.ndarray, low: float = -1.0, high: float = 1.0) -> float:
    """A bound on a convex function over a box, from its tangent at any point x of the box."""
    return value + float(np.minimum(gradient * (low - x), gradient * (high - x)).sum())
