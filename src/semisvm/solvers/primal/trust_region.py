"""Newton's method in a trust region, for smooth objectives with curvature of any sign."""

from __future__ import annotations

import numpy as np

from ..base import StoppingRule
from .batch import POLISH, Coroutine
from .conjugate_gradient import conjugate_gradient
from .operator import Iterate, PrimalOperator, relative_norm
from .preconditioner import build_woodbury
from .smooth_objective import SmoothObjective


def minimize(
    operator: PrimalOperator,
    objective: SmoothObjective,
    start: Iterate,
    tol: float,
    max_steps: int,
    stop: StoppingRule,
    n_polish: int = 0,
) -> Coroutine[Iterate]:
    """Minimize 1/2 ||w||^2 + objective(f) by Newton steps in a trust region.

    Parameters
    ----------
    operator, objective : PrimalOperator, SmoothObjective
        f and its losses.
    start : Iterate
        Where to start.
    tol : float
        Gradient at which to end, relative to (||gradient of the losses at 0|| + ||theta||).
    max_steps : int
        Largest number of Newton steps.
    stop : StoppingRule
        Its deadline is checked in every step.
    n_polish : int
        Largest number of steps beyond ``tol``, to the last digits.
    """
    theta, f = start.theta, start.f
    scale = yield from operator.gradient_scale(objective.gradient(operator.zero().f))
    value = operator.half_norm2(theta) + objective.value(f)
    gradient = operator.norm_gradient(theta) + (yield from operator.adjoint(objective.gradient(f)))
    preconditioner = yield from build_woodbury(operator, np.abs(objective.curvature(f)), operator.problem.is_labeled)

    def natural_radius() -> float:
        square = float(gradient @ preconditioner.solve(gradient))
        return np.sqrt(max(square, 0.0)) + preconditioner.norm(theta)  # below zero by rounding alone

    radius = natural_radius()
    for _ in range(max_steps):
        violation = relative_norm(gradient, scale, theta)
        if violation <= tol or stop.time_is_over:
            break
        relative_tol = max(min(0.1, np.sqrt(violation)), 0.1 * tol / violation)
        step, predicted, _, _ = yield from conjugate_gradient(
            operator, objective.curvature(f), gradient, preconditioner, relative_tol, stop, radius
        )
        new_theta, new_f = theta + step, f + (yield from operator.product(step))
        new_value = operator.half_norm2(new_theta) + objective.value(new_f)
        ratio = (value - new_value) / predicted if predicted > 0 else 0.0
        length = preconditioner.norm(step)
        if ratio < 0.25:
            radius = 0.25 * length
        elif ratio > 0.75 and length > 0.99 * radius:
            radius = 2.0 * radius
        at_rounding = predicted <= 1e-13 * abs(value)  # the decrease is lost in rounding: the gradient decides
        if at_rounding or (ratio > 1e-4 and new_value < value):
            adjoint = yield from operator.adjoint(objective.gradient(new_f))
            new_gradient = operator.norm_gradient(new_theta) + adjoint
            if at_rounding and not np.linalg.norm(new_gradient) < np.linalg.norm(gradient):
                break
            theta, f, value, gradient = new_theta, new_f, new_value, new_gradient
        if radius <= 1e-14 * natural_radius():
            break
    end = Iterate(theta, f, relative_norm(gradient, scale, theta))
    if n_polish and end.violation <= tol:
        return (yield from minimize(operator, objective, end, POLISH * tol, n_polish, stop))
    return end
