"""CSV files whose cells stay as they are, quotes and line ends included.

A record is kept as its raw cells; only the target's empty cells are replaced and one cell is appended. Values, without
the quotes, are read from the raw cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from . import InputError
from .cells import Record, escape_formula, records, sniff_delimiter, unquote
from .columns import RawColumn
from .encodings import DecodedText, read_text
from .files import display_name, format_of
from .table import Table, format_confidence


@dataclass(kw_only=True)
class DelimitedTable(Table):
    """A CSV or TSV file."""

    delimiter: str
    prefix: str  # empty lines before the header
    header: Record
    lines: list[Record]  # rows and empty lines
    rows: list[list[str]]
    source: DecodedText

    @classmethod
    def read(cls, path: Path, encoding: str | None = None, target: str | None = None) -> DelimitedTable:
        """Read a file.

        Parameters
        ----------
        path : Path
            The file; the delimiter is the tab for ``.tsv``, and otherwise the one that its first lines suggest.
        encoding : str, optional
            Its encoding; None detects it.
        target : str, optional
            A column that has to be in the header, if any delimiter yields it.
        """
        source, prefix, file_name = read_text(path, encoding), "", display_name(path)
        text = source.text
        if not text.strip():
            raise InputError(f"{file_name} is empty; it needs a header line with the column names, and rows.")
        delimiter = "\t" if format_of(path) == "TSV" else sniff_delimiter(text.lstrip("\r\n"), target)
        remaining = records(text, delimiter)
        try:
            for header in remaining:
                if header.cells:
                    break
                prefix += header.end
            lines = [_check_width(record, header, delimiter) for record in remaining]
        except InputError as error:
            raise InputError(f"{file_name}: {error}") from None
        names = [unquote(cell) for cell in header.cells]
        rows = [record.cells for record in lines if record.cells]
        source = source._replace(text="")
        return cls(
            names=names,
            n_rows=len(rows),
            notes=source.notes,
            delimiter=delimiter,
            prefix=prefix,
            header=header,
            lines=lines,
            rows=rows,
            source=source,
        )

    def column(self, position: int) -> RawColumn:
        """The cells of a column, as text."""
        return RawColumn("text", [unquote(row[position]) for row in self.rows])

    def target_cells(self, position: int) -> list[Any]:
        """The cells of the target, as text."""
        return self.column(position).values

    def write(
        self,
        file: BinaryIO,
        position: int,
        filled: list[Any],
        name: str,
        confidence: list[float],
        escape: bool = True,
    ) -> None:
        """Write all lines, those without cells included, with the filled target and one more column."""
        raw_labels: dict[str, str] = {}
        for row in self.rows:
            raw_labels.setdefault(unquote(row[position]), row[position])
        if escape:
            name = escape_formula(name)
            raw_labels = {v: raw if escape_formula(v) == v else self._quote(escape_formula(v))
                          for v, raw in raw_labels.items()}  # fmt: skip
        pieces = [self.prefix, self.delimiter.join([*self.header.cells, self._quote(name)]), self.header.end]
        results = iter(zip(filled, confidence))
        for _, cells, end in self.lines:
            if cells:
                label, probability = next(results)
                if label is not None:
                    cells = [*cells[:position], raw_labels[label], *cells[position + 1 :]]
                pieces.append(self.delimiter.join([*cells, format_confidence(label, probability)]))
            pieces.append(end)
        file.write(self.source.encode("".join(pieces)))

    def write_appended(self, file: BinaryIO, columns: dict[str, list[Any]], escape: bool = True) -> None:
        """Write all lines, those without cells included, with more columns."""
        edit = escape_formula if escape else str
        texts = [[f"{v:.4f}" if isinstance(v, float) else edit(str(v)) for v in values] for values in columns.values()]
        pieces = [
            self.prefix,
            self.delimiter.join([*self.header.cells, *(self._quote(edit(name)) for name in columns)]),
        ]
        pieces.append(self.header.end)
        results = iter(zip(*texts))
        for _, cells, end in self.lines:
            if cells:
                pieces.append(self.delimiter.join([*cells, *(self._quote(text) for text in next(results))]))
            pieces.append(end)
        file.write(self.source.encode("".join(pieces)))

    def _quote(self, value: str) -> str:
        """A raw cell, with quotes only if the value needs them."""
        needs_quotes = any(special in value for special in (self.delimiter, '"', "\r", "\n"))
        return '"' + value.replace('"', '""') + '"' if needs_quotes else value


def _check_width(record: Record, header: Record, delimiter: str) -> Record:
    """The record, which has to have as many cells as the header, or none."""
    if record.cells and len(record.cells) != len(header.cells):
        raise InputError(
            f"line {record.line} has {len(record.cells)} cells and the header has {len(header.cells)}; give every row "
            f"as many cells as the header, and put cells that contain {delimiter!r} in double quotes."
        )
    return record
