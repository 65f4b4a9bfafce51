"""CSV files whose cells stay as they are, quotes and line ends included.

A record is kept as its raw cells; only the target's empty cells are replaced and one cell is appended. Values, without
the quotes, are read from the raw cells.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from . import InputError
from .cells import Record, escape_formula, records, sniff_delimiter, unquote
from .columns import RawColumn


def decode(data: bytes, name: str, encoding: str | None) -> str:
    """The text of a file, refused in one sentence if it has another encoding."""
    if encoding is None and (data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in data[:4096]):
        raise InputError(
            f"{name} contains zero bytes, so it is UTF-16 or not a text file; save it as UTF-8 or pass "
            "--encoding utf-16."
        )
    try:
        return data.decode(encoding or "utf-8")
    except LookupError:
        raise InputError(
            f"--encoding {encoding} is not a known text encoding; pass one such as utf-8, latin-1 or cp1252."
        ) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name} is not {encoding or 'UTF-8'}: byte 0x{data[error.start]:02x} in line {line} cannot be decoded; "
            "save it as UTF-8 or pass its encoding, for instance --encoding latin-1 or --encoding cp1252."
        ) from None
    except UnicodeError as error:
        raise InputError(f"{name} is not {encoding}: {error}; pass its encoding with --encoding.") from None


@dataclass(frozen=True)
class DelimitedTable:
    """A CSV or TSV file."""

    names: list[str]
    delimiter: str
    prefix: str  # what precedes the header: a byte order mark, empty lines
    header: Record
    lines: list[Record]  # rows and empty lines
    rows: list[list[str]]
    encoding: str

    @classmethod
    def read(cls, path: Path, encoding: str | None = None, target: str | None = None) -> DelimitedTable:
        """Read a file.

        Parameters
        ----------
        path : Path
            The file; the delimiter is the tab for ``.tsv``, and otherwise the one that its first lines suggest.
        encoding : str, optional
            Its encoding; None is UTF-8, with or without a byte order mark.
        target : str, optional
            A column that has to be in the header, if any delimiter yields it.
        """
        text = decode(path.read_bytes(), path.name, encoding)
        prefix, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
        if not text.strip():
            raise InputError(f"{path.name} is empty; it needs a header line with the column names, and rows.")
        delimiter = "\t" if path.suffix.lower() == ".tsv" else sniff_delimiter(text.lstrip("\r\n"), target)
        remaining = records(text, delimiter)
        try:
            for header in remaining:
                if header.cells:
                    break
                prefix += header.end
            lines = [_check_width(record, header, delimiter) for record in remaining]
        except InputError as error:
            raise InputError(f"{path.name}: {error}") from None
        names = [unquote(cell) for cell in header.cells]
        rows = [record.cells for record in lines if record.cells]
        return cls(names, delimiter, prefix, header, lines, rows, encoding or "utf-8")

    @property
    def n_rows(self) -> int:
        """Number of rows, without the header and empty lines."""
        return len(self.rows)

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
                pieces.append(self.delimiter.join([*cells, "1" if label is None else f"{probability:.4f}"]))
            pieces.append(end)
        file.write("".join(pieces).encode(self.encoding))

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
        file.write("".join(pieces).encode(self.encoding))

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
