"""The report of measured protocols: its texts, and a page of Markdown for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .comparison import WORSE, Comparison, Tally, count_sentence, tally
from .protocol import SELECTIONS, Cell, Printed, Protocol
from .records import Records

HEAD = ("row", "column", "printed", "ours", "draws", "difference", "margin", "verdict", "seconds a draw")
RULE = (
    "Mean ± standard deviation over draws. A cell is matched if ours differs by no more than the margin: two "
    "standard errors, the root of ours squared plus theirs squared. Theirs is from the printed deviation and number of "
    "draws or, where none is printed, binomial from the number of test samples; both where all draws of the paper have "
    "the same test samples."
)
SHORT_FORM = "Short form: smaller grids and few draws; the verdicts say little"


class Measurement(NamedTuple):
    """A protocol, its comparisons, the results that they stand on, and what is known of the splits of its sets."""

    protocol: Protocol
    comparisons: Sequence[Comparison]
    records: Records
    splits: Sequence[str] = ()


def table_rows(comparisons: Sequence[Comparison]) -> list[list[str]]:
    """The texts of a table, one row for every cell, below ``HEAD``."""
    return [
        [
            one.cell.row,
            one.cell.column,
            _printed(one.cell.printed),
            _ours(one),
            f"{one.n_draws} of {one.n_planned}" if one.n_draws else "",
            "" if one.difference is None else f"{one.difference:+.2f}",
            "" if one.margin is None else f"{one.margin:.2f}",
            one.verdict + (f": {one.why}" if one.why else ""),
            "" if one.seconds is None else f"{one.seconds:.3g}",
        ]
        for one in comparisons
    ]


def _printed(printed: Printed | None) -> str:
    if printed is None:
        return ""
    return f"{printed.mean:.2f}" + ("" if printed.deviation is None else f" ± {printed.deviation:.2f}")


def _ours(one: Comparison) -> str:
    if one.mean is None:
        return ""
    spread = "" if one.deviation is None else f" ± {one.deviation:.2f}"
    return f"{one.mean:.2f}{spread}" + ("" if one.one_choice is None else f" (one choice {one.one_choice:.2f})")


def count_lines(counts: Tally, name: str) -> list[str]:
    """A line for the cells as printed and one for those that differ from the paper, as far as there are any."""
    lines = [f"{name}: {count_sentence(counts.as_printed)}."]
    if counts.differing:
        lines.append(f"{name}, cells that differ from the paper: {count_sentence(counts.differing)}.")
    return lines


def note_lines(measurement: Measurement) -> list[str]:
    """What the protocol says, what differs from the paper, and what is known of the cells that are worse."""
    cells, worse = measurement.protocol.cells, [one.cell for one in measurement.comparisons if one.verdict == WORSE]
    lines = [f"{text} ({names})" for text, names in _by_text([(cell.differs, cell) for cell in cells]).items()]
    if any(header["quick"] for header in measurement.records.headers):
        lines.insert(0, SHORT_FORM)
    if any(one.one_choice is not None for one in measurement.comparisons):
        lines.append('"One choice" is the best single choice of the parameters for all draws, which flatters less')
    known = _by_text([(cell.remark, cell) for cell in worse])
    lines += [f"Worse: {names}. {text}" for text, names in known.items()]
    unknown = [f"{cell.row}, {cell.column}" for cell in worse if not cell.remark]
    lines += [f"Worse, and not known why: {'; '.join(unknown)}"] if unknown else []
    return [*measurement.protocol.notes, *measurement.splits, *lines]


def _by_text(pairs: Sequence[tuple[str, Cell]]) -> dict[str, str]:
    """The names of cells that share a text, by that text with a capital letter; those without text are left out."""
    names: dict[str, list[str]] = {}
    for text, cell in pairs:
        if text:
            names.setdefault(f"{text[0].upper()}{text[1:]}", []).append(f"{cell.row}, {cell.column}")
    return {text: "; ".join(cells) for text, cells in names.items()}


def environment_lines(headers: Sequence[dict[str, Any]]) -> list[str]:
    """Where and with what results were measured, each environment once."""
    lines = []
    for header in headers:
        versions = ", ".join(f"{key} {header[key]}" for key in ("python", "numpy", "scipy", "scikit-learn", "numba"))
        source = f"semisvm {header['semisvm']}" + (f", commit {header['commit']}" if header["commit"] else "")
        short = ", short form" if header["quick"] else ""
        where = f"{header['processor']}, cores: {header['cores']}, {header['system']}"
        lines.append(f"{source}{short}; {versions}; {where}; {header['command']}")
    return list(dict.fromkeys(lines))


def markdown(measurement: Measurement, picture: str = "") -> str:
    """The page of a protocol; ``picture`` is the address of its picture, or a sentence that there is none."""
    protocol = measurement.protocol
    rows = [list(HEAD), ["---"] * len(HEAD), *table_rows(measurement.comparisons)]
    lines = [f"# {protocol.title}", "", protocol.reference + (f" <{protocol.url}>" if protocol.url else ""), ""]
    lines += [f"Selection: {protocol.selection}. Numbers: {protocol.measures}. {RULE}", ""]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    if picture:
        lines += ["", f"![{protocol.title}]({picture})" if picture.endswith(".svg") else picture]
    lines += ["", *count_lines(tally(measurement.comparisons), protocol.name)]
    if notes := note_lines(measurement):
        lines += ["", *(f"- {note}." for note in notes)]
    lines += ["", "Measured with:", "", *(f"- {line}" for line in environment_lines(measurement.records.headers))]
    return "\n".join(lines) + "\n"


def totals(measurements: Sequence[Measurement]) -> list[str]:
    """Counts over all protocols, those of each way to choose parameters apart."""
    lines = []
    for selection in SELECTIONS:
        counts = [tally(one.comparisons) for one in measurements if one.protocol.selection == selection]
        if counts:
            lines += count_lines(sum(counts[1:], counts[0]), selection.capitalize())
    return lines


def contents(measurements: Sequence[Measurement]) -> str:
    """The page that names all others, with the counts of each."""
    lines = ["# Printed results, measured again", "", RULE, "", *(f"- {line}" for line in totals(measurements)), ""]
    lines += ["| table or figure | cells as printed | cells that differ from the paper |", "| --- | --- | --- |"]
    for one in measurements:
        counts = tally(one.comparisons)
        differing = count_sentence(counts.differing) if counts.differing else ""
        lines.append(
            f"| [{one.protocol.title}]({one.protocol.name}.md) | {count_sentence(counts.as_printed)} | {differing} |"
        )
    return "\n".join(lines) + "\n"
