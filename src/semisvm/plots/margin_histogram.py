"""Histogram of decision scores, beside the margin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .axes import COLORS, add_legend, axes_of, by_name, remove_frame
from .fitted import check_fitted, check_some_unlabeled, class_codes, decision_scores, score_confidence, score_margin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

ON_MARGIN = 1e-3  # of the margin: the usual tolerance of solvers, within which a sample is on it
LABELED_HEIGHT = 0.45  # of the axes, at most: bars of labeled samples stand in front of those of unlabeled ones


class MarginHistogramDisplay:
    """Decision scores of labeled and unlabeled samples, and how many of them lie inside the margin.

    Where unlabeled samples form clusters and the boundary passes between them, few have scores inside the margin.
    Two classes: the scores are f. Several classes: the difference of the two largest scores. Make it with
    `from_estimator`; `plot` draws the numbers again.

    Parameters
    ----------
    unlabeled : array-like of shape (n_unlabeled,)
        Scores of the unlabeled samples.
    labeled : mapping of str to array-like
        Scores of the labeled samples by class.
    bins : int or array-like, default=30
        Number of bins over the range of all scores, or their edges.
    margin : float, default=None
        The absolute score at which the margin ends; None for scores without one.
    signed : bool, default=True
        Whether scores have both signs, as f has; if not, they are differences of the two largest.

    Attributes
    ----------
    unlabeled, labeled, margin, signed : array, dict, float, bool
        As passed, as arrays.
    bin_edges : array of shape (n_bins + 1,)
        The edges of the bins.
    unlabeled_counts, labeled_counts : array of shape (n_bins,), dict of such
        Numbers of samples.
    inside_margin : float or None
        Share of the unlabeled samples that lie inside the margin, by more than a thousandth of it.
    ax_, figure_ : matplotlib Axes, Figure
        Where it was drawn.
    labeled_ax_ : matplotlib Axes
        The axes of the labeled samples, whose scale is at the right.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from semisvm import CCCPTSVM
    >>> from semisvm.datasets import hide_labels, make_two_moons
    >>> from semisvm.plots import MarginHistogramDisplay
    >>> X, y = make_two_moons(random_state=0)
    >>> shown = hide_labels(y, 8, random_state=0)
    >>> display = MarginHistogramDisplay.from_estimator(CCCPTSVM().fit(X, shown), X, shown)
    >>> int(display.unlabeled_counts.sum())
    192
    """

    ax_: Axes
    labeled_ax_: Axes
    figure_: Figure | SubFigure

    def __init__(
        self,
        unlabeled: Any,
        labeled: Mapping[str, Any],
        bins: Any = 30,
        margin: float | None = None,
        signed: bool = True,
    ):
        self.unlabeled, self.margin, self.signed = np.asarray(unlabeled, dtype=float), margin, signed
        self.labeled = {name: np.asarray(f, dtype=float) for name, f in by_name(dict(labeled), "labeled").items()}
        for name, f in {"unlabeled samples": self.unlabeled, **self.labeled}.items():
            if f.ndim != 1 or not np.isfinite(f).all():
                raise ValueError(f"scores of {name} are not a sequence of finite numbers; pass one for each sample.")
        together = np.concatenate([self.unlabeled, *self.labeled.values()])
        if not len(together):
            raise ValueError("there are no scores; pass those of at least one sample.")
        self.bin_edges = np.histogram_bin_edges(together, bins)
        self.unlabeled_counts = np.histogram(self.unlabeled, self.bin_edges)[0]
        self.labeled_counts = {name: np.histogram(f, self.bin_edges)[0] for name, f in self.labeled.items()}
        self.inside_margin = None
        if margin is not None and len(self.unlabeled):
            self.inside_margin = float(np.mean(np.abs(self.unlabeled) < (1.0 - ON_MARGIN) * margin))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, bins: Any = 30, ax: Axes | None = None
    ) -> MarginHistogramDisplay:
        """Draw the scores of samples by a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier, or a pipeline that ends with one.
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            The samples, as in ``fit``.
        y : array-like of shape (n_samples,)
            Labels; samples without one are marked as in ``fit``.
        bins : int or array-like, default=30
            Number of bins, or their edges.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        MarginHistogramDisplay
        """
        check_fitted(estimator, cls.__name__, "decision_function")
        scores = decision_scores(estimator, X)
        codes = class_codes(estimator, len(scores), y)
        check_some_unlabeled(codes, estimator, "")
        signed = scores.shape[1] == 1
        values = scores[:, 0] if signed else score_confidence(scores)
        labeled = {f"labeled {label}": values[codes == code] for code, label in enumerate(estimator.classes_.tolist())}
        return cls(values[codes < 0], labeled, bins, score_margin(estimator), signed).plot(ax)

    def plot(self, ax: Axes | None = None) -> MarginHistogramDisplay:
        """Draw the bars: unlabeled samples on the left scale, labeled ones, stacked by class, on the right one.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        MarginHistogramDisplay
            This object.
        """
        self.ax_, is_new = axes_of(self, ax), ax is None
        self.figure_ = self.ax_.figure
        begin, width = self.bin_edges[:-1], np.diff(self.bin_edges)
        name = "unlabeled"
        if self.inside_margin is not None:
            name += f"\n({100 * self.inside_margin:.3g} % inside the margin)"
        bars = [self.ax_.bar(begin, self.unlabeled_counts, width, align="edge", color="0.75", label=name)]
        self.labeled_ax_ = self.ax_.twinx()
        below = np.zeros(len(width), dtype=int)
        for number, (label, counts) in enumerate(self.labeled_counts.items()):
            style: dict[str, Any] = {"color": COLORS[number % len(COLORS)], "label": label, "alpha": 0.85}
            bars.append(self.labeled_ax_.bar(begin + 0.2 * width, counts, 0.6 * width, below, align="edge", **style))
            below = below + counts
        lines = self._draw_margin()
        self._set_scales(max(below.max(), 1))
        add_legend(self.ax_, is_new, [*bars, *lines], beside_scale=True)
        return self

    def _draw_margin(self) -> list[Any]:
        """Lines at the boundary and at the margin; returns one of each kind."""
        name = "f" if self.signed else "difference"
        lines = [self.ax_.axvline(0.0, color="black", linewidth=1.5, label=f"boundary, {name} = 0")]
        if self.margin is not None:
            ends = [-self.margin, self.margin] if self.signed else [self.margin]
            sign = "±" if self.signed else ""
            label = f"margin, {name} = {sign}{self.margin:g}"
            lines += [self.ax_.axvline(end, color="black", linestyle="--", linewidth=1.0, label=label) for end in ends]
        return lines[:2]

    def _set_scales(self, largest: int) -> None:
        from matplotlib.ticker import MaxNLocator

        self.labeled_ax_.set(ylim=(0, largest / LABELED_HEIGHT), ylabel="labeled samples")
        ticks = MaxNLocator(nbins=3, integer=True).tick_values(0, largest)
        self.labeled_ax_.set_yticks([tick for tick in ticks if 0 <= tick <= largest])
        self.labeled_ax_.spines[["top"]].set_visible(False)
        words = "decision score f" if self.signed else "difference of the two largest scores"
        self.ax_.set(xlabel=words, ylabel="unlabeled samples")
        self.ax_.locator_params(axis="y", integer=True)
        remove_frame(self.ax_)
        self.ax_.grid(visible=False, axis="x")
