"""Clock, memory, tables: what the benchmarks share.

Everything that happens once per process (compilation, thread pools) is done by ``warm_up`` off the clock. Models that
are compared take turns (``race``), so that noise of the computer hits all of them. A ratio is always the best seconds
of ours divided by the best seconds of the peer, both of the same race: below 1 ours is faster.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn
from sklearn.base import clone
from threadpoolctl import threadpool_info

import semisvm
from semisvm._threads import n_available_threads
from semisvm.spaces import FLOAT64_SAMPLES

RESULTS = Path(__file__).resolve().parent / "results"
WARM_SIZES = (1100, FLOAT64_SAMPLES + 1)  # several tiles, so threads start; float64 and float32 loops compile apart


class Timed(NamedTuple):
    """Wall seconds of every repeat, what the last one returned, and the CPU seconds of every repeat, all threads."""

    seconds: tuple[float, ...]
    result: Any
    cpu_seconds: tuple[float, ...] = ()

    @property
    def best_cpu(self) -> float:
        return min(self.cpu_seconds)

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def race(calls: Mapping[str, Callable[[], Any]], repeats: int, n_calls: int = 1) -> dict[str, Timed]:
    """Time several calls that take turns; a turn is the mean of ``n_calls`` in a row."""
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    results: dict[str, Any] = {}
    for _ in range(repeats):
        for name, call in calls.items():
            results.pop(name, None)
            gc.collect()
            start = time.perf_counter(), time.process_time()
            for _ in range(n_calls):
                results[name] = call()
            wall, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
            seconds[name].append((wall / n_calls, cpu / n_calls))
    columns = {name: tuple(zip(*pairs)) for name, pairs in seconds.items()}
    return {name: Timed(wall, results[name], cpu) for name, (wall, cpu) in columns.items()}


def measure(call: Callable[[], Any], repeats: int) -> Timed:
    """Time one call."""
    return race({"": call}, repeats)[""]


def ratio(ours: Timed, peer: Timed) -> float:
    return ours.best / peer.best


def fitting(model, X, y) -> Callable[[], Any]:
    """The call that fits a fresh copy of a model and returns it."""
    return lambda: clone(model).fit(X, y)


def warm_up(model, X, y: np.ndarray, marker: int = -1) -> None:
    """Fit slices of the rows, labeled ones first, so that what happens once per process has happened."""
    order = np.argsort(y == marker, kind="stable")
    for n in WARM_SIZES:
        if n == WARM_SIZES[0] or n <= len(y):
            clone(model).fit(X[order[:n]], y[order[:n]])


def growth(sizes: Sequence[float], seconds: Sequence[float]) -> float | None:
    """Exponent p of seconds = const size^p, by least squares in logarithms; None for a single size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]) if len(sizes) > 1 else None


def peak_memory(task: Callable[..., Any], *args: Any) -> float:
    """Largest resident memory, in MiB, of a fresh process that calls ``task``, a function of a module."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_report_peak, args=(sender, task, args))
    child.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        raise SystemExit(f"The process that measures the memory of {task.__name__} failed.") from None
    finally:
        child.join()


def _report_peak(sender: Connection, task: Callable[..., Any], args: tuple) -> None:
    task(*args)
    sender.send(high_water())


def high_water() -> float:
    """Peak of this process; ru_maxrss alone would also count the parent, which Linux carries through fork and exec."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**10
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def sweep(name: str, compare: Callable[[int, int], dict], sizes: Sequence[int], repeats: int) -> None:
    """Compare at several sizes, ours in the column "seconds" and the peer in "SVC seconds"; print, write."""
    rows = []
    for n in sizes:
        rows.append(compare(n, repeats))
        print(f"{n} rows: ratio {rows[-1]['ratio']:.3f}", flush=True)
    print()
    show(rows)
    growths = {column: growth(sizes, [row[column] for row in rows]) for column in ("seconds", "SVC seconds")}
    print("\ngrowth exponents:", ", ".join(f"{column} {_cell(value)}" for column, value in growths.items()))
    write(name, rows, growth=growths)


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows with the same keys as a plain table."""
    cells = [list(rows[0])] + [[_cell(value) for value in row.values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    for line in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths)))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    return "-" if value is None else str(value)


def write(name: str, rows: Sequence[Mapping[str, Any]], **about: Any) -> None:
    """Write rows, what is said about them and where they were measured to ``results/NAME.json``."""
    where = {
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "time": time.strftime("%Y-%m-%d %H:%M:%S"),
        "cores": n_available_threads(),
        "threads of libraries": {one["internal_api"]: one["num_threads"] for one in threadpool_info()},
        "processor": platform.processor() or platform.machine(),
        "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "semisvm": semisvm.__version__,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"where": where, **about, "rows": list(rows)}, indent=1, default=np.ndarray.tolist))
    print(f"\nwritten to {path.relative_to(RESULTS.parents[1])}")
