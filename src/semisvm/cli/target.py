"""The target: its classes, their shares, and the column of confidences."""

from __future__ import annotations

import csv
from collections import Counter
from typing import Any

import numpy as np

from . import InputError

MAX_DISTINCT_LABELS = 10  # more labels than that, all distinct, cannot be classes


def check_labels(name: str, given: Counter, n_rows: int) -> list[str]:
    """Refuse a target without classes; returns notes about classes that differ only in blanks and capitals."""
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
    similar: dict[str, list[str]] = {}
    for found in given:
        similar.setdefault(str(found).strip().casefold(), []).append(repr(found))
    return [f"{' and '.join(group)} are taken as different classes" for group in similar.values() if len(group) > 1]


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
    return unused, [] if unused == name else [f"the column {name!r} exists; the confidences are in {unused!r}"]
