"""From the columns of a table to X, by scikit-learn's transformers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.sparsefuncs import mean_variance_axis

from .columns import Column

BLOCKS = {
    "numbers": ("number", "date"),
    "categories": ("category", "boolean"),
    "text": ("text", "characters"),
}


class TotalVarianceScaler(TransformerMixin, BaseEstimator):
    """Divides all features by one number, so that their variances sum to one."""

    def fit(self, X: Any, y: Any = None) -> TotalVarianceScaler:
        """Compute the total variance."""
        variances = mean_variance_axis(X, axis=0)[1] if sparse.issparse(X) else np.var(X, axis=0)
        total = variances.sum()
        self.scale_ = np.sqrt(total) if total > 1e-12 else 1.0
        return self

    def transform(self, X: Any) -> Any:
        """Divide."""
        return X * (1.0 / self.scale_)


def build_transformer(columns: list[Column]) -> ColumnTransformer:
    """The transformer of a data frame whose columns are named by their positions in ``columns``.

    Blocks of numbers, categories and text are scaled to a total variance of one each if there are several; a single
    block is not scaled. Text alone stays sparse.
    """
    blocks = {block: [i for i, c in enumerate(columns) if c.kind in kinds] for block, kinds in BLOCKS.items()}
    blocks = {block: positions for block, positions in blocks.items() if positions}
    transformers = []
    for block, positions in blocks.items():
        steps = [("columns", _block_transformer(block, columns, positions))]
        if len(blocks) > 1:
            steps.append(("scale", TotalVarianceScaler()))
        transformers.append((block, Pipeline(steps), [str(i) for i in positions]))
    return ColumnTransformer(transformers, sparse_threshold=1.0 if list(blocks) == ["text"] else 0.3)


def _block_transformer(block: str, columns: list[Column], positions: list[int]) -> Pipeline | ColumnTransformer:
    if block == "numbers":
        return Pipeline([("impute", SimpleImputer(strategy="median")), ("scale", StandardScaler())])
    if block == "text":
        vectorizers = [(str(i), _vectorizer(columns[i].kind), str(i)) for i in positions]
        return ColumnTransformer(vectorizers, sparse_threshold=1.0)
    kinds = {"boolean": SimpleImputer(strategy="median"),
             "category": OneHotEncoder(min_frequency=2, handle_unknown="ignore")}  # fmt: skip
    encoders = [(kind, step, [str(i) for i in positions if columns[i].kind == kind]) for kind, step in kinds.items()]
    return ColumnTransformer([encoder for encoder in encoders if encoder[2]])


def _vectorizer(kind: str) -> TfidfVectorizer:
    if kind == "characters":
        return TfidfVectorizer(analyzer="char", ngram_range=(1, 2), sublinear_tf=True)
    return TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", sublinear_tf=True)


def to_frame(columns: list[Column]) -> pd.DataFrame:
    """The values of the columns, named by their positions, since names in files may repeat."""
    return pd.DataFrame(
        {str(i): np.asarray(c.values, dtype=object if isinstance(c.values, list) else float)
         for i, c in enumerate(columns)}
    )  # fmt: skip
