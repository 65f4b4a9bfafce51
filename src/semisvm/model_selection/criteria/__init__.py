"""Criteria of model selection with gradients in the logarithms of the hyperparameters."""

from .base import BoundCriterion, Criterion
from .held_out_criteria import OCV, PRESS, EmpiricalError, LeaveOneOutError
from .least_squares_criteria import GCV, Evidence
from .model_family import ModelFamily

CRITERIA: dict[str, type[Criterion]] = {
    "empirical_error": EmpiricalError,
    "press": PRESS,
    "ocv": OCV,
    "gcv": GCV,
    "evidence": Evidence,
}

__all__ = [
    "CRITERIA",
    "GCV",
    "OCV",
    "PRESS",
    "BoundCriterion",
    "Criterion",
    "EmpiricalError",
    "Evidence",
    "LeaveOneOutError",
    "ModelFamily",
]
