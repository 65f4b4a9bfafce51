"""Pair switching, the transductive SVM of SVM-light: the worst pair of labels is swapped, over and over.

The unlabeled samples with the highest scores of the supervised SVM get the label +1, as many as the balance asks for.
Their costs increase from 1e-5 of the full cost to the full cost; that of positive labels starts n_+ / n_- times as
high, so costs belong to labels. At each level the two samples of opposite labels whose swap gains most are swapped and
the SVM is trained again from the last point, until no swap gains. With f fixed a swap decreases the losses, with labels
fixed training decreases the objective: at one level it decreases with every swap. The last level has the full cost on
both sides. Joachims asks for two positive slacks with a sum above 2, which is f_- > f_+ inside both margins; any
f_- > f_+ gains, so that is asked here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...balance import Count, Free
from ...losses import Hinge, SquaredHinge, SymmetricHinge, SymmetricSquaredHinge
from ...problem import Problem
from ...solution import Certificate, Solution
from ..base import LOOSE, Accepts, Callback, Solver, StoppingRule
from .fixed_labels import LabelMoves, Trainer, evaluate, evaluate_all_samples, solve_supervised

FIRST_LEVEL, LEVEL_FACTOR = 1e-5, 2.0
MIN_GAIN = 1e-9  # of the costs of the samples that change: a smaller gain is rounding error
N_TIGHTER = 4  # tolerances tried, each a tenth of the one before, before a swap that decreases nothing is undone


@dataclass(frozen=True)
class PairSwitching(Solver):
    """Swaps of the worst pair of labels under increasing costs of the unlabeled samples.

    Parameters
    ----------
    tol : float
        Largest violation of the optimality conditions of the last SVM, in units of f.
    max_iter : int
        Largest number of SVMs trained.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    T. Joachims, "Transductive inference for text classification using support vector machines", ICML, 1999.
    """

    tol: float = 1e-3
    max_iter: int = 100_000

    accepts: ClassVar[Accepts] = Accepts(
        (Hinge, SquaredHinge), (SymmetricHinge, SymmetricSquaredHinge), (Free, Count), space="gram", at_labels=True
    )

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Search from the supervised SVM, or at the full cost from the labels of another solution."""
        stop = StoppingRule(self.max_iter, self.max_time, callback)
        first = start
        if first is None or not len(problem.searched):
            first = solve_supervised(problem, self.tol, stop.time_left)
            if not len(problem.searched):
                return first
            if first.ended_early:
                return evaluate_all_samples(problem, first)
        search = _Search(problem, first, self.tol, stop)
        with stop:
            if start is None:
                search.run_levels()
            else:
                search.run_level(np.ones(2))
        return search.solution()


class _Search:
    """The search of one problem, from the labels of a first solution.

    A level is the array of the shares of the cost that count for positive and for negative labels.
    """

    def __init__(self, problem: Problem, first: Solution, tol: float, stop: StoppingRule):
        self.problem, self.tol, self.stop = problem, tol, stop
        self.moves = LabelMoves(problem)
        self.samples = self.moves.samples
        self.y = problem.signs.copy()
        self.y[self.samples] = self.moves.within_balance(first.labels[self.samples], first.scores[self.samples])
        self.band = self.moves.band(self.y[self.samples])
        self.trainer = Trainer(problem, stop)

    def run_levels(self) -> None:
        """Level after level, the last at the full cost."""
        n_positive = np.count_nonzero(self.y[self.samples] > 0)
        n_negative = len(self.samples) - n_positive
        ratio = n_positive / n_negative if n_positive and n_negative else 1.0
        level = FIRST_LEVEL * np.array([ratio, 1.0])
        while self.stop.running:
            level = np.minimum(level, 1.0)
            self.run_level(level)
            level = LEVEL_FACTOR * level

    def run_level(self, level: np.ndarray) -> None:
        """Swap labels at one level until no swap gains; after the last level the SVM is solved to the last digits."""
        is_last = bool(np.all(level == 1.0))
        tol = self.tol * (1.0 if is_last else LOOSE)
        self._train(tol, level)
        self._log(level, 0)
        while self.stop.running:
            y = self.y[self.samples]
            gain = self.moves.gains(self.trainer.scores()[self.samples], y, *level)
            changed, best_gain = self.moves.best(gain, y, self.band)
            is_gain = best_gain > MIN_GAIN * self.problem.cost[self.samples[changed]].sum()
            if not is_gain or not self._change_labels(changed, tol, level):
                break
            self._log(level, len(changed))
        if is_last and self.stop.running:
            self.trainer.train(self.y, self.problem.cost, self.tol, polish=True)
            self._log(level, 0, converged=True)

    def _change_labels(self, changed: np.ndarray, tol: float, level: np.ndarray) -> bool:
        """Change labels and train, as exactly as it takes to see the objective decrease; undone if it does not.

        Returns whether it decreased.
        """
        before, y, value = self.trainer.copy(), self.y, self.trainer.objective()
        self.y = y.copy()
        self.y[self.samples[changed]] *= -1.0
        decreased = False
        for exact in tol * 0.1 ** np.arange(N_TIGHTER):
            decreased = self._train(exact, level) < value
            if decreased or not self.stop.running:
                break
        if not decreased:
            before.n_pair_steps = self.trainer.n_pair_steps
            self.trainer, self.y = before, y
        return decreased

    def _train(self, tol: float, level: np.ndarray) -> float:
        """Train with the present labels at a level; returns the objective of the level."""
        cost = self.problem.cost.copy()
        cost[self.samples] *= np.where(self.y[self.samples] > 0, *level)
        return self.trainer.train(self.y, cost, tol)

    def _log(self, level: np.ndarray, n_changed: int, converged: bool = False) -> None:
        row = {
            "objective": self.trainer.objective(self.problem.with_labels(self.y)),
            "level_objective": self.trainer.objective(),
            "level": float(level.min()),
            "changed": n_changed,
            "pair_steps": self.trainer.n_pair_steps,
            "violation": self.trainer.point.violation,
        }
        self.stop.log_iteration(row, converged)

    def solution(self) -> Solution:
        """The last SVM, evaluated at the full cost."""
        if not self.trainer.is_trained:
            self.trainer.train(self.y, None, np.inf)
        status = self.stop.status or "converged"
        solution = evaluate(self.problem, self.trainer, self.y, status, self.tol, self.stop.trace)
        if status == "converged":
            return solution
        y = self.y[self.samples]
        left = self.moves.best(self.moves.gains(solution.scores[self.samples], y), y, self.band)[1]
        return replace(solution, certificate=Certificate("monotone", left)) if left > 0 else solution
