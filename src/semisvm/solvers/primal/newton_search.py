"""Searches over labels that solve one squared-hinge problem after another, each from the last point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...balance import labels_in_band
from ...problem import Problem
from ...solution import Certificate, Solution
from ..base import StoppingRule
from ..dual import LabelMoves
from .batch import POLISH, Coroutine
from .newton import HingeCosts, derivatives, minimize
from .operator import Iterate, PrimalOperator
from .preconditioner import HessianPreconditioner

MIN_GAIN = 1e-12  # of the losses of the samples that change: a smaller gain is rounding error


class _Candidate(NamedTuple):
    """A point of the search with its labels and the costs it was solved for."""

    iterate: Iterate
    labels: np.ndarray
    costs: HingeCosts


def _largest(values: np.ndarray, samples: np.ndarray, n: int) -> np.ndarray:
    """The n samples of largest values, all if there are no more."""
    return samples if len(samples) <= n else samples[np.argsort(-values, kind="stable")[:n]]


class NewtonSearch:
    """The state of the search of one problem.

    Parameters
    ----------
    problem : Problem
        In a space of features.
    tol : float
        Violation at which the last solve ends.
    stop : StoppingRule
        What ends the search; a solve is an iteration.
    at_labels : bool
        Whether the objective is that at the labels, or at the better label of each sample.

    Attributes
    ----------
    labels : array of shape (n,)
        The present labels, 0 where there are none yet.
    iterate : Iterate
        The last point.
    searched_cost : array of shape (u,)
        Full costs of the searched samples.
    labeled_costs : HingeCosts
        Costs of the others, zero at the searched samples.
    """

    def __init__(self, problem: Problem, tol: float, stop: StoppingRule, at_labels: bool = False):
        self.problem, self.tol, self.stop = problem, tol, stop
        self.searched = problem.searched
        self.weights = problem.weights_of(self.searched)
        self.searched_cost = problem.cost[self.searched]
        self.labeled_costs = HingeCosts(*(np.where(problem.signs == side, problem.cost, 0.0) for side in (1.0, -1.0)))
        self.at_labels = at_labels and len(self.searched) > 0
        self.moves = LabelMoves(problem)
        self.operator = PrimalOperator(problem)
        self.preconditioner = HessianPreconditioner(self.operator)
        self.labels = problem.signs.copy()
        self.iterate = self.operator.zero()
        self._costs = self.costs(0.0)
        self._logged_labels, self._logged_level = self.labels, 0.0
        self._candidate = _Candidate(self.iterate, self.labels, self._costs)

    def costs(self, share: float, positive: np.ndarray | float = 0.0) -> HingeCosts:
        """Costs with those of searched samples times ``share``, which are positive with the probabilities given."""
        up, down = self.labeled_costs.positive.copy(), self.labeled_costs.negative.copy()
        rest = share * self.searched_cost
        up[self.searched], down[self.searched] = rest * positive, rest * (1.0 - positive)
        return HingeCosts(up, down)

    def label_costs(self, share: float) -> HingeCosts:
        """Costs with those of searched samples times ``share``, at their present labels."""
        return self.costs(share, (self.labels[self.searched] > 0).astype(float))

    def relabel(self, y: np.ndarray) -> None:
        """Give the searched samples labels y; earlier label arrays are not changed."""
        self.labels = self.labels.copy()
        self.labels[self.searched] = y

    def switch(self, max_switches: int) -> bool:
        """Give the searched samples the labels that fit f best and keep the balance; returns whether any changes.

        Labels by the rank of f, of which at most ``max_switches`` change to each side, those farthest on it first.
        Where the weights differ ranks do not show every gain, and the best flip or swap is left to try.
        """
        if not len(self.searched):
            return False
        f, y = self.iterate.f[self.searched], self.labels[self.searched]
        wanted = labels_in_band(f, self.weights, self.problem.balance)
        sides = [np.flatnonzero((wanted == side) & (y != side)) for side in (1.0, -1.0)]
        changed = np.concatenate([_largest(-y[side] * f[side], side, max_switches) for side in sides])
        if not self.moves.equal_weights and not self._decreases(f, y, changed):
            changed = self.moves.best(self.moves.gains(f, y), y, self.moves.band(y))[0]
        if not self._decreases(f, y, changed):
            return False
        y[changed] *= -1.0
        self.relabel(y)
        return True

    def _decreases(self, f: np.ndarray, y: np.ndarray, changed: np.ndarray) -> bool:
        """Whether other labels of some searched samples decrease the losses by more than rounding error."""
        if not len(changed):
            return False
        gain = self.moves.gains(f[changed], y[changed], among=changed)
        loss = self.searched_cost[changed] * np.maximum(1.0 - y[changed] * f[changed], 0.0) ** 2
        return bool(gain.sum() > MIN_GAIN * loss.sum())

    def solve(self, costs: HingeCosts, tol: float, reduction: float = 0.0) -> Coroutine[None]:
        """Minimize at the given costs from the last point, as ``minimize`` does.

        A solve that ends above its goal, and above the tolerance of the search, ends the search.
        """
        self._costs = costs
        yield from self._minimize(tol, reduction)
        if not self.iterate.is_solution and self.iterate.violation > self.tol and not self.stop.time_is_over:
            self.stop.end("stalled")

    def _minimize(self, tol: float, reduction: float = 0.0) -> Coroutine[None]:
        arguments = (self.operator, self._costs, self.iterate, tol, self.stop, self.preconditioner, reduction)
        self.iterate = yield from minimize(*arguments)

    def polish(self) -> Coroutine[None]:
        """The last solve, to the last digits, and the end of the search."""
        yield from self._minimize(POLISH * self.tol)
        self.log(self._logged_level, converged=True)

    def solve_and_polish(self, costs: HingeCosts) -> Coroutine[None]:
        """The last solve at the given costs, and the end of the search."""
        yield from self.solve(costs, self.tol)
        self.log(0.0)
        if self.stop.running:
            yield from self.polish()

    def log(self, level: float, converged: bool = False) -> None:
        """Log a solve and what became of the labels, and keep the best point."""
        value = self.operator.objective(self.iterate, self.labels if self.at_labels else None)
        self._candidate = _Candidate(self.iterate, self.labels, self._costs)
        self.stop.offer(value, self._candidate)
        changed = np.count_nonzero(self._logged_labels[self.searched] != self.labels[self.searched])
        self._logged_labels, self._logged_level = self.labels, level
        self.stop.log_iteration(
            {"objective": value, "level": level, "changed": int(changed), "violation": self.iterate.violation},
            converged,
        )

    def solution(self) -> Solution:
        """The last point if the search has converged, else the best one, recomputed."""
        found = self._candidate
        if self.stop.status not in (None, "converged") and self.stop.best is not None:
            found = self.stop.best[1]

        def gradient(f: np.ndarray) -> np.ndarray:
            return derivatives(f, *found.costs)[0]

        if len(self.searched):
            certificate = Certificate("stationary", self._violation(found), tol=self.tol)
        else:
            certificate = Certificate("kkt", self.operator.violation(found.iterate, gradient), tol=self.tol)
        return self.operator.solution(found.iterate, found.labels, gradient, certificate, self.stop, self.at_labels)

    def _violation(self, found: _Candidate) -> float:
        """How far f is from the best one for the labels, at their full costs, and the labels from the best ones for f.

        The larger of the relative norm of the gradient and the gain of the best change of labels that keeps the
        balance, relative to the objective. The costs that a point was solved for, those of a level or of soft labels,
        play no part.
        """
        f = found.iterate.f
        labels = np.where(found.labels == 0, self.problem.labels_of(f), found.labels)
        costs = self.costs(1.0, (labels[self.searched] > 0).astype(float))
        violation = self.operator.violation(found.iterate, lambda f: derivatives(f, *costs)[0])
        y = labels[self.searched]
        gain = self.moves.best(self.moves.gains(f[self.searched], y), y, self.moves.band(y))[1]
        value = self.operator.objective(found.iterate, labels)
        return max(violation, gain / max(value, np.finfo(float).tiny))
