"""Data of the protocols: sets of a folder that the user names, generated sets, and labels at random."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

UNLABELED = -1


class Split(NamedTuple):
    """Indices of labeled samples, of unlabeled ones, and of those whose error counts."""

    labeled: np.ndarray
    unlabeled: np.ndarray
    test: np.ndarray


class DataSet(NamedTuple):
    """Samples, classes counted from 1 upwards, and published splits."""

    X: Any
    y: np.ndarray
    splits: list[Split]


class DataFolder:
    """Sets in a folder.

    A dense set is ``NAME.npz`` with X, y and indices, a sparse one ``NAME.X.npz``, ``NAME.y.npy`` and perhaps
    ``NAME.splits.npz``. Indices start at 0: ``idx_labs`` and ``idx_unls``, one row per split, or ``idx_train`` and
    ``idx_test``; ``gen_`` before a name says that the splits are not the published ones.

    Parameters
    ----------
    path : Path or None
        The folder; None has no sets.
    """

    def __init__(self, path: Path | None = None):
        self.path = path
        self._loaded: dict[str, DataSet] = {}

    def has(self, name: str) -> bool:
        """Whether the files of a set are there."""
        return self.path is not None and any((self.path / f"{name}{end}").exists() for end in (".npz", ".X.npz"))

    def load(self, name: str) -> DataSet:
        """A set, read once."""
        if name not in self._loaded:
            self._loaded[name] = self._read(name)
        return self._loaded[name]

    def _read(self, name: str) -> DataSet:
        if self.path is None or not self.has(name):
            raise FileNotFoundError(f"The data set {name} is not in {self.path}.")
        dense, X_file = self.path / f"{name}.npz", self.path / f"{name}.X.npz"
        if dense.exists():
            with np.load(dense) as held:
                X, y, splits = held["X"].astype(np.float32), held["y"], _splits(held)
        else:
            X, y, splits = sparse.load_npz(X_file), np.load(self.path / f"{name}.y.npy"), []
            if (split_file := self.path / f"{name}.splits.npz").exists():
                with np.load(split_file) as held:
                    splits = _splits(held)
        return DataSet(X, 1 + np.unique(y, return_inverse=True)[1], splits)


def _splits(held: Mapping[str, np.ndarray]) -> list[Split]:
    index = {key.removeprefix("gen_"): np.atleast_2d(held[key].astype(int)) for key in held if "idx_" in key}
    if "idx_train" in index:
        none = np.zeros((len(index["idx_train"]), 0), dtype=int)
        return [Split(*rows) for rows in zip(index["idx_train"], index.get("idx_unls", none), index["idx_test"])]
    if "idx_labs" in index:
        return [Split(labeled, rest, rest) for labeled, rest in zip(index["idx_labs"], index["idx_unls"])]
    return []


class Partition(NamedTuple):
    """Training samples, their labels with and without those that are hidden, and test samples."""

    X: Any
    shown: np.ndarray
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray

    def fit(self, model: Any, all_labels: bool = False) -> tuple[float, Any]:
        """Percent error on the test samples, and the fitted model, of the given labels or of all."""
        fitted = clone(model).fit(self.X, self.y if all_labels else self.shown)
        return 100.0 * float(np.mean(fitted.predict(self.X_test) != self.y_test)), fitted

    def error(self, model: Any, all_labels: bool = False) -> float:
        """Percent error on the test samples."""
        return self.fit(model, all_labels)[0]

    @property
    def shares(self) -> float | dict[int, float]:
        """The class shares of the training samples, as ``balance=`` takes them."""
        classes, counts = np.unique(self.y, return_counts=True)
        shares = counts / len(self.y)
        return float(shares[1]) if len(classes) == 2 else {int(c): float(s) for c, s in zip(classes, shares)}


def show_labels(y: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Labels of ``count`` samples at random, drawn until every class is among them; the marker elsewhere."""
    while True:
        kept = rng.permutation(len(y))[:count]
        if len(np.unique(y[kept])) == len(np.unique(y)):
            return np.where(np.isin(np.arange(len(y)), kept), y, UNLABELED)


# ------------------------------------------------------------------ generated


def gaus50(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussians in 50 dimensions, means +-0.23 in every coordinate, a fair coin for the class."""
    rng = np.random.default_rng(seed)
    y = 1 + (rng.random(n) < 0.5)
    return rng.standard_normal((n, 50)) + 0.23 * (2.0 * y[:, None] - 3.0), y


def gaus50x(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Class 2 around (.25, ..., .25) or, with chance 0.51, (.25, ..., -.25), half of it negative; class 1 opposite."""
    rng = np.random.default_rng(seed)
    y = 1 + (rng.random(n) < 0.5)
    mean = np.full((n, 50), 0.25)
    mean[rng.random(n) < 0.51, 25:] = -0.25
    return rng.standard_normal((n, 50)) + (2.0 * y[:, None] - 3.0) * mean, y


def clusters(n: int, n_features: int, per_class: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian2C and Gaussian4C: means -+2.5 in the first coordinate and, with two per class, -+5 in the second."""
    rng = np.random.default_rng(seed)
    y = 1 + np.arange(n) % 2
    X = rng.standard_normal((n, n_features))
    X[:, 0] += 2.5 * (2.0 * y - 3.0)
    if per_class == 2:
        X[:, 1] += 5.0 * np.where(np.arange(n) // 2 % 2, 1.0, -1.0)
    return X, y
