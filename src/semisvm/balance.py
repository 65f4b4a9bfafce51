"""Conditions on the unlabeled samples that keep them from all falling on one side, and arithmetic of class shares.

``Free``            no condition
``Mean(m)``         the mean of f over the unlabeled samples is m
``Count(r, slack)`` the share of positive labels among them is r, up to ``slack``

Shares are weighted: a sample of weight 2 counts like two samples. With a ``Count`` the weight of the positive samples
has to stay within a *band*, ``(low, high)``.
"""

from __future__ import annotations

import numbers
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ._validation import check_number

ROUNDING = 1e-9  # of the total weight: rounding error allowed in a sum of weights
SCORE_ROUNDING = 1e-10  # of the largest score: scores that differ by less are equal but for rounding


class Free(NamedTuple):
    """No condition."""


class Mean(NamedTuple):
    """The mean of f over the unlabeled samples is m; 2 r - 1 for a share r of positive samples."""

    m: float


class Count(NamedTuple):
    """A share r of the unlabeled samples is positive, up to ``slack``."""

    r: float
    slack: float = 0.0


Balance: TypeAlias = Free | Mean | Count


class ClassShares(NamedTuple):
    """Shares of the classes among the unlabeled samples, by weight, as mappings from class to share.

    ``asked`` is None where no balance is asked for, ``reached`` where no sample is unlabeled.
    """

    asked: dict[Any, float] | None
    reached: dict[Any, float] | None


def residual(balance: Balance, scores: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> float:
    """How far the unlabeled samples are from the balance.

    Parameters
    ----------
    balance : Free, Mean or Count
        The condition.
    scores, labels, weights : arrays over the unlabeled samples
        f, the labels of +-1, and the weights of the mean, which sum to one.
    """
    match balance:
        case Mean(m):
            return abs(float(weights @ scores) - m)
        case Count(r, slack):
            return max(abs(float(weights @ (labels > 0)) - r) - slack, 0.0)
    return 0.0


def positive_counts(balance: Balance, n: int) -> tuple[float, float]:
    """Lowest and highest number of positive samples among n that the balance allows.

    The counts within the slack, or the count nearest to the share (both, if two are equally near).
    """
    if not isinstance(balance, Count):
        return -np.inf, np.inf
    low, high = (
        np.ceil((balance.r - balance.slack) * n - ROUNDING),
        np.floor((balance.r + balance.slack) * n + ROUNDING),
    )
    if low > high:
        exact = balance.r * n
        low, high = np.ceil(exact - 0.5 - ROUNDING), np.floor(exact + 0.5 + ROUNDING)
    return low, high


def positive_band(balance: Balance, weights: np.ndarray, y: np.ndarray | None = None) -> tuple[float, float]:
    """Lowest and highest weight of positive samples that the balance allows.

    Samples of equal weight: the counts within the slack, or the count nearest to the share (both, if two are equally
    near). Otherwise the share and its slack, widened so that the labels y, the nearest attainable ones, are inside.
    """
    if not isinstance(balance, Count):
        return -np.inf, np.inf
    total = weights.sum()
    low, high = (balance.r - balance.slack) * total, (balance.r + balance.slack) * total
    unit = weights[0]
    if np.all(weights == unit):
        low, high = (unit * count for count in positive_counts(balance, len(weights)))
    elif y is not None:
        positive = weights @ (y > 0)
        low, high = min(low, positive), max(high, positive)
    return low - ROUNDING * total, high + ROUNDING * total


def labels_by_sign(f: np.ndarray, weights: np.ndarray, balance: Balance) -> np.ndarray:
    """Labels of +-1 by the sign of the scores, or by their rank at exactly the share if the signs break the balance."""
    y = np.where(f > 0, 1.0, -1.0)
    low, high = positive_band(balance, weights)
    if not isinstance(balance, Count) or low <= weights @ (y > 0) <= high:
        return y
    sums = _sums_by_rank(f, weights)
    distance = np.abs(sums - balance.r * sums[-1])
    nearest = np.flatnonzero(distance <= distance.min() + ROUNDING * sums[-1])
    return _labels_by_rank(f, int(nearest[np.abs(sums[nearest] - sums[np.count_nonzero(f > 0)]).argmin()]))


def labels_in_band(f: np.ndarray, weights: np.ndarray, balance: Balance) -> np.ndarray:
    """Labels of +-1 by the rank of the scores: among the counts in the band, the one nearest to the signs."""
    low, high = positive_band(balance, weights)
    if np.all(weights == weights[:1]):
        weight = float(weights[0]) if len(f) else 0.0
        first, last = _between(lambda k: k * weight, low, high, len(f))
    else:
        first, last = _between(_sums_by_rank(f, weights).__getitem__, low, high, len(f))
    if first > last:
        return labels_by_sign(f, weights, balance)
    return _labels_by_rank(f, min(max(int(np.count_nonzero(f > 0)), first), last))


def _sums_by_rank(f: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weights of the 0, 1, 2, ... samples of the highest scores."""
    if np.all(weights == weights[:1]):
        return np.arange(len(f) + 1) * (weights[0] if len(f) else 0.0)
    return np.concatenate([[0.0], np.cumsum(weights[np.argsort(-f, kind="stable")])])


def _between(sums: Callable[[int], float], low: float, high: float, n: int) -> tuple[int, int]:
    """The first and the last of 0 to n whose ascending sums are from low to high; the last is less if there is none."""
    first = bisect_left(range(n + 1), low, key=sums)
    return first, bisect_right(range(n + 1), high, key=sums) - 1


def _labels_by_rank(f: np.ndarray, count: int) -> np.ndarray:
    """+1 at so many samples of the highest scores, the first ones among equal scores, and -1 elsewhere."""
    if not 0 < count < len(f):
        return np.full(len(f), 1.0 if count else -1.0)
    last = np.partition(f, len(f) - count)[len(f) - count]
    y = np.where(f > last, 1.0, -1.0)
    y[np.flatnonzero(f == last)[: count - np.count_nonzero(f > last)]] = 1.0
    return y


def nearest_labels(f: np.ndarray, y: np.ndarray, weights: np.ndarray, balance: Balance) -> np.ndarray:
    """The labels closest to f that keep the balance; a score of zero keeps its label, as do all if none keeps it."""
    new = np.where(f > 0, 1.0, np.where(f < 0, -1.0, y))
    low, high = positive_band(balance, weights, y)
    positive = weights @ (new > 0)
    rounding = ROUNDING * weights.sum()
    if low <= positive <= high:
        return new
    sign, excess = (1.0, positive - high) if positive > high else (-1.0, low - positive)
    order = np.argsort(sign * f, kind="stable")
    order = order[new[order] == sign]  # labels of which there are too many, the ones closest to zero first
    count = np.searchsorted(np.cumsum(weights[order]), excess - rounding) + 1
    new[order[:count]] = -sign
    return new if low <= weights @ (new > 0) <= high else y


def remaining_balance(balance: Balance, weights: np.ndarray, fixed: np.ndarray, y: np.ndarray) -> Balance:
    """The balance of the samples without ``fixed``, so that together they keep ``balance``.

    Parameters
    ----------
    balance : Free, Mean or Count
        The condition on all samples.
    weights, fixed : arrays over all samples
        Weights, and the mask of the samples whose labels are fixed.
    y : array over all samples
        Labels of +-1 where fixed.
    """
    if not isinstance(balance, Count):
        return balance
    total, left = weights.sum(), weights[~fixed].sum()
    if left <= 0:
        return Free()
    positive = weights[fixed & (y > 0)].sum()
    ends = (balance.r - balance.slack, balance.r + balance.slack)
    low, high = (float(np.clip((end * total - positive) / left, 0.0, 1.0)) for end in ends)
    return Count(0.5 * (low + high), 0.5 * (high - low))


def class_counts(shares: np.ndarray, n: int) -> np.ndarray:
    """Whole numbers of samples per class that sum to n, by the largest remainders."""
    counts = np.floor(shares * n).astype(int)
    order = np.argsort(counts - shares * n, kind="stable")
    counts[order[: n - counts.sum()]] += 1
    return counts


def codes_by_share(scores: np.ndarray, weights: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Classes of samples by the largest score, moved until the shares are kept as well as whole samples can.

    A class above its share keeps the samples whose score is furthest above that of their next best class; the others
    go to that class.

    Parameters
    ----------
    scores : array of shape (n, k)
        A column per class.
    weights : array of shape (n,)
        Weights of the samples.
    shares : array of shape (k,)
        Shares of the classes, one in sum.
    """
    equal = np.all(weights == weights[0])
    left = class_counts(shares, len(weights)) * weights[0] if equal else shares * weights.sum()
    codes = np.full(len(weights), -1)
    is_open = shares > 0
    rounding = ROUNDING * weights.sum()
    while (codes < 0).any():
        free = np.flatnonzero(codes < 0)
        allowed = np.where(is_open, scores[free], -np.inf)
        first = allowed.argmax(axis=1)
        demand = np.bincount(first, weights[free], minlength=len(shares))
        excess = np.where(is_open, demand - left, -np.inf)
        fullest = int(excess.argmax())
        if np.count_nonzero(is_open) == 1 or excess[fullest] <= rounding:
            codes[free] = first
            break
        own = free[first == fullest]
        rival = np.where(np.arange(len(shares)) == fullest, -np.inf, allowed[first == fullest]).max(axis=1)
        own = own[np.argsort(rival - scores[own, fullest], kind="stable")]
        half = 0.5 * weights[own]
        kept = own[np.cumsum(weights[own]) - half <= left[fullest] + rounding]
        codes[kept] = fullest
        is_open[fullest] = False
    return codes


class AskedShares(NamedTuple):
    """Shares of the classes that are asked for, and how sure they are.

    Attributes
    ----------
    shares : array of shape (k,)
        One in sum.
    n_labels : float
        The number of labels that tell the shares as surely if they are counted; infinite for shares that are known.
    """

    shares: np.ndarray
    n_labels: float


def standard_error(share: float, n_labels: float) -> float:
    """The standard error of a share, at most half of it and of its rest, so that no class vanishes."""
    return float(min(np.sqrt(share * (1.0 - share) / n_labels), 0.5 * share, 0.5 * (1.0 - share)))


def labeled_shares(codes: np.ndarray, weights: np.ndarray, n_classes: int) -> AskedShares:
    """The shares of the classes among the labeled samples, by weight; ``codes`` are -1 for the others."""
    labeled = codes >= 0
    total = weights[labeled].sum()
    return AskedShares(np.bincount(codes[labeled], weights[labeled], minlength=n_classes) / total, float(total))


def given_shares(given: Any, classes: np.ndarray) -> np.ndarray:
    """Shares that a user gave: the one of the second of two classes, or a mapping from class to share."""
    if isinstance(given, Mapping):
        return _mapped_shares(given, classes.tolist())
    if not isinstance(given, numbers.Real) or isinstance(given, bool):
        raise ValueError(
            f"balance={given!r} is not allowed; balance takes 'auto', 'labeled', None, the share of {classes[-1]!r} "
            "among the unlabeled samples, or a mapping from class to share."
        )
    if len(classes) > 2:
        raise ValueError(
            f"balance={given!r} is one share and y holds {len(classes)} classes; pass a mapping from class to share."
        )
    share = check_number("balance", given, 0.0, 1.0, closed="both")
    return np.array([1.0 - share, share])


def _mapped_shares(given: Mapping, names: list) -> np.ndarray:
    if set(given) != set(names):
        raise ValueError(
            f"balance names the classes {sorted(given, key=str)} and y holds {names}; give one share for each class."
        )
    values = [check_number(f"balance[{c!r}]", given[c], 0.0, closed="low") for c in names]
    return np.array(values) / check_number("the sum of the shares in balance", sum(values), low=0.0)
