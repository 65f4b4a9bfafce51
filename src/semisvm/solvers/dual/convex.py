"""Which method solves the dual of a convex model with a hinge, and how exactly: the one place of that choice.

=====================================================  ==============================================================
samples                                                method
=====================================================  ==============================================================
behind a kernel, few, or with more features than       SMO on the kernel matrix
a kernel row has
of at most ``MAX_FEATURES`` features                   the augmented Lagrangian method, unless a mean of f is fixed
of more, as words of a text                            coordinate descent
=====================================================  ==============================================================

Pair steps and sweeps are many where C is large or features depend on each other. The Newton steps of the augmented
Lagrangian method are few whatever the data, but each solves a system as large as the number of features. A sample of a
text shares few words with another one: there sweeps are few as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...losses import Hinge, SquaredHinge
from ...problem import Problem
from ...solution import Solution
from ...spaces import Features
from ..base import Accepts, Callback, Solver, StoppingRule
from .augmented_lagrangian import solve_augmented
from .coordinate_descent import descend
from .dual_problem import Dual, DualPoint, build_box_dual, build_dual
from .duality_gap import solve_within_gap
from .eliminated_intercept import EliminatedIntercept, can_be_eliminated, n_entries
from .smo import MAX_PAIR_STEPS, solve_dual

FEW_SAMPLES = 200  # with a multiplier that can move, up to which SMO is as fast, and exact to the last digits
MAX_FEATURES = 1000  # of the systems that Newton steps solve


def choose_method(problem: Problem) -> str:
    """The method for the convex models of a problem: "pairs", "coordinates" or "newton".

    With at most as many features as a kernel row has, coordinate descent took a tenth to a half of the time of SMO (as
    much where C is so large that SMO has to go on), with twice as many twice the time if the kernel was known.
    """
    space = problem.space
    if not isinstance(space, Features) or n_entries(space.X) > space.n**2:
        return "pairs"
    if problem.fixed_mean is not None:
        return "coordinates" if can_be_eliminated(problem) else "pairs"
    n_movable = len(problem.labeled_samples) + len(problem.searched)
    if n_movable <= FEW_SAMPLES:
        return "pairs" if problem.intercept is True else "coordinates"
    return "newton" if space.design.d <= min(MAX_FEATURES, space.n) else "coordinates"


class ConvexSolver:
    """Solves duals of convex models of one problem, which differ in bounds and slopes.

    Parameters
    ----------
    problem : Problem
        The problem; its signs and costs do not matter here.
    whole_matrix : bool
        As of ``solve_dual``. From a subset few samples ever get a multiplier, so few kernel rows are needed.
    f_of_fixed : bool
        As of ``solve_dual``.

    Attributes
    ----------
    method : {"pairs", "coordinates", "newton"}
        The method.
    on_features : bool
        Whether it uses no kernel values.
    """

    def __init__(self, problem: Problem, whole_matrix: bool = True, f_of_fixed: bool = True):
        self.problem, self.whole_matrix, self.f_of_fixed = problem, whole_matrix, f_of_fixed
        self.method = choose_method(problem)
        self.on_features = self.method != "pairs"
        self._samples = EliminatedIntercept(problem) if self.method == "coordinates" else None

    def build_dual(self, problem: Problem | None = None) -> Dual:
        """The dual of the problem, or of one with other signs and costs, before the first tangents."""
        build = build_box_dual if self.on_features else build_dual
        return build(problem or self.problem)

    def solve(
        self, dual: Dual, start: np.ndarray | DualPoint | None, tol: float, stop: StoppingRule, polish: bool = True
    ) -> DualPoint:
        """Solve a dual from any point; ``stop`` limits pair steps, sweeps or Newton steps."""
        if self._samples is not None:
            return descend(self._samples, dual, start, tol, stop)
        if self.method == "newton":
            return solve_augmented(self.problem, dual, start, tol, stop)
        stop.max_iter = min(stop.max_iter, MAX_PAIR_STEPS)
        options = {"polish": polish, "whole_matrix": self.whole_matrix, "f_of_fixed": self.f_of_fixed}
        return solve_dual(dual, start, tol, stop, **options)


@dataclass(frozen=True)
class SupervisedSVM(Solver):
    """The SVM with hinge or squared hinge loss, by the method that suits its samples.

    SMO on a kernel matrix; on features the augmented Lagrangian method or coordinate descent. The tolerance is
    tightened while the duality gap is large (``duality_gap``).

    Parameters
    ----------
    tol : float
        Largest violation of the optimality conditions, in units of f.
    max_iter : int
        Largest number of pair steps, or of Newton steps or sweeps over the samples on features.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    Those of ``SMO``, ``AugmentedLagrangian`` and ``CoordinateDescent``. The problem: C. Cortes and V. Vapnik,
    "Support-vector networks", Machine Learning 20, 1995. https://doi.org/10.1007/BF00994018
    """

    tol: float = 1e-3
    max_iter: int = MAX_PAIR_STEPS

    accepts: ClassVar[Accepts] = Accepts((Hinge, SquaredHinge))

    def needs_gram(self, problem: Problem) -> bool:
        """Whether SMO is used."""
        return choose_method(problem) == "pairs"

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Minimize, from the multipliers of another solution if there is one."""
        convex, limit = ConvexSolver(problem, f_of_fixed=False), StoppingRule(max_time=self.max_time, callback=callback)
        return solve_within_gap(problem, convex.build_dual(), convex.solve, start, self.tol, self.max_iter, limit)
