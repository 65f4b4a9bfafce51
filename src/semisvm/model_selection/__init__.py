"""Choosing and judging machines when most rows have no label."""

from .splits import LabeledKFold

__all__ = ["LabeledKFold"]
