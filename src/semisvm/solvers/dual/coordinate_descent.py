"""Coordinate descent on the dual of models with a hinge, for samples with features.

SMO moves pairs of multipliers because a free intercept fixes their sum. Where the intercept is eliminated, or held
between two updates (``eliminated_intercept``), only the bounds are left, and multipliers are moved one at a time on w
itself, without kernel values (``coordinate_steps``). Order of calls in ``descend``: project the start onto the bounds;
sweeps until one over all coordinates finds no violation above tol; compute w, f and the violation anew; update a free
intercept; more sweeps if the violation is above tol.

Where coordinates depend on each other much, as with a large C on few features, steps are short and there are many:
after ``MAX_SWEEPS`` SMO goes on from the point reached, with steps along all free coordinates at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...problem import Problem
from ..base import StoppingRule
from .coordinate_steps import sweep
from .dual_problem import Dual, DualPoint
from .duality_gap import Start
from .eliminated_intercept import EliminatedIntercept
from .iterate import sum_to_zero
from .on_features import FeatureSolver, go_on_by_pairs
from .stagnation import Stagnation

LOOSE = 0.1  # tolerance of the first sweeps where a free intercept is not known yet
MAX_SWEEPS = 1000  # over all coordinates that can move, or as many looks at fewer of them, before SMO goes on
PERIOD = 20_000_000  # multiplications between two looks at the limits


def descend(
    samples: EliminatedIntercept, dual: Dual, start: np.ndarray | DualPoint | None, tol: float, stop: StoppingRule
) -> DualPoint:
    """Solve the dual of a problem in a space of features.

    Parameters
    ----------
    samples : EliminatedIntercept
        The samples of the problem.
    dual : Dual
        Its bounds and slopes, as ``build_box_dual`` makes them.
    start : array of shape (n,), or DualPoint, or None
        Where to start: any multipliers, or zeros.
    tol : float
        Largest violation of the optimality conditions at a solution, in units of f.
    stop : StoppingRule
        What ends the steps early; not used before.
    """
    n = dual.gram.n
    given = np.zeros(n) if start is None else start.a if isinstance(start, DualPoint) else start
    a = np.clip(given[:n], dual.lower, dual.upper).astype(np.float64)
    kink, above = (dual.upper, dual.slope) if dual.kink is None else (dual.kink, dual.slope_above)
    pieces = (dual.lower, kink, dual.upper, dual.slope, above)
    ridge = np.zeros(n) if dual.ridge is None else dual.ridge
    f = np.zeros(n)
    offset = samples.offset.copy()
    state = (samples.rows, offset, ridge, pieces, a, np.zeros(samples.size), f, samples.diagonal)
    n_left = MAX_SWEEPS * max(int((dual.lower < dual.upper).sum()), 1)
    period, stagnation = max(n, PERIOD * n // max(samples.n_entries, 1)), Stagnation()
    violation = np.inf
    b, goal = 0.0, max(LOOSE, tol) if samples.penalty else tol
    with stop:
        while stop.running and n_left > 0:
            before, limits = a.copy(), (float(stop.max_iter - stop.n_iter), min(period, n_left))
            violation, n_sweeps, n_seen = sweep(*state, goal, *limits)
            n_left -= n_seen
            stop.count(n_sweeps, {"sweeps": stop.n_iter + n_sweeps, "violation": violation})
            if violation <= goal and samples.penalty:
                change = samples.penalty * float(a.sum())
                b, goal, violation = b + change, max(0.1 * goal, 0.5 * tol), np.inf
                offset += change
                if abs(change) <= 0.5 * tol:
                    a[:] = sum_to_zero(a, dual.lower, dual.upper)
                    violation, _, _ = sweep(*state, tol, 0.0, 0)
            if violation <= tol:
                stop.status = "converged"  # whatever limit was reached with the last sweep
            elif stagnation.is_lost(before, a, violation, samples.diagonal):
                stop.end("stalled")
        if stop.running:
            point = samples.dual_point(a, f, violation, stop.n_iter, "", b)
            return go_on_by_pairs(samples.problem, dual, point, tol, stop)
    if samples.penalty and stop.status != "converged":
        a[:] = sum_to_zero(a, dual.lower, dual.upper)
    if stop.interrupted or samples.penalty:
        violation, _, _ = sweep(*state, tol, 0.0, 0)  # what was computed last may not be complete
    return samples.dual_point(a, f, violation, stop.n_iter, str(stop.status), b)


@dataclass(frozen=True)
class CoordinateDescent(FeatureSolver):
    """Dual coordinate descent for a supervised problem with hinge or squared hinge loss.

    Kernels without features are solved by SMO.

    Parameters
    ----------
    tol : float
        Largest violation of the optimality conditions, in units of f.
    max_iter : int
        Largest number of sweeps over the samples; behind a kernel, of as many pair steps as there are samples.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A dual coordinate descent method for
    large-scale linear SVM", ICML, 2008. https://doi.org/10.1145/1390156.1390208
    """

    def solve_box_dual(self, problem: Problem, dual: Dual, start: Start, stop: StoppingRule) -> DualPoint:
        """Solve the dual by ``descend``."""
        return descend(EliminatedIntercept(problem), dual, start, self.tol, stop)
