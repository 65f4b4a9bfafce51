"""The searches, one file each; ``SOLVERS`` lists them by name."""

from ..problem import Problem
from .annealing import Annealing
from .branch_bound import BranchBound
from .cccp import CCCP
from .concave_lp import ConcaveLP
from .continuation import Continuation
from .difference_convex import DifferenceConvex
from .finite_newton import FiniteNewton
from .genetic import Genetic
from .gradient import GradientPath
from .integer_quadratic import IntegerQuadratic
from .label_search import LabelSearch
from .least_squares import LeastSquares
from .mixed_integer import MixedInteger
from .multi_switch import MultiSwitch
from .pair_switching import PairSwitching
from .progressive import Progressive
from .relaxation import LowRankRelaxation
from .safe import SafeProjection
from .smo import SMO
from .sparse_least_squares import Greedy, Pruning

SOLVERS: dict[str, type] = {
    "smo": SMO,
    "cccp": CCCP,
    "least_squares": LeastSquares,
    "greedy": Greedy,
    "pruning": Pruning,
    "label_search": LabelSearch,
    "progressive": Progressive,
    "difference_convex": DifferenceConvex,
    "integer_quadratic": IntegerQuadratic,
    "safe_projection": SafeProjection,
    "gradient_path": GradientPath,
    "continuation": Continuation,
    "finite_newton": FiniteNewton,
    "multi_switch": MultiSwitch,
    "annealing": Annealing,
    "pair_switching": PairSwitching,
    "genetic": Genetic,
    "branch_bound": BranchBound,
    "relaxation": LowRankRelaxation,
    "mixed_integer": MixedInteger,
    "concave_lp": ConcaveLP,
}

__all__ = [
    "CCCP",
    "SMO",
    "SOLVERS",
    "Annealing",
    "BranchBound",
    "ConcaveLP",
    "Continuation",
    "DifferenceConvex",
    "FiniteNewton",
    "Genetic",
    "GradientPath",
    "Greedy",
    "IntegerQuadratic",
    "LabelSearch",
    "LeastSquares",
    "LowRankRelaxation",
    "MixedInteger",
    "MultiSwitch",
    "PairSwitching",
    "Progressive",
    "Pruning",
    "SafeProjection",
    "refusal",
]


def refusal(solver, problem: Problem) -> str | None:
    """Why a solver cannot take a problem, with the names of those that can; None if it can."""
    piece = _unfit(solver, problem)
    if piece is None:
        return None
    others = [name for name, known in SOLVERS.items() if _unfit(known, problem) is None]
    advice = f"Solvers that do: {', '.join(others)}." if others else "No solver of this version does."
    return f"the solver {type(solver).__name__} does not take {piece}. {advice}"


def _unfit(solver, problem: Problem) -> str | None:
    """The piece of the problem that a solver does not take."""
    if not isinstance(problem.labeled, solver.losses):
        return f"the labeled loss {type(problem.labeled).__name__}"
    unlabeled = problem.unlabeled if problem.has_unlabeled else None
    if not isinstance(unlabeled, solver.unlabeled_losses):
        return f"the unlabeled loss {type(unlabeled).__name__}"
    if not isinstance(problem.balance, solver.balances):
        return f"the balance {type(problem.balance).__name__}"
    if problem.intercept not in getattr(solver, "intercepts", (True, False, "regularised")):
        return f"fit_intercept={problem.intercept!r}"
    if problem.norm not in getattr(solver, "norms", (2,)):
        return f"the {problem.norm}-norm of w"
    return None
