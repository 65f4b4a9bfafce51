"""From many classes to binary tasks and back."""

from .calibration import fit_slope
from .coupling import COUPLINGS, couple
from .schemes import SCHEMES, BinaryTask, n_binary_tasks, one_vs_one, one_vs_rest, pairs, votes
from .ties import merge_ties, merge_zeros, winners

__all__ = [
    "COUPLINGS",
    "SCHEMES",
    "BinaryTask",
    "couple",
    "fit_slope",
    "merge_ties",
    "merge_zeros",
    "n_binary_tasks",
    "one_vs_one",
    "one_vs_rest",
    "pairs",
    "votes",
    "winners",
]
