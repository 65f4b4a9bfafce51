"""Labeling in rounds.

A round: train on the samples labeled so far; some of the others are candidates; those that the model is confident about
get the class that it predicts, and are labeled samples from then on. No sample gets a label twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..solvers import StoppingRule
from .learners import Learner
from .selection import ClassQuota, Prediction, Selector, predict_from_scores


@dataclass
class Labeling:
    """The result of the rounds, with an entry per sample in each array."""

    codes: np.ndarray  # class, -1 where there is none
    iteration: np.ndarray  # round in which a sample got its label, 0 for given labels, -1 where there is none
    confidence: np.ndarray  # of the model in that round; NaN for given labels and where there is none
    status: str  # "all_labeled", "no_change", "max_iter", "max_time", "stopped" or "interrupted"
    trace: list[dict[str, Any]]  # a row per round

    @classmethod
    def of_given(cls, codes: np.ndarray) -> Labeling:
        """The labeling before the first round."""
        return cls(codes.copy(), np.where(codes >= 0, 0, -1), np.full(len(codes), np.nan), "all_labeled", [])


def label_in_rounds(
    learner: Learner,
    selector: Selector,
    codes: np.ndarray,
    present: np.ndarray,
    quota: ClassQuota | None,
    stop: StoppingRule,
) -> Labeling:
    """Label samples round by round.

    Parameters
    ----------
    learner : Learner
        Trained on the samples labeled so far.
    selector : Selector
        Which samples are candidates, and which are confident enough.
    codes : int array of shape (n,)
        Given classes, -1 where there is none.
    present : bool array of shape (n,)
        Samples that are part of the fit.
    quota : ClassQuota or None
        How many samples of each class there are; None for any number.
    stop : StoppingRule
        What ends the rounds early; a round is an iteration.
    """
    result = Labeling.of_given(codes)
    unlabeled, new = np.flatnonzero(present & (codes < 0)), np.flatnonzero(present & (codes >= 0))
    has_model = False
    row: dict[str, Any] | None = None
    with stop:
        while True:
            selector.update(new, result.codes[new])
            learner.add(new, result.codes[new])
            has_model = True
            _check(stop, learner, row, len(unlabeled))
            if not stop.running:
                break
            positions, found = _select(learner, selector, quota, unlabeled)
            if not len(positions):
                stop.end("no_change")
                break
            new = unlabeled[positions]
            unlabeled = np.delete(unlabeled, positions)
            row = {"step": len(stop.trace) + 1, "labeled": len(new), "left": len(unlabeled)}
            row |= {"threshold": float(selector.threshold), "confidence": float(found.confidence.mean())}
            row |= learner.details()
            result.iteration[new] = row["step"]
            result.codes[new], result.confidence[new] = found.codes, found.confidence
    if stop.interrupted and not has_model:
        raise KeyboardInterrupt
    untrained = result.iteration > len(stop.trace)  # a round is logged once the learner was trained with its samples
    result.codes[untrained], result.iteration[untrained], result.confidence[untrained] = -1, -1, np.nan
    result.status = "all_labeled" if stop.status == "converged" else str(stop.status)
    result.trace = stop.trace
    return result


def _check(stop: StoppingRule, learner: Learner, row: dict[str, Any] | None, n_unlabeled: int) -> None:
    """Log the last round, and decide whether another one begins."""
    if learner.interrupted:
        stop.end("interrupted")
    if row is not None:
        stop.log_iteration(row, converged=n_unlabeled == 0)
    elif n_unlabeled == 0:
        stop.end("converged")
    elif stop.max_iter <= 0:
        stop.end("max_iter")
    elif stop.time_is_over:
        stop.end("max_time")


def _select(
    learner: Learner, selector: Selector, quota: ClassQuota | None, samples: np.ndarray
) -> tuple[np.ndarray, Prediction]:
    """Positions in ``samples`` of those that get a label now, and their predictions."""
    if quota is not None and np.count_nonzero(quota.remaining) == 1:  # all others belong to one class
        c = int(np.flatnonzero(quota.remaining)[0])
        scores = learner.scores(samples)
        own = (2 * c - 1) * scores[:, 0] if scores.shape[1] == 1 else scores[:, c]
        return np.arange(len(samples)), Prediction(np.full(len(samples), c), own)
    candidates = selector.candidates(samples)
    if quota is None:
        scores = learner.scores(samples[candidates])
    else:
        scores = quota.shift(learner.scores(samples))[candidates]
    found = predict_from_scores(scores, learner.use_margin)
    confident = selector.confident(found.confidence)
    if quota is not None and len(confident):
        confident = confident[quota.within(found.take(confident))]
        quota.use(found.codes[confident])
    return candidates[confident], found.take(confident)
