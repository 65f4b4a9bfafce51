"""``SemiSVM`` against supervised SVMs of scikit-learn, on many sets and draws of few labels.

Two supervised models: *fixed*, C = 10 divided by the total variance and gamma = 0.5/(median squared distance), and
*tuned*, the best of 20 parameters by five folds of the labeled samples (linear and four widths, four values of C; ties
by the hinge loss). Printed per number of labels: mean errors on the unlabeled samples in percent, and against the
better of the two by its mean the gain in points and the percentage of draws that are worse by more than one point (and
by more than three).

    python benchmarks/default_estimator.py [--judging] [--labels 10 20 50 100] [--draws 4] [--first 0] [--sets NAME ...]
    python benchmarks/default_estimator.py --splits          official splits of g50c, text, uspst and coil20
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from data import load as load_stored
from selection_sets import CHOOSING, JUDGING, draw_labels, load_set
from semisvm import SemiSVM
from semisvm.ensemble.hedging import SAFETIES, average_weight, log_odds

WIDTHS, COSTS = (0.125, 0.5, 2.0, 8.0), (0.1, 1.0, 10.0, 100.0)
SPLITS = {"g50c": 10, "text": 10, "uspst": 10, "coil20": 10}


class Kernels:
    """Kernel matrices of all samples, of total variance one."""

    def __init__(self, X: Any):
        squared = euclidean_distances(X, squared=True)
        median = np.median(squared[np.triu_indices(len(squared), 1)])
        products = X @ X.T
        linear = np.asarray(products.toarray() if hasattr(products, "toarray") else products)
        self.values = {0.0: linear} | {width: np.exp(-width / median * squared) for width in WIDTHS}
        for K in self.values.values():
            K /= K.diagonal().mean() - K.mean()


def fixed_error(kernels: Kernels, y: np.ndarray, known: np.ndarray) -> float:
    """Error of the fixed SVC on the unlabeled samples."""
    return _svc_error(kernels.values[0.5], 10.0, y, known)


def _svc_error(K: np.ndarray, C: float, y: np.ndarray, known: np.ndarray) -> float:
    model = SVC(kernel="precomputed", C=C).fit(K[np.ix_(known, known)], y[known])
    return 100 * float(np.mean(model.predict(K[np.ix_(~known, known)]) != y[~known]))


def tuned_error(kernels: Kernels, y: np.ndarray, known: np.ndarray) -> float:
    """Error of the tuned SVC on the unlabeled samples."""
    labeled = np.flatnonzero(known)
    n_folds = max(2, min(5, np.unique(y[known], return_counts=True)[1].min()))
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(labeled, y[labeled]))
    best = (np.inf, np.inf, 0.0, 1.0)
    for width, K in kernels.values.items():
        for C in COSTS:
            wrong, loss = 0, 0.0
            for train, test in folds:
                fit, held = labeled[train], labeled[test]
                model = SVC(kernel="precomputed", C=C).fit(K[np.ix_(fit, fit)], y[fit])
                values = K[np.ix_(held, fit)]
                wrong += int(np.sum(model.predict(values) != y[held]))
                loss += _hinge(model, values, y[held])
            best = min(best, (wrong, loss, width, C))
    return _svc_error(kernels.values[best[2]], best[3], y, known)


def _hinge(model: SVC, values: np.ndarray, truth: np.ndarray) -> float:
    scores, codes = model.decision_function(values), np.searchsorted(model.classes_, truth)
    if scores.ndim == 1:
        margin = np.where(codes == 1, scores, -scores)
    else:
        own = scores[np.arange(len(codes)), codes]
        margin = own - np.where(np.arange(scores.shape[1]) == codes[:, None], -np.inf, scores).max(axis=1)
    return float(np.maximum(1 - margin, 0).sum())


def measure(X: Any, y: np.ndarray, partly: np.ndarray, kernels: Kernels) -> dict[str, float]:
    """Errors of all models on the unlabeled samples, and seconds."""
    known = partly != -1
    row = {"fixed": fixed_error(kernels, y, known), "tuned": tuned_error(kernels, y, known)}
    start, cpu = time.perf_counter(), time.process_time()
    model = SemiSVM(safety="none", random_state=0).fit(X, partly)
    row["seconds"], row["cpu"] = time.perf_counter() - start, time.process_time() - cpu
    evidence = model.report_.evidence
    row |= {"supervised": _error(model.supervised_.predict(X), y, known), "log_odds": log_odds(evidence)}
    for safety in SAFETIES:  # the same separators with other weights
        model.average_weight_ = average_weight(evidence, safety)
        row[safety] = _error(model.predict(X), y, known)
    return row


def _error(found: np.ndarray, y: np.ndarray, known: np.ndarray) -> float:
    """Error on the unlabeled samples in percent."""
    return 100 * float(np.mean(found[~known] != y[~known]))


def print_table(rows: list[dict[str, Any]]) -> None:
    by_labels = defaultdict(list)
    for row in rows:
        by_labels[row["labels"]].append(row)
    for n_labels, some in sorted(by_labels.items()):
        errors = {name: np.array([row[name] for row in some]) for name in ("fixed", "tuned", "supervised", *SAFETIES)}
        better = min(("fixed", "tuned"), key=lambda name: errors[name].mean())
        print(f"{n_labels} labels, {len(some)} draws; better supervised model: {better}")
        for name, values in errors.items():
            loss = values - errors[better]
            print(
                f"  {name:10s} {values.mean():6.2f}  gain {-loss.mean():+6.2f}  "
                f"worse by 1: {100 * np.mean(loss > 1):4.1f} %, by 3: {100 * np.mean(loss > 3):4.1f} %"
            )
        seconds, cpu = (np.mean([row[key] for row in some]) for key in ("seconds", "cpu"))
        print(f"  {seconds:.2f} s, {cpu:.2f} CPU s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judging", action="store_true", help="judging sets in place of choosing sets")
    parser.add_argument("--splits", action="store_true", help="official splits")
    parser.add_argument("--labels", nargs="*", type=int, default=(10, 20, 50, 100))
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--sets", nargs="*", help="names of sets; all if none is given")
    parser.add_argument("--out", type=Path, help="file of JSON lines, which is added to")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, X, y, partly, kernels in _cases(options):
        row = {"set": name, "labels": int((partly != -1).sum()), **measure(X, y, partly, kernels)}
        rows.append(row)
        print(
            json.dumps({key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}),
            flush=True,
        )
        if options.out:
            with options.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
    print_table(rows)
    for name in dict.fromkeys(row["set"] for row in rows):
        some = [row for row in rows if row["set"] == name]
        means = {key: np.mean([row[key] for row in some]) for key in ("fixed", "tuned", *SAFETIES)}
        print(f"{name:18s} " + "  ".join(f"{key} {value:5.1f}" for key, value in means.items()))


def _cases(options: argparse.Namespace) -> Any:
    """Name, samples, labels, labels that are shown, and kernels of every fit."""
    if options.splits:
        for name in options.sets or SPLITS:
            stored = load_stored(name)
            kernels = Kernels(stored.X)
            for split in stored.splits[: options.draws if options.draws != 4 else SPLITS[name]]:
                partly = np.full(len(stored.y), -1)
                y = np.unique(stored.y, return_inverse=True)[1] + 1
                partly[split.labeled] = y[split.labeled]
                yield name, stored.X, y, partly, kernels
        return
    for name in options.sets or (JUDGING if options.judging else CHOOSING):
        data = load_set(name)
        kernels = Kernels(data.X)
        n_classes = len(np.unique(data.y))
        for n_labels in options.labels:
            if n_labels < 2 * n_classes or n_labels > len(data.y) // 2:
                continue
            for draw in range(options.first, options.first + options.draws):
                yield name, data.X, data.y, draw_labels(data.y, n_labels, draw), kernels


if __name__ == "__main__":
    main()
