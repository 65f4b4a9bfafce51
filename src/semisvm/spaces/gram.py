"""A space behind a kernel: the kernel matrix of the training samples, held whole or computed by blocks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from .._threads import SMALL, TILE, n_available_threads, run_in_threads, single_blas_thread, tiles
from . import kernels
from .base import FLOAT64_SAMPLES, Memo, memory_limit, require_memory
from .kernel_rows import RowCache, add_rows, submatrix
from .kernels import Kernel, Samples

N_PROBED = 1000  # samples whose block shows whether a kernel that a user gives is positive definite
N_PRODUCTS = 30  # products with the matrix of more samples, for the same
EXHAUSTED = 1e-12  # of a vector: what is left of it outside of a Krylov space is rounding error
DENSE_SHARE = 0.05  # a sparse X with this share of entries is multiplied faster as a dense one


class Gram(Memo):
    """The kernel matrix K of the training samples; ``coef`` are the coefficients of w = sum coef_i phi(x_i).

    Parameters
    ----------
    kernel : Kernel
        The kernel; with "precomputed" ``X`` is the matrix itself.
    X : array or CSR of shape (n, d)
        The training samples.
    float64 : bool
        Whether values are float64 however many samples there are.
    values : array of shape (n, n), optional
        The kernel matrix, if it is known already.
    """

    def __init__(self, kernel: Kernel, X: Any, float64: bool = False, values: np.ndarray | None = None):
        super().__init__()
        self.kernel = kernel
        self.n: int = X.shape[0]
        self.precomputed = kernel.name == "precomputed"
        self.dtype = gram_dtype(kernel, X, float64) if values is None else values.dtype
        self.X = X
        self.center: np.ndarray | None = None
        self._K: np.ndarray | None = _in_rows(X) if self.precomputed else values
        self._computing = threading.Lock()
        self._of_thread = threading.local()  # its ``cache``: rows that no other thread replaces
        self._indefinite: dict[bool, bool] = {}
        if self.precomputed:
            return
        X, self.center = center_for_kernel(kernel, X)
        self.samples: Samples = kernels.prepare(kernel, X, self.dtype)
        if kernels.form_of(kernel) is not None:
            with np.errstate(over="ignore"):  # no kernel value is larger than the largest one on the diagonal
                finite = np.isfinite(kernels.diagonal(kernel, self.samples).astype(self.dtype)).all()
            if not finite:
                raise ValueError(
                    f"the kernel {kernel.name!r} has values that are not finite numbers, by overflow; scale X, or "
                    "lower degree or gamma."
                )

    @property
    def n_bytes(self) -> int:
        """Size of the whole matrix."""
        return self.n**2 * self.dtype.itemsize

    @property
    def fits_memory(self) -> bool:
        """Whether the memory rule lets the matrix be held whole."""
        return self.is_computed or self.n_bytes <= memory_limit()

    @property
    def is_computed(self) -> bool:
        """Whether the whole matrix is in memory already."""
        return self._K is not None

    def compute(self) -> np.ndarray:
        """The whole matrix, computed at the first call."""
        with self._computing:
            if self._K is None:
                what = f"the kernel matrix of {self.n:,} samples, which this method needs whole,"
                require_memory(self.n_bytes, what, "Use fewer samples")
                self._K = self._symmetric(self.samples)
            return self._K

    def row_cache(self) -> RowCache:
        """Rows that this thread computed lately, within the memory rule."""
        if self._cache is None:
            capacity = min(self.n, max(memory_limit() // (self.n * self.dtype.itemsize), 2))
            self._of_thread.cache = RowCache(self.n, capacity, self.dtype, self._compute_rows)
        return self._of_thread.cache

    @property
    def _cache(self) -> RowCache | None:
        return getattr(self._of_thread, "cache", None)

    def _compute_rows(self, index: np.ndarray, out: np.ndarray) -> None:
        left, right = self.samples.take(index), self.samples

        def fill(corner: tuple[slice, slice]) -> None:
            rows, columns = corner
            out[rows, columns] = kernels.evaluate(self.kernel, left.take(rows), right.take(columns))

        width = TILE * max(1, TILE // max(out.shape[0], 1))  # a tile of few rows gets more columns
        run_in_threads(fill, [(r, c) for r in tiles(out.shape[0]) for c in tiles(out.shape[1], width)])

    def block(self, index: np.ndarray) -> np.ndarray:
        """K at the rows and columns ``index``."""
        return self._symmetric(self.samples.take(index)) if self._K is None else submatrix(self._K, index, index)

    def cross_block(self, rows: Any, columns: np.ndarray) -> np.ndarray:
        """K at some rows and columns."""
        if self._K is not None:
            return self._K[rows, columns] if isinstance(rows, slice) else self._K[np.ix_(rows, columns)]
        return kernels.evaluate(self.kernel, self.samples.take(rows), self.samples.take(columns))

    def _symmetric(self, samples: Samples) -> np.ndarray:
        """Tiles of the upper triangle, each written twice; a single tile is the matrix itself."""
        n = samples.X.shape[0]
        if n <= TILE:  # no second array of its size, whose memory the system would give anew in every fit
            return kernels.evaluate(self.kernel, samples, samples).astype(self.dtype, copy=False)
        K = np.empty((n, n), dtype=self.dtype)

        def fill(corner: tuple[slice, slice]) -> None:
            rows, columns = corner
            tile = kernels.evaluate(self.kernel, samples.take(rows), samples.take(columns))
            K[rows, columns] = tile
            if rows != columns:
                K[columns, rows] = tile.T

        run_in_threads(fill, [(r, c) for r in tiles(n) for c in tiles(n) if c.start >= r.start])
        return K

    def product(self, a: np.ndarray) -> np.ndarray:
        """K a; only the rows where a is not zero are read or computed."""
        support = np.flatnonzero(a)
        out = np.zeros(self.n)
        if not len(support):
            return out
        if self.is_computed or (2 * len(support) > self.n and self.fits_memory):  # as expensive as the whole matrix
            self._add_rows(self.compute(), support, a[support], out)
            return out
        cache = self._cache
        if cache is not None and len(support) <= cache.capacity:
            self._add_rows(cache.values, cache.slots(support), a[support], out)
            return out
        return expansion(self.kernel, self.samples.take, self.n, self.samples.take(support), a[support, None])[:, 0]

    def _add_rows(self, source: np.ndarray, index: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
        weights = np.asarray(weights, dtype=np.float64)
        size = self.n if len(index) * self.n <= SMALL else max(2048, -(-self.n // n_available_threads()))
        parts = list(tiles(self.n, size))
        run_in_threads(lambda part: add_rows(source, index, weights, part.start, part.stop, out), parts)

    def diagonal(self) -> np.ndarray:
        """k(x, x) of every sample."""
        if self._K is not None:
            return self._K.diagonal().astype(np.float64)
        return kernels.diagonal(self.kernel, self.samples).astype(np.float64)

    def is_indefinite(self, sum_zero: bool) -> bool:
        """Whether a' K a is negative for some a, or for some that sum to zero.

        Named kernels are definite; one that a user gives, as a matrix or a function, is probed at up to ``N_PROBED``
        random samples and, where there are more and the matrix may be held, along the Krylov space of a random vector.
        """
        if kernels.form_of(self.kernel) is not None:
            return False
        if sum_zero not in self._indefinite:
            samples = np.random.default_rng(0).permutation(self.n)[:N_PROBED]
            found = not is_definite(self.block(np.sort(samples)), sum_zero)
            if not found and self.n > N_PROBED and self.fits_memory:
                found = has_negative_curvature(self.compute(), sum_zero)
            self._indefinite[sum_zero] = found
        return self._indefinite[sum_zero]

    def squared_distances(self, i: int) -> np.ndarray:
        """||phi(x) - phi(x_i)||^2 of every sample x."""
        unit = np.zeros(self.n)
        unit[i] = 1.0
        diagonal = self.diagonal()
        return diagonal + diagonal[i] - 2.0 * self.product(unit)

    def scores(self, coef: np.ndarray, b: float) -> np.ndarray:
        """f at the training samples."""
        return self.product(coef) + b

    def norm2(self, coef: np.ndarray) -> float:
        """||w||^2 = coef' K coef."""
        return float(coef @ self.product(coef))

    def norm1(self, coef: np.ndarray) -> float:
        """Refused: behind a kernel w has no coordinates."""
        raise TypeError("the 1-norm of w needs a space of features; use the linear kernel or an approximation.")

    def gram(self) -> Gram:
        """The space itself."""
        return self

    def from_dual(self, a: np.ndarray) -> np.ndarray:
        """The dual coefficients are the coordinates."""
        return a


def has_negative_curvature(K: np.ndarray, sum_zero: bool = False) -> bool:
    """Whether a' K a < 0, beyond rounding, for some a of a Krylov space: ``N_PRODUCTS`` products with K."""
    n = len(K)
    basis, image = np.zeros((N_PRODUCTS, n)), np.zeros((N_PRODUCTS, n))
    vector = np.random.default_rng(0).standard_normal(n)
    for k in range(N_PRODUCTS):
        size = np.linalg.norm(vector)
        for _ in range(2):  # once more, so that rounding leaves the basis orthogonal
            if sum_zero:
                vector -= vector.mean()
            vector -= basis[:k].T @ (basis[:k] @ vector)
        length = np.linalg.norm(vector)
        if length <= EXHAUSTED * size:
            break
        basis[k] = vector / length
        image[k] = vector = K @ basis[k]
    curvature = np.linalg.eigvalsh(basis @ image.T)[0]
    return bool(curvature < -_rounding(K))


def _rounding(K: np.ndarray) -> float:
    """How far below zero rounding of kernel values may bring an eigenvalue of a definite matrix."""
    return (1e-5 if K.dtype == np.float32 else 1e-9) * float(np.abs(K).max(initial=0.0)) * len(K) ** 0.5


def is_definite(K: np.ndarray, sum_zero: bool = False) -> bool:
    """Whether a' K a >= 0 for all a, or for those that sum to zero, up to the rounding of kernel values."""
    rounding = _rounding(K)
    K = K.astype(np.float64)
    if sum_zero:
        K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    K[np.diag_indices(len(K))] += max(rounding, np.finfo(float).tiny)
    with single_blas_thread:
        try:
            np.linalg.cholesky(K)
        except np.linalg.LinAlgError:
            return False
    return True


def _in_rows(K: np.ndarray) -> np.ndarray:
    """A symmetric matrix with its rows in memory one after the other, the one layout that loops are compiled for."""
    return np.ascontiguousarray(K.T if K.flags.f_contiguous else K)


def gram_dtype(kernel: Kernel, X: Any, float64: bool = False) -> np.dtype:
    """The type of kernel values: that of a precomputed matrix, float64 for few samples, else float32."""
    if kernel.name == "precomputed":
        return X.dtype
    float64 = float64 or X.shape[0] <= FLOAT64_SAMPLES or callable(kernel.name)
    return np.dtype(np.float64 if float64 else np.float32)


def center_for_kernel(kernel: Kernel, X: Any) -> tuple[Any, np.ndarray | None]:
    """X as it is compared with other samples, and the center that was subtracted, if any.

    Sparse samples with many entries become dense. Dense ones are centered if the kernel depends on distances alone:
    these are unchanged and squared norms are smaller, so that differences of squared norms lose fewer digits.
    """
    if sparse.issparse(X) and X.nnz >= DENSE_SHARE * X.shape[0] * X.shape[1]:
        X = X.toarray()
    form = kernels.form_of(kernel)
    if form is None or not form.needs_distance or sparse.issparse(X):
        return X, None
    center = X.mean(axis=0)
    return X - center, center


def expansion(
    kernel: Kernel, take: Callable[[slice], Samples], n: int, support: Samples, coef: np.ndarray
) -> np.ndarray:
    """Sum over the support of coef k(sample, support), for columns of coefficients; kernel values are not kept.

    The n samples are asked for in blocks, by ``take``.
    """
    out = np.zeros((n, coef.shape[1]))

    def fill(rows: slice) -> None:
        samples = take(rows)
        for columns in tiles(support.X.shape[0], 2 * TILE):
            out[rows] += kernels.evaluate(kernel, samples, support.take(columns)) @ coef[columns]

    run_in_threads(fill, list(tiles(n)))
    return out
