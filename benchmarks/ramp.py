"""How much sparser and faster than the SVM is the ramp-loss SVM, at the same test error?

Data: USPS, 0 against the rest with 10 % of the training labels flipped (the test labels are clean), or Adult, each with
its standard training and test samples. Models: SVM, RampSVM started from the SVM and from a subset, on the same cell of
gamma and C. Measured: test error, support vectors and seconds, the latter two also as ratios to the SVM of the same
cell; at the end, as in Figure 1.5 of Collobert et al., the sparsest and the fastest ramp cell among those that err no
more than the best SVM cell. That choice looks at the test samples and flatters.
"""

from __future__ import annotations

import argparse

import numpy as np

from data import load, two_classes
from semisvm import SVM, RampSVM
from semisvm.datasets import flip_labels
from timing import fitting, race, ratio, show, warm_up, write

DEFAULTS = {"usps": {"gamma": [1 / 128], "C": [1.0, 10.0]}, "adult": {"gamma": [0.05], "C": [1.0]}}
PUBLISHED = {
    "usps": "published: SVM 0.5 %, 3317 SVs; ramp 0.5 %, 601 SVs (ratio 0.18); subset start over 2 times faster",
    "adult": "published: SVM 15.1 %, 11347 SVs; ramp 15.0 %, 4588 SVs (ratio 0.40); subset start over 4 times faster",
}


def models(gamma: float, C: float, ramps: list[float], seed: int) -> dict[str, SVM | RampSVM]:
    named = {"SVM": SVM(C, gamma=gamma)}
    for init in ("svm", "subset"):
        for s in ramps:
            named[f"ramp s={s:g} {init}"] = RampSVM(C, s=s, init=init, gamma=gamma, random_state=seed)
    return named


def tables(args: argparse.Namespace, seed: int) -> tuple:
    """Training samples and labels, test samples and labels."""
    data = load(args.set)
    split = data.splits[0]
    y = two_classes(data.y == 0) if args.set == "usps" else two_classes(data.y > 0)
    train = split.labeled
    if args.rows is not None:
        train = np.random.default_rng(seed).permutation(train)[: args.rows]
    return data.X[train], flip_labels(y[train], args.noise, seed), data.X[split.test], y[split.test]


def compare(named: dict[str, SVM | RampSVM], X, y, X_test, y_test, repeats: int) -> list[dict]:
    """One row per model of a cell."""
    timed = race({name: fitting(model, X, y) for name, model in named.items()}, repeats)
    plain = timed["SVM"]
    return [
        {
            "gamma": named[name].gamma,
            "C": named[name].C,
            "model": name,
            "error %": 100.0 * float(np.mean(one.result.predict(X_test) != y_test)),
            "SVs": len(one.result.support_),
            "SV ratio": len(one.result.support_) / len(plain.result.support_),
            "seconds": one.best,
            "ratio": ratio(one, plain),
            "convex steps": None if name == "SVM" else one.result.n_iter_,
            "converged": one.result.converged_,
        }
        for name, one in timed.items()
    ]


def averaged(same: tuple[dict, ...]) -> dict:
    """The mean row of the same model on several draws."""
    mean = {name: float(np.mean([row[name] for row in same])) for name in ("error %", "SVs", "SV ratio", "ratio")}
    return same[0] | mean | {"seconds": float(np.mean([row["seconds"] for row in same]))}


def chosen(rows: list[dict]) -> list[dict]:
    """The SVM cell of least error, and the sparsest and the fastest ramp cell that err no more."""
    plain = min((row for row in rows if row["model"] == "SVM"), key=lambda row: row["error %"])
    ramps = [row for row in rows if row["model"] != "SVM" and row["error %"] <= plain["error %"]]
    best = [min(ramps, key=lambda row, key=key: row[key]) for key in ("SVs", "seconds")] if ramps else []
    relative = {"SV ratio": "SVs", "ratio": "seconds"}
    return [row | {name: row[of] / plain[of] for name, of in relative.items()} for row in [plain, *best]]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--set", choices=DEFAULTS, required=True)
    options.add_argument("--gamma", type=float, nargs="+", help="default: 1/128 for usps, 0.05 for adult")
    options.add_argument("--C", type=float, nargs="+", help="default: 1 and 10 for usps, 1 for adult")
    options.add_argument("--s", type=float, nargs="+", default=[0.0, -0.5, -1.0])
    options.add_argument("--noise", type=float, help="share of training labels flipped; default 0.1 for usps, else 0")
    options.add_argument("--rows", type=int, help="train on so many samples only")
    options.add_argument("--repeats", type=int, default=1)
    options.add_argument("--seeds", type=int, nargs="+", default=[0], help="of the noise and of the subset; averaged")
    args = options.parse_args()
    args.noise = args.noise if args.noise is not None else 0.1 if args.set == "usps" else 0.0
    parts = [tables(args, seed) for seed in args.seeds]
    rows: list[dict] = []
    for gamma in args.gamma or DEFAULTS[args.set]["gamma"]:
        for C in args.C or DEFAULTS[args.set]["C"]:
            for model in models(gamma, C, args.s, 0).values() if not rows else ():
                warm_up(model, *parts[0][:2])
            draws = [
                compare(models(gamma, C, args.s, seed), *part, args.repeats) for seed, part in zip(args.seeds, parts)
            ]
            rows += [averaged(same) for same in zip(*draws)]
            print(f"gamma = {gamma:g}, C = {C:g} done", flush=True)
    print()
    show(rows)
    print(
        "\nBest SVM cell, then the sparsest and the fastest ramp cell of no larger error (chosen on the test samples):"
    )
    show(chosen(rows))
    print(PUBLISHED[args.set])
    write(f"ramp_{args.set}", rows, chosen=chosen(rows), published=PUBLISHED[args.set])


if __name__ == "__main__":
    main()
