"""What semi-supervised estimators share: cost and balance of the unlabeled samples, and the supervised counterpart."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._validation import TrainingSet, copy_if_shared
from ..balance import Count
from ..solution import Solution
from ._shares import compare_shares, impose_shares, warn_if_far, warn_if_one_class
from .base import BaseSVM
from .parameters import (
    BalanceParameters,
    CountBalanceParameters,
    EqualCostParameters,
    InterceptParameters,
    KernelParameters,
    MulticlassParameters,
    Parametrized,
    cost_parameter,
    unlabeled_cost_parameter,
)
from .problems import BinaryProblems, UnlabeledSettings


class SemiSupervisedSVM(BalanceParameters, BaseSVM):
    """Unlabeled samples have a loss; ``supervised_`` is the same model without them."""

    C: float | str = cost_parameter(
        default="auto", auto="10 divided by the total variance of the features", kw_only=False
    )
    C_unlabeled: float | None = unlabeled_cost_parameter("C l/u")

    def _unlabeled_settings(self) -> UnlabeledSettings:
        balance_tol = self.balance_tol if isinstance(self, CountBalanceParameters) else "auto"
        default_is_C = isinstance(self, EqualCostParameters)
        keeps_share = len(self._formulation().solver.accepts.balances) > 1
        balance = self.balance if keeps_share or self._given_share or self.balance == "labeled" else None
        return UnlabeledSettings(self.C_unlabeled, default_is_C, balance, balance_tol)

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

    @property
    def _given_share(self) -> bool:
        """Whether the user gave the shares of ``transduction_``, as a number or a mapping."""
        return self.balance is not None and not isinstance(self.balance, str)

    def _found_codes(self, solutions: list[Solution], data: TrainingSet, problems: BinaryProblems) -> np.ndarray:
        """As in the base class, with the shares that the user gave; sets ``share_``."""
        codes = super()._found_codes(solutions, data, problems)
        formulation, settings = problems.settings.formulation, problems.settings.unlabeled
        given, weights = data.labels.codes[data.kept], data.weights[data.kept]
        rest = given < 0
        assert settings is not None, "a semi-supervised estimator has them"
        keeps_share = settings.balance is not None and formulation.unlabeled is not None
        asked = problems.shares(given, weights) if keeps_share else None
        shares = None if asked is None else asked.shares
        is_one_class = (
            warn_if_one_class(self, shares, codes[rest], data) if formulation.unlabeled is not None else False
        )
        if asked is not None and rest.any():
            searched = len(solutions) == 1 and Count in formulation.solver.accepts.balances

            def tolerance(share: float) -> float:
                return settings.tolerance(share, asked.n_labels)

            if self._given_share and not searched:
                scores = self._couple(np.column_stack([s.scores[rest] for s in solutions]))
                slack = tolerance(float(asked.shares[-1]))
                codes[rest] = impose_shares(codes[rest], scores, weights[rest], asked.shares, slack)
            elif not is_one_class:
                warn_if_far(self, asked, tolerance, codes[rest], data)
        self.share_ = compare_shares(shares, codes[rest], data)
        return codes

    def _keep_training_set(self, data: TrainingSet) -> None:
        labeled = np.flatnonzero(data.labels.is_labeled)
        y = data.labels.classes[data.labels.codes[labeled]]
        X = copy_if_shared(data.take(labeled), data.X)
        self._labeled_ = labeled, X, y, data.weights[labeled]
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


class CostByLabels(Parametrized):
    """The fewer labels, the higher C="auto"."""

    C: float | str = cost_parameter(
        default="auto",
        auto="10 up to 20 labels, 1 from 50 on and in between linear in logarithms, divided by the total variance of "
        "the features",
        kw_only=False,
    )

    def _robust_C(self, n_labeled: float) -> float:
        return float(10.0 ** np.interp(np.log(max(n_labeled, 1.0)), np.log([20, 50]), [1.0, 0.0]))
