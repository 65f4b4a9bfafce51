"""The compiled loops of the augmented Lagrangian method: what one sample adds to the smooth problem of a step.

A sample adds, with phi, bounds and ridge as in ``coordinate_steps``,

    psi(f) = max over lower <= alpha <= upper of  phi(alpha) - alpha f - 1/2 ridge alpha^2 - 1/2 tau (alpha - a)^2,

which is convex and piecewise quadratic in the score f. Its derivative is -alpha at the maximizer; its second derivative
is 1/(ridge + tau) where alpha is strictly inside of a linear piece of phi, and zero where it is at a bound or the kink.
"""

from __future__ import annotations

import numpy as np

from ..._jit import jit
from ..line_search import next_trial

MAX_TRIALS = 100
FLAT = 1e-2  # of the derivative at the start of a line search: a derivative this small ends it
SUM = {"contract", "reassoc", "nsz"}  # lets the compiler add in vector registers


@jit(fastmath=SUM)
def set_maximizers(f, smooth, alpha, curvature):
    """Maximizers and second derivatives of all samples; returns the sum of alpha.

    ``smooth`` is the tuple (scale, below, above, lower, kink, upper): alpha is below - scale f up to the kink and
    above - scale f beyond, within the bounds; scale is 1/(ridge + tau), below and above are scale (tau a + slope) with
    the slope of phi on either side of the kink.
    """
    scale, below, above, lower, kink, upper = smooth
    total = 0.0
    for i in range(f.size):
        shift = scale[i] * f[i]
        value = min(max(min(below[i] - shift, kink[i]), above[i] - shift, lower[i]), upper[i])
        inside = (value > lower[i]) & (value < upper[i]) & (value != kink[i])
        alpha[i] = value
        curvature[i] = scale[i] if inside else 0.0
        total += value
    return total


@jit(fastmath=SUM)
def _derivatives_along(f, z, t, smooth):
    """First and second derivatives of the sum of psi by t at f + t z."""
    scale, below, above, lower, kink, upper = smooth
    first, second = 0.0, 0.0
    for i in range(f.size):
        shift = scale[i] * (f[i] + t * z[i])
        value = min(max(min(below[i] - shift, kink[i]), above[i] - shift, lower[i]), upper[i])
        inside = (value > lower[i]) & (value < upper[i]) & (value != kink[i])
        first -= value * z[i]
        second += (scale[i] if inside else 0.0) * z[i] * z[i]
    return first, second


@jit()
def line_search(f, z, smooth, slope, curvature):
    """A t at which slope + curvature t + (derivative of the sum of psi at f + t z) is near zero.

    A safeguarded Newton iteration: the derivative increases and is piecewise linear.
    """
    low, high, t = 0.0, np.inf, 1.0
    goal = FLAT * abs(slope + _derivatives_along(f, z, 0.0, smooth)[0])
    for _ in range(MAX_TRIALS):
        first, second = _derivatives_along(f, z, t, smooth)
        first, second = first + slope + curvature * t, second + curvature
        if abs(first) <= goal:
            break
        before = t
        t, low, high = next_trial(t, first, second, low, high)
        if t == before:
            break
    return t


@jit()
def add_outer_products(data, indices, indptr, rows, weights, H):
    """H += sum over some rows x of a CSR matrix of weight (x, 1)(x, 1)', in the lower triangle.

    The indices of a row are sorted.
    """
    last = H.shape[0] - 1
    for k in range(rows.size):
        start, stop, weight = np.uint64(indptr[rows[k]]), np.uint64(indptr[rows[k] + 1]), weights[k]
        for e in range(start, stop):
            scaled, row = weight * data[e], H[np.uint32(indices[e])]
            for g in range(start, e + np.uint64(1)):
                row[np.uint32(indices[g])] += scaled * data[g]
            H[last, np.uint32(indices[e])] += scaled
        H[last, last] += weight
