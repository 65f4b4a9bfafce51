"""Objective against iterations or time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._validation import check_choice
from ..solution import Solution
from .axes import add_legend, axes_of, by_name, mark, remove_frame, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

ROUNDING = 1e-10  # of the best objective: smaller differences are zero


class TraceDisplay:
    """Objectives of solvers or estimators on the way to their solution, above the best of all.

    Make it with `from_estimators` or `from_solvers`; `plot` draws the numbers again. The curves are comparable if all
    minimize the same problem. The best is the smallest final objective: some methods begin with a part of the samples
    or of the cost, and what they log then may lie below it and is left out.

    Parameters
    ----------
    objectives : mapping of str to array-like of shape (n_iter,)
        The objective after each iteration, by name; the last one is that of the solution.
    seconds : mapping of str to array-like of shape (n_iter,), default=None
        When each was reached.

    Attributes
    ----------
    objectives, seconds : dict
        As passed, as arrays.
    best : float
        The smallest final objective.
    ax_, figure_ : matplotlib Axes, Figure
        Where the curves were drawn.
    lines_ : dict
        The curves by name.

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

    def __init__(self, objectives: Mapping[str, Any], seconds: Mapping[str, Any] | None = None):
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
        self.best = float(min(path[-1] for path in self.objectives.values()))

    @classmethod
    def from_estimators(cls, estimators: Any, *, ax: Axes | None = None) -> TraceDisplay:
        """Draw the objectives of fitted estimators, or of solutions, against their iterations.

        Parameters
        ----------
        estimators : estimator or Solution, list or mapping of str to these
            Fitted; each binary problem of an estimator of several classes is a curve of its own.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        TraceDisplay
        """
        objectives = {}
        for name, fitted in by_name(estimators, "estimators").items():
            paths = _paths(name, fitted)
            for number, path in enumerate(paths):
                objectives[name if len(paths) == 1 else f"{name}, problem {number}"] = path
        return cls(objectives).plot(ax)

    @classmethod
    def from_solvers(
        cls, solvers: Any, problem: Any, *, random_state: int | None = 0, ax: Axes | None = None
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
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        TraceDisplay
        """
        require_matplotlib(cls.__name__)
        traces = {name: timed_trace(one, problem, random_state) for name, one in by_name(solvers, "solvers").items()}
        objectives = {name: objective for name, (_, objective) in traces.items()}
        return cls(objectives, {name: seconds for name, (seconds, _) in traces.items()}).plot(ax)

    def plot(self, ax: Axes | None = None, *, x: str | None = None) -> TraceDisplay:
        """Draw the objectives minus the best of all, on a logarithmic axis whose lower end stands for zero.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.
        x : {"seconds", "iteration", None}
            The horizontal axis; None is seconds if they are known.

        Returns
        -------
        TraceDisplay
            This object.
        """
        check_choice("x", x, ["seconds", "iteration", None])
        if x == "seconds" and not self.seconds:
            raise ValueError('x="seconds" needs times, which a fit does not keep; use from_solvers or x="iteration".')
        timed = bool(self.seconds) and x != "iteration"
        self.ax_, is_new = axes_of(self, ax), ax is None
        self.figure_ = self.ax_.figure
        self.lines_ = {}
        gaps = {name: self._gaps(path) for name, path in self.objectives.items()}
        positive = np.concatenate([gap[gap > 0] for gap in gaps.values()])
        floor = 0.3 * positive.min() if positive.size else 0.0
        for number, (name, gap) in enumerate(gaps.items()):
            at = self.seconds[name] if timed else np.arange(len(gap))
            height, style = np.where(gap == 0, floor, gap), mark(number)
            self.lines_[name] = self.ax_.plot(
                at,
                height,
                label=name,
                drawstyle="steps-post" if timed else "default",
                linewidth=1.3,
                markevery=[len(gap) - 1],
                clip_on=False,  # the marker at the end, which may be on the axis
                **style,
            )[0]
        self.ax_.set(xlabel="seconds" if timed else "iteration", ylabel="objective minus the best")
        if positive.size:
            self.ax_.set_yscale("log")
            self.ax_.set_ylim(bottom=floor)
            self.ax_.set_ylabel("objective minus the best (0 at the lower end)")
        if not timed:
            self.ax_.locator_params(axis="x", integer=True)
        if timed and min(times[0] for times in self.seconds.values()) > 0:
            self.ax_.set_xscale("log")
        remove_frame(self.ax_)
        add_legend(self.ax_, outside=is_new)
        return self

    def _gaps(self, path: np.ndarray) -> np.ndarray:
        """The objectives above the best: zero but for rounding is zero, NaN what lies below."""
        gap, rounding = path - self.best, ROUNDING * max(abs(self.best), np.finfo(float).tiny)
        return np.where(np.abs(gap) <= rounding, 0.0, np.where(gap < 0, np.nan, gap))


def timed_trace(solver: Any, problem: Any, random_state: int | None = 0) -> tuple[np.ndarray, np.ndarray]:
    """Seconds and objectives of the iterations of a solver; the last objective is that of the solution."""
    seconds: list[float] = []
    objectives: list[float] = []
    begin = time.perf_counter()

    def log(row: Mapping[str, Any]) -> None:
        if "objective" in row:
            seconds.append(time.perf_counter() - begin)
            objectives.append(float(row["objective"]))

    solution = solver.solve(problem, callback=log, rng=random_state)
    return np.array([*seconds, time.perf_counter() - begin]), np.array([*objectives, solution.objective])


def _paths(name: str, fitted: Any) -> list[np.ndarray]:
    """The objectives of each binary problem, with the final one at the end."""
    if isinstance(fitted, Solution):
        return [_closed([row["objective"] for row in fitted.trace], fitted.objective)]
    check_is_fitted(fitted)
    if not hasattr(fitted, "objective_path_"):
        raise ValueError(f"{name} has no objective_path_; pass estimators that minimize one objective, or solutions.")
    if isinstance(fitted.objective_path_, list):
        return [_closed(path, final) for path, final in zip(fitted.objective_path_, fitted.objective_)]
    return [_closed(fitted.objective_path_, fitted.objective_)]


def _closed(path: Any, final: float) -> np.ndarray:
    """The path with the final objective at its end, unless it is there."""
    path = np.asarray(path, dtype=float)
    ends_there = path.size and abs(path[-1] - final) <= ROUNDING * abs(final)
    return path if ends_there else np.append(path, final)
