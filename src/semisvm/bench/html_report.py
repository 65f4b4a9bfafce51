"""The report of all measured protocols as one page of HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from types import MappingProxyType

from .comparison import BETTER, FAILED, MATCHED, WORSE, tally
from .report import HEAD, RULE, Measurement, count_lines, environment_lines, note_lines, table_rows, totals

COLORS = {BETTER: "better", MATCHED: "matched", WORSE: "worse", FAILED: "worse"}
NO_PICTURES: Mapping[str, str] = MappingProxyType({})
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 14px; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: left; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.better, td.matched { background: #d8f0d8; } td.better { font-weight: 600; }
td.worse { background: #f6d2d2; font-weight: 600; }
svg { max-width: 100%; height: auto; }
.small { color: #555; font-size: 13px; }
"""


def html(measurements: Sequence[Measurement], pictures: Mapping[str, str] = NO_PICTURES, note: str = "") -> str:
    """One page with everything, which needs no other file.

    Parameters
    ----------
    measurements : sequence of Measurement
        What to show.
    pictures : mapping of str to str
        Pictures as SVG by the name of the protocol.
    note : str
        Why there are none.
    """
    parts = ["<h1>Printed results, measured again</h1>", f"<p>{escape(RULE)}</p>", "<ul>"]
    parts += [f"<li>{escape(line)}</li>" for line in totals(measurements)]
    parts += ["</ul>", f"<p>{escape(note)}</p>" if note else ""]
    parts += [_section(one, pictures.get(one.protocol.name, "")) for one in measurements]
    head = f'<meta charset="utf-8"><title>semisvm: printed results</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(parts) + "\n</body></html>\n"


def _section(measurement: Measurement, picture: str) -> str:
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
        *([f"<div>{picture}</div>"] if picture else []),
        "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>",
        *(f'<p class="small">{escape(line)}</p>' for line in environment_lines(measurement.records.headers)),
    ]
    return "\n".join(parts)
