"""What does the slope of one-vs-one cost, and does leaving out single samples decide as folds do?

Sets of several classes, random halves to train on or as many samples as named. The slope of the coupled decision is
that of ``SVM(multiclass="ovo").fit``, from its own solution, and that of models trained without a fold. Measured: both
slopes, the errors (percent) and log losses on the other samples with each; with ``--time`` the seconds of a fit to the
training samples of USPS against scikit-learn's SVC, which couples its pairs by votes.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.special import expit
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from data import load, many_gaussians
from semisvm import SVM
from semisvm.estimators._calibration import calibrate
from semisvm.multiclass import couple
from timing import fitting, race, ratio, show, warm_up, write

SIZES = {"iris": 75, "digits": 600, "many_gaussians": 300, "uspst": 1000, "usps": 2000}


def samples(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name in ("iris", "digits"):
        return (load_iris if name == "iris" else load_digits)(return_X_y=True)
    data = many_gaussians(3300) if name == "many_gaussians" else load(name)
    return data.X, data.y


def compare(name: str, C: float, draws: int) -> dict:
    (X, y), found = samples(name), []
    for draw in range(draws):
        order = np.random.default_rng(draw).permutation(len(y))
        train, test = order[: SIZES[name]], order[SIZES[name] :][:3000]
        model = SVM(C, multiclass="ovo").fit(X[train], y[train])
        data, problems = model._prepare(X[train], y[train], None)
        codes, weights, k = data.labels.codes, data.weights, len(model.classes_)
        by_folds = calibrate(problems.settings, model.classes_, X[train], codes, weights, problems)
        scores, truth = model._checked_scores(X[test]), np.searchsorted(model.classes_, y[test])
        row = []
        for slope in (by_folds, model._slope_.compute()):
            p = couple(expit(slope * scores), k, model.coupling)
            row += [slope, 100.0 * (p.argmax(axis=1) != truth).mean(), log_loss(truth, p, labels=range(k))]
        found.append(row)
    columns = ("slope", "error", "log loss")
    keys = [f"{column} {way}" for way in ("by folds", "one by one") for column in columns]
    return {"set": name, "C": C, "draws": draws} | dict(zip(keys, np.mean(found, axis=0).tolist()))


def time_usps(repeats: int) -> dict:
    data = load("usps")
    X, y = data.X[data.splits[0].labeled], data.y[data.splits[0].labeled]
    model = SVM(10.0, gamma=0.01, multiclass="ovo")
    warm_up(model, X, y)
    timed = race({"SVM": fitting(model, X, y), "SVC": fitting(SVC(C=10.0, gamma=0.01), X, y)}, repeats)
    return {"samples": len(y), **{name: one.best for name, one in timed.items()}, "ratio": ratio(*timed.values())}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sets", nargs="+", choices=SIZES, default=list(SIZES))
    options.add_argument("--costs", nargs="+", type=float, default=[1.0, 10.0])
    options.add_argument("--draws", type=int, default=5)
    options.add_argument("--time", action="store_true")
    options.add_argument("--repeats", type=int, default=3)
    args = options.parse_args()
    rows = (
        [time_usps(args.repeats)] if args.time else [compare(n, C, args.draws) for n in args.sets for C in args.costs]
    )
    show(rows)
    write("one_vs_one", rows)


if __name__ == "__main__":
    main()
