"""Dates as people write them: ``2024-12-31``, ``31.12.2024``, ``12/31/2024``, each with or without a time.

Whether the day or the month stands first is decided by the column as a whole: by the order in which more cells are
dates and, where both orders fit equally many, day first for dots and dashes and month first for slashes, which is said.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from .missing import is_missing
from .numbers import MIN_SHARE

TIME = (
    r"(?:(?:T|,? )(?P<time>\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)"
    r" ?(?P<half>[AaPp][Mm])?(?: ?(?P<zone>Z|[+-]\d{2}:?\d{2}))?)?"
)
YEAR_FIRST = re.compile(rf"(?P<a>\d{{4}})(?P<mark>[-/.])(?P<b>\d{{1,2}})(?:(?P=mark)(?P<c>\d{{1,2}}))?{TIME}")
YEAR_LAST = re.compile(rf"(?P<a>\d{{1,2}})(?P<mark>[-/.])(?P<b>\d{{1,2}})(?P=mark)(?P<c>\d{{4}}|\d{{2}}){TIME}")
PIVOT = 69  # years of two digits from here on are of the last century


class DateFormat(NamedTuple):
    """The order of year, month and day: "ymd", "dmy" or "mdy"."""

    order: str = "ymd"

    def parse(self, cell: str) -> float | None:
        """Days since 1970; None if the cell is no date of this order."""
        found = (YEAR_FIRST if self.order == "ymd" else YEAR_LAST).fullmatch(cell.strip())
        if found is None:
            return None
        parts = dict(zip(self.order, (found["a"], found["b"], found["c"] or "1")))
        year, month, day = (int(parts[part]) for part in "ymd")
        if len(parts["y"]) == 2:
            year += 1900 if year >= PIVOT else 2000
        try:
            return datetime(year, month, day, tzinfo=UTC).timestamp() / 86400.0 + _days(found)
        except ValueError:
            return None


ORDERS = [DateFormat("ymd"), DateFormat("dmy"), DateFormat("mdy")]


def _days(found: re.Match) -> float:
    """The time of a date in days, minus that of its zone."""
    if not found["time"]:
        return 0.0
    hours, minutes, *seconds = found["time"].replace(",", ".").split(":")
    hour = int(hours) % 12 + 12 * (found["half"].lower() == "pm") if found["half"] else int(hours)
    if hour > 24 or int(minutes) > 59:
        raise ValueError(found["time"])
    total = 3600.0 * hour + 60.0 * int(minutes) + float(seconds[0] if seconds else 0)
    zone = found["zone"]
    if zone and zone != "Z":
        offset = 3600.0 * int(zone[1:3]) + 60.0 * int(zone[-2:])
        total += offset if zone[0] == "-" else -offset
    return total / 86400.0


def parse_dates(cells: list[str], form: DateFormat) -> tuple[np.ndarray, list[str]]:
    """The cells in days, NaN where they are missing or of another form, and the cells of another form."""
    values, others = np.full(len(cells), np.nan), []
    for i, cell in enumerate(cells):
        days = form.parse(cell)
        if days is not None:
            values[i] = days
        elif not is_missing(cell):
            others.append(cell)
    return values, others


def detect_dates(counts: Counter) -> tuple[DateFormat | None, str]:
    """The order of a column of dates, or None for a column of something else; and a note if the order is ambiguous.

    Parameters
    ----------
    counts : Counter
        The filled cells, and how often there is each of them.
    """
    needed = MIN_SHARE * counts.total()
    fits, n_left = dict.fromkeys(ORDERS, 0), counts.total()
    for cell, count in counts.items():
        matching = [form for form in ORDERS if form.parse(cell) is not None]
        for form in matching:
            fits[form] += count
        n_left -= 0 if matching else count
        if n_left < needed:
            return None, ""
    n_fit = max(fits.values())
    best = [form for form in ORDERS if fits[form] == n_fit]
    if not n_fit or n_fit < needed:
        return None, ""
    if len(best) == 1:
        return best[0], ""
    has_slashes = any("/" in cell for cell in counts)
    chosen, said = (DateFormat("mdy"), "month/day") if has_slashes else (DateFormat("dmy"), "day.month")
    return chosen, f"days and months cannot be told apart; read as {said}"
