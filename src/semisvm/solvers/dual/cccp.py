"""The concave-convex procedure for models with a ramp loss.

A ramp is a hinge minus a hinge. Each step replaces the subtracted one by its tangent at the present scores, which only
moves bounds of the dual (``dual_problem.linearize``), and solves the convex problem that remains from the last point.
The objective never increases, and once no tangent changes the point is stationary.

The convex problems are solved by the method that ``ConvexSolver`` chooses: with tol until no tangent changes, then
with tighter ones while the duality gap of the convex problem is above ``MAX_GAP``. On features the first steps, with
``LOOSE`` in place of tol, do most of the work.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...balance import Free, Mean
from ...losses import Hinge, Ramp, SquaredHinge, SymmetricHinge, SymmetricRamp
from ...problem import Problem, balance_residual
from ...solution import Solution
from ..base import Accepts, Callback, Solver, StoppingRule
from .convex import ConvexSolver, choose_method
from .dual_problem import Dual, DualPoint, linearize, primal_values, solution_from_dual
from .duality_gap import duality_gap

STALLED = 1e-10  # relative decrease of the objective below which a step has changed nothing
N_TIGHTER = 4  # tolerances tried for a convex step, each a tenth of the one before, until the objective decreases
N_EXACT = 2  # more of them on features, where free coordinates are not solved exactly at the end
LOOSE = 1e-2  # tolerance on features until the tangents stay the same
MAX_GAP = 1e-3  # of the objective: duality gap of the last convex step
SUBSET_SIZE = 500
SUBSET_SHARE = 0.1


@dataclass(frozen=True)
class CCCP(Solver):
    """Concave-convex procedure for ramp and symmetric ramp losses.

    Parameters
    ----------
    init : {"svm", "subset"}
        Start from the hinge SVM of all labeled samples or of a random tenth of them (at least ``SUBSET_SIZE``).
    tol : float
        Tolerance of each convex step, in units of f.
    max_iter : int
        Largest number of convex steps.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    R. Collobert, F. Sinz, J. Weston and L. Bottou, "Trading convexity for scalability", ICML, 2006.
    https://doi.org/10.1145/1143844.1143870. A. L. Yuille and A. Rangarajan, "The concave-convex procedure", Neural
    Computation 15, 2003. https://doi.org/10.1162/08997660360581958
    """

    init: str = "svm"
    tol: float = 1e-3
    max_iter: int = 100

    accepts: ClassVar[Accepts] = Accepts(
        (Hinge, SquaredHinge, Ramp), (SymmetricRamp, SymmetricHinge), (Free, Mean), space="gram"
    )

    def needs_gram(self, problem: Problem) -> bool:
        """Whether the convex problems are solved by SMO."""
        return choose_method(problem) == "pairs"

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Minimize, from the hinge SVM of the labeled samples or from another solution."""
        stop = StoppingRule(self.max_iter + 1, self.max_time, callback)  # the first row of the trace is the start
        convex = ConvexSolver(problem, whole_matrix=self.init != "subset")
        dual = convex.build_dual()
        point = self._start(convex, dual, start, stop, rng)
        tolerances = [self.tol * 0.1**k for k in range(N_TIGHTER + N_EXACT * convex.on_features)]
        if convex.on_features and self.tol < LOOSE:
            tolerances.insert(0, LOOSE)
        tangent: Dual | None = None
        with stop:
            while True:
                values = primal_values(problem, dual, point)
                old, tangent = tangent, linearize(problem, dual, values.scores)
                objective = values.objective(problem)
                is_settled = old is not None and _same_bounds(old, tangent)
                is_exact = is_settled and tolerances[0] <= self.tol
                is_exact = is_exact and duality_gap(problem, tangent, point, values) <= MAX_GAP * objective
                if point.status == "max_iter":  # of the pair steps, not of the convex steps
                    stop.end("stalled")
                row = {
                    "objective": objective,
                    "dual_steps": point.n_iter,
                    "violation": point.violation,
                    "balance": balance_residual(problem, values.scores, np.sign(values.scores)),
                }
                stop.log_iteration(row, converged=is_exact)
                if not stop.running:
                    break
                tolerances = tolerances[is_settled:]
                point, stalled = _convex_step(convex, tangent, point, tolerances, stop)
                if stalled:
                    stop.end("converged")
                    break
        point = replace(point, status=str(stop.status))
        return solution_from_dual(problem, point, "stationary", self.tol, stop.trace)

    def _start(
        self, convex: ConvexSolver, dual: Dual, start: Solution | None, stop: StoppingRule, rng: Any
    ) -> DualPoint:
        """The point whose scores give the first tangents."""
        if start is not None:
            tangent = linearize(convex.problem, dual, start.scores)
            return convex.solve(tangent, start.multipliers, self.tol, stop.nested())
        if self.init == "subset":
            left_out = _outside_subset(convex.problem, rng)
            dual = dual._replace(lower=np.where(left_out, 0.0, dual.lower), upper=np.where(left_out, 0.0, dual.upper))
        return convex.solve(dual, None, self.tol, stop.nested(), polish=False)


def _convex_step(
    convex: ConvexSolver, tangent: Dual, point: DualPoint, tolerances: list[float], stop: StoppingRule
) -> tuple[DualPoint, bool]:
    """The convex step, as exact as it takes to decrease the objective, and whether it could not.

    Where nothing decreases it, the step still has the multipliers that belong to the present tangents; it is returned
    unless its objective is higher.
    """
    problem, value = convex.problem, stop.trace[-1]["objective"]
    trial, decrease = point, -np.inf
    for tol in tolerances:
        trial = convex.solve(tangent, trial, tol, stop.nested())
        decrease = value - primal_values(problem, tangent, trial).objective(problem)
        if trial.status not in ("converged", "stalled"):
            return (trial if decrease > 0 else replace(point, status=trial.status)), False
        if decrease > STALLED * abs(value):
            return trial, False
    return (trial if decrease >= -STALLED * abs(value) else point), True


def _outside_subset(problem: Problem, rng: Any) -> np.ndarray:
    """Mask of the labeled samples that the subset start leaves out; both classes keep their share."""
    rng = np.random.default_rng(rng)
    left_out = np.zeros(len(problem.signs), dtype=bool)
    share = max(SUBSET_SHARE, SUBSET_SIZE / max(int(problem.is_labeled.sum()), 1))
    for sign in (-1.0, 1.0):
        samples = rng.permutation(np.flatnonzero(problem.signs == sign))
        left_out[samples[max(1, int(np.ceil(share * len(samples)))) :]] = True
    return left_out


def _same_bounds(old: Dual, new: Dual) -> bool:
    return np.array_equal(old.lower, new.lower) and np.array_equal(old.upper, new.upper)
