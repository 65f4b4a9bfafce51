"""The page of the report: HTML with style and pictures inside, for a screen, a phone and paper."""

from __future__ import annotations

from html import escape

import numpy as np

from ..plots.axes import require_matplotlib
from .content import Card, LabeledTable
from .features import top_features
from .pictures import draw_pictures

MAX_CLASSES = 40
MAX_TOP_CLASSES = 6  # whose features are shown
STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.55 system-ui, sans-serif; color: #1d1d1f; background: #fff; max-width: 62rem; margin: 0 auto;
  padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .4rem; border-bottom: 1px solid #ddd; padding-bottom: .2rem; }
.conclusion { background: #eef4fa; border-left: 4px solid #0072b2; padding: .7rem 1rem; margin: 1rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; margin: .6rem 0; min-width: 50%; }
th, td { border-bottom: 1px solid #e2e2e2; padding: .3rem .7rem .3rem 0; text-align: left; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
svg { max-width: 100%; height: auto; display: block; margin: .4rem 0; }
.cells { color: #444; overflow-wrap: anywhere; min-width: 12rem; }
.small { color: #555; font-size: .88rem; }
.bar { display: inline-block; height: .7em; background: #0072b2; vertical-align: baseline; }
.track { display: inline-block; width: 5rem; }
.bar.against { background: #d55e00; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); gap: 0 2rem; }
@media print { body { max-width: none; padding: 0; font-size: 11pt; } h2 { break-after: avoid; }
  svg, table, section, .conclusion, .columns > div { break-inside: avoid; } .scroll { overflow: visible; }
  .columns { display: flex; flex-wrap: wrap; } .columns > div { flex: 1 0 40%; } }
"""
NO_PICTURES = "There are no pictures, which need the package matplotlib: pip install 'semisvm[plots]'."


def render(table: LabeledTable) -> str:
    """The report as HTML."""
    title = f"{table.target} of {table.title}"
    pictures, missing = _pictures(table)
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="small">{_summary(table)}</p>',
        f'<p class="conclusion">{escape(table.conclusion)}</p>' if table.conclusion else "",
        _errors(table),
        missing,
        *(f"<section><h2>{escape(name)}</h2>{note}{svg}</section>" for name, (svg, note) in pictures.items()),
        _classes(table),
        _features(table),
        _rows(table),
        "<h2>Notes</h2><ul>" + "".join(f"<li>{escape(note)}</li>" for note in table.notes) + "</ul>"
        if table.notes
        else "",
        f'<div class="columns">{"".join(_card(card) for card in table.cards)}</div>',
    ]
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
    )
    body = "\n".join(part for part in parts if part)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'


def _pictures(table: LabeledTable) -> tuple[dict[str, tuple[str, str]], str]:
    try:
        require_matplotlib("a picture")
    except ImportError:
        return {}, f"<p>{escape(NO_PICTURES)}</p>"
    notes = {
        "Margin of labeled and unlabeled rows": "A gap without unlabeled rows around the boundary is what the "
        "semi-supervised methods look for; rows in it are the doubtful ones.",
        "Map of the rows": "Where the model sees the rows: by its scores, and with two classes by a principal "
        "component of the features beside them. Given labels among those of another class are worth a look.",
        "Confidence": "What would be right if only the most confident rows were kept, by the model's own estimate.",
    }
    shown = {name: f'<p class="small">{note}</p>' for name, note in notes.items()}
    return {name: (svg, shown.get(name, "")) for name, svg in draw_pictures(table).items()}, ""


def _summary(table: LabeledTable) -> str:
    n, given = len(table.y), int(table.is_given.sum())
    part = f"; pictures show {len(table.sample):,} of them" if len(table.sample) < n else ""
    return f"{n:,} rows, {given:,} with a label, {n - given:,} filled by {escape(type(table.estimator).__name__)}{part}"


def _table(head: list[str], rows: list[list[str]], numbers: set[int]) -> str:
    """A table; the cells are HTML already."""

    def cells(values: list[str], tag: str) -> str:
        return "".join(
            f'<{tag} class="number">{value}</{tag}>' if i in numbers else f"<{tag}>{value}</{tag}>"
            for i, value in enumerate(values)
        )

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{cells(head, "th")}</tr></thead><tbody>{body}</tbody></table></div>'


def _errors(table: LabeledTable) -> str:
    if not table.errors:
        return ""
    rows = [
        [escape(one.name), f"{100 * one.error:.1f} %", f"{100 * one.low:.1f} to {100 * one.high:.1f}"]
        for one in table.errors
    ]
    head = ["model", "error", "95 % interval"]
    return "<h2>Error on labeled rows that were held out</h2>" + _table(head, rows, {1, 2})


def _classes(table: LabeledTable) -> str:
    given, filled = table.counts(True), table.counts(False)
    rows = []
    for c in table.classes[:MAX_CLASSES]:
        sure = table.confidence[(table.labels == c) & ~table.is_given]
        median = f"{np.median(sure):.2f}" if len(sure) else "-"
        low = f"{int((sure < 0.7).sum()):,}"
        rows.append([escape(str(c)), f"{given[c]:,}", f"{filled[c]:,}", median, low])
    head = ["class", "given", "filled", "median confidence", "below 0.7"]
    return "<h2>Classes</h2>" + _table(head, rows, {1, 2, 3, 4})


def _features(table: LabeledTable) -> str:
    blocks = []
    X = table.X[table.sample]
    for c, scores in list(table.scores.items())[:MAX_TOP_CLASSES]:
        rows = []
        for one in top_features(X, scores, table.feature_names):
            kind = "bar" if one.correlation > 0 else "bar against"
            width = f"width:{100 * abs(one.correlation):.0f}%"
            bar = f'<span class="track"><span class="{kind}" style="{width}"></span></span>'
            rows.append([escape(one.name), f"{one.correlation:+.2f}", bar])
        if rows:
            heading = f'<p class="small">Correlation with the score of <b>{escape(str(c))}</b></p>'
            blocks.append(f"<div>{heading}{_table(['feature', '', ''], rows, {1})}</div>")
    heading = "<h2>Words and columns that tell the classes apart</h2>"
    return f'{heading}<div class="columns">{"".join(blocks)}</div>' if blocks else ""


def _rows(table: LabeledTable) -> str:
    if not table.rows:
        return ""
    rows = [
        [f"{one.number:,}", escape(one.label), f"{one.confidence:.2f}", escape(one.reason),
         f'<span class="cells">{escape(one.cells)}</span>']
        for one in table.rows
    ]  # fmt: skip
    head = ["row", "filled with", "confidence", "why", "cells"]
    return "<h2>Rows most worth a look</h2>" + _table(head, rows, {0, 2})


def _card(card: Card) -> str:
    items = [[escape(name), escape(value)] for name, value in card.items]
    return f"<div><h2>{escape(card.title)}</h2>{_table(['', ''], items, set())}</div>"
