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

from ..._jit import SUMS_IN_ANY_ORDER, jit
from ..base import StoppingRule
from ..line_search import next_trial
from .batch import Coroutine
from .conjugate_gradient import conjugate_gradient
from .operator import Iterate, PrimalOperator
from .preconditioner import HessianPreconditioner

MAX_NEWTON_STEPS = 200
CG_REDUCTION = 0.01  # of the squared residual, by the conjugate gradients of a step


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


@jit(fastmath=SUMS_IN_ANY_ORDER)
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
        before = t
        t, low, high = next_trial(t, first, second, low, high)
        if t == before:
            break
    return t


@jit(fastmath=SUMS_IN_ANY_ORDER)
def sum_of_losses(f, positive, negative):
    """The losses."""
    total = 0.0
    for i in range(len(f)):
        below, above = max(1.0 - f[i], 0.0), max(1.0 + f[i], 0.0)
        total += positive[i] * below * below + negative[i] * above * above
    return total


@jit()
def beyond_corners(f, z, t, positive, negative):
    """By how much the derivatives of the losses at f + t z differ from those that are linear from f on."""
    out = np.zeros_like(f)
    for i in range(len(f)):
        g = f[i] + t * z[i]
        if (f[i] < 1.0) != (g < 1.0):
            out[i] -= 2.0 * positive[i] * ((1.0 - g) if g < 1.0 else -(1.0 - g))
        if (f[i] > -1.0) != (g > -1.0):
            out[i] += 2.0 * negative[i] * ((1.0 + g) if g > -1.0 else -(1.0 + g))
    return out


def minimize(
    operator: PrimalOperator,
    costs: HingeCosts,
    start: Iterate,
    tol: float,
    stop: StoppingRule,
    preconditioner: HessianPreconditioner | None = None,
    reduction: float = 0.0,
) -> Coroutine[Iterate]:
    """Minimize 1/2 ||w||^2 + squared hinges by Newton steps.

    A solve ends where the decrease that a step predicts, 1/2 g'M^-1 g with the preconditioner M in place of the
    Hessian, is tol^2 times the objective, or ``reduction``^2 times what it was at the start.

    Parameters
    ----------
    operator, costs : PrimalOperator, HingeCosts
        f and its losses.
    start : Iterate
        Where to start.
    tol : float
        Root of the predicted decrease at which to end, relative to the objective.
    stop : StoppingRule
        Its deadline is checked in every step.
    preconditioner : HessianPreconditioner or None
        That of the solves before; None for a new one.
    reduction : float
        Factor by which the root of the predicted decrease is to be reduced at least; 0 for none.
    """
    theta, f = start.theta, start.f
    preconditioner = preconditioner or HessianPreconditioner(operator)
    slopes, curvature = derivatives(f, *costs)
    gradient, is_exact = (yield from _gradient(operator, start, slopes)), start.gradient is None
    least, value, decrease = 0.0, np.inf, np.inf
    for n_steps in range(MAX_NEWTON_STEPS + 1):
        last = value, decrease
        M = yield from preconditioner.at(curvature)
        solved = M.solve(gradient)
        decrease = 0.5 * float(gradient @ solved)
        value = operator.half_norm2(theta) + sum_of_losses(f, *costs)
        if n_steps == 0:
            least = reduction**2 * decrease
        goal = max(least, tol**2 * value)
        if decrease <= goal and not (is_exact or reduction):
            gradient, is_exact = (yield from _gradient(operator, Iterate(theta, f), slopes)), True
            solved = M.solve(gradient)
            decrease = 0.5 * float(gradient @ solved)
        at_rounding = value >= last[0] and decrease > 0.5 * last[1]  # neither value nor gradient get better
        if decrease <= goal or at_rounding or n_steps == MAX_NEWTON_STEPS or stop.time_is_over:
            break
        # many steps say that M is a poor measure, and inexact ones may zigzag
        relative_tol = np.sqrt(max(CG_REDUCTION * 0.1 ** (n_steps // 5), 0.5 * goal / decrease))
        step, _, residual, z = yield from conjugate_gradient(
            operator, curvature, gradient, M, relative_tol, stop, solved=solved
        )
        if np.isnan(z).any():
            z = np.where(np.isnan(z), (yield from operator.partial_product(step, np.isnan(z))), z)
        slope, norm_curvature = step @ operator.norm_gradient(theta), step @ operator.norm_product(step)
        t = exact_step(f, z, *costs, slope, norm_curvature)
        correction = beyond_corners(f, z, t, *costs)
        gradient, is_exact = (1.0 - t) * gradient - t * residual, False
        if correction.any():
            gradient = gradient + (yield from operator.adjoint(correction))
        theta, f = theta + t * step, f + t * z
        slopes, curvature = derivatives(f, *costs)
    violation = np.sqrt(max(decrease, 0.0) / value) if value > 0.0 else 0.0
    return Iterate(theta, f, violation, decrease <= goal, slopes, gradient)


def _gradient(operator: PrimalOperator, iterate: Iterate, slopes: np.ndarray) -> Coroutine[np.ndarray]:
    """The gradient where the losses have these derivatives by f, from the one that the iterate has if it has one."""
    if iterate.gradient is None:
        return operator.norm_gradient(iterate.theta) + (yield from operator.adjoint(slopes))
    return iterate.gradient + (yield from operator.adjoint(slopes - iterate.slopes))
