"""Deterministic annealing: soft labels that harden as a temperature decreases.

An unlabeled sample is positive with probability p and pays p (1 - f)_+^2 + (1 - p)(1 + f)_+^2 - T times its entropy.
With f fixed,

    p = 1/(1 + exp((g - nu)/T)),    g = (1 - f)_+^2 - (1 + f)_+^2,

nu such that the mean of p is the share that the balance asks for; with p fixed, f is a squared-hinge problem. Both are
repeated until p does not change, then T is divided by 1.5, until all labels are certain. The labels of the lowest
objective on the way are then fixed, and changed as long as that gains.

At each temperature the solves are loose, to ``LOOSE * tol``, and the path that is followed depends on it: another
``tol`` may end at another stationary point. What is certified is the end, not the path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, xlogy

from ...balance import Count, Free, labels_by_sign
from ...losses import SquaredHinge, SymmetricSquaredHinge
from ...problem import Problem
from ...solution import Solution
from ..base import LOOSE, Accepts, StoppingRule
from .batch import BatchSolver, Coroutine
from .newton_search import NewtonSearch

FIRST_TEMPERATURE, COOLING, N_TEMPERATURES = 10.0, 1.5, 30
UNCHANGED = 1e-6  # mean divergence from the last p at which p counts as unchanged
CERTAIN = 1e-6  # mean entropy, in bits, at which all labels count as certain


def soft_labels(g: np.ndarray, temperature: float, share: float | None, weights: np.ndarray) -> np.ndarray:
    """The p that minimizes sum of weights (p g - temperature entropy(p)) with a weighted mean of ``share``.

    Parameters
    ----------
    g : array of shape (u,)
        Loss of a sample as a positive one, less its loss as a negative one.
    temperature : float
        Above 0.
    share : float or None
        The mean of p; None for no condition.
    weights : array of shape (u,)
        Weights of the samples.
    """
    if share is None:
        return expit(-g / temperature)
    if not 0.0 < share < 1.0:
        return np.full(len(g), float(share))
    weights = weights / weights.sum()
    shift = temperature * np.log(share / (1.0 - share))
    margin = 8.0 * np.spacing(np.abs(g).max())

    def excess(nu: float, g: np.ndarray) -> float:
        return float(weights @ expit((nu - g) / temperature)) - share

    def find_nu(g: np.ndarray, low: float, high: float) -> float:
        """The nu between two bounds at which the mean is the share."""
        if excess(low, g) >= 0.0:
            return low
        if excess(high, g) <= 0.0:
            return high
        return brentq(excess, low, high, (g,), xtol=1e-20, rtol=4 * np.finfo(float).eps, maxiter=1000)

    g = g - find_nu(g, g.min() + shift - margin, g.max() + shift + margin)
    g = g - find_nu(g, -margin, margin)  # once more around zero, where nu has all its digits
    return expit(-g / temperature)


def divergence(p: np.ndarray, q: np.ndarray, weights: np.ndarray) -> float:
    """The weighted mean of the Kullback-Leibler divergence of p from q."""
    q = np.clip(q, 1e-300, 1.0 - 1e-16)
    terms = xlogy(p, p) - xlogy(p, q) + xlogy(1.0 - p, 1.0 - p) - xlogy(1.0 - p, 1.0 - q)
    return float(weights @ terms / weights.sum())


def entropy(p: np.ndarray, weights: np.ndarray) -> float:
    """The weighted mean entropy of p, in bits."""
    return float(weights @ -(xlogy(p, p) + xlogy(1.0 - p, 1.0 - p)) / (np.log(2.0) * weights.sum()))


@dataclass(frozen=True)
class Annealing(BatchSolver):
    """Soft labels under a decreasing temperature.

    Parameters
    ----------
    tol : float
        Norm of the gradient at which a solve ends, relative to that of the losses at w = 0.
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
        share = problem.balance.r if isinstance(problem.balance, Count) else None
        temperature, lowest, best_labels = FIRST_TEMPERATURE, np.inf, search.labels
        p = np.full(len(searched), 0.5 if share is None else share)
        while search.stop.running:
            yield from search.solve(search.costs(1.0, p), LOOSE * self.tol)
            f = search.iterate.f[searched]
            search.relabel(labels_by_sign(f, weights, problem.balance))
            value = search.operator.objective(search.iterate, search.labels)
            if value < lowest:
                lowest, best_labels = value, search.labels
            g = np.maximum(1.0 - f, 0.0) ** 2 - np.maximum(1.0 + f, 0.0) ** 2
            old, p = p, soft_labels(g, temperature, share, weights)
            unchanged = divergence(p, old, weights) <= UNCHANGED
            next_temperature = temperature / COOLING
            is_last = next_temperature < FIRST_TEMPERATURE / COOLING**N_TEMPERATURES
            done = unchanged and (is_last or entropy(p, weights) <= CERTAIN)
            if done:
                search.labels = best_labels
            search.log(temperature)
            if done:
                return
            if unchanged:
                temperature = next_temperature
