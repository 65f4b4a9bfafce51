"""Hiding labels, for experiments with unlabeled samples."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np


def hide_labels(y: Any, n_labeled: int | float, random_state: int | None = None, marker: Any = -1) -> np.ndarray:
    """A copy of y in which only some samples keep their label, in about the class shares of y.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of all samples.
    n_labeled : int or float
        Number of samples that keep their label; a float below 1 is a share. Every class keeps at least one label.
    random_state : int or None, default=None
        Seed.
    marker : object, default=-1
        Value of the hidden labels; an array that cannot hold it, such as one of text, becomes one of objects.

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> from semisvm.datasets import hide_labels
    >>> hide_labels([0, 0, 0, 1, 1, 1], 2, random_state=0)
    array([-1, -1,  0, -1, -1,  1])
    """
    y = np.asarray(y)
    rng = np.random.default_rng(random_state)
    classes, codes = np.unique(y, return_inverse=True)
    n_kept = round(n_labeled * len(y)) if isinstance(n_labeled, float) and n_labeled < 1 else n_labeled
    if not len(classes) <= n_kept <= len(y):
        raise ValueError(
            f"n_labeled={n_labeled!r} means {n_kept:g} labeled samples; {len(y)} samples of {len(classes)} classes "
            f"allow {len(classes)} to {len(y)}."
        )
    expected = n_kept * np.bincount(codes) / len(y)
    counts = np.maximum(np.floor(expected).astype(int), 1)
    while counts.sum() < int(n_kept):
        counts[np.argmin(counts - expected)] += 1
    while counts.sum() > int(n_kept):
        counts[np.argmax(np.where(counts > 1, counts - expected, -np.inf))] -= 1
    kind = y.dtype.kind
    can_hold_marker = kind in "if" and isinstance(marker, numbers.Real) and (kind == "f" or marker == marker)
    hidden = y.copy() if can_hold_marker else y.astype(object)
    for code, count in enumerate(counts):
        hidden[rng.permutation(np.flatnonzero(codes == code))[count:]] = marker
    return hidden
