"""Does every iterative estimator return soon after ``max_time``?

Data: overlapping Gaussians in ten dimensions. Models: every estimator of the registries that has a ``max_time``, with
its defaults; one-vs-rest with ten classes for one of them. Measured: wall and CPU seconds of ``fit`` after small fits
that compile everything, beside twice ``max_time`` plus one second. A fit that ends by itself before ``max_time`` says
nothing about limits: "ended" is "max_time" for those that were cut.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from semisvm.datasets import hide_labels
from semisvm.estimators import ESTIMATORS
from semisvm.self_training import WRAPPERS
from timing import show, write

SMALL = (60, 300)  # samples of the fits that compile
MANY_CLASSES = 10


def make_data(n: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples in random order, five labels a class."""
    X, y = make_blobs(n, 10, centers=n_classes, cluster_std=6.0, random_state=0)
    return X, np.asarray(hide_labels(y, 5 * n_classes, random_state=0))


def limited_models() -> list[str]:
    """Names of the estimators with a limit of time."""
    return [name for name, cls in (ESTIMATORS | WRAPPERS).items() if "max_time" in cls().get_params(deep=False)]


def seconds_of(model, X: np.ndarray, y: np.ndarray) -> dict:
    """One row: a fit with the limit, and whether it ended in time."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wall, cpu = time.perf_counter(), time.process_time()
        fitted = clone(model).fit(X, y)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    was_cut = any("max_time" in str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning))
    return {
        "estimator": type(model).__name__,
        "classes": len(fitted.classes_),
        "samples": len(y),
        "wall s": round(wall, 2),
        "CPU s": round(cpu, 2),
        "ended": "max_time" if was_cut else "by itself",
        "in time": wall <= 2.0 * model.max_time + 1.0,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=3000)
    parser.add_argument("--limit", type=float, default=0.5, help="max_time, in seconds")
    parser.add_argument("--models", nargs="+", default=limited_models())
    parser.add_argument("--many", nargs="*", default=["CCCPTSVM"], help="models with ten classes as well")
    chosen = parser.parse_args()
    rows = []
    for n_classes, names in ((2, chosen.models), (MANY_CLASSES, chosen.many)):
        for name in names:
            model = (ESTIMATORS | WRAPPERS)[name](max_time=chosen.limit)
            for n in SMALL:
                seconds_of(model, *make_data(n, n_classes))
            rows.append(seconds_of(model, *make_data(chosen.samples, n_classes)))
            print(f"{name}: {rows[-1]['wall s']} s", flush=True)
    print()
    show(rows)
    write("time_limits", rows, limit=chosen.limit)


if __name__ == "__main__":
    main()
