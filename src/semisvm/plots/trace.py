"""Objective and level of a path against iterations or time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation import check_choice
from .axes import WIDE, add_legend, axes_of, by_name, mark, remove_frame, require_matplotlib
from .objective_paths import ROUNDING, ObjectivePath, fitted_paths, timed_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

KINDS = ("gap", "path")


class TraceDisplay:
    """Objectives of solvers or estimators on the way to their solution, above the best of all.

    Make it with `from_estimators` or `from_solvers`; `plot` draws the numbers again. The curves are comparable if all
    minimize the same problem. The best is the smallest final objective: some methods begin with a part of the samples
    or of the cost, and what they log then may lie below it and is left out.

    ``kind="path"`` draws the objectives themselves, and on a second axis the level of the methods that follow a path:
    the share of the cost of unlabeled samples, the temperature or the smoothing.

    Parameters
    ----------
    objectives : mapping of str to array-like of shape (n_iter,)
        The objective after each iteration, by name; the last one is that of the solution.
    seconds : mapping of str to array-like of shape (n_iter,), default=None
        When each was reached.
    levels : mapping of str to array-like of shape (n_iter,), default=None
        The level at each, for some or all of the names.
    level_names : mapping of str to str, default=None
        What the level of a method is, such as "temperature".

    Attributes
    ----------
    objectives, seconds, levels, level_names : dict
        As passed, as arrays.
    best : float
        The smallest final objective.
    ax_, figure_ : matplotlib Axes, Figure
        Where the curves were drawn.
    lines_ : dict
        The curves by name.
    level_ax_, level_lines_ : matplotlib Axes, dict
        With ``kind="path"`` the axes of the levels, and these by name.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from semisvm import DCLSSVM, SwitchingLSSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> from semisvm.plots import TraceDisplay
    >>> X, y = make_two_gaussians(100, random_state=0)
    >>> shown = hide_labels(y, 10, random_state=0)
    >>> fitted = [DCLSSVM().fit(X, shown), SwitchingLSSVM().fit(X, shown)]
    >>> display = TraceDisplay.from_estimators(fitted)
    >>> bool(abs(display.best - min(model.objective_ for model in fitted)) < 1e-9)
    True
    """

    ax_: Axes
    figure_: Figure | SubFigure
    lines_: dict[str, Any]
    level_ax_: Axes
    level_lines_: dict[str, Any]

    def __init__(
        self,
        objectives: Mapping[str, Any],
        seconds: Mapping[str, Any] | None = None,
        levels: Mapping[str, Any] | None = None,
        level_names: Mapping[str, str] | None = None,
    ):
        self.objectives = by_name(dict(objectives), "objectives")
        self.seconds = dict(seconds or {})
        if self.seconds and self.seconds.keys() != self.objectives.keys():
            raise ValueError("objectives and seconds have different names; use the same ones.")
        for name, values in self.objectives.items():
            self.objectives[name] = path = np.atleast_1d(np.asarray(values, dtype=float))
            if path.ndim != 1 or not path.size or not np.isfinite(path).all():
                raise ValueError(f"objectives of {name} are not a sequence of numbers; pass one for each iteration.")
            if self.seconds:
                self.seconds[name] = times = np.atleast_1d(np.asarray(self.seconds[name], dtype=float))
                if times.shape != path.shape:
                    raise ValueError(f"{name} has {path.size} objectives at {times.size} seconds; pass equally many.")
        self.levels = {name: np.asarray(values, dtype=float) for name, values in (levels or {}).items()}
        self.level_names = dict(level_names or {})
        for name, level in self.levels.items():
            if name not in self.objectives or level.shape != self.objectives[name].shape:
                raise ValueError(f"levels of {name} are not those of its objectives; pass one for each objective.")
        self.best = float(min(path[-1] for path in self.objectives.values()))

    @classmethod
    def from_estimators(cls, estimators: Any, *, kind: str = "gap", ax: Axes | None = None) -> TraceDisplay:
        """Draw the objectives of fitted estimators, or of solutions, against their iterations.

        Parameters
        ----------
        estimators : estimator or Solution, list or mapping of str to these
            Fitted; each binary problem of an estimator of several classes is a curve of its own.
        kind : {"gap", "path"}, default="gap"
            As in `plot`.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        TraceDisplay
        """
        check_choice("kind", kind, KINDS)
        found = {}
        for name, fitted in by_name(estimators, "estimators").items():
            paths = fitted_paths(name, fitted)
            for number, path in enumerate(paths):
                found[name if len(paths) == 1 else f"{name}, problem {number}"] = path
        return cls._from_paths(found).plot(ax, kind=kind)

    @classmethod
    def from_solvers(
        cls,
        solvers: Any,
        problem: Any,
        *,
        random_state: int | None = 0,
        kind: str = "gap",
        ax: Axes | None = None,
    ) -> TraceDisplay:
        """Solve a problem by several solvers and draw the objectives against time.

        The first call of a solver may compile loops; call it once before if that is not to be seen.

        Parameters
        ----------
        solvers : Solver, list or mapping of str to Solver
            What to run.
        problem : Problem
            A problem that all of them take.
        random_state : int or None
            For solvers that draw at random.
        kind : {"gap", "path"}, default="gap"
            As in `plot`.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        TraceDisplay
        """
        require_matplotlib(cls.__name__)
        check_choice("kind", kind, KINDS)
        found = {name: timed_path(one, problem, random_state) for name, one in by_name(solvers, "solvers").items()}
        return cls._from_paths(found).plot(ax, kind=kind)

    @classmethod
    def _from_paths(cls, paths: Mapping[str, ObjectivePath]) -> TraceDisplay:
        return cls(
            {name: path.objectives for name, path in paths.items()},
            {name: path.seconds for name, path in paths.items() if path.seconds is not None},
            {name: path.levels for name, path in paths.items() if path.levels is not None},
            {name: path.level_name for name, path in paths.items() if path.levels is not None},
        )

    def plot(self, ax: Axes | None = None, *, x: str | None = None, kind: str = "gap") -> TraceDisplay:
        """Draw the objectives.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.
        x : {"seconds", "iteration", None}, default=None
            The horizontal axis; None is seconds if they are known.
        kind : {"gap", "path"}, default="gap"
            "gap": objectives minus the best of all, on a logarithmic axis whose lower end stands for zero. "path":
            objectives as they are, and on the axis at the right the levels, dashed.

        Returns
        -------
        TraceDisplay
            This object.
        """
        check_choice("x", x, ["seconds", "iteration", None])
        check_choice("kind", kind, KINDS)
        if x == "seconds" and not self.seconds:
            raise ValueError('x="seconds" needs times, which a fit does not keep; use from_solvers or x="iteration".')
        if kind == "path" and not self.levels:
            raise ValueError(
                f'kind="path" needs levels, which {", ".join(self.objectives)} did not log; methods that follow a '
                'path, such as AnnealingTSVM or ContinuationTSVM, do. Use kind="gap" for the others.'
            )
        timed = bool(self.seconds) and x != "iteration"
        self.ax_, is_new = axes_of(self, ax), ax is None
        self.figure_ = self.ax_.figure
        heights = self._draw_path if kind == "path" else self._draw_gaps
        heights(
            {name: self.seconds[name] if timed else np.arange(len(p)) for name, p in self.objectives.items()}, timed
        )
        self.ax_.set_xlabel("seconds" if timed else "iteration")
        if not timed:
            self.ax_.locator_params(axis="x", integer=True)
        if timed and min(times[0] for times in self.seconds.values()) > 0:
            self.ax_.set_xscale("log")
        remove_frame(self.ax_)
        entries = [*self.lines_.values(), *self.level_lines_.values()]
        add_legend(self.ax_, is_new, entries, beside_scale=kind == "path")
        return self

    def _draw_curves(self, at: dict[str, np.ndarray], heights: dict[str, np.ndarray], timed: bool) -> None:
        """A curve by name, with a mark at its end."""
        self.lines_, self.level_lines_ = {}, {}
        for number, (name, height) in enumerate(heights.items()):
            self.lines_[name] = self.ax_.plot(
                at[name],
                height,
                label=name,
                drawstyle="steps-post" if timed else "default",
                linewidth=1.3,
                markevery=[len(height) - 1],
                clip_on=False,  # the marker at the end, which may be on the axis
                **mark(number),
            )[0]

    def _draw_gaps(self, at: dict[str, np.ndarray], timed: bool) -> None:
        """Objectives minus the best."""
        gaps = {name: self._gaps(path) for name, path in self.objectives.items()}
        positive = np.concatenate([gap[gap > 0] for gap in gaps.values()])
        floor = 0.3 * positive.min() if positive.size else 0.0
        self._draw_curves(at, {name: np.where(gap == 0, floor, gap) for name, gap in gaps.items()}, timed)
        self.ax_.set_ylabel("objective minus the best")
        if positive.size:
            self.ax_.set_yscale("log")
            self.ax_.set_ylim(bottom=floor)
            self.ax_.set_ylabel("objective minus the best (0 at the lower end)")

    def _draw_path(self, at: dict[str, np.ndarray], timed: bool) -> None:
        """Objectives as they are, and levels; a level of zero, after the last temperature, is left out."""
        self._draw_curves(at, self.objectives, timed)
        together = np.concatenate(list(self.objectives.values()))
        self.ax_.set_ylabel("objective")
        if 0 < together.min() * WIDE <= together.max():
            self.ax_.set_yscale("log")
        self.level_ax_ = self.ax_.twinx()
        for number, name in enumerate(self.objectives):
            if name in self.levels:
                level, what = self.levels[name], self.level_names.get(name, "level")
                self.level_lines_[name] = self.level_ax_.plot(
                    at[name],
                    np.where(level > 0, level, np.nan),
                    linestyle="--",
                    drawstyle="steps-post",
                    linewidth=1.0,
                    color=mark(number)["color"],
                    label=f"{name}, {what}",
                )[0]
        kinds = {self.level_names.get(name, "level") for name in self.levels}
        self.level_ax_.set_yscale("log")
        self.level_ax_.set_ylabel(f"{kinds.pop() if len(kinds) == 1 else 'level'} (dashed)")
        self.level_ax_.spines[["top"]].set_visible(False)

    def _gaps(self, path: np.ndarray) -> np.ndarray:
        """The objectives above the best: zero but for rounding is zero, NaN what lies below."""
        gap, rounding = path - self.best, ROUNDING * max(abs(self.best), np.finfo(float).tiny)
        return np.where(np.abs(gap) <= rounding, 0.0, np.where(gap < 0, np.nan, gap))
