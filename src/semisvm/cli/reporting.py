"""The reports that commands print to standard output."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from .labeling import LabelResult
from .reading import join_first

MAX_CLASSES = 30  # that a report lists
MAX_COLUMNS = 8  # that a report lists per kind
LOW_CONFIDENCE = 0.7
KINDS = {
    "number": "numbers",
    "boolean": "booleans",
    "date": "dates",
    "category": "categories",
    "text": "text",
    "characters": "text",
    "ignored": "ignored",
}


def print_lines(lines: list[str]) -> None:
    """Print lines; a closed pipe, as behind ``head``, is not an error."""
    try:
        print("\n".join(lines), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def label_report(result: LabelResult) -> list[str]:
    """Rows by class, the difference from the supervised model, the columns by kind, and the file written."""
    target, n_given, n_filled = result.target, result.given.total(), result.filled.total()
    if not n_filled:
        lines = [f"{target}: no row is unlabeled, all {n_given:,} rows have a label, with confidence 1"]
    else:
        lines = [
            f"{target}: {n_given:,} rows had a label, {n_filled:,} were filled by {type(result.estimator).__name__}"
        ]
    lines += ["", *_class_table(result), ""]
    if n_filled:
        if hasattr(result.estimator, "report_"):
            lines += [result.estimator.report_.conclusion]
        if result.n_different is not None:
            share = 100 * result.n_different / n_filled
            lines += [f"The supervised model would fill {result.n_different:,} of them differently ({share:.1f} %)."]
        n_low = int((result.confidence < LOW_CONFIDENCE).sum())
        median = np.median(result.confidence)
        lines += [f"Confidence: median {median:.2f}, {n_low:,} rows below {LOW_CONFIDENCE:g}.", ""]
        lines += [*_columns_by_kind(result), ""]
    lines += [f"note: {note}" for note in result.notes]
    return [*lines, f"written to {_relative(result.output)}"]


def _class_table(result: LabelResult) -> list[str]:
    classes = [c for c, _ in (result.given + result.filled).most_common()]
    shown = classes[:MAX_CLASSES]
    width = max(len(str(c)) for c in [*shown, "class"])
    lines = [f"  {'class':{width}s}  {'given':>9s}  {'filled':>9s}"]
    lines += [f"  {c!s:{width}s}  {result.given[c]:9,d}  {result.filled[c]:9,d}" for c in shown]
    return lines + ([f"  and {len(classes) - len(shown):,} more"] if len(classes) > len(shown) else [])


def _columns_by_kind(result: LabelResult) -> list[str]:
    names: dict[str, list[str]] = {}
    for column in result.columns:
        name = column.name or "(no name)"
        names.setdefault(KINDS[column.kind], []).append(f"{name} ({column.reason})" if column.reason else name)
    kinds = [kind for kind in dict.fromkeys(KINDS.values()) if kind in names]
    return ["Columns"] + [f"  {kind:10s}  {join_first(names[kind], MAX_COLUMNS)}" for kind in kinds]


def _relative(path: Path) -> Path:
    """The path from the current folder, if it is below."""
    current = Path.cwd()
    return path.relative_to(current) if path.is_relative_to(current) else path
