"""What workers do with one partition of a table: read its target, take rows of it, make features, fill and write it."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..parallel.prediction import labels_by_threshold
from ..tables.arrow import ArrowTable
from ..tables.columns import RawColumn
from ..tables.features import TableFeatures
from ..tables.partitions import Partition
from .confidence import ConfidenceHistogram
from .training import probability_of
from .writing import atomic_file

BY_SAMPLE = ("transduction_", "training_scores_", "support_", "dual_coef_", "_labeled_", "_supervised_")


def read_target_cells(partition: Partition, target: str) -> tuple[list[Any], np.ndarray]:
    """The cells of the target that differ, and for each row the number of its cell."""
    cells, codes = partition.read([target]).distinct_target_cells(0)
    return cells, codes.astype(np.min_scalar_type(max(len(cells) - 1, 0)))


def take_rows(partition: Partition, rows: np.ndarray) -> pa.Table:
    """Some rows."""
    return partition.read().table.take(rows)


def read_features(partition: Partition, features: TableFeatures) -> Any:
    """X of the rows."""
    return transform(partition.read([column.name for column in features.columns]), features)[0]


def transform(table: ArrowTable, features: TableFeatures) -> tuple[Any, list[int]]:
    """X of a part of a table, and for each column the number of cells that are not of its kind."""
    values, n_unread = [], []
    for column in features.columns:
        raw: RawColumn = table.column(table.names.index(column.name))
        raw = raw.as_numbers() if column.kind == "number" else raw
        values.append(column.values(raw))
        n_unread.append(column.n_unread(raw))
    return features.transform(values), n_unread


def without_samples(estimator: Any, has_probabilities: bool = True) -> Any:
    """A linear model as predictions need it, without what it holds of the samples of its fit."""
    predictor = copy.copy(estimator)
    for name in BY_SAMPLE if has_probabilities else (*BY_SAMPLE, "_slope_"):
        vars(predictor).pop(name, None)
    return predictor


@dataclass
class PartitionCounts:
    """What was filled in and written of one partition, or of several."""

    filled: Counter = field(default_factory=Counter)
    confidences: ConfidenceHistogram = field(default_factory=ConfidenceHistogram)
    n_unread: Counter = field(default_factory=Counter)  # cells that are not of the kind of their column, by its name
    n_different: int = 0  # labels that the supervised model predicts differently

    def add(self, other: PartitionCounts) -> None:
        """Add those of another partition."""
        self.filled += other.filled
        self.confidences.add(other.confidences)
        self.n_unread += other.n_unread
        self.n_different += other.n_different


@dataclass(frozen=True)
class PartitionWriter:
    """Fills the target of a partition and writes it to a file.

    Attributes
    ----------
    target, name : str
        The column to fill, and the new one of confidences.
    labels : dict
        The label of each cell of the target, None where it is to be filled.
    classes : list
        The labels behind the classes 1, 2, ... of the models.
    features, model, supervised : TableFeatures or None, estimator or None, estimator or None
        What predicts the labels; None where no cell is to be filled.
    """

    target: str
    name: str
    labels: dict[Any, Any]
    classes: list[Any]
    features: TableFeatures | None = None
    model: Any = None
    supervised: Any = None

    def write(self, partition: Partition, codes: np.ndarray | None, path: str) -> PartitionCounts:
        """Write the rows with their labels; ``codes`` are those that the fit has found for them, if it kept them."""
        table = partition.read()
        position = table.names.index(self.target)
        empty = np.flatnonzero([self.labels[cell] is None for cell in table.target_cells(position)])
        filled: list[Any] = [None] * table.n_rows
        confidence, counts = np.ones(table.n_rows), PartitionCounts()
        if len(empty):
            found, confidence[empty], counts = self._predict(table, empty, codes)
            for i, label in zip(empty.tolist(), found):
                filled[i] = label
        with atomic_file(Path(path), force=True) as file:
            table.write(file, position, filled, self.name, confidence.tolist())
        return counts

    def _predict(
        self, table: ArrowTable, empty: np.ndarray, codes: np.ndarray | None
    ) -> tuple[list[Any], np.ndarray, PartitionCounts]:
        assert self.features is not None
        X, unread = transform(table, self.features)
        X = X[empty]
        found = labels_by_threshold(self.model, X) if codes is None else codes[empty]
        confidence = probability_of(self.model, self.model.predict_proba(X), found)
        different = 0 if self.supervised is None else int((self.supervised.predict(X) != found).sum())
        labels = [self.classes[code - 1] for code in found.tolist()]
        n_unread = Counter({c.name: n for c, n in zip(self.features.columns, unread) if n})
        counts = PartitionCounts(Counter(labels), ConfidenceHistogram.of(labels, confidence), n_unread, different)
        return labels, confidence, counts


def write_partition(
    partition: Partition, codes: np.ndarray | None, path: str, writer: PartitionWriter
) -> PartitionCounts:
    """Fill and write one partition."""
    return writer.write(partition, codes, path)
