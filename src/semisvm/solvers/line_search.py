"""The root of the derivative along a direction: Newton's method within the interval that holds it.

Along a step t of a convex piecewise quadratic function the derivative increases and is piecewise linear, so that a
Newton step from the right piece ends at its root. Steps that leave the interval known to hold the root, or that start
where there is no curvature, halve the interval, or double t as long as no step with a positive derivative is known.

Compiled functions cannot be passed to compiled ones without losing the disk cache, so that the loop is that of the
caller, who knows the derivatives.
"""

from __future__ import annotations

import numpy as np

from .._jit import jit

LONGEST = 1e100  # a step beyond which the derivative has no root in floating point


@jit()
def next_trial(t, first, second, low, high):
    """The next t, and the interval that holds the root, where the derivatives at t are ``first`` and ``second``.

    The interval is from 0 to inf at the start; t itself is returned where no other step is left to try.
    """
    if first < 0.0:
        low = t
    else:
        high = t
    new = t - first / second if second > 0.0 else np.inf
    if not low < new < high:
        new = 0.5 * (low + high) if high < np.inf else 2.0 * t
    return (t if t > LONGEST else new), low, high
