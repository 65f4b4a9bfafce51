"""Numbers as people write them: ``1,234.56``, ``1.234,56``, ``$12``, ``(3.50)``, ``12 %``.

The sign, a currency and a percent sign are taken off first; what is left has a mark before its decimals and may have
one between groups of three digits. The pair of marks that fits most cells of a column counts for all of them; of pairs
that fit equally many the first one of ``MARKS``. Brackets mean a negative number, as in accounts.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

import numpy as np

from .missing import is_missing

MIN_SHARE = 0.95  # of the filled cells that have to be numbers, or dates; the others count as missing
SPACES = " \u00a0\u202f\u2009"  # between groups of digits: also no-break and thin ones
MARKS = ((".", ""), (".", ","), (",", ""), (",", "."), (".", " "), (",", " "), (".", "'"), (".", "\u2019"))
PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
CODE = re.compile(r"0\d+|\d{16,}")  # a postal code, or more digits than a float holds
PLAIN_NUMBER = re.compile(rf"\s*+(?!(?:{CODE.pattern})\s*+$)(?:{PLAIN.pattern})\s*+", re.IGNORECASE)
SHORT_NUMBER = r"[+-]?(?:(?:0|[1-9][0-9]{0,14})(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
SHORT_NUMBERS = re.compile(rf"(?:(?:{SHORT_NUMBER})?\n)*+")  # one per line, or none
LEADING_ZERO = re.compile(r"\D*0\d")
NINES = str.maketrans("012345678", "999999999")
CURRENCY = (
    r"(?:[$€£¥₹₩₽₺฿₫₴₪]|(?:US|A|C|HK|NZ)\$|USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|kr|zł|Fr\.|R\$)"
)
DECORATED = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[+\-\u2212]?)\s*(?:{CURRENCY})?\s*(?P<sign2>[+\-\u2212]?)(?P<digits>[\d.,'\u2019{SPACES}]*\d"
    rf"[\d.,]*(?:[eE][+-]?\d+)?)\s*(?:%|‰|{CURRENCY})?\s*(?P<close>\))?",
    re.IGNORECASE,
)


class NumberFormat(NamedTuple):
    """The marks before the decimals and between groups of digits."""

    decimal: str = "."
    group: str = ""

    def parse(self, cell: str) -> float | None:
        """The number of a cell; None if it is none of this format, or a code such as 01234."""
        cell = cell.strip()
        if PLAIN.fullmatch(cell) and self == PLAIN_FORMAT:
            return None if CODE.fullmatch(cell) else float(cell)
        found = DECORATED.fullmatch(cell)
        if found is None or bool(found["open"]) != bool(found["close"]) or (found["sign"] and found["sign2"]):
            return None
        digits = found["digits"].translate(SPACE)
        if CODE.fullmatch(digits) or not _PATTERNS[self].fullmatch(digits):
            return None
        value = float(digits.replace(self.group or self.decimal, "" if self.group else ".").replace(self.decimal, "."))
        return -value if found["open"] or (found["sign"] + found["sign2"]) in ("-", "\u2212") else value


SPACE = str.maketrans(dict.fromkeys(SPACES, " "))
PLAIN_FORMAT = NumberFormat()


def _pattern(decimal: str, group: str) -> re.Pattern:
    whole = rf"(\d{{1,3}}({re.escape(group)}\d{{3}})+|\d+)" if group else r"\d+"
    return re.compile(rf"({whole}({re.escape(decimal)}\d*)?|{re.escape(decimal)}\d+)([eE][+-]?\d+)?")


FORMATS = [NumberFormat(*marks) for marks in MARKS]
_PATTERNS = {form: _pattern(*form) for form in FORMATS}


def parse_numbers(cells: list[str], form: NumberFormat) -> tuple[np.ndarray, list[str]]:
    """The cells as floats, NaN where they are missing or of another form, and the cells of another form."""
    short = parse_short_numbers(cells) if form == PLAIN_FORMAT else None
    if short is not None:
        return short, []
    others = []

    def parse(cell: str) -> float:
        number = form.parse(cell)
        if number is None and not is_missing(cell):
            others.append(cell)
        return np.nan if number is None else number

    if form == PLAIN_FORMAT:
        is_plain = PLAIN_NUMBER.fullmatch
        return np.array([float(cell) if is_plain(cell) else parse(cell) for cell in cells], dtype=float), others
    return np.array([parse(cell) for cell in cells], dtype=float), others


def parse_short_numbers(cells: list[str]) -> np.ndarray | None:
    """The floats of a column, NaN where it is empty; None if not all others are plain numbers of up to 15 digits.

    Most columns of numbers are such, and one expression for the whole column is several times as fast as one per cell.
    """
    if not SHORT_NUMBERS.fullmatch("\n".join(cells) + "\n"):
        return None
    try:
        return np.array([float(cell) if cell else np.nan for cell in cells])
    except ValueError:  # a cell of two lines
        return None


def _shape(cell: str) -> str:
    """A cell that is a number of the same formats, or of none, and equal for all of this length and these marks."""
    shape = cell.translate(NINES)
    return shape.replace("9", "0", 1) if LEADING_ZERO.match(cell) else shape


def detect_numbers(cells: Counter) -> NumberFormat | None:
    """The format of a column of numbers; None for a column of something else.

    A column with a code such as 01234 is no column of numbers.

    Parameters
    ----------
    cells : Counter
        The filled cells, and how often there is each of them.
    """
    counts: Counter = Counter()
    for cell, count in cells.items():
        counts[_shape(cell.strip())] += count
    needed = MIN_SHARE * counts.total()
    n_other = 0.0
    fits = dict.fromkeys(FORMATS, 0)
    for cell, count in counts.items():
        if CODE.fullmatch(cell):
            return None
        is_number = False
        for form in FORMATS:
            if form.parse(cell) is not None:
                fits[form] += count
                is_number = True
        n_other += 0 if is_number else count
        if counts.total() - n_other < needed:
            return None
    best = max(FORMATS, key=lambda form: fits[form])
    return best if fits[best] and fits[best] >= needed else None
