"""Preconditioned conjugate gradients on a quadratic model, within a trust region if there is one.

References
----------
.. [1] T. Steihaug, "The conjugate gradient method and trust regions in large scale optimization", SIAM Journal on
   Numerical Analysis 20, 1983. https://doi.org/10.1137/0720042
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..base import StoppingRule
from .batch import Coroutine
from .operator import PrimalOperator

MAX_STEPS = 1000


class Preconditioner(Protocol):
    """An approximation M of the Hessian."""

    def solve(self, r: np.ndarray) -> np.ndarray:
        """M^-1 r."""


class Jacobi:
    """M = the diagonal of the Hessian."""

    def __init__(self, diagonal: np.ndarray):
        self._diagonal = np.where(diagonal > 0.0, diagonal, 1.0)

    def solve(self, r: np.ndarray) -> np.ndarray:
        """M^-1 r."""
        return r / self._diagonal


def conjugate_gradient(
    operator: PrimalOperator,
    curvature: np.ndarray,
    gradient: np.ndarray,
    preconditioner: Preconditioner,
    relative_tol: float,
    stop: StoppingRule,
    radius: float = np.inf,
) -> Coroutine[tuple[np.ndarray, float]]:
    """Minimize g's + 1/2 s'H s, H = N + A' diag(curvature) A, over steps s of at most ``radius``.

    The iterations end at a residual of ``relative_tol`` times the first, at the boundary of the trust region, at the
    deadline of ``stop``, or in a direction that is not of positive curvature, which is followed to the boundary if
    there is one. Steps are measured in the norm ||s||_M of the preconditioner, residuals in ||r||_{M^-1}, without a
    trust region in the Euclidean norm.

    Returns
    -------
    step, decrease : array, float
        The step and the decrease of the model.
    """
    step, residual, decrease = np.zeros_like(gradient), -gradient, 0.0
    direction = preconditioner.solve(residual)
    square = float(residual @ direction)
    euclidean = radius == np.inf
    goal = relative_tol**2 * (float(gradient @ gradient) if euclidean else square)
    if square <= 0.0:  # by rounding, of a preconditioner that is almost singular
        return step, decrease
    step_norm2, cross, direction_norm2 = 0.0, 0.0, square
    for _ in range(max(20, min(2 * operator.size, MAX_STEPS))):
        image = yield from operator.hessian_product(direction, curvature)
        direction_curvature = float(direction @ image)
        t = square / direction_curvature if direction_curvature > 0 else np.inf
        if t == np.inf or step_norm2 + 2.0 * t * cross + t * t * direction_norm2 >= radius**2:
            if t == np.inf and euclidean:
                break
            edge = (-cross + np.sqrt(max(cross**2 + direction_norm2 * (radius**2 - step_norm2), 0.0))) / direction_norm2
            return step + edge * direction, decrease + edge * square - 0.5 * edge**2 * direction_curvature
        step, residual = step + t * direction, residual - t * image
        decrease += t * square - 0.5 * t**2 * direction_curvature
        step_norm2 += 2.0 * t * cross + t * t * direction_norm2
        solved = preconditioner.solve(residual)
        new_square = float(residual @ solved)
        if (float(residual @ residual) if euclidean else new_square) <= goal or stop.time_is_over:
            break
        ratio = new_square / square
        direction, square = solved + ratio * direction, new_square
        cross, direction_norm2 = ratio * (cross + t * direction_norm2), new_square + ratio**2 * direction_norm2
    return step, decrease
