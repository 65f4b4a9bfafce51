"""Input files: their formats and columns, and the messages about those that cannot be used."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from . import InputError
from .columns import RawColumn
from .delimited import DelimitedTable

FORMATS = {".csv": "CSV", ".tsv": "TSV", ".parquet": "Parquet", ".pq": "Parquet"}
MAX_NAMES = 30  # that a message lists


class Table(Protocol):
    """A file as it was read, from which it can be written again with a filled target."""

    @property
    def names(self) -> list[str]:
        """Names of the columns."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def column(self, position: int) -> RawColumn:
        """The values of a column."""

    def target_cells(self, position: int) -> list[Any]:
        """The values of the target as they stand there, None where there is none."""

    def write(
        self,
        file: BinaryIO,
        position: int,
        filled: list[Any],
        name: str,
        confidence: list[float],
        escape: bool = True,
    ) -> None:
        """Write all rows with the filled target and one more column.

        Parameters
        ----------
        file : binary file
            The file to write to.
        position : int
            Position of the target.
        filled : list
            A label for each cell that is to be filled, None for those that stay.
        name : str
            Name of the column of confidences.
        confidence : list of float
            One per row.
        escape : bool
            Whether what is filled in gets an apostrophe where a spreadsheet would run it as a formula.
        """

    def write_appended(self, file: BinaryIO, columns: dict[str, list[Any]], escape: bool = True) -> None:
        """Write all rows as they are, with more columns: their values by their names."""


def format_of(path: Path) -> str | None:
    """The format that belongs to the extension of a file; None for an unknown one."""
    return FORMATS.get(path.suffix.lower())


def check_input(path: Path) -> None:
    """Refuse a path that is not a file of a known format, before any work is done."""
    *first, last = FORMATS
    extensions = f"{', '.join(first)} or {last}"
    if path.is_dir():
        raise InputError(f"{path} is a folder; pass one file that ends in {extensions}.")
    if format_of(path) is None:
        found = f"ends in {path.suffix}" if path.suffix else "has no extension"
        raise InputError(f"{path} {found}; only files that end in {extensions} are read: save the table as one.")
    if not path.exists():
        raise InputError(f"{path} does not exist; check the name and the folder ({Path.cwd()}).")


def read_table(path: Path, encoding: str | None = None, target: str | None = None) -> Table:
    """Read a file that passed ``check_input``.

    Parameters
    ----------
    path : Path
        The file.
    encoding : str, optional
        Encoding of a CSV file; None is UTF-8.
    target : str, optional
        A column that the table should have; helps to find the delimiter.
    """
    table: Table
    try:
        if format_of(path) == "Parquet":
            from .parquet import ParquetTable

            table = ParquetTable.read(path, encoding)
        else:
            table = DelimitedTable.read(path, encoding, target)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}); fix that or copy the file.") from None
    if not table.n_rows:
        raise InputError(f"{path.name} has a header and no rows; rows with and without a label are needed.")
    return table


def find_column(table: Table, name: str | None, option: str, file_name: str) -> int:
    """Position of the column that an option such as ``--target`` names; refused if it is missing or ambiguous."""
    positions = [i for i, found in enumerate(table.names) if found == name]
    if len(positions) == 1:
        return positions[0]
    if positions:
        numbers = ", ".join(str(i + 1) for i in positions)
        raise InputError(
            f"{file_name} has {len(positions)} columns named {name!r} (numbers {numbers}), so {option} {name} is "
            "ambiguous; rename all but one."
        )
    names = join_first([repr(found) for found in table.names], MAX_NAMES)
    if name is None:
        raise InputError(f"{option} is missing; pass the column whose empty cells are to be filled, one of {names}.")
    similar = difflib.get_close_matches(name, table.names, 1, 0.75)
    hint = f"did you mean {similar[0]!r}?" if similar else f"pass one of them to {option}."
    raise InputError(f"{file_name} has no column {name!r}; its columns are {names}: {hint}")


def join_first(items: list[str], n_shown: int) -> str:
    """The first items with commas, and the number of the others."""
    more = f" and {len(items) - n_shown:,} more" if len(items) > n_shown else ""
    return ", ".join(items[:n_shown]) + more
