"""How long does `semisvm label` take for a CSV file of 1 GB, and how much memory?

Data: rows of 16 numbers and 4 short strings of two classes, whose means differ in 6 numbers and whose strings have
other frequencies; 200 rows have a label. Measured: seconds, CPU seconds and the largest memory of the process of the
command, with its report, and the share of filled cells that are right.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv as pyarrow_csv

from timing import show, write

N_NUMBERS, N_STRINGS, N_LABELED, BLOCK = 16, 4, 200, 250_000
WORDS = np.array(["north", "south", "east", "west", "center", "coast", "river", "hill"])


def write_table(path: Path, n_rows: int) -> np.ndarray:
    """Write the table, and return the true classes."""
    rng = np.random.default_rng(0)
    truth = rng.random(n_rows) < 0.4
    labeled = np.isin(np.arange(n_rows), rng.choice(n_rows, N_LABELED, replace=False))
    names = [f"v{j}" for j in range(N_NUMBERS)] + [f"s{j}" for j in range(N_STRINGS)] + ["topic"]
    with path.open("wb") as file:
        for first in range(0, n_rows, BLOCK):
            y = truth[first : first + BLOCK]
            X = rng.standard_normal((len(y), N_NUMBERS)) * 10.0
            X[:, :6] += np.where(y, 9.0, -9.0)[:, None]
            columns = [pa.array(np.round(x, 6)) for x in X.T]
            for _ in range(N_STRINGS):
                codes = rng.integers(0, 6, len(y)) + np.where(y & (rng.random(len(y)) < 0.3), 2, 0)
                columns.append(pa.array(WORDS[codes]))
            cells = np.where(labeled[first : first + BLOCK], np.where(y, "yes", "no"), "")
            options = pyarrow_csv.WriteOptions(include_header=first == 0, quoting_style="none")
            pyarrow_csv.write_csv(pa.table([*columns, pa.array(cells)], names=names), file, options)
    return truth


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", type=int, default=5_000_000)
    options.add_argument("--folder", type=Path, default=None, help="for the files; a temporary one by default")
    args = options.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        path = Path(folder) / "large.csv"
        truth = write_table(path, args.rows)
        start = time.perf_counter()
        command = [sys.executable, "-m", "semisvm", "label", str(path), "--target", "topic"]
        print(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        seconds, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        filled = pyarrow_csv.read_csv(
            Path(folder) / "large.labeled.csv",
            convert_options=pyarrow_csv.ConvertOptions(include_columns=["topic"]),
        )
        right = np.mean((filled["topic"].to_numpy() == "yes") == truth)
        row = {
            "rows": args.rows,
            "GB": path.stat().st_size / 1e9,
            "seconds": seconds,
            "CPU seconds": used.ru_utime + used.ru_stime,
            "memory GB": used.ru_maxrss / 1e6,
            "right %": 100 * right,
        }
    show([row])
    write("label_large", [row])


if __name__ == "__main__":
    main()
