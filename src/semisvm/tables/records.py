"""The records of a CSV file in UTF-8, as positions of their cells in its bytes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import jit
from . import InputError
from .cells import unquote

DELIMITERS = (",", ";", "\t", "|")
RARE_DELIMITERS = (":", " ")  # where none of the others yields a second column
N_SNIFFED_RECORDS = 50
QUOTE, CARRIAGE_RETURN = 34, 13


class Records(NamedTuple):
    """Records and their cells, raw, with their quotes.

    An empty line is a record without cells.
    """

    starts: np.ndarray  # where the records start, and where the last one ends
    widths: np.ndarray  # numbers of their cells
    stops: np.ndarray  # where the cells stop, relative to the start of their record, one record after the other
    unclosed: bool  # whether a quote is not closed; the last record is then the one before

    def cells(self, data: bytes, record: int) -> list[bytes]:
        """The raw cells of a record."""
        last = int(self.widths[: record + 1].sum())
        stops = self.stops[last - self.widths[record] : last].tolist()
        start = int(self.starts[record])
        return [data[start + a : start + b] for a, b in zip([0, *(stop + 1 for stop in stops)], stops)]


@jit()
def _stop_of_cell(data, start, delimiter, newline):
    """Where the cell that starts here stops; -1 if its quote is not closed."""
    n, i = data.size, start
    if i < n and data[i] == QUOTE:
        i += 1
        while True:
            while i < n and data[i] != QUOTE:
                i += 1
            if i == n:
                return -1
            i += 1
            if i == n or data[i] != QUOTE:
                break
            i += 1
    while i < n and data[i] != delimiter and data[i] != newline:
        i += 1
    return i


@jit()
def _is_blank(data, start, stop):
    for i in range(start, stop):  # noqa: SIM110
        if not (data[i] == 32 or 9 <= data[i] <= 13 or 28 <= data[i] <= 31):
            return False
    return True


@jit()
def _scan(data, delimiter, newline, max_records, starts, widths, stops):
    """Fill the arrays, or count alone if they are empty; returns the numbers of records and cells, and ``unclosed``."""
    fill = starts.size > 0
    n_records, n_cells, start = 0, 0, 0
    while start < data.size and n_records != max_records:
        cell, first = start, n_cells
        while True:
            stop = _stop_of_cell(data, cell, delimiter, newline)
            if stop < 0:
                return n_records, first, True
            is_last = stop == data.size or data[stop] == newline
            end = stop
            if is_last and newline != CARRIAGE_RETURN and end > cell and data[end - 1] == CARRIAGE_RETURN:
                end -= 1
            if fill:
                stops[n_cells] = end - start
            n_cells += 1
            if is_last:
                break
            cell = stop + 1
        if n_cells == first + 1 and _is_blank(data, start, end):
            n_cells = first
        if fill:
            starts[n_records], widths[n_records] = start, n_cells - first
        n_records += 1
        start = stop + 1
        if fill:
            starts[n_records] = min(start, data.size)
    return n_records, n_cells, False


def scan_records(data: bytes, delimiter: str, max_records: int = -1) -> Records:
    """The records of a file, or the first ones."""
    newline = b"\n" if b"\n" in data else b"\r"
    arguments = np.frombuffer(data, dtype=np.uint8), ord(delimiter), newline[0], max_records
    empty = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint32)
    n_records, n_cells, unclosed = _scan(*arguments, *empty)
    starts, widths = np.zeros(n_records + 1, dtype=np.int64), np.zeros(n_records, dtype=np.int32)
    stops = np.zeros(n_cells + 1, dtype=np.uint32)  # a blank line or an open quote writes one more
    _scan(*arguments[:3], n_records, starts, widths, stops)
    return Records(starts, widths, stops[:n_cells], unclosed)


@jit()
def _copy_lines(data, starts, stops, out):
    """Copy pieces of the data, with a newline behind each."""
    position = 0
    for i in range(starts.size):
        for j in range(starts[i], stops[i]):
            out[position] = data[j]
            position += 1
        out[position] = 10
        position += 1


def split_pieces(data: bytes, starts: np.ndarray, stops: np.ndarray) -> list[str]:
    """The pieces of the data between these positions; none of them may hold a newline."""
    out = np.empty(int((stops - starts).sum()) + len(starts), dtype=np.uint8)
    _copy_lines(np.frombuffer(data, dtype=np.uint8), starts, stops, out)
    return str(out.data, "utf-8").split("\n")[:-1]


def check_records(records: Records, data: bytes, delimiter: str) -> None:
    """Refuse a quote that is not closed, and rows of other widths than the first one."""
    newline = b"\n" if b"\n" in data else b"\r"
    widths = records.widths[records.widths > 0]
    if records.unclosed:
        line = data.count(newline, 0, int(records.starts[-1])) + 1
        raise InputError(
            f"the quote opened in line {line} is not closed; close it, or put the whole cell in quotes and double the "
            "quotes inside it."
        )
    if not (widths == widths[0]).all():
        wrong = np.flatnonzero((records.widths > 0) & (records.widths != widths[0]))[0]
        line = data.count(newline, 0, int(records.starts[wrong])) + 1
        raise InputError(
            f"line {line} has {records.widths[wrong]} cells and the header has {widths[0]}; give every row as many "
            f"cells as the header, and put cells that contain {delimiter!r} in double quotes."
        )


def sniff_delimiter(data: bytes, target: str | None, preferred: str = ",") -> str:
    """The delimiter that has the target in its header and splits the first records into equally many cells.

    Parameters
    ----------
    data : bytes
        A file in UTF-8.
    target : str, optional
        A column that the header should have.
    preferred : str
        The delimiter to choose of those that are equally good.
    """

    def score(delimiter: str) -> tuple[bool, bool, int]:
        records = scan_records(data, delimiter, N_SNIFFED_RECORDS)
        widths = records.widths[records.widths > 0]
        if not len(widths):
            return False, False, 0
        header = records.cells(data, int(np.flatnonzero(records.widths)[0]))
        has_target = target in [unquote(cell.decode()) for cell in header]
        return has_target, not records.unclosed and bool((widths == widths[0]).all()), len(header)

    best = max((preferred, *DELIMITERS), key=score)
    has_target, _, width = score(best)
    if width > 1 or has_target:
        return best
    rare = max(RARE_DELIMITERS, key=score)
    has_target, is_equal, width = score(rare)
    return rare if is_equal and width > 1 and (has_target or target is None) else best
