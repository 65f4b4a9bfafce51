"""Running the tasks of a protocol, with results on the disk after each, so that a run can be stopped and resumed."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from .environment import environment
from .protocol import Protocol, Setup, Task
from .records import RecordFile, Records, Result, read_records


class Progress(NamedTuple):
    """A task that begins, how many are done, and the seconds that all others will take as far as known."""

    task: Task
    done: int
    total: int
    seconds_left: float | None


class ResultsExist(ValueError):
    """Results that a run would mix with its own."""


def run_protocol(
    protocol: Protocol,
    setup: Setup,
    path: Path,
    *,
    resume: bool = False,
    draws: int | None = None,
    command: str = "",
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Records:
    """Run the tasks of a protocol that the file does not hold, and return all of its results.

    One after the other, so that their seconds are their own; under ``joblib.parallel_config`` as many at a time as that
    says, on the computers of its backend.

    Parameters
    ----------
    protocol : Protocol
        What to run.
    setup : Setup
        The data folder, and whether to run the short form.
    path : Path
        The file of results, one JSON line for every task.
    resume : bool
        Whether the file may exist; its results are kept, those of failed tasks replaced.
    draws : int or None
        The largest number of draws; None for that of the protocol.
    command : str
        What the header calls the command.
    on_progress : callable
        Called before every task; where several run at a time, when the result of the one before is there.

    Returns
    -------
    Records
    """
    before = read_records(path)
    if before.results and not resume:
        raise ResultsExist(f"{path} holds results of {protocol.name}; pass --resume to go on, or another --out.")
    if any(header["quick"] != setup.quick for header in before.headers):
        raise ResultsExist(f"{path} was measured {'without' if setup.quick else 'with'} --quick; pass another --out.")
    tasks = protocol.tasks(setup, draws)
    finished = {key for key, result in before.by_task.items() if not result.failure}
    waiting = [task for task in tasks if task.key not in finished]
    if before.headers and not waiting:
        return before
    file, seconds = RecordFile(path), {result.key: result.seconds for result in before.results}
    file.write_header({"protocol": protocol.name, "quick": setup.quick, **environment(command)})
    results = _run(protocol, setup, waiting)
    for number, task in enumerate(waiting):
        left = seconds_left(seconds, waiting[number:])
        on_progress(Progress(task, len(tasks) - len(waiting) + number, len(tasks), left))
        result = next(results)
        file.write(result)
        seconds[result.key] = result.seconds
    return read_records(path)


def _run(protocol: Protocol, setup: Setup, tasks: Sequence[Task]) -> Iterator[Result]:
    """The results of tasks, in their order, each computed when it is asked for or before."""
    if effective_n_jobs(None) == 1:
        return (run_task(protocol, setup, task) for task in tasks)
    return iter(Parallel(return_as="generator")(delayed(run_task)(protocol, setup, task) for task in tasks))


def run_task(protocol: Protocol, setup: Setup, task: Task) -> Result:
    """The result of a task; an exception becomes a result without a value, which the report shows as a failure."""
    assert task.cell.measure is not None
    known: dict[str, Any] = {}
    value, counted_seconds = None, None
    wall, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught, _undivided_interrupts():
        warnings.simplefilter("always")
        try:
            measured = task.cell.measure(setup, task.draw)
            value = float(measured.value)
            known = measured._asdict() | {"errors": [round(error, 4) for error in measured.errors]}
            counted_seconds = known.pop("seconds")
            del known["value"]
            if not np.isfinite(value):
                value, known = None, {"failure": f"the error is {measured.value}"}
        except Exception as error:
            known = {"failure": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    counted = dict(Counter(warning.category.__name__ for warning in caught))
    times = round(wall if counted_seconds is None else counted_seconds, 4), round(cpu, 4)
    return Result(protocol.name, *task.key, value, *times, seed=task.draw, warnings=counted, **known)


@contextmanager
def _undivided_interrupts() -> Iterator[None]:
    """Raise a Ctrl-C at the end once more: solvers return the best model so far on it, which is not a result."""
    received: list[int] = []

    def receive(number: int, frame: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    is_ours = threading.current_thread() is threading.main_thread()
    is_ours = is_ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_ours:
        signal.signal(signal.SIGINT, receive)
    try:
        yield
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if received:
        raise KeyboardInterrupt


def seconds_left(seconds: Mapping[tuple[str, str, int], float], waiting: Sequence[Task]) -> float | None:
    """Sum of the mean seconds of the same cell, or of all cells where it has none yet; None at the very start."""
    if not seconds:
        return None
    known: dict[tuple[str, str], list[float]] = {}
    for (row, column, _), value in seconds.items():
        known.setdefault((row, column), []).append(value)
    means = {key: float(np.mean(values)) for key, values in known.items()}
    typical = float(np.mean(list(means.values())))
    return sum(means.get(task.cell.key, typical) for task in waiting)
