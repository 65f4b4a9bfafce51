"""Preconditioned conjugate gradients on a quadratic model, within a trust region if there is one.

References
----------
.. [1] T. Steihaug, "The conjugate gradient method and trust regions in large scale optimization", SIAM Journal on
   Numerical Analysis 20, 1983. https://doi.org/10.1137/0720042
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ..._jit import jit
from ..base import StoppingRule
from .batch import Coroutine
from .operator import PrimalOperator

MAX_STEPS = 1000


class Preconditioner(Protocol):
    """An approximation M of the Hessian."""

    def solve(self, r: np.ndarray) -> np.ndarray:
        """M^-1 r."""


class Step(NamedTuple):
    """What conjugate gradients return.

    Attributes
    ----------
    step, decrease : array, float
        The step s and the decrease of the model.
    residual : array
        -g - H s.
    change : array of shape (n,)
        A s, nan at samples without curvature for which it was not computed.
    """

    step: np.ndarray
    decrease: float
    residual: np.ndarray
    change: np.ndarray


@jit()
def _move(t, direction, image, scores, step, residual, change):
    """Move by t along a direction with its image under H and under A."""
    for j in range(len(step)):
        step[j] += t * direction[j]
        residual[j] -= t * image[j]
    for i in range(len(change)):
        change[i] += t * scores[i]


@jit()
def _conjugate(solved, ratio, direction):
    """The next direction."""
    out = np.empty_like(solved)
    for j in range(len(out)):
        out[j] = solved[j] + ratio * direction[j]
    return out


def conjugate_gradient(
    operator: PrimalOperator,
    curvature: np.ndarray,
    gradient: np.ndarray,
    preconditioner: Preconditioner,
    relative_tol: float,
    stop: StoppingRule,
    radius: float = np.inf,
    solved: np.ndarray | None = None,
) -> Coroutine[Step]:
    """Minimize g's + 1/2 s'H s, H = N + A' diag(curvature) A, over steps s of at most ``radius``.

    The iterations end at a residual of ``relative_tol`` times the first, at the boundary of the trust region, at the
    deadline of ``stop``, or in a direction that is not of positive curvature, which is followed to the boundary if
    there is one. Steps are measured in the norm ||s||_M of the preconditioner, residuals in ||r||_{M^-1}. ``solved`` is
    M^-1 g where it is known.
    """
    step, residual, decrease = np.zeros_like(gradient), -gradient, 0.0
    change = np.zeros(operator.design.n)
    direction = -(preconditioner.solve(gradient) if solved is None else solved)
    square = float(residual @ direction)
    goal = relative_tol**2 * square
    if square <= 0.0:  # by rounding, of a preconditioner that is almost singular
        return Step(step, decrease, residual, change)
    step_norm2, cross, direction_norm2, at_boundary = 0.0, 0.0, square, False
    for _ in range(max(20, min(2 * operator.size, MAX_STEPS))):
        image, scores = yield from operator.hessian_product(direction, curvature)
        direction_curvature = float(direction @ image)
        t = square / direction_curvature if direction_curvature > 0 else np.inf
        if t == np.inf or step_norm2 + 2.0 * t * cross + t * t * direction_norm2 >= radius**2:
            if radius == np.inf:
                break
            t = (-cross + np.sqrt(max(cross**2 + direction_norm2 * (radius**2 - step_norm2), 0.0))) / direction_norm2
            at_boundary = True
        _move(t, direction, image, scores, step, residual, change)
        decrease += t * square - 0.5 * t**2 * direction_curvature
        if at_boundary:
            break
        step_norm2 += 2.0 * t * cross + t * t * direction_norm2
        solved = preconditioner.solve(residual)
        new_square = float(residual @ solved)
        if new_square <= goal or stop.time_is_over:
            break
        ratio = new_square / square
        direction, square = _conjugate(solved, ratio, direction), new_square
        cross, direction_norm2 = ratio * (cross + t * direction_norm2), new_square + ratio**2 * direction_norm2
    return Step(step, decrease, residual, change)
