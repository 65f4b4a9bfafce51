"""The problem that every method solves, and the only place where what is reported about it is computed.

minimize  1/2 ||w||^2 [+ 1/2 b^2]  +  sum over labeled i of c_i labeled(y_i f_i)
+  sum over unlabeled j of c_j unlabeled(f_j)      subject to a balance

A problem of norm 1 has ||w||_1 [+ |b|] in place of the squares, w being the coordinates of a space of features.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from . import losses
from .balance import SCORE_ROUNDING, Balance, Free, Mean, residual
from .losses import Loss
from .spaces import Gram, Space


@dataclass(frozen=True, eq=False)
class Problem:
    """A binary problem.

    Attributes
    ----------
    space : Gram or Features
        Where f lives.
    signs : float array of shape (n,)
        +1 and -1 for labeled samples, 0 for the others.
    cost : float array of shape (n,)
        Cost of a unit of loss at each sample.
    labeled, unlabeled : loss
        The losses; ``unlabeled`` is None where only labeled samples count.
    balance : Free, Mean or Count
        The condition on unlabeled samples.
    intercept : {True, False, "regularized"}
        Whether b is free, absent or part of the norm.
    weights : float array of shape (n,) or None
        Weights of the samples in the balance; None for equal ones. Samples of weight 0 are not part of the problem.
    norm : {2, 1}
        The regularizer: 1/2 ||w||^2 or ||w||_1.
    """

    space: Space
    signs: np.ndarray
    cost: np.ndarray
    labeled: Loss
    unlabeled: Loss | None = None
    balance: Balance = Free()  # noqa: RUF009 (immutable)
    intercept: bool | str = True
    weights: np.ndarray | None = None
    norm: int = 2

    @cached_property
    def is_labeled(self) -> np.ndarray:
        """Mask of the labeled samples."""
        return self.signs != 0

    @cached_property
    def mean_weights(self) -> np.ndarray:
        """Weights of the unlabeled samples in their mean: zero at labeled samples, one in sum (or all zero)."""
        weights = np.where(self.is_labeled, 0.0, 1.0 if self.weights is None else self.weights)
        total = weights.sum()
        return weights / total if total > 0 else weights

    @cached_property
    def has_unlabeled(self) -> bool:
        """Whether any unlabeled sample is part of the problem."""
        return bool(self.mean_weights.any())

    @cached_property
    def labeled_samples(self) -> np.ndarray:
        """The labeled samples of positive cost."""
        return np.flatnonzero(self.is_labeled & (self.cost > 0))

    @cached_property
    def searched(self) -> np.ndarray:
        """The samples whose labels are looked for: unlabeled, of positive cost; none without an unlabeled loss."""
        if self.unlabeled is None:
            return np.zeros(0, dtype=int)
        return np.flatnonzero(~self.is_labeled & (self.cost > 0))

    @cached_property
    def fixed_mean(self) -> float | None:
        """The mean of f over the unlabeled samples that the balance fixes; None if it fixes none."""
        return self.balance.m if isinstance(self.balance, Mean) and self.has_unlabeled else None

    @property
    def is_indefinite(self) -> bool:
        """Whether the kernel is known to give some w a negative ||w||^2, so that no lower bound holds."""
        return isinstance(self.space, Gram) and self.space.is_indefinite(sum_zero=self.intercept is True)

    def weights_of(self, samples: np.ndarray) -> np.ndarray:
        """Weights of some samples in the balance."""
        return np.ones(len(samples)) if self.weights is None else self.weights[samples]

    def labels_of(self, f: np.ndarray) -> np.ndarray:
        """Labels of all samples: the given ones, and the sign of f elsewhere; zero but for rounding is negative."""
        zero = SCORE_ROUNDING * np.abs(f).max(initial=0.0)
        return np.where(self.is_labeled, self.signs, np.where(f > zero, 1.0, -1.0))

    def labeled_only(self) -> Problem:
        """The supervised problem of the labeled samples."""
        return replace(self, unlabeled=None, balance=Free())

    def with_labels(self, y: np.ndarray, cost: np.ndarray | None = None) -> Problem:
        """The supervised problem with labels y, and with other costs if they are given."""
        return replace(self, signs=y, cost=self.cost if cost is None else cost, unlabeled=None, balance=Free())


def objective(problem: Problem, coef: np.ndarray, b: float, labels: np.ndarray | None = None) -> float:
    """The objective at (coef, b), computed from scratch.

    With ``labels`` (one of +-1 per sample) unlabeled samples pay the labeled loss at that label, which is the
    objective of methods that search over labels; without, they pay the unlabeled loss.
    """
    f = problem.space.scores(coef, b)
    size = problem.space.norm1(coef) if problem.norm == 1 else problem.space.norm2(coef)
    return objective_of_scores(problem, size, f, b, labels)


def objective_of_scores(
    problem: Problem, size: float, f: np.ndarray, b: float, labels: np.ndarray | None = None
) -> float:
    """The objective where ||w||^2 (||w||_1 for norm 1) and the scores are at hand."""
    known = problem.is_labeled
    b_size = 0.0 if problem.intercept != "regularized" else abs(b) if problem.norm == 1 else b**2
    total = (1.0 if problem.norm == 1 else 0.5) * (size + b_size)
    if labels is not None:
        return total + float(problem.cost @ losses.value(problem.labeled, labels * f))
    total += float(problem.cost[known] @ losses.value(problem.labeled, problem.signs[known] * f[known]))
    if problem.unlabeled is not None and problem.has_unlabeled:
        total += float(problem.cost[~known] @ losses.value(problem.unlabeled, f[~known]))
    return total


def violation(problem: Problem, multipliers: np.ndarray, f: np.ndarray) -> float:
    """Largest violation of the stationarity conditions at a sample, as a distance in units of f.

    At a stationary point w = sum a_i phi(x_i) with a_i = -c_i times a (sub)derivative of the loss of sample i.
    ``multipliers`` are the a_i, without what a mean balance spreads over the unlabeled samples.
    """
    known = problem.is_labeled
    has_cost = problem.cost > 0
    ratio = np.divide(multipliers, problem.cost, out=np.zeros_like(multipliers), where=has_cost)
    distance = np.zeros(len(f))
    distance[known] = losses.stationarity(
        problem.labeled, problem.signs[known] * ratio[known], problem.signs[known] * f[known]
    )
    if problem.unlabeled is not None and problem.has_unlabeled:
        distance[~known] = losses.stationarity(problem.unlabeled, ratio[~known], f[~known])
    return float(distance[has_cost].max(initial=0.0))


def balance_residual(problem: Problem, f: np.ndarray, labels: np.ndarray) -> float:
    """How far the unlabeled samples are from the problem's balance."""
    rest = ~problem.is_labeled
    return residual(problem.balance, f[rest], labels[rest], problem.mean_weights[rest])
