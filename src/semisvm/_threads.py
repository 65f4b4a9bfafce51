"""Threads: how many this process may use, and running tasks in them with a single-threaded BLAS."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from threadpoolctl import ThreadpoolController

TILE = 512  # default number of matrix rows that one task works on

Item = TypeVar("Item")


class _SingleBlasThread:
    """Context manager that holds BLAS at one thread while any thread is inside.

    Binary problems are solved in threads that enter and leave in any order, and the number of BLAS threads belongs to
    the whole process: the first thread to enter lowers it, the last one to leave restores it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._controller: ThreadpoolController | None = None

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._controller = self._controller or ThreadpoolController()
                self._limiter = self._controller.limit(limits=1, user_api="blas")
            self._n_inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limiter.restore_original_limits()


single_blas_thread = _SingleBlasThread()  # small systems are slower with more threads, the more so on busy cores


def n_available_threads() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_in_threads(task: Callable[[Item], object], items: Sequence[Item]) -> None:
    """Run ``task`` on every item, in as many threads as there are cores, each with a single-threaded BLAS."""
    n_workers = min(n_available_threads(), len(items))
    if n_workers <= 1:
        for item in items:
            task(item)
        return
    with single_blas_thread, ThreadPoolExecutor(n_workers) as pool:
        for _ in pool.map(task, items):
            pass


def tiles(n: int, size: int | None = None) -> Iterator[slice]:
    """Slices of at most ``size`` (TILE if None) elements that cover range(n)."""
    size = size or TILE
    return (slice(start, min(start + size, n)) for start in range(0, n, size))
