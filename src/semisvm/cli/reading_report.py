"""What was read of a table, as the first lines of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..tables.files import display_name
from ..tables.reading import join_first

if TYPE_CHECKING:
    from .training import TrainingTable

MAX_COLUMNS = 8  # that a report lists per kind
KINDS = {
    "number": "numbers",
    "boolean": "booleans",
    "date": "dates",
    "category": "categories",
    "string": "strings",
    "text": "text",
    "characters": "text",
    "text with characters": "text",
    "ignored": "ignored",
}


def reading_lines(training: TrainingTable) -> list[str]:
    """Rows, labels, duplicates, and the columns by kind."""
    given, n_rows = training.labels.given, training.n_rows
    n_unlabeled = n_rows - given.total()
    lines = [
        f"{display_name(training.options.source)}: {n_rows:,} rows, {given.total():,} with a label of "
        f"{training.target} in {len(given):,} classes, {n_unlabeled:,} without"
    ]
    if training.n_repeated:
        lines += [f"{training.n_repeated:,} rows repeat the features of another one"]
    return [*lines, *_columns_by_kind(training)]


def _columns_by_kind(training: TrainingTable) -> list[str]:
    names: dict[str, list[str]] = {}
    for column in training.columns:
        name = column.name or "(no name)"
        names.setdefault(KINDS[column.kind], []).append(f"{name} ({column.reason})" if column.reason else name)
    kinds = [kind for kind in dict.fromkeys(KINDS.values()) if kind in names]
    return [f"  {kind:10s}  {join_first(names[kind], MAX_COLUMNS)}" for kind in kinds]
