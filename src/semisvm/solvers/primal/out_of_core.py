"""Multiple switching for tables larger than memory: a few passes over all rows, and no number per row.

minimize over w, b and the labels y_j of the unlabeled samples
1/2 ||w||^2 [+ 1/2 b^2]  +  sum over labeled i of c_i (1 - y_i f_i)_+^2  +  c sum over unlabeled j of (1 - y_j f_j)_+^2

with a number of positive labels y_j that the balance allows. The best labels for w and b are a threshold of the scores
(``threshold_search``), so that w and b alone are left. Every pass takes the best labels, as ``MultiSwitch`` would with
unlimited switches, and returns the derivatives of the objective for the next step (``threshold_newton``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..._threads import single_blas_thread
from ...losses import SquaredHinge
from ...problem import Problem
from ...solution import Certificate
from ...spaces import Features
from ..base import Callback, StoppingRule
from .finite_newton import FiniteNewton
from .threshold_newton import FIRST_WIDTH, ThresholdNewton
from .threshold_objective import OutOfCoreProblem, Passes, Point, ThresholdObjective

MAX_LAST_PASSES = 3  # that look for the exact threshold at the last point


class Start(NamedTuple):
    """Where to start: w, b, and the scores above which samples are positive."""

    coef: np.ndarray
    intercept: float
    tau: float = 0.0


@dataclass(frozen=True)
class OutOfCoreSolution:
    """A point of an ``OutOfCoreProblem``.

    Attributes
    ----------
    coef, intercept : array of shape (d,), float
        w and b.
    tau : float
        Unlabeled samples with f > tau are positive.
    objective : float
        At these labels, as recomputed in the last pass.
    certificate : Certificate
        "stationary": the relative norm of the gradient. No change of labels that keeps the balance is a gain.
    status : str
        Why the solver returned, as in ``Solution``.
    n_iter, n_passes : int
        Points that were tried, and passes over the rows.
    share : float
        Of positive labels among the unlabeled samples.
    n_undecided : int
        Samples with scores so close to tau that labels by f > tau may not be those of the objective: it counts the
        positive labels that the balance asks for, which equal scores share.
    trace : list of dict
        A row for each point that was tried.
    """

    coef: np.ndarray
    intercept: float
    tau: float
    objective: float
    certificate: Certificate
    status: str
    n_iter: int
    n_passes: int
    share: float
    n_undecided: int = 0
    trace: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.status == "converged" and not self.certificate.within_tol:
            object.__setattr__(self, "status", "stalled")


@dataclass(frozen=True, kw_only=True)
class OutOfCoreSwitch:
    """Multiple switching at the full cost in few passes over a table.

    Parameters
    ----------
    tol : float
        Root of the decrease of the objective that a Newton step predicts at which the search ends, relative to the
        objective; a few more steps go on to the last digits.
    max_iter : int
        Largest number of points that are tried; each takes one pass over the rows, rarely two.
    max_time : float or None
        Seconds after which the best point so far is returned. A pass that has begun is ended, and a last one made.

    References
    ----------
    V. Sindhwani and S. S. Keerthi, "Large scale semi-supervised linear SVMs", SIGIR, 2006.
    https://doi.org/10.1145/1148170.1148253
    """

    tol: float = 1e-3
    max_iter: int = 200
    max_time: float | None = None

    def solve(
        self,
        passes: Passes,
        problem: OutOfCoreProblem,
        start: Start | OutOfCoreSolution | None = None,
        callback: Callback | None = None,
    ) -> OutOfCoreSolution:
        """Solve a problem; all that is done follows from the arguments and the sums that ``passes`` returns.

        Parameters
        ----------
        passes : Passes
            The table.
        problem : OutOfCoreProblem
            Labeled samples, costs and balance.
        start : Start or OutOfCoreSolution, optional
            Where to start; by default at the supervised solution.
        callback : callable, optional
            Sees every row of the trace and may return True to stop.
        """
        stop = StoppingRule(self.max_iter, self.max_time, callback)
        objective = ThresholdObjective(passes, problem)
        begin = start or _supervised(problem)
        theta = np.append(begin.coef, begin.intercept)[: objective.size].astype(np.float64)
        with single_blas_thread:
            with stop:
                search = ThresholdNewton(objective, self.tol, stop, theta, begin.tau)
                while stop.running:
                    search.advance()
            if stop.best is None:  # Ctrl-C in the first pass
                point = objective.at(theta, begin.tau, FIRST_WIDTH, is_soft=False)
            elif stop.status == "converged":
                point = objective.again(search.point)
            else:
                point = objective.again(stop.best[1])
            for _ in range(MAX_LAST_PASSES):
                if not point.is_clean:
                    point = objective.again(point)
        return self._solution(objective, point, stop)

    def _solution(self, objective: ThresholdObjective, point: Point, stop: StoppingRule) -> OutOfCoreSolution:
        w, b = objective.split(point.theta)
        return OutOfCoreSolution(
            w, b, point.labels.tau, point.value, Certificate("stationary", point.violation, tol=self.tol),
            stop.status or "stalled", stop.n_iter, objective.n_passes,
            point.labels.n_positive / max(objective.n_unlabeled, 1), point.labels.n_undecided, stop.trace,
        )  # fmt: skip


def _supervised(problem: OutOfCoreProblem) -> Start:
    """The solution without unlabeled samples."""
    labeled = Problem(Features(problem.X), problem.signs, problem.cost, SquaredHinge(), intercept=problem.intercept)
    solution = FiniteNewton().solve(labeled)
    return Start(solution.coef, solution.intercept)
