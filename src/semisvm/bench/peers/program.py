"""Programs that are run on files: the input in the program's own format, the output read back."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from .base import Case, Cost, Formulation, Model, Peer, PeerFailure, Run

TIME_LIMIT = 600.0  # seconds
PAUSE = 0.002  # seconds between two looks at the memory of a program
Read = TypeVar("Read")


class Program(Peer):
    """An executable that the user names; seconds contain the reading and writing of its files.

    Parameters
    ----------
    executable : Path
        The program.
    name : str
        What the row is called.
    formulation : Formulation
        What this call of the program minimizes.
    """

    def __init__(self, executable: Path, name: str, formulation: Formulation):
        self.executable = executable
        self.name = name
        self.formulation = formulation

    def run(self, case: Case, folder: Path) -> Run:
        """Write the input, run the program in the folder, and read its model."""
        arguments = self.write_input(case, folder)
        cost = run_program(self.program, self.command(arguments), folder)
        model = self.read_model(case, folder)
        return Run(cost, model.scores(case.X_test), model)

    def command(self, arguments: list[str]) -> list[str]:
        """The words of the call."""
        return [str(self.executable.resolve()), *arguments]

    @abstractmethod
    def write_input(self, case: Case, folder: Path) -> list[str]:
        """Write the files of a case, and return the arguments of the call."""

    @abstractmethod
    def read_model(self, case: Case, folder: Path) -> Model:
        """The model that the program wrote."""

    def read(self, path: Path, parse: Callable[[list[str]], Read]) -> Read:
        """What is made of the lines of a file; PeerFailure if that cannot be done."""
        if not path.is_file():
            raise PeerFailure(f"{self.program} ended without writing {path.name}.")
        try:
            return parse(path.read_text(encoding="utf-8", errors="replace").splitlines())
        except (ValueError, IndexError, StopIteration) as error:
            raise PeerFailure(f"{self.program} wrote a file {path.name} that cannot be read ({error}).") from error


def run_program(name: str, command: Sequence[str], folder: Path) -> Cost:
    """Run a command to its end and say what it cost; PeerFailure if it did not succeed."""
    log = folder / "log.txt"
    start = time.perf_counter()
    with log.open("wb") as out:
        try:
            process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        except OSError as error:
            raise PeerFailure(f"{name} cannot be started: {command[0]} ({error.strerror}).") from error
        stopped = threading.Event()

        def stop() -> None:
            stopped.set()
            process.kill()

        timer = threading.Timer(TIME_LIMIT, stop)
        timer.daemon = True
        timer.start()
        try:
            cost = _wait(process, start)
        finally:
            timer.cancel()
            if process.returncode is None:
                process.kill()
                process.wait()
    if stopped.is_set():
        raise PeerFailure(f"{name} was stopped after {TIME_LIMIT:g} seconds.")
    if process.returncode != 0:
        said = log.read_text(errors="replace").strip().splitlines()
        last = f": {said[-1].strip()[:200].rstrip('.')}" if said else ""
        raise PeerFailure(f"{name} ended with code {process.returncode}{last}.")
    return cost


def _wait(process: subprocess.Popen, start: float) -> Cost:
    """Wait for a process; its CPU seconds and memory where the system tells them."""
    if not hasattr(os, "wait4"):
        process.wait()
        return Cost(time.perf_counter() - start, float("nan"), None)
    seen: list[float] = []
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(PAUSE):
            now = peak_mib(process.pid)
            if now is not None:
                seen.append(now)

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    finally:
        ended.set()
        watching.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    return Cost(seconds, usage.ru_utime + usage.ru_stime, max(seen, default=None))


def peak_mib(process: int | str) -> float | None:
    """The largest memory of a process so far, in MiB; None where the system has no file that tells.

    What a parent learns from ``wait4`` is no less than the memory of the parent itself, and is not used.
    """
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return None
    sizes = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    return sizes[0] / 1024 if sizes else None


def feature_lines(X: Any) -> Iterable[str]:
    """Samples as index:value pairs, counted from 1."""
    X = sparse.csr_array(X)
    X.sort_indices()
    for first, end in zip(X.indptr[:-1], X.indptr[1:]):
        pairs = zip(X.indices[first:end] + 1, X.data[first:end])
        yield " ".join(f"{index}:{value:.17g}" for index, value in pairs)


def write_samples(path: Path, X: Any, targets: Iterable[int] | None = None) -> None:
    """Write samples, each after its target if there are targets."""
    lines = feature_lines(X)
    if targets is not None:
        lines = (f"{target} {line}" for target, line in zip(targets, lines))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")


def finite_numbers(words: Iterable[str]) -> np.ndarray:
    """Numbers, all finite."""
    numbers = np.array([float(word) for word in words])
    if not np.isfinite(numbers).all():
        raise ValueError("a number is not finite")
    return numbers


def labeled_number(lines: Sequence[str], matches: Callable[[str], bool], what: str) -> str:
    """The first line of a kind."""
    for line in lines:
        if matches(line):
            return line
    raise ValueError(f"no {what}")
