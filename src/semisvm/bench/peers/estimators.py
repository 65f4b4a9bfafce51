"""Estimators of scikit-learn and of this package, each fitted in a process of its own."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC, LinearSVC

from ...estimators import CCCPTSVM, S3VM, SVM, AnnealingTSVM, ContinuationTSVM, MultiSwitchTSVM, SwitchingTSVM
from ...self_training import SelfTraining
from . import formulations as known
from .base import Case, Formulation, KernelModel, LinearModel, Model, Peer, PeerFailure, Run
from .program import run_program

POSITIVE, NEGATIVE, UNLABELED = 1, 0, -1
SKLEARN, OURS = "scikit-learn", "semisvm"
TOLERANCES = (1e-3, 1e-6)
LINEAR: dict[str, Any] = {"kernel": "linear", "fit_intercept": "regularized"}


class Estimator(Peer):
    """An estimator with ``fit`` and ``predict``; the first of two fits, which compiles, is off the clock.

    Parameters
    ----------
    name, program : str
        What the row is called, and the library.
    formulation : Formulation
        What it minimizes.
    make : callable
        The estimator of a case, which takes the case and C*.
    """

    def __init__(self, name: str, program: str, formulation: Formulation, make: Callable[[Case, float], Any]):
        self.name = name
        self.program = program  # type: ignore[misc]
        self.formulation = formulation
        self.make = make

    def run(self, case: Case, folder: Path) -> Run:
        """Fit in a new process, so that its memory is that of this fit."""
        (folder / "case.pickle").write_bytes(pickle.dumps(case))
        run_program(self.name, [sys.executable, "-m", f"{__package__}.worker", self.name], folder)
        path = folder / "run.pickle"
        if not path.is_file():
            raise PeerFailure(f"{self.name} ended without a result.")
        run: Run = pickle.loads(path.read_bytes())
        return run

    def estimator(self, case: Case) -> Any:
        """The estimator of a case."""
        return self.make(case, self.formulation.unlabeled_cost(case))

    def targets(self, case: Case) -> np.ndarray:
        """Labels 1 and 0, and -1 for unlabeled samples."""
        signs = self.formulation.signs(case)
        return np.where(signs > 0, POSITIVE, np.where(signs < 0, NEGATIVE, UNLABELED))

    def model(self, fitted: Any, case: Case) -> Model | None:
        """The weights or multipliers of a fitted estimator; None where the formulation has no objective."""
        if self.formulation.labeled is None:
            return None
        b = float(np.ravel(fitted.intercept_)[0])
        if self.formulation.kernel == "linear":
            return LinearModel(np.ravel(fitted.coef_).astype(float), b)
        return KernelModel(case.X[fitted.support_], np.ravel(fitted.dual_coef_), case.gamma, b)


def _primal(cls: type, formulation: Formulation, tol: float) -> Estimator:
    """Ours at a tolerance: the default one is looser than that of SVMlin."""

    def make(case: Case, cost: float) -> Any:
        return cls(case.C, C_unlabeled=cost, balance=case.share, tol=tol, **LINEAR)

    return Estimator(f"{cls.__name__}, tol {tol:g}", OURS, formulation, make)


ESTIMATORS: dict[str, Estimator] = {
    one.name: one
    for one in (
        Estimator("SVC", SKLEARN, known.HINGE_SVM, lambda case, _: SVC(C=case.C, gamma=case.gamma, cache_size=1000)),
        Estimator("SVM", OURS, known.HINGE_SVM, lambda case, _: SVM(case.C, gamma=case.gamma)),
        Estimator("LinearSVC", SKLEARN, known.SQUARED_HINGE_SVM, lambda case, _: LinearSVC(C=case.C, random_state=0)),
        Estimator(
            "S3VM, finite Newton",
            OURS,
            known.SQUARED_HINGE_SVM,
            lambda case, _: S3VM("squared_hinge", None, solver="finite_newton", C=case.C, **LINEAR),
        ),
        Estimator(
            "CCCPTSVM",
            OURS,
            known.RAMP_TSVM,
            lambda case, cost: CCCPTSVM(case.C, C_unlabeled=cost, gamma=case.gamma, s=known.RAMP, balance=case.share),
        ),
        Estimator(
            "ContinuationTSVM",
            OURS,
            known.GAUSSIAN_TSVM,
            lambda case, cost: ContinuationTSVM(case.C, C_unlabeled=cost, gamma=case.gamma, balance=case.share),
        ),
        Estimator(
            "SwitchingTSVM",
            OURS,
            known.HINGE_TSVM,
            lambda case, cost: SwitchingTSVM(case.C, C_unlabeled=cost, gamma=case.gamma, balance=case.share),
        ),
        *(_primal(MultiSwitchTSVM, known.SWITCHED_TSVM, tol) for tol in TOLERANCES),
        *(_primal(AnnealingTSVM, known.ANNEALED_TSVM, tol) for tol in TOLERANCES),
        Estimator(
            "SelfTrainingClassifier",
            SKLEARN,
            known.NO_OBJECTIVE,
            lambda case, _: SelfTrainingClassifier(
                CalibratedClassifierCV(SVC(C=case.C, gamma=case.gamma), ensemble=False)
            ),
        ),
        Estimator("LabelSpreading", SKLEARN, known.NO_OBJECTIVE, lambda case, _: LabelSpreading(gamma=case.gamma)),
        Estimator(
            "SelfTraining", OURS, known.NO_OBJECTIVE, lambda case, _: SelfTraining(SVM(case.C, gamma=case.gamma))
        ),
    )
}
