"""``semisvm bench``: measure printed results of papers again."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..bench import (
    DIGESTS,
    PROTOCOLS,
    Comparison,
    DamagedResults,
    DataFolder,
    Measurement,
    Progress,
    Protocol,
    ResultsExist,
    Setup,
    check_splits,
    compare,
    contents,
    draw_pictures,
    html,
    markdown,
    read_records,
    run_protocol,
    split_sentences,
    totals,
)
from . import InputError
from .progress import ProgressDisplay
from .terminal import format_seconds


@dataclass(frozen=True)
class PapersRequest:
    """The options of ``semisvm bench papers``."""

    tables: tuple[str, ...] = ()
    data: Path | None = None
    out: Path = Path("bench-results")
    quick: bool = False
    resume: bool = False
    draws: int | None = None

    @property
    def command(self) -> str:
        """The command of these options, without the folders, which mean nothing elsewhere."""
        words = ["semisvm", "bench", "papers", *(f"--table {shlex.quote(name)}" for name in self.tables)]
        words += [f"--{name}" for name in ("quick", "resume") if getattr(self, name)]
        return " ".join(words + ([] if self.draws is None else [f"--draws {self.draws}"]))


def chosen_protocols(names: tuple[str, ...]) -> list[Protocol]:
    """The protocols of these names, all of them if there is none."""
    for name in names:
        if name not in PROTOCOLS:
            close = difflib.get_close_matches(name, PROTOCOLS, 1)
            hint = f"did you mean {close[0]}?" if close else "semisvm bench list names them."
            raise InputError(f"there is no table {name!r}; {hint}")
    return [PROTOCOLS[name] for name in dict.fromkeys(names)] or list(PROTOCOLS.values())


def measure_papers(request: PapersRequest, display: ProgressDisplay) -> list[Measurement]:
    """Run the protocols, write results and reports, and return all that the folder holds."""
    protocols = chosen_protocols(request.tables)
    if request.data is not None and not request.data.is_dir():
        raise InputError(f"{request.data} is not a folder; pass the folder of the data sets with --data.")
    if request.out.exists() and not request.out.is_dir():
        raise InputError(f"{request.out} is not a folder; pass another --out.")
    setup = Setup(DataFolder(request.data), request.quick)
    options: dict[str, Any] = {"resume": request.resume, "draws": request.draws, "command": request.command}
    try:
        for protocol in protocols:
            show = partial(_show_progress, display, protocol.name)
            run_protocol(protocol, setup, request.out / f"{protocol.name}.jsonl", on_progress=show, **options)
            write_pages(request.out, measurements(request.out, setup, [protocol]))
        display.begin("reports")
        return write_reports(request.out, setup)
    except (ResultsExist, DamagedResults) as error:
        raise InputError(str(error)) from error
    except OSError as error:
        raise InputError(f"{request.out} cannot be written ({error.strerror}); pass another --out.") from error


def summary(done: list[Measurement], out: Path) -> list[str]:
    """The counts of all tables, and what was written."""
    return [*totals(done), f"written to {out}: report.html, README.md, and a .md file per table with results there"]


def summary_content(done: list[Measurement], out: Path) -> dict[str, Any]:
    """All cells with their verdicts, for ``--json``."""
    tables = [
        {
            "name": one.protocol.name,
            "title": one.protocol.title,
            "selection": one.protocol.selection,
            "cells": [_cell_content(cell) for cell in one.comparisons],
        }
        for one in done
    ]
    return {"tables": tables, "output": str(out)}


def _cell_content(one: Comparison) -> dict[str, Any]:
    printed = one.cell.printed
    named = {"row": one.cell.row, "column": one.cell.column, "differs": one.cell.differs or None}
    values = {name: value for name, value in one._asdict().items() if name != "cell"}
    return named | {"printed": None if printed is None else printed.mean} | values


def _show_progress(display: ProgressDisplay, name: str, progress: Progress) -> None:
    display.begin(progress_line(name, progress))


def measurements(out: Path, setup: Setup, protocols: Iterable[Protocol]) -> list[Measurement]:
    """What the folder holds of these tables, of this or of an earlier run."""
    done = []
    for protocol in protocols:
        records = read_records(out / f"{protocol.name}.jsonl")
        if records.headers:
            as_measured = setup._replace(quick=records.headers[-1]["quick"])
            splits = split_sentences(check_splits(protocol.needs, setup.data))
            done.append(Measurement(protocol, compare(protocol, records, as_measured), records, splits))
    return done


def write_pages(out: Path, done: list[Measurement]) -> tuple[dict[str, str], str]:
    """Write a page and a picture for every table, and return the pictures, or a sentence why there are none."""
    pictures, note = draw_pictures(done)
    for one in done:
        name, picture = one.protocol.name, note
        if name in pictures:
            picture = f"{name}.svg"
            (out / picture).write_text(pictures[name], encoding="utf-8")
        (out / f"{name}.md").write_text(markdown(one, picture), encoding="utf-8")
    return pictures, note


def write_reports(out: Path, setup: Setup) -> list[Measurement]:
    """Write a page for every table that has results in the folder, and one for all."""
    done = measurements(out, setup, PROTOCOLS.values())
    pictures, note = write_pages(out, done)
    (out / "README.md").write_text(contents(done), encoding="utf-8")
    (out / "report.html").write_text(html(done, pictures, note), encoding="utf-8")
    return done


def rewrite_reports(out: Path, data: Path | None) -> list[Measurement]:
    """Write the pages of the results in a folder again, and return these."""
    if not any(out.glob("*.jsonl")):
        raise InputError(f"{out} holds no results; semisvm bench papers --out {out} measures some.")
    try:
        return write_reports(out, Setup(DataFolder(data)))
    except DamagedResults as error:
        raise InputError(str(error)) from error
    except OSError as error:
        raise InputError(f"{out} cannot be written ({error.strerror}); pass another --out.") from error


def progress_line(name: str, progress: Progress) -> str:
    """What runs, how much is done, and how long the rest takes."""
    row, column, draw = progress.task.key
    left = "" if progress.seconds_left is None else f", {format_seconds(progress.seconds_left)} left"
    return f"{name} {progress.done}/{progress.total}{left}: {row}, {column}, draw {draw}"


def list_content(data: Path | None) -> dict[str, Any]:
    """The tables, and how many of their cells can be measured with the data at hand."""
    setup = Setup(DataFolder(data))
    tables = [
        {
            "name": name,
            "title": protocol.title,
            "selection": protocol.selection,
            "cells": len(protocol.cells),
            "measurable": sum(not cell.obstacle(setup) for cell in protocol.cells),
            "missing": sorted(name for name in protocol.needs if not setup.data.has(name)),
        }
        for name, protocol in PROTOCOLS.items()
    ]
    return {"tables": tables, "splits": [f"{line}." for line in split_sentences(check_splits(DIGESTS, setup.data))]}


def list_lines(content: dict[str, Any]) -> list[str]:
    """The lines of ``semisvm bench list``."""
    width = max(map(len, PROTOCOLS)) + 2
    lines = []
    for table in content["tables"]:
        missing = f"; not found: {', '.join(table['missing'])}" if table["missing"] else ""
        cells = f"{table['measurable']} of {table['cells']} cells can be measured, {table['selection']}"
        lines += [f"{table['name']:{width}s}{table['title']}", f"{'':{width}s}{cells}{missing}"]
    return lines + content["splits"]
