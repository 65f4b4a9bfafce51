"""f at new samples, in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from . import kernels
from .base import FLOAT64_SAMPLES
from .gram import center_for_kernel, expansion
from .kernels import Kernel, Samples


def linear_scores(X: Any, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """X w + b for each problem, shape (n, n_problems)."""
    return np.asarray(X @ coef.T, dtype=np.float64) + intercept


def kernel_scores(kernel: Kernel, X: Any, support: Any, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """Sum of coef k(x, support) + b, shape (n, n_problems); "precomputed": X holds the columns of the support."""
    if kernel.name == "precomputed":
        return X @ coef.T + intercept
    if not support.shape[0]:
        return np.tile(intercept, (X.shape[0], 1))
    dtype = np.float64 if support.shape[0] <= FLOAT64_SAMPLES else np.float32
    support, center = center_for_kernel(kernel, support)
    if sparse.issparse(X) != sparse.issparse(support):
        X = sparse.csr_array(X) if sparse.issparse(support) else X.toarray()

    def take(rows: slice) -> Samples:
        return kernels.prepare(kernel, X[rows] if center is None else X[rows] - center, dtype)

    return expansion(kernel, take, X.shape[0], kernels.prepare(kernel, support, dtype), coef.T) + intercept
