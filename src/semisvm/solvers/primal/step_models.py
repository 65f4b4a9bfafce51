"""The quadratic models of a step of ``OutOfCoreSwitch``: with labels that change along it, and with fixed ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from .dense_trust_region import QuadraticModel, Step, quadratic_model
from .threshold_objective import Point

SMALLEST_EIGENVALUE = 0.05  # of the Hessian relative to that of fixed labels, where a predicted decrease is measured
FEW_CROSSING = 1.0  # labels that change along a step which is that of fixed labels
RIDGES = (1e-13, 1e-10, 1e-7, 1e-4, 1e-1)  # of the diagonal of a Hessian: X'DX in single precision may be indefinite


@dataclass(frozen=True)
class StepModels:
    """The models at a point, in the norm of the Hessian of fixed labels.

    Attributes
    ----------
    point : Point
        Where.
    changing, fixed : QuadraticModel
        With labels that change along the step, and with fixed ones.
    """

    point: Point
    changing: QuadraticModel
    fixed: QuadraticModel

    @classmethod
    def at(cls, point: Point, unlabeled_cost: float) -> StepModels:
        """The models at a point, with a cost of the unlabeled samples."""
        metric = _positive_definite(point.hessian)
        taken = unlabeled_cost * point.jump * point.density * point.change
        changing = quadratic_model(point.gradient, metric - taken, metric)
        return cls(point, changing, changing._replace(values=np.ones_like(changing.values)))

    def step(self, radius: float) -> Step:
        """A step of at most this length."""
        step = self.changing.step(radius)
        return self.fixed.step(radius) if self._is_short(step.change) else step

    @property
    def newton_length(self) -> float:
        """The length of a Newton step at fixed labels."""
        return float(np.linalg.norm(self.fixed.slopes))

    @property
    def decrease(self) -> float:
        """What a step without a limit decreases; curvature much below that of fixed labels is not relied on."""
        scaled = self.changing._replace(values=np.maximum(self.changing.values, SMALLEST_EIGENVALUE))
        step = scaled.step(np.inf)
        return self.fixed.step(np.inf).predicted if self._is_short(step.change) else step.predicted

    def _is_short(self, change: np.ndarray) -> bool:
        return self.point.n_crossing(change) < FEW_CROSSING


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
