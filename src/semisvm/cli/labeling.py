"""Fill the unlabeled cells of a target: read, transform, fit, write."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..tables.files import STANDARD_STREAM, extension_of
from ..tables.target import unused_name
from .confidence import ConfidenceSummary
from .evaluation import Evaluation, evaluate
from .methods import find_method
from .progress import ProgressDisplay
from .training import (
    MethodOptions,
    TableOptions,
    TrainingTable,
    collected_warnings,
    fit_table,
    in_blocks,
    probability_of,
    read_target,
)
from .writing import atomic_file, check_output, output_path

if TYPE_CHECKING:
    from .clusters import ClusterOptions


@dataclass(frozen=True)
class LabelRequest:
    """The arguments and options of ``semisvm label``."""

    table: TableOptions
    model: MethodOptions = field(default_factory=MethodOptions)
    output: Path | None = None
    force: bool = False
    raw: bool = False
    report: bool = True
    cluster: ClusterOptions | None = None


@dataclass
class LabelResult:
    """What was filled and written."""

    output: Path
    training: TrainingTable
    estimator: Any = None  # fitted, or None if there was nothing to fill
    filled: Counter = field(default_factory=Counter)
    evaluation: Evaluation | None = None
    n_different: int | None = None  # filled labels that the supervised model predicts differently, if there is one
    labels: list[Any] = field(default_factory=list)  # of the filled rows
    confidence: np.ndarray = field(default_factory=lambda: np.ones(0))  # of the filled rows
    notes: list[str] = field(default_factory=list)
    report: Path | None = None
    cluster: dict[str, Any] | None = None  # workers and dashboard, if it was one that did the work

    @cached_property
    def confidences(self) -> ConfidenceSummary:
        """What the report says about the confidences."""
        return ConfidenceSummary.of(self.labels, self.confidence)


def label(request: LabelRequest, display: ProgressDisplay) -> LabelResult:
    """Fill the unlabeled cells of a column and write the table."""
    find_method(request.model.method)
    output = output_path(request.table.source, request.output, request.force)
    report = report_path(request, output)
    training = read_target(request.table, display)
    result = LabelResult(output, training)
    empty = training.empty
    filled: list[Any] = [None] * training.table.n_rows
    confidence = np.ones(training.table.n_rows)
    if len(empty):
        result.estimator = fit_table(training, request.model, display)
        with collected_warnings(training, display):
            _predict(result, display)
        result.evaluation = evaluate(training, result.estimator, display)
        for i, found in zip(empty.tolist(), result.labels):
            filled[i] = found
        confidence[empty] = result.confidence
    display.begin("writing")
    name, note = unused_name(f"{training.target}_confidence", training.table.names)
    with atomic_file(output, request.force) as file:
        training.table.write(file, training.position, filled, name, confidence.tolist(), not request.raw)
    if report is not None and len(empty):
        from .table_report import write_report  # imports matplotlib

        display.begin("drawing the report")
        with collected_warnings(training, display):
            write_report(result, report, request)
        result.report = report
    result.notes = training.notes + note
    return result


def report_path(request: LabelRequest, output: Path) -> Path | None:
    """Where the report goes: beside the output; None if there is none."""
    if not request.report or output == STANDARD_STREAM:
        return None
    ending = extension_of(output)
    named = output.with_name(f"{output.name.removesuffix(ending)}.html")
    return check_output(named, request.table.source, request.force)


def _predict(result: LabelResult, display: ProgressDisplay) -> None:
    """The labels of the unlabeled rows, their probabilities, and how many the supervised model fills differently."""
    training, estimator, empty = result.training, result.estimator, result.training.empty
    found = estimator.transduction_[empty]
    if hasattr(estimator, "supervised_"):
        predict = estimator.supervised_.predict
        other = in_blocks(predict, training.X, empty, "comparing with the supervised model", display)
        result.n_different = int((other != found).sum())
    known = getattr(estimator, "label_distributions_", None)
    probabilities = (
        in_blocks(estimator.predict_proba, training.X, empty, "computing probabilities", display)
        if known is None
        else known[empty]
    )
    result.confidence = probability_of(estimator, probabilities, found)
    original = {v: v for v in training.labels.given}  # the Python objects of the table, not those of NumPy
    result.labels = [original[c] for c in found.tolist()]
    result.filled = Counter(result.labels)
