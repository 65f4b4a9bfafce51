"""CSV files whose cells stay as they are, quotes and line ends included.

A record is kept as its raw cells; only the target's empty cells are replaced and one cell is appended. Values, without
the quotes, are read from the raw cells.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from . import Refusal
from .cells import records, sniff, value
from .columns import Raw


def decode(data: bytes, name: str, encoding: str | None) -> str:
    """Bytes as text, with one sentence if they are of another encoding."""
    if encoding is None and (data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in data[:4096]):
        raise Refusal(
            f"{name} holds zero bytes, so it is UTF-16 or no text at all; save it as UTF-8 or pass --encoding utf-16."
        )
    try:
        return data.decode(encoding or "utf-8")
    except LookupError:
        raise Refusal(
            f"--encoding {encoding} is not known; pass the name of a text encoding such as utf-8, latin-1 or cp1252."
        ) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Refusal(
            f"{name} is not {encoding or 'UTF-8'}: byte 0x{data[error.start]:02x} in line {line} cannot be read; save "
            "it as UTF-8 or name its encoding, for instance --encoding latin-1 or --encoding cp1252."
        ) from None
    except UnicodeError as error:
        raise Refusal(f"{name} is not {encoding}: {error}; name its encoding with --encoding.") from None


@dataclass(frozen=True)
class Delimited:
    """A CSV or TSV file."""

    names: list[str]
    delimiter: str
    rows: list[list[str]]
    header: tuple[list[str], str]
    lines: list[tuple[list[str], str]]  # rows and empty lines, with their ends
    encoding: str
    mark: str  # what stands before the header: a byte order mark, empty lines

    @classmethod
    def read(cls, path: Path, encoding: str | None = None, target: str | None = None) -> Delimited:
        """Read a file.

        Parameters
        ----------
        path : Path
            The file; ``.tsv`` is cut at tabs, another at the delimiter its first lines suggest.
        encoding : str, optional
            Its encoding; None is UTF-8, with or without a byte order mark.
        target : str, optional
            A column that has to be in the header, if any delimiter puts it there.
        """
        text = decode(path.read_bytes(), path.name, encoding)
        mark, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
        if not text.strip():
            raise Refusal(f"{path.name} is empty; a header line with the names of the columns and rows are needed.")
        delimiter = "\t" if path.suffix.lower() == ".tsv" else sniff(text.lstrip("\r\n"), target)
        header, lines, width = None, [], 0
        try:
            for line, cells, end in records(text, delimiter):
                if header is None and cells:
                    header, width = (cells, end), len(cells)
                elif cells and len(cells) != width:
                    raise Refusal(
                        f"line {line} has {len(cells)} cells and the header {width}; give every row as many, and put "
                        f"cells that hold {delimiter!r} in double quotes."
                    )
                elif header is None:
                    mark += end
                else:
                    lines.append((cells, end))
        except Refusal as refusal:
            raise Refusal(f"{path.name}: {refusal}") from None
        rows = [cells for cells, _ in lines if cells]
        return cls([value(cell) for cell in header[0]], delimiter, rows, header, lines, encoding or "utf-8", mark)

    @property
    def n_rows(self) -> int:
        """Number of rows, the header and empty lines not counted."""
        return len(self.rows)

    def column(self, position: int) -> Raw:
        """The cells of a column, as text."""
        return Raw("text", [value(row[position]) for row in self.rows])

    def labels(self, position: int, marker: str | None) -> list[str | None]:
        """The values of the target, None where the cell is empty or holds the marker."""
        cells = self.column(position).values
        return [None if not cell.strip() or cell == marker else cell for cell in cells]

    def write(self, file: BinaryIO, position: int, filled: list[Any], name: str, confidence: list[float]) -> None:
        """Write all lines with the filled target and one more column.

        Parameters
        ----------
        file : binary file
            Where to.
        position : int
            Position of the target.
        filled : list
            A label where the cell was empty, None where it stays.
        name : str
            Name of the column of confidences.
        confidence : list of float
            One per row.
        """
        as_written: dict[str, str] = {}
        for row in self.rows:
            as_written.setdefault(value(row[position]), row[position])
        pieces = [self.mark, self.delimiter.join([*self.header[0], self._cell(name)]), self.header[1]]
        each = iter(zip(filled, confidence))
        for cells, end in self.lines:
            if cells:
                label, sure = next(each)
                if label is not None:
                    cells = [*cells[:position], as_written[label], *cells[position + 1 :]]
                pieces.append(self.delimiter.join([*cells, "1" if label is None else f"{sure:.4f}"]))
            pieces.append(end)
        file.write("".join(pieces).encode(self.encoding))

    def _cell(self, text: str) -> str:
        quoted = any(mark in text for mark in (self.delimiter, '"', "\r", "\n"))
        return '"' + text.replace('"', '""') + '"' if quoted else text
