"""What the machines of the primal share."""

from __future__ import annotations

from ..solvers import SMO
from ._base import Machine
from .generic import S3VM


class PrimalMachine(Machine):
    """Its supervised machine is the same without an unlabeled loss."""

    _twin: type = SMO  # the solver of that machine

    def _supervised_twin(self) -> S3VM:
        return S3VM(
            self._method().labeled,
            None,
            self.kernel,
            None,
            self._twin(self.tol),
            C=self.C_,
            gamma=self.gamma_,
            coef0=self.coef0,
            degree=self.degree,
            sigma=self.sigma,
            fit_intercept=self._intercept,
            multiclass=self.multiclass,
            coupling=self.coupling,
            tol=self.tol,
            n_jobs=self.n_jobs,
            unlabeled=None,
        )
