"""Finite Newton for squared hinges in the primal.

minimize  1/2 ||w||^2 + sum c+ (1 - f)_+^2 + c- (1 + f)_+^2

is convex and piecewise quadratic. A sample of label y and cost c has c+ or c- alone; one that is positive with
probability p has both. A Newton step solves the quadratic of the present piece by preconditioned conjugate gradients,
and an exact line search finds where the derivative along it, which is piecewise linear, is zero.

References
----------
.. [1] S. S. Keerthi and D. DeCoste, "A modified finite Newton method for fast solution of large scale linear SVMs",
   JMLR 6, 2005. https://jmlr.org/papers/v6/keerthi05a.html
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import jit
from ..base import StoppingRule
from .batch import Coroutine
from .conjugate_gradient import Jacobi, conjugate_gradient
from .operator import Iterate, PrimalOperator, relative_norm

MAX_NEWTON_STEPS = 200


class HingeCosts(NamedTuple):
    """Costs of (1 - f)_+^2 and (1 + f)_+^2 at every sample."""

    positive: np.ndarray
    negative: np.ndarray


@jit()
def derivatives(f, positive, negative):
    """First and second derivatives of the losses by f."""
    gradient, curvature = np.empty_like(f), np.empty_like(f)
    for i in range(len(f)):
        below, above = max(1.0 - f[i], 0.0), max(1.0 + f[i], 0.0)
        gradient[i] = 2.0 * (negative[i] * above - positive[i] * below)
        curvature[i] = 2.0 * (negative[i] * (above > 0.0) + positive[i] * (below > 0.0))
    return gradient, curvature


@jit()
def _derivatives_along(f, z, positive, negative, t):
    """First and second derivatives of the losses by t at f + t z."""
    first, second = 0.0, 0.0
    for i in range(len(f)):
        g = f[i] + t * z[i]
        below, above = max(1.0 - g, 0.0), max(1.0 + g, 0.0)
        first += 2.0 * z[i] * (negative[i] * above - positive[i] * below)
        second += 2.0 * z[i] * z[i] * (negative[i] * (above > 0.0) + positive[i] * (below > 0.0))
    return first, second


@jit()
def exact_step(f, z, positive, negative, slope, curvature):
    """The t at which slope + curvature t + (derivative of the losses at f + t z) is zero.

    A safeguarded Newton iteration: the derivative increases and is piecewise linear, so it ends on the right piece.
    """
    low, high, t = 0.0, np.inf, 1.0
    at_zero, _ = _derivatives_along(f, z, positive, negative, 0.0)
    goal = 1e-13 * abs(slope + at_zero)
    for _ in range(200):
        first, second = _derivatives_along(f, z, positive, negative, t)
        first, second = first + slope + curvature * t, second + curvature
        if abs(first) <= goal:
            break
        if first < 0.0:
            low = t
        else:
            high = t
        new = t - first / second if second > 0.0 else np.inf
        if not low < new < high:
            new = 0.5 * (low + high) if high < np.inf else 2.0 * t
        if new == t or t > 1e100:
            break
        t = new
    return t


def minimize(
    operator: PrimalOperator, costs: HingeCosts, start: Iterate, tol: float, stop: StoppingRule
) -> Coroutine[Iterate]:
    """Minimize 1/2 ||w||^2 + squared hinges by Newton steps.

    Parameters
    ----------
    operator, costs : PrimalOperator, HingeCosts
        f and its losses.
    start : Iterate
        Where to start.
    tol : float
        Gradient at which to end, relative to (||gradient of the losses at 0|| + ||theta||).
    stop : StoppingRule
        Its deadline is checked in every step.
    """
    theta, f, violation = start.theta, start.f, np.inf
    scale = yield from operator.gradient_scale(derivatives(operator.zero().f, *costs)[0])
    for _ in range(MAX_NEWTON_STEPS):
        score_gradient, curvature = derivatives(f, *costs)
        gradient = operator.norm_gradient(theta) + (yield from operator.adjoint(score_gradient))
        violation = relative_norm(gradient, scale, theta)
        if violation <= tol or stop.time_is_over:
            break
        relative_tol = max(min(0.1, np.sqrt(violation)), 0.5 * tol / violation)
        preconditioner = Jacobi((yield from operator.hessian_diagonal(curvature)))
        step, _ = yield from conjugate_gradient(operator, curvature, gradient, preconditioner, relative_tol, stop)
        z = yield from operator.product(step)
        slope, norm_curvature = step @ operator.norm_gradient(theta), step @ operator.norm_product(step)
        t = exact_step(f, z, *costs, slope, norm_curvature)
        theta, f = theta + t * step, f + t * z
    return Iterate(theta, f, violation)
