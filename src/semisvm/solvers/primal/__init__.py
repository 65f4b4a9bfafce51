"""Newton's method on features, and the methods that solve with it: one batch engine for many classes."""

from .annealing import Annealing
from .batch import BatchSolver, run_batched
from .continuation import Continuation
from .finite_newton import FiniteNewton
from .gradient import GradientPath
from .multi_switch import MultiSwitch
from .out_of_core import OutOfCoreProblem, OutOfCoreSolution, OutOfCoreSwitch, Start

__all__ = [
    "Annealing",
    "BatchSolver",
    "Continuation",
    "FiniteNewton",
    "GradientPath",
    "MultiSwitch",
    "OutOfCoreProblem",
    "OutOfCoreSolution",
    "OutOfCoreSwitch",
    "Start",
    "run_batched",
]
