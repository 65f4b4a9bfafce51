"""Strings of many values, such as names of cities: the leading components of their character n-grams."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

N_COMPONENTS = 100
MIN_COMPONENTS = 8
MAX_VALUES = 2 * 10**7  # of the result; longer columns have fewer components
MAX_FIT_ROWS = 50_000  # to which the components are fitted


class StringEncoder(TransformerMixin, BaseEstimator):
    """Leading components of character n-grams, by which misspellings are close.

    Attributes
    ----------
    encoder_ : Pipeline
        The fitted TF-IDF of the n-grams and its components.
    """

    def fit(self, cells: np.ndarray, y: Any = None) -> StringEncoder:
        """Fit the components to evenly spaced rows, all of them if they are not too many."""
        rows = np.unique(np.linspace(0, len(cells) - 1, MAX_FIT_ROWS).astype(int))
        n_components = min(N_COMPONENTS, max(MIN_COMPONENTS, MAX_VALUES // len(cells)))
        grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), min_df=2, sublinear_tf=True)
        self.encoder_ = make_pipeline(grams, TruncatedSVD(n_components, random_state=0)).fit(cells[rows])
        return self

    def transform(self, cells: np.ndarray) -> np.ndarray:
        """The components of every cell, computed once per value."""
        codes: dict[str, int] = {}
        inverse = np.array([codes.setdefault(cell, len(codes)) for cell in cells], dtype=int)
        return self.encoder_.transform(list(codes))[inverse]
