"""Axes, colors and marks that all plots share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation import import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito: told apart with every kind of color blindness; without yellow, which is too bright for lines
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "os^DvPX*"  # one more than colors, so that pairs repeat late
WIDE = 8.0  # times the smallest value: an axis of a larger range is logarithmic
MIN_GAP = 0.075  # between named ticks, of the width of the axis


def mark(number: int) -> dict[str, Any]:
    """Color and marker of a curve."""
    return {"color": COLORS[number % len(COLORS)], "marker": MARKERS[number % len(MARKERS)]}


def require_matplotlib(needed_by: str) -> None:
    """Say how to get matplotlib if it is missing."""
    import_optional("matplotlib", "plots", needed_by)


def new_figure(width: float, height: float) -> Figure:
    """A figure that pyplot does not know, so that nobody has to close it."""
    require_matplotlib("a picture")
    from matplotlib.figure import Figure

    return Figure((width, height), layout="constrained")


def axes_of(display: Any, ax: Axes | None, height: float = 4.0) -> Axes:
    """The axes of a display: those that are given, or those of a new figure of pyplot."""
    require_matplotlib(type(display).__name__)
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(7, height), layout="constrained")
    return ax


def add_legend(ax: Axes, outside: bool, handles: Sequence[Any] | None = None, beside_scale: bool = False) -> None:
    """A legend beside the axes, where it hides no curve; in axes of the user, where there may be no space, inside.

    ``handles`` are its entries, all that have a label if None; ``beside_scale``: there is a scale at the right.
    """
    options: dict[str, Any] = {"fontsize": "small"} if handles is None else {"fontsize": "small", "handles": handles}
    if outside and beside_scale:
        ax.figure.legend(loc="outside right center", frameon=False, **options)
    elif outside:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, **options)
    else:
        ax.legend(framealpha=0.8, edgecolor="none", **options)


def set_sizes(ax: Axes, sizes: Sequence[float] | np.ndarray) -> None:
    """Ticks at the values of a horizontal axis, with names that do not touch.

    It is logarithmic if the range is wide, unless the values have equal steps.
    """
    values = np.unique(np.asarray(sizes, dtype=float))
    has_equal_steps = len(values) > 2 and np.allclose(np.diff(values), values[1] - values[0])
    if values[0] > 0 and values[-1] >= WIDE * values[0] and not has_equal_steps:
        ax.set_xscale("log")
    if len(values) <= 10:
        places = np.log(values) if ax.get_xscale() == "log" else values
        names, last = [], -np.inf
        for value, place in zip(values, places):
            is_apart = place - last >= MIN_GAP * (places[-1] - places[0])
            names.append(f"{value:g}" if is_apart else "")
            last = place if is_apart else last
        ax.set_xticks(values, names)
        ax.minorticks_off()


def remove_frame(ax: Axes) -> None:
    """Leave the two axes and a faint grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)


def by_name(things: Any, kind: str) -> dict[str, Any]:
    """Several things by the names of a legend: those of a mapping, or of their classes."""
    if isinstance(things, Mapping):
        named = {str(name): thing for name, thing in things.items()}
    else:
        several = list(things) if isinstance(things, list | tuple) else [things]
        classes = [type(thing).__name__ for thing in several]
        named = {}
        for number, (name, thing) in enumerate(zip(classes, several)):
            repeated = classes.count(name) > 1
            named[f"{name} {classes[: number + 1].count(name)}" if repeated else name] = thing
    if not named:
        raise ValueError(f"{kind} is empty; pass at least one, in a list or a mapping from names.")
    return named
