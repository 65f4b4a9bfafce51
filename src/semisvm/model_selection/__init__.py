"""Model selection when most samples have no label."""

from .splits import LabeledKFold

__all__ = ["LabeledKFold"]
