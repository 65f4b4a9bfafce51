"""Which tolerance do MultiSwitchTSVM and AnnealingTSVM need for a right objective, and which for the least error?

Data: 14 sets of at most 1,500 rows (dense ones standardized), 50 labels, the true share, four draws each; linear, with
C = 10 on sparse and 1 on dense sets. Measured per tolerance: the objective relative to that of the tightest one (mean
over all draws, and the largest difference of one), the error on unlabeled samples, CPU seconds of one thread.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from data import UNLABELED, hidden_at, load
from semisvm._threads import limit_threads
from semisvm.balance import Count
from semisvm.losses import SquaredHinge, SymmetricSquaredHinge
from semisvm.problem import Problem
from semisvm.solvers import Annealing, MultiSwitch
from semisvm.spaces import Features
from timing import show, write

PAIRS = {"uspst": (2, 3), "news20": (1, 3)}  # positions of the classes that are compared
SETS = (
    *("text", "svmlin_example", "imdb", "news20", "adult", "g50c", "uspst", "raetsch_german", "raetsch_splice"),
    *("raetsch_image", "raetsch_ringnorm", "raetsch_waveform", "raetsch_diabetis", "raetsch_breast_cancer"),
)
N_LABELS, MAX_ROWS = 50, 1500


def problems(name: str, n_draws: int) -> Iterator[tuple[Problem, np.ndarray]]:
    """The problem of every draw, and all signs."""
    data = load(name)
    labeled = data.y != 0 if name == "imdb" else np.ones(len(data.y), dtype=bool)
    classes = np.unique(data.y[labeled])
    pair = classes[list(PAIRS[name])] if name in PAIRS else classes[[0, -1]]
    rows = np.flatnonzero(labeled & np.isin(data.y, pair))
    for seed in range(n_draws):
        drawn = np.random.default_rng(seed).permutation(rows)[:MAX_ROWS]
        X: Any = data.X[drawn].astype(float)
        C = 10.0 if sparse.issparse(X) else 1.0
        if not sparse.issparse(X):
            X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
        y = np.where(data.y[drawn] == pair[1], 1.0, -1.0)
        free = hidden_at(y.astype(int) + 2, N_LABELS, seed) == UNLABELED
        cost = np.where(free, C * N_LABELS / free.sum(), C)
        losses = SquaredHinge(), SymmetricSquaredHinge()
        yield Problem(Features(X), np.where(free, 0.0, y), cost, *losses, Count(float((y[free] > 0).mean()))), y


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tols", type=float, nargs="+", default=[1e-2, 1e-3, 1e-5, 1e-6])
    options.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    options.add_argument("--draws", type=int, default=4)
    args = options.parse_args()
    found: dict[tuple, list] = defaultdict(list)
    for name in args.sets:
        for problem, y in problems(name, args.draws):
            free = ~problem.is_labeled
            for solver in (MultiSwitch, Annealing):
                for tol in args.tols:
                    with limit_threads(1):
                        start = time.process_time()
                        solution = solver(tol=tol).solve(problem)
                    seconds = time.process_time() - start
                    error = 100.0 * float(np.mean(solution.labels[free] != y[free]))
                    found[solver.__name__, tol].append((name, solution.objective, error, seconds))
        print(name, flush=True)
    rows = []
    for (method, tol), draws in found.items():
        tightest = found[method, min(args.tols)]
        change = 100.0 * np.array([one[1] / other[1] - 1.0 for one, other in zip(draws, tightest)])
        row = {"method": method, "tol": tol, "objective %": float(change.mean()), "largest %": float(abs(change).max())}
        rows.append(row | {"error %": np.mean([one[2] for one in draws]), "CPU s": np.mean([one[3] for one in draws])})
    show(rows)
    write("newton_tolerance", rows)


if __name__ == "__main__":
    main()
