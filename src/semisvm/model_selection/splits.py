"""Folds of the labeled rows; unlabeled rows always train."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

from .. import _validate


def folds_of_distinct_rows(X, codes: np.ndarray, n_splits: int) -> np.ndarray:
    """A fold for every labeled row, -1 for the others.

    Rows that are equal share a fold, so that none is judged by its twin; each class is dealt out evenly, in an order
    that depends on the rows' contents alone. Order of the table, repeated rows and seeds make no difference. There are
    no more folds than distinct rows of the smallest class.
    """
    folds = np.full(len(codes), -1)
    keys = {row: _digest(X, row) for row in np.flatnonzero(codes >= 0)}
    classes = [sorted({keys[row] for row in np.flatnonzero(codes == code)}) for code in range(codes.max() + 1)]
    n_splits = min(n_splits, *(len(distinct) for distinct in classes))
    fold_of: dict[bytes, int] = {}
    for distinct in classes:
        dealt = np.bincount([fold_of[key] for key in distinct if key in fold_of], minlength=n_splits)
        for key in distinct:
            if key not in fold_of:  # a row that has another class too keeps its fold
                fold_of[key] = int(dealt.argmin())
                dealt[fold_of[key]] += 1
    for row, key in keys.items():
        folds[row] = fold_of[key]
    return folds


def _digest(X, row: int) -> bytes:
    """What the row holds; dense or sparse, single or double precision alike."""
    if sparse.issparse(X):
        part = slice(X.indptr[row], X.indptr[row + 1])
        columns, values = X.indices[part][X.data[part] != 0], X.data[part][X.data[part] != 0]
    else:
        columns = np.flatnonzero(X[row])
        values = X[row][columns]
    return hashlib.sha256(columns.astype(np.int64).tobytes() + values.astype(np.float64).tobytes()).digest()


class LabeledKFold:
    """Stratified folds of the labeled rows, with every unlabeled row in every training part.

    Ordinary splitters put unlabeled rows into the test parts, where a score counts them as wrong.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Whether to shuffle the labeled rows first.
    random_state : int, RandomState or None, default=None
        For ``shuffle=True``.
    unlabeled : object, default=-1
        Marker of rows without a label, as in the estimators.

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

    def __init__(self, n_splits=5, *, shuffle=False, random_state=None, unlabeled=-1):
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.unlabeled = unlabeled

    def split(self, X, y, groups=None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Indices of the training rows and of the held-out labeled rows, fold after fold.

        Parameters
        ----------
        X : array-like of n rows
            Not looked at.
        y : array-like of shape (n,)
            The labels, with markers.
        groups : object
            Not used; scikit-learn passes it.

        Yields
        ------
        train, test : arrays of int
        """
        labels = _validate.labels(y, self.unlabeled)
        rows = np.flatnonzero(labels.known)
        _validate.whole_number("n_splits", self.n_splits, 2)
        smallest = np.bincount(labels.codes[rows]).min()
        if smallest < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} is more than the {smallest} labeled rows of the smallest class; use fewer "
                "folds or label more rows."
            )
        folds = StratifiedKFold(
            self.n_splits, shuffle=self.shuffle, random_state=self.random_state if self.shuffle else None
        )
        every = np.arange(len(labels.codes))
        for _, held in folds.split(np.zeros((len(rows), 1)), labels.codes[rows]):
            yield np.setdiff1d(every, rows[held], assume_unique=True), rows[held]

    def get_n_splits(self, X=None, y=None, groups=None) -> int:
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
