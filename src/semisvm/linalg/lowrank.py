"""S of rows with few features: a factor with as many columns as there are features."""

from __future__ import annotations

import threading

import numpy as np
from scipy import sparse
from scipy.linalg import blas, lapack

from .form import Form

PART = 4096  # rows at a time


class LowRank(Form):
    r"""The form of a table of features, f = Z w + b.

    With Z~ = [Z, 1] (or Z alone), R = diag(1, ..., 1, 0 or 1) and G = Z~'diag(c)Z~ + R = L L',

        Q = diag(c)^1/2 Z~ L^-T,     S = diag(c)^1/2 (I - Q Q') diag(c)^1/2,     [w; b] = L^-T Q' diag(c)^1/2 y

    Q is computed where a search asks for it: O(n r^2) time and O(n r) memory in all, O(r) a flip.

    Parameters
    ----------
    Z : array or CSR of shape (n, r)
        The features.
    cost : array of shape (n,)
        c, above zero.
    intercept : {True, False, "regularised"}
        A free intercept, none, or one that is part of the norm.
    """

    def __init__(self, Z, cost: np.ndarray, intercept: bool | str = True):
        self.n, self.rank = Z.shape
        self.Z = Z
        self.cost = cost
        self.root = np.sqrt(cost)
        self.intercept = intercept
        self._wide = intercept is not False
        r = self.rank
        G = np.zeros((r + self._wide, r + self._wide), order="F")
        G[:r, :r] = self._crossed()
        if self._wide:
            G[r, :r] = G[:r, r] = np.asarray(Z.T @ cost).ravel()
            G[r, r] = cost.sum() + (1.0 if intercept == "regularised" else 0.0)
        G[np.arange(r), np.arange(r)] += 1.0
        self._L, failed = lapack.dpotrf(G, lower=1, clean=1, overwrite_a=1)
        if failed or not np.isfinite(self._L.diagonal()).all():  # LAPACK lets NaN pass
            raise ValueError("the features are not finite or too large to be multiplied; scale X.")
        # det G is det(I + Z'cZ) times the Schur complement of the border, 1'M^-1 1
        self.log_det = float(2.0 * np.log(np.diag(self._L)).sum() - np.log(cost).sum())
        self._lock = threading.Lock()
        self._Q = None

    def _crossed(self) -> np.ndarray:
        """Z'diag(c)Z, part by part."""
        if sparse.issparse(self.Z):
            return (self.Z.T @ self.Z.multiply(self.cost[:, None])).toarray()
        total = np.zeros((self.rank, self.rank), order="F")
        for part in _parts(self.n):
            scaled = self.root[part, None] * self.Z[part]
            total = blas.dsyrk(1.0, scaled.T, beta=1.0, c=total, lower=1, overwrite_c=1)
        return np.tril(total) + np.tril(total, -1).T

    @property
    def Q(self) -> np.ndarray:
        """The factor, shape (n, r + 1) with an intercept; several threads that ask compute it once."""
        with self._lock:
            if self._Q is None:
                self._Q = self._factor()
            return self._Q

    def _factor(self) -> np.ndarray:
        Q = self.lift(self.Z)
        for part in _parts(self.n):
            Q[part] *= self.root[part, None]
        return Q

    def lift(self, Z) -> np.ndarray:
        """Z~ L^-T for any rows of features."""
        out = np.empty((Z.shape[0], len(self._L)))
        for part in _parts(Z.shape[0]):
            out[part, : self.rank] = Z[part].toarray() if sparse.issparse(Z) else Z[part]
            if self._wide:
                out[part, self.rank] = 1.0
            out[part] = blas.dtrsm(1.0, self._L, out[part].T, lower=1).T  # L^-1 of the rows as columns
        return out

    def _extended(self, v: np.ndarray) -> np.ndarray:
        """Z~'v."""
        product = np.asarray(self.Z.T @ v)
        return np.concatenate([product, v.sum(axis=0, keepdims=True)]) if self._wide else product

    def _theta(self, y: np.ndarray) -> np.ndarray:
        """[w; b] for the labels."""
        return lapack.dpotrs(self._L, self._extended((self.cost * y.T).T), lower=1)[0]

    def weights(self, y: np.ndarray) -> tuple[np.ndarray, float]:
        """W and b for the labels."""
        theta = self._theta(y)
        return (theta[:-1], float(theta[-1])) if self._wide else (theta, 0.0)

    def times(self, y: np.ndarray) -> np.ndarray:
        """S y = c (y - f)."""
        theta = self._theta(y)
        f = np.asarray(self.Z @ theta[: self.rank]) + (theta[self.rank] if self._wide else 0.0)
        return (self.cost * (y - f).T).T

    def bias(self, y: np.ndarray, alpha: np.ndarray) -> float:
        """The intercept that goes with the labels."""
        return self.weights(y)[1]

    def diagonal(self) -> np.ndarray:
        """S_jj."""
        return self.cost * (1.0 - np.einsum("ij,ij->i", self.Q, self.Q))

    def block(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """S at some rows and columns."""
        columns = rows if columns is None else columns
        product = -(self.Q[rows] @ self.Q[columns].T)
        product[np.asarray(rows)[:, None] == np.asarray(columns)] += 1.0
        return self.root[rows][:, None] * product * self.root[columns]


def _parts(n: int):
    return (slice(start, min(start + PART, n)) for start in range(0, n, PART))
