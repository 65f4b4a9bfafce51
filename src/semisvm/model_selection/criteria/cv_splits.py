"""How a criterion holds samples out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._validation import Integer, Options, check_value
from ..splits import LabeledKFold
from .model_family import ModelFamily

N_FOLDS = 5  # of cv="auto" where leaving out single samples has no closed form


class Split(NamedTuple):
    """Samples of one split, by their positions among those of the fit."""

    train: np.ndarray
    test: np.ndarray


class Splitter:
    """A kind of value of ``cv``: an object that splits, or the splits themselves."""

    def accepts(self, value: Any) -> bool:
        """Whether it has a method ``split`` or is a list."""
        return isinstance(value, list) or (hasattr(value, "split") and not isinstance(value, str))

    def message(self) -> str:
        """In the words of an error message."""
        return "a splitter or a list of pairs of indices"

    def document(self) -> str:
        """In the words of the documentation."""
        return "splitter or list of pairs of indices"


def check_cv(cv: Any) -> Any:
    """What says how samples are held out: "auto", "loo", a number of folds, a splitter or splits."""
    return check_value("cv", cv, [Options(["auto", "loo"]), Integer(2), Splitter()])


def make_splits(cv: Any, family: ModelFamily, X: Any, y: Any) -> list[Split]:
    """The splits of the samples of a family; a splitter is given all samples, X and y."""
    if cv == "loo":
        every = np.arange(len(family.codes))
        splits = [Split(np.delete(every, sample), np.array([sample])) for sample in np.flatnonzero(family.codes >= 0)]
    elif Splitter().accepts(cv):
        splits = [_among_kept(family, *parts) for parts in (cv if isinstance(cv, list) else cv.split(X, y))]
    else:
        smallest = int(np.bincount(family.codes[family.codes >= 0]).min())
        folds = LabeledKFold(max(2, min(N_FOLDS, smallest)) if cv == "auto" else cv, unlabeled=0)
        splits = [Split(*parts) for parts in folds.split(family.codes, family.codes + 1)]
    for number, split in enumerate(splits):
        trained = family.codes[split.train]
        missing = len(np.unique(trained[trained >= 0])) < len(family.classes)
        if missing or not len(split.test) or (family.codes[split.test] < 0).any():
            raise ValueError(
                f"split {number} of cv={cv!r} leaves a class without a labeled sample to train on, or holds out no "
                "sample or one without a label; use LabeledKFold or LabeledShuffleSplit, fewer folds, or label more "
                "samples."
            )
        if np.intersect1d(split.train, split.test).size:
            raise ValueError(f"split {number} of cv={cv!r} trains on samples that it holds out; use LabeledKFold.")
    return splits


def _among_kept(family: ModelFamily, train: np.ndarray, test: np.ndarray) -> Split:
    """A split of all samples as one of those that are part of the fit."""
    position = np.full(family.n_samples, -1)
    position[family.kept] = np.arange(len(family.kept))
    parts = (position[np.asarray(part)] for part in (train, test))
    return Split(*(part[part >= 0] for part in parts))
