"""Smooth machines in the primal: where f is a table times w, and Newton steps that take curvature of any sign.

f = A theta + offset. With a mean balance the rows are centred by the unlabeled mean and the intercept is what the
balance asks for, so that it holds for every w; the table itself is not touched, a sparse one stays sparse. Without a
balance the intercept is the last coordinate of theta, or absent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..balance import Mean
from ..problem import Problem


class Plane:
    """f as a function of theta.

    Parameters
    ----------
    problem : Problem
        In a space of features.
    """

    def __init__(self, problem: Problem):
        self.X = problem.space.X
        self.intercept = problem.intercept
        self.balanced = isinstance(problem.balance, Mean) and problem.has_unlabeled
        self.extra = not self.balanced and self.intercept is not False
        self.size = self.X.shape[1] + self.extra
        self.offset, self.mean = 0.0, None
        if self.balanced:
            self.mean = np.asarray(self.X.T @ problem.shares()).ravel()
            self.offset = problem.balance.m

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """F at all rows."""
        w, b = self.split(theta)
        return np.asarray(self.X @ w).ravel() + b

    def split(self, theta: np.ndarray) -> tuple[np.ndarray, float]:
        """W and the intercept."""
        if self.balanced:
            return theta, float(self.offset - self.mean @ theta)
        return (theta[:-1], float(theta[-1])) if self.extra else (theta, 0.0)

    def product(self, v: np.ndarray) -> np.ndarray:
        """A v: the change of f along v."""
        if self.balanced:
            return np.asarray(self.X @ v).ravel() - self.mean @ v
        return np.asarray(self.X @ v[:-1]).ravel() + v[-1] if self.extra else np.asarray(self.X @ v).ravel()

    def adjoint(self, pull: np.ndarray) -> np.ndarray:
        """A'pull."""
        down = np.asarray(self.X.T @ pull).ravel()
        if self.balanced:
            return down - pull.sum() * self.mean
        return np.append(down, pull.sum()) if self.extra else down

    def norm_product(self, v: np.ndarray) -> np.ndarray:
        """Hessian of half the squared norm, times v."""
        if self.balanced and self.intercept == "regularised":
            return v + (self.mean @ v) * self.mean
        if self.extra and self.intercept is True:
            return np.append(v[:-1], 0.0)
        return v

    def norm_slope(self, theta: np.ndarray) -> np.ndarray:
        """Gradient of half the squared norm."""
        slope = self.norm_product(theta)
        return slope - self.offset * self.mean if self.balanced and self.intercept == "regularised" else slope

    def half_norm2(self, theta: np.ndarray) -> float:
        """1/2 ||w||^2, and 1/2 b^2 where the intercept is part of the norm."""
        w, b = self.split(theta)
        return 0.5 * float(w @ w) + (0.5 * b * b if self.intercept == "regularised" else 0.0)

    def row_norms(self) -> np.ndarray:
        """Lengths of the rows, centred ones with a balance."""
        X = self.X
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
        if self.balanced:
            squares = squares - 2.0 * np.asarray(X @ self.mean).ravel() + self.mean @ self.mean
        return np.sqrt(np.maximum(squares, 0.0))


class Level(NamedTuple):
    """A smooth sum of losses: functions of the scores of all rows, costs included."""

    value: Callable[[np.ndarray], float]
    slope: Callable[[np.ndarray], np.ndarray]
    curvature: Callable[[np.ndarray], np.ndarray]


def joined(known: np.ndarray, own: np.ndarray, others: np.ndarray) -> np.ndarray:
    """One array over all rows from those of labeled rows and of the others."""
    out = np.empty(len(known))
    out[known], out[~known] = own, others
    return out


def descend(
    plane: Plane, level: Level, theta: np.ndarray, tol: float, max_steps: int, stop: Callable[[], bool]
) -> tuple[np.ndarray, float, bool]:
    """Minimise 1/2 ||w||^2 + level(f) by Newton steps in a trust region (Steihaug's conjugate gradients).

    Parameters
    ----------
    plane, level : Plane, Level
        f and its losses.
    theta : array
        Where to start.
    tol : float
        Stop at a gradient of tol (||gradient of the losses at 0|| + ||theta||).
    max_steps : int
        Largest number of Newton steps.
    stop : callable
        Asked before every step whether time is over.

    Returns
    -------
    theta, violation, done
        The point, its gradient in the same measure, and whether that reached tol.
    """
    first = level.slope(plane.scores(np.zeros_like(theta)))
    pull = float(np.linalg.norm(plane.adjoint(first)))
    rounding = 1e-10 * float(np.linalg.norm(plane.X.T @ np.abs(first)))  # pulls that cancel leave so much at most

    def off() -> float:
        """The gradient, measured by what the losses pull with at w = 0 and by w."""
        measure = max(pull + float(np.linalg.norm(theta)), rounding, np.finfo(float).tiny)
        return float(np.linalg.norm(gradient)) / measure

    f = plane.scores(theta)
    value = plane.half_norm2(theta) + level.value(f)
    gradient = plane.norm_slope(theta) + plane.adjoint(level.slope(f))
    radius = pull + float(np.linalg.norm(theta))
    for _ in range(max_steps):
        size, violation = float(np.linalg.norm(gradient)), off()
        if violation <= tol or stop():
            return theta, violation, violation <= tol
        weights = level.curvature(f)
        step, along, predicted = _steihaug(plane, weights, gradient, radius, min(0.1, np.sqrt(violation)) * size)
        trial, g = theta + step, f + along
        reached = plane.half_norm2(trial) + level.value(g)
        ratio = (value - reached) / predicted if predicted > 0 else 0.0
        length = float(np.linalg.norm(step))
        if ratio < 0.25:
            radius = 0.25 * length
        elif ratio > 0.75 and length > 0.99 * radius:
            radius = 2.0 * radius
        if ratio > 1e-4 and reached < value:
            theta, f, value = trial, g, reached
            gradient = plane.norm_slope(theta) + plane.adjoint(level.slope(f))
        if radius <= 1e-14 * (pull + float(np.linalg.norm(theta))):
            break
    return theta, off(), off() <= tol


def _steihaug(plane: Plane, weights: np.ndarray, gradient: np.ndarray, radius: float, tol: float):
    """Conjugate gradients on the quadratic model, to a small residual, the edge of the region or negative curvature.

    Returns the step, its change of f, and the fall of the model.
    """
    step, residual = np.zeros_like(gradient), -gradient
    along = np.zeros(len(weights))
    direction, fall = residual.copy(), 0.0
    square = float(residual @ residual)
    for _ in range(max(20, 2 * plane.size)):
        lifted = plane.product(direction)
        curved = plane.norm_product(direction) + plane.adjoint(weights * lifted)
        bend = float(direction @ curved)
        t = square / bend if bend > 0 else np.inf
        if bend <= 0 or np.linalg.norm(step + t * direction) >= radius:
            edge = _to_edge(step, direction, radius)
            fall += edge * square - 0.5 * edge**2 * bend
            return step + edge * direction, along + edge * lifted, fall
        step, along = step + t * direction, along + t * lifted
        fall += t * square - 0.5 * t**2 * bend
        residual = residual - t * curved
        new = float(residual @ residual)
        if np.sqrt(new) <= tol:
            break
        direction, square = residual + (new / square) * direction, new
    return step, along, fall


def _to_edge(step: np.ndarray, direction: np.ndarray, radius: float) -> float:
    """How far along the direction the edge of the region is."""
    a, b, c = float(direction @ direction), float(step @ direction), float(step @ step) - radius**2
    return (-b + np.sqrt(max(b * b - a * c, 0.0))) / a
