"""Read the target of a table in partitions, on a cluster, and recognize its columns in a sample of its rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ..tables.arrow import ArrowTable
from ..tables.files import display_name
from ..tables.partitions import PartitionedTable
from ..tables.reading import find_column
from ..tables.target import Labels, check_classes, read_labels
from . import InputError
from .clusters import run_tasks
from .partition_tasks import read_target_cells, take_rows
from .progress import ProgressDisplay
from .reading_report import reading_lines
from .training import TableOptions, TrainingTable, find_named_columns, make_features

MAX_SAMPLE = 20_000  # labeled rows, and as many others, in which columns are recognized
MAX_CELLS = 10_000  # different ones of a target; more are no classes


@dataclass
class PartitionedTraining(TrainingTable):
    """A table in partitions, of which a sample is at hand.

    ``labels.given`` and ``n_rows`` count all rows; ``table``, ``labels.values``, ``X``, ``y`` and ``empty`` are of the
    sample.

    Attributes
    ----------
    whole : PartitionedTable
        All rows.
    codes : int array of shape (n_rows,)
        Of all rows: the position of the class among the sorted ones, from 1 on, and 0 where there is none.
    by_cell : dict
        The label of each cell of the target, None where it is to be filled.
    """

    whole: PartitionedTable = field(kw_only=True)
    codes: np.ndarray = field(kw_only=True)
    by_cell: dict[Any, Any] = field(kw_only=True)

    @property
    def n_rows(self) -> int:
        """The number of all rows."""
        return self.whole.n_rows

    @property
    def classes(self) -> list[Any]:
        """The classes, sorted."""
        return sorted(self.labels.given)

    def slices(self) -> list[slice]:
        """The rows of each partition."""
        return [slice(a, b) for a, b in zip(self.whole.starts, self.whole.starts[1:])]


def open_table(options: TableOptions) -> tuple[PartitionedTable, int]:
    """The columns of a table and the position of its target, before a cluster has anything to do."""
    if options.encoding is not None:
        raise InputError("a cluster reads Parquet, whose text is always UTF-8; remove --encoding.")
    whole = PartitionedTable.open(options.source)
    columns = whole.without_rows()
    position = find_column(columns, options.target, "--target", display_name(options.source))
    columns.target_cells(position)  # refuses types that are no labels
    find_named_columns(columns, position, options)
    return whole, position


def read_partitions(
    options: TableOptions, whole: PartitionedTable, position: int, client: Any, display: ProgressDisplay
) -> PartitionedTraining:
    """Read the target of all rows."""
    target = whole.schema.names[position]
    found = run_tasks(client, read_target_cells, [(one, target) for one in whole.partitions], "reading", display)
    numbers: dict[Any, int] = {}
    parts = []
    for cells, codes in found:
        places = np.array([numbers.setdefault(cell, len(numbers)) for cell in cells], dtype=np.int32)
        if len(numbers) > MAX_CELLS:
            raise InputError(
                f"the target {target!r} has more than {MAX_CELLS:,} different cells, so they are not classes; choose a "
                "column whose values repeat."
            )
        parts.append(places[codes])
    codes = np.concatenate(parts)
    counts = np.bincount(codes, minlength=len(numbers)).tolist()
    labels = read_labels(list(numbers), options.unlabeled, options.exact_labels, counts)
    by_class = {c: number for number, c in enumerate(sorted(labels.given), start=1)}
    by_number = [0 if label is None else by_class[label] for label in labels.values]
    codes = np.array(by_number, dtype=np.min_scalar_type(-len(by_class) - 1))[codes]
    return PartitionedTraining(
        options,
        whole.without_rows(),
        position,
        Labels([], labels.given),
        notes=labels.notes,
        whole=whole,
        codes=codes,
        by_cell=dict(zip(numbers, labels.values)),
    )


def add_sample(training: PartitionedTraining, seed: int, client: Any, display: ProgressDisplay) -> None:
    """Take some rows, recognize the columns in them and fit their features to them; say what was read."""
    check_classes(training.target, training.labels.given, training.n_rows)
    rows = _choose_rows(training.codes, np.random.default_rng(seed))
    arguments = []
    for partition, here in zip(training.whole.partitions, training.slices()):
        wanted = rows[np.searchsorted(rows, here.start) : np.searchsorted(rows, here.stop)]
        if len(wanted):
            arguments.append((partition, wanted - here.start))
    table = pa.concat_tables(run_tasks(client, take_rows, arguments, "taking a sample", display))
    training.table = ArrowTable(names=table.column_names, n_rows=len(rows), table=table, form="Parquet")
    values = np.array([None, *training.classes], dtype=object)
    training.labels.values = values[training.codes[rows]].tolist()
    display.begin("preparing features")
    make_features(training)
    lines = reading_lines(training)
    if len(rows) < training.n_rows:
        training.n_repeated = None
        lines = [*reading_lines(training), f"the columns were recognized in a sample of {len(rows):,} rows"]
    display.say([*lines, ""])


def _choose_rows(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labeled rows and others, all or a random choice."""
    kept = []
    for group in (np.flatnonzero(codes), np.flatnonzero(codes == 0)):
        few = len(group) <= MAX_SAMPLE
        kept.append(group if few else rng.choice(group, MAX_SAMPLE, replace=False, shuffle=False))
    return np.sort(np.concatenate(kept))
