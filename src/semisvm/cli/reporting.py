"""What a command says on standard output."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from .labeling import Outcome
from .reading import shorten

MOST_CLASSES = 30
MOST_COLUMNS = 8
UNSURE = 0.7
KINDS = {
    "number": "numbers",
    "boolean": "booleans",
    "date": "dates",
    "category": "categories",
    "text": "text",
    "characters": "text",
    "ignored": "ignored",
}


def say(lines: list[str]) -> None:
    """Print lines; a reader who has left, such as ``head``, is no error."""
    try:
        print("\n".join(lines), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def label_report(outcome: Outcome, target: str) -> list[str]:
    """How the rows divide, what the supervised machine would say, which columns were used, where the file is.

    Parameters
    ----------
    outcome : Outcome
        What was done.
    target : str
        Name of the target.

    Returns
    -------
    list of str
    """
    n_given, n_filled = outcome.given.total(), outcome.filled.total()
    lines = [f"{target}: {n_given:,} rows had a label, {n_filled:,} were filled" + _by(outcome)]
    if not n_filled:
        lines = [f"{target}: nothing was unlabeled, all {n_given:,} rows have a label; their confidence is 1"]
    lines += ["", *_classes(outcome), ""]
    if n_filled:
        if outcome.differs is not None:
            share = 100 * outcome.differs / n_filled
            lines += [f"The supervised machine would fill {outcome.differs:,} of them differently ({share:.1f} %)."]
        unsure = int((outcome.confidence < UNSURE).sum())
        middle = np.median(outcome.confidence)
        lines += [f"Confidence: median {middle:.2f}, {unsure:,} rows below {UNSURE:g}.", ""]
        lines += [*_columns(outcome), ""]
    lines += [f"note: {note}" for note in outcome.notes]
    return [*lines, f"written to {_near(outcome.output)}"]


def _by(outcome: Outcome) -> str:
    return f" by {type(outcome.machine).__name__}" if outcome.machine is not None else ""


def _classes(outcome: Outcome) -> list[str]:
    order = [c for c, _ in (outcome.given + outcome.filled).most_common()]
    shown = order[:MOST_CLASSES]
    width = max(len(str(c)) for c in [*shown, "class"])
    lines = [f"  {'class':{width}s}  {'given':>9s}  {'filled':>9s}"]
    lines += [f"  {c!s:{width}s}  {outcome.given[c]:9,d}  {outcome.filled[c]:9,d}" for c in shown]
    return lines + ([f"  and {len(order) - len(shown):,} more"] if len(order) > len(shown) else [])


def _columns(outcome: Outcome) -> list[str]:
    found: dict[str, list[str]] = {}
    for column in outcome.columns:
        name = column.name or "(no name)"
        found.setdefault(KINDS[column.kind], []).append(f"{name} ({column.why})" if column.why else name)
    ordered = [kind for kind in dict.fromkeys(KINDS.values()) if kind in found]
    return ["Columns"] + [f"  {kind:10s}  {shorten(found[kind], MOST_COLUMNS)}" for kind in ordered]


def _near(path: Path) -> Path:
    """The path as seen from here, if it is below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
