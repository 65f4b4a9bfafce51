"""What kind a column of a table is: number, boolean, date, category, text, or none that helps.

The rules look at the cells alone, in this order; the first that fits decides.

=========== ==========================================================================================
text        named by the user
ignored     no filled cell, or one value throughout
boolean     every filled cell is true or false
number      every filled cell is a number; ignored as an identifier if whole, all distinct and counting rows
date        every filled cell is an ISO-like date
text        two words a cell or more on the average, or a script without spaces, and mostly distinct
ignored     single words, (nearly) all distinct: an identifier such as a key or an address
category    every other column of strings; an empty cell is a category of its own
=========== ==========================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

MISSING = {"", "na", "n/a", "#n/a", "nan", "<na>", "null", "none", "nil", "?", "-", "."}
WORDS_OF_TEXT = 2.0
DISTINCT_TEXT = 0.3  # share of distinct cells above which several words are text
DISTINCT_IDENTIFIER = 0.9
MANY_ROWS = 20  # below, whole numbers that happen to be distinct prove nothing

PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
GROUPED = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d{1,3})(\.\d+)?")
COMMA = re.compile(r"[+-]?\d+(,\d+)?")
CODE = re.compile(r"0\d+|\d{16,}")  # a postal code, or more digits than a float holds
DATE = re.compile(r"\d{4}[-/]\d{2}([-/]\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?( ?(Z|[+-]\d{2}:?\d{2}))?)?)?")
IDENTIFIER_NAME = re.compile(r"(?i:(^|[\W_])(id|key|index|idx|uuid|guid|row|no|nr)s?($|[\W_\d]))|[a-z]I[dD]$|^$")
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


class Raw(NamedTuple):
    """A column as its file holds it.

    ``kind`` is "text" (a list of str, empty where missing), "number", "boolean", "date" (arrays of float, NaN where
    missing; dates in days) or "other" (``values`` names the type).
    """

    kind: str
    values: Any


@dataclass(frozen=True)
class Column:
    """A column and what is made of it.

    Attributes
    ----------
    name : str
        Its name in the file.
    kind : str
        "number", "boolean", "date", "category", "text", "characters" (text of a script without spaces) or "ignored".
    values : array or list
        Floats with NaN, or strings.
    why : str
        Why it is ignored.
    """

    name: str
    kind: str
    values: Any = None
    why: str = ""


def detect(name: str, raw: Raw, as_text: bool = False) -> Column:
    """Decide what a column is.

    Parameters
    ----------
    name : str
        Name of the column.
    raw : Raw
        Its values.
    as_text : bool, default=False
        Whether the user says that it is text.

    Returns
    -------
    Column
    """
    if raw.kind == "other":
        return Column(name, "ignored", why=f"type {raw.values}")
    if as_text:
        return _text(name, raw.values if raw.kind == "text" else ["" if v != v else f"{v:g}" for v in raw.values])
    return _of_cells(name, raw.values) if raw.kind == "text" else _of_numbers(name, raw.kind, raw.values)


def _of_numbers(name: str, kind: str, values: np.ndarray) -> Column:
    values = np.where(np.isfinite(values), values, np.nan)
    filled = values[~np.isnan(values)]
    if not len(filled):
        return Column(name, "ignored", why="empty")
    if (filled == filled[0]).all():
        return Column(name, "ignored", why="constant")
    if kind == "number" and _counts_rows(name, filled):
        return Column(name, "ignored", why="identifier")
    if kind == "date":
        values = values - filled.min()
    return Column(name, kind, values)


def _counts_rows(name: str, filled: np.ndarray) -> bool:
    """Distinct whole numbers that a name, their order or their density gives away as identifiers."""
    if (filled != np.floor(filled)).any() or len(np.unique(filled)) < len(filled):
        return False
    steps = np.diff(filled)
    if IDENTIFIER_NAME.search(name) or (len(filled) > 2 and (steps == 1).all()):
        return True
    in_order = (steps > 0).all() or (steps < 0).all()
    return len(filled) >= MANY_ROWS and bool(in_order or np.ptp(filled) < 2 * len(filled))


def _of_cells(name: str, cells: list[str]) -> Column:
    for kind, parse in PARSERS:
        values = _parse(cells, parse)
        if values is not None:
            return _of_numbers(name, kind, values)
    cells = [cell if cell.strip() else "" for cell in cells]
    filled = [cell for cell in cells if cell]
    distinct = set(filled)
    if len(distinct) == 1 and len(filled) == len(cells):
        return Column(name, "ignored", why="constant")
    share = len(distinct) / len(filled)
    words = sum(len(cell.split()) for cell in filled) / len(filled)
    unspaced = np.mean([UNSPACED.search(cell) is not None and len(cell) > 3 for cell in filled]) > 0.5
    if share > DISTINCT_TEXT and (words >= WORDS_OF_TEXT or (unspaced and share > DISTINCT_IDENTIFIER)):
        return _text(name, cells)
    if share >= DISTINCT_IDENTIFIER and len(distinct) > 1:
        return Column(name, "ignored", why="identifier")
    return Column(name, "category", cells)


def _text(name: str, cells: list[str]) -> Column:
    filled = [cell for cell in cells if re.search(r"\w", cell)]
    if not filled:
        return Column(name, "ignored", why="no words")
    unspaced = np.mean([UNSPACED.search(cell) is not None for cell in filled]) > 0.5
    return Column(name, "characters" if unspaced else "text", cells)


def _parse(cells: list[str], parse: Callable[[str], float | None]) -> np.ndarray | None:
    """All cells as floats, NaN where nothing stands; None if a cell is of another kind."""
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


def _plain(cell: str) -> float | None:
    return float(cell) if PLAIN.fullmatch(cell) and not CODE.fullmatch(cell) else None


def _grouped(cell: str) -> float | None:
    return float(cell.replace(",", "")) if GROUPED.fullmatch(cell) and not CODE.fullmatch(cell) else None


def _comma(cell: str) -> float | None:
    return float(cell.replace(",", ".")) if COMMA.fullmatch(cell) and not CODE.fullmatch(cell) else None


def _date(cell: str) -> float | None:
    """Days since 1970."""
    if not DATE.fullmatch(cell):
        return None
    text = cell.replace("/", "-").replace(" ", "T", 1).replace(" ", "")
    try:
        moment = datetime.fromisoformat(text if len(text) > 7 else text + "-01")
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() / 86400.0


PARSERS = (("boolean", _boolean), ("number", _plain), ("number", _grouped), ("number", _comma), ("date", _date))
