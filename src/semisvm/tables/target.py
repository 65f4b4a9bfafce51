"""The target: which cells are unlabeled, its classes, their spellings and shares, and the column of confidences."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import InputError
from .cells import spelling_key

ALWAYS_UNLABELED = frozenset({"", "na", "n/a", "#n/a", "nan", "<na>", "null", "?"})
PERHAPS_UNLABELED = frozenset({"none", "unknown", "-1"})  # where no cell is one of the above
MAX_DISTINCT_LABELS = 10  # more labels than that, all distinct, cannot be classes


@dataclass
class Labels:
    """The labels of a target, None where it is unlabeled, and what was decided about its cells."""

    values: list[Any]
    given: Counter = field(default_factory=Counter)  # rows by class
    notes: list[str] = field(default_factory=list)


def read_labels(
    cells: Sequence[Any], markers: Sequence[str] = (), exact: bool = False, counts: Sequence[int] | None = None
) -> Labels:
    """The labels of a target.

    Empty cells, NA, N/A, NaN, null and ? are unlabeled, as are the markers that the user names. If there are neither
    such cells nor markers, none, unknown and -1 are, unless less than two classes would be left.

    Parameters
    ----------
    cells : sequence
        The cells of the target: strings, numbers or booleans, None where there is no value.
    markers : sequence of str
        Other spellings of an unlabeled cell.
    exact : bool
        Whether spellings that differ in capitals or blanks are different classes.
    counts : sequence of int, optional
        How many rows have each cell, where the cells are those that differ.
    """
    texts = [_text_of(cell) for cell in cells]
    keys = [spelling_key(text) for text in texts]
    named = set(markers)
    hidden = [key in ALWAYS_UNLABELED or text in named for key, text in zip(keys, texts)]
    if not any(hidden) and not named:
        guessed = [key in PERHAPS_UNLABELED for key in keys]
        if len({key for key, is_guessed in zip(keys, guessed) if not is_guessed}) > 1:
            hidden = guessed
    labels = Labels([None if is_hidden else cell for cell, is_hidden in zip(cells, hidden)])
    spellings = _count([text.strip() if is_hidden else None for text, is_hidden in zip(texts, hidden)], counts)
    spellings.pop("", None)
    if spellings:
        listed = ", ".join(f"{text!r} ({count:,})" for text, count in spellings.most_common(5))
        labels.notes.append(f"taken as unlabeled: {listed}")
    if not exact:
        _merge_spellings(labels, counts)
    labels.given = _count(labels.values, counts)
    return labels


def _count(values: Sequence[Any], counts: Sequence[int] | None) -> Counter:
    """How many rows have each value but None."""
    if counts is None:
        return Counter(value for value in values if value is not None)
    found: Counter = Counter()
    for value, count in zip(values, counts):
        if value is not None:
            found[value] += count
    return found


def _text_of(cell: Any) -> str:
    return "" if cell is None else f"{cell:.0f}" if isinstance(cell, float) and cell.is_integer() else str(cell)


def _merge_spellings(labels: Labels, rows: Sequence[int] | None) -> None:
    """One class, named by its most frequent spelling, for spellings that differ in capitals or blanks alone."""
    counts = _count([value if isinstance(value, str) else None for value in labels.values], rows)
    groups: dict[str, list[str]] = {}
    for spelling, _ in counts.most_common():
        groups.setdefault(spelling_key(spelling), []).append(spelling)
    merged = {spelling: group[0] for group in groups.values() for spelling in group}
    labels.values = [merged.get(value, value) if isinstance(value, str) else value for value in labels.values]
    for first, *others in groups.values():
        if others:
            said = ", ".join(f"{spelling!r} ({counts[spelling]:,})" for spelling in others[:5])
            labels.notes.append(f"{said} counted as {first!r} ({counts[first]:,}); --exact-labels keeps them apart")


def check_classes(name: str, given: Counter, n_rows: int) -> None:
    """Refuse a target without classes."""
    if not given:
        raise InputError(f"all {n_rows:,} cells of the target {name!r} are empty; label some rows of every class.")
    if len(given) == 1:
        raise InputError(
            f"the target {name!r} holds only one class, {next(iter(given))!r}; label rows of a second class as well."
        )
    if len(given) > MAX_DISTINCT_LABELS and max(given.values()) == 1:
        raise InputError(
            f"all {len(given):,} labels of the target {name!r} are different, so they are not classes; choose a column "
            "whose values repeat."
        )


def parse_balance(text: str, classes: list[Any]) -> float | dict[Any, float]:
    """The share of the second class (``0.3``) or of all classes (``ham=0.7,spam=0.3``), as estimators take them."""
    balance = _shares_by_class(text, classes) if "=" in text else _share_of_second_class(text, classes)
    if balance is None:
        usage = ",".join(f"{c}={1 / len(classes):.2g}" for c in classes[:5]) + (",..." if len(classes) > 5 else "")
        one = f"one share from 0 to 1, that of {classes[1]!r}, or " if len(classes) == 2 else ""
        raise InputError(f"--balance {text} is not understood; pass {one}a share for every class, as in {usage}.")
    return balance


def _share_of_second_class(text: str, classes: list[Any]) -> float | None:
    try:
        share = float(text)
    except ValueError:
        return None
    return share if len(classes) == 2 and 0.0 <= share <= 1.0 else None


def _shares_by_class(text: str, classes: list[Any]) -> dict[Any, float] | None:
    by_name = {str(c): c for c in classes}
    try:
        pairs = [item.rpartition("=") for item in next(csv.reader([text]))]
        shares = {by_name[name.strip()]: float(share) for name, _, share in pairs}
    except (ValueError, KeyError):
        return None
    complete = set(shares) == set(classes) and any(shares.values())
    return shares if complete and all(0.0 <= share < np.inf for share in shares.values()) else None


def unused_name(name: str, names: list[str]) -> tuple[str, list[str]]:
    """A name that no column has, and a note if it is not the preferred one."""
    unused, number = name, 1
    while unused in names:
        number += 1
        unused = f"{name}_{number}"
    return unused, [] if unused == name else [f"the column {name!r} exists; what is new is in {unused!r}"]
