"""Errors of several methods on several data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from .._validation import check_choice, check_integer
from .axes import add_legend, axes_of, by_name, mark, remove_frame, require_matplotlib
from .draws import check_data, check_sizes, check_test_set, draws_of_labels, first_seed, fit_errors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

INTERVALS = ("confidence", "standard_error", "deviation", None)
BASELINE = "supervised"
ROW, SETS_HEIGHT = 0.35, 0.6  # inches of the first set of a method; part of a row in which the sets stand


class MethodComparisonDisplay:
    """Mean errors of several methods with intervals, the best method first, beside a supervised baseline.

    Make it with `from_estimators`, or from errors that are there already; `plot` draws the numbers again.

    Parameters
    ----------
    errors : mapping of str to array-like of shape (n_draws,) or (n_sets, n_draws)
        Errors in percent by the names of the methods.
    baseline_errors : array-like of shape (n_draws,) or (n_sets, n_draws), default=None
        The same of a supervised method, whose mean becomes a line.
    sets : sequence of str, default=None
        Names of the data sets; needed if there are several.
    baseline_name : str, default="supervised"
        The name of the baseline.

    Attributes
    ----------
    errors, baseline_errors : dict, array
        As passed, as arrays of shape (n_sets, n_draws).
    sets, baseline_name : list of str, str
        The names.
    order_ : list of str
        The methods as drawn, by the mean over all sets.
    points_ : dict
        Means and intervals as drawn, by set: a matplotlib ErrorbarContainer in the order of ``order_``.
    ax_, figure_ : matplotlib Axes, Figure
        Where they were drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from semisvm import DCLSSVM, LSSVM, SwitchingLSSVM
    >>> from semisvm.datasets import make_two_gaussians
    >>> from semisvm.plots import MethodComparisonDisplay
    >>> data = make_two_gaussians(100, random_state=0)
    >>> display = MethodComparisonDisplay.from_estimators(
    ...     [DCLSSVM(), SwitchingLSSVM()], data, n_labels=10, n_draws=3, baseline=LSSVM(), random_state=0
    ... )
    >>> display.errors["DCLSSVM"].shape
    (1, 3)
    """

    ax_: Axes
    figure_: Figure | SubFigure
    order_: list[str]
    points_: dict[str, Any]

    def __init__(
        self,
        errors: Mapping[str, Any],
        baseline_errors: Any = None,
        sets: Sequence[str] | None = None,
        baseline_name: str = BASELINE,
    ):
        self.errors = {name: _by_set(name, values, sets) for name, values in by_name(dict(errors), "errors").items()}
        self.baseline_errors = None if baseline_errors is None else _by_set(baseline_name, baseline_errors, sets)
        self.sets, self.baseline_name = [str(name) for name in ([""] if sets is None else sets)], baseline_name

    @classmethod
    def from_estimators(
        cls,
        estimators: Any,
        data: Any,
        *,
        n_labels: int = 20,
        n_draws: int = 10,
        baseline: Any = None,
        unlabeled: Any = -1,
        random_state: int | None = None,
        interval: str | None = "confidence",
        difference: bool = False,
        ax: Axes | None = None,
    ) -> MethodComparisonDisplay:
        """Hide labels, fit all estimators to what is left, and draw their errors.

        Draw number d keeps the labels of ``hide_labels(y, n_labels, random_state + d)``, the same for all estimators.
        Errors are counted on the samples whose label is hidden, or on a test set.

        Parameters
        ----------
        estimators : estimator, list or mapping of str to estimator
            What to fit; clones are.
        data : tuple or mapping of str to tuple
            A data set (X, y) or (X, y, X_test, y_test), or several by name; y has the labels of all samples.
        n_labels : int, default=20
            Number of labels that are kept in each set.
        n_draws : int, default=10
            How often labels are drawn.
        baseline : estimator, default=None
            A supervised estimator, such as ``SVM()``, whose mean error becomes a line; None for no line.
        unlabeled : object, default=-1
            The marker of hidden labels, as the estimators take it.
        random_state : int or None, default=None
            Seed of the labels.
        interval, difference : str or None, bool
            As in `plot`.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        MethodComparisonDisplay
        """
        require_matplotlib(cls.__name__)  # before the fits
        named, n_draws = by_name(estimators, "estimators"), check_integer("n_draws", n_draws)
        check_integer("n_labels", n_labels)
        _check_options(interval, difference, baseline is not None)
        sets = data if isinstance(data, Mapping) else {"data": data}
        if not sets:
            raise ValueError("data is empty; pass at least one data set.")
        checked = [_check_set(str(name), one, n_labels, unlabeled) for name, one in sets.items()]
        fitted = [*named.values(), *([] if baseline is None else [baseline])]
        seed = first_seed(random_state)
        found = []
        for X, y, test in checked:
            draws = draws_of_labels(X, y, n_labels, range(seed, seed + n_draws), unlabeled, test)
            found.append(fit_errors(fitted, X, draws))
        errors = np.array(found)  # (n_sets, n_estimators, n_draws)
        by_method = {name: errors[:, number] for number, name in enumerate(named)}
        baseline_errors = None if baseline is None else errors[:, -1]
        title = BASELINE if baseline is None else type(baseline).__name__
        display = cls(by_method, baseline_errors, list(data) if sets is data else None, title)
        return display.plot(ax, interval=interval, difference=difference)

    def plot(
        self, ax: Axes | None = None, *, interval: str | None = "confidence", difference: bool = False
    ) -> MethodComparisonDisplay:
        """Draw the means over draws.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.
        interval : {"confidence", "standard_error", "deviation", None}, default="confidence"
            What the bars are: the 95 % confidence interval of the mean by Student's distribution, the standard error or
            the standard deviation of the draws; there is none for a single draw.
        difference : bool, default=False
            Whether to draw differences from the baseline, draw by draw. Their intervals are narrower, since all
            methods have the same labels, and those that do not contain zero differ from the baseline.

        Returns
        -------
        MethodComparisonDisplay
            This object.
        """
        _check_options(interval, difference, self.baseline_errors is not None)
        shown = self.errors
        if difference:
            shown = {name: self._minus_baseline(name, values) for name, values in self.errors.items()}
        self.order_ = sorted(shown, key=lambda name: float(shown[name].mean()))
        height = 1.2 + ROW * len(shown) * (1.0 + 0.4 * (len(self.sets) - 1))
        self.ax_, is_new = axes_of(self, ax, height), ax is None
        self.figure_, self.points_ = self.ax_.figure, {}
        shifts = SETS_HEIGHT * (np.arange(len(self.sets)) - (len(self.sets) - 1) / 2) / len(self.sets)
        for number, (name, shift) in enumerate(zip(self.sets, shifts)):
            rows, style = [shown[method][number] for method in self.order_], mark(number)
            self.points_[name] = self.ax_.errorbar(
                [row.mean() for row in rows],
                np.arange(len(rows)) + shift,
                xerr=None if interval is None else [half_width(row, interval) for row in rows],
                linestyle="",
                capsize=3,
                label=name,
                **style,
            )
            self._draw_baseline(number, difference, style["color"])
        self._label_axes(difference, is_new)
        return self

    def _minus_baseline(self, name: str, values: np.ndarray) -> np.ndarray:
        assert self.baseline_errors is not None
        if values.shape != self.baseline_errors.shape:
            raise ValueError(
                f"difference=True needs the same draws of all methods; {name} has {values.shape[1]}, "
                f"{self.baseline_name} {self.baseline_errors.shape[1]}."
            )
        return values - self.baseline_errors

    def _draw_baseline(self, number: int, difference: bool, color: str) -> None:
        """A line at the mean error of the baseline on a set; of differences, at zero for all sets."""
        if self.baseline_errors is None or (difference and number):
            return
        at = 0.0 if difference else float(self.baseline_errors[number].mean())
        of_set = f", {self.sets[number]}" if len(self.sets) > 1 and not difference else ""
        color = color if of_set else "0.3"
        self.ax_.axvline(
            at, color=color, linestyle="--", linewidth=1.2, label=f"{self.baseline_name}{of_set}", zorder=1
        )

    def _label_axes(self, difference: bool, is_new: bool) -> None:
        self.ax_.set_yticks(np.arange(len(self.order_)), self.order_)
        self.ax_.set_ylim(len(self.order_) - 0.5, -0.5)
        words = f"error minus that of {self.baseline_name}, in percent" if difference else "error in percent"
        self.ax_.set_xlabel(words)
        if not difference and self.ax_.get_xlim()[0] < 0:
            self.ax_.set_xlim(left=0.0)  # intervals may reach below zero, errors do not
        remove_frame(self.ax_)
        self.ax_.tick_params(axis="y", length=0)
        if len(self.sets) > 1 or self.baseline_errors is not None:
            handles = [one for name, one in self.points_.items() if name]
            lines = [line for line in self.ax_.lines if not str(line.get_label()).startswith("_")]
            add_legend(self.ax_, is_new, [*handles, *lines])


def half_width(values: np.ndarray, interval: str) -> float:
    """Half of the interval of a mean of draws; zero for a single draw."""
    n = len(values)
    if n < 2:
        return 0.0
    deviation = float(values.std(ddof=1))
    if interval == "deviation":
        return deviation
    factor = float(stats.t.ppf(0.975, n - 1)) if interval == "confidence" else 1.0
    return factor * deviation / float(np.sqrt(n))


def _check_options(interval: Any, difference: bool, has_baseline: bool) -> None:
    check_choice("interval", interval, INTERVALS)
    if difference and not has_baseline:
        raise ValueError("difference=True needs a baseline; pass one, or difference=False.")


def _check_set(name: str, given: Any, n_labels: int, unlabeled: Any) -> tuple[Any, np.ndarray, tuple[Any, Any] | None]:
    """Samples, labels and the test set of a data set."""
    parts = tuple(given) if isinstance(given, tuple | list) else (given,)
    if len(parts) not in (2, 4):
        raise ValueError(
            f"{name} is not a data set; pass (X, y) or (X, y, X_test, y_test), or a mapping from names to these."
        )
    X, y = check_data(parts[0], parts[1], unlabeled)
    test = check_test_set(*parts[2:]) if len(parts) == 4 else None
    check_sizes(n_labels, y, test is None)
    return X, y, test


def _by_set(name: str, values: Any, sets: Sequence[str] | None) -> np.ndarray:
    """Errors of a method, shape (n_sets, n_draws)."""
    n_sets = 1 if sets is None else len(sets)
    array = np.asarray(values, dtype=float)
    array = array[None] if array.ndim == 1 and n_sets == 1 else array
    if array.ndim != 2 or len(array) != n_sets or not array.size:
        raise ValueError(
            f"errors of {name} have the shape {np.shape(values)}; {n_sets} sets need ({n_sets}, number of draws). Pass "
            "the names of several sets as sets=."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"errors of {name} hold NaN or infinity; leave out the method, or the set for all methods.")
    return array
