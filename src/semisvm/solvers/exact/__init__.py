"""Methods that prove how good their labels are, and linear programs for the 1-norm of w."""

from .branch_bound import BranchBound
from .concave_lp import ConcaveLP
from .mixed_integer import MixedInteger
from .relaxation import LowRankRelaxation

__all__ = ["BranchBound", "ConcaveLP", "LowRankRelaxation", "MixedInteger"]
