"""Wrong labels, for experiments with noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import check_number
from .randomness import random_generator


def flip_labels(y: Any, share: float = 0.1, random_state: int | None = None) -> np.ndarray:
    """A copy of y in which exactly a share of the labels is replaced by another class.

    With more than two classes, all others are equally likely. The expected error of a classifier rises from e on clean
    labels of two classes to e + share (1 - 2 e). Hide labels afterwards: a marker of unlabeled samples would count as a
    class.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of all samples, of two or more classes.
    share : float, default=0.1
        Share of the labels that become wrong, from 0 to 1; the number is rounded.
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    array of shape (n,)

    References
    ----------
    R. Collobert, F. Sinz, J. Weston and L. Bottou, "Trading convexity for scalability", ICML, 2006: USPS with 10 % of
    the labels flipped. https://doi.org/10.1145/1143844.1143870

    Examples
    --------
    >>> from semisvm.datasets import flip_labels
    >>> flip_labels(["a", "a", "a", "b", "b"], 0.4, random_state=0).tolist()
    ['b', 'a', 'a', 'b', 'a']
    """
    check_number("share", share, 0.0, 1.0, closed="both")
    y = np.asarray(y)
    classes, codes = np.unique(y, return_inverse=True)
    if y.ndim != 1 or len(classes) < 2:
        raise ValueError(
            f"y has shape {y.shape} and {len(classes)} class(es); pass one label per sample, of two or more classes."
        )
    rng = random_generator(random_state)
    wrong = rng.choice(len(y), round(share * len(y)), replace=False)
    codes[wrong] = (codes[wrong] + rng.integers(1, len(classes), len(wrong))) % len(classes)
    return classes[codes]
