"""Plots of experiments with few labels; matplotlib is imported when the first one is drawn.

Each display is made by a ``from_`` method, which computes the numbers and draws them, or from numbers that are there
already; ``plot`` draws them again. ``import semisvm`` does not import this package.
"""

from .learning_curve import LearningCurveDisplay
from .trace import TraceDisplay

__all__ = ["LearningCurveDisplay", "TraceDisplay"]
