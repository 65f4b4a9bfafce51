"""Which samples get a label in a round: predictions, candidates, thresholds and quotas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ..balance import class_counts
from .densities import DensityEstimator


class Prediction(NamedTuple):
    """The predicted class of each sample, and the confidence."""

    codes: np.ndarray
    confidence: np.ndarray

    def take(self, index: np.ndarray) -> Prediction:
        """Some of the samples."""
        return Prediction(self.codes[index], self.confidence[index])


def predict_from_scores(scores: np.ndarray, use_margin: bool) -> Prediction:
    """From scores to classes.

    One column is f of two classes, |f| the confidence. Of a column per class the largest wins; the confidence is half
    its margin over the second largest, which for the columns -f and f is |f| again, or the winning probability itself.
    """
    if scores.shape[1] == 1:
        return Prediction((scores[:, 0] > 0).astype(int), np.abs(scores[:, 0]))
    ordered = np.sort(scores, axis=1)
    best, second = ordered[:, -1], ordered[:, -2]
    return Prediction(scores.argmax(axis=1), 0.5 * (best - second) if use_margin else best)


class ClassQuota:
    """How many unlabeled samples of each class there are, and how many of them are still to be labeled.

    Scores are shifted so that the samples not yet labeled divide as the remaining counts do: from the scores of a class
    its (1 - share)-quantile is subtracted. A class whose count is used up gets no more samples.

    Parameters
    ----------
    shares : array of shape (k,)
        Of the classes among the unlabeled samples.
    n_samples : int
        Unlabeled samples.
    """

    def __init__(self, shares: np.ndarray, n_samples: int):
        self.remaining = class_counts(shares, n_samples)

    def shift(self, scores: np.ndarray) -> np.ndarray:
        """Scores of all samples not yet labeled, shifted."""
        share = self.remaining / self.remaining.sum()
        if scores.shape[1] == 1:
            return scores - self._threshold(scores[:, 0], share[1])
        out = np.column_stack([f - self._threshold(f, r) for f, r in zip(scores.T, share)])
        out[:, self.remaining == 0] = -np.inf
        return out

    @staticmethod
    def _threshold(f: np.ndarray, share: float) -> float:
        """Halfway between the last sample above and the first below."""
        order = np.sort(f)[::-1]
        n_above = round(share * len(f))
        if n_above in (0, len(f)):
            return float(order[0] if n_above == 0 else order[-1])
        return 0.5 * float(order[n_above - 1] + order[n_above])

    def within(self, found: Prediction) -> np.ndarray:
        """Positions of the samples that the remaining counts allow, the most confident of each class first."""
        order = np.argsort(-found.confidence, kind="stable")
        kept = [order[found.codes[order] == c][: self.remaining[c]] for c in range(len(self.remaining))]
        return np.sort(np.concatenate(kept))

    def use(self, codes: np.ndarray) -> None:
        """These samples were labeled."""
        self.remaining -= np.bincount(codes, minlength=len(self.remaining))


class Selector(Protocol):
    """Which samples are candidates, and which of them are confident enough."""

    threshold: float

    def candidates(self, samples: np.ndarray) -> np.ndarray:
        """Positions of the candidates among samples without a label."""

    def confident(self, confidence: np.ndarray) -> np.ndarray:
        """Positions of the candidates that are confident enough; the threshold may decrease."""

    def update(self, samples: np.ndarray, codes: np.ndarray) -> None:
        """These samples have these labels from now on."""


@dataclass
class ThresholdSelector:
    """All samples are candidates; those of a confidence above a threshold are taken, ``k_best`` of them at most.

    With a ``decay`` the threshold decreases by it where there are none, and may be met exactly; without, the rounds
    end.
    """

    threshold: float
    decay: float | None = None
    k_best: int | None = None

    def candidates(self, samples: np.ndarray) -> np.ndarray:
        """All samples."""
        return np.arange(len(samples))

    def confident(self, confidence: np.ndarray) -> np.ndarray:
        """Positions of the samples above the threshold."""
        if self.decay is None:
            found = np.flatnonzero(confidence > self.threshold)
        else:
            self.threshold = decay_threshold(self.threshold, self.decay, confidence.max())
            found = np.flatnonzero(confidence >= self.threshold)
        if self.k_best is not None and len(found) > self.k_best:
            found = np.sort(found[np.argsort(-confidence[found], kind="stable")[: self.k_best]])
        return found

    def update(self, samples: np.ndarray, codes: np.ndarray) -> None:
        """Nothing depends on them."""


@dataclass
class DensitySelector:
    """The samples most typical of each class by a density estimate are candidates; a confidence of eps is enough.

    Where there are none eps decreases by ``decay``. Samples are ranked by the density of a class, or with the rank
    "difference" by how far it is above that of any other class.
    """

    densities: DensityEstimator
    counts: np.ndarray  # candidates of each class
    threshold: float  # eps
    decay: float
    rank: str = "difference"

    def candidates(self, samples: np.ndarray) -> np.ndarray:
        """Positions of the samples most typical of each class."""
        found = self.densities.log_densities(samples)
        kept = []
        for c, count in enumerate(self.counts):
            order = np.argsort(-found[:, c], kind="stable") if self.rank == "density" else rank_by_difference(found, c)
            kept.append(order[:count])
        return np.unique(np.concatenate(kept))

    def confident(self, confidence: np.ndarray) -> np.ndarray:
        """Positions of the candidates of a confidence of eps or more."""
        self.threshold = decay_threshold(self.threshold, self.decay, confidence.max())
        return np.flatnonzero(confidence >= self.threshold)

    def update(self, samples: np.ndarray, codes: np.ndarray) -> None:
        """The densities include them."""
        self.densities.add(samples, codes)


def rank_by_difference(log_densities: np.ndarray, c: int) -> np.ndarray:
    """Samples by G_c - max of the others, the largest first, computed from logarithms so that nothing underflows."""
    own = log_densities[:, c]
    other = np.delete(log_densities, c, axis=1).max(axis=1)
    positive = own > other
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.maximum(own, other) + np.log1p(-np.exp(-np.abs(own - other)))  # log |G_c - other|
    size[np.isnan(size)] = -np.inf  # both are zero
    return np.lexsort((np.where(positive, -size, size), ~positive))


def decay_threshold(threshold: float, decay: float, top: float) -> float:
    """The threshold, times decay as often as it takes for ``top`` to reach it."""
    if top >= threshold or top <= 0:
        return min(top, threshold)
    times = max(int(np.log(top / threshold) / np.log(decay)) - 1, 0)  # rounded down, so that it is not too low
    while threshold * decay**times > top:
        times += 1
    return threshold * decay**times
