"""The concave-convex procedure for hinge machines with a ramp: Collobert, Sinz, Weston and Bottou.

A ramp is a hinge minus a hinge. Each step replaces the subtracted one by its tangent at the present scores, which only
moves boxes of the dual (``dual.bend``), and solves the convex rest with ``smo.solve_dual`` from the last point. The
objective never rises, and once no tangent changes the point is stationary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..balance import Free, Mean
from ..losses import Hinge, Ramp, SquaredHinge, SymmetricHinge, SymmetricRamp
from ..problem import Problem, imbalance, objective_of_scores
from ..solution import Solution
from .dual import Dual, DualPoint, bend, formulate, read, solution_of
from .limits import Limits, deadline
from .smo import solve_dual

STALLED = 1e-10  # relative fall of the objective below which a step has changed nothing
TIGHTER = 4  # how many times the tolerance of a convex step is divided by ten before it counts as stalled
SUBSET_ROWS = 500
SUBSET_SHARE = 0.1


@dataclass(frozen=True)
class CCCP:
    """Concave-convex procedure for ramp and symmetric ramp losses.

    Parameters
    ----------
    init : {"svm", "subset"}
        Start from the hinge machine on all labeled rows or on a random tenth of them (at least ``SUBSET_ROWS``).
    tol : float
        Tolerance of each convex step, in units of f.
    max_iter : int
        Largest number of convex steps.
    max_time : float or None
        Seconds after which the best so far is returned.
    """

    init: str = "svm"
    tol: float = 1e-3
    max_iter: int = 100
    max_time: float | None = None

    losses = (Hinge, SquaredHinge, Ramp)
    unlabeled_losses = (type(None), SymmetricRamp, SymmetricHinge)
    balances = (Free, Mean)
    on_gram = True

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Minimise, from the hinge machine on the labeled rows or from another solution."""
        end = deadline(self.max_time)
        dual = formulate(problem)
        point = self._first(problem, dual, start, end, rng)
        trace: list[dict] = []
        bent, status = None, None
        while status is None:
            trace.append(_row(problem, dual, point, len(trace)))
            if point.status != "converged":
                status = point.status
            elif callback is not None and callback(trace[-1]):
                status = "stopped"
            else:
                old, bent = bent, bend(problem, dual, read(problem, dual, point)[0])
                if old is not None and _same(old, bent):
                    status = "converged"
                elif len(trace) > self.max_iter:
                    status = "max_iter"
                else:
                    point, falls = self._fall(problem, bent, point, trace[-1]["objective"], end)
                    status = None if falls else "converged"
        return solution_of(problem, replace(point, status=status), "stationary", trace, n_iter=len(trace))

    def _first(self, problem: Problem, dual: Dual, start: Solution | None, end: float, rng) -> DualPoint:
        """The point whose scores give the first tangents."""
        if start is not None:
            return solve_dual(
                bend(problem, dual, start.scores), start.multipliers, self.tol, limits=Limits(deadline=end)
            )
        if self.init == "subset":
            dual = _shut(dual, _left_out(problem, rng))
        return solve_dual(dual, None, self.tol, limits=Limits(deadline=end), polish=False, whole=self._whole)

    @property
    def _whole(self) -> bool:
        """From a subset few rows ever get a multiplier, so few kernel rows are needed."""
        return self.init != "subset"

    def _fall(self, problem: Problem, bent: Dual, point: DualPoint, value: float, end: float) -> tuple[DualPoint, bool]:
        """The convex step, as exact as it takes to lower the objective, and whether to go on from there.

        Where nothing lowers it, the step still has the multipliers that belong to the present tangents; it is returned
        unless it lies higher.
        """
        trial, fallen = point, -np.inf
        for tol in self.tol * 0.1 ** np.arange(TIGHTER):
            trial = solve_dual(bent, trial, tol, Limits(deadline=end), whole=self._whole)
            fallen = value - _row(problem, bent, trial, 0)["objective"]
            if trial.status != "converged":
                return (trial if fallen > 0 else replace(point, status=trial.status)), True
            if fallen > STALLED * abs(value):
                return trial, True
        return (trial if fallen >= -STALLED * abs(value) else point), False


def _row(problem: Problem, dual: Dual, point: DualPoint, step: int) -> dict:
    """A row of the trace."""
    f, b, norm2 = read(problem, dual, point)
    return {
        "step": step,
        "objective": objective_of_scores(problem, norm2, f, b),
        "pair_steps": point.n_iter,
        "violation": point.violation,
        "balance": imbalance(problem, f, np.sign(f)),
    }


def _left_out(problem: Problem, rng: np.random.Generator | None) -> np.ndarray:
    """Rows that the subset start does not look at; both classes keep their share."""
    rng = np.random.default_rng(rng)
    out = np.zeros(len(problem.signs), dtype=bool)
    share = max(SUBSET_SHARE, SUBSET_ROWS / max(int(problem.is_labeled.sum()), 1))
    for sign in (-1.0, 1.0):
        rows = rng.permutation(np.flatnonzero(problem.signs == sign))
        out[rows[max(1, int(np.ceil(share * len(rows)))) :]] = True
    return out


def _shut(dual: Dual, rows: np.ndarray) -> Dual:
    """The dual without some rows."""
    return dual._replace(lo=np.where(rows, 0.0, dual.lo), hi=np.where(rows, 0.0, dual.hi))


def _same(old: Dual, new: Dual) -> bool:
    return np.array_equal(old.lo, new.lo) and np.array_equal(old.hi, new.hi)
