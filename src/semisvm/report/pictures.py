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
    X, y = table.X[table.sample], table.y[table.sample]
    MarginHistogramDisplay.from_estimator(table.estimator, X, y, ax=figure.subplots())
    return figure


def confidence_curve(table: LabeledTable) -> Figure:
    """The estimated accuracy of the filled labels, if those of least confidence are left out."""
    figure = new_figure(7, 3.2)
    confidence = table.confidence[table.sample][~table.is_given[table.sample]]
    ConfidenceCurveDisplay({}, {"filled rows": risk_coverage(confidence, confidence)}).plot(figure.subplots())
    return figure


def class_map(table: LabeledTable) -> Figure:
    """The rows where the model sees them, colored by class."""
    places = score_map(table.X[table.sample], np.column_stack(list(table.scores.values())))
    labels, given = table.labels[table.sample], table.is_given[table.sample]
    figure = new_figure(7, 4.6)
    ax = figure.subplots()
    for number, c in enumerate(table.classes):
        color = COLORS[number] if number < MAX_COLORS else GRAY
        mine = labels == c
        name = _short(str(c)) if number < MAX_COLORS else "others" if number == MAX_COLORS else None
        (x, y), (u, v) = places[mine & ~given].T, places[mine & given].T
        ax.scatter(x, y, s=9, color=color, alpha=0.45, linewidths=0, label=name)
        ax.scatter(u, v, s=42, color=color, edgecolors="black", linewidths=0.8, zorder=3)
    ax.scatter([], [], s=42, color="white", edgecolors="black", linewidths=0.8, label="given label")
    is_binary = len(table.scores) == 1
    ax.set_xlabel(f"score of {_short(str(next(iter(table.scores))))}" if is_binary else "first component of the scores")
    ax.set_ylabel("principal component of the features" if is_binary else "second component of the scores")
    ax.set_xticks([])
    ax.set_yticks([])
    remove_frame(ax)
    add_legend(ax, outside=True)
    legend: Any = ax.get_legend()
    for handle in legend.legend_handles[:-1]:
        handle.set_sizes([42])
    return figure


def score_map(X: Any, scores: np.ndarray) -> np.ndarray:
    """Two coordinates of each row, shape (n, 2).

    Of several classes the two principal components of the scores, shape (n, k). Of two classes the score, and of the
    two leading principal components of the features the one that has more beside it.
    """
    if scores.shape[1] > 1:
        return PCA(2).fit_transform(scores)
    f = scores[:, 0] - scores[:, 0].mean()
    components = _principal_components(X)
    rest = components - f[:, None] * (f @ components) / max(f @ f, 1e-300)
    return np.column_stack([scores[:, 0], rest[:, np.argmax(rest.var(axis=0))]])


def _principal_components(X: Any) -> np.ndarray:
    """Two principal components; the first features where there are few, or where all rows are equal."""
    largest, smallest = (np.asarray(part.todense() if hasattr(part, "todense") else part)
                         for part in (X.max(axis=0), X.min(axis=0)))  # fmt: skip
    if min(X.shape) < 3 or (largest == smallest).all():
        X = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=float)
        return np.column_stack([X, np.zeros((len(X), 2))])[:, :2]
    return PCA(2, svd_solver="arpack", random_state=0).fit_transform(X)


def _short(name: str) -> str:
    name = name.replace("$", r"\$")
    return name if len(name) <= 24 else name[:22] + "..."
