"""Convex quadratic programs over a box, by projected Newton steps.

    minimize  1/2 x'Px + q'x      subject to  low <= x <= high,  P positive semidefinite

Coordinates at a bound whose gradient keeps them there are fixed; the others take a Newton step, projected onto the box.
Where the projected step does not decrease the objective enough, steps end at the first bound instead, until a projected
one does.

References
----------
.. [1] D. P. Bertsekas, "Projected Newton methods for optimization problems with simple constraints", SIAM Journal on
   Control and Optimization 20, 1982. https://doi.org/10.1137/0320018
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..base import StoppingRule

GRADIENT_TOL = 1e-13  # of the largest entries of P and q: a gradient this small is zero
RIDGE = 1e-11  # of the trace and the largest entries: keeps the systems of a singular P solvable


def solve_box_qp(
    P: np.ndarray,
    q: np.ndarray,
    x: np.ndarray,
    low: float = -1.0,
    high: float = 1.0,
    stop: StoppingRule | None = None,
) -> np.ndarray:
    """Minimize 1/2 x'Px + q'x over low <= x <= high.

    Parameters
    ----------
    P : array of shape (m, m)
        Symmetric and positive semidefinite.
    q : array of shape (m,)
        Linear term.
    x : array of shape (m,)
        Where to start; projected onto the box.
    low, high : float
        The box.
    stop : StoppingRule or None
        Its deadline ends the steps.

    Returns
    -------
    array of shape (m,)
        The minimizer, or the point that was reached.
    """
    stop = stop or StoppingRule()
    scale = np.abs(P).max(initial=0.0) + np.abs(q).max(initial=0.0)
    ridge = RIDGE * (np.trace(P) + scale)
    x = np.clip(x, low, high)
    for _ in range(200 + len(q)):
        gradient = P @ x + q
        fixed = ((x <= low) & (gradient >= 0)) | ((x >= high) & (gradient <= 0))
        if np.abs(gradient[~fixed]).max(initial=0.0) <= GRADIENT_TOL * scale or stop.time_is_over:
            break
        step = _newton_step(P, gradient, ~fixed, ridge)
        trial = np.clip(x + step, low, high)
        if not _decreases_enough(P, gradient, trial - x):
            trial = _step_to_bounds(P, gradient, x, step, fixed, ridge, (low, high), stop)
        if np.array_equal(trial, x):
            break
        x = trial
    return x


def _newton_step(P: np.ndarray, gradient: np.ndarray, free: np.ndarray, ridge: float) -> np.ndarray:
    """The Newton step of the free coordinates, zero elsewhere."""
    free = np.flatnonzero(free)
    block = P[np.ix_(free, free)]
    block[np.diag_indices(len(free))] += ridge
    step = np.zeros(len(gradient))
    while True:
        try:
            step[free] = -linalg.solve(block, gradient[free], assume_a="pos", check_finite=False)
        except linalg.LinAlgError:  # rounding has made the smallest eigenvalue negative
            ridge *= 100.0
            block[np.diag_indices(len(free))] += ridge
        else:
            return step


def _decreases_enough(P: np.ndarray, gradient: np.ndarray, d: np.ndarray) -> bool:
    """Whether a step d decreases the objective by a fair share of what the gradient promises."""
    slope = float(gradient @ d)
    return slope + 0.5 * float(d @ (P @ d)) < 0.25 * min(slope, 0.0)


def _step_to_bounds(
    P: np.ndarray,
    gradient: np.ndarray,
    x: np.ndarray,
    step: np.ndarray,
    fixed: np.ndarray,
    ridge: float,
    box: tuple[float, float],
    stop: StoppingRule,
) -> np.ndarray:
    """Newton steps up to the first bound, which is then fixed, until a full or a projected one is taken: a decrease."""
    low, high = box
    fixed = fixed.copy()
    while True:
        bound = np.where(step > 0, high, low)
        with np.errstate(over="ignore"):
            ratio = np.divide(bound - x, step, out=np.full(len(x), np.inf), where=step != 0)
        length = min(ratio.min(), 1.0)
        at_bound = ratio <= length
        new = np.where(at_bound, bound, np.clip(x + length * step, low, high))
        gradient, x = gradient + P @ (new - x), new
        fixed |= at_bound
        if length == 1.0 or fixed.all() or stop.time_is_over:
            return x
        step = _newton_step(P, gradient, ~fixed, ridge)
        trial = np.clip(x + step, low, high)
        if _decreases_enough(P, gradient, trial - x):
            return trial


def box_lower_bound(value: float, gradient: np.ndarray, x: np.ndarray, low: float = -1.0, high: float = 1.0) -> float:
    """A lower bound on a convex function over a box, from its tangent at any point x of the box."""
    return value + float(np.minimum(gradient * (low - x), gradient * (high - x)).sum())
