"""Features of files that hold a matrix: sparse ones as they are, dense ones imputed and standardized as numbers are."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from . import InputError


class MatrixFeatures(TransformerMixin, BaseEstimator):
    """The features of a matrix.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of the matrix.
    scaler_ : Pipeline or None
        The fitted imputer and scaler of a dense matrix.
    """

    def fit(self, X: Any, y: Any = None) -> MatrixFeatures:
        """Fit the imputer and the scaler, if the matrix is dense."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """The features, dense or CSR."""
        self.n_features_in_, self.scaler_ = X.shape[1], None
        if sparse.issparse(X):
            return sparse.csr_matrix(X)
        self.scaler_ = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
        return self.scaler_.fit_transform(X)

    def transform(self, X: Any) -> Any:
        """The features of another matrix; a sparse one may have fewer columns, which are then zero."""
        n_features = X.shape[1]
        if self.scaler_ is not None:
            if n_features != self.n_features_in_:
                raise InputError(
                    f"X has {n_features:,} features and the training data had {self.n_features_in_:,}; pass the same "
                    "features in the same order."
                )
            return self.scaler_.transform(X.toarray() if sparse.issparse(X) else X)
        X = sparse.csr_matrix(X[:, : self.n_features_in_])
        X.resize(X.shape[0], self.n_features_in_)
        return X


def count_repeated_rows(X: Any) -> int:
    """The number of rows of a matrix that equal an earlier one."""
    if sparse.issparse(X):
        X = X.copy()
        X.sum_duplicates()
        bounds = list(zip(X.indptr[:-1], X.indptr[1:]))
        rows = (X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in bounds)
    else:
        rows = (row.tobytes() for row in np.ascontiguousarray(X))
    return X.shape[0] - len({hash(row) for row in rows})
