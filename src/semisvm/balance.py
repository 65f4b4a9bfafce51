"""Conditions on the unlabeled rows that keep them from all falling on one side.

``Free``            none
``Mean(m)``         the mean of f over the unlabeled rows is m
``Count(r, slack)`` the share of positive labels among them is r, give or take ``slack``
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Free(NamedTuple):
    """No condition."""


class Mean(NamedTuple):
    """mean of f over the unlabeled rows = m; 2 r - 1 for a share r of positive rows."""

    m: float


class Count(NamedTuple):
    """A share r of the unlabeled rows is positive, give or take ``slack``."""

    r: float
    slack: float = 0.0


def residual(balance: tuple, scores: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> float:
    """How far the unlabeled rows are from the balance.

    Parameters
    ----------
    balance : Free, Mean or Count
        The condition.
    scores, labels, weights : arrays over the unlabeled rows
        f, the labels of +-1, and the weights of the mean, which sum to one.
    """
    match balance:
        case Mean(m):
            return float(abs(weights @ scores - m))
        case Count(r, slack):
            return float(max(abs(weights @ (labels > 0) - r) - slack, 0.0))
    return 0.0
