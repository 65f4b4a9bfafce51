"""Semismooth Newton steps on the optimality conditions of the dual: the primal-dual active set method.

    maximize  slope'a - 1/2 a'(K + diag(ridge)) a      subject to  sum a = 0,  lower <= a <= upper

A step takes a guess of the free samples F, the others being at a bound, and solves

    (K + diag(ridge)) a + b = slope on F,    sum a = 0.

Where the solution leaves the bounds a sample goes to the bound, where the gradient slope - f - b at a bound points
inward it becomes free, all of them at once [1]_. Next to the solution of another dual, as after a few labels have
changed, some three steps reach the exact solution, where pair steps begin almost anew; far from one the steps may
cycle, and pair steps have to do it.

The system is solved by Cholesky's method, row after row: the rows before the first free sample that leaves stay for the
next step. So those nearest to a bound, which are the most likely to leave, come last.

References
----------
.. [1] M. Hintermueller, K. Ito and K. Kunisch, "The primal-dual active set strategy as a semismooth Newton method",
   SIAM Journal on Optimization 13, 2003. https://doi.org/10.1137/S1052623401383558
"""

from __future__ import annotations

import numpy as np

from ..._jit import jit
from .dual_problem import Dual, DualPoint

LIMIT = 1000  # free samples up to which their system is solved
PATIENCE = 4  # steps that change no fewer samples than the best one before, after which they end
TINY = 1e-12  # of its diagonal element: a pivot below it is that of a singular matrix
VECTOR = {"contract", "reassoc", "nsz"}


def newton_point(dual: Dual, a: np.ndarray, f: np.ndarray, tol: float) -> DualPoint | None:
    """The solution of the dual, by steps from the free samples of a; None where they do not reach it.

    Parameters
    ----------
    dual : Dual
        Without kinks and virtual samples; its kernel matrix is computed, in double precision.
    a, f : arrays of shape (n,)
        A solution of a similar dual, and (K + diag(ridge)) a. Samples outside the new bounds are taken as free.
    tol : float
        Largest violation of the optimality conditions, in units of f.
    """
    lower, upper = dual.lower, dual.upper
    distance = np.minimum(a - lower, upper - a)  # to the nearest bound
    free = np.flatnonzero((distance != 0.0) & (lower < upper))
    free = free[np.argsort(-distance[free], kind="stable")]
    capacity = min(LIMIT, 2 * len(free) + 50)
    if not 0 < len(free) <= capacity:
        return None
    ridge = np.zeros(len(a)) if dual.ridge is None else dual.ridge
    a, f = a.copy(), f.copy()
    is_solved, b = newton_steps(dual.gram.compute(), ridge, dual.slope, (lower, upper), a, f, free, capacity, 0.5 * tol)
    return DualPoint(a, f, b, tol, 0, "converged") if is_solved else None


@jit(fastmath=VECTOR)
def _dot(x, y, n):
    total = 0.0
    for t in range(n):
        total += x[t] * y[t]
    return total


@jit(fastmath=VECTOR)
def _add_row(row, weight, f):
    for t in range(f.size):
        f[t] += weight * row[t]


@jit()
def factor_rows(K, ridge, order, first, last, L):
    """Rows ``first`` to ``last`` of the Cholesky factor of K + diag(ridge) at ``order``; whether it is definite."""
    for r in range(first, last):
        i, row = order[r], L[r]
        for c in range(r):
            row[c] = (K[i, order[c]] - _dot(row, L[c], c)) / L[c, c]
        diagonal = K[i, i] + ridge[i]
        pivot = diagonal - _dot(row, row, r)
        if not pivot > TINY * diagonal:
            return False
        row[r] = np.sqrt(pivot)
    return True


@jit()
def _solve(L, n, x):
    """Solve L L' x = x in place."""
    for r in range(n):
        x[r] = (x[r] - _dot(L[r], x, r)) / L[r, r]
    for r in range(n - 1, -1, -1):
        x[r] /= L[r, r]
        _add_row(L[r], -x[r], x[:r])


@jit()
def _step(K, ridge, slope, a, f, free, L):
    """Solve for the free samples, from the point a and its f, which are changed; returns b."""
    n = free.size
    particular, ones = np.empty(n), np.ones(n)
    for r in range(n):
        particular[r] = slope[free[r]] - f[free[r]]
    _solve(L, n, particular)
    _solve(L, n, ones)
    b = (particular.sum() + a.sum()) / ones.sum()
    for r in range(n):
        particular[r] -= b * ones[r]
    rest = (particular.sum() + a.sum()) / ones.sum()  # what rounding has left of the sum
    for r in range(n):
        _move(K, ridge, a, f, free[r], particular[r] - rest * ones[r])
    return b + rest


@jit()
def _move(K, ridge, a, f, i, change):
    """Change a_i, and f with it."""
    a[i] += change
    f[i] += ridge[i] * change
    _add_row(K[i], change, f)


@jit()
def newton_steps(K, ridge, slope, bounds, a, f, free, capacity, tol):
    """Steps from the point a and its f, which are changed, with the samples ``free`` as the first free ones.

    They end at a solution, where no gradient points inward by more than tol; when the number of samples that change has
    stalled; when no sample is free or more than ``capacity`` are; or when their matrix is not definite. Returned is
    whether it is a solution, and b.
    """
    lower, upper = bounds
    order, L = np.empty(capacity, np.int64), np.empty((capacity, capacity))
    is_free = np.zeros(a.size, np.bool_)
    n, first = free.size, 0
    for r in range(n):
        order[r] = free[r]
        is_free[free[r]] = True
    fewest, n_left = a.size + 1, PATIENCE
    while n_left > 0 and n > 0:
        if not factor_rows(K, ridge, order, first, n, L):
            return False, 0.0
        for i in range(a.size):
            if not is_free[i] and not lower[i] <= a[i] <= upper[i]:
                bound = lower[i] if a[i] < lower[i] else upper[i]
                _move(K, ridge, a, f, i, bound - a[i])
                a[i] = bound
        b = _step(K, ridge, slope, a, f, order[:n], L)
        n_stay, first, largest = 0, n, 0.0
        for r in range(n):
            i = order[r]
            if lower[i] <= a[i] <= upper[i]:
                order[n_stay] = i
                n_stay += 1
                largest = max(largest, abs(slope[i] - f[i] - b))
            else:
                is_free[i] = False
                first = min(first, r)
        n_changed, n = n - n_stay, n_stay
        for i in range(a.size):
            if not is_free[i] and lower[i] <= a[i] <= upper[i]:
                gradient = slope[i] - f[i] - b
                if (gradient > tol and a[i] < upper[i]) or (gradient < -tol and a[i] > lower[i]):
                    if n == capacity:
                        return False, 0.0
                    order[n] = i
                    is_free[i] = True
                    n += 1
                    n_changed += 1
        if n_changed == 0:
            return largest <= tol, b
        if n_changed < fewest:
            fewest, n_left = n_changed, PATIENCE
        else:
            n_left -= 1
    return False, 0.0
