"""The target: its classes, their shares, and the column beside it."""

from __future__ import annotations

import csv
from collections import Counter

import numpy as np

from . import Refusal

MANY_CLASSES = 10  # more labels than that, all distinct, are no classes


def check_labels(name: str, values: list) -> list[str]:
    """Refuse a target without classes.

    Parameters
    ----------
    name : str
        Name of the target.
    values : list
        Its values, None where the cell is empty.

    Returns
    -------
    list of str
        A note for classes that differ in blanks and capitals alone.
    """
    given = Counter(v for v in values if v is not None)
    if not given:
        raise Refusal(
            f"all {len(values):,} cells of the target {name!r} are empty; write labels into some rows of every class."
        )
    if len(given) == 1:
        raise Refusal(
            f"the target {name!r} holds one class only, {next(iter(given))!r}; label rows of a second class as well."
        )
    if len(given) > MANY_CLASSES and max(given.values()) == 1:
        raise Refusal(
            f"all {len(given):,} labels of the target {name!r} are different, which are no classes; name a column "
            "whose values repeat."
        )
    alike: dict[str, list[str]] = {}
    for found in given:
        alike.setdefault(str(found).strip().casefold(), []).append(repr(found))
    return [f"{' and '.join(group)} are taken as different classes" for group in alike.values() if len(group) > 1]


def parse_balance(text: str, classes: list) -> float | dict:
    """The share of the second class, or shares by class, as estimators take them.

    Parameters
    ----------
    text : str
        ``0.3`` or ``ham=0.7,spam=0.3``.
    classes : list
        The classes in their order.
    """
    usage = ",".join(f"{c}={1 / len(classes):.2g}" for c in classes[:5]) + (",..." if len(classes) > 5 else "")
    try:
        if "=" not in text:
            share = float(text)
            if len(classes) == 2 and 0.0 <= share <= 1.0:
                return share
            raise ValueError
        named = {str(c): c for c in classes}
        pairs = [item.rpartition("=") for item in next(csv.reader([text]))]
        shares = {named[name.strip()]: float(share) for name, _, share in pairs}
    except (ValueError, KeyError):
        shares = {}
    if set(shares) != set(classes) or not all(0.0 <= s < np.inf for s in shares.values()) or not any(shares.values()):
        one = f"one share from 0 to 1, that of {classes[1]!r}, or " if len(classes) == 2 else ""
        raise Refusal(f"--balance {text} is not understood; pass {one}a share for every class, as in {usage}.")
    return shares


def free_name(name: str, taken: list[str]) -> tuple[str, list[str]]:
    """A name that no column has, and a note if it is not the one wanted."""
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free, [] if free == name else [f"the column {name!r} was there already; the confidences are in {free!r}"]
