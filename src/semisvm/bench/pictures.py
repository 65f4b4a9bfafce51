"""A picture of every measured protocol, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..plots.axes import require_matplotlib
from ..plots.svg import figure_svg, svg_settings
from .dot_plot import dot_plot
from .line_plots import curve_plot, trace_plot
from .report import Measurement
from .scatter_plot import time_plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NO_MATPLOTLIB = "There are no pictures, which need the package matplotlib: pip install 'semisvm[plots]'."


class Pictures(NamedTuple):
    """Pictures as SVG by the name of the protocol, and why there are none."""

    svg: dict[str, str]
    note: str = ""


def draw_pictures(measurements: Sequence[Measurement]) -> Pictures:
    """The pictures of those protocols that have something to draw."""
    try:
        require_matplotlib("a picture")
    except ImportError:
        return Pictures({}, NO_MATPLOTLIB)
    return Pictures({one.protocol.name: svg for one in measurements if (svg := draw_svg(one))})


def draw_svg(measurement: Measurement) -> str:
    """The picture of a protocol as an element of HTML that is a file of its own as well; empty if there is none."""
    with svg_settings():
        figure = draw(measurement)
        return "" if figure is None else figure_svg(figure, measurement.protocol.title)


def draw(measurement: Measurement) -> Figure | None:
    """The picture of a protocol, in the form that it asks for; None if nothing of it was measured."""
    protocol = measurement.protocol
    if protocol.picture == "trace":
        return trace_plot(measurement)
    if protocol.picture == "time":
        return time_plot(measurement)
    return curve_plot(measurement) if protocol.x_label else dot_plot(measurement)
