"""What self-training predicts for new samples, by the model that its rounds end with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._threads import within_n_jobs
from .._validation import check_X
from ..estimators._calibration import LazySlope
from ..estimators.base import BaseSVM
from .calibration import class_scores
from .learners import columns_for, fit_to_codes
from .metadata import FitMetadata


def is_pairwise(estimator: Any) -> bool:
    """Whether a classifier takes kernel values."""
    return bool(get_tags(estimator).input_tags.pairwise)


def _base_estimator_has(name: str) -> Callable[[Any], bool]:
    def check(self: PredictionMixin) -> bool:
        return hasattr(self._base_estimator(), name)

    return check


class PredictionMixin(ABC):
    """Scores, probabilities and classes of new samples, and the supervised counterpart."""

    classes_: np.ndarray
    estimator_: Any  # or estimators_
    estimators_: list[Any]
    n_features_in_: int
    _columns_: list[np.ndarray]  # codes of the samples that each model was fitted to
    _labeled_: tuple[
        Any, np.ndarray, Any, FitMetadata, np.ndarray
    ]  # estimator; rows, X, metadata, codes of labeled ones
    _slope_: LazySlope

    @abstractmethod
    def _base_estimator(self) -> Any:
        """The classifier that is trained in rounds, not fitted."""

    @property
    def _use_probability(self) -> bool:
        """Whether the rounds compare probabilities rather than decision values."""
        return False

    def _scores(self, X: Any) -> np.ndarray:
        """Decision values, one column or k; one-vs-rest by probabilities: the probability of each class."""
        if not hasattr(self, "estimators_"):
            return np.asarray(self.estimator_.decision_function(columns_for(self.estimator_, X, self._columns_[0])))
        columns = []
        for model, codes in zip(self.estimators_, self._columns_):
            samples = columns_for(model, X, codes)
            use_probability = self._use_probability
            columns.append(model.predict_proba(samples)[:, 1] if use_probability else model.decision_function(samples))
        return np.column_stack(columns)

    def _winner(self, X: Any) -> np.ndarray:
        """Position of the winning class."""
        if not hasattr(self, "estimators_"):
            found = self.estimator_.predict(columns_for(self.estimator_, X, self._columns_[0]))
            return np.searchsorted(self.classes_, found)
        return self._scores(X).argmax(axis=1)

    def _checked_X(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_X(self, X, reset=False, precomputed=is_pairwise(self._base_estimator()))

    @available_if(_base_estimator_has("decision_function"))
    @within_n_jobs
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of new samples by the final model.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            New samples; with a precomputed kernel their kernel values with all samples of fit, shape (m, n_samples).

        Returns
        -------
        array of shape (m,) or (m, n_classes)
        """
        return self._scores(self._checked_X(X))

    @within_n_jobs
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes: 1/(1 + exp(-slope f)), with more classes a softmax of slope f_k.

        The slope is fitted at first use (or when the estimator is saved) to given labels: fold by fold, rounds run
        without the labels of some samples, which the model of these rounds then scores. The labels of the rounds
        have no part in it, since a model agrees with its own labels. With ``confidence="probability"`` f_k is the
        logarithm of the probability by the final model.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            New samples, as in ``decision_function``.

        Returns
        -------
        array of shape (m, n_classes)
            Rows sum to one.
        """
        X = self._checked_X(X)
        if self._use_probability and not hasattr(self, "estimators_"):
            scores = self.estimator_.predict_proba(columns_for(self.estimator_, X, self._columns_[0]))
        else:
            scores = self._scores(X).reshape(X.shape[0], -1)
        return softmax(self._slope_.compute() * class_scores(scores, self._use_probability), axis=1)

    @within_n_jobs
    def predict(self, X: Any) -> np.ndarray:
        """The class of new samples by the final model.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            New samples, as in ``decision_function``.

        Returns
        -------
        array of shape (m,)
        """
        winner = self._winner(self._checked_X(X))
        return self.classes_[winner]

    @property
    def supervised_(self) -> Any:
        """The estimator fitted to the labeled samples alone, at first use."""
        check_is_fitted(self)
        if "_supervised_" not in self.__dict__:
            estimator, labeled, X, metadata, codes = self._labeled_
            counterpart = fit_to_codes(estimator, X, metadata, self.classes_, codes)
            if isinstance(counterpart, BaseSVM):  # its samples and features are those of the whole X
                if hasattr(counterpart, "support_"):
                    counterpart.support_ = labeled[counterpart.support_]
                counterpart.n_features_in_ = self.n_features_in_
            if hasattr(self, "feature_names_in_") and not hasattr(type(counterpart), "feature_names_in_"):
                counterpart.feature_names_in_ = self.feature_names_in_
            self._supervised_ = counterpart
        return self._supervised_
