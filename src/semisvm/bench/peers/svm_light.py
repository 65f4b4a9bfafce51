"""SVM-light: the SVM of all labels, and the transductive SVM that switches pairs of labels.

It minimizes 1/2 |w|^2 + C sum (1 - y f)_+ with a free intercept. Unlabeled samples cost C too; those with positive
labels cost C times the ratio of negative to positive ones, which is C in our cases of equal classes.

References
----------
T. Joachims, "Transductive inference for text classification using support vector machines", ICML, 1999.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np

from .base import ALL_LABELS, Case, KernelModel, Peer, PeerFailure
from .formulations import HINGE_SVM, HINGE_TSVM
from .program import Program, finite_numbers, labeled_number, write_samples

CACHE = 1000  # MB


class SVMLight(Program):
    """A call of svm_learn."""

    program: ClassVar[str] = "SVM-light"

    def write_input(self, case: Case, folder: Path) -> list[str]:
        """A file of samples after their labels, 0 for unlabeled samples."""
        signs = self.formulation.signs(case)
        write_samples(folder / "samples", case.X, signs.astype(int))
        options = ["-t", "2", "-g", f"{case.gamma:.17g}", "-c", f"{case.C:.17g}", "-m", str(CACHE), "-a", "alphas"]
        if self.formulation.labels != ALL_LABELS:
            if abs(case.share - 0.5) > 1e-9:
                raise PeerFailure(f"SVM-light has another objective where classes are unequal, as in {case.name}.")
            options += ["-p", f"{case.share:.17g}"]
        return [*options, "samples", "model"]

    def read_model(self, case: Case, folder: Path) -> KernelModel:
        """The multipliers times labels of all samples, and b from the model file, where f = sum - b."""
        n_samples = len(case.y)

        def parse_multipliers(lines: list[str]) -> np.ndarray:
            multipliers = finite_numbers(lines)
            if len(multipliers) != n_samples:
                raise ValueError(f"{len(multipliers)} multipliers for {n_samples} samples")
            return multipliers

        def parse_intercept(lines: list[str]) -> float:
            line = labeled_number(lines, lambda line: "# threshold b" in line, "line of the threshold b")
            return -float(finite_numbers([line.split("#")[0]])[0])

        coef = self.read(folder / "alphas", parse_multipliers)
        return KernelModel(case.X, coef, case.gamma, self.read(folder / "model", parse_intercept))


def peers(executable: Path) -> list[Peer]:
    """The calls that are compared."""
    return [SVMLight(executable, "SVM-light", HINGE_SVM), SVMLight(executable, "SVM-light, transductive", HINGE_TSVM)]
