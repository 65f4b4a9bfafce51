"""The compiled loops of coordinate descent on the dual: exact steps along one coordinate at a time.

    maximize  sum phi_i(a_i) - offset'a - 1/2 ||sum a_i z_i||^2 - 1/2 sum ridge_i a_i^2
    subject to  lower <= a <= upper

phi_i is concave with slope ``slope`` on [lower, kink] and ``slope_above`` on [kink, upper], slope >= slope_above, as in
``pair_steps``. With w = sum a_i z_i the derivative of the rest is f_i = z_i'w + offset_i + ridge_i a_i, so that a step
reads a sample once and, if it moves, adds it to w [1]_. A coordinate that violates the optimality conditions

    up_i - f <= 0 <= down_i - f

by less than nothing, beyond the violations of the sweep before, is left out of the next sweeps (shrinking) until the
others have converged.

``rows`` holds the z_i: X (dense, or without samples), then data, indices and indptr of a CSR matrix, then two arrays R
and L of shape (n, 2) with z_i'z_j = x_i'x_j + R_i'L_j. w has the d numbers of X'a first and the two of L'a last.

References
----------
.. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A dual coordinate descent method for
   large-scale linear SVM", ICML, 2008. https://doi.org/10.1145/1390156.1390208
"""

from __future__ import annotations

import numpy as np

from ..._jit import jit
from .pair_steps import summarize
from .stagnation import EPS

TINY = 1e-12  # of the largest ||z||^2: curvature of a sample at zero
SUM = {"contract", "reassoc", "nsz"}  # lets the compiler add in vector registers


@jit(fastmath=SUM)
def _dense_dot(X, i, w):
    """x_i'w of a dense row; a view of the row is read faster than two indices."""
    x, total = X[i], 0.0
    for k in range(x.size):
        total += x[k] * w[k]
    return total


@jit(fastmath=SUM)
def _sparse_dot(data, indices, indptr, i, w):
    """x_i'w of a sparse row. Positions are unsigned: signed ones would be tested at every entry."""
    total = 0.0
    for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
        total += data[e] * w[np.uint32(indices[e])]
    return total


@jit()
def _dense_add(X, i, step, w):
    """w += step x_i of a dense row."""
    x = X[i]
    for k in range(x.size):
        w[k] += step * x[k]


@jit()
def _sparse_add(data, indices, indptr, i, step, w):
    """w += step x_i of a sparse row."""
    for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
        w[np.uint32(indices[e])] += step * data[e]


@jit()
def _shuffle(order, size, state):
    """Permute the first elements at random; returns the next state of the generator."""
    for s in range(size - 1):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        t = s + np.int64((state >> np.uint64(33)) % np.uint64(size - s))
        order[s], order[t] = order[t], order[s]
    return state


@jit()
def _compute_w(rows, a, w):
    """w = sum a_i z_i."""
    X, data, indices, indptr, _, L = rows
    w[:] = 0.0
    for i in range(a.size):
        if a[i] != 0.0:
            if X.shape[0] > 0:
                _dense_add(X, i, a[i], w)
            else:
                _sparse_add(data, indices, indptr, i, a[i], w)
            w[w.size - 2] += a[i] * L[i, 0]
            w[w.size - 1] += a[i] * L[i, 1]


@jit()
def _compute_f(rows, offset, ridge, pieces, a, w, f):
    """f of every coordinate; returns the violation, max (up - f)_+ - min (down - f)_-."""
    X, data, indices, indptr, R, _ = rows
    for i in range(a.size):
        product = _dense_dot(X, i, w) if X.shape[0] > 0 else _sparse_dot(data, indices, indptr, i, w)
        f[i] = product + R[i, 0] * w[w.size - 2] + R[i, 1] * w[w.size - 1] + offset[i] + ridge[i] * a[i]
    top, bottom, _, _ = summarize(a, f, *pieces)
    return max(top, 0.0) - min(bottom, 0.0)


@jit()
def _sweep(rows, offset, ridge, pieces, a, w, diagonal, tol, max_sweeps, max_visits):
    """Sweeps until one over all coordinates finds violations of at most tol, or one of two limits is reached.

    a and w are changed in place. Returned are the number of sweeps and how many coordinates they have looked at. The
    products with a sample stand in the loop, not in a function of their own, where counting references to all arrays of
    ``rows`` would take longer than the product.
    """
    X, data, indices, indptr, R, L = rows
    lower, kink, upper, slope, slope_above = pieces
    active = np.flatnonzero(lower < upper)
    largest = diagonal.max()
    tiny = max(TINY * largest, np.finfo(np.float64).tiny)
    size, n_sweeps, visits, is_dense = active.size, 0, 0, X.shape[0] > 0
    highest, lowest, state = np.inf, -np.inf, np.uint64(1)
    while n_sweeps < max_sweeps and visits < max_visits:
        state = _shuffle(active, size, state)
        top, bottom, s = 0.0, 0.0, 0
        n_sweeps, visits = n_sweeps + 1, visits + size
        while s < size:
            i = active[s]
            product = _dense_dot(X, i, w) if is_dense else _sparse_dot(data, indices, indptr, i, w)
            f = product + R[i, 0] * w[w.size - 2] + R[i, 1] * w[w.size - 1] + offset[i] + ridge[i] * a[i]
            up = slope[i] if a[i] < kink[i] else (slope_above[i] if a[i] < upper[i] else -np.inf)
            down = slope_above[i] if a[i] > kink[i] else (slope[i] if a[i] > lower[i] else np.inf)
            if up - f < lowest and down - f > highest:
                size -= 1
                active[s], active[size] = active[size], i
                continue
            s += 1
            if up - f <= 0.0 <= down - f:
                continue
            top, bottom = max(top, up - f), min(bottom, down - f)
            curvature = max(diagonal[i] + ridge[i], tiny)
            below, above = a[i] + (slope[i] - f) / curvature, a[i] + (slope_above[i] - f) / curvature
            new = min(max(min(below, kink[i]), above, lower[i]), upper[i])
            step = new - a[i]
            a[i] = new
            if is_dense:
                _dense_add(X, i, step, w)
            else:
                _sparse_add(data, indices, indptr, i, step, w)
            w[w.size - 2] += step * L[i, 0]
            w[w.size - 1] += step * L[i, 1]
        if top - bottom <= max(tol, EPS * largest * np.abs(a).sum()):  # below, f is rounding error
            if size == active.size:
                break
            size, highest, lowest = active.size, np.inf, -np.inf
        else:
            highest, lowest = top if top > 0.0 else np.inf, bottom if bottom < 0.0 else -np.inf
    return n_sweeps, visits


@jit()
def sweep(rows, offset, ridge, pieces, a, w, f, diagonal, tol, max_sweeps, max_visits):
    """Sweeps as above from a; returns the violation at their end, their number and how many coordinates were looked at.

    w is computed from a at the start and f from w at the end; all three are changed in place.
    """
    _compute_w(rows, a, w)
    n_sweeps, visits = _sweep(rows, offset, ridge, pieces, a, w, diagonal, tol, max_sweeps, max_visits)
    return _compute_f(rows, offset, ridge, pieces, a, w, f), n_sweeps, visits
