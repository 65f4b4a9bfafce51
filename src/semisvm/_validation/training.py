"""Everything that ``fit`` is given, checked together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .data import check_kernel_matrix, check_sample_weight, check_X
from .labels import Labels, drop_zero_weight, encode_labels_of


class TrainingSet(NamedTuple):
    """What a fit is given: X (kernel values if ``precomputed``), labels and weights of all samples.

    ``given`` are the labels as they came, ``labels`` those that are part of the fit. ``kept`` lists the samples that
    are part of it: of positive weight, and labeled where only those count.
    """

    X: Any
    given: Labels
    labels: Labels
    weights: np.ndarray
    kept: np.ndarray
    precomputed: bool

    def take(self, samples: np.ndarray) -> Any:
        """X of some samples, and its columns too if it holds kernel values."""
        if len(samples) == self.X.shape[0]:
            return self.X
        return self.X[np.ix_(samples, samples)] if self.precomputed else self.X[samples]

    def labels_of(self, codes: np.ndarray) -> np.ndarray:
        """Labels of all samples by the positions of their classes; given labels stay, at samples of weight 0 too."""
        own = self.given.classes[self.given.codes]
        return np.where(self.given.is_labeled, own, self.labels.classes[codes])


def check_training_set(
    estimator: Any, X: Any, y: Any, sample_weight: Any, precomputed: bool, labeled_only: bool = False
) -> TrainingSet:
    """Check what ``fit`` is given; sets ``n_features_in_`` and ``feature_names_in_`` of the estimator.

    ``precomputed`` says that X holds kernel values, ``labeled_only`` that only labeled samples are part of the fit.
    """
    X = check_X(estimator, X, reset=True, precomputed=precomputed)
    n = X.shape[0]
    given = encode_labels_of(n, y, estimator.unlabeled)
    weights = check_sample_weight(sample_weight, n)
    part = (weights > 0) & given.is_labeled if labeled_only else weights > 0
    kept = np.flatnonzero(part)
    labels = drop_zero_weight(given, kept, estimator.unlabeled)
    training_set = TrainingSet(X, given, labels, weights, kept, precomputed)
    if precomputed:
        check_kernel_matrix(training_set.take(kept))
    return training_set
