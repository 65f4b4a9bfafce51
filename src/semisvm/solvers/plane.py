"""Where a machine of the primal lives: f is a table times w.

f = A theta + offset. With a mean balance the rows are centred by the unlabeled mean and the intercept is what the
balance asks for, so that it holds for every w; the table itself is not touched, a sparse one stays sparse. Without a
balance the intercept is the last coordinate of theta, or absent.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from ..balance import Mean
from ..passes import table_of
from ..problem import Problem

ROUNDING = 1e-10


class Plane:
    """f as a function of theta, of one problem or of several that share a table.

    Parameters
    ----------
    problems : Problem or list of Problem
        In a space of features. A list makes every argument and result a table with a column per problem.
    """

    def __init__(self, problems: Problem | list[Problem]):
        one = isinstance(problems, Problem)
        first = problems if one else problems[0]
        self.table = table_of(first.space)
        self.intercept = first.intercept
        self.balanced, _ = self._kind(first)
        self.extra = not self.balanced and self.intercept is not False
        self.size = self.table.d + self.extra
        self.offset, self.mean = 0.0, None
        if not one and len({self._kind(problem) for problem in problems}) > 1:
            raise ValueError("problems that are solved side by side have one kind of balance and of intercept.")
        if self.balanced:
            shares = first.shares() if one else np.column_stack([problem.shares() for problem in problems])
            self.mean = self.table.adjoint(shares)
            self.offset = first.balance.m if one else np.array([problem.balance.m for problem in problems])

    @staticmethod
    def _kind(problem: Problem) -> tuple[bool, bool | str]:
        """Whether a mean fixes the intercept, and what the intercept is."""
        return isinstance(problem.balance, Mean) and problem.has_unlabeled, problem.intercept

    def spread(self, problem: Problem, pull: np.ndarray, b: float) -> np.ndarray:
        """The a in w = sum of a_i x_i at an end with these pulls: a mean spreads its own over the unlabeled rows."""
        if not self.balanced:
            return pull
        return pull - problem.shares() * (pull.sum() - (b if self.intercept == "regularised" else 0.0))

    def take(self, columns: np.ndarray) -> Plane:
        """The same for some of several problems."""
        part = copy(self)
        if self.balanced:
            part.mean, part.offset = self.mean[:, columns], self.offset[columns]
        return part

    def rounding(self, slope: np.ndarray) -> float | np.ndarray:
        """What may be left of A'slope where the pulls of the rows cancel."""
        return ROUNDING * np.abs(slope).sum(axis=0) * self.table.longest

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """F at all rows."""
        w, b = self.split(theta)
        return self.table.product(w) + b

    def split(self, theta: np.ndarray) -> tuple[np.ndarray, float | np.ndarray]:
        """W and the intercept."""
        if self.balanced:
            return theta, self.offset - (self.mean * theta).sum(axis=0)
        return (theta[:-1], theta[-1]) if self.extra else (theta, 0.0)

    def along(self, v: np.ndarray) -> tuple[np.ndarray, float | np.ndarray]:
        """The same for a direction, where the wanted mean of f has no say."""
        return (v, -(self.mean * v).sum(axis=0)) if self.balanced else self.split(v)

    def lifted(self, down: np.ndarray, total) -> np.ndarray:
        """A'pull from X'pull and the sum of pull."""
        if self.balanced:
            return down - self.mean * total
        return np.concatenate([down, np.reshape(total, (1, *down.shape[1:]))]) if self.extra else down

    def product(self, v: np.ndarray) -> np.ndarray:
        """A v: the change of f along v."""
        w, b = self.along(v)
        return self.table.product(w) + b

    def adjoint(self, pull: np.ndarray) -> np.ndarray:
        """A'pull."""
        return self.lifted(self.table.adjoint(pull), pull.sum(axis=0))

    def curved(self, v: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """(N + A' diag(weights) A) v, N the Hessian of half the squared norm: one pass over the table."""
        w, b = self.along(v)
        return self.norm_product(v) + self.lifted(*self.table.curved(w, b, weights))

    def diagonal(self, weights: np.ndarray) -> np.ndarray:
        """The diagonal of N + A' diag(weights) A."""
        own = self.table.squares(weights)
        if self.balanced:
            tilt = 1.0 + self.mean**2 if self.intercept == "regularised" else 1.0
            centred = own - 2.0 * self.mean * self.table.adjoint(weights) + self.mean**2 * weights.sum(axis=0)
            return tilt + np.maximum(centred, 0.0)
        if not self.extra:
            return 1.0 + own
        total = weights.sum(axis=0) + (0.0 if self.intercept is True else 1.0)
        return np.concatenate([1.0 + own, np.reshape(total, (1, *own.shape[1:]))])

    def norm_product(self, v: np.ndarray) -> np.ndarray:
        """Hessian of half the squared norm, times v."""
        if self.balanced and self.intercept == "regularised":
            return v + (self.mean * v).sum(axis=0) * self.mean
        if self.extra and self.intercept is True:
            return np.concatenate([v[:-1], np.zeros((1, *v.shape[1:]))])
        return v

    def norm_slope(self, theta: np.ndarray) -> np.ndarray:
        """Gradient of half the squared norm."""
        slope = self.norm_product(theta)
        return slope - self.offset * self.mean if self.balanced and self.intercept == "regularised" else slope

    def half_norm2(self, theta: np.ndarray) -> float | np.ndarray:
        """1/2 ||w||^2, and 1/2 b^2 where the intercept is part of the norm."""
        w, b = self.split(theta)
        return 0.5 * (w * w).sum(axis=0) + (0.5 * b * b if self.intercept == "regularised" else 0.0)

    def row_norms(self) -> np.ndarray:
        """Lengths of the rows, centred ones with a balance."""
        squares = self.table.row_norms2()
        if self.balanced:
            squares = squares - 2.0 * self.table.product(self.mean) + self.mean @ self.mean
        return np.sqrt(np.maximum(squares, 0.0))
