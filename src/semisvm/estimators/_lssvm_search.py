"""What the semi-supervised least-squares SVMs share."""

from __future__ import annotations

from abc import abstractmethod

from .._validation import Options
from ..losses import Squared, SymmetricSquared
from ..solvers import SafeProjection, Solver
from ._semi_supervised import FEWER_WITH_LABELS_DOC, SemiSupervisedSVM, fewer_with_labels
from .base import BaseSVM
from .lssvm import LSSVM
from .parameters import (
    ApproximationParameters,
    CountBalanceParameters,
    InterceptParameters,
    cost_parameter,
    max_time_parameter,
    parameter,
    unlabeled_cost_parameter,
)
from .problems import Formulation


class LSSVMSearchBase(InterceptParameters, ApproximationParameters, CountBalanceParameters, SemiSupervisedSVM):
    """Squared losses on all samples, and a solver that searches labels, or the safe projection in its place."""

    C: float | str = cost_parameter(default="auto", auto=FEWER_WITH_LABELS_DOC, kw_only=False)
    C_unlabeled: float | None = unlabeled_cost_parameter("C l/u", ", and 0 leaves the unlabeled samples out")
    safe: bool = parameter(
        False,
        Options([True, False]),
        doc="Return the safe projection instead of the search (:mod:`semisvm.solvers.least_squares.safe_projection`): "
        "whatever the true labels are, its objective is not worse than that of the supervised model. No balance is "
        "kept then, and all least-squares classes give the same model.",
    )
    max_time: float | None = max_time_parameter()

    @abstractmethod
    def _solver(self) -> Solver:
        """The search of the subclass."""

    def _formulation(self) -> Formulation:
        return Formulation(Squared(), SymmetricSquared(), SafeProjection() if self.safe else self._solver())

    def _robust_C(self, n_labeled: float) -> float:
        return fewer_with_labels(n_labeled)

    def _supervised_counterpart(self) -> BaseSVM:
        return LSSVM(**self._shared_parameters(LSSVM))
