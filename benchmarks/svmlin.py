"""What do MultiSwitchTSVM and AnnealingTSVM cost on sparse text, and how do they grow?

IMDB: 50,000 samples of sublinear tf-idf, 100 labels, C 10, C* = C l/u, balanced as the labels are; several draws of the
labels. Measured: seconds divided by those of scikit-learn's LinearSVC(C=1) on the same samples fully labeled, in the
same run; error on the unlabeled samples. SVMlin needs 30 (switching) and 45 (annealing) such fits at 26.6 and 27.5 %.

Objective, where ``--program`` names SVMlin: Text, its example, a fifth and all of IMDB, C 10, C* = C l/u, the true
share, regularized intercept. Measured: CPU seconds of the solvers on one thread and of SVMlin's training as it prints
them, both objectives by ``semisvm.problem``, at labels of the given share; error on the unlabeled samples. Annealing in
SVMlin may leave the share, which lowers its objective at the signs of f.

Growth: generated tables of 50,000 columns and 100 non-zeros a row, two topics, up to a million rows, from small to
large. Measured: seconds, peak memory of the process so far, exponent of growth.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

from data import UNLABELED, hidden_at, load
from semisvm import AnnealingTSVM, MultiSwitchTSVM
from semisvm._threads import limit_threads
from semisvm.balance import Count
from semisvm.bench.peers.base import Case, LinearModel
from semisvm.bench.peers.formulations import ANNEALED_TSVM, SWITCHED_TSVM
from semisvm.bench.peers.svmlin import SVMlin
from semisvm.losses import SquaredHinge, SymmetricSquaredHinge
from semisvm.problem import Problem
from semisvm.solvers import Annealing, MultiSwitch
from semisvm.spaces import Features
from timing import growth, high_water, race, show, write

SVMLIN = {"MultiSwitchTSVM": (30, 26.6), "AnnealingTSVM": (45, 27.5)}
MODELS = {cls.__name__: cls for cls in (MultiSwitchTSVM, AnnealingTSVM)}
METHODS = {"switching": (SWITCHED_TSVM, MultiSwitch()), "annealing": (ANNEALED_TSVM, Annealing())}
REPEATS = 5
LABELS, WIDTH, ENTRIES, TOPIC = 100, 50_000, 100, 400


def imdb(seeds: list[int]) -> list[dict]:
    """Both models and LinearSVC by turns, for every draw of the labels."""
    data = load("imdb")
    rows = np.flatnonzero(data.y != 0)
    X, y = data.X[rows].astype(np.float64), 1 + (data.y[rows] > 0)
    for cls in MODELS.values():
        cls(10.0, kernel="linear").fit(X[::25], hidden_at(y[::25], LABELS, 0))  # compile off the clock
    out = []
    for seed in seeds:
        partly = hidden_at(y, LABELS, seed)
        free = partly == UNLABELED
        calls = {"LinearSVC": lambda: LinearSVC(C=1).fit(X, y)}
        for name, cls in MODELS.items():
            calls[name] = lambda cls=cls, partly=partly: cls(10.0, kernel="linear").fit(X, partly)
        timed = race(calls, 1)
        for name, (fits, error) in SVMLIN.items():
            model = timed[name].result
            row = {"draw": seed, "model": name, "seconds": timed[name].best, "LinearSVC": timed["LinearSVC"].best}
            row |= {"fits": timed[name].best / timed["LinearSVC"].best, "SVMlin fits": fits}
            row["error %"] = 100.0 * float(np.mean(model.transduction_[free] != y[free]))
            supervised = model.supervised_.predict(X[free])
            row |= {"SVMlin %": error, "supervised %": 100.0 * float(np.mean(supervised != y[free]))}
            out.append(row | {"objective": model.objective_, "solves": model.n_iter_})
            print(f"draw {seed} {name}: {row['fits']:.1f} fits, {row['error %']:.1f} %", flush=True)
    return out


def cases() -> list[Case]:
    """Text with the labels of every split, the example of SVMlin, and a draw of samples and labels of IMDB."""
    out = []
    for name in ("text", "svmlin_example"):
        data = load(name)
        y = np.where(data.y > 0, 1.0, -1.0)
        for number, split in enumerate(data.splits):
            rows = np.concatenate([split.labeled, split.unlabeled])
            signs = np.where(np.arange(len(rows)) < len(split.labeled), y[rows], 0.0)
            X = data.X[rows].astype(np.float64)
            out.append(Case(f"{name} {number}", X, signs, y[rows], X, y[rows], 10.0))
    data = load("imdb")
    for n in (10_000, 50_000):
        rows = np.random.default_rng(0).permutation(np.flatnonzero(data.y != 0))[:n]
        X, y = data.X[rows].astype(np.float64), np.where(data.y[rows] > 0, 1.0, -1.0)
        out.append(Case(f"imdb {n:,}", X, np.where(hidden_at(y, LABELS, 0) == UNLABELED, 0.0, y), y, X, y, 10.0))
    return out


def printed_seconds(log: str) -> float:
    """What SVMlin says that its training took."""
    return float(re.findall(r" took ([0-9.eE+-]+) seconds", log)[-1])


def objectives(program: Path) -> list[dict]:
    """Both solvers beside SVMlin, by turns."""
    out = []
    for case in cases():
        free = case.unlabeled
        cost = np.where(free, SWITCHED_TSVM.unlabeled_cost(case), case.C)
        losses = (SquaredHinge(), SymmetricSquaredHinge(), Count(case.share), "regularized")
        problem = Problem(Features(case.X), case.signs, cost, *losses)
        for method, (formulation, solver) in METHODS.items():
            peer_seconds, our_seconds = [], []
            with limit_threads(1):
                solver.solve(problem)  # compile off the clock
                for _ in range(1 if len(free) > 5000 else REPEATS):
                    with tempfile.TemporaryDirectory() as folder:
                        run = SVMlin(program, method, formulation).run(case, Path(folder))
                        peer_seconds.append(
                            min(run.cost.cpu_seconds, printed_seconds((Path(folder) / "log.txt").read_text()))
                        )
                    start = time.process_time()
                    solution = solver.solve(problem)
                    our_seconds.append(time.process_time() - start)
            ours = SWITCHED_TSVM.objective(case, LinearModel(solution.coef, solution.intercept))
            peer = SWITCHED_TSVM.objective(case, run.model)
            row = {"case": case.name, "method": method, "CPU s": min(our_seconds), "SVMlin CPU s": min(peer_seconds)}
            row |= {"ratio": min(our_seconds) / min(peer_seconds), "objective": ours, "SVMlin objective": peer}
            row |= {"above SVMlin %": 100.0 * (ours / peer - 1.0)}
            row |= {"error %": 100.0 * float(np.mean(solution.labels[free] != case.y[free]))}
            row |= {"SVMlin error %": 100.0 * float(np.mean((run.predictions > 0)[free] != (case.y > 0)[free]))}
            out.append(row | {"solves": solution.n_iter, "certificate": solution.certificate.value})
            print(f"{case.name}, {method}: ratio {row['ratio']:.3f}, {row['above SVMlin %']:+.3f} %", flush=True)
    return out


def topics(n: int, seed: int = 0) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Rows of ``ENTRIES`` words each, every fifth of two hundred of the row's topic; unit length."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    indices = np.empty((n, ENTRIES), dtype=np.int32)
    for start in range(0, n, 100_000):
        part = slice(start, min(start + 100_000, n))
        draw = (WIDTH * rng.random((part.stop - start, ENTRIES)) ** 2).astype(np.int32)  # few words are frequent
        own = rng.random(draw.shape) < 0.2
        draw[own] = draw[own] % TOPIC // 2 * 2 + np.broadcast_to(y[part, None], draw.shape)[own]  # odd and even words
        indices[part] = np.sort(draw, axis=1)
    X = sparse.csr_matrix(
        (np.full(n * ENTRIES, ENTRIES**-0.5), indices.ravel(), np.arange(0, n * ENTRIES + 1, ENTRIES)),
        shape=(n, WIDTH),
    )
    return X, y


def grown(name: str, n: int) -> tuple[float, float]:
    """Seconds and error of a fit to n generated rows."""
    X, y = topics(n)
    MODELS[name](10.0, kernel="linear").fit(X[:2000], hidden_at(y[:2000], LABELS, 0))
    partly = hidden_at(y, LABELS, 0)
    start = time.perf_counter()
    model = MODELS[name](10.0, kernel="linear").fit(X, partly)
    seconds = time.perf_counter() - start
    free = partly == UNLABELED
    return seconds, 100.0 * float(np.mean(model.transduction_[free] != y[free]))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--draws", type=int, nargs="*", default=[0, 1, 2])
    options.add_argument("--sizes", type=int, nargs="*", default=[62_500, 250_000, 1_000_000])
    options.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    options.add_argument("--program", type=Path, help="the executable of SVMlin")
    args = options.parse_args()
    if args.program:
        rows = objectives(args.program)
        show(rows)
        write("svmlin_objective", rows)
    if args.draws:
        rows = imdb(args.draws)
        show(rows)
        write("svmlin_imdb", rows)
    if args.sizes:
        rows = []
        for name in args.models:
            for n in args.sizes:
                seconds, error = grown(name, n)
                memory = high_water()
                rows.append({"model": name, "rows": n, "seconds": seconds, "error %": error, "peak MiB": memory})
                print(rows[-1], flush=True)
            exponent = growth(args.sizes, [row["seconds"] for row in rows if row["model"] == name])
            print(f"{name}: growth exponent {exponent}")
            rows[-1]["growth"] = exponent
        show([row | {"growth": row.get("growth")} for row in rows])
        write("svmlin_growth", rows)


if __name__ == "__main__":
    main()
