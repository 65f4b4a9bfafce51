"""CSV files of which every byte stays as it is but those of the target's empty cells; one cell is appended to a row.

The file is kept as bytes with the positions of its cells, of four bytes each; the strings of a column are made when it
is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from . import InputError
from .cells import escape_formula, format_value, quote, unquote
from .columns import RawColumn
from .encodings import SourceText, read_text
from .files import display_name, format_of
from .records import check_records, scan_records, sniff_delimiter, split_pieces
from .table import Table, format_confidence

BLOCK = 2**16  # rows that are read or written at once
SAID = {"\t": "tabs", " ": "blanks"}


@dataclass(kw_only=True)
class DelimitedTable(Table):
    """A CSV or TSV file."""

    source: SourceText
    delimiter: str
    header_stop: int  # where the cells of the header stop
    starts: np.ndarray  # of the rows
    stops: np.ndarray  # of their cells, relative to the start of the row, of shape (n_rows, n_columns)
    has_quotes: bool

    @classmethod
    def read(cls, path: Path, encoding: str | None = None, target: str | None = None) -> DelimitedTable:
        """Read a file.

        Parameters
        ----------
        path : Path
            The file; the delimiter is the one that its first lines suggest.
        encoding : str, optional
            Its encoding; None detects it.
        target : str, optional
            A column that has to be in the header, if any delimiter yields it.
        """
        source, file_name = read_text(path, encoding), display_name(path)
        data, usual = source.data, "\t" if format_of(path) == "TSV" else ","
        delimiter = sniff_delimiter(data, target, usual)
        records = scan_records(data, delimiter)
        filled = np.flatnonzero(records.widths)
        if not len(filled) and not records.unclosed:
            raise InputError(f"{file_name} is empty; it needs a header line with the column names, and rows.")
        try:
            check_records(records, data, delimiter)
        except InputError as error:
            raise InputError(f"{file_name}: {error}") from None
        names = [unquote(cell.decode()) for cell in records.cells(data, int(filled[0]))]
        said = SAID.get(delimiter, repr(delimiter))
        return cls(
            names=names,
            n_rows=len(filled) - 1,
            notes=source.notes + ([] if delimiter == usual else [f"the columns are separated by {said}"]),
            source=source,
            delimiter=delimiter,
            header_stop=int(records.starts[filled[0]]) + int(records.stops[len(names) - 1]),
            starts=records.starts[filled[1:]],
            stops=records.stops[len(names) :].reshape(-1, len(names)),
            has_quotes=b'"' in data,
        )

    def _bounds(self, position: int, rows: slice) -> tuple[np.ndarray, np.ndarray]:
        """Where the cells of a column start and stop."""
        starts = self.starts[rows]
        first = starts + self.stops[rows, position - 1] + 1 if position else starts
        return first, starts + self.stops[rows, position]

    def _raw_cells(self, position: int) -> list[str]:
        data, cells = self.source.data, []
        for first in range(0, self.n_rows, BLOCK):
            starts, stops = self._bounds(position, slice(first, first + BLOCK))
            if self.has_quotes:  # and perhaps newlines in cells
                cells += [data[a:b].decode() for a, b in zip(starts.tolist(), stops.tolist())]
            else:
                cells += split_pieces(data, starts, stops)
        return cells

    def column(self, position: int) -> RawColumn:
        """The cells of a column, as text."""
        return RawColumn("text", self.target_cells(position))

    def target_cells(self, position: int) -> list[Any]:
        """The cells of the target, as text."""
        cells = self._raw_cells(position)
        return [unquote(cell) for cell in cells] if self.has_quotes else cells

    def write(
        self,
        file: BinaryIO,
        position: int,
        filled: list[Any],
        name: str,
        confidence: list[float],
        escape: bool = True,
    ) -> None:
        """Write all lines, empty ones included, with the filled target and one more column."""
        data, source, delimiter = self.source.data, self.source, self.delimiter.encode()
        labels = self._raw_labels(position, escape)
        name = quote(escape_formula(name) if escape else name, self.delimiter)
        pieces = [data[: self.header_stop], delimiter, name.encode()]
        copied = self.header_stop
        file.write(source.mark)
        for first in range(0, self.n_rows, BLOCK):
            rows = slice(first, first + BLOCK)
            bounds = [*self._bounds(position, rows), self._bounds(len(self.names) - 1, rows)[1]]
            for start, stop, end, label, probability in zip(
                *(places.tolist() for places in bounds), filled[rows], confidence[rows]
            ):
                if label is not None:
                    pieces += data[copied:start], labels[label]
                    copied = stop
                pieces += data[copied:end], delimiter, format_confidence(label, probability).encode()
                copied = end
            file.write(source.encode(b"".join(pieces)))
            pieces.clear()
        file.write(source.encode(b"".join([*pieces, data[copied:]])))

    def write_appended(self, file: BinaryIO, columns: dict[str, list[Any]], escape: bool = True) -> None:
        """Write all lines, empty ones included, with more columns."""
        data, source, delimiter = self.source.data, self.source, self.delimiter
        edit = escape_formula if escape else str
        names = "".join(delimiter + quote(edit(name), delimiter) for name in columns)
        pieces, copied = [data[: self.header_stop], names.encode()], self.header_stop
        file.write(source.mark)
        for first in range(0, self.n_rows, BLOCK):
            rows = slice(first, first + BLOCK)
            ends = self._bounds(len(self.names) - 1, rows)[1].tolist()
            for end, *values in zip(ends, *(found[rows] for found in columns.values())):
                texts = (quote(edit(format_value(v)), delimiter) for v in values)
                pieces += data[copied:end], "".join(delimiter + text for text in texts).encode()
                copied = end
            file.write(source.encode(b"".join(pieces)))
            pieces.clear()
        file.write(source.encode(b"".join([*pieces, data[copied:]])))

    def _raw_labels(self, position: int, escape: bool) -> dict[str, bytes]:
        """The labels as they are first written in the file, or escaped."""
        raw_labels: dict[str, bytes] = {}
        for raw in dict.fromkeys(self._raw_cells(position)):
            value = unquote(raw)
            escaped = escape_formula(value) if escape else value
            raw_labels.setdefault(value, (raw if escaped == value else quote(escaped, self.delimiter)).encode())
        return raw_labels
