"""Data of the benchmarks: sets read from a folder beside the project, and generated ones without a paper.

The folder is ``SEMISVM_DATA``, by default ``../shared/data`` seen from the repository. ``semisvm.datasets`` reads the
files and has the generators of the papers.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from semisvm.datasets import Dataset, Split, flip_labels, hide_labels, load_dataset, make_two_gaussians

ROOT = Path(__file__).resolve().parents[1]
FILES = {"adult": "adult_a9a"}  # names that differ from those of the files
COUNTS = ("imdb", "news20")  # tables of word counts: weighted by tf-idf
SCALES = {"mnist": 255.0}
UNLABELED = -1


def folder() -> Path:
    return Path(os.environ.get("SEMISVM_DATA", ROOT.parent / "shared" / "data"))


def load(name: str) -> Dataset:
    """A set by name, with its splits; dense features become float32, counts sublinear tf-idf."""
    try:
        data = load_dataset(FILES.get(name, name), folder())
    except FileNotFoundError:
        raise SystemExit(
            f"The set {name!r} is not in {folder()}; let SEMISVM_DATA name the folder that holds it."
        ) from None
    X = data.X if sparse.issparse(data.X) else data.X.astype(np.float32)
    if name in COUNTS:
        X = TfidfTransformer(sublinear_tf=True).fit_transform(X)
    if name in SCALES:
        X /= SCALES[name]
    return Dataset(name, X, data.y, data.splits)


def two_classes(positive: np.ndarray) -> np.ndarray:
    """Classes 1 and 2 from a mask of the second, so that -1 is free to mark unlabeled samples."""
    return 1 + np.asarray(positive, dtype=int)


def partly(y: np.ndarray, split: Split) -> np.ndarray:
    """Labels of the labeled samples of a split, the marker elsewhere."""
    shown = np.full(len(y), UNLABELED)
    shown[split.labeled] = y[split.labeled]
    return shown


def shown_at(y: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Labels of some samples at random, all classes among them; the marker elsewhere."""
    while True:
        rows = rng.permutation(len(y))[:count]
        if len(np.unique(y[rows])) == len(np.unique(y)):
            return np.where(np.isin(np.arange(len(y)), rows), y, UNLABELED)


def hidden_at(y: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Labels of ``count`` samples, as many of each class; the marker elsewhere."""
    rng, classes, out = np.random.default_rng(seed), np.unique(y), np.full(len(y), UNLABELED)
    for c in classes:
        rows = rng.choice(np.flatnonzero(y == c), count // len(classes), replace=False)
        out[rows] = c
    return out


def noisy_sphere(n: int, seed: int = 0) -> Dataset:
    """Rows of 50 normal features, y the sign of a random linear function of them, 10 % of the labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 50))
    return Dataset("noisy_sphere", X, flip_labels(two_classes(X @ rng.standard_normal(50) > 0), 0.1, seed + 1), [])


def two_gaussians(u: int, seed: int = 0) -> Dataset:
    """Two Gaussians in 50 dimensions, 50 labeled and u unlabeled samples."""
    X, y = make_two_gaussians(50 + u, random_state=seed)
    hidden = hide_labels(y, 50, random_state=seed, marker=UNLABELED) == UNLABELED
    rows = np.arange(len(y))
    return Dataset("two_gaussians", X, y, [Split(rows[~hidden], rows[hidden], rows[hidden])])


def many_gaussians(n: int, classes: int = 10, labeled: int = 100, spread: float = 0.5, seed: int = 0) -> Dataset:
    """Overlapping Gaussians in 50 dimensions, their means drawn with deviation ``spread``; some samples labeled."""
    rng = np.random.default_rng(seed)
    means = spread * rng.standard_normal((classes, 50))
    y = rng.permutation(np.arange(n) % classes) + 1
    X = means[y - 1] + rng.standard_normal((n, 50))
    hidden = hide_labels(y, labeled, random_state=seed, marker=UNLABELED) == UNLABELED
    rows = np.arange(n)
    return Dataset("many_gaussians", X, y, [Split(rows[~hidden], rows[hidden], rows[hidden])])
