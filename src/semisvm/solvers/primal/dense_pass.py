"""Compiled products with a dense matrix, four rows at a time, in one thread and without the interpreter lock.

Every four rows are read up to where the last of them ends (``ends``), so that a triangular matrix is read by halves.
f = X w + b. The sum of losses along a direction, its derivative and the gradient by w are computed in one pass over X:
the rows are in the cache when the derivatives of their losses are known.
"""

from __future__ import annotations

import numpy as np

from ..._jit import SUMS_IN_ANY_ORDER, jit
from .smooth_objective import loss_of_sample


@jit(fastmath=SUMS_IN_ANY_ORDER)
def dot(a, b):
    """a'b."""
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@jit(fastmath=SUMS_IN_ANY_ORDER)
def _dot_four(X, i, end, v):
    """Rows i to i + 3 of X v."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for j in range(end):
        s0 += X[i, j] * v[j]
        s1 += X[i + 1, j] * v[j]
        s2 += X[i + 2, j] * v[j]
        s3 += X[i + 3, j] * v[j]
    return s0, s1, s2, s3


@jit(fastmath=SUMS_IN_ANY_ORDER)
def _add_four(X, i, end, p0, p1, p2, p3, out):
    """Add the rows i to i + 3 of X, times a number each."""
    for j in range(end):
        out[j] += p0 * X[i, j] + p1 * X[i + 1, j] + p2 * X[i + 2, j] + p3 * X[i + 3, j]


@jit(fastmath=SUMS_IN_ANY_ORDER)
def add_row(x, p, out):
    """Add p x."""
    for j in range(len(x)):
        out[j] += p * x[j]


@jit()
def total_of(a):
    """The sum of the elements, in their order."""
    total = 0.0
    for j in range(len(a)):
        total += a[j]
    return total


@jit()
def full_ends(X):
    """The ends of rows that are read whole."""
    return np.full((len(X) + 3) // 4, X.shape[1])


@jit()
def product(X, ends, v, out):
    """X v."""
    fours = len(X) - len(X) % 4
    for i in range(0, fours, 4):
        out[i], out[i + 1], out[i + 2], out[i + 3] = _dot_four(X, i, ends[i // 4], v)
    for i in range(fours, len(X)):
        out[i] = dot(X[i], v)


@jit()
def add_adjoint(X, ends, p, out):
    """Add X'p."""
    fours = len(X) - len(X) % 4
    for i in range(0, fours, 4):
        _add_four(X, i, ends[i // 4], p[i], p[i + 1], p[i + 2], p[i + 3], out)
    for i in range(fours, len(X)):
        add_row(X[i], p[i], out)


@jit()
def add_two_adjoints(X, ends, p, out, q, out_q):
    """Add X'p and X'q, in one pass over X."""
    fours = len(X) - len(X) % 4
    for i in range(0, fours, 4):
        _add_four(X, i, ends[i // 4], p[i], p[i + 1], p[i + 2], p[i + 3], out)
        _add_four(X, i, ends[i // 4], q[i], q[i + 1], q[i + 2], q[i + 3], out_q)
    for i in range(fours, len(X)):
        add_row(X[i], p[i], out)
        add_row(X[i], q[i], out_q)


@jit()
def losses_along(objective, f, z, t, slopes):
    """The sum of the losses at f + t z and its derivative by t; ``slopes`` becomes the derivatives by the scores."""
    total, along = 0.0, 0.0
    for i in range(len(f)):
        value, slopes[i] = loss_of_sample(objective, i, f[i] + t * z[i])
        total += value
        along += slopes[i] * z[i]
    return total, along


@jit()
def full_step(X, ends, objective, f, w, b, z, slopes, out):
    """The same at f + z, with z = X w + b computed in the same pass, and X' slopes in ``out``."""
    total, along = 0.0, 0.0
    fours = len(X) - len(X) % 4
    for j in range(len(out)):
        out[j] = 0.0
    for i in range(0, fours, 4):
        z[i], z[i + 1], z[i + 2], z[i + 3] = _dot_four(X, i, ends[i // 4], w)
        for k in range(i, i + 4):
            z[k] += b
            value, slopes[k] = loss_of_sample(objective, k, f[k] + z[k])
            total += value
            along += slopes[k] * z[k]
        _add_four(X, i, ends[i // 4], slopes[i], slopes[i + 1], slopes[i + 2], slopes[i + 3], out)
    for i in range(fours, len(X)):
        z[i] = dot(X[i], w) + b
        value, slopes[i] = loss_of_sample(objective, i, f[i] + z[i])
        total += value
        along += slopes[i] * z[i]
        add_row(X[i], slopes[i], out)
    return total, along
