"""Safe least squares: never worse than the supervised model, whatever the labels of the unlabeled samples are.

For soft labels q in [-1, 1] of the unlabeled samples the objective J(v; q) of v = (w, b) is quadratic, with a Hessian A
that does not depend on q, and smallest at v(q). The projection of the supervised solution v_s onto the convex set of
all v(q), in the norm of A, is closer than v_s to every v(q), that of the true labels included; and J(v; q) - J(v(q); q)
is half the squared distance, so that the objective with the true labels does not increase. No balance is taken: the
guarantee is over all labels. The projection is a quadratic program over a box:

    min over q of J(v_s; q) - 1/2 [y; q]'S[y; q]  =  1/2 q'(c - S_UU)q - q'(c f_s + S_UL y) + constant
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...losses import Squared, SymmetricSquared
from ...problem import Problem, objective
from ...solution import Certificate, Solution
from ..base import Accepts, Callback, Solver, StoppingRule
from .box_qp import solve_box_qp
from .system import check_memory, solution_from_labels, solve_labeled, system_in_time

GRADIENT_TOL = 1e-8  # of the largest entry of the linear term: projected gradient of a converged solution


@dataclass(frozen=True)
class SafeProjection(Solver):
    """The projection of the supervised solution onto the solutions of all soft labels.

    Parameters
    ----------
    max_time : float or None
        Seconds after which the projection so far is returned; the supervised model if there is none.

    References
    ----------
    J. H. Krijthe and M. Loog, "Projected estimators for robust semi-supervised classification", Machine Learning 106,
    2017. https://doi.org/10.1007/s10994-017-5626-8
    """

    accepts: ClassVar[Accepts] = Accepts((Squared,), (SymmetricSquared,))

    def needs_samples(self) -> str:
        """The matrix of its program."""
        return "the safe projection (safe=True)"

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Project."""
        stop = StoppingRule(max_time=self.max_time)
        first = solve_labeled(problem.labeled_only(), callback)
        if not len(problem.searched):
            return first
        system = None if first.ended_early else system_in_time(problem, stop, entries=True)
        if system is None:
            value = objective(problem, first.coef, first.intercept)
            status = stop.status or first.status
            return replace(first, objective=value, certificate=Certificate("none", 0.0), status=status, trace=[])
        form, searched, labeled = system.form, system.searched, system.labeled
        check_memory(len(searched), itemsize=8)
        f, cost = first.scores[problem.searched], form.cost[searched]
        y = problem.signs[system.samples].copy()
        P = np.diag(cost) - form.block(searched)
        P = 0.5 * (P + P.T)
        P[np.diag_indices(len(searched))] += 1e-15 * len(searched) * cost  # keeps P semidefinite despite rounding
        linear_term = cost * f + form.block(searched, labeled) @ y[labeled]
        y[searched] = q = solve_box_qp(P, -linear_term, f, stop=stop)
        violation = np.abs(_projected_gradient(q, P @ q - linear_term)).max(initial=0.0)
        tol = GRADIENT_TOL * float(np.abs(linear_term).max(initial=0.0))
        if violation > tol and stop.time_is_over:
            stop.end("max_time")
        certificate = Certificate("stationary", float(violation), tol=tol)
        solution = solution_from_labels(problem, system, y, soft=True)
        return replace(solution, certificate=certificate, status=stop.status or "converged")


def _projected_gradient(q: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The gradient without what points out of the box."""
    at_bounds = np.where(q >= 1.0, np.maximum(gradient, 0.0), gradient)
    return np.where(q <= -1.0, np.minimum(gradient, 0.0), at_bounds)
