"""The report of measured protocols: Markdown for each, and one page of HTML for all."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from .comparison import BETTER, FAILED, MATCHED, WORSE, Comparison, Tally, count_sentence, tally
from .protocol import SELECTIONS, Printed, Protocol
from .records import Records

HEAD = ("row", "column", "printed", "ours", "draws", "difference", "margin", "verdict", "seconds a draw")
COLORS = {BETTER: "better", MATCHED: "matched", WORSE: "worse", FAILED: "worse"}
RULE = (
    "Mean ± standard deviation over draws. A cell is matched if ours differs by no more than the margin: two "
    "standard errors, the root of ours squared plus theirs squared. Theirs is from the printed deviation and number of "
    "draws or, where none is printed, binomial from the number of test samples."
)
SHORT_FORM = "Short form: smaller grids and few draws; the verdicts say little"
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 14px; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: left; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.better, td.matched { background: #d8f0d8; } td.better { font-weight: 600; }
td.worse { background: #f6d2d2; font-weight: 600; }
.small { color: #555; font-size: 13px; }
"""


class Measurement(NamedTuple):
    """A protocol, its comparisons, and the results that they stand on."""

    protocol: Protocol
    comparisons: Sequence[Comparison]
    records: Records


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
    """What differs from the paper cell by cell, and what the protocol says."""
    differing: dict[str, list[str]] = {}
    for cell in measurement.protocol.cells:
        if cell.differs:
            differing.setdefault(cell.differs, []).append(f"{cell.row}, {cell.column}")
    lines = [f"{text[0].upper()}{text[1:]} ({'; '.join(cells)})" for text, cells in differing.items()]
    if any(header["quick"] for header in measurement.records.headers):
        lines.insert(0, SHORT_FORM)
    if any(one.one_choice is not None for one in measurement.comparisons):
        lines.append('"One choice" is the best single choice of the parameters for all draws, which flatters less')
    return [*measurement.protocol.notes, *lines]


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


def markdown(measurement: Measurement) -> str:
    """The page of a protocol."""
    protocol = measurement.protocol
    rows = [list(HEAD), ["---"] * len(HEAD), *table_rows(measurement.comparisons)]
    lines = [f"# {protocol.title}", "", protocol.reference + (f" <{protocol.url}>" if protocol.url else ""), ""]
    lines += [f"Selection: {protocol.selection}. Numbers: {protocol.measures}. {RULE}", ""]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
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


def html(measurements: Sequence[Measurement]) -> str:
    """One page with everything, which needs no other file."""
    parts = ["<h1>Printed results, measured again</h1>", f"<p>{escape(RULE)}</p>", "<ul>"]
    parts += [f"<li>{escape(line)}</li>" for line in totals(measurements)]
    parts += ["</ul>", *(_section(one) for one in measurements)]
    head = f'<meta charset="utf-8"><title>semisvm: printed results</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(parts) + "\n</body></html>\n"


def _section(measurement: Measurement) -> str:
    protocol = measurement.protocol
    head = "".join(f"<th>{escape(name)}</th>" for name in HEAD)
    body = []
    for one, row in zip(measurement.comparisons, table_rows(measurement.comparisons)):
        kinds = ["", "", *["number"] * 5, COLORS.get(one.verdict, ""), "number"]
        cells = "".join(f'<td class="{kind}">{escape(text)}</td>' for kind, text in zip(kinds, row))
        body.append(f"<tr>{cells}</tr>")
    lines = [*count_lines(tally(measurement.comparisons), protocol.name), *note_lines(measurement)]
    link = f' <a href="{escape(protocol.url)}">{escape(protocol.url)}</a>' if protocol.url else ""
    parts = [
        f'<h2 id="{escape(protocol.name)}">{escape(protocol.title)}</h2>',
        f"<p>{escape(protocol.reference)}{link}</p>",
        f"<p>Selection: {escape(protocol.selection)}. Numbers: {escape(protocol.measures)}.</p>",
        f"<table><thead><tr>{head}</tr></thead><tbody>\n" + "\n".join(body) + "\n</tbody></table>",
        "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>",
        *(f'<p class="small">{escape(line)}</p>' for line in environment_lines(measurement.records.headers)),
    ]
    return "\n".join(parts)
