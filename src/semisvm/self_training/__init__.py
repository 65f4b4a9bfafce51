"""Estimators that train another classifier in rounds; ``WRAPPERS`` lists them by name."""

from .estimators import WRAPPERS, HelpTraining, SelfTraining

__all__ = ["WRAPPERS", "HelpTraining", "SelfTraining"]
