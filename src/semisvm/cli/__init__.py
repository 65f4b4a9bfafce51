"""The command line: ``semisvm label``, ``demo`` and ``info``.

Importing this package is light; ``main`` imports what the commands need, so that a missing extra is one sentence.
"""

from __future__ import annotations

import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

EXTRA = ("typer", "rich", "pandas", "pyarrow")


class Refusal(Exception):
    """Input that cannot be used; the text is the one sentence that the user gets."""


class Stopped(BaseException):
    """Ctrl-C or a signal to end. Not a KeyboardInterrupt, on which solvers return the best so far."""

    def __init__(self, number: int):
        self.number = number


_asked: list[int] = []


def stop_if_asked() -> None:
    """Stop for a signal whose exception was lost, as happens to those raised inside callbacks of C code."""
    if _asked:
        raise Stopped(_asked[-1])


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process if None.

    Returns
    -------
    int
        0 on success, 2 for input that cannot be used, 1 for an error of our own, 128 + signal when stopped.
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a class name must not break a terminal of another encoding
    try:
        with _signals():
            from .app import run

            return run(argv)
    except Stopped as stopped:
        name = signal.Signals(stopped.number).name
        return _fail(f"stopped by {name}; no half-written file was left, run the command again.", 128 + stopped.number)
    except Refusal as refusal:
        if refusal.__cause__ is not None and "--debug" in argv:
            traceback.print_exc()
        return _fail(str(refusal), 2)
    except MemoryError as error:
        return _fail(str(error) or "the memory does not suffice for this table; use fewer rows or columns.", 2)
    except Exception as error:
        return _explain(error, argv)


def _explain(error: Exception, argv: list[str]) -> int:
    missing = (getattr(error, "name", None) or "").partition(".")[0] if isinstance(error, ImportError) else ""
    if missing in EXTRA:
        return _fail(f"the command line needs {missing}, which is not installed; "
                     'run: pip install "semisvm[cli]"', 2)  # fmt: skip
    if hasattr(error, "format_message"):  # a usage error of typer, whichever copy of click it holds
        command = " ".join(["semisvm", *argv[: argv[:1] in (["label"], ["demo"], ["info"])]])
        return _fail(f"{error.format_message().strip().rstrip('.')}; see {command} --help.", 2)
    if "--debug" in argv:
        traceback.print_exc()
        return 1
    text = " ".join(str(error).split())[:200]
    return _fail(f"internal error ({type(error).__name__}: {text}); run again with --debug and report what it says.", 1)


def _fail(sentence: str, code: int) -> int:
    print(" ".join(sentence.split()), file=sys.stderr)
    return code


@contextmanager
def _signals() -> Iterator[None]:
    """Turn signals to end into ``Stopped``, so that temporary files go; those that are ignored stay ignored."""

    def stop(number, frame):
        _asked.append(number)
        raise Stopped(number)

    _asked.clear()
    before = {}
    in_main_thread = threading.current_thread() is threading.main_thread()  # no other may set handlers
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if in_main_thread and number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
