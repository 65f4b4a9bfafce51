"""The largest eigenvalue of sum h (x - m)(x - m)' over dense samples, by Lanczos' method, compiled."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh_tridiagonal

from ..._jit import jit
from ...spaces import DesignMatrix
from .dense_pass import add_adjoint, add_row, dot, product, total_of

FIRST_STEPS = 16


@jit()
def _lanczos(X, ends, mean, weights, Q, diagonal, side, done, count):
    """Continue the recurrence from ``done`` to ``count`` vectors, the rows of Q; returns how many there are.

    ``side[k]`` is what is left of the image of vector k; new vectors are orthogonal to all before them, twice.
    """
    image, out = np.empty(len(X)), np.empty(X.shape[1])
    for k in range(done, count):
        shift = dot(mean, Q[k])
        product(X, ends, Q[k], image)
        for i in range(len(X)):
            image[i] = weights[i] * (image[i] - shift)
        for j in range(len(out)):
            out[j] = 0.0
        add_adjoint(X, ends, image, out)
        add_row(mean, -total_of(image), out)
        diagonal[k] = dot(out, Q[k])
        size = np.sqrt(dot(out, out))
        for _ in range(2):
            for r in range(k + 1):
                add_row(Q[r], -dot(out, Q[r]), out)
        side[k] = np.sqrt(dot(out, out))
        if side[k] <= 1e-13 * size or k + 1 == len(Q):
            side[k] = 0.0
            return k + 1
        for j in range(len(out)):
            Q[k + 1, j] = out[j] / side[k]
    return count


def largest_by_lanczos(
    design: DesignMatrix, mean: np.ndarray, weights: np.ndarray, start: np.ndarray, tol: float
) -> float:
    """The largest Ritz value once its residual is at most ``tol`` times it, or all vectors are used."""
    X, size = design.rows, design.d
    count, done = min(FIRST_STEPS, size), 0
    Q, diagonal, side = np.empty((1, size)), np.empty(0), np.empty(0)
    Q[0] = start / np.linalg.norm(start)
    while True:
        Q = np.vstack([Q, np.empty((min(count + 1, size) - len(Q), size))])
        diagonal, side = np.append(diagonal, np.zeros(count - done)), np.append(side, np.zeros(count - done))
        found = _lanczos(X, design.row_ends, mean, weights, Q, diagonal, side, done, count)
        last = found - 1
        values, vectors = eigh_tridiagonal(diagonal[:found], side[:last], select="i", select_range=(last, last))
        if side[last] * abs(vectors[last, 0]) <= tol * values[0]:
            return float(values[0])
        count, done = min(2 * count, size), found
