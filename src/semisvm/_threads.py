"""Threads: how many a fit may use, BLAS included, and running tasks in them."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, wraps
from numbers import Integral
from typing import Any, TypeVar

from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn import config_context, get_config
from threadpoolctl import ThreadpoolController

TILE = 512  # default number of matrix rows that one task works on
SMALL = 4_000_000  # multiplications that are done before a second thread has started
SMALL_PRODUCT = (
    20_000_000  # multiplications of BLAS, a millisecond, that its threads would spend waiting for each other
)
LARGE_PRODUCT = 500_000_000  # multiplications whose threads save more than they cost what follows
TINY_PRODUCT = 200_000  # multiplications for which BLAS takes one thread by itself

Item = TypeVar("Item")
Result = TypeVar("Result")


class _BlasThreads:
    """Holds BLAS at the smallest of the limits that are set now.

    A fit holds it at one but for large products (``blas_threads_for``): after a product the threads of BLAS wait for
    the next one in a loop, some 25 ms long, and the threads of the fit itself share the cores with them.

    Binary problems are solved in threads that set and remove their limits in any order, and the number of BLAS threads
    belongs to the whole process: it is what it was when no limit is left. threadpoolctl (3.8) lets one thread at a time
    set it and ignores the others without a word; here they agree on it, so the one that changes it takes its turn.
    """

    def __init__(self) -> None:
        self._libraries: list[Any] | None = None
        self._forget()
        if hasattr(os, "register_at_fork"):  # of the threads that hold limits or the lock, a child has one at most
            os.register_at_fork(after_in_child=self._restart)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._limits: list[int] = []
        self._n_fits = self._n_large = 0
        self._current: int | None = None
        self._before: list[int] = []  # threads of the libraries without a limit

    def _restart(self) -> None:
        before = self._before
        self._forget()
        self._set(before)

    def add(self, limit: int) -> None:
        with self._lock:
            self._limits.append(limit)
            self._apply()

    def remove(self, limit: int) -> None:
        with self._lock:
            if limit in self._limits:  # not in a process that was forked inside of a fit
                self._limits.remove(limit)
            self._apply()

    def count(self, fits: int, large: int) -> None:
        """So many fits and large products more have begun."""
        with self._lock:
            self._n_fits, self._n_large = max(0, self._n_fits + fits), max(0, self._n_large + large)
            self._apply()

    def _apply(self) -> None:
        of_fits = [1] if self._n_fits and not self._n_large else []
        limit = min([*self._limits, *of_fits], default=None)
        if limit == self._current:
            return
        if self._libraries is None:
            self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
        if self._current is None:
            self._before = [library.get_num_threads() for library in self._libraries]
        self._current = limit
        self._set(self._before if limit is None else [min([limit, *self._before])] * len(self._before))

    def _set(self, n_threads: list[int]) -> None:
        for library, number in zip(self._libraries or (), n_threads):
            self._end_turn(library)
            library.set_num_threads(number)
            self._end_turn(library)

    def _end_turn(self, library: Any) -> None:
        if hasattr(library, "clear_controlling_thread"):  # OpenBLAS, from threadpoolctl 3.8 on
            library.clear_controlling_thread(force=True)


_blas_threads = _BlasThreads()


class _BlasLimit:
    """Context manager that holds BLAS at a number of threads or less while any thread is inside."""

    def __init__(self, limit: int):
        self._limit = limit

    def __enter__(self) -> None:
        _blas_threads.add(self._limit)

    def __exit__(self, *error: object) -> None:
        _blas_threads.remove(self._limit)


single_blas_thread = _BlasLimit(1)  # small systems are slower with more threads, the more so on busy cores


class _BlasCount:
    """Context manager that counts a fit, or a large product inside of one."""

    def __init__(self, fits: int = 0, large: int = 0):
        self._fits, self._large = fits, large

    def __enter__(self) -> None:
        _blas_threads.count(self._fits, self._large)

    def __exit__(self, *error: object) -> None:
        _blas_threads.count(-self._fits, -self._large)


_fit, _large_product = _BlasCount(fits=1), _BlasCount(large=1)


def blas_threads_for(n_multiplications: float) -> AbstractContextManager:
    """As many threads of BLAS as there may be for a large product or factorization, one for a small product."""
    if n_multiplications > LARGE_PRODUCT:
        return _large_product
    return single_blas_thread if TINY_PRODUCT < n_multiplications <= SMALL_PRODUCT else nullcontext()


_this_thread = threading.local()  # its ``limit``: how many threads it may use, itself included


@contextmanager
def limit_threads(limit: int | None) -> Iterator[None]:
    """Use so many threads or less in what this thread calls, and as many in BLAS; None sets no limit."""
    if limit is None:
        yield
        return
    before = getattr(_this_thread, "limit", None)
    _this_thread.limit = limit if before is None else min(limit, before)
    try:
        with _BlasLimit(_this_thread.limit):
            yield
    finally:
        _this_thread.limit = before


def within_n_jobs(method: Callable) -> Callable:
    """Decorate a method of an estimator: it uses ``n_jobs`` threads or less, those of BLAS included."""

    @wraps(method)
    def limited(self: Any, *args: Any, **kwargs: Any) -> Any:
        n_jobs = self.n_jobs
        if n_jobs is None:
            return method(self, *args, **kwargs)
        if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
            raise ValueError(
                f"n_jobs={n_jobs!r} is not allowed; n_jobs takes a number of threads, -1 for one per core, or None."
            )
        with limit_threads(effective_n_jobs(n_jobs)):
            return method(self, *args, **kwargs)

    return limited


def fit_within_n_jobs(method: Callable) -> Callable:
    """Decorate ``fit``: it uses ``n_jobs`` threads or less, and one of BLAS but for large products."""

    @wraps(method)
    def held(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _fit:
            return method(self, *args, **kwargs)

    return within_n_jobs(held)


@cache
def _n_cores() -> int:
    """Cores by affinity, by the quota of a container, and by OMP_NUM_THREADS, which joblib sets in its workers."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return min(cpu_count(), int(given)) if given.isdecimal() and int(given) > 0 else cpu_count()


def n_available_threads() -> int:
    """Number of threads that the caller may use: one per core of this process, or fewer if there is a limit."""
    limit = getattr(_this_thread, "limit", None)
    return _n_cores() if limit is None else min(limit, _n_cores())


def run_in_threads(task: Callable[[Item], object], items: Sequence[Item]) -> None:
    """Run ``task`` on every item, in as many threads as there may be, each with a single-threaded BLAS."""
    n_workers = min(n_available_threads(), len(items))
    if n_workers <= 1:
        for item in items:
            task(item)
        return
    with single_blas_thread, ThreadPoolExecutor(n_workers, initializer=_allow_one_thread) as pool:
        for _ in pool.map(task, items):
            pass


def _allow_one_thread() -> None:
    _this_thread.limit = 1  # the workers have all cores between them


def n_parallel(n_jobs: int | None, n_tasks: int) -> int:
    """How many of so many tasks run at the same time; ``n_jobs`` as in joblib, within the limit of the caller."""
    limit = getattr(_this_thread, "limit", None)
    return max(1, min(effective_n_jobs(n_jobs), n_tasks, n_tasks if limit is None else limit))


def n_jobs_of_fit(n_jobs: int | None) -> int:
    """``n_jobs`` of compiled tasks, which run without the interpreter lock: None is as many as the caller may use.

    Inside of a joblib worker it is one, and under ``parallel_config(n_jobs=...)`` what that says.
    """
    if n_jobs is not None:
        return n_jobs
    backend, configured = get_active_backend()
    if configured is not None or backend.nesting_level:
        return effective_n_jobs(None)
    return n_available_threads()


def run_parallel(
    task: Callable[[Item], Result],
    items: Sequence[Item],
    n_jobs: int | None,
    interrupt: Callable[[], object] | None = None,
) -> list[Result]:
    """``task`` of every item, as many at a time as ``n_parallel`` says, each with an equal part of the threads.

    scikit-learn's configuration, which belongs to a thread, is that of the caller. The caller's thread works like the
    others, so that Ctrl-C reaches a task. If it comes while that thread waits for the others, ``interrupt`` is called,
    which should make them end; without it Ctrl-C is raised when the tasks that have begun are done.
    """
    n_workers = n_parallel(n_jobs, len(items))
    if n_workers == 1:
        return [task(item) for item in items]
    part, config = max(1, n_available_threads() // n_workers), get_config()
    waiting, results = deque(range(len(items))), {}

    def take() -> int | None:
        try:
            return waiting.popleft()
        except IndexError:
            return None

    def work() -> None:
        with limit_threads(part), config_context(**config):
            for number in iter(take, None):
                try:
                    results[number] = task(items[number])
                except BaseException:
                    waiting.clear()  # no further task begins
                    raise

    with ThreadPoolExecutor(n_workers - 1) as pool:
        others = [pool.submit(work) for _ in range(n_workers - 1)]
        try:
            work()
        except KeyboardInterrupt:  # between two tasks, or in one that does not listen
            if interrupt is not None:
                interrupt()
            raise
        for other in others:
            _wait(other, interrupt)
    return [results[number] for number in range(len(items))]


def _wait(other: Future, interrupt: Callable[[], object] | None) -> None:
    """The end of a thread; at Ctrl-C in the meantime ``interrupt`` is called."""
    while True:
        try:
            return other.result()
        except KeyboardInterrupt:
            if interrupt is None or (other.done() and other.exception() is not None):
                raise
            interrupt()


def tiles(n: int, size: int | None = None) -> Iterator[slice]:
    """Slices of at most ``size`` (TILE if None) elements that cover range(n)."""
    size = size or TILE
    return (slice(start, min(start + size, n)) for start in range(0, n, size))
