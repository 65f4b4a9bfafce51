"""What the transductive SVMs on features share."""

from __future__ import annotations

from typing import Any, ClassVar

from .._validation import Described, Options
from ..solvers import SMO, Solver
from ._semi_supervised import SemiSupervisedSVM
from .base import BaseSVM
from .parameters import (
    APPROXIMATIONS,
    NONE,
    ApproximationParameters,
    ToleranceParameters,
    limit_parameter,
    parameter,
    random_state_parameter,
    tol_parameter,
)
from .s3vm import S3VM


class FeaturesTSVM(ApproximationParameters, SemiSupervisedSVM):
    """Works on X itself, or on features that stand for a kernel."""

    approximation: str | None = parameter(
        "auto",
        Options(APPROXIMATIONS),
        doc="A kernel other than the linear one is turned into features: None is exact, by the Cholesky factor of the "
        'kernel matrix; "kernel_pca" keeps the first ``n_components`` principal components, "nystroem" those of as '
        'many landmarks; "auto" is exact up to 3,000 samples ("kernel_pca" if ``n_components`` is given), then '
        '"nystroem"; a short ``max_time``, at a billion multiplications a second, makes it "nystroem" with fewer '
        "components, which a warning tells. The linear kernel needs none and takes sparse X as "
        "it is.",
    )
    random_state: Any = random_state_parameter("For landmarks.")


class PrimalTSVM(ToleranceParameters, FeaturesTSVM):
    """Solved by the batch engine; its supervised counterpart is the same model without an unlabeled loss."""

    tol: float = tol_parameter("Norm of the gradient at which a solve ends, relative to that of the losses at w = 0.")
    max_iter: int = limit_parameter(1000, "Largest number of solves.")
    n_jobs: int | None = parameter(
        None,
        Described("int"),
        NONE,
        doc="Largest number of threads, as in joblib: over the binary problems where no label is missing; otherwise "
        "all problems are solved in one pass over the data. None is all cores.",
    )

    _supervised_solver: ClassVar[type[Solver]] = SMO

    def _supervised_counterpart(self) -> BaseSVM:
        solver: Any = self._supervised_solver
        labeled = self._formulation().labeled
        return S3VM(labeled, None, **self._shared_parameters(S3VM), balance=None, solver=solver(self.tol))
