"""What do MultiSwitchTSVM and AnnealingTSVM cost on sparse text, and how do they grow?

IMDB: 50,000 samples of sublinear tf-idf, 100 labels, C 10, C* = C l/u, balanced as the labels are; several draws of the
labels. Measured: seconds divided by those of scikit-learn's LinearSVC(C=1) on the same samples fully labeled, in the
same run; error on the unlabeled samples. SVMlin needs 30 (switching) and 45 (annealing) such fits at 26.6 and 27.5 %.

Growth: generated tables of 50,000 columns and 100 non-zeros a row, two topics, up to a million rows, from small to
large. Measured: seconds, peak memory of the process so far, exponent of growth.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

from data import UNLABELED, load
from semisvm import AnnealingTSVM, MultiSwitchTSVM
from timing import growth, high_water, race, show, write

SVMLIN = {"MultiSwitchTSVM": (30, 26.6), "AnnealingTSVM": (45, 27.5)}
MODELS = {cls.__name__: cls for cls in (MultiSwitchTSVM, AnnealingTSVM)}
LABELS, WIDTH, ENTRIES, TOPIC = 100, 50_000, 100, 400


def hidden(y: np.ndarray, seed: int) -> np.ndarray:
    """Labels of as many samples of each class, the others hidden."""
    rng, out = np.random.default_rng(seed), np.full(len(y), UNLABELED)
    for c in np.unique(y):
        rows = rng.choice(np.flatnonzero(y == c), LABELS // 2, replace=False)
        out[rows] = c
    return out


def imdb(seeds: list[int]) -> list[dict]:
    """Both models and LinearSVC by turns, for every draw of the labels."""
    data = load("imdb")
    rows = np.flatnonzero(data.y != 0)
    X, y = data.X[rows].astype(np.float64), 1 + (data.y[rows] > 0)
    for cls in MODELS.values():
        cls(10.0, kernel="linear").fit(X[::25], hidden(y[::25], 0))  # compile off the clock
    out = []
    for seed in seeds:
        partly = hidden(y, seed)
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
    MODELS[name](10.0, kernel="linear").fit(X[:2000], hidden(y[:2000], 0))
    partly = hidden(y, 0)
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
    args = options.parse_args()
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
