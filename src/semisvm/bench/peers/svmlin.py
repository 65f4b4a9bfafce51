"""SVMlin: finite Newton, multiple switching and annealing on squared hinges, linear.

With unlabeled samples it minimizes lambda/2 (|w|^2 + b^2) + 1/(2 l) sum (1 - y f)_+^2 + lambda'/(2 u) sum over
unlabeled samples, which is our objective times lambda with lambda = 1/(2 C l) and lambda' = 2 u C* lambda. Without them
the sum is not divided by l, and lambda = 1/(2 C). It writes six digits of every weight.

References
----------
V. Sindhwani and S. S. Keerthi, "Large scale semi-supervised linear SVMs", SIGIR, 2006.
https://doi.org/10.1145/1148170.1148253
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np

from .base import ALL_LABELS, Case, LinearModel, Peer
from .formulations import ANNEALED_TSVM, SQUARED_HINGE_SVM, SWITCHED_TSVM
from .program import Program, finite_numbers, write_samples

ALGORITHMS = {SQUARED_HINGE_SVM: 1, SWITCHED_TSVM: 2, ANNEALED_TSVM: 3}


class SVMlin(Program):
    """A call of SVMlin."""

    program: ClassVar[str] = "SVMlin"

    def write_input(self, case: Case, folder: Path) -> list[str]:
        """A file of samples and one of labels, 0 for unlabeled samples."""
        signs = self.formulation.signs(case)
        write_samples(folder / "samples", case.X)
        (folder / "labels").write_text("".join(f"{sign:.0f}\n" for sign in signs), encoding="ascii")
        options = ["-A", str(ALGORITHMS[self.formulation]), "-W"]
        if self.formulation.labels == ALL_LABELS:
            return [*options, f"{1.0 / (2.0 * case.C):.17g}", "samples", "labels"]
        n_labeled = int(np.count_nonzero(signs))
        lam = 1.0 / (2.0 * case.C * n_labeled)
        prime = 2.0 * (len(signs) - n_labeled) * self.formulation.unlabeled_cost(case) * lam
        return [*options, f"{lam:.17g}", "-U", f"{prime:.17g}", "-R", f"{case.share:.17g}", "samples", "labels"]

    def read_model(self, case: Case, folder: Path) -> LinearModel:
        """The weights, the last of which is b; features after the last one that occurs have none."""
        n_features = case.X.shape[1]

        def parse(lines: list[str]) -> LinearModel:
            weights = finite_numbers(lines)
            if not 2 <= len(weights) <= n_features + 1:
                raise ValueError(f"{len(weights)} weights for {n_features} features")
            w = np.zeros(n_features)
            w[: len(weights) - 1] = weights[:-1]
            return LinearModel(w, float(weights[-1]))

        return self.read(folder / "samples.weights", parse)


def peers(executable: Path) -> list[Peer]:
    """The calls that are compared."""
    return [
        SVMlin(executable, "SVMlin, finite Newton", SQUARED_HINGE_SVM),
        SVMlin(executable, "SVMlin, switching", SWITCHED_TSVM),
        SVMlin(executable, "SVMlin, annealing", ANNEALED_TSVM),
    ]
