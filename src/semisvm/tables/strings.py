"""Strings of many values, such as names of cities: the leading components of their character n-grams."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

N_COMPONENTS = 100
MIN_COMPONENTS = 8
MAX_VALUES = 2 * 10**7  # of the result; longer columns have fewer components
MANY_ROWS = 1000  # from which on n-grams of one row are left out
MAX_FIT_ROWS = 50_000  # to which the components are fitted


class StringEncoder(TransformerMixin, BaseEstimator):
    """Leading components of character n-grams, by which misspellings are close; of few n-grams their TF-IDF itself.

    Attributes
    ----------
    vectorizer_ : TfidfVectorizer
        The fitted TF-IDF of the n-grams.
    components_ : TruncatedSVD or None
        Its components; None if there are no more n-grams than components.
    n_features_out_ : int
        The number of features.
    """

    def fit(self, cells: np.ndarray, y: Any = None) -> StringEncoder:
        """Fit the components to evenly spaced rows, all of them if they are not too many."""
        rows = np.unique(np.linspace(0, len(cells) - 1, MAX_FIT_ROWS).astype(int))
        n_components = min(N_COMPONENTS, max(MIN_COMPONENTS, MAX_VALUES // len(cells)))
        min_df = 1 if len(rows) < MANY_ROWS else 2
        self.vectorizer_ = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), min_df=min_df, sublinear_tf=True)
        grams = self.vectorizer_.fit_transform(cells[rows])
        self.components_ = None
        if grams.shape[1] > n_components:
            self.components_ = TruncatedSVD(n_components, random_state=0).fit(grams)
        self.n_features_out_ = min(n_components, grams.shape[1])
        return self

    def transform(self, cells: np.ndarray) -> np.ndarray:
        """The features of every cell, computed once per value."""
        codes: dict[str, int] = {}
        inverse = np.array([codes.setdefault(cell, len(codes)) for cell in cells], dtype=int)
        grams = self.vectorizer_.transform(list(codes))
        return (grams.toarray() if self.components_ is None else self.components_.transform(grams))[inverse]
