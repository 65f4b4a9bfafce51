"""Where the cells of a CSV text begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from . import Refusal

DELIMITERS = (",", ";", "\t", "|")
SNIFFED_RECORDS = 50
_QUOTED = re.compile(r'"[^"]*+(?:""[^"]*+)*+"')


def value(raw: str) -> str:
    """What a raw cell says."""
    if not raw.startswith('"'):
        return raw
    end = _QUOTED.match(raw).end()
    return raw[1 : end - 1].replace('""', '"') + raw[end:]


def records(text: str, delimiter: str) -> Iterator[tuple[int, list[str], str]]:
    """Line number, raw cells and line end of every record; an empty line has no cells, its blanks are its end."""
    newline = "\n" if "\n" in text else "\r"
    rest = re.compile(f"[^{re.escape(delimiter)}{newline}]*+")
    start, line = 0, 1
    while start < len(text):
        stop = text.find(newline, start)
        stop = len(text) if stop < 0 else stop
        if text.find('"', start, stop) < 0:
            cells = text[start:stop].split(delimiter)
        else:
            cells, stop = _quoted_record(text, start, delimiter, rest, line)
        end = text[stop : stop + 1]
        if newline == "\n" and cells[-1].endswith("\r"):
            cells[-1], end = cells[-1][:-1], "\r" + end
        if len(cells) == 1 and not cells[0].strip():
            cells, end = [], cells[0] + end
        yield line, cells, end
        line += text.count(newline, start, stop + 1)
        start = stop + 1


def _quoted_record(text: str, at: int, delimiter: str, rest: re.Pattern, line: int) -> tuple[list[str], int]:
    cells = []
    while True:
        begin = at
        if text.startswith('"', at):
            quoted = _QUOTED.match(text, at)
            if quoted is None:
                raise Refusal(
                    f"a quote opened in line {line} is never closed; close it, or double the quotes that belong to a "
                    "cell and put the cell in quotes."
                )
            at = quoted.end()
        at = rest.match(text, at).end()
        cells.append(text[begin:at])
        if not text.startswith(delimiter, at):
            return cells, at
        at += 1


def sniff(text: str, target: str | None) -> str:
    """The delimiter that has the target in its header and cuts the first records into equally many cells."""

    def merit(delimiter: str) -> tuple:
        first, whole = [], True
        try:
            for _, cells, _ in islice(records(text, delimiter), SNIFFED_RECORDS):
                first += [cells] if cells else []
        except Refusal:
            whole = False
        header = [value(cell) for cell in first[0]] if first else []
        return (target in header, whole and all(len(cells) == len(header) for cells in first), len(header))

    return max(DELIMITERS, key=merit)
