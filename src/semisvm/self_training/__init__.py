"""Estimators that train another classifier in rounds; ``WRAPPERS`` lists them by name."""

from .help_training import HelpTraining
from .self_training import SelfTraining

WRAPPERS: dict[str, type] = {cls.__name__: cls for cls in (SelfTraining, HelpTraining)}

__all__ = ["WRAPPERS", "HelpTraining", "SelfTraining"]
