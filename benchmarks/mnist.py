"""What does CCCPTSVM gain on MNIST with ten classes, and how long does it take?

Data: labeled samples drawn from the training part, unlabeled samples which are the 10,000 test samples (and, beyond
them, the rest of the training part), as in Table 1.5 of Collobert et al. Models: SVM and CCCPTSVM with their numbers,
gamma .0128, C 10, s -0.1 and C* as given, one-vs-rest on one shared kernel matrix. Measured: error on the test samples,
seconds.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from data import UNLABELED, load
from semisvm import CCCPTSVM, SVM
from timing import show, write

PUBLISHED = {  # by unlabeled samples, with 1,000 labels
    0: "7.77",
    2000: "7.13 (C* 5)",
    10000: "5.65 (C* .5)",
    60000: "5.38 (C* .1)",
}


def draw(y: np.ndarray, train: np.ndarray, labeled: int, seed: int) -> np.ndarray:
    """Labeled samples, drawn at random from the training part."""
    return np.random.default_rng(seed).permutation(train)[:labeled]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--labeled", type=int, default=1000)
    options.add_argument("--unlabeled", type=int, default=10000)
    options.add_argument("--stars", type=float, nargs="+", default=[0.5, 1.0], help="values of C*")
    options.add_argument("--seeds", type=int, nargs="+", default=[0])
    options.add_argument("--scheme", choices=("ovr", "ovo"), default="ovr")
    options.add_argument("--jobs", type=int, default=2)
    args = options.parse_args()
    data = load("mnist")
    train, test = data.splits[0].labeled, data.splits[0].test
    common = {"kernel": "rbf", "gamma": 0.0128, "multiclass": args.scheme, "n_jobs": args.jobs}
    rows = []
    for seed in args.seeds:
        known = draw(data.y, train, args.labeled, seed)
        others = np.r_[test, np.setdiff1d(train, known)][: args.unlabeled]
        X, y = data.X[np.r_[known, others]], np.r_[data.y[known], np.full(len(others), UNLABELED)]
        models = {"SVM": SVM(10.0, **common)}
        models |= {f"CCCPTSVM C*={star:g}": CCCPTSVM(10.0, C_unlabeled=star, s=-0.1, **common) for star in args.stars}
        for name, model in models.items():
            start = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - start
            error = 100.0 * float(np.mean(model.predict(data.X[test]) != data.y[test]))
            unlabeled = 0 if name == "SVM" else len(others)
            published = PUBLISHED.get(unlabeled) if args.labeled == 1000 else None
            rows.append({"seed": seed, "model": name, "unlabeled": unlabeled, "error %": error, "seconds": seconds})
            rows[-1] |= {"steps": int(np.sum(model.n_iter_)), "published %": published}
            print(f"{name}: {error:.2f} % in {seconds:.0f} s", flush=True)
    print()
    show(rows)
    write(f"mnist_{args.labeled}_{args.unlabeled}_{args.scheme}", rows)


if __name__ == "__main__":
    main()
