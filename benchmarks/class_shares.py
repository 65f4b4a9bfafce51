"""What the class shares of the unlabeled samples cost: labeled, estimated and true ones, method by method.

For every choosing set, label count and draw each method is fitted with the labeled shares exactly, with the labeled
shares up to a standard error, with its default and with the true shares. Printed are the mean error in percent and, in
brackets, the percentage of draws in which the method is worse than its supervised counterpart by more than a point.

    python benchmarks/class_shares.py [--labels 10 50] [--draws 4] [--judging] [METHOD ...]
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from typing import Any

import numpy as np

import semisvm
from selection_sets import CHOOSING, JUDGING, draw_labels, load_set
from semisvm.estimators.parameters import CountBalanceParameters

METHODS = (
    "CCCPTSVM",
    "GradientTSVM",
    "ContinuationTSVM",
    "SwitchingTSVM",
    "MultiSwitchTSVM",
    "AnnealingTSVM",
    "SwitchingLSSVM",
    "LocalSearchRLSC",
    "ProgressiveLSSVM",
    "DCLSSVM",
)
KINDS = ("labeled, tol 0", "labeled", "default", "true")


def parameters(kind: str, cls: Any, shares: dict[int, float]) -> dict[str, Any]:
    """Parameters of a method that ask for shares of this kind."""
    counts = issubclass(cls, CountBalanceParameters)
    match kind:
        case "labeled, tol 0":
            return {"balance": "labeled"} | ({"balance_tol": 0.0} if counts else {})
        case "labeled":
            return {"balance": "labeled"}
        case "true":
            return {"balance": shares}
    return {}


def errors_of(cls: Any, X: Any, y: np.ndarray, partly: np.ndarray) -> tuple[dict[str, float], float]:
    """Errors on the unlabeled samples by kind of shares, and that of the supervised counterpart."""
    rest = partly == -1
    classes, counts = np.unique(y[rest], return_counts=True)
    shares = {int(c): 0.0 for c in np.unique(y)} | dict(zip(classes.tolist(), counts / counts.sum()))
    errors = {}
    for kind in KINDS:
        model = cls(**parameters(kind, cls, shares)).fit(X, partly)
        errors[kind] = 100 * float(np.mean(model.predict(X[rest]) != y[rest]))
        if kind == "default":
            supervised = 100 * float(np.mean(model.supervised_.predict(X[rest]) != y[rest]))
    return errors, supervised


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", default=METHODS)
    parser.add_argument("--labels", nargs="*", type=int, default=(10, 50))
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--judging", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = defaultdict(list)
    for name in JUDGING if options.judging else CHOOSING:
        data = load_set(name)
        n_classes = len(np.unique(data.y))
        for n_labels in options.labels:
            if n_labels < 2 * n_classes or n_labels > len(data.y) // 3:
                continue
            for draw in range(options.draws):
                partly = draw_labels(data.y, n_labels, draw)
                for method in options.methods:
                    errors, supervised = errors_of(getattr(semisvm, method), data.X, data.y, partly)
                    results[method, n_labels].append([errors[kind] for kind in KINDS] + [supervised])
        print(f"{name} done", flush=True)
    print(f"{'':18s} labels  " + "  ".join(f"{kind:>16s}" for kind in KINDS) + "  supervised")
    for (method, n_labels), rows in sorted(results.items()):
        table = np.array(rows)
        worse = 100 * (table[:, :-1] > table[:, -1:] + 1.0).mean(axis=0)
        cells = "  ".join(f"{error:9.1f} ({harm:3.0f}%)" for error, harm in zip(table.mean(axis=0), worse))
        print(f"{method:18s} {n_labels:6d}  {cells}  {table[:, -1].mean():6.1f}")


if __name__ == "__main__":
    main()
