"""A file of results: a header for every run, then a JSON line for every finished task."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Result:
    """What a task gave; ``value`` is None and ``failure`` the message if it raised an exception."""

    protocol: str
    row: str
    column: str
    draw: int
    value: float | None
    seconds: float
    cpu_seconds: float
    seed: int
    objective: float | None = None
    chosen: dict[str, Any] = field(default_factory=dict)
    axes: dict[str, list[Any]] = field(default_factory=dict)
    errors: list[float] = field(default_factory=list)
    warnings: dict[str, int] = field(default_factory=dict)
    trace: dict[str, list[float]] = field(default_factory=dict)
    failure: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        """Row, column and draw."""
        return self.row, self.column, self.draw


@dataclass(frozen=True)
class Records:
    """The content of a file of results; of several results of a task the last one counts."""

    headers: tuple[dict[str, Any], ...] = ()
    results: tuple[Result, ...] = ()

    @property
    def by_task(self) -> dict[tuple[str, str, int], Result]:
        """The results by row, column and draw."""
        return {result.key: result for result in self.results}


class DamagedResults(ValueError):
    """A file that is not one of results."""


def read_records(path: Path) -> Records:
    """The headers and results of a file; a last line that was not written to its end is left out."""
    if not path.exists():
        return Records()
    lines = path.read_bytes()[: _complete(path)].decode().splitlines()
    headers, results = [], []
    for number, line in enumerate(lines, 1):
        try:
            held = json.loads(line)
            if "header" in held:
                headers.append(held["header"])
            else:
                results.append(Result(**held))
        except (ValueError, TypeError) as error:
            raise DamagedResults(f"line {number} of {path} is no result; remove the file or the line.") from error
    return Records(tuple(headers), tuple(results))


def _complete(path: Path) -> int:
    """Number of bytes up to the end of the last complete line."""
    return path.read_bytes().rfind(b"\n") + 1


class RecordFile:
    """A file that results are appended to; a line is on the disk before the next task begins.

    Parameters
    ----------
    path : Path
        The file; an incomplete last line of it is removed.
    """

    def __init__(self, path: Path):
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            with path.open("r+b") as file:
                file.truncate(_complete(path))

    def write_header(self, header: dict[str, Any]) -> None:
        """Say where the results that follow were measured."""
        self._append({"header": header})

    def write(self, result: Result) -> None:
        """Append a result without the fields that are empty."""
        self._append({key: value for key, value in asdict(result).items() if value not in ({}, [], "")})

    def _append(self, content: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(content) + "\n")
