"""The concave-convex procedure for models with a ramp loss.

A ramp is a hinge minus a hinge. Each step replaces the subtracted one by its tangent at the present scores, which only
moves bounds of the dual (``dual_problem.linearize``), and solves the convex problem that remains with
``smo.solve_dual`` from the last point. The objective never increases, and once no tangent changes the point is
stationary.
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
from .dual_problem import Dual, DualPoint, build_dual, linearize, primal_values, solution_from_dual
from .smo import MAX_PAIR_STEPS, solve_dual

STALLED = 1e-10  # relative decrease of the objective below which a step has changed nothing
N_TIGHTER = 4  # tolerances tried for a convex step, each a tenth of the one before, until the objective decreases
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

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Minimize, from the hinge SVM of the labeled samples or from another solution."""
        stop = StoppingRule(self.max_iter + 1, self.max_time, callback)  # the first row of the trace is the start
        dual = build_dual(problem)
        point = self._start(problem, dual, start, stop, rng)
        tangent: Dual | None = None
        with stop:
            while True:
                values = primal_values(problem, dual, point)
                old, tangent = tangent, linearize(problem, dual, values.scores)
                if point.status == "max_iter":  # of the pair steps, not of the convex steps
                    stop.end("stalled")
                row = {
                    "objective": values.objective(problem),
                    "pair_steps": point.n_iter,
                    "violation": point.violation,
                    "balance": balance_residual(problem, values.scores, np.sign(values.scores)),
                }
                stop.log_iteration(row, converged=old is not None and _same_bounds(old, tangent))
                if not stop.running:
                    break
                point, stalled = self._convex_step(problem, tangent, point, stop)
                if stalled:
                    stop.end("converged")
                    break
        point = replace(point, status=str(stop.status))
        return solution_from_dual(problem, point, "stationary", self.tol, stop.trace)

    def _start(self, problem: Problem, dual: Dual, start: Solution | None, stop: StoppingRule, rng: Any) -> DualPoint:
        """The point whose scores give the first tangents."""
        if start is not None:
            dual = linearize(problem, dual, start.scores)
            return solve_dual(dual, start.multipliers, self.tol, stop.nested(MAX_PAIR_STEPS))
        if self.init == "subset":
            left_out = _outside_subset(problem, rng)
            dual = dual._replace(lower=np.where(left_out, 0.0, dual.lower), upper=np.where(left_out, 0.0, dual.upper))
        return solve_dual(
            dual, None, self.tol, stop.nested(MAX_PAIR_STEPS), polish=False, whole_matrix=self._whole_matrix
        )

    @property
    def _whole_matrix(self) -> bool:
        """From a subset few samples ever get a multiplier, so few kernel rows are needed."""
        return self.init != "subset"

    def _convex_step(
        self, problem: Problem, tangent: Dual, point: DualPoint, stop: StoppingRule
    ) -> tuple[DualPoint, bool]:
        """The convex step, as exact as it takes to decrease the objective, and whether it could not.

        Where nothing decreases it, the step still has the multipliers that belong to the present tangents; it is
        returned unless its objective is higher.
        """
        value = stop.trace[-1]["objective"]
        trial, decrease = point, -np.inf
        for tol in self.tol * 0.1 ** np.arange(N_TIGHTER):
            trial = solve_dual(tangent, trial, tol, stop.nested(MAX_PAIR_STEPS), whole_matrix=self._whole_matrix)
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
