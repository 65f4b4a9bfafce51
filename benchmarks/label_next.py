"""What 20 more labels bring: those of ``suggest_labels``, of the least sure samples, and of random ones.

A ``SemiSVM`` is fitted to some random labels; 20 more are chosen by each rule among two thirds of the samples, and it
is fitted again. Errors are counted on the last third, which no rule may choose from, and on the file: all samples that
were unlabeled at first, those that were chosen being right. *margin* takes the samples with the smallest absolute score
or margin between the two best classes. Beside that stands ``expected_gain`` of the first labels against the change of
the error on the unlabeled samples that 20 random ones really brought.

Printed per number of labels: mean errors in percent; the difference from random with its standard error over the draws;
the percentage of draws that are worse than random by more than a point. Then the mean expected and real gain in points,
the mean absolute error of the expected one and of the mean real gain, and how often the interval holds the real gain.

    python benchmarks/label_next.py [--judging] [--labels 20 50] [--draws 3] [--first 0] [--sets NAME ...]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from selection_sets import draw_labels, load_set
from semisvm import SemiSVM
from semisvm.ensemble import expected_gain, suggest_labels

N_MORE = 20
CHOOSING = (
    *("usps 3 8", "text", "mnist 4 9", "image", "splice"),
    *("g50c", "phoneme", "spambase", "waveform 3", "segment"),
)
JUDGING = (
    *("news 1 5", "news 7 8", "news 15 18", "news 2 9 12 16", "mnist 7 9", "mnist 5 8"),
    *("usps 5 8", "digits 4 9", "letter P R", "letter I J", "covtype 3 6", "vehicle2"),
)
RULES = ("random", "margin", "suggested")


def choose(rule: str, model: SemiSVM, X: Any, partly: np.ndarray, draw: int) -> np.ndarray:
    """Positions of ``N_MORE`` unlabeled samples by a rule."""
    rest = np.flatnonzero(partly == -1)
    if rule == "random":
        return np.random.default_rng([draw, len(rest)]).choice(rest, N_MORE, replace=False)
    if rule == "margin":
        scores = model.decision_function(X[rest])
        ordered = np.sort(scores, axis=1) if scores.ndim == 2 else None
        margin = np.abs(scores) if ordered is None else ordered[:, -1] - ordered[:, -2]
        return rest[np.argsort(margin, kind="stable")[:N_MORE]]
    return np.array([one.position for one in suggest_labels(model, X, partly, N_MORE, random_state=0)])


def measure(X: Any, y: np.ndarray, n_labels: int, draw: int) -> dict[str, float]:
    """Errors before and after by every rule, the expected gain and the real one, and seconds."""
    order = np.random.default_rng([draw, 7]).permutation(len(y))
    test, pool = order[: len(y) // 3], np.sort(order[len(y) // 3 :])
    partly = np.full(len(y), -1)
    partly[pool] = draw_labels(y[pool], n_labels, draw)
    first = partly == -1
    model = SemiSVM(random_state=0).fit(X, partly)
    wrong = model.predict(X) != y
    row = {"before": 100 * wrong[test].mean(), "before, file": 100 * wrong[first].mean()}
    start = time.perf_counter()
    gain = expected_gain(X, partly, N_MORE, random_state=0)
    row["expected_gain, s"] = time.perf_counter() - start
    if gain.gain is not None:
        row |= {"gain": 100 * gain.gain, "low": 100 * gain.low, "high": 100 * gain.high, "error": 100 * gain.error}
    for rule in RULES:
        start = time.perf_counter()
        chosen = pool[choose(rule, model, X[pool], partly[pool], draw)]
        row[f"{rule}, s"] = time.perf_counter() - start
        more = partly.copy()
        more[chosen] = y[chosen]
        after = SemiSVM(random_state=0).fit(X, more).predict(X) != y
        row[rule] = 100 * after[test].mean()
        row[f"{rule}, file"] = 100 * after[more == -1].sum() / first.sum()
        if rule == "random":
            row["real gain"] = row["before, file"] - 100 * after[more == -1].mean()
    return row


def print_rules(rows: list[dict[str, Any]]) -> None:
    for kind in ("", ", file"):
        random = np.array([row["random" + kind] for row in rows])
        before = np.mean([row["before" + kind] for row in rows])
        print(f"  {'file' if kind else 'held-out third':14s} before {before:6.2f}")
        for rule in RULES:
            errors = np.array([row[rule + kind] for row in rows])
            change = errors - random
            error = change.std(ddof=1) / np.sqrt(len(change)) if len(change) > 1 else 0.0
            print(
                f"    {rule:10s} {errors.mean():6.2f}  against random {change.mean():+5.2f} +- {error:.2f}  "
                f"worse by 1: {100 * np.mean(change > 1):4.1f} %"
            )


def print_gains(rows: list[dict[str, Any]]) -> None:
    known = [row for row in rows if "gain" in row]
    if not known:
        return print("  too few labels to tell the gain")
    gain, low, high, real = (np.array([row[key] for row in known]) for key in ("gain", "low", "high", "real gain"))
    print(
        f"  gain of random labels: expected {gain.mean():.2f}, real {real.mean():.2f} (deviation {real.std():.2f}); "
        f"mean absolute error {np.abs(gain - real).mean():.2f}, of the mean {np.abs(real - real.mean()).mean():.2f}; "
        f"the interval, {np.mean(high - low):.1f} wide, holds {100 * np.mean((low <= real) & (real <= high)):.0f} %"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judging", action="store_true", help="judging sets in place of choosing sets")
    parser.add_argument("--labels", nargs="*", type=int, default=(20, 50))
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--sets", nargs="*", help="names of sets; all if none is given")
    parser.add_argument("--out", type=Path, help="file of JSON lines, which is added to")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for draw in range(options.first, options.first + options.draws):
        for name in options.sets or (JUDGING if options.judging else CHOOSING):
            data = load_set(name)
            for n_labels in options.labels:
                if n_labels < 2 * len(np.unique(data.y)):
                    continue
                row = {"set": name, "labels": n_labels, "draw": draw, **measure(data.X, data.y, n_labels, draw)}
                rows.append({key: float(v) if isinstance(v, np.floating) else v for key, v in row.items()})
                print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}), flush=True)
                if options.out:
                    with options.out.open("a") as file:
                        file.write(json.dumps(rows[-1]) + "\n")
    for n_labels in sorted({row["labels"] for row in rows}):
        some = [row for row in rows if row["labels"] == n_labels]
        print(f"{n_labels} labels, {len(some)} draws of {len({row['set'] for row in some})} sets")
        print_rules(some)
        print_gains(some)
        for name in dict.fromkeys(row["set"] for row in some):
            of_set = [row for row in some if row["set"] == name]
            means = {key: np.mean([row[key] for row in of_set]) for key in ("before", *RULES)}
            print(f"  {name:16s} " + "  ".join(f"{key} {value:5.1f}" for key, value in means.items()))


if __name__ == "__main__":
    main()
