"""The picture of numbers against seconds, with a name at every point."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from ..plots.axes import add_legend, mark, new_figure, remove_frame
from .report import Measurement

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Where a name may stand, in points from its point, and which end of it is there; the nearest first
PLACES: tuple[tuple[float, float, str, str], ...] = (
    (6, 0, "left", "center"),
    (-6, 0, "right", "center"),
    (0, 6, "center", "bottom"),
    (0, -6, "center", "top"),
    *((x, y, end, "center") for y in (10, -10, 20, -20, 30, -30, 42, -42) for x, end in ((10, "left"), (-10, "right"))),
)


def time_plot(measurement: Measurement) -> Figure | None:
    """Means against mean seconds with standard errors; colors stand for columns, names for rows."""
    measured = [one for one in measurement.comparisons if one.mean is not None and one.seconds]
    if not measured:
        return None
    figure = new_figure(8.5, 5)
    ax = figure.subplots()
    columns = list(dict.fromkeys(one.cell.column for one in measured))
    for number, column in enumerate(columns):
        found = [one for one in measured if one.cell.column == column]
        spread = [one.standard_error or 0.0 for one in found]
        seconds, means = [one.seconds or 0.0 for one in found], [one.mean or 0.0 for one in found]
        ax.errorbar(seconds, means, spread, linestyle="", label=column, elinewidth=0.8, **mark(number))
    ax.set(xscale="log", xlabel="seconds", ylabel=measurement.protocol.measures)
    ax.margins(0.12, 0.08)
    remove_frame(ax)
    add_legend(ax, outside=True)
    _write_names(figure, ax, sorted(((one.cell.row, (one.seconds, one.mean)) for one in measured), key=itemgetter(1)))
    return figure


def _write_names(figure: Figure, ax: Axes, named: Sequence[tuple[str, Any]]) -> None:
    """Names beside their points, each in the first place that neither a point nor another name takes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.transforms import Bbox

    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()  # sets the layout that places are measured in
    pixels = ax.transData.transform([point for _, point in named])
    taken = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in pixels]
    within = ax.get_window_extent(renderer)
    for name, point in named:
        best: tuple[float, Any] | None = None
        for x, y, end, height in PLACES:
            is_far = abs(y) > 6
            text = ax.annotate(
                name,
                point,
                (x, y),
                textcoords="offset points",
                ha=end,
                va=height,
                fontsize=8,
                arrowprops={"arrowstyle": "-", "color": "0.6", "linewidth": 0.5} if is_far else None,
            )
            box = text.get_window_extent(renderer) if not is_far else _text_box(text, renderer)
            hidden = sum(box.overlaps(other) for other in taken) + (box.x0 < within.x0) + (box.x1 > within.x1)
            if best is None or hidden < best[0]:
                if best is not None:
                    best[1].remove()
                best = hidden, text
                chosen = box
            else:
                text.remove()
            if not hidden:
                break
        taken.append(chosen)


def _text_box(text: Any, renderer: Any) -> Any:
    """The box of a name without the line to its point."""
    from matplotlib.text import Text

    text.update_positions(renderer)
    return Text.get_window_extent(text, renderer)
