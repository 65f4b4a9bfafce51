"""The solvers, one file each; ``SOLVERS`` lists them by name."""

from ..balance import Count, Free, Mean
from ..problem import Problem
from .base import NO_FEATURES, Accepts, Solver, StoppingRule
from .dual import (
    CCCP,
    SMO,
    AugmentedLagrangian,
    CoordinateDescent,
    Genetic,
    IncrementalSVM,
    PairSwitching,
    SupervisedSVM,
)
from .exact import BranchBound, ConcaveLP, LowRankRelaxation, MixedInteger
from .least_squares import (
    DifferenceConvex,
    Greedy,
    IncrementalLSSVM,
    IntegerQuadratic,
    LabelSearch,
    LeastSquares,
    Progressive,
    Pruning,
    SafeProjection,
    exact_form_bytes,
)
from .primal import Annealing, Continuation, FiniteNewton, GradientPath, MultiSwitch

SOLVERS: dict[str, type[Solver]] = {
    "smo": SMO,
    "coordinate_descent": CoordinateDescent,
    "augmented_lagrangian": AugmentedLagrangian,
    "supervised_svm": SupervisedSVM,
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
    "Accepts",
    "Annealing",
    "AugmentedLagrangian",
    "BranchBound",
    "ConcaveLP",
    "Continuation",
    "CoordinateDescent",
    "DifferenceConvex",
    "FiniteNewton",
    "Genetic",
    "GradientPath",
    "Greedy",
    "IncrementalLSSVM",
    "IncrementalSVM",
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
    "Solver",
    "StoppingRule",
    "SupervisedSVM",
    "exact_form_bytes",
    "refusal",
]


def refusal(solver: Solver, problem: Problem) -> str | None:
    """Why a solver cannot take a problem, with the names of those that can; None if it can.

    Balance and space follow from the solver where an estimator states the problem (a share becomes a mean of f or a
    number of labels, a kernel a matrix or features), so that another solver is not ruled out by them unless they are
    what this one refuses.
    """
    piece = solver.accepts.unsupported(problem)
    if piece is None:
        return None
    others = [name for name, known in SOLVERS.items() if _restated(known.accepts, piece).unsupported(problem) is None]
    advice = f"Solvers that do: {', '.join(others)}." if others else "No solver of this version does."
    return f"the solver {type(solver).__name__} does not take {piece}. {advice}"


def _restated(accepts: Accepts, piece: str) -> Accepts:
    """What a solver takes where balance and space are those that it asks for."""
    if piece.startswith("the balance") or piece == NO_FEATURES:
        return accepts
    keeps_share = len(accepts.balances) > 1
    return accepts._replace(balances=(Free, Mean, Count) if keeps_share else accepts.balances, space="any")
