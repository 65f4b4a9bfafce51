"""Parquet, Feather and Arrow IPC files whose columns stay as they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import feather, ipc

from . import InputError
from .columns import RawColumn
from .files import format_of
from .table import Table, without_fractions

MICROSECONDS_PER_DAY = 86_400e6
STREAM = "Arrow stream"


@dataclass(kw_only=True)
class ArrowTable(Table):
    """A file of Arrow columns; ``form`` is its format: Parquet, Feather, Arrow or Arrow stream."""

    table: pa.Table
    form: str

    @classmethod
    def read(cls, path: Path, encoding: str | None = None, target: str | None = None) -> ArrowTable:
        """Read a file; ``encoding`` has to be None, ``target`` makes no difference."""
        form = format_of(path) or ""
        if encoding is not None:
            raise InputError(f"{path.name} is {form}, whose text is always UTF-8; remove --encoding.")
        try:
            table, form = _read(path, form)
            table.validate(full=True)
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            reason = " ".join(str(error).split())[:120].rstrip(".")
            raise InputError(
                f"{path.name} cannot be read as {form} ({reason}); write the file again, or save it as CSV."
            ) from None
        return cls(names=table.column_names, n_rows=table.num_rows, table=table, form=form)

    def _decoded(self, position: int) -> pa.ChunkedArray:
        """A column, with its values in place of dictionary codes."""
        column = self.table.column(position)
        return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column

    def column(self, position: int) -> RawColumn:
        """The values of a column."""
        column = self._decoded(position)
        dtype = column.type
        if _is_text(dtype):
            return RawColumn("text", ["" if cell is None else cell for cell in column.to_pylist()])
        if pa.types.is_date(dtype) or pa.types.is_timestamp(dtype):
            zone = dtype.tz if pa.types.is_timestamp(dtype) else None
            microseconds = column.cast(pa.timestamp("us", zone), safe=False).cast(pa.int64())
            return RawColumn("date", _floats(microseconds) / MICROSECONDS_PER_DAY)
        if pa.types.is_boolean(dtype):
            return RawColumn("boolean", _floats(column.cast(pa.int8())))
        if pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype):
            return RawColumn("number", _floats(column))
        return RawColumn("text", [""] * self.n_rows) if pa.types.is_null(dtype) else RawColumn("other", str(dtype))

    def target_cells(self, position: int) -> list[Any]:
        """The values of the target, None for null and NaN."""
        column = self._decoded(position)
        dtype = column.type
        is_discrete = pa.types.is_integer(dtype) or pa.types.is_boolean(dtype)
        if not (is_discrete or _is_text(dtype) or pa.types.is_floating(dtype) or pa.types.is_null(dtype)):
            raise InputError(
                f"the target {self.names[position]!r} has the type {dtype}; labels are text, whole numbers or "
                "booleans: cast the column."
            )
        return without_fractions(column.to_pylist(), self.names[position])

    def distinct_target_cells(self, position: int) -> tuple[list[Any], np.ndarray]:
        """The values of the target that differ, in the order of the rows, and for each row the number of its value."""
        encoded = self._decoded(position).combine_chunks().dictionary_encode(null_encoding="encode")
        names = [self.names[position]]
        table = pa.table([encoded.dictionary], names)
        values = ArrowTable(names=names, n_rows=table.num_rows, table=table, form=self.form)
        return values.target_cells(0), encoded.indices.to_numpy()

    def write(
        self,
        file: BinaryIO,
        position: int,
        filled: list[Any],
        name: str,
        confidence: list[float],
        escape: bool = True,
    ) -> None:
        """Write all rows with the filled target and one more column; no program runs a cell of these formats."""
        field, column = self.table.schema.field(position), self._decoded(position)
        values = [old if new is None else new for old, new in zip(column.to_pylist(), filled)]
        target = pa.array(values, type=column.type)
        if pa.types.is_dictionary(field.type):
            target = target.dictionary_encode().cast(field.type)
        table = self.table.set_column(position, field, target)
        self._write_table(file, table.append_column(name, pa.array(confidence, type=pa.float64())))

    def write_appended(self, file: BinaryIO, columns: dict[str, list[Any]], escape: bool = True) -> None:
        """Write all rows with more columns; no program runs a cell of these formats."""
        table = self.table
        for name, values in columns.items():
            table = table.append_column(name, pa.array(values))
        self._write_table(file, table)

    def _write_table(self, file: BinaryIO, table: pa.Table) -> None:
        if self.form == "Parquet":
            pq.write_table(table, file)
        elif self.form == "Feather":
            feather.write_feather(table, file)
        else:
            with (ipc.new_stream if self.form == STREAM else ipc.new_file)(file, table.schema) as writer:
                writer.write_table(table)


def _read(path: Path, form: str) -> tuple[pa.Table, str]:
    """The columns of a file, and its format: a file of Arrow IPC may be a stream."""
    if form == "Parquet":
        with pq.ParquetFile(path) as file:  # not read_table, which reads columns out of names of folders
            return file.read(), form
    if form == "Feather":
        return feather.read_table(path, memory_map=False), form
    with pa.OSFile(str(path)) as source:
        start = source.read(6)
        source.seek(0)
        is_file = start == b"ARROW1"
        with (ipc.open_file if is_file else ipc.open_stream)(source) as reader:
            return reader.read_all(), form if is_file else STREAM


def _is_text(dtype: pa.DataType) -> bool:
    return pa.types.is_string(dtype) or pa.types.is_large_string(dtype) or pa.types.is_string_view(dtype)


def _floats(column: pa.ChunkedArray) -> np.ndarray:
    """The values as float64, NaN for null."""
    return pc.fill_null(column.cast(pa.float64(), safe=False), np.nan).to_numpy()
