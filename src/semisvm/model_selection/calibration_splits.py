"""Which labels are held out to calibrate a classifier."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._validation import Labels
from .criteria.cv_splits import Split
from .splits import equal_samples, folds_of_distinct_samples


class CalibrationSet(NamedTuple):
    """What a fit is given.

    ``given`` are the labels as they came, ``labels`` those of positive weight; ``fit_params`` is what the estimator's
    ``fit`` gets besides X and y.
    """

    X: Any
    given: Labels
    labels: Labels
    weights: np.ndarray
    unlabeled: Any
    fit_params: Mapping[str, Any]

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.weights)

    def marked_labels(self, codes: np.ndarray) -> np.ndarray:
        """Labels with unlabeled samples marked: by the marker where it is a number like the classes, else by None."""
        classes, known = self.given.classes, codes >= 0
        if known.all():
            return classes[codes]
        marker = self.unlabeled
        if classes.dtype.kind in "iuf" and isinstance(marker, numbers.Real) and not isinstance(marker, bool):
            return np.where(known, classes[codes], np.asarray(marker))
        y = np.full(len(codes), None, dtype=object)
        y[known] = classes[codes[known]]
        return y


def make_splits(cv: Any, data: CalibrationSet, y: Any, pairwise: bool, split_params: Mapping[str, Any]) -> list[Split]:
    """Splits of the samples; held out are labeled samples of positive weight."""
    codes = data.labels.codes
    if isinstance(cv, numbers.Integral):
        splits = _folds(int(cv), data, pairwise)
    else:
        parts = cv if isinstance(cv, list) else cv.split(data.X, y, **split_params)
        splits = [Split(np.asarray(train), np.asarray(test)) for train, test in parts]
    for number, split in enumerate(splits):
        trained = codes[split.train]
        if np.intersect1d(split.train, split.test).size:
            raise ValueError(f"split {number} of cv={cv!r} trains on samples that it holds out; use LabeledKFold.")
        if len(np.unique(trained[trained >= 0])) < len(data.labels.classes):
            raise ValueError(
                f"split {number} of cv={cv!r} leaves a class without a labeled sample to train on; use LabeledKFold or "
                "LabeledShuffleSplit, fewer folds, or label more samples."
            )
        if (codes[split.test] < 0).all():
            raise ValueError(f"split {number} of cv={cv!r} holds out no labeled sample; use LabeledKFold.")
    return splits


def _folds(n_folds: int, data: CalibrationSet, pairwise: bool) -> list[Split]:
    """Folds that have every class, and equal samples in the same one."""
    contents, codes = _contents(data.X), data.labels.codes
    if pairwise:
        contents = np.sort(contents, axis=1)  # kernel values of a sample, whatever their order
    group = equal_samples(contents, np.flatnonzero(codes >= 0))
    for code, name in enumerate(data.labels.classes.tolist()):
        if len(np.unique(group[codes == code])) < 2:
            raise ValueError(
                f"class {name!r} has one labeled sample (not counting equal ones), which cannot be held out; label two "
                "samples of each class or more, or leave the class out."
            )
    folds = folds_of_distinct_samples(contents, codes, n_folds)
    every = np.arange(data.n_samples)
    return [Split(every[folds != fold], every[folds == fold]) for fold in range(folds.max() + 1)]


def _contents(X: Any) -> Any:
    """X as numbers that are equal where the samples are; text and other objects by their order."""
    if sparse.issparse(X):
        return X
    values = np.asarray(X)
    values = values.reshape(len(values), -1)
    if values.dtype.kind in "biuf":
        return values
    return np.column_stack([np.unique(column.astype(str), return_inverse=True)[1] for column in values.T])
