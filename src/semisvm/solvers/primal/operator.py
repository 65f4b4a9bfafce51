"""f as an affine function of the unknowns theta, for one problem in a space of features.

f = A theta + offset. With a mean balance the samples are centered by the mean of the unlabeled ones and the intercept
is what the balance asks for, so that it holds for every w; X itself is not changed, a sparse one stays sparse. Without
a balance the intercept is the last coordinate of theta, or absent. It is measured in units of the size of the samples,
so that the coordinates of theta, and those of a gradient, are of one size whatever the scale of the samples.

Products with the data are coroutines (see ``batch``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...problem import Problem, objective_of_scores
from ...solution import Certificate, Solution
from ...spaces import Features
from ..base import StoppingRule
from .batch import Coroutine, Request, run_batched

ROUNDING = 1e-10


class Iterate(NamedTuple):
    """A point of the iterations.

    Attributes
    ----------
    theta, f : arrays
        The point and its scores at the training samples.
    violation : float
        Of the optimality conditions there.
    is_solution : bool
        Whether it is as small as was asked for.
    slopes, gradient : arrays or None
        Derivatives of the losses by f, and of the objective by theta, for a next solve that starts here.
    """

    theta: np.ndarray
    f: np.ndarray
    violation: float = np.inf
    is_solution: bool = False
    slopes: np.ndarray | None = None
    gradient: np.ndarray | None = None


def relative_norm(gradient: np.ndarray, scale: float, theta: np.ndarray) -> float:
    """The violation of the optimality conditions: norm of the gradient relative to ``gradient_scale`` + ||theta||."""
    return float(np.linalg.norm(gradient)) / max(scale + float(np.linalg.norm(theta)), np.finfo(float).tiny)


def _appended(a: np.ndarray, last: float) -> np.ndarray:
    """An array with one number more."""
    out = np.empty(len(a) + 1)
    out[:-1], out[-1] = a, last
    return out


class PrimalOperator:
    """The map from theta to f, its adjoint, the norm, and the solution at a theta.

    Parameters
    ----------
    problem : Problem
        In a space of features.

    Attributes
    ----------
    size : int
        Number of unknowns.
    mean, offset : array of shape (d,) or None, float
        Mean of the unlabeled samples and the mean of f there, with a mean balance.
    has_b, unit : bool, float
        Whether the intercept is the last unknown, and the unit of it.
    """

    def __init__(self, problem: Problem):
        space = problem.space
        assert isinstance(space, Features), "the primal needs a space of features"
        self.problem, self.design, self.intercept = problem, space.design, problem.intercept
        self.mean: np.ndarray | None = None
        self.offset = 0.0
        if problem.fixed_mean is not None:
            weights, self.offset = problem.mean_weights, problem.fixed_mean
            self.mean = space.once(("mean", weights.tobytes()), lambda: self.design.adjoint(weights))
        self.has_b = self.mean is None and self.intercept is not False
        self.unit = self.design.unit
        self.size = self.design.d + self.has_b

    # ---------------------------------------------------------------- without the data

    @property
    def beta(self) -> np.ndarray:
        """The derivative of b by theta."""
        if self.mean is not None:
            return -self.mean
        return np.append(np.zeros(self.design.d), self.unit) if self.has_b else np.zeros(self.size)

    def zero(self) -> Iterate:
        """theta = 0."""
        theta = np.zeros(self.size)
        return Iterate(theta, np.full(self.design.n, self.split(theta)[1]))

    def split(self, theta: np.ndarray) -> tuple[np.ndarray, float]:
        """w and b."""
        if self.mean is not None:
            return theta, float(self.offset - self.mean @ theta)
        return (theta[:-1], self.unit * float(theta[-1])) if self.has_b else (theta, 0.0)

    def _split_direction(self, v: np.ndarray) -> tuple[np.ndarray, float]:
        """The change of w and b along v."""
        return (v, float(-self.mean @ v)) if self.mean is not None else self.split(v)

    def _with_intercept(self, adjoint: np.ndarray, total: float) -> np.ndarray:
        """A'r from X'r and the sum of r."""
        if self.mean is not None:
            return adjoint - self.mean * total
        return _appended(adjoint, self.unit * total) if self.has_b else adjoint

    def norm_product(self, v: np.ndarray) -> np.ndarray:
        """N v, where N is the Hessian of half the squared norm."""
        if self.mean is not None and self.intercept == "regularized":
            return v + (self.mean @ v) * self.mean
        if self.has_b:
            return _appended(v[:-1], 0.0 if self.intercept is True else self.unit**2 * v[-1])
        return v

    def norm_gradient(self, theta: np.ndarray) -> np.ndarray:
        """Gradient of half the squared norm."""
        gradient = self.norm_product(theta)
        if self.mean is not None and self.intercept == "regularized":
            gradient = gradient - self.offset * self.mean
        return gradient

    def half_norm2(self, theta: np.ndarray) -> float:
        """1/2 ||w||^2, plus 1/2 b^2 where the intercept is part of the norm."""
        w, b = self.split(theta)
        return 0.5 * float(w @ w) + (0.5 * b * b if self.intercept == "regularized" else 0.0)

    def objective(self, iterate: Iterate, labels: np.ndarray | None = None) -> float:
        """The problem's objective at an iterate, at labels if they are given."""
        w, b = self.split(iterate.theta)
        return objective_of_scores(self.problem, float(w @ w), iterate.f, b, labels)

    def solution(
        self,
        iterate: Iterate,
        labels: np.ndarray,
        gradient: Callable[[np.ndarray], np.ndarray],
        certificate: Certificate,
        stop: StoppingRule,
        at_labels: bool = False,
    ) -> Solution:
        """The solution at an iterate, with f and the objective recomputed.

        Parameters
        ----------
        iterate : Iterate
            Where the iterations ended.
        labels : array of shape (n,)
            Labels of +-1; 0 for the sign of f.
        gradient : callable
            Derivatives of the losses by f, as a function of f.
        certificate, stop : Certificate, StoppingRule
            What is proved, and how the iterations went.
        at_labels : bool
            Whether the objective is that at the labels.
        """
        problem = self.problem
        w, b = self.split(iterate.theta)
        f = problem.space.scores(w, b)
        labels = np.where(labels == 0, problem.labels_of(f), labels)
        value = objective_of_scores(problem, problem.space.norm2(w), f, b, labels if at_labels else None)
        dual = multipliers = -gradient(f)
        if self.mean is not None:  # the multiplier of the balance is spread over the unlabeled samples
            total = multipliers.sum() - (b if self.intercept == "regularized" else 0.0)
            dual = multipliers - problem.mean_weights * total
        status, n_iter = stop.status or "converged", max(len(stop.trace), 1)
        return Solution(w, b, f, labels, value, certificate, status, n_iter, multipliers, dual, stop.trace)

    def sample_norms(self) -> np.ndarray:
        """Norms of the samples, centered ones with a mean balance; 0 where they are a rounding error."""
        squares = self.design.squared_norms()
        if self.mean is not None:
            terms = squares + self.mean @ self.mean
            squares = terms - 2.0 * self.design.product(self.mean)
            squares[squares <= 8.0 * np.finfo(float).eps * terms] = 0.0
        return np.sqrt(np.maximum(squares, 0.0))

    # ---------------------------------------------------------------- products with the data

    def product(self, v: np.ndarray) -> Coroutine[np.ndarray]:
        """A v: the change of f along v."""
        w, b = self._split_direction(v)
        return (yield Request("product", (w,))) + b

    def partial_product(self, v: np.ndarray, wanted: np.ndarray) -> Coroutine[np.ndarray]:
        """A v at the samples of a mask."""
        w, b = self._split_direction(v)
        return (yield Request("partial_product", (w, wanted))) + b

    def adjoint(self, r: np.ndarray) -> Coroutine[np.ndarray]:
        """A'r."""
        return self._with_intercept((yield Request("adjoint", (r,))), r.sum())

    def hessian_product(self, v: np.ndarray, curvature: np.ndarray) -> Coroutine[tuple[np.ndarray, np.ndarray]]:
        """(N + A' diag(curvature) A) v, and A v, or nan where the curvature is zero."""
        w, b = self._split_direction(v)
        adjoint, total, change = yield Request("hessian_product", (w, b, curvature))
        image = self._with_intercept(adjoint, total)
        image += self.norm_product(v)
        return image, change

    def violation(self, iterate: Iterate, gradient: Callable[[np.ndarray], np.ndarray]) -> float:
        """The violation at an iterate for losses with these derivatives by f; no coroutine, for the end of a search."""

        def compute() -> Coroutine[float]:
            scale = yield from self.gradient_scale(gradient(self.zero().f))
            by_theta = self.norm_gradient(iterate.theta) + (yield from self.adjoint(gradient(iterate.f)))
            return relative_norm(by_theta, scale, iterate.theta)

        return run_batched(self.design, [compute()])[0]

    def gradient_scale(self, gradient_at_zero: np.ndarray) -> Coroutine[float]:
        """Norm of the gradient of the losses at theta = 0, given by f; the rounding error of it where it cancels."""
        norm = float(np.linalg.norm((yield from self.adjoint(gradient_at_zero))))
        return self.scale_above_rounding(norm, float(np.abs(gradient_at_zero).sum()))

    def scale_above_rounding(self, norm: float, total: float) -> float:
        """The norm of A'r, or its rounding error if that is more; ``total`` is the sum of |r|."""
        return max(norm, ROUNDING * total * self.design.max_norm)
