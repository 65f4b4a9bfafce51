"""From the columns of a table to X, by scikit-learn's transformers.

Numbers and dates are imputed by the median and standardized; categories become one feature for each value; strings of
many values the leading components of their character n-grams, by which misspellings are close; text the TF-IDF of its
words, and of parts of words as well where the user says that it is misspelled. These are three blocks: numbers,
categories, text. If there are several, each is multiplied by a number: without text, so that its variances sum to one;
with text, so that the centered kernel matrices of the blocks have equal Frobenius norms, since equal variances would
let a few numbers outweigh thousands of rare words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.sparsefuncs import mean_variance_axis

from .columns import TEXT_KINDS, Column
from .strings import StringEncoder

BLOCKS = {
    "numbers": ("number", "date"),
    "categories": ("category", "boolean", "string"),
    "text": TEXT_KINDS,
}
MAX_KERNEL_ROWS = 3000  # on which the Frobenius norm is computed
MAX_DENSITY = 0.3  # of a table that stays sparse
LARGE = 10**8  # values of a table that stays sparse if that takes less memory
MAX_DENSITY_OF_LARGE = 0.6


def total_variance(X: Any) -> float:
    """The sum of the variances of the features."""
    variances = mean_variance_axis(X, axis=0)[1] if sparse.issparse(X) else np.var(X, axis=0)
    return float(variances.sum())


def kernel_norm(X: Any) -> float:
    """The Frobenius norm of the centered linear kernel matrix, divided by the number of its rows."""
    rows = np.unique(np.linspace(0, X.shape[0] - 1, MAX_KERNEL_ROWS).astype(int))
    X = X[rows]
    K = (X @ X.T).toarray() if sparse.issparse(X) else X @ X.T
    K = K - K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    return float(np.linalg.norm(K)) / len(rows)


class AsFloats(TransformerMixin, BaseEstimator):
    """Objects to floats."""

    def fit(self, X: Any, y: Any = None) -> AsFloats:
        """Nothing to fit."""
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Convert."""
        return np.asarray(X, dtype=float)

    def __sklearn_is_fitted__(self) -> bool:
        return True


class TableFeatures(TransformerMixin, BaseEstimator):
    """The features of a table.

    Parameters
    ----------
    columns : list of Column
        The columns that are used; ``fit`` and ``transform`` take their values in the same order, as
        :meth:`semisvm.tables.columns.Column.values` returns them.

    Attributes
    ----------
    transformers_ : dict
        The fitted transformers of the blocks.
    scales_ : dict
        What the blocks are multiplied by.
    """

    def __init__(self, columns: list[Column]):
        self.columns = columns

    def _block_values(self, block: str, values: Sequence[Any]) -> np.ndarray:
        """The values of a block as a matrix, of floats or of objects."""
        kept = [v for column, v in zip(self.columns, values) if column.kind in BLOCKS[block]]
        if block == "numbers":
            return np.column_stack(kept)
        matrix = np.empty((len(kept[0]), len(kept)), dtype=object)
        for position, cells in enumerate(kept):
            matrix[:, position] = cells
        return matrix

    def fit(self, values: Sequence[Any], y: Any = None) -> TableFeatures:
        """Fit the transformers of the blocks."""
        self.fit_transform(values)
        return self

    def fit_transform(self, values: Sequence[Any], y: Any = None, **params: Any) -> Any:
        """X, dense or CSR, of the table that the transformers are fitted to."""
        present = [block for block, kinds in BLOCKS.items() if any(c.kind in kinds for c in self.columns)]
        self.transformers_, self.scales_ = {}, {}
        parts = []
        for block in present:
            kinds = [c.kind for c in self.columns if c.kind in BLOCKS[block]]
            self.transformers_[block] = _block_transformer(block, kinds)
            X = self.transformers_[block].fit_transform(self._block_values(block, values))
            size = 1.0
            if len(present) > 1:
                size = kernel_norm(X) if "text" in present else total_variance(X)
            self.scales_[block] = 1.0 / np.sqrt(size) if size > 1e-12 else 1.0
            X *= self.scales_[block]
            parts.append(X)
        self.keeps_sparse_ = _is_sparse(parts, present)
        return _join(parts, self.keeps_sparse_)

    def names(self) -> list[str]:
        """What each feature is: a column, a value of one, a word; empty for components that nobody could read."""
        found = []
        for block, transformer in self.transformers_.items():
            columns = [c for c in self.columns if c.kind in BLOCKS[block]]
            found += [c.name for c in columns] if block == "numbers" else _names(transformer, columns)
        return found

    def transform(self, values: Sequence[Any]) -> Any:
        """X of another table."""
        parts = [
            transformer.transform(self._block_values(block, values)) * self.scales_[block]
            for block, transformer in self.transformers_.items()
        ]
        return _join(parts, self.keeps_sparse_)


def _names(transformer: ColumnTransformer, columns: list[Column]) -> list[str]:
    """The names of the features of categories or text, in the order of the transformer."""
    found = []
    for name, step, where in transformer.transformers_:
        if name == "category":
            for position, i in enumerate(where):
                kept = _kept_categories(step, position)
                found += [f"{columns[i].name} = {value or '(empty)'}" for value in kept]
        elif name == "boolean":
            found += [columns[i].name for i in where]
        elif name.startswith("string"):
            found += [""] * step.n_features_out_
        elif name != "remainder":
            prefix = "" if len(columns) == 1 else f"{columns[where].name}: "
            found += [prefix + word for word in step.get_feature_names_out()]
    return found


def _kept_categories(encoder: OneHotEncoder, position: int) -> list[str]:
    """The values of a column that have a feature of their own, and one for all rare ones."""
    rare = encoder.infrequent_categories_[position]
    rare = set() if rare is None else set(rare)
    kept = [value for value in encoder.categories_[position] if value not in rare]
    return kept + (["(rare values)"] if rare else [])


def _is_sparse(parts: list[Any], blocks: list[str]) -> bool:
    if blocks == ["text"]:
        return True
    n_values = sum(X.nnz if sparse.issparse(X) else X.size for X in parts)
    is_any = any(sparse.issparse(X) for X in parts)
    size = sum(X.shape[0] * X.shape[1] for X in parts)
    return is_any and n_values < size * (MAX_DENSITY if size < LARGE else MAX_DENSITY_OF_LARGE)


def _join(parts: list[Any], is_sparse: bool) -> Any:
    if is_sparse:
        return sparse.hstack([_as_csr(X) for X in parts], format="csr")
    return np.hstack([X.toarray() if sparse.issparse(X) else X for X in parts])


def _as_csr(X: Any) -> sparse.csr_matrix:
    """The matrix as CSR; a dense one keeps its values where they are, which saves memory."""
    if sparse.issparse(X):
        return sparse.csr_matrix(X)
    n, n_features = X.shape
    indices = np.tile(np.arange(n_features, dtype=np.int32), n)
    return sparse.csr_matrix((np.ascontiguousarray(X).ravel(), indices, np.arange(n + 1) * n_features), shape=X.shape)


def _block_transformer(block: str, kinds: list[str]) -> Any:
    if block == "numbers":
        return make_pipeline(SimpleImputer(strategy="median", copy=False), StandardScaler(copy=False))
    by_kind = {kind: [i for i, found in enumerate(kinds) if found == kind] for kind in BLOCKS[block]}
    if block == "text":
        vectorizers = [(f"{kind}{i}", _vectorizer(kind), i) for kind, where in by_kind.items() for i in where]
        return ColumnTransformer(vectorizers, sparse_threshold=1.0)
    steps: list[tuple[str, Any, Any]] = []
    if by_kind["category"]:
        encoder = OneHotEncoder(min_frequency=2, handle_unknown="infrequent_if_exist")
        steps.append(("category", encoder, by_kind["category"]))
    if by_kind["boolean"]:
        imputer = make_pipeline(AsFloats(), SimpleImputer(strategy="most_frequent"))
        steps.append(("boolean", imputer, by_kind["boolean"]))
    steps += [(f"string{i}", StringEncoder(), i) for i in by_kind["string"]]
    return ColumnTransformer(steps)


def _vectorizer(kind: str) -> Any:
    if kind == "characters":
        return TfidfVectorizer(analyzer="char", ngram_range=(1, 2), sublinear_tf=True)
    words = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", sublinear_tf=True)
    if kind == "text":
        return words
    parts = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
    return FeatureUnion([("words", words), ("characters", parts)], verbose_feature_names_out=False)
