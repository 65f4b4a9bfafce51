"""Class shares of the unlabeled samples: those asked for, those reached, and warnings where they differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._validation import TrainingSet, warn_user
from ..balance import AskedShares, ClassShares, Count, class_counts, codes_by_share, labels_by_sign, standard_error
from ..model_selection.shares import ShareEstimator, decide_shares

FAR = 3.0  # standard errors beyond which a share that no count condition keeps is warned of
UNLIKELY = 1e-3  # probability of one class for all samples, by the labeled shares


def asked_shares(balance: Any, data: TrainingSet) -> np.ndarray | None:
    """The shares that the parameter ``balance`` asks for; None where it asks for none."""
    if balance is None:
        return None
    X, codes, weights = data.take(data.kept), data.labels.codes[data.kept], data.weights[data.kept]
    estimator = ShareEstimator(X, codes >= 0, weights, data.precomputed)
    return decide_shares(balance, data.labels.classes, codes, weights, estimator).shares


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


def warn_if_one_class(estimator: Any, asked: np.ndarray | None, codes: np.ndarray, data: TrainingSet) -> bool:
    """Warn where all unlabeled samples, of which ``codes`` are the classes, end in one class, and say whether.

    That is against the balance, or without one unlikely by the shares of the labeled samples.
    """
    if not len(codes) or np.any(codes != codes[0]):
        return False
    only, advice = data.labels.classes.tolist()[codes[0]], ""
    if asked is None:
        labeled = data.labels.codes >= 0
        share = np.average(data.labels.codes[labeled] == codes[0], weights=data.weights[labeled])
        if share ** len(codes) >= UNLIKELY:
            return False
        reason, advice = f"of which {share:.3g} of the labeled samples are", "pass balance='auto', "
    else:
        if np.count_nonzero(class_counts(asked, len(codes))) < 2:
            return False
        reason = f"for which balance={estimator.balance!r} asks a share of {asked[codes[0]]:.3g}"
    warn_user(
        f"{type(estimator).__name__}: the model puts all {len(codes)} unlabeled samples into the class {only!r}, "
        f"{reason}. Try a smaller gamma (a wider kernel), another C or another balance, {advice}or use the supervised "
        "model, supervised_."
    )
    return True


def warn_if_far(
    estimator: Any, asked: AskedShares, tolerance: Callable[[float], float], codes: np.ndarray, data: TrainingSet
) -> None:
    """Warn where the unlabeled samples, of which ``codes`` are the classes, miss a share by more than a tolerance.

    ``tolerance`` is how far a share may be off; whole samples and ``FAR`` standard errors of the share always may.
    """
    weights = data.weights[data.kept][data.labels.codes[data.kept] < 0]
    reached = np.bincount(codes, weights, minlength=len(asked.shares)) / weights.sum()
    error = np.array([standard_error(share, asked.n_labels) for share in asked.shares.tolist()])
    allowed = np.maximum([tolerance(share) for share in asked.shares.tolist()], FAR * error)
    excess = np.abs(reached - asked.shares) - allowed - weights.max() / weights.sum()
    worst = int(excess.argmax())
    if excess[worst] > 0:
        name = data.labels.classes.tolist()[worst]
        warn_user(
            f"{type(estimator).__name__}: {reached[worst]:.3g} of the unlabeled samples are in the class {name!r}, and "
            f"balance={estimator.balance!r} asks for {asked.shares[worst]:.3g} +- {allowed[worst]:.2g}. Pass the share "
            "if you know it, or use another method (SwitchingTSVM and MultiSwitchTSVM keep a share) or the supervised "
            "model, supervised_."
        )
