"""The decision boundary of a classifier in the plane of two features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import get_tags

from .._validation import check_integer, check_number
from .axes import COLORS, MARKERS, add_legend, axes_of
from .fitted import check_fitted, check_some_unlabeled, class_codes, decision_scores, score_margin
from .planes import kernel_density, make_plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

DENSITY_LEVELS = np.linspace(0.1, 1.0, 7)  # of the largest density


class DecisionBoundaryDisplay:
    """Regions of the classes, their boundary and margin, the density of unlabeled samples, and the labeled samples.

    A semi-supervised SVM puts the boundary where few samples are; this display shows whether it does. Make it with
    `from_estimator`; `plot` draws the numbers again.

    Parameters
    ----------
    x0, x1 : array-like of shape (n0,), (n1,)
        Values of the two features on the grid.
    scores : array-like of shape (n1, n0) or (n1, n0, n_classes)
        The decision function on the grid: of two classes, positive for the second; of more, a score per class.
    classes : sequence
        The classes, in the order of the scores.
    samples : array-like of shape (n_samples, 2)
        The two features of the samples.
    codes : array-like of shape (n_samples,)
        Position of the class of each sample, -1 without a label.
    density : array-like of shape (n1, n0), default=None
        Density of the unlabeled samples on the grid; None leaves it out.
    margin : float, default=None
        The absolute score at which the margin of two classes ends; None leaves it out.
    feature_names : sequence of str, default=("feature 0", "feature 1")
        Labels of the axes.

    Attributes
    ----------
    x0, x1, scores, classes, samples, codes, density, margin, feature_names : array, float or list
        As passed, as arrays.
    ax_, figure_ : matplotlib Axes, Figure
        Where it was drawn.
    boundary_ : list of matplotlib ContourSet
        The boundary of two classes, or that of each class.
    margin_ : matplotlib ContourSet or None
        The margin.
    marks_ : dict
        The labeled samples by class.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from semisvm import CCCPTSVM
    >>> from semisvm.datasets import hide_labels, make_two_moons
    >>> from semisvm.plots import DecisionBoundaryDisplay
    >>> X, y = make_two_moons(random_state=0)
    >>> shown = hide_labels(y, 8, random_state=0)
    >>> model = CCCPTSVM().fit(X, shown)
    >>> display = DecisionBoundaryDisplay.from_estimator(model, X, shown, grid_resolution=50)
    >>> display.scores.shape
    (50, 50)
    """

    ax_: Axes
    figure_: Figure | SubFigure
    boundary_: list[Any]
    margin_: Any
    marks_: dict[Any, Any]

    def __init__(
        self,
        x0: Any,
        x1: Any,
        scores: Any,
        classes: Any,
        samples: Any,
        codes: Any,
        density: Any = None,
        margin: float | None = None,
        feature_names: Sequence[str] = ("feature 0", "feature 1"),
    ):
        self.x0, self.x1, self.scores = (np.asarray(values, dtype=float) for values in (x0, x1, scores))
        self.classes, self.codes = np.asarray(classes), np.asarray(codes)
        self.samples = np.asarray(samples, dtype=float)
        self.density = None if density is None else np.asarray(density, dtype=float)
        self.margin, self.feature_names = margin, list(feature_names)
        grid = (len(self.x1), len(self.x0))
        allowed = grid if len(self.classes) == 2 else (*grid, len(self.classes))
        if self.scores.shape != allowed or not np.isfinite(self.scores).all():
            raise ValueError(
                f"scores have the shape {self.scores.shape}; {len(self.classes)} classes on this grid need finite "
                f"numbers of the shape {allowed}."
            )
        if self.samples.shape != (len(self.codes), 2):
            raise ValueError(f"samples have the shape {self.samples.shape}; {len(self.codes)} codes need two features.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        features: Sequence[Any] | None = None,
        grid_resolution: int = 200,
        padding: float = 0.08,
        density: bool = True,
        ax: Axes | None = None,
    ) -> DecisionBoundaryDisplay:
        """Draw the boundary of a fitted estimator between samples.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier, or a pipeline that ends with one.
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            The samples, as in ``fit``.
        y : array-like of shape (n_samples,)
            Labels; samples without one are marked as in ``fit``.
        features : pair of int or str, default=None
            Positions or names of the two features of the axes, needed if there are more; the boundary is then that of
            the plane in which all others are at their medians.
        grid_resolution : int, default=200
            Number of points of the grid along each axis.
        padding : float, default=0.08
            Margin around the samples, as a share of their range.
        density : bool, default=True
            Whether to draw the density of the unlabeled samples.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        DecisionBoundaryDisplay
        """
        check_fitted(estimator, cls.__name__, "decision_function")
        if get_tags(estimator).input_tags.pairwise:
            raise ValueError(
                "the estimator takes kernel values, which are not known on a grid; fit it to features, with a kernel "
                "other than 'precomputed'."
            )
        n_points = check_integer("grid_resolution", grid_resolution, 2)
        plane = make_plane(X, features, n_points, check_number("padding", padding, 0.0, closed="low"))
        codes = class_codes(estimator, len(plane.samples), y)
        rest = plane.samples[codes < 0]
        if density:
            check_some_unlabeled(codes, estimator, ", or density=False to draw the labeled ones alone")
        scores = decision_scores(estimator, plane.points)
        shape = (n_points, n_points) if scores.shape[1] == 1 else (n_points, n_points, -1)
        display = cls(
            plane.x0,
            plane.x1,
            scores.reshape(shape),
            estimator.classes_,
            plane.samples,
            codes,
            kernel_density(rest, plane.x0, plane.x1) if density else None,
            score_margin(estimator) if scores.shape[1] == 1 else None,
            plane.names,
        ).plot(ax)
        if plane.has_others:
            display.ax_.set_title("other features at their medians", fontsize="small")
        return display

    def plot(self, ax: Axes | None = None) -> DecisionBoundaryDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        DecisionBoundaryDisplay
            This object.
        """
        self.ax_, is_new = axes_of(self, ax, height=4.5), ax is None
        self.figure_ = self.ax_.figure
        advantages = self._advantages()
        for number, advantage in enumerate(advantages):
            if advantage.max() > 0:
                levels, color = [0.0, advantage.max()], COLORS[number % len(COLORS)]
                self.ax_.contourf(self.x0, self.x1, advantage, levels, colors=[color], alpha=0.13)
        self._draw_unlabeled()
        lines = advantages[1:] if len(self.classes) == 2 else advantages
        drawn = [self._draw_level(advantage, [0.0], linewidths=1.8) for advantage in lines]
        self.boundary_ = [one for one in drawn if one is not None]
        self.margin_ = None
        if self.margin is not None and len(self.classes) == 2:
            self.margin_ = self._draw_level(self.scores, [-self.margin, self.margin], linewidths=1.0, linestyles="--")
        self._draw_labeled()
        self._add_legend(is_new)
        self.ax_.set(xlabel=self.feature_names[0], ylabel=self.feature_names[1])
        self.ax_.set(xlim=self.x0[[0, -1]], ylim=self.x1[[0, -1]])
        return self

    def _advantages(self) -> list[np.ndarray]:
        """The score of each class minus the largest of the others: a class has the points where it is positive."""
        if len(self.classes) == 2:
            return [-self.scores, self.scores]
        parts = np.moveaxis(self.scores, -1, 0)
        return [parts[k] - np.delete(parts, k, axis=0).max(axis=0) for k in range(len(parts))]

    def _draw_level(self, values: np.ndarray, levels: list[float], **style: Any) -> Any:
        """Lines at the levels that occur; None if none does."""
        found = [level for level in levels if values.min() < level < values.max()]
        return self.ax_.contour(self.x0, self.x1, values, found, colors="black", **style) if found else None

    def _draw_unlabeled(self) -> None:
        if self.density is None or not self.density.max() > 0:
            return
        relative = self.density / self.density.max()
        for level in DENSITY_LEVELS[:-1]:
            self.ax_.contourf(self.x0, self.x1, relative, [level, 1.0], colors=["0.3"], alpha=0.09)

    def _draw_labeled(self) -> None:
        self.marks_ = {}
        for number, label in enumerate(self.classes.tolist()):
            own = self.samples[self.codes == number]
            if len(own):
                self.marks_[label] = self.ax_.scatter(
                    own[:, 0],
                    own[:, 1],
                    s=45,
                    color=COLORS[number % len(COLORS)],
                    marker=MARKERS[number % len(MARKERS)],
                    edgecolors="white",
                    linewidths=0.8,
                    zorder=3,
                    label=f"labeled {label}",
                )

    def _add_legend(self, outside: bool) -> None:
        """Marks, lines and the density; contours have no entry of their own."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles: list[Any] = list(self.marks_.values())
        if self.boundary_:
            handles.append(Line2D([], [], color="black", linewidth=1.8, label="boundary"))
        if self.margin_ is not None:
            handles.append(Line2D([], [], color="black", linewidth=1.0, linestyle="--", label="margin, f = ±1"))
        if self.density is not None:
            handles.append(Patch(color="0.6", label="density of\nunlabeled samples"))
        add_legend(self.ax_, outside, handles)
