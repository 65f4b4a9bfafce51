r"""The form of samples with few features: S by a factor with as many columns as there are features.

With Z~ = [Z, 1] (or Z alone), R = diag(1, ..., 1, 0 or 1) and G = Z~'diag(c)Z~ + R = L L',

    Q = diag(c)^1/2 Z~ L^-T,     S = diag(c)^1/2 (I - Q Q') diag(c)^1/2,     [w; b] = L^-T Q' diag(c)^1/2 y

O(n r^2) time and O(n r) memory in all; a flip of a label takes O(r).
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import blas, lapack

from ..._threads import tiles
from ..base import StoppingRule
from .quadratic_form import QuadraticForm

BLOCK_ROWS = 4096  # rows of Z that are multiplied at a time


def _too_large(Z: Any, cost: np.ndarray) -> str:
    """Why Z~'diag(c)Z~ + R cannot be factored: R is lost beside products of large features."""
    largest = float(np.abs(Z.data if sparse.issparse(Z) else Z).max(initial=0.0))
    return (
        f"features up to {largest:.2g} with costs up to {cost.max():.2g} are too large for least squares: their "
        "products leave no digits for the regularizer. Sums of C times squared features up to about 1e15 are allowed; "
        "center and scale X, for instance with sklearn.preprocessing.StandardScaler, or lower C."
    )


class LowRankForm(QuadraticForm):
    """The form of features, f = Z w + b.

    Parameters
    ----------
    Z : array or CSR of shape (n, r)
        The features.
    cost : array of shape (n,)
        c, above zero.
    intercept : {True, False, "regularized"}
        A free intercept, none, or one that is part of the norm.
    """

    def __init__(self, Z: Any, cost: np.ndarray, intercept: bool | str = True):
        self.n, self.rank = Z.shape
        self.Z = Z
        self.cost = cost
        self.sqrt_cost = np.sqrt(cost)
        self.intercept = intercept
        self._has_ones = intercept is not False  # whether Z~ has a column of ones
        r = self.rank
        G = np.zeros((r + self._has_ones, r + self._has_ones), order="F")
        G[:r, :r] = self._weighted_gram()
        if self._has_ones:
            G[r, :r] = G[:r, r] = np.asarray(Z.T @ cost).ravel()
            G[r, r] = cost.sum() + (1.0 if intercept == "regularized" else 0.0)
        G[np.arange(r), np.arange(r)] += 1.0
        self._L, failed = lapack.dpotrf(G, lower=1, clean=1, overwrite_a=1)
        if failed or not np.isfinite(self._L.diagonal()).all():  # LAPACK lets NaN pass
            raise ValueError(_too_large(Z, cost))
        # det G is det(I + Z'cZ) times the Schur complement of the border, 1'M^-1 1
        self.log_det = float(2.0 * np.log(np.diag(self._L)).sum() - np.log(cost).sum())
        self._lock = threading.Lock()
        self._Q: np.ndarray | None = None

    def _weighted_gram(self) -> np.ndarray:
        """Z'diag(c)Z, by blocks of rows."""
        if sparse.issparse(self.Z):
            return (self.Z.T @ self.Z.multiply(self.cost[:, None])).toarray()
        total = np.zeros((self.rank, self.rank), order="F")
        for rows in tiles(self.n, BLOCK_ROWS):
            scaled = self.sqrt_cost[rows, None] * self.Z[rows]
            total = blas.dsyrk(1.0, scaled.T, beta=1.0, c=total, lower=1, overwrite_c=1)
        return np.tril(total) + np.tril(total, -1).T

    def compute_Q(self) -> np.ndarray:
        """Q of shape (n, r + 1), or (n, r) without an intercept; threads that call together compute it once."""
        with self._lock:
            if self._Q is None:
                Q = self.whiten(self.Z)
                for rows in tiles(self.n, BLOCK_ROWS):
                    Q[rows] *= self.sqrt_cost[rows, None]
                self._Q = Q
            return self._Q

    def whiten(self, Z: Any) -> np.ndarray:
        """Z~ L^-T for the features Z of any samples."""
        out = np.empty((Z.shape[0], len(self._L)))
        for rows in tiles(Z.shape[0], BLOCK_ROWS):
            out[rows, : self.rank] = Z[rows].toarray() if sparse.issparse(Z) else Z[rows]
            if self._has_ones:
                out[rows, self.rank] = 1.0
            out[rows] = blas.dtrsm(1.0, self._L, out[rows].T, lower=1).T
        return out

    def _solve(self, y: np.ndarray) -> np.ndarray:
        """[w; b] for labels y, by G [w; b] = Z~'diag(c) y."""
        weighted = (self.cost * y.T).T
        right_side = np.asarray(self.Z.T @ weighted)
        if self._has_ones:
            right_side = np.concatenate([right_side, weighted.sum(axis=0, keepdims=True)])
        return lapack.dpotrs(self._L, right_side, lower=1)[0]

    def primal_solution(self, y: np.ndarray) -> tuple[np.ndarray, float]:
        """w and b for labels y."""
        solution = self._solve(y)
        return (solution[:-1], float(solution[-1])) if self._has_ones else (solution, 0.0)

    def product(self, y: np.ndarray) -> np.ndarray:
        """S y = c (y - f)."""
        solution = self._solve(y)
        f = np.asarray(self.Z @ solution[: self.rank]) + (solution[self.rank] if self._has_ones else 0.0)
        return (self.cost * (y - f).T).T

    def prepare_entries(self, stop: StoppingRule) -> None:
        """Compute Q."""
        stop.check_time()
        self.compute_Q()

    def diagonal(self) -> np.ndarray:
        """S_jj."""
        Q = self.compute_Q()
        return self.cost * (1.0 - np.einsum("ij,ij->i", Q, Q))

    def block(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """S at some rows and columns."""
        columns = rows if columns is None else columns
        Q = self.compute_Q()
        product = -(Q[rows] @ Q[columns].T)
        product[np.asarray(rows)[:, None] == np.asarray(columns)] += 1.0
        return self.sqrt_cost[rows][:, None] * product * self.sqrt_cost[columns]
