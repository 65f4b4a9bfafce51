"""What error does CCCPTSVM reach on the standard splits of the literature, beside the published figures?

Data: the official labeled / unlabeled splits; the unlabeled samples are the test samples. Models: CCCPTSVM and SVM with
an rbf kernel over a grid of gamma (multiples of 0.5 / median squared distance), C (multiples of 1 / total variance in
feature space; 10 is C="auto"), C* (multiples of C l/u) and s. More than two classes: one-vs-rest or one-vs-one.
Measured: the best cell of each split, averaged, which is the protocol of Collobert et al. (Table 1.3), and the best
single cell for all splits. Both choose on the test samples and flatter; the row "defaults" chooses nothing.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from data import load, partly, two_classes
from semisvm import CCCPTSVM, SVM
from semisvm.datasets import Dataset, Split
from semisvm.spaces import Gram, Kernel
from semisvm.spaces.bandwidth import resolve_gamma, total_variance
from timing import show, write

GAMMAS = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)
COSTS = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)
RAMPS = (0, -0.1, -0.2, -0.3, -0.5)
DEFAULTS = (1, 10, 1, -0.3)  # gamma="median", C="auto", C_unlabeled=None and s of CCCPTSVM
PUBLISHED = {
    "g50c": {"SVM": 8.32, "s = 0, C* = C l/u": 5.62, "C* = C l/u": 5.04, "all tuned": 3.92},
    "text": {"SVM": 18.86, "s = 0, C* = C l/u": 7.97, "C* = C l/u": 5.59, "all tuned": 4.92},
    "uspst": {"SVM": 23.18, "s = 0, C* = C l/u": 16.57, "C* = C l/u": 16.47, "all tuned": 16.45},
}


def error(model: SVM | CCCPTSVM, K: np.ndarray, across: np.ndarray, y: np.ndarray, split: Split) -> float:
    """Percent error on the test samples, whose kernel values with all samples are ``across``."""
    shown = y if len(np.unique(y)) > 2 else two_classes(y == y.max())
    guess = clone(model).fit(K, partly(shown, split)).predict(across)
    return 100.0 * float(np.mean(guess != shown[split.test]))


def cells(
    K: np.ndarray, y: np.ndarray, split: Split, spread: float, costs: list, stars: list, ramps: list, scheme: str
) -> tuple[list, list]:
    """Errors of the SVM by C, and of CCCPTSVM by C, C* and s."""
    error_of = partial(error, K=K, across=K[split.test], y=y, split=split)
    plain, semi = [], []
    common = {"kernel": "precomputed", "multiclass": scheme}
    for C in np.array(costs) / spread:
        plain.append(error_of(SVM(C, **common)))
        star = C * len(split.labeled) / len(split.unlabeled)
        semi.append([[error_of(CCCPTSVM(C, C_unlabeled=k * star, s=s, **common)) for s in ramps] for k in stars])
    return plain, semi


def grid(data: Dataset, args: argparse.Namespace) -> tuple[np.ndarray, np.ndarray]:
    """Errors by split, gamma, C, for CCCPTSVM also by C* and s; one kernel matrix per gamma serves all others."""
    every = np.ones(len(data.y))
    unit = resolve_gamma(Kernel("rbf"), "median", data.X, every)
    plain, semi = [], []
    for factor in args.gammas:
        start = time.perf_counter()
        K = Gram(Kernel("rbf", factor * unit), data.X).compute()
        spread = total_variance(Kernel("precomputed"), K, every)
        # mmap_mode "c": numba compiles apart for the read-only arrays of the default
        done = Parallel(args.jobs, mmap_mode="c")(
            delayed(cells)(K, data.y, split, spread, args.costs, args.stars, args.ramps, args.scheme)
            for split in data.splits[: args.splits]
        )
        plain.append([one[0] for one in done])
        semi.append([one[1] for one in done])
        print(f"gamma = {factor:g} x {unit:.4g}: {time.perf_counter() - start:.0f} s", flush=True)
    return np.array(plain).swapaxes(0, 1), np.array(semi).swapaxes(0, 1)


def summary(method: str, errors: np.ndarray, published: float | None, names: str, axes: list) -> dict:
    """Both ways of choosing; ``errors`` has splits first, then one axis for each of ``names``."""
    best = errors.reshape(len(errors), -1).min(axis=1)
    means = errors.mean(axis=0)
    place = np.unravel_index(means.argmin(), means.shape)
    return {
        "method": method,
        "best per split %": float(best.mean()),
        "one cell %": float(means[place]),
        "sd over splits": float(errors[:, *place].std()),
        "published %": published,
        "the one cell": " ".join(f"{n}={axis[i]:g}" for n, axis, i in zip(names.split(), axes, place)),
    }


def summaries(plain: np.ndarray, semi: np.ndarray, axes: list, figures: dict[str, float]) -> list[dict]:
    """The SVM, then every scenario whose cells are in the grid."""
    rows = [summary("SVM", plain, figures["SVM"], "gamma C", axes)]
    gammas, costs, stars, ramps = axes
    scenarios = {
        "s = 0, C* = C l/u": [gammas, costs, [1], [0]],
        "C* = C l/u": [gammas, costs, [1], ramps],
        "all tuned": axes,
        "defaults": [[value] for value in DEFAULTS],
    }
    if len(stars) == 1:
        del scenarios["all tuned"]
    for name, wanted in scenarios.items():
        if all(set(values) <= set(axis) for axis, values in zip(axes, wanted)):
            places = [[list(axis).index(value) for value in values] for axis, values in zip(axes, wanted)]
            part = semi[np.ix_(range(len(semi)), *places)]
            rows.append(summary(name, part, figures.get(name), "gamma C C* s", wanted))
    return rows


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--set", choices=PUBLISHED, required=True)
    options.add_argument("--splits", type=int, default=10, help="how many of the splits")
    options.add_argument("--gammas", type=float, nargs="+", default=GAMMAS)
    options.add_argument("--costs", type=float, nargs="+", default=COSTS)
    options.add_argument("--stars", type=float, nargs="+", default=(1.0,), help="multiples of C l/u for C*")
    options.add_argument("--ramps", type=float, nargs="+", default=RAMPS, help="values of s")
    options.add_argument("--scheme", choices=("ovr", "ovo"), default="ovr", help="for more than two classes")
    options.add_argument("--jobs", type=int, default=1, help="processes, over splits")
    args = options.parse_args()
    data, figures = load(args.set), PUBLISHED[args.set]
    plain, semi = grid(data, args)
    axes = [args.gammas, args.costs, args.stars, args.ramps]
    rows = summaries(plain, semi, axes, figures)
    print()
    show(rows)
    print(f"\nError on the unlabeled samples, {len(semi)} splits. Choosing a cell on these same samples flatters.")
    write(f"splits_{args.set}_{args.scheme}", rows, axes=axes, svm_errors=plain, cccp_errors=semi)


if __name__ == "__main__":
    main()
