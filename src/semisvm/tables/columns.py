"""The kind of a column: number, boolean, date, category, string, text, or ignored.

The rules use the cells alone, in this order; the first that applies decides.

=========== ==========================================================================================
text        named by the user
ignored     no filled cell, or one value throughout
boolean     every filled cell is true or false
number      95 % of the filled cells are numbers of one format (:mod:`semisvm.tables.numbers`), the others count as
            missing; ignored as an identifier if integer, all distinct and like row numbers
date        95 % of the filled cells are dates of one order (:mod:`semisvm.tables.dates`), the others count as missing
text        two words per cell or more on average, or a script without spaces, and mostly distinct
ignored     single words, (nearly) all distinct: an identifier such as a key or an address
category    strings of few values; blanks at the ends and capitals do not matter, an empty cell is a category too
string      strings of many values, such as names of cities
=========== ==========================================================================================
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .cells import spelling_key
from .dates import DateFormat, detect_dates, parse_dates
from .missing import is_missing
from .numbers import NumberFormat, detect_numbers, parse_numbers, parse_short_numbers

TEXT_KINDS = ("text", "characters", "text with characters")
MIN_WORDS = 2.0
MIN_DISTINCT_TEXT = 0.3  # share of distinct cells above which several words are text
MIN_DISTINCT_IDENTIFIER = 0.9
MIN_IDENTIFIER_ROWS = 20  # fewer integers may be distinct by chance
MAX_CATEGORIES = 40  # of one feature each; more are encoded by their characters

IDENTIFIER_NAME = re.compile(r"(?i:(^|[\W_])(id|key|index|idx|uuid|guid|row|no|nr)s?($|[\W_\d]))|[a-z]I[dD]$|^$")
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
BOOLEANS = {"true": 1.0, "false": 0.0}


class RawColumn(NamedTuple):
    """A column as its file holds it.

    ``kind`` is "text" (a list of str, empty where missing), "document" (the same, never anything but text), "number",
    "boolean", "date" (arrays of float, NaN where missing; dates in days) or "other" (``values`` names the type).
    """

    kind: str
    values: Any

    def as_numbers(self) -> RawColumn:
        """The column as numbers, if it is text of plain ones alone; the column itself otherwise."""
        numbers = parse_short_numbers(self.values) if self.kind == "text" else None
        return self if numbers is None else RawColumn("number", numbers)


@dataclass(frozen=True)
class Column:
    """A column and how its cells are read, also those of another table.

    ``kind`` is one of the table above, "characters" for text of a script without spaces, or "text with characters" for
    misspelled text, which the user names.
    """

    name: str
    kind: str
    form: NumberFormat | DateFormat | None = None  # of numbers and dates that were strings
    reason: str = ""  # why it is ignored
    note: str = ""  # what was read otherwise than it stands there

    def values(self, raw: RawColumn) -> Any:
        """The cells of a column of this kind: an array of floats with NaN, or a list of strings."""
        if self.kind in ("number", "date", "boolean"):
            return self._floats(raw)[0]
        cells = raw.values if raw.kind in ("text", "document") else ["" if v != v else f"{v:g}" for v in raw.values]
        if self.kind in TEXT_KINDS:
            return cells
        normal = {cell: spelling_key(cell) for cell in set(cells)}
        return [normal[cell] for cell in cells]

    def n_unread(self, raw: RawColumn) -> int:
        """How many filled cells are not of this kind."""
        return len(self._floats(raw)[1]) if self.kind in ("number", "date", "boolean") else 0

    def _floats(self, raw: RawColumn) -> tuple[np.ndarray, list[str]]:
        if raw.kind != "text":
            values = np.asarray(raw.values, dtype=float)
            return np.where(np.isfinite(values), values, np.nan), []
        if self.kind == "boolean":
            values = np.array([BOOLEANS.get(cell.strip().lower(), np.nan) for cell in raw.values])
            return values, [c for c, v in zip(raw.values, values) if v != v and not is_missing(c)]
        if isinstance(self.form, DateFormat):
            return parse_dates(raw.values, self.form)
        values, others = parse_numbers(raw.values, self.form or NumberFormat())
        return np.where(np.isfinite(values), values, np.nan), others


def detect_column(name: str, raw: RawColumn, declared: str | None = None) -> Column:
    """Find the kind of a column; ``declared`` is "text" or "text with characters" if the user says so."""
    if raw.kind == "other":
        return Column(name, "ignored", reason=f"type {raw.values}")
    if declared or raw.kind == "document":
        return _text_column(name, Counter(Column(name, "text").values(raw)), declared or "text")
    if raw.kind != "text":
        return _check_floats(Column(name, raw.kind), raw)
    raw = raw.as_numbers()
    return _detect_strings(name, raw) if raw.kind == "text" else _check_floats(Column(name, "number"), raw)


def _check_floats(column: Column, raw: RawColumn) -> Column:
    """The column, ignored if its floats tell nothing; with a note on cells that are something else."""
    values, others = column._floats(raw)
    filled = values[~np.isnan(values)]
    if not len(filled):
        return Column(column.name, "ignored", reason="empty")
    if (filled == filled[0]).all():
        return Column(column.name, "ignored", reason="constant")
    if column.kind == "number" and _is_identifier(column.name, filled):
        return Column(column.name, "ignored", reason="identifier")
    if others:
        example = min(others, key=len).strip()[:30]
        kinds = {"date": "dates"}.get(column.kind, "numbers")
        note = f"{len(others):,} of {len(values):,} cells are no {kinds}, such as {example!r}; taken as missing"
        column = replace(column, note="; ".join(part for part in (column.note, note) if part))
    return column


def _is_identifier(name: str, filled: np.ndarray) -> bool:
    """Whether numbers are distinct integers whose name, order or density is that of an identifier."""
    if (filled != np.floor(filled)).any() or len(np.unique(filled)) < len(filled):
        return False
    steps = np.diff(filled)
    if IDENTIFIER_NAME.search(name) or (len(filled) > 2 and (steps == 1).all()):
        return True
    in_order = (steps > 0).all() or (steps < 0).all()
    return len(filled) >= MIN_IDENTIFIER_ROWS and bool(in_order or np.ptp(filled) < 2 * len(filled))


def _detect_strings(name: str, raw: RawColumn) -> Column:
    counts = Counter(raw.values)
    filled = Counter({cell: count for cell, count in counts.items() if not is_missing(cell)})
    if not filled:
        return Column(name, "ignored", reason="empty")
    if all(cell.strip().lower() in BOOLEANS for cell in filled):
        return _check_floats(Column(name, "boolean"), raw)
    form: NumberFormat | DateFormat | None = detect_numbers(filled)
    if form is not None:
        return _check_floats(Column(name, "number", form), raw)
    form, note = detect_dates(filled)
    if form is not None:
        return _check_floats(Column(name, "date", form, note=note), raw)
    return _detect_words(name, counts)


def _detect_words(name: str, counts: Counter) -> Column:
    filled = Counter({cell: count for cell, count in counts.items() if cell.strip()})
    n_filled = filled.total()
    distinct = {spelling_key(cell) for cell in filled}
    if len(distinct) == 1 and n_filled == counts.total():
        return Column(name, "ignored", reason="constant")
    share = len(distinct) / n_filled
    words = sum(count * len(cell.split()) for cell, count in filled.items()) / n_filled
    unspaced = _share_unspaced(filled, 4) > 0.5
    if share > MIN_DISTINCT_TEXT and (words >= MIN_WORDS or (unspaced and share > MIN_DISTINCT_IDENTIFIER)):
        return _text_column(name, filled)
    if share >= MIN_DISTINCT_IDENTIFIER and len(distinct) > 1:
        return Column(name, "ignored", reason="identifier")
    return Column(name, "category" if len(distinct) <= MAX_CATEGORIES else "string")


def _text_column(name: str, counts: Counter, kind: str = "text") -> Column:
    filled = Counter({cell: count for cell, count in counts.items() if re.search(r"\w", cell)})
    if not filled:
        return Column(name, "ignored", reason="no words")
    return Column(name, "characters" if _share_unspaced(filled, 0) > 0.5 else kind)


def _share_unspaced(filled: Counter, min_length: int) -> float:
    """The share of cells of this length that hold a script without spaces."""
    n = sum(count for cell, count in filled.items() if len(cell) >= min_length and UNSPACED.search(cell))
    return n / filled.total()
