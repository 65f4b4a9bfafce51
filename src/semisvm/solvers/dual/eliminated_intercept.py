"""Samples with features whose intercept is eliminated, so that the dual of a hinge has bounds only.

A sample x is replaced by z, so that f_i = z_i'w + offset_i:

================================  ==============================================  ========
intercept, balance                z                                               offset
================================  ==============================================  ========
absent, none                      x                                               0
regularized, none                 (x, 1)                                          0
free, mean m at mu                x - mu                                          m
absent or regularized, mean m     x - t mu, t = mu'x / ||mu||^2; with a           t m
                                  regularized intercept those of (x, 1), (mu, 1)
================================  ==============================================  ========

X is not changed, a sparse one stays sparse: z_i'z_j is x_i'x_j + R_i'L_j with two numbers per sample in R and in L. The
multiplier of the mean follows from those of the samples.
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
        In a space of features, without a free intercept unless a mean is fixed.

    Attributes
    ----------
    rows : tuple of arrays
        The z_i as ``coordinate_steps`` reads them.
    diagonal, offset : array of shape (n,)
        ||z_i||^2 and the offsets.
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
        self.offset = np.zeros(n)
        if self.mean is not None:
            m, products, norm2, share = self.mean
            self.offset = m * share
            L[:, 1], R[:, 1] = products, -share
            if problem.intercept is True:
                L[:, 0], R[:, 0] = 1.0, norm2 - products
        self.diagonal = np.maximum(space.design.squared_norms() + (L * R).sum(axis=1), 0.0)
        self.size, self.n_entries = X.shape[1] + 2, n_entries(X)
        if sparse.issparse(X):
            self.rows = (np.zeros((0, 0)), np.asarray(X.data, dtype=np.float64), X.indices, X.indptr, R, L)
        else:
            self.rows = (np.ascontiguousarray(X, dtype=np.float64), *NO_CSR, R, L)

    def dual_point(self, a: np.ndarray, f: np.ndarray, violation: float, n_iter: int, status: str) -> DualPoint:
        """The point of the dual with virtual samples; f is z_i'w + offset_i, with the ridge."""
        b, virtual, f_virtual = 0.0, [], []
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
    """Whether there are features and the intercept follows from w: not a free one without a mean, nor a mean at 0."""
    if not isinstance(problem.space, Features):
        return False
    if problem.fixed_mean is None:
        return problem.intercept is not True
    return (
        problem.intercept is True
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
