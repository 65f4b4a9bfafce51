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
    values, others = np.full(len(cells), np.nan), []
    for i, cell in enumerate(cells):
        number = form.parse(cell)
        if number is not None:
            values[i] = number
        elif not is_missing(cell):
            others.append(cell)
    return values, others


def detect_numbers(cells: list[str]) -> NumberFormat | None:
    """The format of a column of numbers; None for a column of something else.

    A column with a code such as 01234 is no column of numbers.
    """
    counts = Counter(cell.strip() for cell in cells if not is_missing(cell))
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
