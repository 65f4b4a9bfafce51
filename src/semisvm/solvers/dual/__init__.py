"""SMO on the kernel matrix, two methods on features, and the methods that train with them."""

from .augmented_lagrangian import AugmentedLagrangian
from .cccp import CCCP
from .convex import SupervisedSVM
from .coordinate_descent import CoordinateDescent
from .fixed_labels import LabelMoves, Trainer, evaluate, evaluate_all_samples, kernel_block, solve_supervised
from .genetic import Genetic
from .incremental import IncrementalSVM
from .leave_one_out import can_leave_one_out, leave_one_out_scores
from .pair_switching import PairSwitching
from .smo import SMO, solve_dual

__all__ = [
    "CCCP",
    "SMO",
    "AugmentedLagrangian",
    "CoordinateDescent",
    "Genetic",
    "IncrementalSVM",
    "LabelMoves",
    "PairSwitching",
    "SupervisedSVM",
    "Trainer",
    "can_leave_one_out",
    "evaluate",
    "evaluate_all_samples",
    "kernel_block",
    "leave_one_out_scores",
    "solve_dual",
    "solve_supervised",
]
