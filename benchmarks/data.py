"""Data of the benchmarks: sets read from a folder beside the project, and generators.

The folder is ``SEMISVM_DATA``, by default ``../shared/data`` seen from the repository. A dense set is ``NAME.npz``; a
sparse one is ``NAME.X.npz``, ``NAME.y.npy`` and perhaps ``NAME.splits.npz``. Any set in that form can be loaded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from semisvm.datasets import hide_labels, make_two_gaussians

ROOT = Path(__file__).resolve().parents[1]
FILES = {"adult": "adult_a9a"}  # names that differ from those of the files
COUNTS = ("imdb", "news20")  # tables of word counts: weighted by tf-idf
SCALES = {"mnist": 255.0}
UNLABELED = -1


class Split(NamedTuple):
    """Rows that have a label, rows without one that may be looked at, and rows whose error counts."""

    labeled: np.ndarray
    unlabeled: np.ndarray
    test: np.ndarray


class Data(NamedTuple):
    name: str
    X: Any
    y: np.ndarray
    splits: list[Split]


def folder() -> Path:
    return Path(os.environ.get("SEMISVM_DATA", ROOT.parent / "shared" / "data"))


def load(name: str) -> Data:
    """A set by name, with its splits; features are float32 as stored, counts become sublinear tf-idf."""
    path = folder() / f"{FILES.get(name, name)}.npz"
    table = path.with_suffix(".X.npz")
    if path.exists():
        with np.load(path) as held:
            X, y, splits = held["X"].astype(np.float32), held["y"], _splits(held)
    elif table.exists():
        X, y, splits = sparse.load_npz(table), np.load(path.with_suffix(".y.npy")), []
        if path.with_suffix(".splits.npz").exists():
            with np.load(path.with_suffix(".splits.npz")) as held:
                splits = _splits(held)
    else:
        raise SystemExit(f"The set {name!r} is not in {folder()}; let SEMISVM_DATA name the folder that holds it.")
    if name in COUNTS:
        X = TfidfTransformer(sublinear_tf=True).fit_transform(X)
    if name in SCALES:
        X /= SCALES[name]
    return Data(name, X, y.astype(int), splits)


def _splits(held: Mapping[str, np.ndarray]) -> list[Split]:
    """Ten labeled / unlabeled splits, or one of training, test and perhaps unlabeled samples."""
    index = {key.removeprefix("gen_"): held[key].astype(int) for key in held if "idx_" in key}
    if "idx_train" in index:
        train, test = np.atleast_2d(index["idx_train"]), np.atleast_2d(index["idx_test"])
        unlabeled = np.atleast_2d(index.get("idx_unls", np.zeros((len(train), 0), dtype=int)))
        return [Split(*rows) for rows in zip(train, unlabeled, test)]
    if "idx_labs" in index:
        labeled, unlabeled = np.atleast_2d(index["idx_labs"]), np.atleast_2d(index["idx_unls"])
        test = np.atleast_2d(index["idx_test"]) if "idx_test" in index else unlabeled
        return [Split(*rows) for rows in zip(labeled, unlabeled, test)]
    return []


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


def flip(y: np.ndarray, share: float, seed: int = 0) -> np.ndarray:
    """A copy of classes 1 and 2 in which exactly a share of the rows has the other class."""
    noisy = y.copy()
    rows = np.random.default_rng(seed).choice(len(y), round(share * len(y)), replace=False)
    noisy[rows] = 3 - noisy[rows]
    return noisy


def noisy_sphere(n: int, seed: int = 0) -> Data:
    """Rows of 50 normal features, y the sign of a random linear function of them, 10 % of the labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 50))
    return Data("noisy_sphere", X, flip(two_classes(X @ rng.standard_normal(50) > 0), 0.1, seed + 1), [])


def two_gaussians(u: int, seed: int = 0) -> Data:
    """Two Gaussians in 50 dimensions, 50 labeled and u unlabeled samples."""
    X, y = make_two_gaussians(50 + u, random_state=seed)
    hidden = hide_labels(y, 50, random_state=seed, marker=UNLABELED) == UNLABELED
    rows = np.arange(len(y))
    return Data("two_gaussians", X, y, [Split(rows[~hidden], rows[hidden], rows[hidden])])


def many_gaussians(n: int, classes: int = 10, labeled: int = 100, spread: float = 0.5, seed: int = 0) -> Data:
    """Overlapping Gaussians in 50 dimensions, their means drawn with deviation ``spread``; some samples labeled."""
    rng = np.random.default_rng(seed)
    means = spread * rng.standard_normal((classes, 50))
    y = rng.permutation(np.arange(n) % classes) + 1
    X = means[y - 1] + rng.standard_normal((n, 50))
    hidden = hide_labels(y, labeled, random_state=seed, marker=UNLABELED) == UNLABELED
    rows = np.arange(n)
    return Data("many_gaussians", X, y, [Split(rows[~hidden], rows[hidden], rows[hidden])])


def gaus50(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussians in 50 dimensions, means +-0.23 in every coordinate, a fair coin for the class."""
    rng = np.random.default_rng(seed)
    y = two_classes(rng.random(n) < 0.5)
    return rng.standard_normal((n, 50)) + 0.23 * (2.0 * y[:, None] - 3.0), y


def gaus50x(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Class 2 around (.25, ..., .25) or, with chance 0.51, (.25, ..., -.25), half of it negative; class 1 opposite."""
    rng = np.random.default_rng(seed)
    y = two_classes(rng.random(n) < 0.5)
    mean = np.full((n, 50), 0.25)
    mean[rng.random(n) < 0.51, 25:] = -0.25
    return rng.standard_normal((n, 50)) + (2.0 * y[:, None] - 3.0) * mean, y


def clusters(n: int, features: int, per_class: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian2C and Gaussian4C: means -+2.5 in the first coordinate and, with two per class, -+5 in the second."""
    rng = np.random.default_rng(seed)
    y = two_classes(np.arange(n) % 2)
    X = rng.standard_normal((n, features))
    X[:, 0] += 2.5 * (2.0 * y - 3.0)
    if per_class == 2:
        X[:, 1] += 5.0 * np.where(np.arange(n) // 2 % 2, 1.0, -1.0)
    return X, y
