"""What every space answers, what it remembers for several problems, and the memory rule.

**The memory rule.** A kernel matrix is held whole while it takes at most ``memory_limit()`` bytes: 4 GiB, or half of
the memory that is free if that is less, or what the environment variable ``SEMISVM_MEMORY`` says (in bytes; inf for no
limit). It is of float64 up to ``FLOAT64_SAMPLES`` samples and of float32 above. Beyond the limit nothing is held whole:
solvers ask for the block of the samples they work on, at most ``largest_block``, and the rows used last are cached
within the same limit. Features in place of a kernel keep it, too, and what cannot keep it is refused by
``require_memory`` before it is computed. A fit may hold a few matrices of that size at a time; what a
``KernelCache`` keeps for later fits has the same limit, unless it is given another. Whatever the limit,
matrices of the size of a block of ``MIN_BLOCK`` samples, and those of the 1,000 samples that show a bandwidth or
whether a kernel is definite, are allowed: some 24 MB.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from .gram import Gram

FLOAT64_SAMPLES = 4096  # kernel matrices up to 128 MiB are of float64
MEMORY_LIMIT = 4 * 2**30
MIN_BLOCK = 512  # samples whose kernel matrix is held whatever the limit
LOOK_PERIOD = 0.1  # seconds after which the free memory is looked up again: a small fit asks several times

_last_look = (-math.inf, 0)  # when, and the bytes that were free

Value = TypeVar("Value")


class Space(Protocol):
    """Where f = <w, phi(x)> + b lives; w is given by the coordinates ``coef``."""

    @property
    def n(self) -> int:
        """Number of training samples."""

    def scores(self, coef: np.ndarray, b: float) -> np.ndarray:
        """f at the training samples."""

    def norm2(self, coef: np.ndarray) -> float:
        """||w||^2."""

    def norm1(self, coef: np.ndarray) -> float:
        """||w||_1, in a space of features."""

    def gram(self) -> Gram:
        """The kernel matrix of the space, for solvers that work on the dual."""

    def from_dual(self, a: np.ndarray) -> np.ndarray:
        """The coordinates of w = sum a_i phi(x_i)."""

    def once(self, key: tuple, make: Callable[[], Value]) -> Value:
        """What ``make`` returns, computed once for all problems in the space that ask with the same key.

        A space may be that of several fits: the key holds all that the result depends on besides the space.
        """

    def forget(self, key: tuple) -> None:
        """Let what this key stands for be computed again."""


class Memo:
    """Remembers the last few results that several problems in one space have in common."""

    N_KEPT = 2

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._kept: dict[tuple, list[Any]] = {}

    def once(self, key: tuple, make: Callable[[], Value]) -> Value:
        """The result for this key, computed now if it is not there; threads that ask together compute it once."""
        with self._guard:
            if key not in self._kept:
                if len(self._kept) >= self.N_KEPT:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[key] = [threading.Lock(), None]
            entry = self._kept[key] = self._kept.pop(key)  # the least recently used one is dropped first
        with entry[0]:
            if entry[1] is None:
                entry[1] = make()
            return entry[1]

    def forget(self, key: tuple) -> None:
        """Drop the result for this key, if it is there."""
        with self._guard:
            self._kept.pop(key, None)


def memory_limit() -> int:
    """The largest kernel matrix, in bytes, that is held whole."""
    given = os.environ.get("SEMISVM_MEMORY")
    if given is not None:
        try:
            limit = float(given)
        except ValueError:
            limit = np.nan
        if not limit >= 0.0:
            raise ValueError(f"SEMISVM_MEMORY={given!r} is not allowed; it takes a number of bytes, as 4e9, or inf.")
        return int(limit) if limit < sys.maxsize else sys.maxsize
    return min(MEMORY_LIMIT, _available_memory() // 2)


def require_memory(n_bytes: int, what: str, advice: str) -> None:
    """Refuse what takes more bytes than the memory limit, before it is allocated; ``advice`` is what to do instead."""
    limit = memory_limit()
    if n_bytes > limit:
        raise MemoryError(
            f"{what} takes {format_bytes(n_bytes)} and the limit is {format_bytes(limit)}. {advice} or raise "
            "SEMISVM_MEMORY."
        )


def largest_block(itemsize: int) -> int:
    """Number of samples whose kernel matrix takes the memory limit, or ``MIN_BLOCK`` if that is more."""
    return max(math.isqrt(memory_limit() // itemsize), MIN_BLOCK)


def format_bytes(n_bytes: int) -> str:
    """A size in the largest unit of which it has one."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} bytes"


def _available_memory() -> int:
    """Bytes available without swapping, as a short time ago; twice the limit where the system does not tell."""
    global _last_look
    if time.monotonic() - _last_look[0] > LOOK_PERIOD:
        try:
            lines = Path("/proc/meminfo").read_text().splitlines()
            found = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable")) * 1024
        except (OSError, StopIteration):
            found = 2 * MEMORY_LIMIT
        _last_look = time.monotonic(), found
    return _last_look[1]
