"""What the machines with a hinge share."""

from __future__ import annotations

from ..losses import SquaredHinge
from ._base import Machine
from .supervised import SVM


class HingeMachine(Machine):
    """Its supervised machine is the SVM of the same loss."""

    def _supervised_twin(self) -> SVM:
        squared = isinstance(self._method().labeled, SquaredHinge)
        return SVM(
            self.C_,
            loss="squared_hinge" if squared else "hinge",
            kernel=self.kernel,
            gamma=self.gamma_,
            coef0=self.coef0,
            degree=self.degree,
            sigma=self.sigma,
            fit_intercept=self._intercept,
            multiclass=self.multiclass,
            coupling=self.coupling,
            tol=min(self.tol, 1e-3),
            n_jobs=self.n_jobs,
            unlabeled=None,
        )
