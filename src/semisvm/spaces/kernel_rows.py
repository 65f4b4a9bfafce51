"""Rows of a kernel matrix: gathered, added up, and cached as they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._jit import SUMS_IN_ANY_ORDER, jit
from .._threads import run_in_threads, tiles

CHUNK = 1024  # rows computed at once where their places in the cache are not contiguous


@jit(fastmath=SUMS_IN_ANY_ORDER)
def add_rows(K, index, weights, start, stop, out):
    """out[start:stop] += sum over index of weight times that part of the row of K, in strips that fit the cache."""
    strip = 2048
    for left in range(start, stop, strip):
        right = min(left + strip, stop)
        for k in range(index.size):
            row = K[index[k]]
            weight = weights[k]
            for t in range(left, right):
                out[t] += weight * row[t]


@jit()
def _gather(K, rows, columns, first, last, out):
    """out[first:last] = K[rows[first:last]][:, columns]."""
    for r in range(first, last):
        row = K[rows[r]]
        for c in range(columns.size):
            out[r, c] = row[columns[c]]


def submatrix(K: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """K[rows][:, columns], copied by all cores."""
    out = np.empty((len(rows), len(columns)), dtype=K.dtype)
    run_in_threads(lambda part: _gather(K, rows, columns, part.start, part.stop, out), list(tiles(len(rows))))
    return out


class RowCache:
    """At most ``capacity`` rows of an n by n kernel matrix; the least recently used ones are replaced.

    Parameters
    ----------
    n : int
        Number of rows and columns of the matrix.
    capacity : int
        Number of rows held.
    dtype : dtype
        Type of the values.
    compute : callable
        Takes an array of row numbers and an array of shape (len, n) that it fills with these rows.
    """

    def __init__(self, n: int, capacity: int, dtype: Any, compute: Callable[[np.ndarray, np.ndarray], None]):
        self.values = np.empty((capacity, n), dtype=dtype)  # memory is taken as rows are written
        self.slot = np.full(n, -1)
        self._owner = np.full(capacity, -1)
        self._last_use = np.zeros(capacity, dtype=np.int64)
        self._n_taken = 0
        self._clock = 0
        self._compute = compute

    @property
    def capacity(self) -> int:
        """Number of rows that can be held."""
        return len(self._owner)

    def slots(self, index: np.ndarray) -> np.ndarray:
        """Positions of the rows in ``values``, after computing those that are missing."""
        self._clock += 1
        held = self.slot[index]
        self._last_use[held[held >= 0]] = self._clock
        missing = index[held < 0]
        n_empty = min(len(missing), self.capacity - self._n_taken)
        if n_empty:
            places = np.arange(self._n_taken, self._n_taken + n_empty)
            self._compute(missing[:n_empty], self.values[self._n_taken : self._n_taken + n_empty])
            self._n_taken += n_empty
            self._assign(missing[:n_empty], places)
        if n_empty < len(missing):
            rest = missing[n_empty:]
            places = np.argpartition(self._last_use, len(rest) - 1)[: len(rest)]
            self.slot[self._owner[places]] = -1
            for part in range(0, len(rest), CHUNK):
                rows = np.empty((min(CHUNK, len(rest) - part), len(self.slot)), dtype=self.values.dtype)
                self._compute(rest[part : part + CHUNK], rows)
                self.values[places[part : part + CHUNK]] = rows
            self._assign(rest, places)
        return self.slot[index]

    def _assign(self, rows: np.ndarray, places: np.ndarray) -> None:
        self._owner[places], self.slot[rows], self._last_use[places] = rows, places, self._clock
