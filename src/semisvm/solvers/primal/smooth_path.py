"""Following a path of smooth objectives, each minimized from the minimizer of the one before.

All levels are minimized to the same tolerance: where an early one ends decides which local minimum the path leads to.
On dense features in memory a level is one compiled call in one thread, and the problems of a batch run in threads; on
others all problems share the products of the batch engine.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from ..._threads import n_available_threads, run_in_threads
from ...problem import Problem
from ...solution import Certificate, Solution
from ...spaces import Features
from ..base import Callback, StoppingRule
from . import quasi_newton, trust_region
from .batch import BatchSolver, Coroutine, run_batched
from .operator import PrimalOperator
from .smooth_objective import SmoothObjective

POLISH_STEPS = 20


@dataclass(frozen=True)
class SmoothPath(BatchSolver):
    """Steps of L-BFGS (dense features) or Newton's method (sparse ones) at every level; ``max_iter`` limits a level's.

    Subclasses say what the levels are. Problems with nothing to search have no path: they are solved by SMO.
    """

    tol: float = 1e-4
    n_levels: int = 11

    supervised_on_features: ClassVar[bool] = False

    @abstractmethod
    def levels(self, problem: Problem) -> list[tuple[float, SmoothObjective]]:
        """Numbers of the levels in the trace, and their losses; the last are those of the problem, or close to them."""

    def stopping_rule(self, callback: Callback | None) -> StoppingRule:
        """``max_iter`` limits the steps of a level, not the levels."""
        return StoppingRule(max_time=self.max_time, callback=callback)

    def solve_batch(self, problems: Sequence[Problem], callbacks: Sequence[Callback | None]) -> list[Solution]:
        """Solve several problems in one space: dense features in threads, others in one pass over the data.

        In threads each problem has an equal part of the time. Ctrl-C that one of them hears ends the others that run
        after their level, and leaves those that have not begun at w = 0.
        """
        space = problems[0].space
        has_path = any(len(problem.searched) for problem in problems)
        if len(problems) == 1 or not has_path or not isinstance(space, Features) or not space.design.has_rows:
            return super().solve_batch(problems, callbacks)
        limit, n_threads = StoppingRule(max_time=self.max_time), min(n_available_threads(), len(problems))
        solutions: dict[int, Solution] = {}
        interrupted = threading.Event()

        def after_level(callback: Callback | None, row: dict) -> bool | None:
            if interrupted.is_set():
                raise KeyboardInterrupt
            return None if callback is None else callback(row)

        def solve(number: int) -> None:
            if not interrupted.is_set():
                one = replace(self, max_time=limit.time_share((len(problems) - number) / n_threads))
                callback = partial(after_level, callbacks[number])
                solutions[number] = one.solve(problems[number], callback=callback)
                if solutions[number].status == "interrupted":
                    interrupted.set()

        try:
            run_in_threads(solve, range(len(problems)))
        except KeyboardInterrupt:  # in the thread that waits for the others
            interrupted.set()
        return [
            solutions[number] if number in solutions else self._interrupted(problem)
            for number, problem in enumerate(problems)
        ]

    def _interrupted(self, problem: Problem) -> Solution:
        """The solution of a problem that Ctrl-C found before its first level."""
        stop = StoppingRule()
        stop.end("interrupted")
        return run_batched(PrimalOperator(problem).design, [self.coroutine(problem, stop)])[0]

    def coroutine(self, problem: Problem, stop: StoppingRule) -> Coroutine[Solution]:
        """Minimize level after level from w = 0; the end is evaluated with the problem's own objective.

        The certificate is that of the last level, wherever the path ended.
        """
        operator = PrimalOperator(problem)
        levels: list[tuple[float, SmoothObjective]] = []
        iterate, labels = operator.zero(), np.zeros(len(problem.signs))
        with stop:
            levels = self.levels(problem) if stop.running else []
            for number, losses in levels:
                is_last = losses is levels[-1][1]
                arguments = operator, losses, iterate, self.tol, self.max_iter, stop, POLISH_STEPS if is_last else 0
                if operator.design.has_rows:
                    iterate = quasi_newton.minimize(*arguments)
                else:
                    iterate = yield from trust_region.minimize(*arguments)
                solved = iterate.violation <= self.tol
                if is_last and not solved and not stop.time_is_over:
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
