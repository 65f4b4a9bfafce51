"""A search as an estimator: what it found does the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


def _fitted(method: str) -> Callable[[Any], bool]:
    """Whether the best estimator, or before fit the given one, has a method."""

    def has_method(search: Any) -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), method)
        return True

    return has_method


class BestEstimator(MetaEstimatorMixin, BaseEstimator):
    """Predictions and attributes of the ``best_estimator_`` of a search."""

    estimator: Any
    refit: bool

    def _best(self) -> Any:
        check_is_fitted(self, "best_params_")
        if not self.refit:
            raise AttributeError("refit=False: no estimator was fitted with best_params_; pass refit=True.")
        return self.best_estimator_

    @available_if(_fitted("predict"))
    def predict(self, X: Any) -> np.ndarray:
        """The class of new samples by the best estimator.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            New samples.

        Returns
        -------
        array of shape (m,)
        """
        return self._best().predict(X)

    @available_if(_fitted("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of new samples by the best estimator.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            New samples.

        Returns
        -------
        array of shape (m,) or (m, n_classes)
        """
        return self._best().decision_function(X)

    @available_if(_fitted("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes by the best estimator.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            New samples.

        Returns
        -------
        array of shape (m, n_classes)
        """
        return self._best().predict_proba(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of the best estimator on the labeled samples.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            Samples.
        y : array-like of shape (m,)
            True labels; samples that are marked as unlabeled are skipped.
        sample_weight : array-like of shape (m,), optional
            Weights of the samples.

        Returns
        -------
        float
        """
        return self._best().score(X, y, sample_weight=sample_weight)

    @property
    def n_jobs(self) -> int | None:
        """Largest number of threads: that of the estimator."""
        return getattr(self.estimator, "n_jobs", None)

    @property
    def classes_(self) -> np.ndarray:
        """The classes of the best estimator."""
        return self._best().classes_

    @property
    def transduction_(self) -> np.ndarray:
        """The labels of all samples by the best estimator."""
        return self._best().transduction_

    @property
    def n_features_in_(self) -> int:
        """Number of features of the best estimator."""
        return self._best().n_features_in_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_params_")

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.target_tags = inner.target_tags
        tags.input_tags = inner.input_tags
        return tags
