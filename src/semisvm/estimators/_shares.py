"""Class shares of the unlabeled samples: those asked for, those reached, and the warning where one class took all."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import TrainingSet, warn_user
from ..balance import ClassShares, Count, class_counts, class_shares, codes_by_share, labels_by_sign


def asked_shares(balance: Any, data: TrainingSet) -> np.ndarray | None:
    """The shares that the parameter ``balance`` asks for; None where it asks for none."""
    return None if balance is None else class_shares(balance, *data.labels, data.weights)


def compare_shares(asked: np.ndarray | None, codes: np.ndarray, data: TrainingSet) -> ClassShares:
    """Shares asked for and reached, by weight; ``codes`` are the classes found for the unlabeled samples of the fit."""
    classes = data.labels.classes.tolist()
    asked_for = None if asked is None else dict(zip(classes, asked.tolist()))
    if not len(codes):
        return ClassShares(asked_for, None)
    weights = data.weights[data.kept][data.labels.codes[data.kept] < 0]
    reached = np.bincount(codes, weights, minlength=len(classes)) / weights.sum()
    return ClassShares(asked_for, dict(zip(classes, reached.tolist())))


def impose_shares(
    found: np.ndarray, scores: np.ndarray, weights: np.ndarray, shares: np.ndarray, slack: float
) -> np.ndarray:
    """Classes of the unlabeled samples that keep given shares up to ``slack``, by thresholds on their scores.

    Parameters
    ----------
    found : int array of shape (n,)
        Positions of the classes by the scores; they stay if they keep the shares as well as whole samples can.
    scores : array of shape (n, k) or (n, 1)
        A column per class, or f of two classes.
    weights, shares : arrays of shape (n,) and (k,)
        Weights of the samples, shares of the classes.
    slack : float
        How far a share may be off.
    """
    if len(shares) == 2:
        return (labels_by_sign(scores[:, 0], weights, Count(float(shares[1]), slack)) > 0).astype(int)
    total = weights.sum()
    reached = np.bincount(found, weights, minlength=len(shares)) / total
    if np.all(np.abs(reached - shares) < max(slack, weights.max() / total)) and not reached[shares == 0].any():
        return found
    return codes_by_share(scores, weights, shares)


def warn_if_one_class(estimator: Any, asked: np.ndarray | None, codes: np.ndarray, classes: np.ndarray) -> None:
    """Warn where all unlabeled samples, of which ``codes`` are the classes, end in one class against the balance."""
    if asked is None or len(np.unique(codes)) != 1 or np.count_nonzero(class_counts(asked, len(codes))) < 2:
        return
    only = classes.tolist()[codes[0]]
    warn_user(
        f"{type(estimator).__name__}: the model puts all {len(codes)} unlabeled samples into the class {only!r}, for "
        f"which balance={estimator.balance!r} asks a share of {asked[codes[0]]:.3g}. Try a smaller gamma (a wider "
        "kernel), another C or another balance, or use the supervised model, supervised_."
    )
