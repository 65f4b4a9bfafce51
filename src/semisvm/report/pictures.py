"""The pictures of the report, as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.decomposition import PCA

from ..plots import ConfidenceCurveDisplay, MarginHistogramDisplay
from ..plots.axes import COLORS, add_legend, new_figure, remove_frame
from ..plots.confidence_curve import confidence_curve as risk_coverage
from ..plots.svg import figure_svg, svg_settings
from .content import LabeledTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_POINTS = 2000  # on the map
MAX_BARS = 15
MAX_COLORS = 6  # classes on the map that have a color of their own
GRAY = "#999999"


def draw_pictures(table: LabeledTable) -> dict[str, str]:
    """All pictures by their title."""
    drawings = {
        "Classes, given and filled": class_balance,
        "Margin of labeled and unlabeled rows": margin_histogram,
        "Map of the rows": class_map,
        "Confidence": confidence_curve,
    }
    with svg_settings():
        return {title: figure_svg(draw(table), title) for title, draw in drawings.items()}


def class_balance(table: LabeledTable) -> Figure:
    """Shares of the classes among given and among filled labels."""
    classes = table.classes[:MAX_BARS]
    figure = new_figure(7, 1.2 + 0.45 * len(classes))
    ax = figure.subplots()
    places = np.arange(len(classes))
    for number, (given, name) in enumerate(((True, "given"), (False, "filled"))):
        counts = table.counts(given)
        total = max(sum(counts.values()), 1)
        shares = [100 * counts[c] / total for c in classes]
        bars = ax.barh(places + 0.4 * number, shares, 0.36, color=COLORS[number], label=name)
        ax.bar_label(bars, [f"{counts[c]:,}" for c in classes], padding=3, fontsize="small", color="0.3")
    ax.set_yticks(places + 0.2, [_short(str(c)) for c in classes])
    ax.invert_yaxis()
    ax.set_xlabel("percent of the rows")
    remove_frame(ax)
    add_legend(ax, outside=True)
    return figure


def margin_histogram(table: LabeledTable) -> Figure:
    """Scores of labeled and unlabeled rows."""
    figure = new_figure(7, 3.4)
    MarginHistogramDisplay.from_estimator(table.estimator, table.X, table.y, ax=figure.subplots())
    return figure


def confidence_curve(table: LabeledTable) -> Figure:
    """The estimated accuracy of the filled labels, if those of least confidence are left out."""
    figure = new_figure(7, 3.2)
    confidence = table.confidence[~table.is_given]
    ConfidenceCurveDisplay({}, {"filled rows": risk_coverage(confidence, confidence)}).plot(figure.subplots())
    return figure


def class_map(table: LabeledTable) -> Figure:
    """The rows on the two leading principal components of their features, colored by class."""
    rows = _some_rows(table)
    components = _principal_components(table.X[rows])
    labels, given = table.labels[rows], table.is_given[rows]
    figure = new_figure(7, 4.6)
    ax = figure.subplots()
    for number, c in enumerate(table.classes):
        color = COLORS[number] if number < MAX_COLORS else GRAY
        mine = np.array([label == c for label in labels])
        name = _short(str(c)) if number < MAX_COLORS else "others" if number == MAX_COLORS else None
        (x, y), (u, v) = components[mine & ~given].T, components[mine & given].T
        ax.scatter(x, y, s=9, color=color, alpha=0.45, linewidths=0, label=name)
        ax.scatter(u, v, s=42, color=color, edgecolors="black", linewidths=0.8, zorder=3)
    ax.scatter([], [], s=42, color="white", edgecolors="black", linewidths=0.8, label="given label")
    ax.set_xlabel("first principal component")
    ax.set_ylabel("second principal component")
    ax.set_xticks([])
    ax.set_yticks([])
    remove_frame(ax)
    add_legend(ax, outside=True)
    legend: Any = ax.get_legend()
    for handle in legend.legend_handles[:-1]:
        handle.set_sizes([42])
    return figure


def _some_rows(table: LabeledTable) -> np.ndarray:
    """The rows with a label, and some of the others."""
    others = np.flatnonzero(~table.is_given)
    if len(others) > MAX_POINTS:
        others = np.sort(np.random.default_rng(0).choice(others, MAX_POINTS, replace=False))
    return np.sort(np.r_[np.flatnonzero(table.is_given), others])


def _principal_components(X: Any) -> np.ndarray:
    """Two principal components."""
    if min(X.shape) < 3:
        X = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=float)
        return np.column_stack([X, np.zeros((len(X), 2))])[:, :2]
    return PCA(2, svd_solver="arpack", random_state=0).fit_transform(X)


def _short(name: str) -> str:
    name = name.replace("$", r"\$")
    return name if len(name) <= 24 else name[:22] + "..."
