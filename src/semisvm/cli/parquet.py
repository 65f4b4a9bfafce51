"""Parquet files whose columns stay as they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from . import Refusal
from .columns import Raw


@dataclass(frozen=True)
class Parquet:
    """A Parquet file."""

    table: pa.Table

    @classmethod
    def read(cls, path: Path, encoding: str | None = None, target: str | None = None) -> Parquet:
        """Read a file; ``encoding`` has to be None, ``target`` is for CSV."""
        if encoding is not None:
            raise Refusal(f"{path.name} is Parquet, whose text is always UTF-8; leave --encoding out.")
        try:
            with pq.ParquetFile(path) as file:  # not read_table, which reads columns out of names of folders
                return cls(file.read())
        except (pa.ArrowException, OSError, ValueError) as error:
            reason = " ".join(str(error).split())[:120].rstrip(".")
            raise Refusal(
                f"{path.name} cannot be read as Parquet ({reason}); write the file again, or as CSV."
            ) from None

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self.table.column_names

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.num_rows

    def _plain(self, position: int) -> pa.ChunkedArray:
        column = self.table.column(position)
        return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column

    def column(self, position: int) -> Raw:
        """The values of a column."""
        column = self._plain(position)
        kind = column.type
        if _is_text(kind):
            return Raw("text", ["" if cell is None else cell for cell in column.to_pylist()])
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            moments = column.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False).cast(pa.int64())
            return Raw("date", _floats(moments) / 86_400e6)
        if pa.types.is_boolean(kind):
            return Raw("boolean", _floats(column.cast(pa.int8())))
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            return Raw("number", _floats(column))
        return Raw("text", [""] * self.n_rows) if pa.types.is_null(kind) else Raw("other", str(kind))

    def labels(self, position: int, marker: str | None) -> list[Any]:
        """The values of the target, None where there is none: null, NaN, an empty string or the marker."""
        column = self._plain(position)
        kind = column.type
        whole = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
        if not (whole or _is_text(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)):
            raise Refusal(
                f"the target {self.names[position]!r} is of type {kind}; labels are text, whole numbers or booleans: "
                "cast the column."
            )
        values = column.to_pylist()
        if pa.types.is_floating(kind):
            values = [None if v is None or v != v else v for v in values]
            broken = next((v for v in values if v is not None and not float(v).is_integer()), None)
            if broken is not None:
                raise Refusal(
                    f"the target {self.names[position]!r} holds fractions such as {broken:g}; labels are text, whole "
                    "numbers or booleans: name another column or turn it into classes."
                )
        return [None if v is None or (isinstance(v, str) and not v.strip()) or str(v) == marker else v for v in values]

    def write(self, file: BinaryIO, position: int, filled: list[Any], name: str, confidence: list[float]) -> None:
        """Write all rows with the filled target and one more column, as ``Delimited.write`` does."""
        field, column = self.table.schema.field(position), self._plain(position)
        values = [old if new is None else new for old, new in zip(column.to_pylist(), filled)]
        target = pa.array(values, type=column.type)
        if pa.types.is_dictionary(field.type):
            target = target.dictionary_encode().cast(field.type)
        table = self.table.set_column(position, field, target)
        table = table.append_column(name, pa.array(confidence, type=pa.float64()))
        pq.write_table(table, file)


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _floats(column: pa.ChunkedArray) -> np.ndarray:
    return pc.fill_null(column.cast(pa.float64(), safe=False), np.nan).to_numpy()
