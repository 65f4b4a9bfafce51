"""What is being done, on standard error."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from . import stop_if_asked


class Stages:
    """A spinner on a terminal; elsewhere silent, or a line per stage when verbose.

    Parameters
    ----------
    verbose : bool
        Whether to print a line per stage and per step of the fit.
    """

    def __init__(self, verbose: bool = False):
        self.verbose = verbose
        self.spins = sys.stderr.isatty()
        self._status = None
        self._name = ""

    def __enter__(self) -> Stages:
        if self.spins:
            from rich.console import Console

            self._status = Console(stderr=True).status("")
            self._status.start()
        return self

    def __exit__(self, *error) -> None:
        if self._status is not None:
            self._status.stop()

    def __call__(self, name: str) -> None:
        """A stage begins."""
        stop_if_asked()
        self._name = name
        self._show(name)

    def _show(self, line: str) -> None:
        if self._status is not None:
            from rich.text import Text

            self._status.update(Text(line, no_wrap=True, overflow="ellipsis"))
        if self.verbose:
            console = self._status.console if self._status is not None else None
            console.print(line, markup=False, highlight=False) if console else print(line, file=sys.stderr, flush=True)

    @property
    def wants_steps(self) -> int:
        """The ``verbose`` of an estimator whose lines somebody sees."""
        return int(self.verbose or self.spins)

    @contextmanager
    def steps(self) -> Iterator[None]:
        """Estimators print their steps to standard output, which belongs to the report: show them here."""
        with redirect_stdout(_Lines(lambda line: self._show(f"{self._name}: {line}"))):
            yield


class _Lines(io.TextIOBase):
    """A text stream that hands on whole lines."""

    def __init__(self, show):
        self._show = show
        self._open = ""

    def write(self, text: str) -> int:
        *lines, self._open = (self._open + text).split("\n")
        for line in lines:
            self._show(line)
        return len(text)
