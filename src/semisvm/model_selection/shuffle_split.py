"""Random splits of the labeled samples; unlabeled samples are in every training part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._validation import Integer, Options, Real, check_integer, check_value, encode_labels

SIZES = (Integer(1), Real(0.0, 1.0))


class LabeledShuffleSplit:
    """Stratified random splits of the labeled samples, with every unlabeled sample in every training part.

    Each split holds out ``test_size`` labeled samples, drawn from the classes in proportion to their sizes. Every class
    keeps a labeled sample for training, so that one with a single label is never held out.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits.
    test_size : float or int, default=0.25
        Labeled samples to hold out: a share of them, rounded up, or a number.
    train_size : float, int or None, default=None
        Labeled samples to train on; None for all that are not held out. Labeled samples that are in neither part are
        left out of the split.
    random_state : int, RandomState or None, default=None
        For the draws.
    unlabeled : object, default=-1
        Marker of samples without a label, as in the estimators.

    Examples
    --------
    >>> import numpy as np
    >>> from semisvm.model_selection import LabeledShuffleSplit
    >>> y = np.array([1, 2, -1, 1, 2, -1])
    >>> for train, test in LabeledShuffleSplit(2, test_size=2, random_state=0).split(y.reshape(-1, 1), y):
    ...     print(train, test)
    [1 2 3 5] [0 4]
    [2 3 4 5] [0 1]
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float | int = 0.25,
        train_size: float | int | None = None,
        random_state: Any = None,
        unlabeled: Any = -1,
    ):
        self.n_splits = n_splits
        self.test_size = test_size
        self.train_size = train_size
        self.random_state = random_state
        self.unlabeled = unlabeled

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Indices of the training samples and of the held-out labeled samples, split after split.

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
        check_integer("n_splits", self.n_splits, 1)
        counts = np.bincount(labels.codes[labels.is_labeled])
        n_test, n_train = self._sizes(counts)
        rng = check_random_state(self.random_state)
        unlabeled = np.flatnonzero(~labels.is_labeled)
        members = [np.flatnonzero(labels.codes == code) for code in range(len(counts))]
        for _ in range(self.n_splits):
            held = _allocate(n_test, counts, np.zeros_like(counts), counts - 1, rng)
            kept = _allocate(n_train, counts, np.ones_like(counts), counts - held, rng)
            order = [rng.permutation(samples) for samples in members]
            test = np.concatenate([samples[:k] for samples, k in zip(order, held)])
            train = np.concatenate([samples[k : k + m] for samples, k, m in zip(order, held, kept)])
            yield np.sort(np.r_[unlabeled, train]), np.sort(test)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of splits.

        Parameters
        ----------
        X, y, groups : object
            Not used; scikit-learn passes them.

        Returns
        -------
        int
        """
        return self.n_splits

    def _sizes(self, counts: np.ndarray) -> tuple[int, int]:
        """Numbers of labeled samples to hold out and to train on."""
        n, n_classes = int(counts.sum()), len(counts)
        check_value("test_size", self.test_size, SIZES)
        check_value("train_size", self.train_size, [*SIZES, Options([None])])
        n_test = int(np.ceil(self.test_size * n) if self.test_size < 1 else self.test_size)
        if n_test > n - n_classes:
            raise ValueError(
                f"test_size={self.test_size!r} holds out {n_test} of {n} labeled samples, but each of the {n_classes} "
                f"classes keeps one for training, which leaves {n - n_classes}; use a smaller test_size or label more "
                "samples."
            )
        if self.train_size is None:
            return n_test, n - n_test
        n_train = int(self.train_size * n if self.train_size < 1 else self.train_size)
        if not n_classes <= n_train <= n - n_test:
            raise ValueError(
                f"train_size={self.train_size!r} trains on {n_train} of {n} labeled samples; with {n_test} held out "
                f"it takes between {n_classes}, one of each class, and {n - n_test}."
            )
        return n_test, n_train


def _allocate(
    total: int, counts: np.ndarray, low: np.ndarray, high: np.ndarray, rng: np.random.RandomState
) -> np.ndarray:
    """Whole numbers within bounds and of a given sum, each as close to its share of ``counts`` as these allow.

    Of classes that are equally far from their share a random one is first.
    """
    share = total * counts / counts.sum()
    given = np.clip(np.floor(share).astype(int), low, high)
    tie = rng.permutation(len(counts))
    while given.sum() != total:
        step = 1 if given.sum() < total else -1
        missing = np.where((given < high) if step > 0 else (given > low), step * (share - given), -np.inf)
        given[np.lexsort((tie, missing))[-1]] += step
    return given
