"""What a fit keeps of its rounds: attributes, labels of all samples, and warnings."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._validation import TrainingSet, warn_user
from ..estimators._shares import compare_shares, impose_shares, warn_if_one_class
from .rounds import Labeling

EARLY = {"max_time": "max_time={} reached", "interrupted": "the fit was interrupted"}


def copy_labelings(estimator: Any, labelings: list[Labeling], models: list[Any]) -> None:
    """Set the attributes of the rounds: lists and columns where every class has rounds of its own."""
    for name in ("estimator_", "estimators_"):
        estimator.__dict__.pop(name, None)
    estimator._columns_ = [labeling.codes for labeling in labelings]
    if len(labelings) > 1:
        estimator.estimators_ = models
        estimator.labeled_iter_ = np.column_stack([labeling.iteration for labeling in labelings])
        estimator.confidence_ = np.column_stack([labeling.confidence for labeling in labelings])
        estimator.n_iter_ = np.array([len(labeling.trace) + 1 for labeling in labelings])
        estimator.trace_ = [labeling.trace for labeling in labelings]
        estimator.termination_condition_ = [labeling.status for labeling in labelings]
        return
    one = labelings[0]
    estimator.estimator_ = models[0]
    estimator.labeled_iter_, estimator.confidence_ = one.iteration, one.confidence
    estimator.n_iter_, estimator.trace_, estimator.termination_condition_ = len(one.trace) + 1, one.trace, one.status


def warn_of_ends(estimator: Any, labelings: list[Labeling]) -> None:
    """Warn of an early end, and of rounds without a label."""
    early = [labeling for labeling in labelings if labeling.status in EARLY]
    if early:
        reason = EARLY[early[0].status].format(estimator.max_time)
        n_left = max(int((labeling.codes < 0).sum()) for labeling in early)
        warn_user(
            f"{type(estimator).__name__}: {reason}, {n_left} samples had no label yet; the model of the others is "
            f"usable.",
            ConvergenceWarning,
        )
    if all(labeling.status == "no_change" and not labeling.trace for labeling in labelings):
        warn_user(
            f"{type(estimator).__name__}: no unlabeled sample was above threshold={estimator._threshold:g}, so this is "
            "the supervised model. Lower threshold, or pass threshold_decay."
        )


def fill_labels(estimator: Any, data: TrainingSet, asked: np.ndarray | None) -> None:
    """``transduction_``: given labels, then those of the rounds, then predictions; and ``share_`` of the classes.

    ``asked`` are the shares that the balance asks for.
    """
    codes = data.labels.codes.copy() if hasattr(estimator, "estimators_") else estimator._columns_[0].copy()
    rest = np.flatnonzero(codes < 0)
    if len(rest):
        codes[rest] = estimator._winner(data.X[rest])
        if asked is not None and not isinstance(estimator.balance, str):
            _keep_given_shares(estimator, codes, rest[data.weights[rest] > 0], asked, data)
    estimator.transduction_ = data.labels_of(codes)
    found = codes[data.kept[data.labels.codes[data.kept] < 0]]
    estimator.share_ = compare_shares(asked, found, data)
    warn_if_one_class(estimator, asked, found, data)


def _keep_given_shares(
    estimator: Any, codes: np.ndarray, rest: np.ndarray, asked: np.ndarray, data: TrainingSet
) -> None:
    """Change the classes of the samples that the rounds left, until the unlabeled ones have the shares given."""
    if not len(rest):
        return
    unlabeled = data.labels.codes < 0
    in_rounds = np.setdiff1d(np.flatnonzero(unlabeled), rest)
    taken = np.bincount(codes[in_rounds], data.weights[in_rounds], minlength=len(asked))
    missing = np.maximum(asked * data.weights[unlabeled].sum() - taken, 0.0)
    scores = estimator._scores(data.X[rest]).reshape(len(rest), -1)
    codes[rest] = impose_shares(codes[rest], scores, data.weights[rest], missing / missing.sum(), 0.0)
