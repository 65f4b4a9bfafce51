"""Who gets a label in a round: what a machine says of rows, who is looked at, who is sure enough, who has room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..densities import Helper


class Verdict(NamedTuple):
    """The class that a machine gives to rows, and how sure it is of each."""

    codes: np.ndarray
    confidence: np.ndarray

    def take(self, index) -> Verdict:
        """Some of the rows."""
        return Verdict(self.codes[index], self.confidence[index])


def verdict(scores: np.ndarray, lead: bool) -> Verdict:
    """From scores to classes.

    One column is f of two classes, |f| the confidence. Of a column per class the largest wins; the confidence is half
    its ``lead`` over the next, which for the columns -f and f is |f| again, or the winning probability itself.
    """
    if scores.shape[1] == 1:
        return Verdict((scores[:, 0] > 0).astype(int), np.abs(scores[:, 0]))
    winner = scores.argmax(axis=1)
    best = scores[np.arange(len(scores)), winner]
    if not lead:
        return Verdict(winner, best)
    others = scores.copy()
    others[np.arange(len(scores)), winner] = -np.inf
    return Verdict(winner, 0.5 * (best - others.max(axis=1)))


class Room:
    """How many rows of each class there are among the unlabeled ones, and how many of them were found.

    Scores are moved so that the rows still open divide as what is left of the classes does: from the scores of a class
    its (1 - share)-quantile is taken. A class without room gets no row.

    Parameters
    ----------
    shares : array of shape (k,)
        Of the classes among the unlabeled rows.
    count : int
        Unlabeled rows.
    """

    def __init__(self, shares: np.ndarray, count: int):
        self.left = np.floor(shares * count).astype(int)
        rest = np.argsort(self.left - shares * count, kind="stable")
        self.left[rest[: count - self.left.sum()]] += 1

    def moved(self, scores: np.ndarray) -> np.ndarray:
        """Scores of all open rows, moved."""
        share = self.left / self.left.sum()
        if scores.shape[1] == 1:
            return scores - self._threshold(scores[:, 0], share[1])
        out = np.column_stack([f - self._threshold(f, r) for f, r in zip(scores.T, share)])
        out[:, self.left == 0] = -np.inf
        return out

    @staticmethod
    def _threshold(f: np.ndarray, share: float) -> float:
        """Half way between the last row above and the first below."""
        order = np.sort(f)[::-1]
        above = round(share * len(f))
        if above in (0, len(f)):
            return float(order[0] if above == 0 else order[-1])
        return 0.5 * float(order[above - 1] + order[above])

    def fitting(self, found: Verdict) -> np.ndarray:
        """Positions of the rows that there is room for, the surest first."""
        order = np.argsort(-found.confidence, kind="stable")
        kept = [order[found.codes[order] == c][: self.left[c]] for c in range(len(self.left))]
        return np.sort(np.concatenate(kept))

    def take(self, codes: np.ndarray) -> None:
        """These rows were labeled."""
        self.left -= np.bincount(codes, minlength=len(self.left))


@dataclass
class Confident:
    """Looks at all rows, and takes those of a confidence above a threshold, the ``most`` surest of them at most.

    With a ``decay`` the threshold falls by it where there are none, and may be met exactly; without, the rounds end.
    """

    threshold: float
    decay: float | None = None
    most: int | None = None

    def candidates(self, rows: np.ndarray) -> np.ndarray:
        """Positions of the rows that are looked at."""
        return np.arange(len(rows))

    def sure(self, confidence: np.ndarray) -> np.ndarray:
        """Positions of those that are sure enough."""
        if self.decay is None:
            found = np.flatnonzero(confidence > self.threshold)
        else:
            if confidence.max() < self.threshold:
                self.threshold = lowered(self.threshold, self.decay, confidence.max())
            found = np.flatnonzero(confidence >= self.threshold)
        if self.most is not None and len(found) > self.most:
            found = np.sort(found[np.argsort(-confidence[found], kind="stable")[: self.most]])
        return found

    def learn(self, rows: np.ndarray, codes: np.ndarray) -> None:
        """Nobody helps."""


@dataclass
class Helped:
    """Looks at the rows that a helper finds most typical of each class, and takes those of a confidence of eps or more.

    Where there are none eps falls by ``decay``.

    Attributes
    ----------
    helper : Helper
        Densities of the classes.
    counts : int array of shape (k,)
        Candidates of each class.
    threshold, decay : float
        eps and its factor.
    rank : {"density", "lead"}
        Whether rows are ranked by the density of a class, or by how far it is above that of any other.
    """

    helper: Helper
    counts: np.ndarray
    threshold: float
    decay: float
    rank: str = "density"

    def candidates(self, rows: np.ndarray) -> np.ndarray:
        """Positions of the rows that are looked at."""
        found = self.helper.log_densities(rows)
        kept = []
        for c, count in enumerate(self.counts):
            order = np.argsort(-found[:, c], kind="stable") if self.rank == "density" else by_lead(found, c)
            kept.append(order[:count])
        return np.unique(np.concatenate(kept))

    def sure(self, confidence: np.ndarray) -> np.ndarray:
        """Positions of those that are sure enough."""
        if confidence.max() < self.threshold:
            self.threshold = lowered(self.threshold, self.decay, confidence.max())
        return np.flatnonzero(confidence >= self.threshold)

    def learn(self, rows: np.ndarray, codes: np.ndarray) -> None:
        """Tell the helper."""
        self.helper.add(rows, codes)


def by_lead(log_densities: np.ndarray, c: int) -> np.ndarray:
    """Rows by G_c - max of the others, the largest first, computed from logarithms so that nothing underflows."""
    own = log_densities[:, c]
    other = np.delete(log_densities, c, axis=1).max(axis=1)
    ahead = own > other
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.maximum(own, other) + np.log1p(-np.exp(-np.abs(own - other)))  # log |G_c - other|
    size[np.isnan(size)] = -np.inf  # both are zero
    return np.lexsort((np.where(ahead, -size, size), ~ahead))


def lowered(threshold: float, decay: float, top: float) -> float:
    """The threshold times decay, as often as it takes for ``top`` to reach it."""
    if top <= 0:
        return top
    times = max(int(np.log(top / threshold) / np.log(decay)) - 1, 0)  # rounded down, so that it is not too low
    while threshold * decay**times > top:
        times += 1
    return threshold * decay**times
