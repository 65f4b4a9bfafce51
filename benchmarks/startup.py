"""What does a fresh process wait for: the import, and the first fit when numba's cache on disk is filled already?

Import: ``import semisvm`` and ``from semisvm import SVM``, which loads the rest, against ``import sklearn.svm``, each
in processes of its own that take turns, timed inside.
Fit: a first process compiles into an empty temporary NUMBA_CACHE_DIR; later ones, which find it filled, time their
first fit and then the same fit warm.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from data import noisy_sphere, partly, two_gaussians
from semisvm import CCCPTSVM, SVM
from timing import fitting, measure, show, write

IMPORT = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
STATEMENTS = ("import semisvm", "from semisvm import SVM", "import sklearn.svm")


def tasks() -> dict[str, Callable]:
    """What is fitted, by name."""
    plain, semi = noisy_sphere(1000), two_gaussians(500)
    return {
        "SVM, 1000 samples": fitting(SVM(gamma=1 / 50), plain.X, plain.y),
        "CCCPTSVM, 50 + 500 samples": fitting(CCCPTSVM(C=1.0, gamma=0.02), semi.X, partly(semi.y, semi.splits[0])),
    }


def child(name: str) -> None:
    """Print the seconds of the first fit of this process and of a warm one."""
    call = tasks()[name]
    first = measure(call, 1).best
    print(json.dumps([first, measure(call, 5).median]))


def output(*command: str, **environment: str) -> list | float:
    """What a fresh interpreter prints, read as JSON; it may keep bytecode, whatever the environment says."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""} | environment
    done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"A child process failed: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


def imports(runs: int) -> dict:
    """Medians, after one run that fills the caches of bytecode and files."""
    seconds: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for run in range(runs + 1):
        for name in STATEMENTS:
            taken = output("-c", IMPORT.format(name))
            if run:
                seconds[name].append(taken)
    medians = {name: statistics.median(seconds[name]) for name in STATEMENTS}
    *_, ours, peer = medians.values()
    return {**medians, "ratio": ours / peer, "difference": ours - peer}


def fits(name: str, runs: int) -> dict:
    with tempfile.TemporaryDirectory() as cache:
        script = str(Path(__file__).resolve())
        environment = {"NUMBA_CACHE_DIR": cache, "SEMISVM_NUMBA_CACHE": "1"}
        compiling = output(script, "--child", name, **environment)[0]
        pairs = [output(script, "--child", name, **environment) for _ in range(runs)]
    first, warm = (statistics.median(column) for column in zip(*pairs))
    return {"fit": name, "compiling": compiling, "first": first, "warm": warm, "first - warm": first - warm}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=5, help="processes per median")
    options.add_argument("--child", help="used by the script itself")
    args = options.parse_args()
    if args.child:
        child(args.child)
        return
    imported = imports(args.runs)
    show([imported])
    print()
    rows = [fits(name, args.runs) for name in tasks()]
    show(rows)
    write("startup", rows, imports=imported)


if __name__ == "__main__":
    main()
