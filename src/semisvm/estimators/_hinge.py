"""What the transductive SVMs with a hinge on the kernel matrix share."""

from __future__ import annotations

from ..losses import SquaredHinge
from ._semi_supervised import SemiSupervisedSVM
from .base import BaseSVM
from .parameters import CountBalanceParameters, EqualCostParameters, InterceptParameters, ToleranceParameters
from .svm import SVM


class HingeTSVM(ToleranceParameters, SemiSupervisedSVM):
    """Its supervised counterpart is the SVM with the same loss."""

    def _supervised_counterpart(self) -> BaseSVM:
        squared = isinstance(self._formulation().labeled, SquaredHinge)
        loss = "squared_hinge" if squared else "hinge"
        return SVM(**self._shared_parameters(SVM), loss=loss, tol=min(self.tol, 1e-3))


class HingeLabelsTSVM(EqualCostParameters, InterceptParameters, CountBalanceParameters, HingeTSVM):
    """Minimizes over labels with a fixed share of positive ones."""
