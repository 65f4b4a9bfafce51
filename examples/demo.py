"""Fifty labels and five hundred unlabeled rows: the supervised machine and the semi-supervised one side by side."""

import numpy as np
from sklearn.datasets import load_digits

from semisvm import CCCPTSVM
from semisvm.datasets import hide_labels, make_two_gaussians


def digits_3_and_8():
    X, y = load_digits(return_X_y=True)
    kept = np.isin(y, (3, 8))
    return X[kept] / 16.0, y[kept]


def main():
    problems = {
        "two Gaussians, 50 columns": (*make_two_gaussians(2000, random_state=0), 50),
        "handwritten 3 and 8": (*digits_3_and_8(), 10),
    }
    print("Error on the unlabeled rows, mean of 5 draws of the labeled ones\n")
    print(f"{'data':28s}{'labeled':>9s}{'unlabeled':>11s}{'SVM':>9s}{'CCCPTSVM':>11s}")
    for name, (X, y, n_labeled) in problems.items():
        errors = []
        for seed in range(5):
            partly = hide_labels(y, n_labeled, random_state=seed)
            hidden = partly == -1
            machine = CCCPTSVM(C=1.0).fit(X, partly)
            supervised = machine.supervised_.predict(X[hidden])
            errors.append([np.mean(supervised != y[hidden]), np.mean(machine.transduction_[hidden] != y[hidden])])
        before, after = 100 * np.mean(errors, axis=0)
        print(f"{name:28s}{n_labeled:9d}{len(y) - n_labeled:11d}{before:8.1f}%{after:10.1f}%")


if __name__ == "__main__":
    main()
