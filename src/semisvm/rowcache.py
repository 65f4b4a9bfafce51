"""Kernel rows that were asked for lately, kept until the memory is needed for others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._jit import jit

PART = 1024  # rows computed at once where they do not follow each other


@jit(fastmath={"contract", "reassoc", "nsz"})
def add_rows(K, index, weights, start, stop, out):
    """out[start:stop] += sum over index of weight times that part of the row of K, in strips that stay in the cache."""
    strip = 2048
    for left in range(start, stop, strip):
        right = min(left + strip, stop)
        for k in range(index.size):
            row = K[index[k]]
            weight = weights[k]
            for t in range(left, right):
                out[t] += weight * row[t]


@jit()
def gather(K, rows, columns, first, last, out):
    """out[first:last] = K[rows[first:last]][:, columns]."""
    for r in range(first, last):
        row = K[rows[r]]
        for c in range(columns.size):
            out[r, c] = row[columns[c]]


class RowCache:
    """At most ``capacity`` rows of an n by n kernel matrix; the longest unused make room for new ones.

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

    def __init__(self, n: int, capacity: int, dtype, compute: Callable[[np.ndarray, np.ndarray], None]):
        self.values = np.empty((capacity, n), dtype=dtype)  # memory is taken as rows are written
        self.slot = np.full(n, -1)
        self._owner = np.full(capacity, -1)
        self._used = np.zeros(capacity, dtype=np.int64)
        self._taken = 0
        self._clock = 0
        self._compute = compute

    @property
    def capacity(self) -> int:
        """Number of rows there is room for."""
        return len(self._owner)

    def slots(self, index: np.ndarray) -> np.ndarray:
        """Where the rows stand in ``values``, after computing those that are not there yet."""
        self._clock += 1
        held = self.slot[index]
        self._used[held[held >= 0]] = self._clock
        missing = index[held < 0]
        empty = min(len(missing), self.capacity - self._taken)
        if empty:
            room = np.arange(self._taken, self._taken + empty)
            self._compute(missing[:empty], self.values[self._taken : self._taken + empty])
            self._taken += empty
            self._give(missing[:empty], room)
        if empty < len(missing):
            late = missing[empty:]
            room = np.argpartition(self._used, len(late) - 1)[: len(late)]
            self.slot[self._owner[room]] = -1
            for part in range(0, len(late), PART):
                rows = np.empty((min(PART, len(late) - part), len(self.slot)), dtype=self.values.dtype)
                self._compute(late[part : part + PART], rows)
                self.values[room[part : part + PART]] = rows
            self._give(late, room)
        return self.slot[index]

    def _give(self, rows: np.ndarray, room: np.ndarray) -> None:
        self._owner[room], self.slot[rows], self._used[room] = rows, room, self._clock
