"""Multiple switching for tables larger than memory: a few passes over all rows, and no number per row.

minimize over w, b and the labels y_j of the unlabeled samples
1/2 ||w||^2 [+ 1/2 b^2]  +  sum over labeled i of c_i (1 - y_i f_i)_+^2  +  c sum over unlabeled j of (1 - y_j f_j)_+^2

with a number of positive labels y_j that the balance allows. At given w and b the best labels are y = sign(f - tau)
(``threshold_search``), so that w and b alone are left: each pass takes the best labels, the labels of ``MultiSwitch``
with unlimited switches. Labels change along a step, which takes curvature away: for many samples their change is
smooth, and the Hessian is that of fixed labels less

c |jump| p Cov(x | f = tau),      jump = -2 (1 - tau)_+ - 2 (1 + tau)_+,

p being the density of the scores at tau (the second moment about zero if the number of positive labels is not at an end
of what is allowed). A step minimizes this model in a trust region; where it is so short that hardly a label changes,
that of fixed labels.
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
from .step_models import StepModels
from .threshold_objective import OutOfCoreProblem, Passes, Point, ThresholdObjective

POLISH, MAX_LAST = 1e-2, 5  # times tol: where the last steps end; how many there are
AT_ROUNDING = 1e-14  # of the objective: a smaller decrease is lost in it
FIRST_RADIUS, RADIUS_FACTOR = 0.3, 2.0  # times the norm of theta; of the radius after a good step that is as long
MAX_LAST_PASSES = 3


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
        with single_blas_thread:
            with stop:
                search = _Search(objective, self.tol, stop, objective.first(begin.coef, begin.intercept, begin.tau))
                while stop.running:
                    search.advance()
            if stop.best is None:  # Ctrl-C in the first pass
                point = objective.first(begin.coef, begin.intercept, begin.tau)
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


class _Search:
    """The steps from point to point.

    Parameters
    ----------
    objective : ThresholdObjective
        What is minimized.
    tol : float
        Root of the predicted decrease at which the last steps begin.
    stop : StoppingRule
        What ends the search; each point that is tried is an iteration.
    first : Point
        Where to start.
    """

    def __init__(self, objective: ThresholdObjective, tol: float, stop: StoppingRule, first: Point):
        self.objective, self.tol, self.stop = objective, tol, stop
        self.n_last = 0
        self._move_to(first)
        self.radius = (
            FIRST_RADIUS * np.sqrt(float(first.theta @ first.hessian @ first.theta)) + self.models.newton_length
        )
        self._log(first)

    def advance(self) -> None:
        """Try a step."""
        now, step = self.point, self.models.step(self.radius)
        then = self.objective.after(now, step.change)
        decrease = now.value - then.value
        ratio = decrease / step.predicted if step.predicted > 0.0 else 0.0
        if ratio < 0.25:
            self.radius = step.length * _line_minimum(now, then, step.change)
        elif ratio > 0.75 and step.length > 0.99 * self.radius:
            self.radius = RADIUS_FACTOR * step.length
        at_rounding = step.predicted <= AT_ROUNDING * now.value  # the gradient decides
        if (ratio > 1e-4 and decrease > 0.0) or (at_rounding and then.violation < now.violation):
            self._move_to(then)
        self._log(then, at_rounding)

    def _move_to(self, point: Point) -> None:
        self.point = point
        self.models = StepModels.at(point, self.objective.problem.unlabeled_cost)
        self.stop.offer(-self.stop.n_iter, point)  # the last one that was accepted

    def _log(self, tried: Point, at_rounding: bool = False) -> None:
        """Log a point that was tried and see whether the search ends."""
        predicted = max(self.models.decrease, self.models.step(self.radius).predicted)
        violation = float(np.sqrt(predicted / self.point.value)) if self.point.value > 0.0 else 0.0
        self.n_last += violation <= self.tol
        converged = violation <= POLISH * self.tol or self.n_last > MAX_LAST or (at_rounding and self.n_last > 0)
        self.stop.log_iteration(
            {
                "objective": self.point.value,
                "tried": tried.value,
                "violation": violation,
                "radius": self.radius,
                "tau": self.point.labels.tau,
                "n_passes": self.objective.n_passes,
            },
            converged,
        )


def _line_minimum(now: Point, then: Point, step: np.ndarray) -> float:
    """Where the cubic through values and slopes at both ends of a step is least, as a part of the step, 0.1 to 0.5."""
    first, last = float(now.gradient @ step), float(then.gradient @ step)
    middle = first + last + 3.0 * (now.value - then.value)
    root = np.sqrt(max(middle**2 - first * last, 0.0))
    denominator = last - first + 2.0 * root
    return float(np.clip(1.0 - (last + root - middle) / denominator, 0.1, 0.5)) if denominator > 0.0 else 0.1
