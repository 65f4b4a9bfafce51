"""Deterministic annealing: soft labels that harden as a temperature decreases.

An unlabeled sample is positive with probability p and pays p (1 - f)_+^2 + (1 - p)(1 + f)_+^2 - T times its entropy.
With f fixed the best p is that of ``soft_labels``; with p fixed, f is a squared-hinge problem. Both are repeated until
p does not change, then T is divided by 1.5, until all labels are certain; where the share asks for a number of positive
samples that is not whole one of them stays between the two. The labels of the lowest objective on the way are then
fixed, and changed as long as that gains.

The alternation converges linearly, and is extrapolated (see ``extrapolation``). Its solves reduce the root of the
predicted decrease to ``REDUCTION`` of what it was, or to ``tol``, and the path that is followed depends on it: another
``tol`` may end at another stationary point. What is certified is the end, not the path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...balance import Count, Free, labels_by_sign
from ...losses import SquaredHinge, SymmetricSquaredHinge
from ...problem import Problem
from ...solution import Solution
from ..base import Accepts, StoppingRule
from .batch import BatchSolver, Coroutine
from .extrapolation import Extrapolation
from .newton_search import NewtonSearch
from .soft_labels import divergence, entropy

REDUCTION = 0.1  # of the root of the predicted decrease, by a solve on the way
FIRST_TEMPERATURE, COOLING, N_TEMPERATURES = 10.0, 1.5, 30
UNCHANGED = 1e-6  # mean divergence from the last p at which p counts as unchanged
CERTAIN = 1e-6  # mean entropy, in bits, at which all labels but one count as certain


@dataclass(frozen=True)
class Annealing(BatchSolver):
    """Soft labels under a decreasing temperature.

    Parameters
    ----------
    tol : float
        Root of the decrease of the objective that a Newton step predicts at which a solve ends, relative to the
        objective.
    max_iter : int
        Largest number of solves.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    V. Sindhwani, S. S. Keerthi and O. Chapelle, "Deterministic annealing for semi-supervised kernel machines", ICML,
    2006. https://doi.org/10.1145/1143844.1143950
    """

    accepts: ClassVar[Accepts] = Accepts(
        (SquaredHinge,), (SymmetricSquaredHinge,), (Free, Count), space="features", batch=True
    )

    def coroutine(self, problem: Problem, stop: StoppingRule) -> Coroutine[Solution]:
        """Temperature after temperature, then solves at fixed labels: the best found, changed while a change gains."""
        search = NewtonSearch(problem, self.tol, stop)
        with stop:
            if len(search.searched):
                yield from self._cool(search)
            while stop.running:
                yield from search.solve(search.label_costs(1.0), self.tol)
                switched = search.switch(len(search.searched))  # the slack of the balance is used from here on
                search.log(0.0)
                if stop.running and not switched:
                    yield from search.polish()
        return search.solution()

    def _cool(self, search: NewtonSearch) -> Coroutine[None]:
        """Soft labels and solves in turn; leaves the labels of the lowest objective on the way."""
        problem, searched, weights = search.problem, search.searched, search.weights
        temperature, lowest, best_labels = FIRST_TEMPERATURE, np.inf, search.labels
        share = problem.balance.r if isinstance(problem.balance, Count) else None
        p = np.full(len(searched), 0.5 if share is None else share)
        path = Extrapolation(search, share)
        while search.stop.running:
            yield from search.solve(search.costs(1.0, p), self.tol, REDUCTION)
            old, p = p, path.next_labels(temperature)
            search.relabel(labels_by_sign(search.iterate.f[searched], weights, problem.balance))
            value = search.operator.objective(search.iterate, search.labels)
            if value < lowest:
                lowest, best_labels = value, search.labels
            unchanged = divergence(p, old, weights) <= UNCHANGED
            next_temperature = temperature / COOLING
            is_last = next_temperature < FIRST_TEMPERATURE / COOLING**N_TEMPERATURES
            done = unchanged and (is_last or entropy(p, weights) <= weights.max() / weights.sum() + CERTAIN)
            if done:
                search.labels = best_labels
            search.log(temperature)
            if done:
                return
            if unchanged:
                temperature = next_temperature
                path.restart()
