"""The reports that commands print to standard output, below what was read."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

from ..tables.files import STANDARD_STREAM, display_name
from ..tables.reading import join_first
from .comparing import CompareResult
from .confidence import LOW_CONFIDENCE
from .evaluation import Evaluation
from .labeling import LabelResult
from .modeling import FitResult, PredictResult
from .suggesting import NextResult
from .terminal import printable

MAX_CLASSES = 30  # that a report lists
MIN_CLASS_LABELS = 5  # of a class


def label_report(result: LabelResult) -> list[str]:
    """What was read, rows by class, held-out errors, the conclusion, the columns, notes, and the file written."""
    training = result.training
    target, n_given, n_filled = training.target, training.labels.given.total(), result.filled.total()
    if not n_filled:
        lines = [f"{target}: no row is unlabeled, all {n_given:,} rows have a label, with confidence 1"]
        lines += ["", *class_table(result), ""]
    else:
        lines = [f"Filled by {type(result.estimator).__name__}", *class_table(result), ""]
        lines += evaluation_lines(result.evaluation)
        if result.n_different is not None:
            share = 100 * result.n_different / n_filled
            lines += [f"The supervised model would fill {result.n_different:,} rows differently ({share:.1f} %)."]
        found = result.confidences
        lines += [f"Confidence: median {found.median:.2f}, {found.n_low:,} rows below {LOW_CONFIDENCE:g}.", ""]
    lines += [f"note: {note}" for note in [*result.notes, *rare_class_notes(result)]]
    lines += [f"written to {relative(result.output)}"]
    lines += [f"report: {relative(result.report)}"] if result.report is not None else []
    if n_filled and result.confidences.n_low:
        lines += [f"next: look at the rows of lowest {target}_confidence, label some of them and run this again."]
    return lines


def fit_report(result: FitResult) -> list[str]:
    """What was read, held-out errors, the conclusion, notes, and the file written."""
    path = relative(result.output)
    return [
        f"Fitted {type(result.estimator).__name__}",
        *evaluation_lines(result.evaluation),
        "",
        *(f"note: {note}" for note in result.notes),
        f"written to {path}",
        f"next: semisvm predict {path} NEW_TABLE",
    ]


def predict_report(result: PredictResult) -> list[str]:
    """Rows by class, accuracy where labels are known, notes, and the file written."""
    counts, total = result.counts, len(result.labels)
    width = max(len(printable(str(c))) for c in [*result.model.classes, "class"])
    summary = result.model.summary
    lines = [
        f"{display_name(result.source)}: {total:,} rows, by the model of {summary['source']} ({summary['method']})",
        "",
    ]
    lines += [f"  {'class':{width}s}  {'rows':>9s}"]
    lines += [f"  {printable(str(c)):{width}s}  {n:9,d}" for c, n in counts.most_common(MAX_CLASSES)]
    n_low = int((result.confidence < LOW_CONFIDENCE).sum())
    lines += ["", f"Confidence: median {np.median(result.confidence):.2f}, {n_low:,} rows below {LOW_CONFIDENCE:g}."]
    if result.n_known:
        lines += [f"Of {result.n_known:,} rows with a label in the table {_percent(result.n_right, result.n_known)} "
                  "have the predicted one."]  # fmt: skip
    return [*lines, *(f"note: {note}" for note in result.notes), f"written to {relative(result.output)}"]


def compare_report(result: CompareResult) -> list[str]:
    """What was read, held-out errors of the methods, and the conclusion."""
    width = max(len(one) for one in [*result.seconds, *result.failures, "method"])
    training = result.training
    lines = []
    if result.estimates:
        n = result.estimates[0].n
        lines += [f"Error on labeled rows that were held out ({n:,} rows), with 95 % interval, and seconds of a fit"]
    for one in result.estimates:
        low, high = one.interval
        interval = f"{100 * low:.1f} to {100 * high:.1f}"
        lines.append(
            f"  {one.name:{width}s}  {100 * one.error:5.1f} %   {interval:13s}  {result.seconds[one.name]:8.2f}"
        )
    lines += [f"  {name:{width}s}  failed: {reason}" for name, reason in result.failures.items()]
    lines += [result.conclusion, "", *(f"note: {note}" for note in result.notes)]
    best = f" --method {result.estimates[0].name}" if result.estimates else ""
    command = f"semisvm label {shlex.quote(str(training.options.source))} --target {shlex.quote(training.target)}"
    return [*lines, f"next: {command}{best}"]


def next_report(result: NextResult) -> list[str]:
    """The rows to label with reasons, what they would bring, and the learning curve so far."""
    training = result.training
    lines = [f"Rows to label next ({training.target}), counted from 1 below the header"]
    wide = max(len(str(row.row)) for row in result.rows)
    reasons = max(len(row.reason) for row in result.rows)
    lines += [f"  {row.row:{wide}d}  {row.reason:{reasons}s}  {row.predicted!s:.20s}? {row.confidence:.2f}  {row.cells}"
              for row in result.rows]  # fmt: skip
    lines += ["", *str(result.gain).split("\n"), ""]
    lines += [f"note: {note}" for note in result.notes]
    return lines + ([f"written to {relative(result.output)}"] if result.output is not None else [])


def class_table(result: LabelResult) -> list[str]:
    """Per class what was given and filled, and the median confidence of what was filled."""
    given, filled = result.training.labels.given, result.filled
    classes = [c for c, _ in (given + filled).most_common()]
    shown = classes[:MAX_CLASSES]
    width = max(len(printable(str(c))) for c in [*shown, "class"])
    lines = [f"  {'class':{width}s}  {'given':>9s}  {'filled':>9s}  {'confidence':>10s}"]
    medians = result.confidences.by_class
    for c in shown:
        sure = f"{medians[str(c)]:.2f}" if str(c) in medians else "-"
        lines.append(f"  {printable(str(c)):{width}s}  {given[c]:9,d}  {filled[c]:9,d}  {sure:>10s}")
    return lines + ([f"  and {len(classes) - len(shown):,} more"] if len(classes) > len(shown) else [])


def evaluation_lines(evaluation: Evaluation | None) -> list[str]:
    """Held-out errors with intervals, the best first, and the conclusion."""
    if evaluation is None:
        return []
    lines = []
    if evaluation.estimates:
        width = max(len(one.name) for one in evaluation.estimates)
        lines = [f"Error on labeled rows that were held out ({evaluation.estimates[0].n:,} rows), with 95 % interval"]
        for one in evaluation.estimates:
            low, high = one.interval
            lines.append(f"  {one.name:{width}s}  {100 * one.error:5.1f} %   {100 * low:.1f} to {100 * high:.1f}")
    return [*lines, evaluation.conclusion]


def rare_class_notes(result: LabelResult) -> list[str]:
    """Warnings about classes of few labels, and about those that were filled far less often than given."""
    given, filled = result.training.labels.given, result.filled
    n_given, n_filled = given.total(), filled.total()
    if not n_filled:
        return []
    notes = []
    few = [f"{c!s} ({given[c]})" for c in given if given[c] < MIN_CLASS_LABELS]
    if few:
        notes.append(f"classes of few labels are guesses, label more rows of: {join_first(few, MAX_CLASSES)}")
    seldom = [f"{c!s} ({_percent(given[c], n_given)} of the labels, {_percent(filled[c], n_filled)} of the filled rows)"
              for c in given if is_seldom(given[c], n_given, filled[c] / n_filled)]  # fmt: skip
    if seldom:
        notes.append(f"filled less often than the labels suggest, rows may be missing: {join_first(seldom, 5)}; pass "
                     "the shares with --balance if you know them")  # fmt: skip
    return notes


def is_seldom(n_class: int, n_labels: int, share: float) -> bool:
    """Whether a share of the filled rows is below the 95 % interval of the share of a class among the labels."""
    return share < binomtest(n_class, n_labels).proportion_ci(method="wilson").low


def _percent(n: int, total: int) -> str:
    return f"{100 * n / total:.1f} %"


def relative(path: Path) -> Path | str:
    """The path from the current folder, if it is below."""
    if path == STANDARD_STREAM:
        return "standard output"
    current = Path.cwd()
    return path.relative_to(current) if path.is_relative_to(current) else path
