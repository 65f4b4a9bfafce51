"""Error against the number of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from .._validation import check_choice, check_integer
from .axes import add_legend, axes_of, by_name, mark, remove_frame, require_matplotlib, set_sizes
from .draws import check_data, check_sizes, check_test_set, draws_of_labels, first_seed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

SPREADS = ("standard_error", "deviation", None)


class LearningCurveDisplay:
    """Error of semi-supervised estimators against the number of labels.

    Make it with `from_estimators`; `plot` draws the numbers again.

    Parameters
    ----------
    n_labels : array-like of shape (n_sizes,)
        Numbers of labels.
    errors : mapping of str to array-like of shape (n_sizes, n_draws)
        Errors in percent by the names of the estimators.
    supervised_errors : mapping of str to array-like of shape (n_sizes, n_draws), default=None
        The same of supervised counterparts, which become dashed lines; the names are some of those of ``errors``.

    Attributes
    ----------
    n_labels, errors, supervised_errors : array, dict, dict
        As passed, as arrays.
    ax_, figure_ : matplotlib Axes, Figure
        Where the curves were drawn.
    lines_ : dict
        The curves of ``errors`` by name.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from semisvm import CCCPTSVM, SVM
    >>> from semisvm.datasets import make_two_gaussians
    >>> from semisvm.plots import LearningCurveDisplay
    >>> X, y = make_two_gaussians(200, random_state=0)
    >>> display = LearningCurveDisplay.from_estimators(
    ...     [SVM(), CCCPTSVM()], X, y, n_labels=[10, 40], n_draws=3, random_state=0
    ... )
    >>> display.errors["CCCPTSVM"].shape
    (2, 3)
    >>> display.ax_.get_xlabel()
    'labels'
    """

    ax_: Axes
    figure_: Figure | SubFigure
    lines_: dict[str, Any]

    def __init__(
        self,
        n_labels: Sequence[int] | np.ndarray,
        errors: Mapping[str, Any],
        supervised_errors: Mapping[str, Any] | None = None,
    ):
        self.n_labels = np.atleast_1d(np.asarray(n_labels))
        self.errors = by_name(dict(errors), "errors")
        self.supervised_errors = dict(supervised_errors or {})
        for held in (self.errors, self.supervised_errors):
            for name, values in held.items():
                held[name] = np.asarray(values, dtype=float)
                if held[name].ndim != 2 or len(held[name]) != len(self.n_labels):
                    raise ValueError(
                        f"errors of {name} have the shape {held[name].shape}; {len(self.n_labels)} numbers of labels "
                        f"need ({len(self.n_labels)}, number of draws)."
                    )
        for name in self.supervised_errors.keys() - self.errors.keys():
            raise ValueError(f"supervised_errors have {name!r}, which is not in errors; use the same names.")

    @classmethod
    def from_estimators(
        cls,
        estimators: Any,
        X: Any,
        y: Any,
        *,
        n_labels: Sequence[int] | np.ndarray = (10, 20, 50, 100),
        n_draws: int = 10,
        X_test: Any = None,
        y_test: Any = None,
        supervised: bool = False,
        unlabeled: Any = -1,
        random_state: int | None = None,
        spread: str | None = "standard_error",
        ax: Axes | None = None,
    ) -> LearningCurveDisplay:
        """Hide labels, fit all estimators to what is left, and draw their errors.

        Draw number d keeps the labels of ``hide_labels(y, n, random_state + d)``, the same for all estimators.

        Parameters
        ----------
        estimators : estimator, list or mapping of str to estimator
            What to fit; clones are.
        X : array-like or sparse matrix of shape (n, d)
            The samples.
        y : array-like of shape (n,)
            The labels of all samples.
        n_labels : sequence of int
            Numbers of labels that are kept.
        n_draws : int
            How often labels are drawn.
        X_test, y_test : array-like, default=None
            Samples on which errors are counted; the samples whose label is hidden if there are none.
        supervised : bool
            Whether to draw the supervised counterpart of each estimator that has one (``supervised_``), dashed.
        unlabeled : object
            The marker of hidden labels, as the estimators take it.
        random_state : int or None
            Seed of the labels.
        spread : {"standard_error", "deviation", None}
            What the bands are.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        LearningCurveDisplay
        """
        require_matplotlib(cls.__name__)  # before the fits
        named = by_name(estimators, "estimators")
        n_draws = check_integer("n_draws", n_draws)
        check_choice("spread", spread, SPREADS)
        X, y = check_data(X, y, unlabeled)
        sizes, test = check_sizes(n_labels, y, X_test is None), check_test_set(X_test, y_test)
        seed = first_seed(random_state)
        errors = {name: np.zeros((len(sizes), n_draws)) for name in named}
        counterparts: dict[str, np.ndarray] = {}
        for i, size in enumerate(sizes):
            draws = draws_of_labels(X, y, size, range(seed, seed + n_draws), unlabeled, test)
            for number, draw in enumerate(draws):
                for name, estimator in named.items():
                    fitted = clone(estimator).fit(X, draw.labels)
                    errors[name][i, number] = draw.error(fitted)
                    counterpart = getattr(fitted, "supervised_", None) if supervised else None
                    if counterpart is not None:
                        held = counterparts.setdefault(name, np.full((len(sizes), n_draws), np.nan))
                        held[i, number] = draw.error(counterpart)
        return cls(sizes, errors, counterparts).plot(ax, spread=spread)

    def plot(self, ax: Axes | None = None, *, spread: str | None = "standard_error") -> LearningCurveDisplay:
        """Draw the means over draws.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.
        spread : {"standard_error", "deviation", None}
            What the bands are; there is none for a single draw.

        Returns
        -------
        LearningCurveDisplay
            This object.
        """
        check_choice("spread", spread, SPREADS)
        self.ax_, is_new = axes_of(self, ax), ax is None
        self.figure_ = self.ax_.figure
        self.lines_ = {}
        order = np.argsort(self.n_labels)
        sizes = self.n_labels[order]
        for number, (name, errors) in enumerate(self.errors.items()):
            mean, style = errors.mean(axis=1)[order], mark(number)
            self.lines_[name] = self.ax_.plot(sizes, mean, label=name, markersize=5, **style)[0]
            if spread is not None and errors.shape[1] > 1:
                width = errors.std(axis=1, ddof=1)[order] / (np.sqrt(errors.shape[1]) if "error" in spread else 1.0)
                self.ax_.fill_between(
                    sizes, np.maximum(mean - width, 0.0), mean + width, color=style["color"], alpha=0.15, linewidth=0
                )
            if name in self.supervised_errors:
                below = self.supervised_errors[name].mean(axis=1)[order]
                self.ax_.plot(sizes, below, "--", color=style["color"], linewidth=1.2, label=f"{name}, supervised")
        set_sizes(self.ax_, sizes)
        self.ax_.set(xlabel="labels", ylabel="error in percent")
        self.ax_.set_ylim(bottom=0.0)
        remove_frame(self.ax_)
        add_legend(self.ax_, outside=is_new)
        return self
