"""The objective of multiple switching as a function of w and b alone, with the best labels at every point.

A point costs one pass over the rows, or a second one if the bracket has missed the threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...balance import Balance, Count, Free, positive_counts
from .band_statistics import N_CELLS, PassSums, Threshold, pass_sums
from .operator import relative_norm
from .threshold_search import Labels, best_labels, recentered

FIRST_BRACKET, FIRST_BAND = 0.1, 0.1
BAND_SHARE, MAX_BAND = 0.05, 0.25  # of the samples in the band, and its largest half width
ROUNDING = 1e-10  # of scores: those that are closer are equal
MAX_MISSES = 20
MEAN_DEVIATION = 0.8  # of a normal variable, relative to the standard deviation
FEW = 10  # samples in the band say nothing


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
    """The objective at a point, with best labels.

    Attributes
    ----------
    theta : array of shape (size,)
        w, and b if there is an intercept.
    value, gradient, hessian : float, arrays of shapes (size,), (size, size)
        The objective and its derivatives by theta at fixed labels.
    labels : Labels
        The best ones.
    threshold : Threshold
        Of the pass.
    is_clean : bool
        Whether they are those of its threshold.
    band : float
        Half width of the band of the next pass.
    density : float
        Unlabeled samples per unit of score at tau.
    change : array of shape (size, size)
        Second moments of the change of f - tau of the samples at tau by theta.
    tau_gradient : array of shape (size,)
        Derivative of tau by theta.
    violation : float
        Relative norm of the gradient.
    """

    theta: np.ndarray
    value: float
    gradient: np.ndarray
    hessian: np.ndarray
    labels: Labels
    threshold: Threshold
    is_clean: bool
    band: float
    density: float
    change: np.ndarray
    tau_gradient: np.ndarray
    violation: float

    @property
    def jump(self) -> float:
        """By how much the derivative of the loss of a sample by f decreases where its label becomes +1."""
        if not np.isfinite(self.labels.tau):
            return 0.0
        return 2.0 * (max(1.0 - self.labels.tau, 0.0) + max(1.0 + self.labels.tau, 0.0))

    def spread(self, step: np.ndarray) -> float:
        """The standard deviation of the change of f - tau along a step, of the samples at tau."""
        return float(np.sqrt(max(step @ self.change @ step, 0.0)))

    def n_crossing(self, step: np.ndarray) -> float:
        """About how many labels change along a step."""
        return MEAN_DEVIATION * self.density * self.spread(step)


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
    """

    def __init__(self, passes: Passes, problem: OutOfCoreProblem):
        if not isinstance(problem.balance, (Free, Count)):
            raise TypeError(f"the balance {type(problem.balance).__name__} is not a number of positive labels.")
        self.passes, self.problem, self.n_passes = passes, problem, 0
        self.n_unlabeled = passes.n - len(problem.left_out)
        low, high = np.clip(positive_counts(problem.balance, self.n_unlabeled), 0, self.n_unlabeled)
        self.low, self.high = int(low), int(high)
        self.size = passes.d + (problem.intercept is not False)

    def at(self, theta: np.ndarray, tau: float, bracket: float, band: float, scale: float = 1.0) -> Point:
        """The objective at theta, with the threshold near tau."""
        w, b = self.split(theta)
        threshold = Threshold(w, b, tau, bracket, band, scale)
        for _ in range(MAX_MISSES):
            sums = PassSums(*self.passes.accumulate(pass_sums, threshold, self.problem.left_out))
            self.n_passes += 1
            labels = best_labels(sums, threshold, self.low, self.high)
            if labels is not None:
                return self._point(theta, sums, labels, threshold)
            threshold = recentered(sums, threshold, self.low, self.high)
        raise ArithmeticError("no threshold of the scores was found; are all features finite?")

    def first(self, coef: np.ndarray, intercept: float, tau: float) -> Point:
        """The objective at a start."""
        theta = np.append(coef, intercept)[: self.size].astype(np.float64)
        return self.at(theta, tau, FIRST_BRACKET, FIRST_BAND)

    def after(self, point: Point, step: np.ndarray) -> Point:
        """The objective at the end of a step, with the threshold near where its derivative says."""
        tau = point.labels.tau + (float(point.tau_gradient @ step) if np.isfinite(point.labels.tau) else 0.0)
        bracket = point.spread(step) + _rounding(tau)
        return self.at(point.theta + step, tau, bracket, point.band)

    def again(self, point: Point) -> Point:
        """The objective at the same point, with the threshold in a narrower bracket."""
        tau, old = point.labels.tau, point.threshold
        cell = 2.0 * old.bracket / N_CELLS
        return self.at(point.theta, tau, cell + _rounding(tau), old.band)

    def split(self, theta: np.ndarray) -> tuple[np.ndarray, float]:
        """w and b."""
        return theta[: self.passes.d], float(theta[-1]) if self.size > self.passes.d else 0.0

    def _point(self, theta: np.ndarray, sums: PassSums, labels: Labels, threshold: Threshold) -> Point:
        problem, size = self.problem, self.size
        A = np.column_stack([problem.X, np.ones(len(problem.X))])[:, :size].astype(np.float64)
        below = np.maximum(1.0 - problem.signs * (A @ theta), 0.0)
        penalty = np.ones(size)
        penalty[self.passes.d :] = float(problem.intercept == "regularized")
        value = 0.5 * float((penalty * theta) @ theta) + float(problem.cost @ below**2)
        gradient = penalty * theta - 2.0 * (problem.cost * problem.signs * below) @ A
        hessian = np.diag(penalty) + 2.0 * (A * (problem.cost * (below > 0.0))[:, None]).T @ A
        c = problem.unlabeled_cost
        value += c * labels.loss
        gradient += c * labels.gradient[:size]
        hessian += 2.0 * c * sums.curvature[:size, :size]
        gradient_at_zero = -2.0 * ((problem.cost * problem.signs) @ A + c * sums.label_sums[:size])
        violation = relative_norm(*self._in_units(sums, gradient, gradient_at_zero, theta))
        is_clean = labels.n_undecided == 0 and sums.n_above == labels.n_positive
        change, tau_gradient, density = self._change_of_labels(theta, sums, labels, threshold)
        growth = BAND_SHARE * self.n_unlabeled / max(sums.n_band, 1)
        band = min(float(np.clip(growth, 0.25, 4.0)) * threshold.band, MAX_BAND)
        return Point(theta, value, gradient, hessian, labels, threshold, is_clean, band, density, change, tau_gradient,
                     violation)  # fmt: skip

    def _change_of_labels(
        self, theta: np.ndarray, sums: PassSums, labels: Labels, threshold: Threshold
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """``change``, ``tau_gradient`` and ``density`` of a point."""
        if not np.isfinite(labels.tau) or sums.n_active < FEW:
            return np.zeros((self.size, self.size)), np.zeros(self.size), 0.0
        full = np.append(theta, np.zeros(self.passes.d + 1 - self.size))
        wide = _at_threshold(sums.curvature, full, labels.tau)
        mean, covariance = wide
        if sums.n_band >= FEW:
            near_mean, near = _at_threshold(sums.band, full, labels.tau)
            weight = _shrinkage(near, covariance, sums.n_band)
            covariance = weight * covariance + (1.0 - weight) * near
            mean = weight * mean + (1.0 - weight) * near_mean
        mean, covariance = mean[: self.size], covariance[: self.size, : self.size]
        if not labels.is_bound:
            return covariance + np.outer(mean, mean), np.zeros(self.size), sums.n_band / (2.0 * threshold.band)
        return covariance, mean, sums.n_band / (2.0 * threshold.band)

    def _in_units(
        self, sums: PassSums, gradient: np.ndarray, gradient_at_zero: np.ndarray, theta: np.ndarray
    ) -> tuple[np.ndarray, float, np.ndarray]:
        """Gradient, norm of that at zero, and theta, with the intercept in units of the size of the samples."""
        units = np.ones(self.size)
        square = np.trace(sums.curvature[:-1, :-1]) / max(sums.n_active, 1) or float(np.square(self.problem.X).mean())
        if square > 0.0:
            units[self.passes.d :] = np.exp2(np.round(0.5 * np.log2(square)))
        return units * gradient, float(np.linalg.norm(units * gradient_at_zero)), theta / units


def _at_threshold(moments: np.ndarray, theta: np.ndarray, tau: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of [x, 1] given f = tau, if they are linear in f, from the moments of samples near tau."""
    mean = moments[-1] / moments[-1, -1]
    covariance = moments / moments[-1, -1] - np.outer(mean, mean)
    slope = covariance @ theta
    variance = float(theta @ slope)
    if variance > 0.0:
        mean = mean + slope * ((tau - float(mean @ theta)) / variance)
        covariance = covariance - np.outer(slope, slope / variance)
    return mean, covariance


def _shrinkage(near: np.ndarray, wide: np.ndarray, n: int) -> float:
    """The weight of ``wide`` in an estimate of the covariance of which ``near`` is one from n samples."""
    values, vectors = np.linalg.eigh(wide)
    used = values > 1e-10 * max(values[-1], 0.0)
    root = vectors[:, used] / np.sqrt(values[used])
    whitened = root.T @ near @ root
    distance = np.sum(np.square(whitened - np.eye(len(whitened)))) * n
    d = np.trace(whitened)
    noise = np.sum(np.square(whitened)) + d * d
    return float(min(1.0, noise / distance)) if distance > 0 else 1.0


def _rounding(tau: float) -> float:
    """The width of a bracket in which scores are equal."""
    return ROUNDING * (1.0 + abs(tau)) if np.isfinite(tau) else ROUNDING
