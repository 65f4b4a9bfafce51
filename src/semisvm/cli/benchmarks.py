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


def measure_papers(request: PapersRequest, display: ProgressDisplay) -> list[str]:
    """Run the protocols, write results and reports, and return the lines of the summary."""
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
        done = write_reports(request.out, setup)
    except (ResultsExist, DamagedResults) as error:
        raise InputError(str(error)) from error
    except OSError as error:
        raise InputError(f"{request.out} cannot be written ({error.strerror}); pass another --out.") from error
    return summary(done, request.out)


def summary(done: list[Measurement], out: Path) -> list[str]:
    """The counts of all tables, and what was written."""
    return [*totals(done), f"written to {out}: report.html, README.md, and a .md file per table with results there"]


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


def rewrite_reports(out: Path, data: Path | None) -> list[str]:
    """Write the pages of the results in a folder again, and return the lines of the summary."""
    if not any(out.glob("*.jsonl")):
        raise InputError(f"{out} holds no results; semisvm bench papers --out {out} measures some.")
    try:
        done = write_reports(out, Setup(DataFolder(data)))
    except DamagedResults as error:
        raise InputError(str(error)) from error
    except OSError as error:
        raise InputError(f"{out} cannot be written ({error.strerror}); pass another --out.") from error
    return summary(done, out)


def progress_line(name: str, progress: Progress) -> str:
    """What runs, how much is done, and how long the rest takes."""
    row, column, draw = progress.task.key
    left = "" if progress.seconds_left is None else f", {format_seconds(progress.seconds_left)} left"
    return f"{name} {progress.done}/{progress.total}{left}: {row}, {column}, draw {draw}"


def format_seconds(seconds: float) -> str:
    """Seconds as a short text of two units."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def list_lines(data: Path | None) -> list[str]:
    """The tables, and how many of their cells can be measured with the data at hand."""
    setup = Setup(DataFolder(data))
    width = max(map(len, PROTOCOLS)) + 2
    lines = []
    for name, protocol in PROTOCOLS.items():
        n_runnable = sum(not cell.obstacle(setup) for cell in protocol.cells)
        missing = sorted(name for name in protocol.needs if not setup.data.has(name))
        lines.append(f"{name:{width}s}{protocol.title}")
        cells = f"{n_runnable} of {len(protocol.cells)} cells can be measured, {protocol.selection}"
        lines.append(f"{'':{width}s}{cells}" + (f"; not found: {', '.join(missing)}" if missing else ""))
    found = split_sentences(check_splits(DIGESTS, setup.data))
    return lines + [f"{sentence}." for sentence in found]
