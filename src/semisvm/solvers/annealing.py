"""Deterministic annealing (SVMlin, Sindhwani, Keerthi and Chapelle): soft labels that harden as a temperature falls.

An unlabeled row is positive with probability p and pays p (1 - f)_+^2 + (1 - p)(1 + f)_+^2 - T times its entropy. With
f held,

    p = 1/(1 + exp((g - nu)/T)),    g = (1 - f)_+^2 - (1 + f)_+^2,

nu such that the mean of p is the wanted share; with p held, f is a solve. Both are repeated until p rests, then T falls
by a third, until no row is in doubt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, xlogy

from ..balance import Count, Free
from ..losses import SquaredHinge, SymmetricSquaredHinge
from ..problem import Problem
from ..solution import Solution
from ..spaces import Features
from .finite_newton import FiniteNewton
from .gradient import supervised
from .label_search import labels_by_score
from .limits import LOOSE
from .together import Ask, Search, together

HOT, COOLING, ROUNDS = 10.0, 1.5, 30
AT_REST = 1e-6  # mean divergence from the last p
CERTAIN = 1e-6  # mean entropy in bits


def soft_labels(g: np.ndarray, temperature: float, share: float | None, weight: np.ndarray) -> np.ndarray:
    """The p that minimises sum of weight (p g - temperature entropy(p)) with a weighted mean of ``share``.

    Parameters
    ----------
    g : array of shape (u,)
        What a row loses as a positive one, less what it loses as a negative one.
    temperature : float
        Above 0.
    share : float or None
        The mean wanted; None for no condition.
    weight : array of shape (u,)
        Weights of the rows.
    """
    if share is None:
        return expit(-g / temperature)
    if not 0.0 < share < 1.0:
        return np.full(len(g), float(share))
    weight = weight / weight.sum()
    shift = temperature * np.log(share / (1.0 - share))
    coarse = 8.0 * np.spacing(np.abs(g).max())

    def root(g: np.ndarray, low: float, high: float) -> float:
        """The nu between two bounds at which the mean is right."""

        def excess(nu: float) -> float:
            return float(weight @ expit((nu - g) / temperature)) - share

        if excess(low) >= 0.0 or excess(high) <= 0.0:
            return low if excess(low) >= 0.0 else high
        return brentq(excess, low, high, xtol=1e-300, rtol=4 * np.finfo(float).eps)

    g = g - root(g, g.min() + shift - coarse, g.max() + shift + coarse)
    g = g - root(g, -coarse, coarse)  # the same again from nu, which may be coarse beside the temperature
    return expit(-g / temperature)


def divergence(p: np.ndarray, q: np.ndarray, weight: np.ndarray) -> float:
    """The weighted mean of the Kullback-Leibler divergence of p from q."""
    q = np.clip(q, 1e-300, 1.0 - 1e-16)
    rows = xlogy(p, p) - xlogy(p, q) + xlogy(1.0 - p, 1.0 - p) - xlogy(1.0 - p, 1.0 - q)
    return float(weight @ rows / weight.sum())


def entropy(p: np.ndarray, weight: np.ndarray) -> float:
    """The weighted mean entropy of p, in bits."""
    return float(weight @ -(xlogy(p, p) + xlogy(1.0 - p, 1.0 - p)) / (np.log(2.0) * weight.sum()))


class Cooling(Search):
    """The search of one problem."""

    def __init__(self, problem: Problem, tol: float):
        super().__init__(problem, tol)
        self.share = problem.balance.r if isinstance(problem.balance, Count) else None
        self.temperature, self.hard = HOT, False
        self.lowest, self.chosen = np.inf, None
        if len(self.free):
            self.p = np.full(len(self.free), 0.5 if self.share is None else self.share)
            self.ask = self._with(self.p)

    @property
    def level(self) -> float:
        """The temperature."""
        return 0.0 if self.hard else self.temperature

    def next(self, f: np.ndarray, violation: float) -> Ask | None:
        """New p; where it rests, a lower temperature; at the end the best labels, held."""
        if not len(self.free) or self.hard:
            return super().next(f, violation)
        own = f[self.free]
        self.labels = self.labels.copy()
        self.labels[self.free] = labels_by_score(own, self.weight, self.problem.balance)
        value = self.value(self.labels)
        if value < self.lowest:
            self.lowest, self.chosen = value, self.labels
        g = np.maximum(1.0 - own, 0.0) ** 2 - np.maximum(1.0 + own, 0.0) ** 2
        before, self.p = self.p, soft_labels(g, self.temperature, self.share, self.weight)
        if divergence(self.p, before, self.weight) <= AT_REST:
            self.temperature /= COOLING
            over = self.temperature < HOT / COOLING**ROUNDS
            if over or entropy(self.p, self.weight) <= CERTAIN:
                self.hard, self.labels = True, self.chosen
                return Ask(self.costs_at(1.0, (self.labels[self.free] > 0).astype(float)), self.tol)
        return self._with(self.p)

    def _with(self, p: np.ndarray) -> Ask:
        return Ask(self.costs_at(1.0, p), LOOSE * self.tol)


@dataclass(frozen=True)
class Annealing:
    """Soft labels under a falling temperature.

    Parameters
    ----------
    tol : float
        Gradient at which a solve is done, relative to that of the losses at w = 0.
    max_iter : int
        Largest number of solves.
    max_time : float or None
        Seconds after which the best so far is returned.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float | None = None

    losses = (SquaredHinge,)
    unlabeled_losses = (type(None), SymmetricSquaredHinge)
    balances = (Free, Count)
    on_features = True

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Search one problem; where no label is missing there may be a kernel in the place of features."""
        if not isinstance(problem.space, Features):
            return FiniteNewton(self.tol, max_time=self.max_time).solve(supervised(problem), callback=callback)
        return self.solve_all([problem], [callback])[0]

    def solve_all(self, problems: list[Problem], callbacks: list) -> list[Solution]:
        """Search several problems in one space together."""
        return together(problems, [Cooling(problem, self.tol) for problem in problems], self, callbacks)
