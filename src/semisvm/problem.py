"""The problem that every method solves, and the only judge of what is reported about it.

minimise  1/2 ||w||^2 [+ 1/2 b^2]  +  sum over labeled i  of c_i labeled(y_i f_i)
+  sum over unlabeled j of c_j unlabeled(f_j)      subject to a balance

A problem of norm 1 has ||w||_1 [+ |b|] in the place of the squares, w being the coordinates of a space of features.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import losses
from .balance import Free, residual


class Problem(NamedTuple):
    """A binary problem.

    Attributes
    ----------
    space : Gram or Features
        Where f lives.
    signs : float array of shape (n,)
        +1 and -1 for labeled rows, 0 for the others.
    cost : float array of shape (n,)
        What a unit of loss costs at each row.
    labeled, unlabeled : loss
        The losses; ``unlabeled`` is None where only labeled rows count.
    balance : Free, Mean or Count
        The condition on unlabeled rows.
    intercept : {True, False, "regularised"}
        Whether b is free, absent or part of the norm.
    weights : float array of shape (n,) or None
        Weights of the rows in the balance; None weighs all alike. Rows of weight 0 take no part.
    norm : {2, 1}
        Which size of w counts: 1/2 ||w||^2 or ||w||_1.
    """

    space: Any
    signs: np.ndarray
    cost: np.ndarray
    labeled: tuple
    unlabeled: tuple | None = None
    balance: tuple = Free()
    intercept: bool | str = True
    weights: np.ndarray | None = None
    norm: int = 2

    @property
    def is_labeled(self) -> np.ndarray:
        """Mask of the labeled rows."""
        return self.signs != 0

    @property
    def has_unlabeled(self) -> bool:
        """Whether any row without a label takes part."""
        rest = ~self.is_labeled
        return bool(rest.any()) if self.weights is None else bool((self.weights[rest] > 0).any())

    def alone(self) -> Problem:
        """The problem of the labeled rows."""
        return self._replace(unlabeled=None, balance=Free())

    def weights_of(self, rows: np.ndarray) -> np.ndarray:
        """Weights of rows in the balance."""
        return np.ones(len(rows)) if self.weights is None else self.weights[rows]

    def shares(self) -> np.ndarray:
        """Weights of the unlabeled rows in a mean: zero on labeled rows, one in sum."""
        weights = np.where(self.is_labeled, 0.0, 1.0 if self.weights is None else self.weights)
        total = weights.sum()
        return weights / total if total > 0 else weights


def objective(problem: Problem, coef: np.ndarray, b: float, labels: np.ndarray | None = None) -> float:
    """The objective at (coef, b), computed from scratch.

    With ``labels`` (one of +-1 per row) unlabeled rows pay the labeled loss at that label, which is how methods that
    search over labels count; without, they pay the unlabeled loss.
    """
    f = problem.space.scores(coef, b)
    size = problem.space.norm1(coef) if problem.norm == 1 else problem.space.norm2(coef)
    return objective_of_scores(problem, size, f, b, labels)


def objective_of_scores(
    problem: Problem, size: float, f: np.ndarray, b: float, labels: np.ndarray | None = None
) -> float:
    """The objective where the size of w, ||w||^2 or ||w||_1 as the problem's norm is, and the scores are at hand."""
    known = problem.is_labeled
    own = abs(b) if problem.norm == 1 else b**2
    total = (1.0 if problem.norm == 1 else 0.5) * (size + (own if problem.intercept == "regularised" else 0.0))
    if labels is not None:
        return total + float(problem.cost @ losses.value(problem.labeled, labels * f))
    total += float(problem.cost[known] @ losses.value(problem.labeled, problem.signs[known] * f[known]))
    if problem.unlabeled is not None and problem.has_unlabeled:
        total += float(problem.cost[~known] @ losses.value(problem.unlabeled, f[~known]))
    return total


def gradient(problem: Problem, coef: np.ndarray, b: float) -> tuple[np.ndarray, float]:
    """Derivatives of the objective by coef and by b."""
    if problem.norm == 1:
        raise ValueError("the 1-norm of w has no gradient where a coordinate is zero; state the problem with norm=2.")
    known = problem.is_labeled
    f = problem.space.scores(coef, b)
    pull = np.zeros(problem.space.n)
    pull[known] = problem.signs[known] * losses.slope(problem.labeled, problem.signs[known] * f[known])
    if problem.unlabeled is not None:
        pull[~known] = losses.slope(problem.unlabeled, f[~known])
    pull *= problem.cost
    by_b = pull.sum() + (b if problem.intercept == "regularised" else 0.0)
    return problem.space.norm_slope(coef) + problem.space.adjoint(pull), 0.0 if problem.intercept is False else float(
        by_b
    )


def violation(problem: Problem, multipliers: np.ndarray, f: np.ndarray) -> float:
    """How far some score is from where its multiplier belongs: zero at a stationary point.

    At one, w = sum a_i phi(x_i) with a_i = -c_i times a slope of row i's loss. ``multipliers`` are the a_i, without
    what a mean balance spreads over the unlabeled rows. The distance is in units of f.
    """
    known = problem.is_labeled
    priced = problem.cost > 0
    ratio = np.divide(multipliers, problem.cost, out=np.zeros_like(multipliers), where=priced)
    off = np.zeros(len(f))
    off[known] = losses.stationarity(
        problem.labeled, problem.signs[known] * ratio[known], problem.signs[known] * f[known]
    )
    if problem.unlabeled is not None and problem.has_unlabeled:
        off[~known] = losses.stationarity(problem.unlabeled, ratio[~known], f[~known])
    return float(off[priced].max(initial=0.0))


def imbalance(problem: Problem, f: np.ndarray, labels: np.ndarray) -> float:
    """How far the unlabeled rows are from the problem's balance."""
    free = ~problem.is_labeled
    return residual(problem.balance, f[free], labels[free], problem.shares()[free])
