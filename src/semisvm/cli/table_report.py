"""The page of ``semisvm label``: what the command knows, in the terms of the report."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..ensemble import suggest_labels
from ..report import Card, LabeledTable, RowToCheck, render
from ..report.content import HeldOutError
from ..tables.features import TableFeatures
from ..tables.files import display_name
from ..tables.reading import join_first
from .reading_report import KINDS
from .reporting import rare_class_notes
from .suggesting import shown_cells
from .writing import atomic_file

if TYPE_CHECKING:
    from .labeling import LabelRequest, LabelResult

N_ROWS = 20  # that are worth a look
MAX_NAMES = 30  # of columns that a card lists


def write_report(result: LabelResult, path: Path, request: LabelRequest) -> None:
    """Write the page."""
    with atomic_file(path, request.force) as file:
        file.write(render(labeled_table(result, request)).encode("utf-8"))


def labeled_table(result: LabelResult, request: LabelRequest) -> LabeledTable:
    """What the report shows."""
    training, empty = result.training, result.training.empty
    labels, confidence = training.y, np.ones(training.table.n_rows)
    for i, label in zip(empty.tolist(), result.labels):
        labels[i] = label
    confidence[empty] = result.confidence
    evaluation = result.evaluation
    features = training.features
    return LabeledTable(
        title=display_name(training.options.source),
        target=training.target,
        X=training.X,
        y=training.y,
        labels=labels,
        confidence=confidence,
        estimator=result.estimator,
        feature_names=features.names() if isinstance(features, TableFeatures) else _numbered(training.X.shape[1]),
        errors=[HeldOutError(one.name, one.error, *one.interval) for one in evaluation.estimates] if evaluation else [],
        conclusion=evaluation.conclusion if evaluation else "",
        rows=_rows_to_check(result, labels, confidence, request.model.seed),
        cards=[_data_card(result), _model_card(result, request)],
        notes=[*training.notes, *rare_class_notes(result)],
    )


def _numbered(n_features: int) -> list[str]:
    return [f"feature {j + 1}" for j in range(n_features)]


def _rows_to_check(result: LabelResult, labels: np.ndarray, confidence: np.ndarray, seed: int) -> list[RowToCheck]:
    training = result.training
    found = suggest_labels(result.estimator, training.X, training.y, N_ROWS, unlabeled=None, random_state=seed)
    positions = np.array([one.position for one in found])
    cells = shown_cells(training, positions)
    return [
        RowToCheck(one.position + 1, str(labels[one.position]), float(confidence[one.position]), one.reason, text)
        for one, text in zip(found, cells)
    ]


def _data_card(result: LabelResult) -> Card:
    training = result.training
    items = [
        ("file", display_name(training.options.source)),
        ("rows", f"{training.table.n_rows:,}"),
        ("labels", f"{training.labels.given.total():,} in {len(training.labels.given):,} classes"),
        ("rows that repeat another", f"{training.n_repeated:,}"),
        ("features", f"{training.X.shape[1]:,}"),
    ]
    names: dict[str, list[str]] = {}
    for column in training.columns:
        shown = f"{column.name} ({column.reason})" if column.reason else column.name
        names.setdefault(KINDS[column.kind], []).append(shown)
    return Card("Data", items + [(kind, join_first(found, MAX_NAMES)) for kind, found in names.items()])


def _model_card(result: LabelResult, request: LabelRequest) -> Card:
    estimator = result.estimator
    items: list[tuple[str, Any]] = [("method", type(estimator).__name__), ("seed", request.model.seed)]
    if request.model.balance is not None:
        items.append(("balance", request.model.balance))
    if hasattr(estimator, "report_"):
        report = estimator.report_
        items += [("supervised model", report.supervised), ("weight of the average", f"{report.average_weight:.2f}")]
        items += [(f"weight {one.weight:.2f}", one.name) for one in report.separators[:8]]
    else:
        parameters = estimator.get_params(deep=False)
        items += [(name, value) for name, value in parameters.items() if name not in ("unlabeled", "verbose")]
    items += [("semisvm", __version__), ("Python", platform.python_version())]
    return Card("Model", [(name, str(value)) for name, value in items])
