"""UniverSVM: the transductive SVM with a ramp by the concave-convex procedure.

It minimizes 1/2 |w|^2 + C sum (1 - y f)_+ + C* sum of the ramps of both labels over unlabeled samples, with a free
intercept and a mean of f over unlabeled samples that is given. The ramps of both labels sum to the symmetric ramp and a
constant, which our objective leaves out.

References
----------
R. Collobert, F. Sinz, J. Weston and L. Bottou, "Large scale transductive SVMs", JMLR 7, 2006.
https://jmlr.org/papers/v7/collobert06a.html
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy import sparse

from .base import Case, KernelModel, Peer
from .formulations import RAMP, RAMP_TSVM
from .program import Program, finite_numbers, labeled_number, write_samples

UNLABELED = -3
CACHE = 1000  # MB


class UniverSVM(Program):
    """A call of universvm."""

    program: ClassVar[str] = "UniverSVM"

    def write_input(self, case: Case, folder: Path) -> list[str]:
        """A file of samples after their labels, -3 for unlabeled samples."""
        write_samples(folder / "samples", case.X, np.where(case.unlabeled, UNLABELED, case.signs).astype(int))
        options = ["-t", "2", "-g", f"{case.gamma:.17g}", "-c", f"{case.C:.17g}", "-S", f"{RAMP:g}", "-m", str(CACHE)]
        options += ["-z", f"{self.formulation.unlabeled_cost(case):.17g}", "-w", f"{2 * case.share - 1:.17g}"]
        return [*options, "-o", "1", "samples", "model"]

    def read_model(self, case: Case, folder: Path) -> KernelModel:
        """Support vectors with multipliers; that of the balance is spread over the unlabeled samples."""
        n_features = case.X.shape[1]

        def parse(lines: list[str]) -> KernelModel:
            def number(key: str) -> float:
                line = labeled_number(lines, lambda line: line.startswith(f"{key} "), key)
                return float(finite_numbers(line.split()[1:2])[0])

            start, n_vectors = 1 + lines.index("SV"), int(number("total_sv"))
            rows = [line.split() for line in lines[start : start + n_vectors]]
            if len(rows) != n_vectors:
                raise ValueError(f"{len(rows)} of {n_vectors} support vectors")
            vectors = np.zeros((n_vectors, n_features))
            for vector, row in zip(vectors, rows):
                for pair in row[1:]:
                    index, value = pair.split(":")
                    vector[int(index) - 1] = float(value)
            free = case.X[case.unlabeled]
            stacked = sparse.vstack([sparse.csr_array(vectors), free]) if sparse.issparse(free) else None
            points = np.vstack([vectors, free]) if stacked is None else sparse.csr_array(stacked)
            balance = np.full(free.shape[0], number("alpha0") / free.shape[0])
            coef = np.r_[finite_numbers(row[0] for row in rows), balance]
            return KernelModel(points, coef, case.gamma, number("b0"))

        return self.read(folder / "model", parse)


def peers(executable: Path) -> list[Peer]:
    """The calls that are compared."""
    return [UniverSVM(executable, "UniverSVM", RAMP_TSVM)]
