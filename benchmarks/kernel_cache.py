"""What does a KernelCache save in a grid search, and what does it cost where nothing is shared?

Data: two Gaussians in 50 dimensions, 50 labeled samples. Grid: five costs on five folds of the labeled samples, and a
last fit to all samples, by GridSearchCV with LabeledKFold; a new cache for every search. Measured: seconds of the
search with a cache and without, and of a single fit with a cache that is empty; both searches find the same errors.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from data import partly, two_gaussians
from semisvm import CCCPTSVM, DCLSSVM, GradientTSVM, KernelCache
from semisvm.model_selection import LabeledKFold
from timing import race, ratio, show, warm_up, write

COSTS = [0.1, 1.0, 10.0, 100.0, 1000.0]
MODELS = {
    "CCCPTSVM": CCCPTSVM(),
    "CCCPTSVM, linear": CCCPTSVM(kernel="linear"),
    "GradientTSVM": GradientTSVM(),
    "DCLSSVM": DCLSSVM(),
}


def compare(name: str, n: int, repeats: int) -> dict:
    data = two_gaussians(n - 50)
    X, y = data.X, partly(data.y, data.splits[0])
    warm_up(MODELS[name], X, y)

    def search(cache: bool) -> Callable:
        model = clone(MODELS[name])
        return lambda: GridSearchCV(
            model.set_params(cache=KernelCache() if cache else None), {"C": COSTS}, cv=LabeledKFold(5)
        ).fit(X, y)

    def fit(cache: bool) -> Callable:
        return lambda: clone(MODELS[name]).set_params(C=1.0, cache=KernelCache() if cache else None).fit(X, y)

    timed = race(
        {"with": search(True), "without": search(False), "fit with": fit(True), "fit without": fit(False)}, repeats
    )
    shared, alone = (timed[one].result.cv_results_["mean_test_score"] for one in ("with", "without"))
    np.testing.assert_array_equal(shared, alone)
    return {
        "model": name,
        "samples": n,
        "seconds": timed["with"].best,
        "median": timed["with"].median,
        "without": timed["without"].best,
        "median without": timed["without"].median,
        "ratio": ratio(timed["with"], timed["without"]),
        "one fit": timed["fit with"].best,
        "one fit without": timed["fit without"].best,
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--samples", type=int, default=1000)
    options.add_argument("--repeats", type=int, default=3)
    args = options.parse_args()
    rows = []
    for name in MODELS:
        rows.append(compare(name, args.samples, args.repeats))
        print(f"{name}: ratio {rows[-1]['ratio']:.3f}", flush=True)
    print()
    show(rows)
    write("kernel_cache", rows)


if __name__ == "__main__":
    main()
