"""The kind of a column: number, boolean, date, category, text, or ignored.

The rules use the cells alone, in this order; the first that applies decides.

=========== ==========================================================================================
text        named by the user
ignored     no filled cell, or one value throughout
boolean     every filled cell is true or false
number      every filled cell is a number; ignored as an identifier if integer, all distinct and like row numbers
date        every filled cell is an ISO-like date
text        two words per cell or more on average, or a script without spaces, and mostly distinct
ignored     single words, (nearly) all distinct: an identifier such as a key or an address
category    every other column of strings; an empty cell is a category too
=========== ==========================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

import numpy as np

MISSING = {"", "na", "n/a", "#n/a", "nan", "<na>", "null", "none", "nil", "?", "-", "."}
MIN_WORDS = 2.0
MIN_DISTINCT_TEXT = 0.3  # share of distinct cells above which several words are text
MIN_DISTINCT_IDENTIFIER = 0.9
MIN_IDENTIFIER_ROWS = 20  # fewer integers may be distinct by chance

PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
GROUPED_NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d{1,3})(\.\d+)?")
DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?")
CODE = re.compile(r"0\d+|\d{16,}")  # a postal code, or more digits than a float holds
DATE = re.compile(r"\d{4}[-/]\d{2}([-/]\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?( ?(Z|[+-]\d{2}:?\d{2}))?)?)?")
IDENTIFIER_NAME = re.compile(r"(?i:(^|[\W_])(id|key|index|idx|uuid|guid|row|no|nr)s?($|[\W_\d]))|[a-z]I[dD]$|^$")
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


class RawColumn(NamedTuple):
    """A column as its file holds it.

    ``kind`` is "text" (a list of str, empty where missing), "number", "boolean", "date" (arrays of float, NaN where
    missing; dates in days) or "other" (``values`` names the type).
    """

    kind: str
    values: Any


@dataclass(frozen=True)
class Column:
    """A column and its kind: one of the table above, or "characters" for text of a script without spaces."""

    name: str
    kind: str
    values: Any = None  # an array of floats with NaN, or a list of strings
    reason: str = ""  # why it is ignored


def detect_column(name: str, raw: RawColumn, as_text: bool = False) -> Column:
    """Find the kind of a column; ``as_text`` if the user declared it as text."""
    if raw.kind == "other":
        return Column(name, "ignored", reason=f"type {raw.values}")
    if as_text:
        cells = raw.values if raw.kind == "text" else ["" if v != v else f"{v:g}" for v in raw.values]
        return _text_column(name, cells)
    return _string_column(name, raw.values) if raw.kind == "text" else _numeric_column(name, raw.kind, raw.values)


def _numeric_column(name: str, kind: str, values: np.ndarray) -> Column:
    values = np.where(np.isfinite(values), values, np.nan)
    filled = values[~np.isnan(values)]
    if not len(filled):
        return Column(name, "ignored", reason="empty")
    if (filled == filled[0]).all():
        return Column(name, "ignored", reason="constant")
    if kind == "number" and _is_identifier(name, filled):
        return Column(name, "ignored", reason="identifier")
    if kind == "date":
        values = values - filled.min()
    return Column(name, kind, values)


def _is_identifier(name: str, filled: np.ndarray) -> bool:
    """Whether numbers are distinct integers whose name, order or density is that of an identifier."""
    if (filled != np.floor(filled)).any() or len(np.unique(filled)) < len(filled):
        return False
    steps = np.diff(filled)
    if IDENTIFIER_NAME.search(name) or (len(filled) > 2 and (steps == 1).all()):
        return True
    in_order = (steps > 0).all() or (steps < 0).all()
    return len(filled) >= MIN_IDENTIFIER_ROWS and bool(in_order or np.ptp(filled) < 2 * len(filled))


def _string_column(name: str, cells: list[str]) -> Column:
    for kind, parse in PARSERS:
        values = _parse_all(cells, parse)
        if values is not None:
            return _numeric_column(name, kind, values)
    cells = [cell if cell.strip() else "" for cell in cells]
    filled = [cell for cell in cells if cell]
    distinct = set(filled)
    if len(distinct) == 1 and len(filled) == len(cells):
        return Column(name, "ignored", reason="constant")
    share = len(distinct) / len(filled)
    words = sum(len(cell.split()) for cell in filled) / len(filled)
    unspaced = np.mean([UNSPACED.search(cell) is not None and len(cell) > 3 for cell in filled]) > 0.5
    if share > MIN_DISTINCT_TEXT and (words >= MIN_WORDS or (unspaced and share > MIN_DISTINCT_IDENTIFIER)):
        return _text_column(name, cells)
    if share >= MIN_DISTINCT_IDENTIFIER and len(distinct) > 1:
        return Column(name, "ignored", reason="identifier")
    return Column(name, "category", cells)


def _text_column(name: str, cells: list[str]) -> Column:
    filled = [cell for cell in cells if re.search(r"\w", cell)]
    if not filled:
        return Column(name, "ignored", reason="no words")
    unspaced = np.mean([UNSPACED.search(cell) is not None for cell in filled]) > 0.5
    return Column(name, "characters" if unspaced else "text", cells)


def _parse_all(cells: list[str], parse: Callable[[str], float | None]) -> np.ndarray | None:
    """All cells as floats, NaN where they are missing; None if a cell is of another kind."""
    values = np.full(len(cells), np.nan)
    for i, cell in enumerate(cells):
        cell = cell.strip()
        if cell.lower() in MISSING:
            continue
        number = parse(cell)
        if number is None:
            return None
        values[i] = number
    return values


def _boolean(cell: str) -> float | None:
    return {"true": 1.0, "false": 0.0}.get(cell.lower())


def _number(pattern: re.Pattern, comma: str, cell: str) -> float | None:
    """A number of a certain form, with ``comma`` in place of its commas."""
    return float(cell.replace(",", comma)) if pattern.fullmatch(cell) and not CODE.fullmatch(cell) else None


def _date(cell: str) -> float | None:
    """Days since 1970."""
    if not DATE.fullmatch(cell):
        return None
    text = cell.replace("/", "-").replace(" ", "T", 1).replace(" ", "")
    try:
        time = datetime.fromisoformat(text if len(text) > 7 else text + "-01")
    except ValueError:
        return None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() / 86400.0


PARSERS = (
    ("boolean", _boolean),
    ("number", partial(_number, PLAIN_NUMBER, "")),
    ("number", partial(_number, GROUPED_NUMBER, "")),
    ("number", partial(_number, DECIMAL_COMMA, ".")),
    ("date", _date),
)
