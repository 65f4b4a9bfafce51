"""What the report of a labeled table is made of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

MAX_SAMPLE = 5000  # rows with a label, and rows without one, that pictures show


class Card(NamedTuple):
    """A table of names and values, such as that of the model or of the data."""

    title: str
    items: list[tuple[str, str]]


class RowToCheck(NamedTuple):
    """A row that is worth a look."""

    number: int  # counted from 1 below the header
    label: str
    confidence: float
    reason: str
    cells: str


class HeldOutError(NamedTuple):
    """The held-out error of a model, with an interval."""

    name: str
    error: float
    low: float
    high: float


@dataclass
class LabeledTable:
    """A table, its features, and the model that filled in its labels.

    Attributes
    ----------
    title, target : str
        The names of the file and of the target.
    X : array or CSR of shape (n, n_features)
        The features.
    y : object array of shape (n,)
        Labels as they were given, None where there was none.
    labels : object array of shape (n,)
        Labels, with those that were filled in.
    confidence : array of shape (n,)
        Confidences, 1 for labels that were given.
    estimator : classifier
        The fitted model.
    feature_names : list of str
        What the features are, empty for those that nobody could read.
    errors : list of HeldOutError
        The held-out errors, the best first.
    conclusion : str
        Whether the unlabeled rows helped.
    rows : list of RowToCheck
        Rows that are worth a look.
    cards : list of Card
        The model and the data.
    notes : list of str
        What else the user should know.
    """

    title: str
    target: str
    X: Any
    y: np.ndarray
    labels: np.ndarray
    confidence: np.ndarray
    estimator: Any
    feature_names: list[str]
    errors: list[HeldOutError] = field(default_factory=list)
    conclusion: str = ""
    rows: list[RowToCheck] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def is_given(self) -> np.ndarray:
        """Which rows had a label."""
        return np.array([value is not None for value in self.y])

    @cached_property
    def classes(self) -> list[Any]:
        """The classes, the most frequent first."""
        return [c for c, _ in Counter(self.labels.tolist()).most_common()]

    @cached_property
    def sample(self) -> np.ndarray:
        """The rows that pictures show: all, or of many those with a label and some others, at random."""
        rng = np.random.default_rng(0)
        parts = [np.flatnonzero(self.is_given), np.flatnonzero(~self.is_given)]
        return np.sort(np.concatenate([
            rng.choice(part, MAX_SAMPLE, replace=False) if len(part) > MAX_SAMPLE else part for part in parts
        ]))  # fmt: skip

    @cached_property
    def scores(self) -> dict[Any, np.ndarray]:
        """The scores of the sample by class; of two classes that of the second."""
        known = getattr(self.estimator, "training_scores_", None)
        if known is None or not np.isfinite(known).all():
            scores = self.estimator.decision_function(self.X[self.sample])
        else:
            scores = known[self.sample]
        classes = self.estimator.classes_.tolist()
        return {classes[1]: scores} if scores.ndim == 1 else dict(zip(classes, scores.T))

    def counts(self, given: bool) -> dict[Any, int]:
        """Rows by class, of those with a label or of those that were filled."""
        found = Counter(self.labels[self.is_given == given].tolist())
        return {c: found[c] for c in self.classes}
