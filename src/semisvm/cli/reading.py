"""Which file, which format, which columns; every sentence about a file that cannot be used."""

from __future__ import annotations

import difflib
from pathlib import Path

from . import Refusal
from .delimited import Delimited

FORMATS = {".csv": "CSV", ".tsv": "TSV", ".parquet": "Parquet", ".pq": "Parquet"}
MOST_NAMES = 30

Table = Delimited  # or Parquet, which has the same methods and is imported when one is read


def format_of(path: Path) -> str | None:
    """The format that an extension promises, None for another one."""
    return FORMATS.get(path.suffix.lower())


def check_input(path: Path) -> None:
    """Refuse a path that is no table, before anything is done."""
    if path.is_dir():
        raise Refusal(f"{path} is a folder; name one file that ends in {_endings()}.")
    if format_of(path) is None:
        came = f"ends in {path.suffix}" if path.suffix else "has no ending"
        raise Refusal(f"{path} {came}; files that end in {_endings()} are read: save the table as one of them.")
    if not path.exists():
        raise Refusal(f"{path} does not exist; check the name and the folder ({Path.cwd()}).")


def read(path: Path, encoding: str | None = None, target: str | None = None) -> Table:
    """Read a table by its extension.

    Parameters
    ----------
    path : Path
        A file that ends in .csv, .tsv, .parquet or .pq.
    encoding : str, optional
        Encoding of a CSV file; None is UTF-8.
    target : str, optional
        A column that the table should have; helps to find the delimiter.

    Returns
    -------
    Delimited or Parquet
    """
    check_input(path)
    reader: type = Delimited
    if format_of(path) == "Parquet":
        from .parquet import Parquet

        reader = Parquet
    try:
        table = reader.read(path, encoding, target)
    except OSError as error:
        raise Refusal(f"{path} cannot be read ({error.strerror or error}); mend that or copy the file.") from None
    if not table.n_rows:
        raise Refusal(f"{path.name} has a header and no rows; rows with and without a label are needed.")
    return table


def find_column(table: Table, name: str | None, option: str, where: str) -> int:
    """Position of a named column.

    Parameters
    ----------
    table : Delimited or Parquet
        The table.
    name : str or None
        The name that came with the option.
    option : str
        The option, such as ``--target``.
    where : str
        Name of the file.
    """
    places = [i for i, found in enumerate(table.names) if found == name]
    if len(places) == 1:
        return places[0]
    if places:
        at = ", ".join(str(i + 1) for i in places)
        raise Refusal(
            f"{where} has {len(places)} columns named {name!r} (numbers {at}), so {option} {name} does not say which; "
            "rename all but one."
        )
    names = shorten([repr(found) for found in table.names], MOST_NAMES)
    if name is None:
        raise Refusal(f"{option} is missing; name the column whose empty cells are to be filled, one of {names}.")
    near = difflib.get_close_matches(name, table.names, 1, 0.75)
    hint = f"did you mean {near[0]!r}?" if near else f"pass one of them to {option}."
    raise Refusal(f"{where} has no column {name!r}; its columns are {names}: {hint}")


def shorten(items: list[str], most: int) -> str:
    """Items with commas, those beyond ``most`` counted."""
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def _endings() -> str:
    *first, last = FORMATS
    return f"{', '.join(first)} or {last}"
