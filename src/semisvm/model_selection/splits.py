"""Folds of the labeled samples; unlabeled samples are in every training part."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

from .._validation import check_integer, encode_labels


def folds_of_distinct_samples(X: Any, codes: np.ndarray, n_splits: int) -> np.ndarray:
    """A fold for every labeled sample, -1 for the others.

    Equal samples share a fold, so that none is predicted by a copy of itself; each class is divided evenly, in an order
    that depends on the contents of the samples alone. The order of X, repeated samples and seeds make no difference.
    There are no more folds than distinct samples of the smallest class.
    """
    folds = np.full(len(codes), -1)
    keys = {int(sample): sample_digest(X, int(sample)) for sample in np.flatnonzero(codes >= 0)}
    samples_of = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    classes = [sorted({keys[int(sample)] for sample in samples}) for samples in samples_of]
    n_splits = min(n_splits, *(len(distinct) for distinct in classes))
    fold_of: dict[bytes, int] = {}
    for distinct in classes:
        sizes = np.bincount([fold_of[key] for key in distinct if key in fold_of], minlength=n_splits)
        for key in distinct:
            if key not in fold_of:  # a sample that has another class too keeps its fold
                fold_of[key] = int(sizes.argmin())
                sizes[fold_of[key]] += 1
    for sample, key in keys.items():
        folds[sample] = fold_of[key]
    return folds


def equal_samples(X: Any, samples: np.ndarray) -> np.ndarray:
    """A number for each of some samples, the same for those with equal contents; -1 for all other samples of X."""
    group = np.full(X.shape[0], -1)
    keys = np.array([sample_digest(X, int(sample)) for sample in samples], dtype="S32")
    group[samples] = np.unique(keys, return_inverse=True)[1]
    return group


def sample_digest(X: Any, sample: int) -> bytes:
    """A hash of the sample's contents, the same for dense and sparse, single and double precision."""
    if sparse.issparse(X):
        part = slice(X.indptr[sample], X.indptr[sample + 1])
        columns, values = X.indices[part][X.data[part] != 0], X.data[part][X.data[part] != 0]
    else:
        columns = np.flatnonzero(X[sample])
        values = X[sample][columns]
    return hashlib.sha256(columns.astype(np.int64).tobytes() + values.astype(np.float64).tobytes()).digest()


class LabeledKFold:
    """Stratified folds of the labeled samples, with every unlabeled sample in every training part.

    Ordinary splitters put unlabeled samples into the test parts, where a score counts them as wrong.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Whether to shuffle the labeled samples first.
    random_state : int, RandomState or None, default=None
        For ``shuffle=True``.
    unlabeled : object, default=-1
        Marker of samples without a label, as in the estimators.

    Examples
    --------
    >>> import numpy as np
    >>> from semisvm.model_selection import LabeledKFold
    >>> y = np.array([1, 2, -1, 1, 2, -1])
    >>> for train, test in LabeledKFold(2).split(y.reshape(-1, 1), y):
    ...     print(train, test)
    [2 3 4 5] [0 1]
    [0 1 2 5] [3 4]
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None, unlabeled: Any = -1):
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.unlabeled = unlabeled

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Indices of the training samples and of the held-out labeled samples, fold after fold.

        Parameters
        ----------
        X : array-like of n samples
            Not used.
        y : array-like of shape (n,)
            The labels, with markers.
        groups : object
            Not used; scikit-learn passes it.

        Yields
        ------
        train, test : arrays of int
        """
        labels = encode_labels(y, self.unlabeled)
        labeled = np.flatnonzero(labels.is_labeled)
        check_integer("n_splits", self.n_splits, 2)
        smallest = np.bincount(labels.codes[labeled]).min()
        if smallest < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} is more than the {smallest} labeled samples of the smallest class; use "
                "fewer folds or label more samples."
            )
        folds = StratifiedKFold(
            self.n_splits, shuffle=self.shuffle, random_state=self.random_state if self.shuffle else None
        )
        every = np.arange(len(labels.codes))
        for _, held in folds.split(np.zeros((len(labeled), 1)), labels.codes[labeled]):
            yield np.setdiff1d(every, labeled[held], assume_unique=True), labeled[held]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds.

        Parameters
        ----------
        X, y, groups : object
            Not used; scikit-learn passes them.

        Returns
        -------
        int
        """
        return self.n_splits
