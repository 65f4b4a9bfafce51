"""SMO on the kernel matrix, coordinate descent on features, and the methods that train with them."""

from .cccp import CCCP
from .coordinate_descent import CoordinateDescent
from .fixed_labels import LabelMoves, Trainer, evaluate, evaluate_all_samples, kernel_block, solve_supervised
from .genetic import Genetic
from .incremental import IncrementalSVM
from .pair_switching import PairSwitching
from .smo import SMO, solve_dual

__all__ = [
    "CCCP",
    "SMO",
    "CoordinateDescent",
    "Genetic",
    "IncrementalSVM",
    "LabelMoves",
    "PairSwitching",
    "Trainer",
    "evaluate",
    "evaluate_all_samples",
    "kernel_block",
    "solve_dual",
    "solve_supervised",
]
