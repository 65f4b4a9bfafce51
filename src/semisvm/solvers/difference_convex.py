"""TLS-SVM by difference-convex steps (Shim and Seok): fit, take the signs, fit again.

The symmetric squared loss 1/2 (1 - |f|)^2 is convex minus |f|; its tangent at the present scores turns a step into
least squares with the labels sign(f). Each step lowers the objective, and once no sign changes the point is stationary.
With a balance the labels are the best ones that keep it: the highest scores, as many as it asks for.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from ..balance import Count, Free
from ..losses import Squared, SymmetricSquared
from ..problem import Problem
from ..solution import Certificate, Solution
from .label_search import EVEN, labels_by_score, limits_of, weights_of
from .least_squares import fitted, machine, system_of
from .limits import deadline


@dataclass(frozen=True)
class DifferenceConvex:
    """Labels by the sign of f, f by the labels, until they agree.

    Parameters
    ----------
    max_iter : int
        Largest number of steps.
    max_time : float or None
        Seconds after which the best so far is returned.
    """

    max_iter: int = 1000
    max_time: float | None = None

    losses = (Squared,)
    unlabeled_losses = (type(None), SymmetricSquared)
    balances = (Free, Count)

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Step from the supervised machine or from another solution."""
        end = deadline(self.max_time)
        if problem.unlabeled is None or not len(system_of(problem).free):
            return fitted(problem.alone(), callback)
        first = start if start is not None else fitted(problem.alone())
        system = system_of(problem)
        form, free = system.form, system.free
        weight = weights_of(problem, system)
        y = problem.signs[system.rows].copy()
        y[free] = labels_by_score(first.scores[system.rows[free]], weight, problem.balance)
        trace: list[dict] = []
        status, changed = None, len(free)
        f, differ = y[free], np.zeros(len(free), dtype=bool)
        try:
            while status is None:
                alpha = form.times(y)
                trace.append({"step": len(trace), "objective": form.value(y, alpha), "changed": changed})
                f = form.scores(y, alpha)[free]
                new = _nearest(f, y[free], weight, problem.balance)
                if problem.cost[system.rows[free]] @ ((new - y[free]) * f) <= 0:
                    new = y[free]  # weights that do not add up may leave nothing better within the balance
                differ = new != y[free]
                changed = int(np.count_nonzero(differ))
                stopped = callback is not None and callback(trace[-1])
                if not changed:
                    status = "converged"
                elif stopped:
                    status = "stopped"
                elif len(trace) >= self.max_iter:
                    status = "max_iter"
                elif time.perf_counter() > end:
                    status = "max_time"
                else:
                    y[free] = new
        except KeyboardInterrupt:
            status = "interrupted"
        solution = machine(problem, system, y, status=status, n_iter=len(trace), trace=trace)
        solution.certificate = Certificate("stationary", float(np.abs(f[differ]).max(initial=0.0)))
        return solution


def _nearest(f: np.ndarray, y: np.ndarray, weight: np.ndarray, balance: tuple) -> np.ndarray:
    """The labels closest to f that keep the balance; a score of zero keeps its label."""
    new = np.where(f > 0, 1.0, np.where(f < 0, -1.0, y))
    low, high = limits_of(balance, weight, y)
    positive = weight @ (new > 0)
    slack = EVEN * weight.sum()
    if low <= positive <= high:
        return new
    if positive > high:
        rows = np.argsort(f, kind="stable")
        rows = rows[new[rows] > 0]
        gone = np.searchsorted(np.cumsum(weight[rows]), positive - high - slack) + 1
        new[rows[:gone]] = -1.0
    else:
        rows = np.argsort(-f, kind="stable")
        rows = rows[new[rows] < 0]
        come = np.searchsorted(np.cumsum(weight[rows]), low - positive - slack) + 1
        new[rows[:come]] = 1.0
    return new if low <= weight @ (new > 0) <= high else y
