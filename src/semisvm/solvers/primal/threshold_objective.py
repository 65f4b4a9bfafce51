"""The objective of multiple switching as a function of w and b alone, with the best labels at every point.

A point costs one pass over the rows, or another one if the threshold was not where it was looked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...balance import Balance, Count, Free, positive_counts
from .band_statistics import N_CELLS, PassSums, Threshold, cost_difference, pass_sums, score_of_difference
from .operator import relative_norm
from .threshold_search import FEW, FIRST_BRACKET, Labels, best_labels, recentered

ROUNDING = 1e-10  # of scores: those that are closer are equal
MAX_MISSES = 20


class Passes(Protocol):
    """A table of n rows of d dense features that is read in passes."""

    n: int
    d: int

    def accumulate(self, function: Callable[..., tuple], *shared: Any) -> tuple:
        """The sums over tiles of rows of what ``function(rows, first_row, *shared)`` returns.

        ``function`` is one of a module, so that it can be sent to other processes; ``rows`` is a C-contiguous array of
        float32 or float64, ``first_row`` the position of its first row in the table. What it returns is a tuple of
        arrays and numbers of the same kinds and shapes for every tile; they are added in a fixed order.
        """


class OutOfCoreProblem(NamedTuple):
    """A binary problem whose unlabeled samples are the rows of a table.

    Attributes
    ----------
    X : array of shape (l, d)
        The labeled samples.
    signs, cost : arrays of shape (l,)
        Their labels of +-1 and costs.
    unlabeled_cost : float
        The cost of an unlabeled sample.
    balance : Free or Count
        The condition on their labels.
    intercept : {True, False, "regularized"}
        Whether b is free, absent or part of the norm.
    left_out : sorted int array
        Positions of the rows of the table that are no unlabeled samples: the labeled ones, if they are among them.
    """

    X: np.ndarray
    signs: np.ndarray
    cost: np.ndarray
    unlabeled_cost: float
    balance: Balance = Free()
    intercept: bool | str = True
    left_out: np.ndarray = np.zeros(0, dtype=np.int64)


class Point(NamedTuple):
    """The objective at a point, with the best labels.

    Attributes
    ----------
    theta : array of shape (size,)
        w, and b if there is an intercept.
    value, hard_value : float
        The objective, with soft labels if they are soft, and at the labels f > tau.
    gradient, fixed_hessian, hessian : arrays of shapes (size,), (size, size), (size, size)
        Derivatives of the objective by theta; the second ones at fixed labels, and with labels that change.
    labels : Labels
        The best ones.
    at : Threshold
        Of the pass.
    is_clean : bool
        Whether they are those of its threshold.
    change : array of shape (size, size)
        Second moments of the change of D(f) - D(tau) by theta in the band.
    nu_gradient : array of shape (size,)
        Derivative of D(tau) by theta.
    n_band : int
        Number of samples in the band.
    spread : float
        The standard deviation of the scores of samples with a loss.
    violation : float
        Relative norm of the gradient.
    """

    theta: np.ndarray
    value: float
    hard_value: float
    gradient: np.ndarray
    fixed_hessian: np.ndarray
    hessian: np.ndarray
    labels: Labels
    at: Threshold
    is_clean: bool
    change: np.ndarray
    nu_gradient: np.ndarray
    n_band: int
    spread: float
    violation: float


class ThresholdObjective:
    """The objective of a problem.

    Parameters
    ----------
    passes : Passes
        The table.
    problem : OutOfCoreProblem
        The other samples, costs and conditions.

    Attributes
    ----------
    n_unlabeled, n_passes : int
        Number of unlabeled samples, and of passes so far.
    size : int
        Number of unknowns.
    """

    def __init__(self, passes: Passes, problem: OutOfCoreProblem):
        if not isinstance(problem.balance, (Free, Count)):
            raise TypeError(f"the balance {type(problem.balance).__name__} is not a number of positive labels.")
        self.passes, self.problem, self.n_passes = passes, problem, 0
        self.n_unlabeled = passes.n - len(problem.left_out)
        low, high = np.clip(positive_counts(problem.balance, self.n_unlabeled), 0, self.n_unlabeled)
        self.low, self.high = int(low), int(high)
        self.size = passes.d + (problem.intercept is not False)

    def at(self, theta: np.ndarray, tau: float, width: float, is_soft: bool, bracket: float = FIRST_BRACKET) -> Point:
        """The objective at theta, with the threshold near tau."""
        w, b = self.split(theta)
        at = Threshold(w, b, tau, width, is_soft, -1.0 if is_soft else bracket)
        for _ in range(MAX_MISSES):
            sums = PassSums(*self.passes.accumulate(pass_sums, at, self.problem.left_out))
            self.n_passes += 1
            labels = best_labels(sums, at, self.low, self.high)
            if labels is not None:
                return self._point(theta, sums, labels, at)
            at = recentered(sums, at, self.low, self.high)
        raise ArithmeticError("no threshold of the scores was found; are all features finite?")

    def after(self, point: Point, step: np.ndarray, width: float, is_soft: bool) -> Point:
        """The objective at the end of a step, with the threshold near where its derivative says."""
        tau, bracket = point.labels.tau, FIRST_BRACKET
        if np.isfinite(tau):
            nu = cost_difference(tau)
            predicted = score_of_difference(nu + float(point.nu_gradient @ step))
            spread = np.sqrt(max(float(step @ point.change @ step), 0.0)) + abs(float(point.nu_gradient @ step))
            tau, bracket = predicted, abs(score_of_difference(abs(nu) + spread) - score_of_difference(abs(nu)))
        return self.at(point.theta + step, tau, width, is_soft, bracket + _rounding(tau))

    def again(self, point: Point) -> Point:
        """The objective at the same point with labels that are not soft, the threshold in a narrower bracket."""
        tau = point.labels.tau
        bracket = point.at.width if point.at.is_soft else 2.0 * point.at.bracket / N_CELLS
        return self.at(point.theta, tau, point.at.width, False, bracket + _rounding(tau))

    def split(self, theta: np.ndarray) -> tuple[np.ndarray, float]:
        """w and b."""
        return theta[: self.passes.d], float(theta[-1]) if self.size > self.passes.d else 0.0

    def _point(self, theta: np.ndarray, sums: PassSums, labels: Labels, at: Threshold) -> Point:
        problem, size, c = self.problem, self.size, self.problem.unlabeled_cost
        A = np.column_stack([problem.X, np.ones(len(problem.X))])[:, :size].astype(np.float64)
        below = np.maximum(1.0 - problem.signs * (A @ theta), 0.0)
        penalty = np.ones(size)
        penalty[self.passes.d :] = float(problem.intercept == "regularized")
        rest = 0.5 * float((penalty * theta) @ theta) + float(problem.cost @ below**2)
        gradient = penalty * theta - 2.0 * (problem.cost * problem.signs * below) @ A + c * labels.gradient[:size]
        fixed_hessian = np.diag(penalty) + 2.0 * (A * (problem.cost * (below > 0.0))[:, None]).T @ A
        fixed_hessian += c * sums.curvature[:size, :size]
        n_band = max(sums.n_band, 1)
        in_band = self._moments(sums.band_slopes / n_band, sums.band_squares / n_band, labels.is_bound)[1]
        nu_gradient, change = self._change_of_labels(sums, labels)
        gradient_at_zero = -2.0 * ((problem.cost * problem.signs) @ A + c * sums.label_sums[:size])
        units = self._units(sums)
        return Point(
            theta,
            rest + c * labels.loss,
            rest + c * labels.hard_loss,
            gradient,
            fixed_hessian,
            fixed_hessian - c / at.rho * sums.n_band * in_band,
            labels,
            at,
            not at.is_soft and labels.n_undecided == 0 and sums.n_above == labels.n_positive,
            change,
            nu_gradient,
            sums.n_band,
            self._spread(theta, sums),
            relative_norm(units * gradient, float(np.linalg.norm(units * gradient_at_zero)), theta / units),
        )

    def _change_of_labels(self, sums: PassSums, labels: Labels) -> tuple[np.ndarray, np.ndarray]:
        """``nu_gradient`` and ``change``."""
        if sums.n_band <= FEW and np.isfinite(labels.tau):  # those of all samples with a loss are a better guess
            jump = 2.0 * (max(1.0 - labels.tau, 0.0) + max(1.0 + labels.tau, 0.0))
            squares = jump**2 * sums.curvature / max(sums.curvature[-1, -1], 1.0)
            return self._moments(squares[-1] / jump, squares, labels.is_bound)
        n = max(sums.n_band, 1)
        return self._moments(sums.band_slopes / n, sums.band_squares / n, labels.is_bound)

    def _moments(self, mean: np.ndarray, squares: np.ndarray, is_bound: bool) -> tuple[np.ndarray, np.ndarray]:
        """The mean if the threshold moves, and second moments about it."""
        mean = mean[: self.size] * is_bound
        return mean, squares[: self.size, : self.size] - np.outer(mean, mean)

    def _spread(self, theta: np.ndarray, sums: PassSums) -> float:
        moments = sums.curvature / max(sums.curvature[-1, -1], 1e-300)
        covariance = moments[: self.passes.d, : self.passes.d] - np.outer(moments[-1, :-1], moments[-1, :-1])
        w = self.split(theta)[0]
        return float(np.sqrt(max(w @ covariance @ w, 0.0)))

    def _units(self, sums: PassSums) -> np.ndarray:
        """Units of the unknowns: that of the intercept is the size of the samples."""
        units = np.ones(self.size)
        square = 0.5 * np.trace(sums.curvature[:-1, :-1]) / max(sums.n_active, 1)
        if square <= 0.0 and len(self.problem.X):
            square = float(np.square(self.problem.X).sum(axis=1).mean())
        if square > 0.0:
            units[self.passes.d :] = np.exp2(np.round(0.5 * np.log2(square)))
        return units


def _rounding(tau: float) -> float:
    """The width of a bracket in which scores are equal."""
    return ROUNDING * (1.0 + abs(tau)) if np.isfinite(tau) else ROUNDING
