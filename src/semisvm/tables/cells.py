"""The records of a CSV text, as raw cells with their quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from . import InputError

DELIMITERS = (",", ";", "\t", "|")
N_SNIFFED_RECORDS = 50
QUOTED = re.compile(r'"[^"]*+(?:""[^"]*+)*+"')


class Record(NamedTuple):
    """A record: the number of its first line, its raw cells and its line end.

    An empty line has no cells; its blanks are part of its end.
    """

    line: int
    cells: list[str]
    end: str


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


def records(text: str, delimiter: str) -> Iterator[Record]:
    """All records of a text."""
    newline = "\n" if "\n" in text else "\r"
    cell = re.compile(rf'(?:{QUOTED.pattern}|(?!"))[^{re.escape(delimiter)}{newline}]*+')
    start, line = 0, 1
    while start < len(text):
        stop = text.find(newline, start)
        stop = len(text) if stop < 0 else stop
        if text.find('"', start, stop) < 0:
            cells = text[start:stop].split(delimiter)
        else:
            cells, stop = _split_quoted(text, start, delimiter, cell, line)
        end = text[stop : stop + 1]
        if newline == "\n" and cells[-1].endswith("\r"):
            cells[-1], end = cells[-1][:-1], "\r" + end
        if len(cells) == 1 and not cells[0].strip():
            cells, end = [], cells[0] + end
        yield Record(line, cells, end)
        line += text.count(newline, start, stop + 1)
        start = stop + 1


def _split_quoted(text: str, start: int, delimiter: str, cell: re.Pattern, line: int) -> tuple[list[str], int]:
    """The cells of a record with quotes, and the position where it stops."""
    cells = []
    while True:
        found = cell.match(text, start)
        if found is None:
            raise InputError(
                f"the quote opened in line {line} is not closed; close it, or put the whole cell in quotes and double "
                "the quotes inside it."
            )
        cells.append(found[0])
        if not text.startswith(delimiter, found.end()):
            return cells, found.end()
        start = found.end() + 1


def sniff_delimiter(text: str, target: str | None) -> str:
    """The delimiter that has the target in its header and splits the first records into equally many cells."""

    def score(delimiter: str) -> tuple[bool, bool, int]:
        first, complete = [], True
        try:
            for record in islice(records(text, delimiter), N_SNIFFED_RECORDS):
                first += [record.cells] if record.cells else []
        except InputError:
            complete = False
        header = [unquote(cell) for cell in first[0]] if first else []
        return target in header, complete and all(len(cells) == len(header) for cells in first), len(header)

    return max(DELIMITERS, key=score)
