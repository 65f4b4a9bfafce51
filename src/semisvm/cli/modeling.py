"""Keep a model of a table, and use it on another table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..tables.cells import spelling_key
from ..tables.files import display_name
from ..tables.model import TableModel, load_model, save_model
from ..tables.reading import check_input, read_table
from ..tables.target import read_labels, unused_name
from .evaluation import Evaluation, evaluate
from .methods import find_method, short_name
from .progress import ProgressDisplay
from .training import MethodOptions, TableOptions, TrainingTable, fit_table, in_blocks, probability_of, read_target
from .writing import atomic_file, check_output, default_output, output_path

MODEL_SUFFIX = ".skops"


@dataclass(frozen=True)
class FitRequest:
    """The arguments and options of ``semisvm fit``."""

    table: TableOptions
    model: MethodOptions = field(default_factory=MethodOptions)
    output: Path | None = None
    force: bool = False


@dataclass
class FitResult:
    """The model that was written, and what it was fitted to."""

    output: Path
    training: TrainingTable
    estimator: Any
    evaluation: Evaluation | None
    notes: list[str]


def fit(request: FitRequest, display: ProgressDisplay) -> FitResult:
    """Fit a model to a table and write it to a file."""
    find_method(request.model.method)
    source = request.table.source
    named = request.output or default_output(source, f".model{MODEL_SUFFIX}")
    output = check_output(named, source, request.force)
    training = read_target(request.table, display)
    estimator = fit_table(training, request.model, display)
    evaluation = evaluate(training, estimator, display)
    display.begin("writing")
    assert training.features is not None
    model = TableModel(training.target, training.features, estimator, training_summary(training, estimator, evaluation))
    with atomic_file(output, request.force) as file:
        file.write(save_model(model))
    return FitResult(output, training, estimator, evaluation, training.notes)


def training_summary(training: TrainingTable, estimator: Any, evaluation: Evaluation | None) -> dict[str, Any]:
    """What a model file says about its training, in plain Python objects."""
    estimates = evaluation.estimates if evaluation else []
    return {
        "semisvm": __version__,
        "source": display_name(training.options.source),
        "rows": training.table.n_rows,
        "labels": {str(c): n for c, n in training.labels.given.items()},
        "method": short_name(type(estimator).__name__),
        "held_out_errors": {one.name: float(one.error) for one in estimates},
        "conclusion": evaluation.conclusion if evaluation else "",
        "ignored": [column.name for column in training.columns if column.kind == "ignored"],
    }


@dataclass(frozen=True)
class PredictRequest:
    """The arguments and options of ``semisvm predict``."""

    model: Path
    source: Path
    output: Path | None = None
    encoding: str | None = None
    force: bool = False
    raw: bool = False


@dataclass
class PredictResult:
    """The labels of a table."""

    output: Path
    source: Path
    model: TableModel
    labels: list[Any]
    confidence: np.ndarray
    column: str  # of the labels
    n_known: int = 0  # rows whose label the table has
    n_right: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def counts(self) -> Counter:
        """Rows by class."""
        return Counter(self.labels)


def predict(request: PredictRequest, display: ProgressDisplay) -> PredictResult:
    """Add the labels that a model predicts, and confidences, to a table."""
    display.begin("loading the model")
    model = load_model(request.model)
    check_input(request.source)
    output = output_path(request.source, request.output, request.force, "predicted")
    display.begin("reading")
    table = read_table(request.source, request.encoding, model.target)
    file_name = display_name(request.source)
    display.begin("preparing features")
    X, notes = model.read_features(table, file_name)
    rows = np.arange(table.n_rows)
    predicted = in_blocks(model.estimator.predict, X, rows, "predicting", display)
    probabilities = in_blocks(model.estimator.predict_proba, X, rows, "computing probabilities", display)
    confidence, labels = probability_of(model.estimator, probabilities, predicted), predicted.tolist()
    column, note = unused_name(model.target, table.names)
    result = PredictResult(output, request.source, model, labels, confidence, column, notes=table.notes + notes + note)
    if model.target in table.names:
        known = read_labels(table.target_cells(table.names.index(model.target))).values
        pairs = [(k, v) for k, v in zip(known, labels) if k is not None]
        result.n_known = len(pairs)
        result.n_right = sum(spelling_key(str(k)) == spelling_key(str(v)) for k, v in pairs)
    display.begin("writing")
    confidences, note = unused_name(f"{column}_confidence", table.names)
    result.notes += note
    with atomic_file(output, request.force) as file:
        table.write_appended(file, {column: labels, confidences: confidence.tolist()}, not request.raw)
    return result
