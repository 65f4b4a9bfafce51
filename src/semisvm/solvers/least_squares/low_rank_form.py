r"""The form of samples with few features: S by a factor with as many columns as there are features.

With Z~ = [Z, 1] (or Z alone), R = diag(1, ..., 1, 0 or 1) and G = Z~'diag(c)Z~ + R = L L',

    Q = diag(c)^1/2 Z~ L^-T,     S = diag(c)^1/2 (I - Q Q') diag(c)^1/2,     [w; b] = L^-T Q' diag(c)^1/2 y

O(n r^2) time and O(n r) memory in all; a flip of a label takes O(r).
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import blas, lapack

from ..._threads import blas_threads_for, tiles
from ...spaces import DesignMatrix
from ..base import StoppingRule
from .quadratic_form import QuadraticForm

BLOCK_ROWS = 4096  # rows of Z that are multiplied at a time


def _too_large(Z: DesignMatrix, cost: np.ndarray) -> str:
    """Why Z~'diag(c)Z~ + R cannot be factored: R is lost beside products of large features."""
    if Z.in_memory:
        largest = float(np.abs(Z.X.data if Z.sparse else Z.X).max(initial=0.0))
    else:
        largest = Z.max_norm
    return (
        f"features up to {largest:.2g} with costs up to {cost.max():.2g} are too large for least squares: their "
        "products leave no digits for the regularizer. Sums of C times squared features up to about 1e15 are allowed; "
        "center and scale X, for instance with sklearn.preprocessing.StandardScaler, or lower C."
    )


class LowRankForm(QuadraticForm):
    """The form of features, f = Z w + b.

    All that it asks of the features are products, so that they need not be in memory; Q is held only if they are.

    Parameters
    ----------
    Z : DesignMatrix of shape (n, r)
        The features.
    cost : array of shape (n,)
        c, above zero.
    intercept : {True, False, "regularized"}
        A free intercept, none, or one that is part of the norm.
    """

    def __init__(self, Z: DesignMatrix, cost: np.ndarray, intercept: bool | str = True):
        self.n, self.rank = Z.n, Z.d
        self.Z = Z
        self.cost = cost
        self.sqrt_cost = np.sqrt(cost)
        self.intercept = intercept
        self.has_ones = intercept is not False  # whether Z~ has a column of ones
        r = self.rank
        G = np.zeros((r + self.has_ones, r + self.has_ones), order="F")
        G[:r, :r], sums = Z.weighted_gram(cost)
        if self.has_ones:
            G[r, :r] = G[:r, r] = sums
            G[r, r] = cost.sum() + (1.0 if intercept == "regularized" else 0.0)
        G[np.arange(r), np.arange(r)] += 1.0
        with blas_threads_for(len(G) ** 3 / 6):
            self._L, failed = lapack.dpotrf(G, lower=1, clean=1, overwrite_a=1)
        if failed or not np.isfinite(self._L.diagonal()).all():  # LAPACK lets NaN pass
            raise ValueError(_too_large(Z, cost))
        # det G is det(I + Z'cZ) times the Schur complement of the border, 1'M^-1 1
        self.log_det = float(2.0 * np.log(np.diag(self._L)).sum() - np.log(cost).sum())
        self._lock = threading.Lock()
        self._Q: np.ndarray | None = None

    def compute_Q(self) -> np.ndarray:
        """Q of shape (n, r + 1), or (n, r) without an intercept; threads that call together compute it once."""
        with self._lock:
            if self._Q is None:
                Q = self.whiten(self.Z.X)
                for rows in tiles(self.n, BLOCK_ROWS):
                    Q[rows] *= self.sqrt_cost[rows, None]
                self._Q = Q
            return self._Q

    def whiten(self, Z: Any) -> np.ndarray:
        """Z~ L^-T for the features Z of any samples."""
        out = np.empty((Z.shape[0], len(self._L)))
        for rows in tiles(Z.shape[0], BLOCK_ROWS):
            out[rows, : self.rank] = Z[rows].toarray() if sparse.issparse(Z) else Z[rows]
            if self.has_ones:
                out[rows, self.rank] = 1.0
            with blas_threads_for(len(out[rows]) * self._L.size / 2):
                out[rows] = blas.dtrsm(1.0, self._L, out[rows].T, lower=1).T
        return out

    def right_side(self, y: np.ndarray) -> np.ndarray:
        """Z~'diag(c) y, for one column of labels or several."""
        weighted = (self.cost * y.T).T
        products = self.Z.adjoint(weighted)
        return np.concatenate([products, weighted.sum(axis=0, keepdims=True)]) if self.has_ones else products

    def solve(self, right_side: np.ndarray) -> np.ndarray:
        """G^-1 times one column or several: [w; b] of the labels of a right side."""
        return lapack.dpotrs(self._L, right_side, lower=1)[0]

    @cached_property
    def inverse(self) -> np.ndarray:
        """G^-1."""
        with blas_threads_for(len(self._L) ** 3 / 3):
            lower = np.tril(lapack.dpotri(self._L, lower=1)[0])
        return lower + np.tril(lower, -1).T

    def scores_of(self, solution: np.ndarray) -> np.ndarray:
        """f at the samples for [w; b]."""
        f = self.Z.product(solution[: self.rank])
        return f + solution[self.rank] if self.has_ones else f

    def primal_solution(self, y: np.ndarray) -> tuple[np.ndarray, float]:
        """w and b for labels y."""
        solution = self.solve(self.right_side(y))
        return (solution[:-1], float(solution[-1])) if self.has_ones else (solution, 0.0)

    def product(self, y: np.ndarray) -> np.ndarray:
        """S y = c (y - f)."""
        return (self.cost * (y - self.scores_of(self.solve(self.right_side(y)))).T).T

    def prepare_entries(self, stop: StoppingRule) -> None:
        """Compute Q, or the leverages of samples that are not in memory."""
        stop.check_time()
        if self.Z.in_memory:
            self.compute_Q()
        else:
            self.leverages  # noqa: B018 (computed at the first look)

    @cached_property
    def leverages(self) -> np.ndarray:
        """c_j z~_j'G^-1 z~_j = (QQ')_jj: how much a label counts in the score of its own sample."""
        if self.Z.in_memory:
            Q = self.compute_Q()
            return np.einsum("ij,ij->i", Q, Q)
        T = lapack.dtrtri(self._L, lower=1)[0].T
        shift = T[self.rank] if self.has_ones else np.zeros(self.rank)
        return self.cost * self.Z.mapped_norms(T[: self.rank], shift)

    def diagonal(self) -> np.ndarray:
        """S_jj."""
        return self.cost * (1.0 - self.leverages)

    def block(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """S at some rows and columns."""
        left = self._rows_of_Q(rows)
        right = left if columns is None else self._rows_of_Q(columns)
        columns = rows if columns is None else columns
        product = -(left @ right.T)
        product[np.asarray(rows)[:, None] == np.asarray(columns)] += 1.0
        return self.sqrt_cost[rows][:, None] * product * self.sqrt_cost[columns]

    def _rows_of_Q(self, rows: np.ndarray) -> np.ndarray:
        if self.Z.in_memory:
            return self.compute_Q()[rows]
        return self.sqrt_cost[rows, None] * self.whiten(self.Z.samples_at(rows))
