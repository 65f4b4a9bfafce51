"""Following a path of smooth objectives, each minimized from the minimizer of the one before."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...problem import Problem
from ...solution import Certificate, Solution
from ..base import LOOSE, Callback, StoppingRule
from .batch import POLISH, BatchSolver, Coroutine
from .operator import PrimalOperator
from .trust_region import SmoothObjective, minimize

N_LEVELS = 11
POLISH_STEPS = 20


def by_label(labeled: np.ndarray, of_labeled: np.ndarray, of_unlabeled: np.ndarray) -> np.ndarray:
    """One array over all samples from those of the labeled and of the unlabeled ones."""
    out = np.empty(len(labeled))
    out[labeled], out[~labeled] = of_labeled, of_unlabeled
    return out


@dataclass(frozen=True)
class SmoothPath(BatchSolver):
    """Newton steps in a trust region at every level of a path; ``max_iter`` is the largest number of them at a level.

    Subclasses say what the levels are. Problems with nothing to search have no path: they are solved by SMO.
    """

    supervised_on_features: ClassVar[bool] = False

    @abstractmethod
    def levels(self, problem: Problem) -> list[tuple[float, SmoothObjective]]:
        """Numbers of the levels in the trace, and their losses; the last are those of the problem, or close to them."""

    def stopping_rule(self, callback: Callback | None) -> StoppingRule:
        """``max_iter`` limits the Newton steps of a level, not the levels."""
        return StoppingRule(max_time=self.max_time, callback=callback)

    def coroutine(self, problem: Problem, stop: StoppingRule) -> Coroutine[Solution]:
        """Minimize level after level from w = 0; the end is evaluated with the problem's own objective.

        The certificate is that of the last level, wherever the path ended.
        """
        operator = PrimalOperator(problem)
        levels: list[tuple[float, SmoothObjective]] = []
        iterate, labels = operator.zero(), np.zeros(len(problem.signs))
        with stop:
            levels = self.levels(problem)
            for number, losses in levels:
                is_last = losses is levels[-1][1]
                tol = self.tol if is_last else LOOSE * self.tol
                iterate = yield from minimize(operator, losses, iterate, tol, self.max_iter, stop)
                solved = iterate.violation <= tol
                if is_last and solved:
                    iterate = yield from minimize(operator, losses, iterate, POLISH * tol, POLISH_STEPS, stop)
                elif is_last and not stop.time_is_over:
                    stop.end("max_iter")
                old, labels = labels, np.where(iterate.f > 0, 1.0, -1.0)
                row = {
                    "objective": operator.objective(iterate),
                    "level": number,
                    "changed": int(np.count_nonzero(old != labels)),
                    "violation": iterate.violation,
                }
                stop.log_iteration(row, converged=is_last and solved)
                if not stop.running:
                    break
        if not levels:  # Ctrl-C before the first level: w = 0
            none = Certificate("none", np.finfo(float).max)
            return operator.solution(iterate, problem.signs, np.zeros_like, none, stop)
        gradient = levels[-1][1].gradient
        violation = iterate.violation if len(stop.trace) == len(levels) else operator.violation(iterate, gradient)
        certificate = Certificate("stationary", violation, tol=self.tol)
        return operator.solution(iterate, problem.signs, gradient, certificate, stop)
