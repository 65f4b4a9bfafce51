"""Plots of fitted models and of experiments with few labels; matplotlib is imported when the first one is drawn.

Each display is made by a ``from_`` method, which computes the numbers and draws them, or from numbers that are there
already; ``plot`` draws them again. ``import semisvm`` does not import this package.
"""

from .confidence_curve import ConfidenceCurveDisplay
from .decision_boundary import DecisionBoundaryDisplay
from .learning_curve import LearningCurveDisplay
from .margin_histogram import MarginHistogramDisplay
from .method_comparison import MethodComparisonDisplay
from .trace import TraceDisplay

__all__ = [
    "ConfidenceCurveDisplay",
    "DecisionBoundaryDisplay",
    "LearningCurveDisplay",
    "MarginHistogramDisplay",
    "MethodComparisonDisplay",
    "TraceDisplay",
]
