"""The cells of tables: spellings of one value, quotes, and formulas that spreadsheets run."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

QUOTED = re.compile(r'"[^"]*+(?:""[^"]*+)*+"')


def spelling_key(value: str) -> str:
    """What spellings of one class or category have in common: capitals and blanks do not count."""
    return " ".join(unicodedata.normalize("NFC", value).split()).casefold()


def format_value(value: Any) -> str:
    """A label as it is, or a confidence with four decimals."""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def unquote(raw: str) -> str:
    """The value of a raw cell."""
    quoted = QUOTED.match(raw) if raw.startswith('"') else None
    return raw if quoted is None else quoted[0][1:-1].replace('""', '"') + raw[quoted.end() :]


def escape_formula(value: str) -> str:
    """A value with an apostrophe before it if a spreadsheet would run it as a formula; numbers stay."""
    if not value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return value
    try:
        float(value)
    except ValueError:
        return "'" + value
    return value


def quote(value: str, delimiter: str) -> str:
    """A raw cell, with quotes only if the value needs them."""
    needs_quotes = any(special in value for special in (delimiter, '"', "\r", "\n"))
    return '"' + value.replace('"', '""') + '"' if needs_quotes else value
