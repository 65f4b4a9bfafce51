"""How many labels does safe=True change, beside the supervised model?

Data: eight generated sets or sets of scikit-learn. Model: SwitchingLSSVM(safe=True) with its defaults, rbf and linear.
Measured: unlabeled samples whose label differs from the supervised one, and the share of them with supervised |f| > 1.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_blobs, make_circles, make_moons
from sklearn.preprocessing import StandardScaler

from semisvm import SwitchingLSSVM
from semisvm.datasets import hide_labels, make_two_gaussians
from timing import show, write


def problems() -> dict[str, tuple[np.ndarray, np.ndarray, int]]:
    """X, y and the number of labels by name."""
    cancer, malignant = load_breast_cancer(return_X_y=True)
    cancer = StandardScaler().fit_transform(cancer)
    digits, digit = load_digits(return_X_y=True)
    kept = np.isin(digit, (3, 8))
    gaussians = make_two_gaussians(550, random_state=0)
    return {
        "two Gaussians": (*gaussians, 50),
        "two Gaussians, few labels": (*gaussians, 10),
        "moons": (*make_moons(400, noise=0.1, random_state=0), 6),
        "circles": (*make_circles(400, noise=0.1, factor=0.4, random_state=0), 10),
        "blobs in 100 dimensions": (*make_blobs(300, 100, centers=2, cluster_std=6, random_state=1), 10),
        "breast cancer": (cancer, malignant, 30),
        "breast cancer, few labels": (cancer, malignant, 4),
        "digits 3 and 8": (digits[kept] / 16.0, (digit[kept] == 8).astype(int), 20),
    }


def compare(name: str, kernel: str, X: np.ndarray, y: np.ndarray, n_labels: int) -> dict:
    """One row: labels changed, and where the supervised model exceeds 1."""
    given = hide_labels(y, n_labels, random_state=0)
    unlabeled = np.asarray(given) == -1
    model = SwitchingLSSVM(kernel=kernel, safe=True).fit(X, given)
    supervised = model.supervised_
    changed = model.transduction_[unlabeled] != supervised.predict(X[unlabeled])
    outside = np.abs(supervised.decision_function(X[unlabeled])) > 1.0
    return {
        "set": name,
        "kernel": kernel,
        "labels": n_labels,
        "unlabeled": int(unlabeled.sum()),
        "changed": int(changed.sum()),
        "|f| > 1, %": round(100.0 * float(outside.mean()), 1),
    }


def main() -> None:
    rows = [compare(name, kernel, *data) for name, data in problems().items() for kernel in ("rbf", "linear")]
    show(rows)
    write("safe_projection", rows)


if __name__ == "__main__":
    main()
