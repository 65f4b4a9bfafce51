"""Products with a design matrix X for several columns at once, dense or CSR, in all cores.

Primal solvers spend their time in X V, X'P and X'(H o (X V + shift)), the product with a Hessian. A CSR matrix is read
row by row in compiled loops that serve all columns in one pass; the Hessian product reads each row once for both of its
halves and skips rows without curvature. Threads take blocks of rows and sum into arrays of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias

import numpy as np
from scipy import sparse
from scipy.linalg import blas

from .._jit import jit
from .._threads import blas_threads_for, n_available_threads, run_in_threads, single_blas_thread, tiles
from .kernels import squared_norms
from .leading_directions import LeadingDirections, leading_directions

SMALL = 2_000_000  # multiplications below which a second thread costs more than it saves
FEW = 0.2  # of the samples of a dense X: a copy of so many costs less than a product with all
CACHE_SIZE = 2**17  # numbers in a dense block that is read twice and should stay in the cache
LARGEST_TILE = 8192  # rows of a tile of ``accumulate``
N_CHUNKS = 8  # sums that ``accumulate`` makes at the same time at most, in whatever number of threads
BLOCK_ROWS = 4096  # rows that are scaled or mapped at a time

State: TypeAlias = tuple[Any, ...]
Visited: TypeAlias = tuple[State, tuple[np.ndarray, ...]]
Visit: TypeAlias = Callable[..., Visited]


@jit()
def _dot_one(x, at, V, c):
    """A sparse row times column c. Column numbers are read as unsigned: signed ones would be tested at every entry."""
    total = 0.0
    for e in range(len(x)):
        total += x[e] * V[np.uint32(at[e]), np.uint32(c)]
    return total


@jit()
def _dot_four(x, at, V, c):
    """A sparse row times the columns from c to c + 3, which stay in registers."""
    v, width = V.reshape(-1), np.uint64(V.shape[1])
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for e in range(len(x)):
        j = np.uint64(np.uint32(at[e])) * width + np.uint64(c)
        s0 += x[e] * v[j]
        s1 += x[e] * v[j + np.uint64(1)]
        s2 += x[e] * v[j + np.uint64(2)]
        s3 += x[e] * v[j + np.uint64(3)]
    return s0, s1, s2, s3


@jit()
def _add_one(x, at, p, out, c):
    """Add p times a sparse row to column c."""
    for e in range(len(x)):
        out[np.uint32(at[e]), np.uint32(c)] += x[e] * p


@jit()
def _add_four(x, at, p, out, c):
    """The same for four columns."""
    o, width = out.reshape(-1), np.uint64(out.shape[1])
    p0, p1, p2, p3 = p
    for e in range(len(x)):
        j = np.uint64(np.uint32(at[e])) * width + np.uint64(c)
        o[j] += x[e] * p0
        o[j + np.uint64(1)] += x[e] * p1
        o[j + np.uint64(2)] += x[e] * p2
        o[j + np.uint64(3)] += x[e] * p3


@jit()
def _product(data, indices, indptr, start, stop, V, wanted, out):
    """Rows start to stop of X V where they are wanted."""
    fours = V.shape[1] - V.shape[1] % 4
    for i in range(start, stop):
        if not wanted[i]:
            continue
        x, at = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        for c in range(0, fours, 4):
            out[i, c], out[i, c + 1], out[i, c + 2], out[i, c + 3] = _dot_four(x, at, V, c)
        for c in range(fours, V.shape[1]):
            out[i, c] = _dot_one(x, at, V, c)


@jit()
def _adjoint(data, indices, indptr, start, stop, P, out):
    """X'P over the rows start to stop, added to ``out``."""
    fours = P.shape[1] - P.shape[1] % 4
    for i in range(start, stop):
        x, at, p = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]], P[i]
        for c in range(0, fours, 4):
            if p[c] != 0.0 or p[c + 1] != 0.0 or p[c + 2] != 0.0 or p[c + 3] != 0.0:
                _add_four(x, at, (p[c], p[c + 1], p[c + 2], p[c + 3]), out, c)
        for c in range(fours, P.shape[1]):
            if p[c] != 0.0:
                _add_one(x, at, p[c], out, c)


@jit()
def _hessian_product(data, indices, indptr, start, stop, V, shift, H, out, totals, scores):
    """X'(H o (X V + shift)) and the sums of H o (X V + shift) over the rows start to stop, added to the outputs.

    ``scores`` becomes X V + shift where H is not zero.
    """
    fours = V.shape[1] - V.shape[1] % 4
    for i in range(start, stop):
        x, at, h = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]], H[i]
        for c in range(0, fours, 4):
            if h[c] != 0.0 or h[c + 1] != 0.0 or h[c + 2] != 0.0 or h[c + 3] != 0.0:
                s0, s1, s2, s3 = _dot_four(x, at, V, c)
                s0, s1, s2, s3 = s0 + shift[c], s1 + shift[c + 1], s2 + shift[c + 2], s3 + shift[c + 3]
                scores[i, c], scores[i, c + 1], scores[i, c + 2], scores[i, c + 3] = s0, s1, s2, s3
                p0, p1, p2, p3 = s0 * h[c], s1 * h[c + 1], s2 * h[c + 2], s3 * h[c + 3]
                _add_four(x, at, (p0, p1, p2, p3), out, c)
                totals[c] += p0
                totals[c + 1] += p1
                totals[c + 2] += p2
                totals[c + 3] += p3
        for c in range(fours, V.shape[1]):
            if h[c] != 0.0:
                scores[i, c] = _dot_one(x, at, V, c) + shift[c]
                p = scores[i, c] * h[c]
                _add_one(x, at, p, out, c)
                totals[c] += p


@jit()
def _weighted_squares(data, indices, indptr, start, stop, H, out):
    """Sums of H x^2 over the rows start to stop, added to ``out``."""
    for i in range(start, stop):
        x, at = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        for c in range(H.shape[1]):
            if H[i, c] != 0.0:
                _add_one(x * x, at, H[i, c], out, c)


@jit()
def _row_ends(X):
    """For every four rows of X the number of columns up to the last one that is not zero in one of them."""
    ends = np.zeros((len(X) + 3) // 4, dtype=np.int64)
    for i in range(len(X)):
        end = X.shape[1]
        while end > ends[i // 4] and X[i, end - 1] == 0.0:
            end -= 1
        ends[i // 4] = max(end, ends[i // 4])
    return ends


class DesignMatrix:
    """X and its products; V, P and H may have one axis (a single column) or two.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        The samples, float64 or float32.

    Attributes
    ----------
    size : int
        Number of the entries that a product reads.
    in_memory : bool
        Whether X is an array or a CSR matrix that is in memory.
    """

    in_memory: ClassVar[bool] = True

    def __init__(self, X: Any):
        self.X = X
        self.sparse = sparse.issparse(X)
        self.n, self.d = X.shape
        self.size = X.nnz if self.sparse else X.size

    def product(self, V: np.ndarray) -> np.ndarray:
        """X V."""
        return self.partial_product(V, np.ones((self.n, 1), dtype=bool))

    def partial_product(self, V: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """X V at the samples where the mask ``wanted``, which has a column for each of V, is true; 0 at most others."""
        mask = wanted.reshape(self.n, -1).any(axis=1)
        columns = _columns(V)
        out = np.zeros((self.n, columns.shape[1]))
        if not self.sparse and mask.mean() <= FEW:
            out[mask] = self.X[mask] @ columns
            return out.reshape(self.n, *V.shape[1:])

        def fill(part: slice) -> None:
            if self.sparse:
                _product(*self._csr, part.start, part.stop, columns, mask, out)
            else:
                out[part] = self.X[part] @ columns

        run_in_threads(fill, self._parts(columns.shape[1]))
        return out.reshape(self.n, *V.shape[1:])

    def adjoint(self, P: np.ndarray) -> np.ndarray:
        """X'P."""
        columns = _columns(P)
        if not self.sparse:
            mask = columns.any(axis=1)
            if mask.mean() <= FEW:
                return np.asarray(self.X[mask].T @ columns[mask], dtype=np.float64).reshape(self.d, *P.shape[1:])

        def add(part: slice, out: np.ndarray) -> None:
            if self.sparse:
                _adjoint(*self._csr, part.start, part.stop, columns, out)
            else:
                out += self.X[part].T @ columns[part]

        return self._sum(add, columns.shape[1], self.d).reshape(self.d, *P.shape[1:])

    def hessian_product(self, V: np.ndarray, shift: Any, H: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """X'(H o (X V + shift)), the sums of H o (X V + shift), and X V + shift.

        ``shift`` has a number per column. The last result is nan where H is zero and it was not computed.
        """
        columns, curvature = _columns(V), _columns(H)
        scores = np.full((self.n, columns.shape[1]), np.nan)
        shifts = np.full(columns.shape[1], shift, dtype=np.float64)  # never a read-only view, another type for numba

        def add(part: slice, out: np.ndarray) -> None:
            if self.sparse:
                fixed = (columns, shifts, curvature)
                _hessian_product(*self._csr, part.start, part.stop, *fixed, out[:-1], out[-1], scores)
                return
            for block in self._dense_blocks(part):
                scores[block] = self.X[block] @ columns + shifts
                middle = scores[block] * curvature[block]
                out[:-1] += self.X[block].T @ middle
                out[-1] += middle.sum(axis=0)

        out = self._sum(add, columns.shape[1], self.d + 1)
        axes = V.shape[1:]
        return out[:-1].reshape(self.d, *axes), out[-1].reshape(axes), scores.reshape(self.n, *axes)

    def weighted_squares(self, H: np.ndarray) -> np.ndarray:
        """Sums of H x^2 over the samples for every feature, for each column of H."""
        columns = _columns(H)

        def add(part: slice, out: np.ndarray) -> None:
            if self.sparse:
                _weighted_squares(*self._csr, part.start, part.stop, columns, out)
                return
            for block in self._dense_blocks(part):
                out += np.square(self.X[block]).T @ columns[block]

        return self._sum(add, columns.shape[1], self.d).reshape(self.d, *H.shape[1:])

    def weighted_gram(self, cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """X'diag(c)X and X'c."""
        if self.sparse:
            return (self.X.T @ self.X.multiply(cost[:, None])).toarray(), self.adjoint(cost)
        root, total = np.sqrt(cost), np.zeros((self.d, self.d), order="F")
        for rows in tiles(self.n, BLOCK_ROWS):
            scaled = root[rows, None] * self.X[rows]
            with blas_threads_for(scaled.size * self.d / 2):
                total = blas.dsyrk(1.0, scaled.T, beta=1.0, c=total, lower=1, overwrite_c=1)
        return np.tril(total) + np.tril(total, -1).T, self.adjoint(cost)

    def mapped_norms(self, T: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """Squared norms of the rows of X T + shift."""
        norms = np.empty(self.n)
        for rows in tiles(self.n, BLOCK_ROWS):
            with blas_threads_for(norms[rows].size * T.size):
                mapped = self.X[rows] @ T + shift
            norms[rows] = np.einsum("ij,ij->i", mapped, mapped)
        return norms

    def take(self, samples: np.ndarray) -> DesignMatrix:
        """Some of the samples; all of them where there are as many."""
        return self if len(samples) == self.n else DesignMatrix(self.X[samples])

    def samples_at(self, positions: np.ndarray) -> Any:
        """Rows of X, in memory."""
        return self.X[positions]

    def visit(self, function: Visit, state: State, shared: tuple[Any, ...], by_rows: tuple[np.ndarray, ...]) -> Visited:
        """Visit the samples once, in order and by blocks of rows, with a state that goes from block to block.

        ``function(X, state, *shared, *by_rows)`` gets the rows of a block, and theirs of the arrays ``by_rows``. It
        changes none of its arguments and returns the next state and arrays over the rows.

        Returns
        -------
        state, parts
            The last state, and the arrays over all rows.
        """
        return function(self.X, state, *shared, *by_rows)

    @property
    def has_rows(self) -> bool:
        """Whether compiled loops may read the rows of X: it is dense, and in memory."""
        return not self.sparse

    @cached_property
    def rows(self) -> np.ndarray:
        """A dense X with contiguous rows, for compiled loops over them."""
        return np.ascontiguousarray(self.X)

    @cached_property
    def row_ends(self) -> np.ndarray:
        """Where every four rows of a dense X end: a triangular X is read by halves."""
        return _row_ends(self.rows)

    @cached_property
    def leading(self) -> LeadingDirections:
        """Directions of the largest variance of a dense X about the origin."""
        return leading_directions(self.rows, self.row_ends)

    def accumulate(self, function: Callable[..., tuple], *shared: Any) -> tuple:
        """The sums over tiles of rows of a dense X of what ``function(rows, first_row, *shared)`` returns.

        That is a tuple of arrays and numbers. The sums are bit-equal for every number of threads.

        Parameters
        ----------
        function : callable
            Gets the rows of a tile, C-contiguous, and the position of the first of them.
        *shared : objects
            Its other arguments.
        """
        size = max(16, min(LARGEST_TILE, 2 * CACHE_SIZE // max(self.d, 1)))
        blocks = list(tiles(self.n, size))
        cuts = np.linspace(0, len(blocks), min(N_CHUNKS, len(blocks)) + 1).astype(int)
        sums: list[tuple] = [()] * (len(cuts) - 1)

        def add(number: int) -> None:
            for rows in blocks[cuts[number] : cuts[number + 1]]:
                terms = function(np.ascontiguousarray(self.X[rows]), rows.start, *shared)
                sums[number] = tuple(a + b for a, b in zip(sums[number], terms)) if sums[number] else terms

        with single_blas_thread:
            run_in_threads(add, list(range(len(sums))))
        return tuple(sum(terms) for terms in zip(*sums))

    def squared_norms(self) -> np.ndarray:
        """Squared norms of the samples."""
        return squared_norms(self.X)

    @cached_property
    def max_norm(self) -> float:
        """The largest norm of a sample."""
        return float(np.sqrt(self.squared_norms().max(initial=0.0)))

    @cached_property
    def unit(self) -> float:
        """The power of two nearest to the root mean square of the norms of the samples; 1 if all are zero."""
        values = self.X.data if self.sparse else self.X
        largest = float(max(values.max(initial=0.0), -values.min(initial=0.0)))
        if not largest:
            return 1.0
        factor = 1.0
        if not 1e-15 < largest < 1e15:  # the squares would leave single precision
            values, factor = values / largest, largest
        return float(np.exp2(np.round(np.log2(factor * np.sqrt(float(np.vdot(values, values)) / self.n)))))

    @property
    def _csr(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.X.data, self.X.indices, self.X.indptr

    def _parts(self, width: int) -> list[slice]:
        """As many blocks of rows as threads, with about equal numbers of entries."""
        if self.size * width <= SMALL:
            return [slice(0, self.n)]
        count = n_available_threads()
        if self.sparse:
            edges = np.searchsorted(self.X.indptr, np.linspace(0, self.size, count + 1)[1:-1])
        else:
            edges = np.linspace(0, self.n, count + 1)[1:-1].astype(int)
        cuts = [0, *(int(edge) for edge in edges), self.n]
        return [slice(a, b) for a, b in pairwise(cuts)]

    def _dense_blocks(self, part: slice) -> list[slice]:
        """Blocks of rows of a dense X that fit the cache."""
        sizes = tiles(part.stop - part.start, max(16, CACHE_SIZE // self.d))
        return [slice(part.start + rows.start, part.start + rows.stop) for rows in sizes]

    def _sum(self, add: Callable, width: int, height: int) -> np.ndarray:
        """The sum of what ``add`` computes from each block of rows."""
        parts = self._parts(width)
        if len(parts) == 1:
            total = np.zeros((height, width))
            add(parts[0], total)
            return total
        sums = np.zeros((len(parts), height, width))
        run_in_threads(lambda number: add(parts[number], sums[number]), list(range(len(parts))))
        return sums.sum(axis=0)


def _columns(V: np.ndarray) -> np.ndarray:
    """V with two axes, contiguous."""
    return np.ascontiguousarray(V.reshape(len(V), -1), dtype=np.float64)
