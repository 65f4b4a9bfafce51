"""What a report says about the confidences of the filled rows: medians by class, and how many are low."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LOW_CONFIDENCE = 0.7
N_BINS = 1000


@dataclass
class ConfidenceHistogram:
    """Counts of confidences by class, which are added up over the parts of a table.

    Attributes
    ----------
    counts : dict
        For each class, by its name, the rows in each of 1,000 equal intervals from 0 to 1.
    n_low : int
        Rows below ``LOW_CONFIDENCE``.
    """

    counts: dict[str, np.ndarray] = field(default_factory=dict)
    n_low: int = 0

    @classmethod
    def of(cls, labels: Sequence[Any], confidence: np.ndarray) -> ConfidenceHistogram:
        """Count the confidences of some rows."""
        names = np.array([str(c) for c in labels], dtype=object)
        bins = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
        counts = {c: np.bincount(bins[names == c], minlength=N_BINS) for c in sorted(set(names))}
        return cls(counts, int((confidence < LOW_CONFIDENCE).sum()))

    def add(self, other: ConfidenceHistogram) -> None:
        """Add the rows of another part."""
        for c, counts in other.counts.items():
            self.counts[c] = self.counts.get(c, 0) + counts
        self.n_low += other.n_low

    def summary(self) -> ConfidenceSummary:
        """Medians, exact to the width of an interval."""
        by_class = {c: _median(counts) for c, counts in self.counts.items()}
        total = sum(self.counts.values(), np.zeros(N_BINS, dtype=int))
        return ConfidenceSummary(_median(total), by_class, self.n_low)


@dataclass(frozen=True)
class ConfidenceSummary:
    """The median confidence of all filled rows, of each class by its name, and how many are low."""

    median: float
    by_class: dict[str, float]
    n_low: int

    @classmethod
    def of(cls, labels: Sequence[Any], confidence: np.ndarray) -> ConfidenceSummary:
        """Summarize the confidences of all filled rows."""
        names = np.array([str(c) for c in labels], dtype=object)
        by_class = {c: float(np.median(confidence[names == c])) for c in sorted(set(names))}
        median = float(np.median(confidence)) if len(confidence) else np.nan
        return cls(median, by_class, int((confidence < LOW_CONFIDENCE).sum()))


def _median(counts: np.ndarray) -> float:
    """The middle of the interval in which the median is; NaN of no rows."""
    n = int(counts.sum())
    return (int(np.searchsorted(np.cumsum(counts), (n + 1) // 2)) + 0.5) / N_BINS if n else float("nan")
