"""How far a command is, on standard error, and what it has found so far, on the stream of its report."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any, TextIO

from . import raise_pending_signal
from .terminal import format_seconds, print_lines

if TYPE_CHECKING:
    from rich.progress import Progress, Task, TaskID

BAR_WIDTH = 24  # characters


class ProgressDisplay:
    """A bar with the time left on a terminal; elsewhere silent, or a line per stage when verbose.

    Parameters
    ----------
    verbose : bool
        Whether to print a line per stage and per iteration of the fit.
    report : text stream, optional
        Where ``say`` prints; None if the report is printed otherwise.
    """

    def __init__(self, verbose: bool = False, report: TextIO | None = None):
        self.verbose = verbose
        self.on_terminal = sys.stderr.isatty()
        self._report = report
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._stage = ""

    def __enter__(self) -> ProgressDisplay:
        if self.on_terminal:
            self._bar = new_bar()
            self._task = self._bar.add_task("loading", total=None)
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self, stage: str, n_parts: int | None = None) -> None:
        """Show that a stage begins, of a known number of parts or not."""
        raise_pending_signal()
        self._stage = stage
        if self._bar is not None:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(stage, total=n_parts)
        self._log(stage)

    def expect(self, n_parts: int | None) -> None:
        """The number of parts of the present stage has become known."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, total=n_parts)

    def advance(self) -> None:
        """Show that a part of the stage is done."""
        if self._bar is not None and self._task is not None:
            self._bar.advance(self._task)

    def detail(self, text: str) -> None:
        """Show what the stage is at."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=f"{self._stage}, {text}")

    def say(self, lines: list[str]) -> None:
        """Print a part of the report as soon as it is known."""
        if self._report is None:
            return
        if self._bar is not None:
            self._bar.stop()
        print_lines(lines, self._report)
        if self._bar is not None:
            self._bar.start()

    def _log(self, line: str) -> None:
        if not self.verbose:
            return
        if self._bar is not None:
            self._bar.console.print(line, markup=False, highlight=False)
        else:
            print(line, file=sys.stderr, flush=True)

    @contextmanager
    def iterations(self) -> Iterator[None]:
        """Show the lines that estimators print, so that standard output has the report alone."""
        with redirect_stdout(_LineStream(lambda line: self._log(f"{self._stage}: {line}"))):
            yield

    @contextmanager
    def following(self, estimator: Any) -> Iterator[None]:
        """Show how far the fit of an estimator is, by scikit-learn's callbacks; older versions have none."""
        try:
            from sklearn.callback import CallbackSupportMixin
        except ImportError:
            yield
            return
        if self._bar is None or not isinstance(estimator, CallbackSupportMixin):
            yield
            return
        estimator.set_callbacks(FitProgress(self))
        try:
            yield
        finally:
            estimator.set_callbacks()  # a model that is kept has none


class FitProgress:
    """A callback of scikit-learn: a part of the stage is a binary problem, or a fit of an ensemble.

    Parameters
    ----------
    display : ProgressDisplay
        What shows it.
    """

    def __init__(self, display: ProgressDisplay):
        self._display = display
        self._lock = threading.Lock()
        self._n_iterations = 0

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing is to be prepared."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing is to be cleaned up."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """The number of parts is known at the root."""
        if context.parent is None and context.max_subtasks != 1:
            self._display.expect(context.max_subtasks)

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Count parts below the root, and iterations below those."""
        if context.parent is None:
            return
        parent = context.parent
        with self._lock:
            if parent.parent is None:
                self._display.advance()
            elif parent.parent.max_subtasks == 1:
                self._n_iterations += 1
                self._display.detail(f"iteration {self._n_iterations}")


def new_bar() -> Progress:
    """A line of the terminal that vanishes at the end: the stage, a bar, and the time left."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        """The time left where it is known, else the time that has passed."""

        def render(self, task: Task) -> Text:
            left, passed = task.time_remaining, task.elapsed
            return Text(f"{format_seconds(left)} left" if left else "" if passed is None else format_seconds(passed))

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(BAR_WIDTH),
        TimeLeft(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


class _LineStream(io.TextIOBase):
    """A text stream that calls a function with every complete line."""

    def __init__(self, show: Callable[[str], None]):
        self._show = show
        self._incomplete = ""

    def write(self, text: str) -> int:
        *lines, self._incomplete = (self._incomplete + text).split("\n")
        for line in lines:
            self._show(line)
        return len(text)
