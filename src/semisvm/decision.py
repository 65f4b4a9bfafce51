"""f at new rows, in blocks."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from . import kernels
from .kernels import Kernel
from .spaces import DENSE_SHARE, EXACT_ROWS, TILE, in_threads, tiles


def linear_scores(X, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """X w + b for each problem, shape (n, n_problems)."""
    return np.asarray(X @ coef.T, dtype=np.float64) + intercept


def kernel_scores(kernel: Kernel, X, kept, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """Sum of coef k(x, kept row) + b, shape (n, n_problems); for "precomputed" X holds the columns of the kept rows."""
    if kernel.name == "precomputed":
        return X @ coef.T + intercept
    if not kept.shape[0]:
        return np.tile(intercept, (X.shape[0], 1))
    dtype = np.float64 if kept.shape[0] <= EXACT_ROWS else np.float32
    centre = None
    known = kernels.form(kernel)
    if sparse.issparse(kept) and kept.nnz >= DENSE_SHARE * kept.shape[0] * kept.shape[1]:
        kept = kept.toarray()
    if known is not None and known.of != "product" and not sparse.issparse(kept):
        centre = kept.mean(axis=0)
    if sparse.issparse(X) != sparse.issparse(kept):
        X, kept = (sparse.csr_array(X), kept) if sparse.issparse(kept) else (X.toarray(), kept)
    support = kernels.rows(kernel, kept if centre is None else kept - centre, dtype)
    out = np.empty((X.shape[0], coef.shape[0]))

    def fill(rows: slice) -> None:
        part = X[rows] if centre is None else X[rows] - centre
        points = kernels.rows(kernel, part, dtype)
        total = np.zeros((part.shape[0], coef.shape[0]))
        for columns in tiles(kept.shape[0], 2 * TILE):
            total += kernels.block(kernel, points, support.take(columns)) @ coef[:, columns].T
        out[rows] = total + intercept

    in_threads(fill, list(tiles(X.shape[0])))
    return out
