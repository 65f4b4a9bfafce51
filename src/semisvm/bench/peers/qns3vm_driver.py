"""Trains QN_S3VM of a file that the user names, in a process that loads nothing of this package.

Called with that file, a file of samples, and one for the result. The model is a sum over centered samples: w = sum of
c_j (phi(x_j) - m) with m the mean of phi over unlabeled samples, of which the program draws 1,000 if there are more.
What is written are points and multipliers of phi itself, and the intercept that belongs to these.
"""

from __future__ import annotations

import importlib.util
import random
import sys
import warnings

import numpy as np


def main(program: str, samples: str, result: str) -> None:
    """Train, and write the model."""
    spec = importlib.util.spec_from_file_location("qns3vm", program)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{program} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    names_of_numpy_1 = {"mat": np.asmatrix, "abs": abs, "max": max, "min": min, "pow": pow, "round": round}
    vars(module).update(names_of_numpy_1)  # the module takes all names of NumPy, of which version 2 has others
    warnings.simplefilter("ignore")  # the module turns warnings into errors, those about its old SciPy names too
    given = np.load(samples)
    X, signs, sigma = given["X"], given["signs"], float(given["sigma"])
    known = signs != 0
    model = module.QN_S3VM(
        X[known].tolist(),
        signs[known].astype(int).tolist(),
        X[~known].tolist(),
        random.Random(0),
        lam=float(given["lam"]),
        lamU=float(given["lam_unlabeled"]),
        sigma=sigma,
        kernel_type="RBF",
        estimate_r=float(given["mean"]),
    )
    model.train()
    inner = vars(model)["_QN_S3VM__model"]
    fields = {name.removeprefix(f"_{type(inner).__name__}__"): value for name, value in vars(inner).items()}
    *c, b = np.asarray(fields["c"], dtype=float).ravel()
    drawn = np.asarray(fields["X_u_subset"], dtype=float)
    points = np.vstack([np.asarray(fields["Xreg"], dtype=float), drawn])
    coef = np.r_[c, np.full(len(drawn), -np.sum(c) / len(drawn))]
    distances = (drawn**2).sum(axis=1)[:, None] + (points**2).sum(axis=1) - 2.0 * drawn @ points.T
    mean = np.mean(np.exp(-np.maximum(distances, 0.0) / (2.0 * sigma**2)) @ coef)
    np.savez(result, points=points, coef=coef, b=b - mean)


if __name__ == "__main__":
    main(*sys.argv[1:])
