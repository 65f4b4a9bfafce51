"""Accuracy where the truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from .._validation import encode_labels_of


class LabeledScoreMixin(ClassifierMixin):
    """A classifier whose score leaves unlabeled samples out."""

    unlabeled: Any

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of ``predict`` on the labeled samples.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            Samples, as in ``predict``.
        y : array-like of shape (m,)
            True labels; samples that are marked as unlabeled, as in ``fit``, are skipped.
        sample_weight : array-like of shape (m,), optional
            Weights of the samples.

        Returns
        -------
        float
        """
        predicted = self.predict(X)
        labels = encode_labels_of(len(predicted), y, self.unlabeled)
        known = labels.is_labeled
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(accuracy_score(labels.classes[labels.codes[known]], predicted[known], sample_weight=weights))
