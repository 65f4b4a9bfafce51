"""What a solver returns: where it stopped, why, and what it can prove about it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

ROUNDING = 1e-6  # of the objective: a bound so far above it shows that the arithmetic was too coarse
STATUSES = ("converged", "stalled", "max_iter", "max_time", "stopped", "interrupted")


@dataclass(frozen=True)
class Certificate:
    """What is known about a solution.

    Attributes
    ----------
    kind : {"kkt", "gap", "stationary", "no_flip", "monotone", "none"}
        "kkt": a convex problem, ``value`` is the largest violation of the optimality conditions. "gap": the objective
        is bounded from below. "stationary": ``value`` is the violation of the optimality conditions of a problem that
        is not convex. "no_flip": no allowed change of a label improves the objective. "monotone": the objective
        decreased at every step. "none": nothing is proved.
    value : float
        The violation, gap or possible improvement that remains.
    lower_bound, gap : float or None
        A lower bound on the best objective and the distance to it, where there is one.
    tol : float or None
        Largest ``value`` of a converged solution; None where the solver promises none.
    """

    kind: str
    value: float
    lower_bound: float | None = None
    gap: float | None = None
    tol: float | None = None

    @property
    def within_tol(self) -> bool:
        """Whether ``value`` is at most ``tol``."""
        return self.tol is None or self.value <= self.tol


def gap_certificate(objective: float, lower_bound: float, tol: float | None = None) -> Certificate:
    """The certificate of an objective with a lower bound on the best one."""
    gap = max(objective - lower_bound, 0.0)
    return Certificate("gap", gap, lower_bound, gap, tol)


@dataclass(frozen=True)
class Solution:
    """A point of a ``Problem``.

    A status never says more than the certificate: "converged" becomes "stalled" where the certificate is above its
    tolerance, and where rounding has brought a lower bound above the objective.

    Attributes
    ----------
    coef, intercept : array, float
        f, in the coordinates of the problem's space.
    scores : array of shape (n,)
        f at the training samples.
    labels : array of shape (n,)
        The signs of the problem, with those of unlabeled samples filled in.
    objective : float
        As recomputed by ``problem.objective``.
    certificate : Certificate
        What is proved.
    status : {"converged", "stalled", "max_iter", "max_time", "stopped", "interrupted"}
        Why the solver returned. "stalled": no further progress was possible; "stopped": a callback asked for it.
    n_iter : int
        Iterations of the outermost loop, the first solve included.
    multipliers : array of shape (n,)
        The samples' own dual variables, without what a mean balance spreads over them.
    dual : array of shape (n,) or None
        The same with it: w = sum of dual_i phi(x_i).
    trace : list of dict
        One row per outer iteration.
    details : dict
        Numbers that only some methods have.
    """

    coef: np.ndarray
    intercept: float
    scores: np.ndarray
    labels: np.ndarray
    objective: float
    certificate: Certificate
    status: str
    n_iter: int
    multipliers: np.ndarray
    dual: np.ndarray | None = None
    trace: list[dict[str, Any]] = field(default_factory=list)
    details: dict[str, float] = field(default_factory=dict)

    @property
    def ended_early(self) -> bool:
        """Whether a limit, a callback or Ctrl-C ended the iterations."""
        return self.status not in ("converged", "stalled")

    def __post_init__(self) -> None:
        certificate, bound = self.certificate, self.certificate.lower_bound
        excess = 0.0 if bound is None else bound - self.objective
        if excess > 0.0:  # by rounding error, which is as large below the objective
            value = excess if certificate.kind == "gap" else certificate.value
            certificate = replace(certificate, value=value, lower_bound=self.objective - excess, gap=excess)
            object.__setattr__(self, "certificate", certificate)
        is_exact = excess <= ROUNDING * abs(self.objective)
        if self.status == "converged" and not (is_exact and certificate.within_tol):
            object.__setattr__(self, "status", "stalled")


def with_gap(solution: Solution, lower_bound: float, tol: float | None = None) -> Solution:
    """The solution with the gap to a lower bound on the best objective as its certificate.

    A solution that did not end early has converged if the gap is at most ``tol``, or whatever it is if ``tol`` is None.
    """
    certificate = gap_certificate(solution.objective, min(lower_bound, solution.objective), tol)
    status = solution.status if solution.ended_early else "converged"
    return replace(solution, certificate=certificate, status=status)


def without_bound(solution: Solution) -> Solution:
    """The solution without what only a convex problem or a lower bound proves."""
    certificate = solution.certificate
    kind = {"kkt": "stationary", "gap": "none"}.get(certificate.kind, certificate.kind)
    tol = None if kind == "none" else certificate.tol
    return replace(solution, certificate=replace(certificate, kind=kind, lower_bound=None, gap=None, tol=tol))
