"""How much faster than scikit-learn's SVC is semisvm.SVM on the same supervised problem, and is it the same answer?

Data: 50 normal features, a random linear truth, 10 % of the labels flipped. Models: rbf, gamma = 1/50, C = 1, tol 1e-3
for both; SVC has a cache of 2000 MB, of 4000 MB from 60,000 samples on. Measured: the primal objective of both,
computed by ``semisvm.problem.objective`` from their dual coefficients.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.svm import SVC

from data import noisy_sphere
from semisvm import SVM
from semisvm.losses import Hinge
from semisvm.problem import Problem, objective
from semisvm.spaces import Gram, Kernel
from timing import fitting, peak_memory, race, ratio, sweep, warm_up

GAMMA, C, TOL = 1 / 50, 1.0, 1e-3


def ours() -> SVM:
    return SVM(C, kernel="rbf", gamma=GAMMA, tol=TOL)


def peer(n: int) -> SVC:
    return SVC(C=C, kernel="rbf", gamma=GAMMA, tol=TOL, cache_size=4000 if n >= 60_000 else 2000)


def fit_ours(n: int) -> None:
    """What the memory is measured of."""
    data = noisy_sphere(n)
    ours().fit(data.X, data.y)


def primal(model: SVM | SVC, X: np.ndarray, y: np.ndarray) -> float:
    """1/2 ||w||^2 + C sum of hinges, of any model with ``support_``, ``dual_coef_`` and ``intercept_``."""
    signs = 2.0 * y - 3.0
    problem = Problem(Gram(Kernel("rbf", GAMMA), X), signs, np.full(len(y), C), Hinge())
    coef = np.zeros(len(y))
    coef[model.support_] = np.ravel(model.dual_coef_)
    return objective(problem, coef, float(model.intercept_[0]))


def compare(n: int, repeats: int) -> dict:
    data = noisy_sphere(n)
    models = {"semisvm": ours(), "SVC": peer(n)}
    for model in models.values():
        warm_up(model, data.X, data.y)
    timed = race({name: fitting(model, data.X, data.y) for name, model in models.items()}, repeats)
    fitted = {name: one.result for name, one in timed.items()}
    values = {name: primal(model, data.X, data.y) for name, model in fitted.items()}
    return {
        "rows": n,
        "seconds": timed["semisvm"].best,
        "median": timed["semisvm"].median,
        "SVC seconds": timed["SVC"].best,
        "SVC median": timed["SVC"].median,
        "ratio": ratio(timed["semisvm"], timed["SVC"]),
        "objective/SVC - 1": values["semisvm"] / values["SVC"] - 1.0,
        "objective": values["semisvm"],
        "SVs": len(fitted["semisvm"].support_),
        "SVC SVs": len(fitted["SVC"].support_),
        "peak MiB": peak_memory(fit_ours, n),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=[2000, 10_000, 60_000])
    options.add_argument("--repeats", type=int, default=3)
    args = options.parse_args()
    sweep("supervised_speed", compare, args.sizes, args.repeats)


if __name__ == "__main__":
    main()
