"""Where f lives: behind a kernel (``Gram``) or in the columns of a table (``Features``).

Every space answers the same questions about f = <w, phi(x)> + b:

``scores(coef, b)``     f at the training rows
``norm2(coef)``         ||w||^2
``norm1(coef)``         ||w||_1, of features alone
``norm_slope(coef)``    gradient of 1/2 ||w||^2 in the coordinates of the space
``adjoint(v)``          gradient of v'f in the coordinates of the space
``gram()``              the space as a ``Gram``, for solvers that work on the dual
``from_dual(a)``        the coordinates of w = sum a_i phi(x_i)

**The memory rule.** A Gram matrix is held whole while it costs at most ``gram_limit()`` bytes: 4 GiB, or half of the
memory that is free if that is less, or what the environment variable ``SEMISVM_MEMORY`` says (in bytes). It is made
of float64 up to ``EXACT_ROWS`` rows and of float32 above. Beyond the limit nothing is held whole: solvers ask for the
block of the rows they work on, and the rows used last are cached within the same limit.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import ThreadpoolController

from . import kernels
from .kernels import Kernel, Rows
from .rowcache import RowCache, add_rows, gather

EXACT_ROWS = 4096  # float64 up to 128 MiB
GRAM_LIMIT = 4 * 2**30
TILE = 512
SMALL = 4_000_000  # multiplications that are over before a second thread has started
DENSE_SHARE = 0.05  # a sparse table this full is multiplied faster as a dense one


def gram_limit() -> int:
    """The largest Gram matrix, in bytes, that is held whole."""
    given = os.environ.get("SEMISVM_MEMORY")
    if given is not None:
        try:
            return int(float(given))
        except ValueError:
            raise ValueError(f"SEMISVM_MEMORY={given!r} is not allowed; it takes a number of bytes, as 4e9.") from None
    return min(GRAM_LIMIT, _available() // 2)


def _available() -> int:
    """Memory, in bytes, that can be had without swapping; all of it where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable")) * 1024
    except (OSError, StopIteration):
        return 2 * GRAM_LIMIT


class _OneBlasThread:
    """Holds BLAS at one thread while anybody is inside.

    Classes are solved in threads that enter and leave in any order, and the number of BLAS threads belongs to the whole
    process: the first to enter lowers it, the last to leave restores it.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._inside = 0
        self._controller = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._controller = self._controller or ThreadpoolController()
                self._limiter = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *error) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limiter.restore_original_limits()


one_blas_thread = _OneBlasThread()  # small systems are slower with more, the more so on busy cores


def threads() -> int:
    """How many threads the machine lends to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(task: Callable, items: list) -> None:
    """Run ``task`` on every item, in as many threads as there are cores, each with a single-threaded BLAS."""
    workers = min(threads(), len(items))
    if workers <= 1:
        for item in items:
            task(item)
        return
    with one_blas_thread, ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(task, items):
            pass


def tiles(n: int, size: int | None = None) -> Iterator[slice]:
    """Slices of at most ``size`` (TILE if None) that cover range(n)."""
    size = size or TILE
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def submatrix(K: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """K[rows][:, columns], copied by all cores."""
    out = np.empty((len(rows), len(columns)), dtype=K.dtype)
    in_threads(lambda part: gather(K, rows, columns, part.start, part.stop, out), list(tiles(len(rows))))
    return out


class Shared:
    """Remembers the last few things that several problems in one space have in common."""

    KEPT = 2

    def __init__(self):
        self._guard = threading.Lock()
        self._kept: dict[tuple, list] = {}

    def once(self, key: tuple, make: Callable[[], Any]) -> Any:
        """What ``make`` returned for this key, made now if it was not; threads that ask together share one making."""
        with self._guard:
            if key not in self._kept:
                if len(self._kept) >= self.KEPT:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[key] = [threading.Lock(), None]
            entry = self._kept[key] = self._kept.pop(key)  # the one used last is the last to go
        with entry[0]:
            if entry[1] is None:
                entry[1] = make()
            return entry[1]


class Gram(Shared):
    """The kernel matrix of the training rows, held whole or asked for by blocks.

    Parameters
    ----------
    kernel : Kernel
        The kernel; with "precomputed" ``X`` is the matrix itself.
    X : array or CSR of shape (n, d)
        The training rows.
    double : bool
        Whether values are float64 however many rows there are.
    """

    def __init__(self, kernel: Kernel, X, double: bool = False):
        super().__init__()
        self.kernel = kernel
        self.n = X.shape[0]
        self.precomputed = kernel.name == "precomputed"
        double = double or self.n <= EXACT_ROWS or callable(kernel.name)
        self.dtype = np.dtype(np.float64 if double else np.float32)
        self.X = X
        self.centre = None
        self._K = X if self.precomputed else None
        self._cache: RowCache | None = None
        if self.precomputed:
            self.dtype = X.dtype
            return
        if sparse.issparse(X) and X.nnz >= DENSE_SHARE * X.shape[0] * X.shape[1]:
            X = X.toarray()
        known = kernels.form(kernel)
        if known is not None and known.of != "product" and not sparse.issparse(X):
            self.centre = X.mean(axis=0)  # distances stay, squares shrink, so differences of squares stay exact
            X = X - self.centre
        self.rows: Rows = kernels.rows(kernel, X, self.dtype)
        if known is not None:
            with np.errstate(over="ignore"):  # no value of a kernel is larger than the largest on the diagonal
                finite = np.isfinite(kernels.diagonal(kernel, self.rows).astype(self.dtype)).all()
            if not finite:
                raise ValueError(
                    f"the kernel {kernel.name!r} has values that are not finite numbers, by overflow; scale X, or "
                    "lower degree or gamma."
                )

    @property
    def bytes(self) -> int:
        """What the whole matrix costs."""
        return self.n**2 * self.dtype.itemsize

    @property
    def fits(self) -> bool:
        """Whether the memory rule lets the matrix be held whole."""
        return self._K is not None or self.bytes <= gram_limit()

    @property
    def whole(self) -> np.ndarray:
        """The whole matrix, computed once."""
        if self._K is None:
            if not self.fits:
                raise MemoryError(
                    f"the kernel matrix of {self.n:,} rows takes {self.bytes / 2**30:.1f} GiB and the limit is "
                    f"{gram_limit() / 2**30:.1f} GiB; this method needs it whole. Use fewer rows or raise "
                    "SEMISVM_MEMORY."
                )
            self._K = self._symmetric(self.rows)
        return self._K

    @property
    def held(self) -> bool:
        """Whether the whole matrix is in memory already."""
        return self._K is not None

    @property
    def cache(self) -> RowCache:
        """Rows computed lately, within the memory rule."""
        if self._cache is None:
            capacity = min(self.n, max(gram_limit() // (self.n * self.dtype.itemsize), 2))
            self._cache = RowCache(self.n, capacity, self.dtype, self._rows_at)
        return self._cache

    def _rows_at(self, index: np.ndarray, out: np.ndarray) -> None:
        self._fill(self.rows.take(index), self.rows, out)

    def square(self, index: np.ndarray) -> np.ndarray:
        """K at the rows and columns ``index``."""
        return self._symmetric(self.rows.take(index)) if self._K is None else submatrix(self._K, index, index)

    def _symmetric(self, points: Rows) -> np.ndarray:
        """Tiles of the upper triangle, each written twice."""
        n = points.X.shape[0]
        K = np.empty((n, n), dtype=self.dtype)

        def fill(corner: tuple[slice, slice]) -> None:
            rows, columns = corner
            tile = kernels.block(self.kernel, points.take(rows), points.take(columns))
            K[rows, columns] = tile
            if rows != columns:
                K[columns, rows] = tile.T

        in_threads(fill, [(r, c) for r in tiles(n) for c in tiles(n) if c.start >= r.start])
        return K

    def _fill(self, left: Rows, right: Rows, out: np.ndarray) -> None:
        """Kernel values of two sets of rows, tile by tile."""

        def fill(corner: tuple[slice, slice]) -> None:
            rows, columns = corner
            out[rows, columns] = kernels.block(self.kernel, left.take(rows), right.take(columns))

        wide = TILE * max(1, TILE // max(out.shape[0], 1))  # a tile of few rows gets more columns
        in_threads(fill, [(r, c) for r in tiles(out.shape[0]) for c in tiles(out.shape[1], wide)])

    def times(self, a: np.ndarray) -> np.ndarray:
        """K a; only the rows where a is not zero are read or computed."""
        support = np.flatnonzero(a)
        out = np.zeros(self.n)
        if not len(support):
            return out
        if self._K is not None or (2 * len(support) > self.n and self.fits):  # so many rows cost as much as all
            self._add(self.whole, support, a[support], out)
            return out
        if self._cache is not None and len(support) <= self.cache.capacity:
            self._add(self.cache.values, self.cache.slots(support), a[support], out)
            return out
        return self.apply(self.rows, support, a[support, None])[:, 0]

    def _add(self, source: np.ndarray, index: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
        weights = np.asarray(weights, dtype=np.float64)
        size = self.n if len(index) * self.n <= SMALL else max(2048, -(-self.n // threads()))
        parts = list(tiles(self.n, size))
        in_threads(lambda part: add_rows(source, index, weights, part.start, part.stop, out), parts)

    def apply(self, points: Rows, support: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Sum over the support of weight k(point, row), for columns of weights, without keeping the values."""
        kept = self.rows.take(support)
        out = np.zeros((points.X.shape[0], weights.shape[1]))

        def fill(rows: slice) -> None:
            part = points.take(rows)
            for columns in tiles(len(support), 2 * TILE):
                out[rows] += kernels.block(self.kernel, part, kept.take(columns)) @ weights[columns]

        in_threads(fill, list(tiles(points.X.shape[0])))
        return out

    def diagonal(self) -> np.ndarray:
        """k(x, x) of every row."""
        if self._K is not None:
            return self._K.diagonal().astype(np.float64)
        return kernels.diagonal(self.kernel, self.rows).astype(np.float64)

    def scores(self, coef: np.ndarray, b: float) -> np.ndarray:
        """F at the training rows."""
        return self.times(coef) + b

    def norm2(self, coef: np.ndarray) -> float:
        """||w||^2 = coef' K coef."""
        return float(coef @ self.times(coef))

    def adjoint(self, v: np.ndarray) -> np.ndarray:
        """Gradient of v'f: K v."""
        return self.times(v)

    def norm_slope(self, coef: np.ndarray) -> np.ndarray:
        """Gradient of 1/2 ||w||^2: K coef."""
        return self.times(coef)

    def gram(self) -> Gram:
        """The space itself."""
        return self

    def from_dual(self, a: np.ndarray) -> np.ndarray:
        """The dual coefficients are the coordinates."""
        return a


class Features(Shared):
    """Rows with coordinates of their own: f = X w + b. ``X`` is dense or CSR."""

    def __init__(self, X):
        super().__init__()
        self.X = X
        self.n = X.shape[0]
        self._gram: Gram | None = None

    def scores(self, coef: np.ndarray, b: float) -> np.ndarray:
        """F at the training rows."""
        return np.asarray(self.X @ coef, dtype=np.float64) + b

    def norm2(self, coef: np.ndarray) -> float:
        """||w||^2."""
        return float(coef @ coef)

    def norm1(self, coef: np.ndarray) -> float:
        """||w||_1."""
        return float(np.abs(coef).sum())

    def adjoint(self, v: np.ndarray) -> np.ndarray:
        """X' v."""
        return np.asarray(self.X.T @ v, dtype=np.float64)

    def norm_slope(self, coef: np.ndarray) -> np.ndarray:
        """Gradient of 1/2 ||w||^2: coef."""
        return coef

    def gram(self) -> Gram:
        """The linear kernel on the same rows."""
        if self._gram is None:
            self._gram = Gram(Kernel("linear"), self.X)
        return self._gram

    def from_dual(self, a: np.ndarray) -> np.ndarray:
        """W = X' a."""
        return self.adjoint(a)
