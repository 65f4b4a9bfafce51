"""Data of the protocols: sets of a folder that the user names, partitions, and labels at random."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ..datasets import Dataset, load_dataset
from ..datasets.loading import ENDINGS

UNLABELED = -1


class DataFolder:
    """Sets in a folder, as ``semisvm.datasets.load_dataset`` reads them, with classes counted from 1 upwards.

    Parameters
    ----------
    path : Path or None
        The folder; None has no sets.
    """

    def __init__(self, path: Path | None = None):
        self.path = path
        self._loaded: dict[str, Dataset] = {}

    def has(self, name: str) -> bool:
        """Whether the file of a set is there."""
        return self.path is not None and any((self.path / f"{name}{end}").is_file() for end in ENDINGS)

    def load(self, name: str) -> Dataset:
        """A set, read once; dense features become float32, and no class has the marker of unlabeled samples."""
        if self.path is None:
            raise FileNotFoundError(f"The data set {name} is needed, but no data folder was given.")
        if name not in self._loaded:
            data = load_dataset(name, self.path)
            X = data.X if sparse.issparse(data.X) else data.X.astype(np.float32)
            self._loaded[name] = data._replace(X=X, y=1 + np.unique(data.y, return_inverse=True)[1])
        return self._loaded[name]


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
