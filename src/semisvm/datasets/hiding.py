"""Hiding labels, to try what unlabeled rows are worth."""

from __future__ import annotations

import numbers

import numpy as np


def hide_labels(y, n_labeled: int | float, random_state: int | None = None, marker=-1) -> np.ndarray:
    """A copy of y in which only some rows keep their label, in about the class shares of y.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of all rows.
    n_labeled : int or float
        How many rows keep theirs; a float below 1 is a share. Every class keeps at least one.
    random_state : int or None, default=None
        Seed.
    marker : object, default=-1
        What stands for a hidden label; text labels become objects.

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
    wanted = round(n_labeled * len(y)) if isinstance(n_labeled, float) and n_labeled < 1 else n_labeled
    if not len(classes) <= wanted <= len(y):
        raise ValueError(
            f"n_labeled={n_labeled!r} asks for {wanted:g} labeled rows; {len(y)} rows of {len(classes)} classes allow "
            f"{len(classes)} to {len(y)}."
        )
    ideal = wanted * np.bincount(codes) / len(y)
    counts = np.maximum(np.floor(ideal).astype(int), 1)
    while counts.sum() < int(wanted):
        counts[np.argmin(counts - ideal)] += 1
    while counts.sum() > int(wanted):
        counts[np.argmax(np.where(counts > 1, counts - ideal, -np.inf))] -= 1
    fits = y.dtype.kind in "if" and isinstance(marker, numbers.Real) and (y.dtype.kind == "f" or marker == marker)
    hidden = y.copy() if fits else y.astype(object)
    for code, count in enumerate(counts):
        hidden[rng.permutation(np.flatnonzero(codes == code))[count:]] = marker
    return hidden
