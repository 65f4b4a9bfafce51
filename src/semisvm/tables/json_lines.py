"""JSON lines: one object per line, of which only the target's value is replaced and a confidence is appended."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from . import InputError
from .cells import format_value
from .columns import RawColumn
from .encodings import SourceText, read_text
from .files import display_name
from .table import Table, format_confidence, without_fractions

DECODER = json.JSONDecoder()
LINE = re.compile(r"[^\n]*\n|[^\n]+")
BLANK = re.compile(r"[ \t\r\n]*")
KINDS = {bool: "booleans", int: "numbers", float: "numbers", str: "text"}


@dataclass(kw_only=True)
class JsonLinesTable(Table):
    """A file of JSON lines; its columns are the keys of all lines."""

    rows: list[int]  # the lines that hold an object
    values: list[list[Any]]  # by column
    lines: list[str]  # with their ends, blank ones included
    source: SourceText

    @classmethod
    def read(cls, path: Path, encoding: str | None = None, target: str | None = None) -> JsonLinesTable:
        """Read a file; ``target`` makes no difference."""
        source = read_text(path, encoding)
        lines = LINE.findall(source.text)  # not splitlines, which splits strings at U+2028
        rows = [number for number, line in enumerate(lines) if not BLANK.fullmatch(line)]
        columns: dict[str, list[Any]] = {}
        for i, number in enumerate(rows):
            for key, value in _parse(lines[number], number + 1, display_name(path)).items():
                if key not in columns:
                    columns[key] = [None] * len(rows)
                columns[key][i] = value
        source = source._replace(data=b"")
        return cls(
            names=list(columns),
            n_rows=len(rows),
            notes=source.notes,
            rows=rows,
            values=list(columns.values()),
            lines=lines,
            source=source,
        )

    def column(self, position: int) -> RawColumn:
        """The values of a key: numbers, booleans or text; a missing key is a missing cell."""
        values = self.values[position]
        types = {type(value) for value in values} - {type(None)}
        if types & {list, dict}:
            return RawColumn("other", "nested")
        if types == {bool}:
            return RawColumn("boolean", np.array([np.nan if v is None else float(v) for v in values]))
        if types and types <= {int, float}:
            return RawColumn("number", np.array([np.nan if v is None else _float(v) for v in values]))
        return RawColumn("text", ["" if v is None else v if isinstance(v, str) else json.dumps(v) for v in values])

    def target_cells(self, position: int) -> list[Any]:
        """The values of the target, None where the key is missing."""
        values, name = self.values[position], self.names[position]
        kinds = {KINDS.get(type(value), "nested values"): value for value in reversed(values) if value is not None}
        if "nested values" in kinds or len(kinds) > 1:
            raise InputError(
                f"the target {name!r} holds {' and '.join(sorted(kinds))}; its labels have to be all text, all whole "
                "numbers or all booleans, and null where there is none."
            )
        return without_fractions(values, name)

    def write(
        self,
        file: BinaryIO,
        position: int,
        filled: list[Any],
        name: str,
        confidence: list[float],
        escape: bool = True,
    ) -> None:
        """Write all lines with the filled target and one more key; no program runs a value of JSON."""
        target, lines = self.names[position], list(self.lines)
        comma, colon = self._marks()
        raw_labels = self._raw_labels(position)
        key = json.dumps(name, ensure_ascii=False) + colon
        for number, label, probability in zip(self.rows, filled, confidence):
            line, added = lines[number], [key + format_confidence(label, probability)]
            if label is not None:
                span = _value_span(line, target)
                if span is None:
                    added.insert(0, json.dumps(target, ensure_ascii=False) + colon + raw_labels[label])
                else:
                    line = line[: span[0]] + raw_labels[label] + line[span[1] :]
            lines[number] = _append(line, added, comma)
        file.write(self.source.mark + self.source.encode("".join(lines)))

    def write_appended(self, file: BinaryIO, columns: dict[str, list[Any]], escape: bool = True) -> None:
        """Write all lines with more keys; no program runs a value of JSON."""
        lines = list(self.lines)
        comma, colon = self._marks()
        keys = [json.dumps(name, ensure_ascii=False) + colon for name in columns]
        for number, *values in zip(self.rows, *columns.values()):
            texts = [format_value(v) if isinstance(v, float) else json.dumps(v, ensure_ascii=False) for v in values]
            lines[number] = _append(lines[number], [key + text for key, text in zip(keys, texts)], comma)
        file.write(self.source.encode("".join(lines)))

    def _marks(self) -> tuple[str, str]:
        """The comma and the colon of the file, with or without a blank."""
        is_compact = not re.search(r'":\s', self.lines[self.rows[0]])
        return (",", ":") if is_compact else (", ", ": ")

    def _raw_labels(self, position: int) -> dict[Any, str]:
        """The labels as they are first written in the file."""
        first = {value: row for row, value in reversed([*enumerate(self.values[position])]) if value is not None}
        found = {}
        for value, row in first.items():
            line = self.lines[self.rows[row]]
            start, stop = _value_span(line, self.names[position]) or (0, 0)
            found[value] = line[start:stop]
        return found


def _parse(line: str, number: int, file_name: str) -> dict[str, Any]:
    """The object of a line."""
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at character {error.colno}"
    except (ValueError, RecursionError) as error:
        reason = str(error).partition(";")[0]
    else:
        if isinstance(value, dict):
            return value
        reason = f"it is of type {type(value).__name__}"
    raise InputError(
        f"{file_name}: line {number} is not a JSON object ({reason}); write one object per line, such as "
        '{"text": "...", "label": null}.'
    )


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.nan


def _value_span(line: str, key: str) -> tuple[int, int] | None:
    """Where the value of a key starts and stops in the object of a line; of a repeated key the last one."""
    found, position = None, _skip(line, line.index("{") + 1)
    while line[position] != "}":
        name, position = DECODER.raw_decode(line, position)
        start = _skip(line, _skip(line, position) + 1)
        _, stop = DECODER.raw_decode(line, start)
        if name == key:
            found = start, stop
        position = _skip(line, stop)
        if line[position] == ",":
            position = _skip(line, position + 1)
    return found


def _skip(line: str, position: int) -> int:
    return BLANK.match(line, position).end()  # type: ignore[union-attr]


def _append(line: str, items: list[str], comma: str) -> str:
    """A line with more items at the end of its object."""
    brace = line.rindex("}")
    before = line[:brace].rstrip(" \t\r\n")
    first = "" if before.endswith("{") else comma
    return before + first + comma.join(items) + line[len(before) :]
