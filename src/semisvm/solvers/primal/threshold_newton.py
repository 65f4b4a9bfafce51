"""Newton steps in a trust region on the objective of multiple switching, from soft labels to labels of +-1.

With labels of +-1 the objective is the smallest of many quadratic functions, one for every labeling: each label that
changes is a kink, and steps with fixed labels go from one to the next, hundreds of them. With soft labels in a band
about the threshold (``band_statistics``) it is smooth, its second derivative is known, and a few Newton steps lead to a
minimum. The band becomes narrower from level to level. When it holds too few samples the last steps are those with
fixed labels of +-1, which are the best ones again at every point.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..base import StoppingRule
from .dense_trust_region import QuadraticModel, quadratic_model
from .threshold_objective import Point, ThresholdObjective

FIRST_WIDTH, WIDTH_FACTOR = 0.25, 0.25  # of the band at the first level; from level to level
MAX_WIDTH = 0.5  # relative to the standard deviation of the scores
BAND_PER_UNKNOWN = 10.0  # samples: in a narrower band they would say little of a direction
LEVEL_SHARE = 0.1  # of what softness takes from the objective: a level ends where a step predicts less
SMALLEST_EIGENVALUE = 0.05  # relative to fixed labels, in the decrease by which levels end
N_HARD = 3  # points with labels of +-1 that a search takes in general
POLISH, MAX_LAST = 1e-2, 5  # times tol: where the last steps end; how many there are
AT_ROUNDING = 1e-14  # of the objective: a smaller decrease is lost in it
FIRST_RADIUS, RADIUS_FACTOR = 0.1, 2.0  # times the norm of theta; of the radius after a good step that is as long
RIDGES = (1e-13, 1e-10, 1e-7, 1e-4, 1e-1)  # of the diagonal of a Hessian: X'X in single precision may be indefinite


class ThresholdNewton:
    """The steps from point to point.

    Parameters
    ----------
    objective : ThresholdObjective
        What is minimized.
    tol : float
        Root of the predicted decrease, relative to the objective, at which the last steps begin.
    stop : StoppingRule
        What ends the search; each point that is tried is an iteration, and the best one is offered to it.
    theta, tau : array of shape (size,), float
        Where to start.

    Attributes
    ----------
    first, point : Point
        The first and the present one.
    """

    def __init__(self, objective: ThresholdObjective, tol: float, stop: StoppingRule, theta: np.ndarray, tau: float):
        self.objective, self.tol, self.stop = objective, tol, stop
        self.n_last, self.is_back = 0, False
        self.first = self._first_point(theta, tau)
        self._move_to(self.first)
        size = np.sqrt(float(theta @ self.first.fixed_hessian @ theta))
        self.radius = FIRST_RADIUS * size + float(np.linalg.norm(self.model.slopes))
        self._log(self.first)

    def _first_point(self, theta: np.ndarray, tau: float) -> Point:
        point = self.objective.at(theta, tau, FIRST_WIDTH, is_soft=True)
        width = MAX_WIDTH * point.spread
        if not point.at.is_soft or point.at.width <= width:
            return point
        return self.objective.at(theta, point.labels.tau, max(width, 1e-9), is_soft=width > 1e-9)

    def advance(self) -> None:
        """Try a step, at the next level where the present one is solved.

        Soft labels may have led away from a start that was better than where they end: the last steps begin there.
        """
        if self._is_above_start:
            self.is_back = True
            self._move_to(self.objective.again(self.first))
            self._log(self.point)
            return
        now, step = self.point, self.model.step(self.radius)
        at_rounding = step.predicted <= AT_ROUNDING * now.value
        if now.at.is_soft and (at_rounding or self._is_level_solved):
            is_soft = now.n_band * WIDTH_FACTOR > BAND_PER_UNKNOWN * self.objective.size
            width = now.at.width * (WIDTH_FACTOR if is_soft else 1.0)
            self._move_to(self.objective.after(now, step.change, width, is_soft))
            self._log(self.point)
            return
        then = self.objective.after(now, step.change, now.at.width, now.at.is_soft)
        decrease = now.value - then.value
        ratio = decrease / step.predicted if step.predicted > 0.0 else 0.0
        if ratio < 0.25:
            self.radius = step.length * _line_minimum(now, then, step.change)
        elif ratio > 0.75 and step.length > 0.99 * self.radius:
            self.radius = RADIUS_FACTOR * step.length
        # where values are lost in rounding the gradient decides
        is_better = then.violation < now.violation if at_rounding else ratio > 1e-4 and decrease > 0.0
        if is_better:
            self._move_to(then)
        self._log(then, ended=at_rounding and not is_better)

    def _move_to(self, point: Point) -> None:
        self.point, self.model = point, step_model(point)
        self.stop.offer(point.hard_value, point)

    @property
    def _predicted_decrease(self) -> float:
        """The predicted decrease of a step, whatever the radius; with soft labels also by negative curvature."""
        decrease = self.model.decrease(SMALLEST_EIGENVALUE)
        return max(decrease, self.model.step(self.radius).predicted) if self.point.at.is_soft else decrease

    @property
    def _is_above_start(self) -> bool:
        point = self.point
        return self.n_last > 0 and not self.is_back and point.value > self.first.hard_value

    @property
    def _is_level_solved(self) -> bool:
        point = self.point
        return self._predicted_decrease <= LEVEL_SHARE * max(point.hard_value - point.value, self.tol**2 * point.value)

    @property
    def _n_left(self) -> int:
        """About how many points are still to be tried: one at every level that is left, and some of hard labels."""
        point = self.point
        if not point.at.is_soft:
            return max(1, N_HARD - self.n_last)
        levels = np.log(max(point.n_band / (BAND_PER_UNKNOWN * self.objective.size), 1.0)) / -np.log(WIDTH_FACTOR)
        return int(np.ceil(levels)) + N_HARD

    def _log(self, tried: Point, ended: bool = False) -> None:
        """Log a point that was tried and see whether the search ends."""
        point = self.point
        violation = float(np.sqrt(self._predicted_decrease / point.value)) if point.value > 0.0 else 0.0
        converged = False
        if not point.at.is_soft:
            self.n_last += violation <= self.tol
            is_last = violation <= POLISH * self.tol or self.n_last > MAX_LAST or (ended and self.n_last > 0)
            converged = is_last and not self._is_above_start
        row = {
            "objective": point.hard_value,
            "tried": tried.hard_value,
            "violation": violation,
            "radius": self.radius,
            "width": point.at.width if point.at.is_soft else 0.0,
            "tau": point.labels.tau,
            "n_passes": self.objective.n_passes,
            "n_left": self._n_left,
        }
        self.stop.log_iteration(row, converged)
        if ended and not self._is_above_start:
            self.stop.end("stalled")


def step_model(point: Point) -> QuadraticModel:
    """The model at a point in the norm of the Hessian of fixed labels; soft labels change along a step."""
    metric = _positive_definite(point.fixed_hessian)
    hessian = metric + (point.hessian - point.fixed_hessian) if point.at.is_soft else metric
    return quadratic_model(point.gradient, hessian, metric)


def _positive_definite(hessian: np.ndarray) -> np.ndarray:
    """The Hessian with the smallest ridge with which it has a Cholesky factor."""
    diagonal = np.diag(hessian) + RIDGES[0] * np.abs(hessian).max() * (np.diag(hessian) <= 0.0)
    for ridge in RIDGES:
        metric = hessian + np.diag(ridge * diagonal)
        try:
            linalg.cholesky(metric, lower=True)
        except linalg.LinAlgError:
            continue
        return metric
    return np.diag(diagonal)


def _line_minimum(now: Point, then: Point, step: np.ndarray) -> float:
    """Where the cubic through values and slopes at both ends of a step is least, as a part of the step, 0.1 to 0.5."""
    first, last = float(now.gradient @ step), float(then.gradient @ step)
    middle = first + last + 3.0 * (now.value - then.value)
    root = np.sqrt(max(middle**2 - first * last, 0.0))
    denominator = last - first + 2.0 * root
    return float(np.clip(1.0 - (last + root - middle) / denominator, 0.1, 0.5)) if denominator > 0.0 else 0.1
