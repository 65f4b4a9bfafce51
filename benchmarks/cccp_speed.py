"""How does the time of CCCPTSVM grow with the unlabeled samples, and how many supervised fits does it cost?

Data: two Gaussians in 50 dimensions, 50 labeled samples. Models: CCCPTSVM(C=1, gamma=0.02), and as the yardstick
SVC(C=1, gamma=0.02, cache_size=2000) on the same samples with all their labels. Measured: seconds, the exponent of
their growth, and the error on the unlabeled samples (the best possible is 5.2 %).
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.svm import SVC

from data import partly, two_gaussians
from semisvm import CCCPTSVM
from timing import fitting, race, ratio, sweep, warm_up


def compare(u: int, repeats: int) -> dict:
    data = two_gaussians(u)
    split = data.splits[0]
    labels = {"semisvm": partly(data.y, split), "SVC": data.y}
    models = {"semisvm": CCCPTSVM(C=1.0, gamma=0.02), "SVC": SVC(C=1.0, gamma=0.02, cache_size=2000)}
    for name, model in models.items():
        warm_up(model, data.X, labels[name])
    timed = race({name: fitting(model, data.X, labels[name]) for name, model in models.items()}, repeats)
    model = timed["semisvm"].result
    before = model.supervised_.predict(data.X[split.test])
    return {
        "unlabeled": u,
        "seconds": timed["semisvm"].best,
        "median": timed["semisvm"].median,
        "SVC seconds": timed["SVC"].best,
        "SVC median": timed["SVC"].median,
        "ratio": ratio(timed["semisvm"], timed["SVC"]),
        "steps": model.n_iter_,
        "error %": 100.0 * float(np.mean(model.transduction_[split.test] != data.y[split.test])),
        "supervised %": 100.0 * float(np.mean(before != data.y[split.test])),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--unlabeled", type=int, nargs="+", default=[500, 1000, 2000, 5000, 10_000, 20_000])
    options.add_argument("--repeats", type=int, default=3)
    args = options.parse_args()
    sweep("cccp_speed", compare, args.unlabeled, args.repeats)


if __name__ == "__main__":
    main()
