"""Everything that ``fit`` is given, checked together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .data import check_kernel_matrix, check_sample_weight, check_X
from .labels import Labels, drop_zero_weight, encode_labels


class TrainingSet(NamedTuple):
    """What a fit is given.

    Attributes
    ----------
    X, labels, weights : arrays over all samples
        Samples, classes and codes, weights.
    kept : int array
        The samples that are part of the fit: of positive weight, and labeled where only those count.
    precomputed : bool
        Whether X holds kernel values.
    """

    X: Any
    labels: Labels
    weights: np.ndarray
    kept: np.ndarray
    precomputed: bool

    def take(self, samples: np.ndarray) -> Any:
        """X of some samples, and its columns too if it holds kernel values."""
        if len(samples) == self.X.shape[0]:
            return self.X
        return self.X[np.ix_(samples, samples)] if self.precomputed else self.X[samples]


def check_training_set(
    estimator: Any, X: Any, y: Any, sample_weight: Any, precomputed: bool, labeled_only: bool = False
) -> TrainingSet:
    """Check samples, labels and weights; sets ``n_features_in_`` and ``feature_names_in_`` of the estimator.

    Parameters
    ----------
    estimator : estimator
        With a parameter ``unlabeled``, the marker of unlabeled samples.
    X, y, sample_weight : array-likes
        As given to ``fit``.
    precomputed : bool
        Whether X holds kernel values.
    labeled_only : bool
        Whether only labeled samples are part of the fit.
    """
    X = check_X(estimator, X, reset=True, precomputed=precomputed)
    labels = encode_labels(y, estimator.unlabeled)
    n = X.shape[0]
    if len(labels.codes) != n:
        raise ValueError(f"X has {n} samples and y has {len(labels.codes)} values; pass one label per sample.")
    weights = check_sample_weight(sample_weight, n)
    part = (weights > 0) & labels.is_labeled if labeled_only else weights > 0
    kept = np.flatnonzero(part)
    labels = drop_zero_weight(labels, kept, estimator.unlabeled)
    training_set = TrainingSet(X, labels, weights, kept, precomputed)
    if precomputed:
        check_kernel_matrix(training_set.take(kept))
    return training_set
