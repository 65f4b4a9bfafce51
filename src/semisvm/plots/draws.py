"""Errors of estimators that are fitted to draws of labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, indexable

from .._validation import check_integer, encode_labels
from ..datasets import hide_labels


class Draw(NamedTuple):
    """Labels of a training set, most of them hidden, and the samples on which errors are counted."""

    labels: np.ndarray
    X_test: Any
    y_test: np.ndarray

    def error(self, fitted: Any) -> float:
        """Error of a fitted estimator, in percent."""
        return 100.0 * float(np.mean(np.asarray(fitted.predict(self.X_test)) != self.y_test))


def first_seed(random_state: int | None) -> int:
    """The seed of the first draw; draw number d has the d-th after it."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    return check_integer("random_state", random_state, 0)


def draws_of_labels(
    X: Any, y: np.ndarray, n_labels: int, seeds: range, unlabeled: Any, test: tuple[Any, Any] | None = None
) -> Iterator[Draw]:
    """A draw for each seed; errors are counted on a test set, or on the samples whose label is hidden."""
    for seed in seeds:
        shown = hide_labels(y, n_labels, seed, unlabeled)
        if test is None:
            hidden = ~encode_labels(shown, unlabeled).is_labeled
            yield Draw(shown, _safe_indexing(X, np.flatnonzero(hidden)), y[hidden])
        else:
            yield Draw(shown, test[0], np.asarray(test[1]))


def fit_errors(estimators: Sequence[Any], X: Any, draws: Iterator[Draw]) -> np.ndarray:
    """Errors in percent of clones of estimators, shape (n_estimators, n_draws)."""
    return np.array([[draw.error(clone(one).fit(X, draw.labels)) for one in estimators] for draw in draws]).T


def check_data(X: Any, y: Any, unlabeled: Any) -> tuple[Any, np.ndarray]:
    """Samples and their true labels, none of which may be the marker of hidden ones."""
    X, y = indexable(X, np.asarray(y))
    labels = encode_labels(y, unlabeled)
    if not labels.is_labeled.all():
        first = y[~labels.is_labeled][0]
        raise ValueError(
            f"y has the class {first!s}, which marks hidden labels; pass labels of all samples, and unlabeled= another "
            "marker here and to the estimators."
        )
    return X, y


def check_sizes(n_labels: Any, y: np.ndarray, needs_hidden: bool) -> np.ndarray:
    """Numbers of labels, checked before the first fit."""
    sizes = [check_integer("n_labels", size) for size in np.atleast_1d(np.asarray(n_labels)).tolist()]
    n_classes, most = len(np.unique(y)), len(y) - needs_hidden
    for size in sizes:
        if not n_classes <= size <= most:
            hint = "; errors are counted on hidden labels unless X_test and y_test are there" if needs_hidden else ""
            raise ValueError(
                f"n_labels has {size}; {len(y)} samples of {n_classes} classes allow {n_classes} to {most}{hint}."
            )
    if not sizes:
        raise ValueError("n_labels is empty; pass at least one number of labels.")
    return np.array(sizes)


def check_test_set(X_test: Any, y_test: Any) -> tuple[Any, Any] | None:
    """Both parts of a test set, or None."""
    if (X_test is None) != (y_test is None):
        absent = "X_test" if X_test is None else "y_test"
        raise ValueError(f"{absent} is missing; pass both X_test and y_test, or none of them.")
    indexable(X_test, y_test)
    return None if X_test is None else (X_test, y_test)
