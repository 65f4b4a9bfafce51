"""From the columns of a table to the rows of a machine, by scikit-learn's transformers."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from .columns import Column

BLOCKS = {
    "numbers": ("number", "date"),
    "categories": ("category", "boolean"),
    "text": ("text", "characters"),
}


class UnitVariance(TransformerMixin, BaseEstimator):
    """Divides a block of columns by one number, so that the variances of its columns sum to one."""

    def fit(self, X, y=None):
        """Measure the block."""
        if sparse.issparse(X):
            mean = np.asarray(X.mean(axis=0)).ravel()
            total = float(np.asarray(X.multiply(X).mean(axis=0)).sum() - mean @ mean)
        else:
            total = float(np.var(X, axis=0).sum())
        self.scale_ = np.sqrt(total) if total > 1e-12 else 1.0
        return self

    def transform(self, X):
        """Divide."""
        return X * (1.0 / self.scale_)


def transformer(columns: list[Column]) -> ColumnTransformer:
    """The transformer of a table whose frame has the positions in ``columns`` as names.

    Blocks of numbers, categories and text get a total variance of one each if there are several; a table of one block
    is left as it is. Text alone stays sparse.

    Parameters
    ----------
    columns : list of Column
        Those in use.

    Returns
    -------
    ColumnTransformer
    """
    places = {block: [i for i, c in enumerate(columns) if c.kind in kinds] for block, kinds in BLOCKS.items()}
    places = {block: found for block, found in places.items() if found}
    parts = []
    for block, found in places.items():
        steps = [("columns", _block(block, columns, found))]
        if len(places) > 1:
            steps.append(("balance", UnitVariance()))
        parts.append((block, Pipeline(steps), [str(i) for i in found]))
    return ColumnTransformer(parts, sparse_threshold=1.0 if list(places) == ["text"] else 0.3)


def _block(block: str, columns: list[Column], found: list[int]):
    if block == "numbers":
        return Pipeline([("fill", SimpleImputer(strategy="median")), ("scale", StandardScaler())])
    if block == "text":
        parts = [(str(i), _words(columns[i].kind), str(i)) for i in found]
        return ColumnTransformer(parts, sparse_threshold=1.0)
    kinds = {"boolean": SimpleImputer(strategy="median"),
             "category": OneHotEncoder(min_frequency=2, handle_unknown="ignore")}  # fmt: skip
    parts = [(kind, step, [str(i) for i in found if columns[i].kind == kind]) for kind, step in kinds.items()]
    return ColumnTransformer([part for part in parts if part[2]])


def _words(kind: str) -> TfidfVectorizer:
    if kind == "characters":
        return TfidfVectorizer(analyzer="char", ngram_range=(1, 2), sublinear_tf=True)
    return TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", sublinear_tf=True)


def frame(columns: list[Column]) -> pd.DataFrame:
    """The values of the columns, named by their positions, since names in files may repeat."""
    return pd.DataFrame(
        {str(i): np.asarray(c.values, dtype=object if isinstance(c.values, list) else float)
         for i, c in enumerate(columns)}
    )  # fmt: skip
