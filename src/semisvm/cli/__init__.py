"""The command line: ``semisvm label``, ``demo``, ``info`` and ``bench``.

Importing this package is light; ``main`` imports what the commands need, so that a missing extra is one sentence.
"""

from __future__ import annotations

import io
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from ..tables import InputError

__all__ = ["InputError", "TerminationSignal", "main", "raise_pending_signal"]

EXTRA = ("typer", "rich", "pandas", "pyarrow", "skops")
COMMANDS = ("label", "fit", "predict", "compare", "next", "demo", "info", "bench")
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class TerminationSignal(BaseException):
    """Ctrl-C or another signal to end. Not a KeyboardInterrupt, on which solvers return the best so far."""

    def __init__(self, number: int):
        self.number = number


_received: list[int] = []


def raise_pending_signal() -> None:
    """Raise for a signal whose exception was lost, as happens to those raised inside callbacks of C code."""
    if _received:
        raise TerminationSignal(_received[-1])


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process if None.

    Returns
    -------
    int
        0 on success, 2 for input that cannot be used, 1 for an internal error, 128 + signal when stopped.
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a class name must not break a terminal of another encoding
    try:
        with _signals_as_exceptions():
            from .app import run

            return run(argv)
    except TerminationSignal as received:
        name = signal.Signals(received.number).name
        again = "run the command again with --resume" if argv[:1] == ["bench"] else "run the command again"
        return _fail(f"stopped by {name}; no incomplete file was left: {again}.", 128 + received.number)
    except InputError as error:
        if error.__cause__ is not None and "--debug" in argv:
            traceback.print_exc()
        return _fail(str(error), 2)
    except MemoryError as error:
        return _fail(str(error) or "not enough memory for this table; use fewer rows or columns.", 2)
    except Exception as error:
        return _fail_unexpectedly(error, argv)


def _fail_unexpectedly(error: Exception, argv: list[str]) -> int:
    missing = (error.name or "").partition(".")[0] if isinstance(error, ImportError) else ""
    if missing in EXTRA:
        return _fail(f'the command line needs {missing}, which is not installed; run: pip install "semisvm[cli]"', 2)
    if hasattr(error, "format_message"):  # a usage error: typer and click have a class each, depending on the version
        command = f"semisvm {argv[0]}" if argv and argv[0] in COMMANDS else "semisvm"
        return _fail(f"{error.format_message().strip().rstrip('.')}; see {command} --help.", 2)
    if "--debug" in argv:
        traceback.print_exc()
        return 1
    text = " ".join(str(error).split())[:200]
    return _fail(f"internal error ({type(error).__name__}: {text}); run again with --debug and report the output.", 1)


def _fail(sentence: str, code: int) -> int:
    """Print why the program ends, on one line, and return its exit code."""
    from .terminal import printable

    print(printable(" ".join(sentence.split())), file=sys.stderr)
    return code


@contextmanager
def _signals_as_exceptions() -> Iterator[None]:
    """Raise ``TerminationSignal``, so that temporary files are removed; ignored signals stay ignored."""

    def receive(number: int, frame: FrameType | None) -> None:
        _received.append(number)
        raise TerminationSignal(number)

    _received.clear()
    in_main_thread = threading.current_thread() is threading.main_thread()  # only this one may set handlers
    handled = [number for number in signal.Signals if number.name in SIGNALS] if in_main_thread else []
    before = {n: signal.signal(n, receive) for n in handled if signal.getsignal(n) is not signal.SIG_IGN}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
