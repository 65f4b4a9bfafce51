"""The picture of a table: printed numbers and ours, a line for every cell."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from ..plots.axes import COLORS, new_figure, remove_frame
from .comparison import BETTER, MATCHED, WORSE, Comparison
from .report import Measurement

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS: dict[str, dict[str, Any]] = {  # colors and marks differ, so that either is enough
    BETTER: {"color": COLORS[0], "marker": "<"},
    MATCHED: {"color": COLORS[0], "marker": "o"},
    WORSE: {"color": COLORS[1], "marker": "X"},
}


def dot_plot(measurement: Measurement) -> Figure | None:
    """Printed numbers as hollow marks with the margin as bars, ours as filled ones; the cells of a row together."""
    compared = [one for one in measurement.comparisons if one.difference is not None]
    if not compared:
        return None
    rows: dict[str, list[Comparison]] = {}
    for one in compared:
        rows.setdefault(one.cell.row, []).append(one)
    n_lines = len(compared) + len(rows)
    figure = new_figure(7.5, 1.2 + 0.24 * n_lines)
    ax = figure.subplots()
    ticks: list[int] = []
    labels: list[str] = []
    headers, line = [], 0
    seen: set[str] = set()
    for row, cells in rows.items():
        headers.append(len(ticks))
        ticks.append(line)
        labels.append(row)
        for one in cells:
            line += 1
            assert one.cell.printed is not None
            assert one.mean is not None
            ax.errorbar(
                one.cell.printed.mean,
                line,
                xerr=one.margin,
                fmt="o",
                color="0.45",
                markerfacecolor="white",
                capsize=3,
                label=None if seen else "printed, with the margin",
            )
            label = None if one.verdict in seen else f"ours, {one.verdict}"
            ax.plot(one.mean, line, linestyle="", label=label, zorder=3, **OURS[one.verdict])
            seen.add(one.verdict)
            ticks.append(line)
            labels.append(one.cell.column)
        line += 1
    ax.set_yticks(ticks, labels, fontsize="small")
    for header in headers:
        ax.get_yticklabels()[header].set_fontweight("bold")
    if ax.get_xlim()[0] < 0 <= min(one.mean or 0.0 for one in compared):
        ax.set_xlim(left=-0.01 * ax.get_xlim()[1])  # margins may reach below zero, errors do not
    ax.set_ylim(line - 0.5, -0.7)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(textwrap.fill(measurement.protocol.measures, 50))
    remove_frame(ax)
    figure.legend(loc="outside upper center", ncols=4, frameon=False, fontsize="small")
    return figure
