"""The stages of a command and the iterations of a fit, on standard error."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

from . import raise_pending_signal

if TYPE_CHECKING:
    from rich.status import Status


class ProgressDisplay:
    """A spinner on a terminal; elsewhere silent, or a line per stage when verbose.

    Parameters
    ----------
    verbose : bool
        Whether to print a line per stage and per iteration of the fit.
    """

    def __init__(self, verbose: bool = False):
        self.verbose = verbose
        self.on_terminal = sys.stderr.isatty()
        self._status: Status | None = None
        self._stage = ""

    def __enter__(self) -> ProgressDisplay:
        if self.on_terminal:
            from rich.console import Console

            self._status = Console(stderr=True).status("")
            self._status.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._status is not None:
            self._status.stop()

    def begin(self, stage: str) -> None:
        """Show that a stage begins."""
        raise_pending_signal()
        self._stage = stage
        self._show(stage)

    def _show(self, line: str) -> None:
        if self._status is not None:
            from rich.text import Text

            self._status.update(Text(line, no_wrap=True, overflow="ellipsis"))
            if self.verbose:
                self._status.console.print(line, markup=False, highlight=False)
        elif self.verbose:
            print(line, file=sys.stderr, flush=True)

    @property
    def estimator_verbose(self) -> int:
        """The parameter ``verbose`` of an estimator whose lines are shown by ``iterations``."""
        return int(self.verbose or self.on_terminal)

    @contextmanager
    def iterations(self) -> Iterator[None]:
        """Show the lines that estimators print, so that standard output has the report alone."""
        with redirect_stdout(_LineStream(lambda line: self._show(f"{self._stage}: {line}"))):
            yield


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
