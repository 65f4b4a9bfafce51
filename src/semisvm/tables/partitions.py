"""A Parquet file, or a folder of them, in partitions that fit in memory, each of which is read on its own, anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from . import InputError
from .arrow import ArrowTable
from .files import FOLDER, display_name, format_of
from .reading import join_first

MAX_BYTES = 64 * 2**20  # of a partition, as a file holds it without compression
MAX_ROWS = 100_000  # of a partition
BATCH_ROWS = 16_384  # that are read at a time, of a row group that is larger than a partition
MAX_NAMES = 5  # that a message lists


@dataclass(frozen=True)
class Partition:
    """What it takes to read some rows: consecutive row groups of a file, or a part of one.

    Attributes
    ----------
    path : str
        The file.
    groups : tuple of int
        Numbers of the row groups.
    first, n_rows : int
        The first row, counted in these groups, and the number of rows.
    schema : pyarrow.Schema
        Of the whole table.
    """

    path: str
    groups: tuple[int, ...]
    first: int
    n_rows: int
    schema: pa.Schema

    def read(self, columns: list[str] | None = None) -> ArrowTable:
        """The rows, of all columns or some."""
        schema = self.schema if columns is None else pa.schema([self.schema.field(name) for name in columns])
        try:
            with pq.ParquetFile(self.path) as file:
                table = self._read(file, columns)
                if table.num_rows == self.n_rows:
                    table = (table if columns is None else table.select(columns)).cast(schema)
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            raise _unreadable(Path(self.path), error) from None
        if table.num_rows != self.n_rows:
            raise InputError(f"{self.path} was changed while it was read; run the command again.")
        return ArrowTable(names=table.column_names, n_rows=self.n_rows, table=table, form="Parquet")

    def _read(self, file: pq.ParquetFile, columns: list[str] | None) -> pa.Table:
        groups = list(self.groups)
        if sum(file.metadata.row_group(g).num_rows for g in groups) == self.n_rows:
            return file.read_row_groups(groups, columns, use_threads=False)
        kept, start, end = [], 0, self.first + self.n_rows
        for batch in file.iter_batches(BATCH_ROWS, groups, columns, use_threads=False):
            here = slice(max(self.first - start, 0), max(end - start, 0))
            kept.append(batch.slice(here.start, max(here.stop - here.start, 0)))
            start += batch.num_rows
            if start >= end:
                break
        return pa.Table.from_batches(kept)


@dataclass(frozen=True)
class PartitionedTable:
    """A table whose rows stay in its files.

    Attributes
    ----------
    source : Path
        The file or folder.
    schema : pyarrow.Schema
        Its columns.
    partitions : list of Partition
        All rows, in their order.
    """

    source: Path
    schema: pa.Schema
    partitions: list[Partition]

    @classmethod
    def open(cls, source: Path) -> PartitionedTable:
        """Read the names, types and row groups of the columns."""
        files = _parquet_files(source)
        found = [_open(path) for path in files]
        schema = _common_schema([file.schema_arrow for file in found], files)
        partitions = []
        for path, file in zip(files, found):
            with file:
                cuts = _cuts(file.metadata)
                partitions += [Partition(str(path.resolve()), *cut, schema) for cut in cuts]
        if not partitions:
            raise InputError(f"{display_name(source)} has no rows; rows with and without a label are needed.")
        return cls(source, schema, partitions)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.starts[-1])

    @property
    def starts(self) -> np.ndarray:
        """The position of the first row of each partition, and the number of rows."""
        return np.concatenate([[0], np.cumsum([one.n_rows for one in self.partitions])])

    def without_rows(self) -> ArrowTable:
        """Its columns, without rows."""
        return ArrowTable(names=self.schema.names, n_rows=0, table=self.schema.empty_table(), form="Parquet")


def _parquet_files(source: Path) -> list[Path]:
    """The files of a table, by their names, numbers in these as numbers."""
    form, name = format_of(source), display_name(source)
    if form != FOLDER:
        if form != "Parquet":
            raise InputError(
                f"{name} is {form or 'of an unknown format'}; a cluster reads Parquet files and folders of them: save "
                "the table as Parquet, or leave out --cluster."
            )
        if not source.exists():
            raise InputError(f"{source} does not exist; check the name and the folder ({Path.cwd()}).")
        return [source]
    shown = [path for path in source.iterdir() if not path.name.startswith(("_", "."))]
    others = sorted(path.name for path in shown if not path.is_file() or format_of(path) != "Parquet")
    if others or not shown:
        reason = f"holds other things than Parquet files ({join_first(others, MAX_NAMES)})" if others else "is empty"
        raise InputError(f"the folder {source} {reason}; pass a folder of files whose names end in .parquet.")
    return sorted(shown, key=lambda path: [(t.isdigit(), int(t) if t.isdigit() else 0, t) for t in _tokens(path)])


def _tokens(path: Path) -> list[str]:
    return re.findall(r"\d+|\D+", path.name)


def _open(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> InputError:
    reason = " ".join(str(error).split())[:120].rstrip(".")
    return InputError(f"{path.name} cannot be read as Parquet ({reason}); write it again, where all computers see it.")


def _common_schema(schemas: list[pa.Schema], files: list[Path]) -> pa.Schema:
    """The columns of all files, which have the same names in the same order, and types with a common one."""
    first = schemas[0]
    for schema, path in zip(schemas, files):
        if schema.names != first.names:
            differing = sorted(set(schema.names) ^ set(first.names)) or ["their order"]
            raise InputError(
                f"{path.name} has other columns than {files[0].name} ({join_first(differing, MAX_NAMES)}); write all "
                "files with the same columns in the same order."
            )
    if all(schema.equals(first) for schema in schemas):
        return first
    try:
        return pa.unify_schemas(schemas, promote_options="permissive")
    except pa.ArrowException as error:
        reason = " ".join(str(error).split())[:120].rstrip(".")
        raise InputError(f"the files have columns of different types ({reason}); write all with the same.") from None


def _cuts(metadata: pq.FileMetaData) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Row groups, first row and number of rows of each partition of a file."""
    together: list[int] = []
    n_bytes = n_rows = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        size = max(group.total_byte_size / MAX_BYTES, group.num_rows / MAX_ROWS)
        if together and max((n_bytes + group.total_byte_size) / MAX_BYTES, (n_rows + group.num_rows) / MAX_ROWS) > 1.0:
            yield tuple(together), 0, n_rows
            together, n_bytes, n_rows = [], 0, 0
        if size > 1.0:
            edges = np.linspace(0, group.num_rows, int(np.ceil(size)) + 1).astype(int).tolist()
            yield from (((number,), a, b - a) for a, b in pairwise(edges))
        elif group.num_rows:
            together.append(number)
            n_bytes, n_rows = n_bytes + group.total_byte_size, n_rows + group.num_rows
    if together:
        yield tuple(together), 0, n_rows
