"""f at new samples, in blocks."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from . import kernels
from .base import FLOAT64_SAMPLES
from .gram import center_for_kernel, expansion
from .kernels import Kernel, Samples


class _Support(NamedTuple):
    """Support vectors as new samples are compared with them: without their center, if one was subtracted."""

    samples: Samples
    center: np.ndarray | None


_prepared: dict[int, tuple[weakref.ref, Kernel, _Support]] = {}  # by the identity of the support vectors


def linear_scores(X: Any, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """X w + b for each problem, shape (n, n_problems)."""
    return np.asarray(X @ coef.T, dtype=np.float64) + intercept


def kernel_scores(kernel: Kernel, X: Any, support: Any, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """Sum of coef k(x, support) + b, shape (n, n_problems); "precomputed": X holds the columns of the support."""
    if kernel.name == "precomputed":
        return X @ coef.T + intercept
    if not support.shape[0]:
        return np.tile(intercept, (X.shape[0], 1))
    samples, center = _prepare(kernel, support)
    if sparse.issparse(X) != sparse.issparse(samples.X):
        X = sparse.csr_array(X) if sparse.issparse(samples.X) else X.toarray()

    def take(rows: slice) -> Samples:
        return kernels.prepare(kernel, X[rows] if center is None else X[rows] - center, samples.X.dtype)

    return expansion(kernel, take, X.shape[0], samples, coef.T) + intercept


def _prepare(kernel: Kernel, support: Any) -> _Support:
    """The support vectors without their center, kept as long as these are: a model may be asked row by row."""
    known = _prepared.get(id(support))
    if known is not None and known[0]() is support and known[1] == kernel:
        return known[2]
    dtype = np.float64 if support.shape[0] <= FLOAT64_SAMPLES else np.float32
    X, center = center_for_kernel(kernel, support)
    prepared = _Support(kernels.prepare(kernel, X, dtype), center)
    if center is not None:  # else X may be the array itself, which would be kept for ever
        key = id(support)
        _prepared[key] = weakref.ref(support, lambda _: _prepared.pop(key, None)), kernel, prepared
    return prepared
