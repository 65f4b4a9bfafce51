"""Inverses of symmetric matrices that gain or lose rows and columns: O(m^2 s) for s of them instead of O(m^3).

With V = A^-1 B, the inverse of the Schur complement T = (D - B'V)^-1 and Z = (V, -I),

    [A  B ]^-1     [A^-1  0]
    [B' D ]     =  [0     0]  +  Z T Z'

and with P = A^-1 the inverse of A without the rows and columns g is P_kk - P_kg P_gg^-1 P_gk.
"""

from __future__ import annotations

import threading

import numpy as np
from scipy import linalg

from ..._threads import TILE, blas_threads_for, run_in_threads, tiles
from .blocked import factorize, invert

MAX_PENDING = 96  # columns of Z that are kept beside the inverse before they are added to it together


class GrowingInverse:
    """The inverse of a symmetric matrix that gains rows and columns, in one buffer that is never copied.

    A few terms Z T Z' are kept beside the buffer and added to it together, by one product of matrices; only the lower
    triangle, and diagonal tiles as a whole, are read and written.

    Parameters
    ----------
    capacity : int
        Largest size of the matrix.

    Attributes
    ----------
    size : int
        Its present size.
    """

    def __init__(self, capacity: int):
        self._lock = threading.Lock()
        self._buffer = np.zeros((capacity, capacity))
        self._pending_Z = np.zeros((capacity, MAX_PENDING))
        self._pending_ZT = np.zeros((capacity, MAX_PENDING))
        self._n_pending = 0
        self.size = 0

    def diagonal(self) -> np.ndarray:
        """The diagonal of the inverse."""
        Z, ZT = self._pending()
        return self._buffer.diagonal()[: self.size] + np.einsum("ij,ij->i", ZT, Z)

    def product(self, B: np.ndarray) -> np.ndarray:
        """The inverse times the columns of B."""
        Z, ZT = self._pending()
        out = ZT @ (Z.T @ B)

        def add(rows: slice) -> None:
            lower = self._buffer[rows, : rows.stop] @ B[: rows.stop]
            upper = self._buffer[rows, : rows.start].T @ B[rows]
            with self._lock:
                out[rows] += lower
                out[: rows.start] += upper

        run_in_threads(add, list(tiles(self.size, TILE)))
        return out

    def add(self, cross: np.ndarray, corner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Put B and B' beside the matrix and D into the corner.

        Parameters
        ----------
        cross : array of shape (size, s)
            B.
        corner : array of shape (s, s)
            D.

        Returns
        -------
        tuple of arrays
            V and T, which update solutions: with x that of y, the solution of (y, z) is (x - V d, d), d = T (z - B'x).
        """
        m, s = cross.shape
        V = self.product(cross)
        T = _symmetric_inverse(corner - cross.T @ V)
        if self._n_pending and self._n_pending + s > MAX_PENDING:
            self._add_pending()
        self.size += s
        VT, new = V @ T, slice(m, self.size)
        if s > MAX_PENDING or not m:
            self._buffer[:m, :m] += VT @ V.T
            self._buffer[:m, new], self._buffer[new, :m], self._buffer[new, new] = -VT, -VT.T, T
            return V, T
        columns = slice(self._n_pending, self._n_pending + s)
        self._pending_Z[: self.size, columns] = np.vstack([V, -np.eye(s)])
        self._pending_ZT[: self.size, columns] = np.vstack([VT, -T])
        self._n_pending += s
        return V, T

    def clear(self) -> None:
        """Start again at size zero."""
        self._buffer[: self.size, : self.size] = 0.0
        self._pending_Z[:], self._pending_ZT[:] = 0.0, 0.0
        self._n_pending = self.size = 0

    def _pending(self) -> tuple[np.ndarray, np.ndarray]:
        """Z and Z T of the terms that are not yet in the buffer."""
        return self._pending_Z[: self.size, : self._n_pending], self._pending_ZT[: self.size, : self._n_pending]

    def _add_pending(self) -> None:
        """Add the pending terms to the buffer."""
        Z, ZT = self._pending()

        def add(rows: slice) -> None:
            self._buffer[rows, : rows.stop] += ZT[rows] @ Z[: rows.stop].T

        run_in_threads(add, list(tiles(self.size, TILE)))
        self._n_pending = 0


def _symmetric_inverse(A: np.ndarray) -> np.ndarray:
    """The inverse of a symmetric matrix, which is mostly positive definite: not so with a free intercept in it."""
    U = np.array(A, order="F")
    if not factorize(U):
        inverse = linalg.inv(A)
        return 0.5 * (inverse + inverse.T)
    with blas_threads_for(len(U) ** 3 / 3):
        for _ in invert(U, len(U)):
            pass
    return np.triu(U) + np.triu(U, 1).T


def remove_from_inverse(inverse: np.ndarray, removed: np.ndarray) -> np.ndarray:
    """The inverse of A without some rows and columns, from the inverse of A."""
    kept = np.setdiff1d(np.arange(len(inverse)), removed)
    cross = inverse[np.ix_(kept, removed)]
    out = inverse[np.ix_(kept, kept)]
    with blas_threads_for(len(kept) * cross.size):
        out -= cross @ linalg.solve(inverse[np.ix_(removed, removed)], cross.T, assume_a="sym")
    return out
