"""Input files: their formats and columns, and the messages about those that cannot be used."""

from __future__ import annotations

import difflib
import importlib
from pathlib import Path

from . import InputError
from .files import COMPRESSIONS, FORMATS, STANDARD_STREAM, display_name, format_of
from .table import Table

__all__ = ["Table", "check_input", "find_column", "join_first", "read_table"]

READERS = {  # imported when they are needed
    "CSV": ("delimited", "DelimitedTable"),
    "TSV": ("delimited", "DelimitedTable"),
    "JSON lines": ("json_lines", "JsonLinesTable"),
    "LIBSVM": ("libsvm", "LibsvmTable"),
    "NPZ": ("npz", "NpzTable"),
    "Parquet": ("arrow", "ArrowTable"),
    "Feather": ("arrow", "ArrowTable"),
    "Arrow": ("arrow", "ArrowTable"),
    "folder of texts": ("text_folder", "TextFolder"),
}
MAX_NAMES = 30  # that a message lists


def check_input(path: Path) -> None:
    """Refuse a path that is not a file of a known format, before any work is done."""
    if format_of(path) is None:
        found = f"ends in {path.suffix}" if path.suffix else "has no extension"
        *first, last = FORMATS
        raise InputError(
            f"{path} {found}; only files that end in {', '.join(first)} or {last}, those of text also with "
            f"{', '.join(COMPRESSIONS)}, and folders of text files are read: save the table as one."
        )
    if path != STANDARD_STREAM and not path.exists():
        raise InputError(f"{path} does not exist; check the name and the folder ({Path.cwd()}).")


def read_table(path: Path, encoding: str | None = None, target: str | None = None) -> Table:
    """Read a file that passed ``check_input``.

    Parameters
    ----------
    path : Path
        The file, a folder of text files, or ``-`` for standard input.
    encoding : str, optional
        Encoding of a text file; None detects it.
    target : str, optional
        A column that the table should have; helps to find the delimiter.
    """
    module, name = READERS[format_of(path) or "CSV"]
    reader = getattr(importlib.import_module(f"{__package__}.{module}"), name)
    try:
        table = reader.read(path, encoding, target)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}); fix that or copy the file.") from None
    if not table.n_rows:
        raise InputError(f"{display_name(path)} has no rows; rows with and without a label are needed.")
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
