"""Samples and weights as they come."""

from __future__ import annotations

import numbers
import zlib
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

LARGE = 64_000_000  # bytes of a table from which on it is not copied to be kept
BLOCK = 1_000_000  # bytes that a checksum may copy


def check_X(estimator: Any, X: Any, reset: bool, precomputed: bool = False) -> Any:
    """X as a dense array or CSR of float64 or float32, finite, with the features seen in fit."""
    try:
        X = validate_data(
            estimator, X, reset=reset, accept_sparse=False if precomputed else "csr", dtype=[np.float64, np.float32]
        )
    except ValueError as error:
        if "could not convert string" not in str(error) and "Cannot cast" not in str(error):
            raise
        value = str(error).rpartition(": ")[2]
        raise ValueError(
            f"X holds text ({value}); only numbers are allowed. Turn text columns into numbers first, for instance "
            "with sklearn.feature_extraction.text.TfidfVectorizer or sklearn.preprocessing.OneHotEncoder."
        ) from None
    if precomputed and reset and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"kernel='precomputed' takes the square matrix of kernel values of all samples; X has shape {X.shape}."
        )
    return _in_standard_form(X) if sparse.issparse(X) else X


def _in_standard_form(X: Any) -> Any:
    """A CSR with sorted indices of 32 bits where these suffice, the one form that loops are compiled for."""
    if X.indices.dtype != np.int32 and max(X.nnz, *X.shape) <= np.iinfo(np.int32).max:
        X = type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    return X if X.has_sorted_indices else X.sorted_indices()


def copy_if_shared(X: Any, given: Any) -> Any:
    """X, copied if it is the user's own memory, which may change later."""
    ours, theirs = (values.data if getattr(values, "format", None) == "csr" else values for values in (X, given))
    shared = isinstance(theirs, np.ndarray) and np.may_share_memory(ours, theirs)
    return X.copy() if shared or not isinstance(theirs, np.ndarray | list) else X


class KeptSamples:
    """The samples of a fit, kept for what is computed from them later.

    A copy if they are the user's own memory, which may change; of a large table only a checksum, and what has changed
    is refused.

    Parameters
    ----------
    X : array or CSR
        The samples as the fit has checked them.
    given : object
        The samples as they came.
    """

    def __init__(self, X: Any, given: Any):
        is_large = sum(values.nbytes for values in _arrays(X)) > LARGE
        self._X = X if is_large else copy_if_shared(X, given)
        self._checksum = _checksum(X) if is_large else None

    def get(self) -> Any:
        """The samples."""
        if self._checksum is not None and _checksum(self._X) != self._checksum:
            raise RuntimeError(
                "the samples given to fit have changed, and probabilities are computed from them at first use. Call "
                "predict_proba before X is changed, or fit to a copy of it."
            )
        return self._X


def _arrays(X: Any) -> list[np.ndarray]:
    """The arrays that a table consists of."""
    return [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]


def _checksum(X: Any) -> int:
    """A number that is another one if a value of the table is."""
    total = 0
    for values in _arrays(X):
        n_rows = max(1, BLOCK * len(values) // max(values.nbytes, 1))
        for start in range(0, len(values), n_rows):
            total = zlib.crc32(np.ascontiguousarray(values[start : start + n_rows]).data, total)
    return total


def check_kernel_matrix(K: np.ndarray) -> np.ndarray:
    """Refuse a precomputed kernel matrix that is not symmetric."""
    scale = np.abs(K).max(initial=0.0)
    if np.abs(K - K.T).max(initial=0.0) > 1e-6 * scale:
        raise ValueError("the precomputed kernel matrix is not symmetric; pass K with K[i, j] = k(x_i, x_j).")
    return K


def check_sample_weight(sample_weight: Any, n: int) -> np.ndarray:
    """One weight per sample, not negative, not all zero; ones if none are given."""
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, numbers.Real):
        sample_weight = np.full(n, float(sample_weight))
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight holds values that are not numbers; pass one number per sample.") from None
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar; got an array of shape {weights.shape}.")
    if len(weights) != n:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected ({n},)! Pass one number per sample of X.")
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError(
            "sample_weight must hold finite numbers of 0 or more, not all zero; correct or drop the other samples."
        )
    return weights
