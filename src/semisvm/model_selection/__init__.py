"""Model selection when most samples have no label."""

from .calibration import LabeledCalibratedClassifierCV
from .criteria import GCV, OCV, PRESS, Criterion, EmpiricalError, Evidence, LeaveOneOutError
from .gradient_search import GradientSearchCV
from .scoring import make_labeled_scorer
from .shuffle_split import LabeledShuffleSplit
from .splits import LabeledKFold

__all__ = [
    "GCV",
    "OCV",
    "PRESS",
    "Criterion",
    "EmpiricalError",
    "Evidence",
    "GradientSearchCV",
    "LabeledCalibratedClassifierCV",
    "LabeledKFold",
    "LabeledShuffleSplit",
    "LeaveOneOutError",
    "make_labeled_scorer",
]
