"""Which features tell the classes apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

MIN_ROWS = 3  # in which a feature has to differ from its most frequent value
N_TOP = 12


class FeatureCorrelation(NamedTuple):
    """The correlation of a feature with the score of a class."""

    name: str
    correlation: float


def top_features(X: Any, scores: np.ndarray, names: list[str], n: int = N_TOP) -> list[FeatureCorrelation]:
    """The features of largest correlation with a score, by their absolute value.

    Parameters
    ----------
    X : array or CSR of shape (n_samples, n_features)
        The features.
    scores : array of shape (n_samples,)
        Scores of one class.
    names : list of str
        Names of the features; those without one are left out.
    n : int
        How many to return.
    """
    scores = scores - scores.mean()
    if sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        variance = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
        is_frequent = np.bincount(X.indices, minlength=X.shape[1]) >= MIN_ROWS
    else:
        mean, variance = X.mean(axis=0), X.var(axis=0)
        is_frequent = (np.median(X, axis=0) != X).sum(axis=0) >= MIN_ROWS
    covariance = np.asarray(X.T @ scores).ravel() / len(scores)
    size = np.sqrt(np.maximum(variance, 0.0)) * scores.std()
    correlation = np.divide(covariance, size, out=np.zeros(len(size)), where=size > 1e-9)
    usable = np.array([bool(name) for name in names]) & is_frequent
    order = np.argsort(-np.abs(np.where(usable, correlation, 0.0)), kind="stable")[:n]
    return [FeatureCorrelation(names[j], float(correlation[j])) for j in order if usable[j] and correlation[j]]
