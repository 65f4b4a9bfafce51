"""How far the objective at a dual point is from the best one, and solves that go on until that is little.

The tolerance bounds the violation of the optimality conditions in units of f. A sample whose f is wrong by it adds its
cost times it to the objective: where costs are large, or all samples have one label and hardly any loss is left at the
solution, that may be a good part of the objective. The duality gap shows it, and a smaller tolerance makes it smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from ...problem import Problem
from ...solution import Solution
from ..base import StoppingRule
from .dual_problem import Dual, DualPoint, PrimalValues, primal_values, solution_from_dual

MAX_GAP = 1e-4  # of the objective: duality gap of a solution
N_TIGHTER = 6  # tolerances tried, each a tenth of the one before, while the gap is larger

Start: TypeAlias = np.ndarray | DualPoint | None
DualMethod: TypeAlias = Callable[[Dual, Start, float, StoppingRule], DualPoint]


def box_gap(dual: Dual, a: np.ndarray, f: np.ndarray) -> float:
    """A bound on what the dual objective can still increase by: each coordinate as far as it can go with f as it is.

    Without a ridge it is the difference of the primal and the dual objective. A ridge ends a step where its derivative
    is zero.
    """
    kink, slope_above = (dual.upper, dual.slope) if dual.kink is None else (dual.kink, dual.slope_above)
    lower, upper = dual.lower, dual.upper
    if dual.ridge is not None:
        reach = np.divide(np.abs(dual.slope - f), dual.ridge, out=np.full_like(a, np.inf), where=dual.ridge > 0)
        lower, upper = np.maximum(lower, a - reach), np.minimum(upper, a + reach)
        kink = np.minimum(kink, upper)
    up = np.maximum(dual.slope - f, 0.0) * np.maximum(kink - a, 0.0)
    up += np.maximum(slope_above - f, 0.0) * (upper - np.maximum(a, kink))
    down = np.maximum(f - slope_above, 0.0) * np.maximum(a - kink, 0.0)
    down += np.maximum(f - dual.slope, 0.0) * (np.minimum(a, kink) - lower)
    return float((up + down).sum())


def duality_gap(problem: Problem, dual: Dual, point: DualPoint, values: PrimalValues) -> float:
    """What a better solution of a dual can lower the objective by at most; ``values`` are those of the point.

    A mean that is fixed holds exactly if the intercept is free or eliminated, else within the tolerance.
    """
    n = dual.gram.n
    a, f = point.a[:n], values.scores
    gap = box_gap(dual, a, f if dual.ridge is None else f + dual.ridge * a)
    if problem.fixed_mean is not None:
        gap += abs(float(point.a[n]) * (problem.fixed_mean - float(problem.mean_weights @ f)))
    return gap


def solve_within_gap(
    problem: Problem,
    dual: Dual,
    method: DualMethod,
    start: Solution | None,
    tol: float,
    max_iter: int,
    limit: StoppingRule,
) -> Solution:
    """The solution of a supervised problem, by tighter tolerances while the duality gap is above ``MAX_GAP``.

    Parameters
    ----------
    problem, dual : Problem, Dual
        The problem and its dual.
    method : callable
        Solves the dual from a start, to a tolerance, within a stopping rule.
    start : Solution or None
        Where to start: at its multipliers.
    tol : float
        Largest violation of the optimality conditions, in units of f.
    max_iter : int
        Largest number of iterations at all tolerances together.
    limit : StoppingRule
        Its deadline and its callback are those of every solve.
    """
    point: DualPoint | None = None
    given, n_iter = None if start is None else start.multipliers, 0
    for tighter in tol * 0.1 ** np.arange(N_TIGHTER):
        stop = StoppingRule(max_iter - n_iter, limit.time_left, limit.callback)
        trial = method(dual, given if point is None else point, float(tighter), stop)
        n_iter += trial.n_iter
        status = "converged" if point is not None and trial.status == "stalled" else trial.status
        point = replace(trial, n_iter=n_iter, status=status)
        values = primal_values(problem, dual, point)
        if (
            status != "converged"
            or duality_gap(problem, dual, point, values) <= MAX_GAP * values.objective(problem)
            or not tighter
        ):
            break
    assert point is not None
    return solution_from_dual(problem, point, "kkt", tol)
