"""What the semi-supervised least-squares machines share."""

from __future__ import annotations

from ..losses import Squared, SymmetricSquared
from ..solvers import SafeProjection
from ._base import Machine
from ._parameters import Method, fewer_with_labels
from .least_squares import LSSVM


class LabelMachine(Machine):
    """Squared losses on all rows, and a solver that searches labels, or the safe projection in its place."""

    def _solver(self):
        """The search of the subclass."""
        raise AttributeError(f"{type(self).__name__} names no solver.")

    def _method(self) -> Method:
        solver = self._solver()
        return Method(Squared(), SymmetricSquared(), SafeProjection() if self.safe else solver)

    def _robust_C(self, n_labeled: float) -> float:
        return fewer_with_labels(n_labeled)

    def _supervised_twin(self) -> LSSVM:
        return LSSVM(
            self.C_,
            kernel=self.kernel,
            gamma=self.gamma_,
            coef0=self.coef0,
            degree=self.degree,
            sigma=self.sigma,
            fit_intercept=self.fit_intercept,
            multiclass=self.multiclass,
            coupling=self.coupling,
            n_jobs=self.n_jobs,
            unlabeled=None,
        )
