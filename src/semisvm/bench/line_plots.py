"""Pictures with lines: the columns of a figure, and the traces of solvers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..plots import TraceDisplay
from ..plots.axes import add_legend, mark, new_figure, remove_frame, set_sizes
from .comparison import Comparison
from .report import Measurement

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def curve_plot(measurement: Measurement) -> Figure | None:
    """Each column a curve of means with standard errors, printed numbers as hollow marks; seconds with exponents."""
    columns: dict[str, list[Comparison]] = {}
    for one in measurement.comparisons:
        columns.setdefault(one.cell.column, []).append(one)
    if all(one.mean is None for one in measurement.comparisons):
        return None
    protocol = measurement.protocol
    figure = new_figure(7.5, 4)
    ax = figure.subplots()
    is_scaling = protocol.measures.startswith("seconds")
    for number, (name, found) in enumerate(columns.items()):
        _draw_column(ax, name, sorted(found, key=_x), number, is_scaling)
    set_sizes(ax, [_x(one) for one in measurement.comparisons])
    if is_scaling:
        ax.set(xscale="log", yscale="log")
    else:
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    ax.set(xlabel=protocol.x_label, ylabel=protocol.measures)
    if any(one.cell.printed for one in measurement.comparisons):
        ax.errorbar([], [], fmt="o", color="0.3", markersize=8, markerfacecolor="none", label="printed")
    remove_frame(ax)
    add_legend(ax, outside=True)
    return figure


def _x(one: Comparison) -> float:
    assert one.cell.x is not None
    return one.cell.x


def _draw_column(ax: Axes, name: str, found: Sequence[Comparison], number: int, is_scaling: bool) -> None:
    style = mark(number)
    ours = [one for one in found if one.mean is not None]
    if ours:
        x, means = np.array([_x(one) for one in ours]), np.array([float(one.mean or 0.0) for one in ours])
        spread = [one.standard_error or 0.0 for one in ours]
        label = name
        if is_scaling and (exponent := scaling_exponent(x, means)) is not None:
            label = f"{name}: exponent {exponent:.2f}"
        ax.errorbar(x, means, spread, label=label, markersize=5, capsize=2, elinewidth=1, **style)
    printed = [(_x(one), one.cell.printed.mean) for one in found if one.cell.printed is not None]
    if printed:
        ax.plot(*zip(*printed), linestyle="", markersize=8, markerfacecolor="none", **style)


def scaling_exponent(x: np.ndarray, seconds: np.ndarray) -> float | None:
    """The slope of log seconds over log x by least squares; None without two different positive points."""
    positive = (x > 0) & (seconds > 0)
    if len(np.unique(x[positive])) < 2:
        return None
    return float(np.polyfit(np.log(x[positive]), np.log(seconds[positive]), 1)[0])


def trace_plot(measurement: Measurement) -> Figure | None:
    """Objective minus the best against seconds, one plot for every row; of several draws the first is shown."""
    rows: dict[str, dict[str, dict[str, list[float]]]] = {}
    first = {(one.row, one.column): one for one in measurement.records.by_task.values() if one.draw == 0}
    for cell in measurement.protocol.cells:
        result = first.get(cell.key)
        if result is not None and result.trace:
            rows.setdefault(cell.row, {})[cell.column] = result.trace
    if not rows:
        return None
    figure = new_figure(8, 3.2 * len(rows))
    for ax, (row, traces) in zip(np.ravel(figure.subplots(len(rows), 1, sharex=True)), rows.items()):
        objectives = {name: trace["objective"] for name, trace in traces.items()}
        TraceDisplay(objectives, {name: trace["seconds"] for name, trace in traces.items()}).plot(ax)
        ax.set_title(row, loc="left", fontsize="medium")
        ax.set_ylabel("objective minus the best\n(0 at the lower end)")
        ax.label_outer()
        add_legend(ax, outside=True)
    return figure
