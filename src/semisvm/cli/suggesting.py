"""Which rows to label next, and what that would bring."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..ensemble import ExpectedGain, expected_gain, suggest_labels
from ..tables import InputError
from ..tables.cells import escape_formula
from ..tables.columns import TEXT_KINDS
from .progress import ProgressDisplay
from .training import MethodOptions, TableOptions, TrainingTable, collected_warnings, fit_table, read_target
from .writing import atomic_file, check_output

MAX_CELLS = 4  # of a row that are shown


@dataclass(frozen=True)
class NextRequest:
    """The arguments and options of ``semisvm next``."""

    table: TableOptions
    model: MethodOptions = field(default_factory=MethodOptions)
    n: int = 20
    output: Path | None = None
    force: bool = False


class RowToLabel(NamedTuple):
    """A row that is worth a label: its number in the table, counted from 1 without the header."""

    row: int
    reason: str
    predicted: Any
    confidence: float
    cells: str


@dataclass
class NextResult:
    """Rows to label, the most worthwhile first, and what their labels would bring."""

    training: TrainingTable
    rows: list[RowToLabel]
    gain: ExpectedGain
    output: Path | None = None
    notes: list[str] = field(default_factory=list)


def suggest(request: NextRequest, display: ProgressDisplay) -> NextResult:
    """Fit a model and choose rows by it."""
    source = request.table.source
    output = None if request.output is None else check_output(request.output, source, request.force)
    training = read_target(request.table, display)
    if not len(training.empty):
        raise InputError(f"all rows of {training.target!r} have a label; there is none to suggest.")
    estimator = fit_table(training, request.model, display)
    with collected_warnings(training, display):
        display.begin("choosing rows")
        found = suggest_labels(
            *(estimator, training.X, training.y, request.n), unlabeled=None, random_state=request.model.seed
        )
        positions = np.array([one.position for one in found])
        probabilities = estimator.predict_proba(training.X[positions])
        display.begin("learning curve")
        gain = expected_gain(training.X, training.y, request.n, unlabeled=None, random_state=request.model.seed)
    predicted = estimator.classes_[probabilities.argmax(axis=1)].tolist()
    cells = shown_cells(training, positions)
    rows = [
        RowToLabel(one.position + 1, one.reason, label, float(p.max()), text)
        for one, label, p, text in zip(found, predicted, probabilities, cells)
    ]
    result = NextResult(training, rows, gain, output, training.notes)
    if output is not None:
        display.begin("writing")
        with atomic_file(output, request.force) as file:
            file.write(_as_csv(rows))
    return result


def shown_cells(training: TrainingTable, positions: np.ndarray) -> list[str]:
    """The first cells of some rows that the model uses, text before the others."""
    used = {column.name: column for column in training.columns if column.kind != "ignored"}
    order = sorted(used, key=lambda name: used[name].kind not in TEXT_KINDS)[:MAX_CELLS]
    shown = []
    for name in order:
        raw = training.table.column(training.table.names.index(name)).values
        shown.append([_short(raw[i]) for i in positions])
    return [", ".join(cell for cell in row if cell) for row in zip(*shown)] if shown else [""] * len(positions)


def _short(cell: Any) -> str:
    text = " ".join(cell.split()) if isinstance(cell, str) else "" if cell != cell else f"{cell:g}"
    return text if len(text) <= 60 else text[:57] + "..."


def _as_csv(rows: list[RowToLabel]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(RowToLabel._fields)
    for row in rows:
        writer.writerow([row.row, row.reason, escape_formula(str(row.predicted)), f"{row.confidence:.4f}",
                         escape_formula(row.cells)])  # fmt: skip
    return text.getvalue().encode("utf-8")
