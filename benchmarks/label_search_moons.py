"""What do 200 starts of S2RLSC find on two moons that one does not?

Gieseke et al., Figure 6; the number of labels and the noise are not published. Measured: test error in percent, mean
and deviation over draws, and how often the true labels have a lower objective than the best found.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

from data import UNLABELED, shown_at
from semisvm import LocalSearchRLSC
from semisvm.datasets import make_two_moons
from semisvm.solvers.least_squares.dense_form import DenseForm
from semisvm.spaces import Gram, Kernel
from timing import show, write


def measure(args: argparse.Namespace) -> None:
    """Test error and objective of one start and of many."""
    lam, rows = 2.0**-10, []
    for noise, labels in product(args.noises, args.labels):
        found = {n: [] for n in args.inits}
        for draw in range(args.draws):
            X, y = make_two_moons(500, noise, random_state=draw)
            far = max(np.linalg.norm(X - x, axis=1).max() for x in X)
            shown = shown_at(y[:250], labels, np.random.default_rng(draw))
            costs = {"C": 1 / (lam * labels), "C_unlabeled": 0.1 / (lam * (250 - labels))}
            for n in args.inits:
                model = LocalSearchRLSC(
                    **costs, gamma=1 / (2 * (0.1 * far) ** 2), n_init=n, balance=0.5, random_state=draw
                ).fit(X[:250], shown)
                error = 100.0 * float(np.mean(model.predict(X[250:]) != y[250:]))
                K = Gram(Kernel("rbf", model.gamma_), X[:250]).compute()
                costs_of_rows = np.where(shown == UNLABELED, costs["C_unlabeled"], costs["C"])
                truth = DenseForm(K, costs_of_rows, False).value(2.0 * y[:250] - 3.0)
                found[n].append((error, model.objective_, truth < model.objective_ * (1 - 1e-9)))
        for n, each in found.items():
            errors, values, missed = np.array(each).T
            row = {"noise": noise, "labels": labels, "starts": n, "error %": errors.mean(), "sd": errors.std()}
            row |= {
                "exactly 0": f"{np.sum(errors == 0)}/{len(errors)}",
                "at most 1 %": f"{np.sum(errors <= 1)}/{len(errors)}",
            }
            rows.append(row | {"objective": values.mean(), "true labels lower": f"{int(missed.sum())}/{len(errors)}"})
    show(rows)
    print("\npublished (Figure 6): one start fails, 200 find the moons")
    write("label_search_moons", rows, draws=args.draws)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--draws", type=int, default=10)
    options.add_argument("--noises", type=float, nargs="+", default=[0.05, 0.1])
    options.add_argument("--labels", type=int, nargs="+", default=[2])
    options.add_argument("--inits", type=int, nargs="+", default=[1, 200])
    measure(options.parse_args())


if __name__ == "__main__":
    main()
