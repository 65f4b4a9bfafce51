"""Following a path of smooth objectives, each minimized from the minimizer of the one before."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ...problem import Problem, objective, objective_of_scores
from ...solution import Certificate, Solution
from ..base import LOOSE, Callback, StoppingRule
from ..dual import SMO
from .batch import BatchSolver, Coroutine
from .operator import Iterate, PrimalOperator
from .trust_region import SmoothObjective, minimize

N_LEVELS = 11
POLISH, POLISH_STEPS = 1e-7, 20  # the last solve goes on to this times tol, since the last digits cost Newton little


class Level(NamedTuple):
    """An objective of the path, and the number that the trace calls the level."""

    number: float
    objective: SmoothObjective


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
    def levels(self, problem: Problem) -> list[Level]:
        """The levels of a problem; the last one is the problem itself, or close to it."""

    def stopping_rule(self, callback: Callback | None) -> StoppingRule:
        """``max_iter`` limits the Newton steps of a level, not the levels."""
        return StoppingRule(max_time=self.max_time, callback=callback)

    def solve_supervised(self, problem: Problem, callback: Callback | None) -> Solution:
        """The SVM of the labeled samples."""
        return SMO(self.tol, max_time=self.max_time).solve(problem.labeled_only(), callback=callback)

    def coroutine(self, problem: Problem, stop: StoppingRule) -> Coroutine[Solution]:
        """Minimize level after level from w = 0; the end is evaluated with the problem's own objective."""
        operator = PrimalOperator(problem)
        levels = self.levels(problem)
        iterate, labels = operator.zero(), np.zeros(len(problem.signs))
        with stop:
            for level in levels:
                is_last = level is levels[-1]
                tol = self.tol if is_last else LOOSE * self.tol
                iterate = yield from minimize(operator, level.objective, iterate, tol, self.max_iter, stop)
                solved = iterate.violation <= tol
                if is_last and solved:
                    goal = POLISH * tol
                    iterate = yield from minimize(operator, level.objective, iterate, goal, POLISH_STEPS, stop)
                if is_last and not solved and not stop.time_is_over:
                    stop.end("max_iter")
                old, labels = labels, np.where(iterate.f > 0, 1.0, -1.0)
                stop.log_iteration(_trace_row(problem, operator, iterate, level, old, labels), is_last and solved)
                if not stop.running:
                    break
        return _solution(problem, operator, iterate, levels[-1].objective, self.tol, stop)


def _trace_row(
    problem: Problem, operator: PrimalOperator, iterate: Iterate, level: Level, old: np.ndarray, labels: np.ndarray
) -> dict[str, float]:
    w, b = operator.split(iterate.theta)
    return {
        "objective": objective_of_scores(problem, float(w @ w), iterate.f, b),
        "level": level.number,
        "changed": int(np.count_nonzero(old != labels)),
        "violation": iterate.violation,
    }


def _solution(
    problem: Problem,
    operator: PrimalOperator,
    iterate: Iterate,
    last: SmoothObjective,
    tol: float,
    stop: StoppingRule,
) -> Solution:
    w, b = operator.split(iterate.theta)
    f = problem.space.scores(w, b)
    labels = np.where(problem.is_labeled, problem.signs, np.where(f > 0, 1.0, -1.0))
    multipliers = -last.gradient(f)
    certificate = Certificate("none", np.finfo(float).max)
    if np.isfinite(iterate.violation):
        certificate = Certificate("stationary", iterate.violation, tol=tol)
    return Solution(
        w,
        b,
        f,
        labels,
        objective(problem, w, b),
        certificate,
        stop.status or "converged",
        max(len(stop.trace), 1),
        multipliers,
        operator.dual(problem, multipliers, b),
        stop.trace,
    )
