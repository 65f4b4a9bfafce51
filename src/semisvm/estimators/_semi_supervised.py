"""What semi-supervised estimators share: cost and balance of the unlabeled samples, and the supervised counterpart."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._validation import TrainingSet
from .base import BaseSVM
from .parameters import (
    BalanceParameters,
    CountBalanceParameters,
    InterceptParameters,
    KernelParameters,
    MulticlassParameters,
    cost_parameter,
    unlabeled_cost_parameter,
)
from .problems import UnlabeledSettings

FEW_LABELS, MANY_LABELS = 20, 50
FEWER_WITH_LABELS_DOC = (
    "10 up to 20 labels, 1 from 50 on and in between linear in logarithms, divided by the total variance of the "
    "features"
)


def fewer_with_labels(n_labeled: float) -> float:
    """10 up to ``FEW_LABELS`` labels, 1 from ``MANY_LABELS`` on, linear in logarithms between them."""
    return float(10.0 ** np.interp(np.log(max(n_labeled, 1.0)), np.log([FEW_LABELS, MANY_LABELS]), [1.0, 0.0]))


class SemiSupervisedSVM(BalanceParameters, BaseSVM):
    """Unlabeled samples have a loss; ``supervised_`` is the same model without them."""

    C: float | str = cost_parameter(
        default="auto", auto="10 divided by the total variance of the features", kw_only=False
    )
    C_unlabeled: float | None = unlabeled_cost_parameter("C l/u")

    _auto_C: ClassVar[float] = 10.0
    _c_unlabeled_is_c: ClassVar[bool] = False  # whether C_unlabeled=None is C rather than C l/u

    def _unlabeled_settings(self) -> UnlabeledSettings:
        balance_tol = self.balance_tol if isinstance(self, CountBalanceParameters) else 0.0
        return UnlabeledSettings(self.C_unlabeled, self._c_unlabeled_is_c, self.balance, balance_tol)

    @abstractmethod
    def _supervised_counterpart(self) -> BaseSVM:
        """The unfitted estimator that ``supervised_`` fits to the labeled samples."""

    def _shared_parameters(self, cls: type[BaseSVM]) -> dict[str, Any]:
        """Own parameters of kernel, intercept and classes that another class has too, with C and gamma as numbers."""
        blocks: list[Any] = [KernelParameters, MulticlassParameters, InterceptParameters]
        shared = [one.name for block in blocks if issubclass(cls, block) for one in fields(block)]
        own = self.get_params(deep=False) | {"fit_intercept": self._intercept}
        resolved = {"C": self.C_, "gamma": self.gamma_, "n_jobs": self.n_jobs, "unlabeled": None}
        return {name: own[name] for name in shared} | resolved

    def _keep_training_set(self, data: TrainingSet) -> None:
        labeled = np.flatnonzero(data.labels.is_labeled)
        y = data.labels.classes[data.labels.codes[labeled]]
        self._labeled_ = labeled, data.take(labeled), y, data.weights[labeled]
        self.__dict__.pop("_supervised_", None)

    @property
    def supervised_(self) -> BaseSVM:
        """The same model of the labeled samples alone, fitted at first use."""
        check_is_fitted(self)
        if "_supervised_" not in self.__dict__:
            labeled, X, y, weights = self._labeled_
            counterpart = self._supervised_counterpart().fit(X, y, sample_weight=weights)
            if hasattr(counterpart, "support_"):  # w of the 1-norm and given landmarks have no support
                counterpart.support_ = labeled[counterpart.support_]
            counterpart.n_features_in_ = self.n_features_in_
            if hasattr(self, "feature_names_in_"):
                counterpart.feature_names_in_ = self.feature_names_in_
            self._supervised_ = counterpart
        return self._supervised_
