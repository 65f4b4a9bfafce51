"""Inverses that follow their matrix as rows come and go: O(m^2 s) for s rows instead of O(m^3)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

TILE = 512  # rows of the inverse that are brought up to date at once, so that they stay in the cache
WAITING = 96  # columns that are put into the inverse together


class Growth(NamedTuple):
    """What a growth was made of: ``pull`` = A^-1 B and ``inner`` = (D - B'A^-1 B)^-1."""

    pull: np.ndarray
    inner: np.ndarray


class Growing:
    """The inverse of a symmetric matrix that gains rows, in one buffer that is never copied.

    With V = A^-1 B, T = (D - B'V)^-1 and Z = (V, -I) the inverse of [[A, B], [B', D]] is that of A, framed by zeros,
    plus Z T Z'. A few such terms are kept beside the buffer and put into it together, by one product that is as quick
    as products of matrices are; only the lower triangle is read and written.

    Parameters
    ----------
    capacity : int
        Rows that the matrix may come to have.
    spread : callable or None
        Runs a task on every item of a list, in threads perhaps; None for one after the other.

    Attributes
    ----------
    size : int
        Rows that it has.
    """

    def __init__(self, capacity: int, spread: Callable[[Callable, list], None] | None = None):
        self._spread = spread or _one_by_one
        self._lock = threading.Lock()
        self._buffer = np.zeros((capacity, capacity))
        self._outer = np.zeros((capacity, WAITING))  # Z of the terms that wait, and Z T
        self._weighted = np.zeros((capacity, WAITING))
        self._waiting = 0
        self.size = 0

    @property
    def inverse(self) -> np.ndarray:
        """The whole inverse, a copy."""
        self._settle()
        lower = np.tril(self._buffer[: self.size, : self.size])
        return lower + np.tril(lower, -1).T

    def diagonal(self) -> np.ndarray:
        """The diagonal of the inverse."""
        Z, weighted = self._terms()
        return self._buffer.diagonal()[: self.size] + np.einsum("ij,ij->i", weighted, Z)

    def times(self, B: np.ndarray) -> np.ndarray:
        """The inverse times columns."""
        Z, weighted = self._terms()
        out = weighted @ (Z.T @ B)

        def multiply(rows: slice) -> None:
            own = self._buffer[rows, : rows.stop] @ B[: rows.stop]
            above = self._buffer[rows, : rows.start].T @ B[rows]
            with self._lock:
                out[rows] += own
                out[: rows.start] += above

        self._spread(multiply, self._tiles())
        return out

    def add(self, cross: np.ndarray, corner: np.ndarray) -> Growth:
        """Put B and B' beside the matrix and D in the corner.

        Parameters
        ----------
        cross : array of shape (size, s)
            B.
        corner : array of shape (s, s)
            D.

        Returns
        -------
        Growth
            V and T, by which solutions follow: that of (y, z) is (x - V d, d) with d = T (z - B'x), x that of y.
        """
        m, s = cross.shape
        V = self.times(cross)
        T = linalg.inv(corner - cross.T @ V)
        T = 0.5 * (T + T.T)
        if not m:
            self._buffer[:s, :s] = T
            self.size = s
            return Growth(V, T)
        Z = np.vstack([V, -np.eye(s)])
        if self._waiting + s > WAITING:
            self._settle()
        self.size += s
        if s > WAITING:
            self._put(Z, Z @ T)
        else:
            new = slice(self._waiting, self._waiting + s)
            self._outer[: self.size, new], self._weighted[: self.size, new] = Z, Z @ T
            self._waiting += s
        return Growth(V, T)

    def clear(self) -> None:
        """Back to no rows."""
        self._buffer[: self.size, : self.size] = 0.0
        self._outer[:], self._weighted[:] = 0.0, 0.0
        self._waiting = self.size = 0

    def _terms(self) -> tuple[np.ndarray, np.ndarray]:
        """Z and Z T of the terms that wait."""
        return self._outer[: self.size, : self._waiting], self._weighted[: self.size, : self._waiting]

    def _settle(self) -> None:
        """Put what waits into the buffer."""
        if self._waiting:
            self._put(*self._terms())
            self._waiting = 0

    def _put(self, Z: np.ndarray, weighted: np.ndarray) -> None:
        def put(rows: slice) -> None:
            self._buffer[rows, : rows.stop] += weighted[rows] @ Z[: rows.stop].T

        self._spread(put, self._tiles())

    def _tiles(self) -> list[slice]:
        """Rows; a tile has its columns up to the end of its diagonal block, which is held whole."""
        return [slice(start, min(start + TILE, self.size)) for start in range(0, self.size, TILE)]


def _one_by_one(task: Callable, items: list) -> None:
    for item in items:
        task(item)


def shrink(inverse: np.ndarray, gone: np.ndarray) -> np.ndarray:
    """The inverse of A without the rows and columns ``gone``: P_kk - P_kg P_gg^-1 P_gk, P = A^-1."""
    kept = np.setdiff1d(np.arange(len(inverse)), gone)
    cross = inverse[np.ix_(kept, gone)]
    out = inverse[np.ix_(kept, kept)]
    out -= cross @ linalg.solve(inverse[np.ix_(gone, gone)], cross.T, assume_a="sym")
    return out
