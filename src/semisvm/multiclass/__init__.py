"""From many classes to binary tasks and back."""

from .calibration import fit_slope, sigmoid, softmax
from .coupling import COUPLINGS, couple
from .schemes import SCHEMES, Task, one_vs_one, one_vs_rest, pairs, votes

__all__ = [
    "COUPLINGS",
    "SCHEMES",
    "Task",
    "couple",
    "fit_slope",
    "one_vs_one",
    "one_vs_rest",
    "pairs",
    "sigmoid",
    "softmax",
    "votes",
]
