"""QN-S3VM: a smooth hinge and a Gaussian loss, by L-BFGS along a path of costs of the unlabeled samples.

It minimizes 1/l sum (1 - y f)_+ + lambda'/u sum exp(-3 f^2) + lambda |w|^2, the hinge smoothed by at most log(2)/20,
with the mean of f over unlabeled samples fixed: our objective times 2 lambda with lambda = 1/(2 C l) and
lambda' = C* u/(C l). The program is a Python module; it runs in the Python of this package, whose start is part of the
seconds.

References
----------
F. Gieseke, A. Airola, T. Pahikkala and O. Kramer, "Fast and simple gradient-based optimization for semi-supervised
support vector machines", Neurocomputing 123, 2014. https://doi.org/10.1016/j.neucom.2012.12.056
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy import sparse

from . import qns3vm_driver
from .base import Case, KernelModel, Peer, PeerFailure
from .formulations import GAUSSIAN_TSVM
from .program import Program

RESULT = "model.npz"


class QNS3VM(Program):
    """Training with QN_S3VM of a module."""

    program: ClassVar[str] = "QN-S3VM"

    def command(self, arguments: list[str]) -> list[str]:
        """Python, the driver, and the module."""
        return [sys.executable, qns3vm_driver.__file__, str(self.executable.resolve()), *arguments]

    def write_input(self, case: Case, folder: Path) -> list[str]:
        """Samples, signs and parameters."""
        n_labeled = int(np.count_nonzero(case.signs))
        n_unlabeled = len(case.signs) - n_labeled
        np.savez(
            folder / "samples.npz",
            X=case.X.toarray() if sparse.issparse(case.X) else case.X,
            signs=case.signs,
            lam=1.0 / (2.0 * case.C * n_labeled),
            lam_unlabeled=self.formulation.unlabeled_cost(case) * n_unlabeled / (case.C * n_labeled),
            sigma=np.sqrt(0.5 / case.gamma),
            mean=2.0 * case.share - 1.0,
        )
        return ["samples.npz", RESULT]

    def read_model(self, case: Case, folder: Path) -> KernelModel:
        """Points, multipliers and intercept."""
        path = folder / RESULT
        if not path.is_file():
            raise PeerFailure(f"{self.program} ended without writing {RESULT}.")
        model = np.load(path)
        if not all(np.isfinite(model[name]).all() for name in ("points", "coef", "b")):
            raise PeerFailure(f"{self.program} found multipliers that are not finite.")
        return KernelModel(model["points"], model["coef"], case.gamma, float(model["b"]))


def peers(executable: Path) -> list[Peer]:
    """The calls that are compared."""
    return [QNS3VM(executable, "QN-S3VM", GAUSSIAN_TSVM)]
