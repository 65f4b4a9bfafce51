"""Convex quadratic programs over a box, by projected Newton steps.

    minimize  1/2 x'Px + q'x      subject to  low <= x <= high,  P positive semidefinite

Coordinates at a bound whose gradient keeps them there are fixed; the others take a Newton step, projected onto the box.
Where the projected step does not decrease the objective enough, steps end at the first bound instead, until a projected
one does. Their systems differ by the coordinates that have reached a bound: with the inverse A^-1 of the first one and
R these coordinates, the step of the others is d = -A^-1 g + A^-1_.R l with d_R = 0, l = (A^-1_RR)^-1 (A^-1 g)_R.

References
----------
.. [1] D. P. Bertsekas, "Projected Newton methods for optimization problems with simple constraints", SIAM Journal on
   Control and Optimization 20, 1982. https://doi.org/10.1137/0320018
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from ..._threads import blas_threads_for
from ..base import StoppingRule

GRADIENT_TOL = 1e-13  # of the largest entries of P and q: a gradient this small is zero
RIDGE = 1e-11  # of the trace and the largest entries: keeps the systems of a singular P solvable
MAX_REMOVED = 32  # coordinates removed from a system before it is factored anew


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
        step = _NewtonSystem(P, ~fixed, ridge).step(gradient)
        trial = np.clip(x + step, low, high)
        if not _decreases_enough(P, gradient, trial - x):
            trial = _step_to_bounds(P, gradient, x, step, fixed, ridge, (low, high), stop)
        if np.array_equal(trial, x):
            break
        x = trial
    return x


class _NewtonSystem:
    """The Newton steps of the free coordinates, some of which may be removed later.

    Parameters
    ----------
    P : array of shape (m, m)
        Symmetric and positive semidefinite.
    free : bool array of shape (m,)
        The free coordinates.
    ridge : float
        What is added to the diagonal of P, more if that is not enough.
    """

    def __init__(self, P: np.ndarray, free: np.ndarray, ridge: float):
        self.free = np.flatnonzero(free)
        self._removed = np.zeros(0, dtype=int)  # positions among the free coordinates
        self._columns = np.zeros((len(self.free), 0), order="F")  # of the inverse, at these
        block = P[np.ix_(self.free, self.free)]
        diagonal = np.arange(len(self.free))
        while True:
            block[diagonal, diagonal] += ridge
            with blas_threads_for(len(block) ** 3 / 6):
                factor, failed = lapack.dpotrf(block.T, clean=False)
            if not failed:
                break
            ridge *= 100.0  # rounding has made the smallest eigenvalue negative
        self._factor = factor

    @property
    def n_removed(self) -> int:
        """Number of coordinates removed so far."""
        return len(self._removed)

    def remove(self, coordinates: np.ndarray) -> None:
        """Take coordinates out of the system; those that are not in it do not matter."""
        new = np.setdiff1d(np.flatnonzero(np.isin(self.free, coordinates)), self._removed)
        unit = np.zeros((len(self.free), len(new)), order="F")
        unit[new, np.arange(len(new))] = 1.0
        self._removed = np.r_[self._removed, new]
        self._columns = np.c_[self._columns, lapack.dpotrs(self._factor, unit, overwrite_b=True)[0]]

    def step(self, gradient: np.ndarray) -> np.ndarray:
        """The Newton step, zero at the coordinates that are not free or were removed."""
        step = np.zeros(len(gradient))
        solved = -lapack.dpotrs(self._factor, gradient[self.free])[0]
        if self.n_removed:
            multipliers = linalg.lstsq(self._columns[self._removed], solved[self._removed])[0]
            solved -= self._columns @ multipliers
            solved[self._removed] = 0.0
        step[self.free] = solved
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
    fixed, system = fixed.copy(), None
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
        if system is None or system.n_removed + np.count_nonzero(at_bound) > MAX_REMOVED:
            system = _NewtonSystem(P, ~fixed, ridge)
        else:
            system.remove(np.flatnonzero(at_bound))
        step = system.step(gradient)
        trial = np.clip(x + step, low, high)
        if _decreases_enough(P, gradient, trial - x):
            return trial


def box_lower_bound(value: float, gradient: np.ndarray, x: np.ndarray, low: float = -1.0, high: float = 1.0) -> float:
    """A lower bound on a convex function over a box, from its tangent at any point x of the box."""
    return value + float(np.minimum(gradient * (low - x), gradient * (high - x)).sum())
