"""Samples with features whose intercept is eliminated, so that the dual of a hinge has bounds only.

A sample x is replaced by z, so that f_i = z_i'w + offset_i:

================================  ==============================================  ========
intercept, balance                z                                               offset
================================  ==============================================  ========
absent, none                      x                                               0
regularized, none                 (x, 1)                                          0
free, none                        (x, beta)                                       b
free, mean m at mu                x - mu                                          m
absent or regularized, mean m     x - t mu, t = mu'x / ||mu||^2; with a           t m
                                  regularized intercept those of (x, 1), (mu, 1)
================================  ==============================================  ========

A free intercept that no mean fixes is not eliminated but found by the method of multipliers [1]_: with b as it is the
bounds are left, and beta^2 sum a, the penalty of a sum that is not zero, is what b then changes by. beta is of the size
of the samples.

X is not changed, a sparse one stays sparse: z_i'z_j is x_i'x_j + R_i'L_j with two numbers per sample in R and in L. The
multiplier of the mean follows from those of the samples.

References
----------
.. [1] M. R. Hestenes, "Multiplier and gradient methods", Journal of Optimization Theory and Applications 4, 1969.
   https://doi.org/10.1007/BF00927673
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...problem import Problem
from ...spaces import Features
from .dual_problem import DualPoint

ROUNDING = 1e-12  # of the largest squared norm of a sample: a squared norm of the mean below is zero
NO_CSR = (np.zeros(0), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))


class MeanSample(NamedTuple):
    """The mean mu of a balance: the score m there, products with the samples, squared norm, and t of each sample."""

    score: float
    products: np.ndarray
    norm2: float
    share: np.ndarray


class EliminatedIntercept:
    """The samples z of a problem, and the way back from their multipliers to a point of its dual.

    Parameters
    ----------
    problem : Problem
        In a space of features.

    Attributes
    ----------
    rows : tuple of arrays
        The z_i as ``coordinate_steps`` reads them.
    diagonal, offset : array of shape (n,)
        ||z_i||^2 and the offsets; those of a free intercept are zero.
    penalty : float
        beta^2 of a free intercept that no mean fixes, else 0.
    size, n_entries : int
        Length of w there, and how many numbers X stores.
    mean : MeanSample or None
        The mean of a balance.
    """

    def __init__(self, problem: Problem):
        space = problem.space
        assert isinstance(space, Features), "coordinate descent needs a space of features"
        self.problem, X, n = problem, space.X, space.n
        self.mean = None if problem.fixed_mean is None else _mean_sample(problem, problem.fixed_mean)
        L, R = np.zeros((n, 2)), np.zeros((n, 2))
        L[:, 0] = R[:, 0] = problem.intercept == "regularized"
        self.offset, self.penalty = np.zeros(n), 0.0
        squares = space.design.squared_norms()
        if self.mean is None and problem.intercept is True:
            self.penalty = float(squares.mean()) or 1.0
            L[:, 0], R[:, 0] = self.penalty, 1.0
        if self.mean is not None:
            m, products, norm2, share = self.mean
            self.offset = m * share
            L[:, 1], R[:, 1] = products, -share
            if problem.intercept is True:
                L[:, 0], R[:, 0] = 1.0, norm2 - products
        self.diagonal = np.maximum(squares + (L * R).sum(axis=1), 0.0)
        self.size, self.n_entries = X.shape[1] + 2, n_entries(X)
        if sparse.issparse(X):
            self.rows = (np.zeros((0, 0)), np.asarray(X.data, dtype=np.float64), X.indices, X.indptr, R, L)
        else:
            self.rows = (np.ascontiguousarray(X, dtype=np.float64), *NO_CSR, R, L)

    def dual_point(
        self, a: np.ndarray, f: np.ndarray, violation: float, n_iter: int, status: str, b: float = 0.0
    ) -> DualPoint:
        """The point of the dual with virtual samples; f is z_i'w + offset_i, with the ridge, b a free intercept."""
        virtual, f_virtual = [], []
        if self.mean is not None:
            m, products, norm2, share = self.mean
            multiplier, mean_score = -float(share @ a), m
            if self.problem.intercept is True:
                mean_score = float(products @ a) + multiplier * norm2  # mu'w
                b = m - mean_score
            else:
                multiplier += m / norm2
            virtual, f_virtual = [multiplier], [mean_score]
        if self.problem.intercept is not True:
            virtual, f_virtual = [*virtual, -float(a.sum() + sum(virtual))], [*f_virtual, 0.0]
        return DualPoint(np.concatenate([a, virtual]), np.concatenate([f - b, f_virtual]), b, violation, n_iter, status)


def n_entries(X: Any) -> int:
    """How many numbers a dense or sparse array stores."""
    return int(X.nnz if sparse.issparse(X) else X.size)


def can_be_eliminated(problem: Problem) -> bool:
    """Whether there are features, with which a mean at 0 cannot be fixed unless the intercept is free."""
    if not isinstance(problem.space, Features):
        return False
    return (
        problem.fixed_mean is None
        or problem.intercept is True
        or _mean_sample(problem, problem.fixed_mean).norm2 > ROUNDING * problem.space.design.max_norm**2
    )


def _mean_sample(problem: Problem, score: float) -> MeanSample:
    """The mean of the unlabeled samples; with a 1 appended for a regularized intercept."""
    appended = float(problem.intercept == "regularized")
    mean = problem.space.from_dual(problem.mean_weights)
    products = problem.space.scores(mean, appended)
    norm2 = float(mean @ mean) + appended
    share = np.ones(len(products)) if problem.intercept is True else products / max(norm2, np.finfo(np.float64).tiny)
    return MeanSample(score, products, norm2, share)
