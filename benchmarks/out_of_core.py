"""What does a fit cost whose samples do not fit in memory, on a cluster of processes of this computer?

``dense``: ``MultiSwitchTSVM`` on two Gaussians of float32 in one file that the workers write, 200 labels, 40 % of one
class; the means are +-0.25 (separated) or +-0.1 (overlapping) in each of 100 features. Measured: seconds to write, fit
and predict, passes over all rows, seconds of a pass beside those of X'X in float32 alone, objective against the fit of
one process on the same file, largest memory of client, scheduler and workers together without mapped files; and what a
second worker brings, by turns. Every fit has processes of its own.

``sparse``: ``MultiSwitchTSVM`` on rows of 40 entries in 131,072 columns, in files that the workers read. Measured:
seconds of the fit in memory with one and two threads, in threads on blocks, on one worker and on two; bytes moved by a
pass; and a fit one of whose workers is killed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from distributed import Client
from scipy import sparse

from semisvm import MultiSwitchTSVM, parallel
from semisvm.parallel import fitting
from timing import show, write

BLOCK = 250_000  # rows that a task writes
MEANS, SHARE = {"separated": 0.25, "overlapping": 0.1}, 0.4
N_LABELS = 200
WIDTH, ENTRIES, SPARSE_BLOCK = 131_072, 40, 62_500


class Table(NamedTuple):
    """Samples and their classes in files."""

    X: np.ndarray
    y: np.ndarray


# ---------------------------------------------------------------- tables


def write_block(folder: str, name: str, start: int, stop: int) -> None:
    """Some rows of two Gaussians, into files that are there."""
    rng = np.random.default_rng([start, len(name)])
    X, y = (np.load(Path(folder) / f"{part}.npy", mmap_mode="r+") for part in "Xy")
    y[start:stop] = rng.random(stop - start) < SHARE
    for a in range(start, stop, 8192):
        rows = slice(a, min(a + 8192, stop))
        X[rows] = rng.standard_normal((rows.stop - a, X.shape[1]), dtype=np.float32)
        X[rows] += MEANS[name] * (2.0 * y[rows, None] - 1.0).astype(np.float32)


def write_table(client: Client, folder: Path, name: str, n: int, d: int) -> Table:
    """The table, written by the workers."""
    for part, shape, dtype in (("X", (n, d), np.float32), ("y", (n,), np.int8)):
        np.lib.format.open_memmap(folder / f"{part}.npy", "w+", dtype, shape)
    blocks = [(str(folder), name, start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]
    client.gather(client.map(_write_one, blocks, pure=False))
    os.sync()  # else the disk is busy in the first fit
    return load(folder)


def _write_one(block: tuple) -> None:
    write_block(*block)


def partly(y: np.ndarray, seed: int) -> np.ndarray:
    """Labels of some samples, -1 for the others."""
    out = np.full(len(y), -1, dtype=np.int8)
    shown = np.random.default_rng(seed).choice(len(y), N_LABELS, replace=False)
    out[shown] = y[shown]
    return out


def sparse_block(seed: int) -> tuple[Any, np.ndarray]:
    """Rows of equal weights, a tenth of them in columns of the topic of the row."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, SPARSE_BLOCK)
    columns = (WIDTH * rng.random((SPARSE_BLOCK, ENTRIES)) ** 2).astype(np.int32)
    columns = np.where(rng.random(columns.shape) < 0.1, columns % 400 * 2 + y[:, None], columns)
    ends = np.arange(0, columns.size + 1, ENTRIES, dtype=np.int32)
    X = sparse.csr_array((np.full(columns.size, ENTRIES**-0.5), columns.ravel(), ends), shape=(SPARSE_BLOCK, WIDTH))
    X.sum_duplicates()
    return X, y


def write_sparse_block(folder: Path, seed: int) -> np.ndarray:
    """Write the samples of ``sparse_block`` to a file, and return their classes."""
    X, y = sparse_block(seed)
    sparse.save_npz(folder / f"{seed}.npz", X, compressed=False)
    return y


# ---------------------------------------------------------------- measurement


@contextmanager
def largest_memory(pids: list[int]) -> Iterator[list[float]]:
    """MB of anonymous memory of some processes together; the largest of samples five times a second."""
    largest, done = [0.0], threading.Event()

    def look() -> None:
        while not done.wait(0.2):
            total = 0.0
            for pid in pids:
                try:
                    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
                except OSError:
                    continue
                total += sum(float(line.split()[1]) for line in lines if line.startswith(("RssAnon", "RssShmem")))
            largest[0] = max(largest[0], total / 1024)

    watch = threading.Thread(target=look)
    watch.start()
    try:
        yield largest
    finally:
        done.set()
        watch.join()


class Timed(NamedTuple):
    """A result and its wall seconds."""

    result: Any
    seconds: float


def timed(call: Callable[..., Any], *arguments: Any, **options: Any) -> Timed:
    """Call a function."""
    start = time.perf_counter()
    return Timed(call(*arguments, **options), time.perf_counter() - start)


def gemm_seconds(X: np.ndarray) -> float:
    """Seconds of X'X in float32 by tiles, of one process with all its threads."""
    tile = np.ascontiguousarray(X[:8192])
    tile.T @ tile
    seconds = timed(lambda: [tile.T @ tile for _ in range(50)]).seconds
    return seconds / 50 * len(X) / len(tile)


def in_new_process(call: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a function in a process that has done nothing else."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(call, *arguments).result()


def load(folder: Path) -> Table:
    """The table, mapped into memory."""
    return Table(*(np.load(folder / f"{part}.npy", mmap_mode="r") for part in "Xy"))


def write_in_cluster(folder: Path, name: str, args: argparse.Namespace) -> dict:
    """Write the table, and look at what it takes to multiply it."""
    with parallel.local_client(args.workers) as client:
        table, written = timed(write_table, client, folder, name, args.rows, args.features)
    return {"table": name, "rows": args.rows, "write s": written, "X'X s": gemm_seconds(table.X)}


def fit_in_cluster(folder: Path, balance: float | str, seed: int, n_workers: int) -> dict:
    """Fit and predict, with processes for the workers."""
    table = load(folder)
    with parallel.local_client(n_workers) as client:
        pids = [os.getpid(), *client.run(os.getpid).values()]
        model = MultiSwitchTSVM(kernel="linear", balance=balance)
        with largest_memory(pids) as memory:
            y = partly(table.y, seed)
            seconds = timed(parallel.fit, model, table.X, y, client=client, out_of_core=True).seconds
            found = timed(lambda labels: labels.compute(), parallel.predict(model, table.X))
    row = {"workers": n_workers, "fit s": seconds, "predict s": found.seconds, "passes": model.n_passes_}
    row |= {"s a pass": seconds / model.n_passes_, "memory MB": memory[0]}
    row |= {"error %": 100 * float(np.mean(found.result != table.y)), "objective": model.objective_}
    return row | {"certificate": model.certificate_.value}


def objective_of_one_process(folder: Path, balance: float | str, seed: int) -> float:
    """The objective of the same fit in threads of one process."""
    table, model = load(folder), MultiSwitchTSVM(kernel="linear", balance=balance)
    return parallel.fit(model, table.X, partly(table.y, seed), client="threads", out_of_core=True).objective_


def dense(args: argparse.Namespace) -> list[dict]:
    """A row for each table and each way to know the share, all in new processes; and one of a single worker."""
    rows = []
    for name in args.sets:
        with tempfile.TemporaryDirectory(dir=args.folder) as parent:
            folder = Path(parent)
            table = in_new_process(write_in_cluster, folder, name, args)
            share = float(np.mean(load(folder).y))
            kinds = [("given", share, 0), ("given, other labels", share, 1), ("estimated", "auto", 0)]
            for what, balance, seed in kinds:
                row = table | {"share": what} | in_new_process(fit_in_cluster, folder, balance, seed, args.workers)
                one = in_new_process(objective_of_one_process, folder, balance, seed)
                rows.append(row | {"one process %": 100 * (one / row["objective"] - 1)})
                print(rows[-1], flush=True)
            for n_workers in (1, args.workers) * 3 if name == args.sets[0] else ():
                row = table | {"share": "given"} | in_new_process(fit_in_cluster, folder, share, 0, n_workers)
                rows.append(row | {"one process %": None})
                print(rows[-1], flush=True)
    return rows


def sparse_rows(args: argparse.Namespace) -> list[dict]:
    """A row for each way to fit the same samples."""
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        y = partly(np.hstack([write_sparse_block(Path(folder), k) for k in range(-(-args.rows // SPARSE_BLOCK))]), 0)
        files = [str(Path(folder) / f"{k}.npz") for k in range(-(-args.rows // SPARSE_BLOCK))]
        return _sparse_rows(files, y)


def _sparse_rows(files: list[str], y: np.ndarray) -> list[dict]:
    X = sparse.csr_array(sparse.vstack([sparse.load_npz(file) for file in files], format="csr"))
    few = np.where(np.arange(2000) < 100, np.arange(2000) % 2, -1)
    MultiSwitchTSVM(kernel="linear").fit(X[:2000], few)  # compiled loops and threads
    one_thread = timed(MultiSwitchTSVM(kernel="linear", n_jobs=1).fit, X, y).seconds
    memory, seconds = timed(MultiSwitchTSVM(kernel="linear").fit, X, y)
    rows = [{"where": "memory", "seconds": seconds, "ratio": 1.0}]
    rows.append({"where": "memory, one thread", "seconds": one_thread, "ratio": one_thread / seconds})
    on_blocks = timed(parallel.fit, MultiSwitchTSVM(kernel="linear"), X, y, client="threads")
    rows.append(_beside("threads on blocks", on_blocks, memory, seconds))
    blocks = [dask.delayed(sparse.load_npz)(file) for file in files]
    chunks = [da.from_delayed(block, (SPARSE_BLOCK, WIDTH), meta=sparse.csr_array((0, WIDTH))) for block in blocks]
    table = da.concatenate(chunks)
    for n_workers in (1, 2):
        with parallel.local_client(n_workers) as client:
            parallel.fit(MultiSwitchTSVM(kernel="linear"), table[:2000], few, client=client)  # imports
            with counted_bytes() as moved:
                found = timed(parallel.fit, MultiSwitchTSVM(kernel="linear"), table, y, client=client)
            row = _beside(f"{n_workers} workers", found, memory, seconds)
            rows.append(row | {"MB a pass": moved[0] / found.result.n_passes_ / 1e6})
            if n_workers == 2:
                pid = next(iter(client.run(os.getpid).values()))
                threading.Timer(0.5 * found.seconds, os.kill, (pid, signal.SIGKILL)).start()
                found = timed(parallel.fit, MultiSwitchTSVM(kernel="linear"), table, y, client=client)
                rows.append(_beside("2 workers, one killed", found, memory, seconds))
    for row in rows:
        print(row, flush=True)
    return rows


def _beside(where: str, found: Timed, memory: Any, seconds: float) -> dict:
    model = found.result
    row = {"where": where, "seconds": found.seconds, "ratio": found.seconds / seconds, "passes": model.n_passes_}
    same = bool(np.array_equal(model.transduction_, memory.transduction_))
    return row | {"objective %": 100 * (model.objective_ / memory.objective_ - 1), "same labels": same}


@contextmanager
def counted_bytes() -> Iterator[list[int]]:
    """Bytes that the tables of a fit have moved."""
    moved, ordinary = [0], fitting.BlockedSamples.close

    def close(self: Any) -> None:
        moved[0] = self.executor.n_bytes
        ordinary(self)

    fitting.BlockedSamples.close = close  # type: ignore[method-assign]
    try:
        yield moved
    finally:
        fitting.BlockedSamples.close = ordinary  # type: ignore[method-assign]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("kind", choices=["dense", "sparse"])
    options.add_argument("--rows", type=int, default=None)
    options.add_argument("--features", type=int, default=100)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--sets", nargs="+", choices=MEANS, default=list(MEANS))
    options.add_argument("--folder", default=None, help="where the files are written")
    args = options.parse_args()
    args.rows = args.rows or {"dense": 20_000_000, "sparse": 1_000_000}[args.kind]
    rows = dense(args) if args.kind == "dense" else sparse_rows(args)
    show(rows)
    write(f"out_of_core_{args.kind}", rows)


if __name__ == "__main__":
    main()
