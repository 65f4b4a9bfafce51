"""On which sets does Help-Training help, and what does growing the inverse save?

sets    HelpTraining and SelfTraining around LSSVM(C=10, gamma="median"), with their defaults and with others, on the
        sets of ``selection_sets.py`` for choosing, 10, 20 and 50 labels at random. Measured: error on the unlabeled
        samples, the share of draws that are worse than the supervised model by more than a point, and the log loss of
        the probabilities, from held-out labels, beside that of the final model's own, from labels of the rounds.
growth  HelpTraining(LSSVM()) on two Gaussians with 3,000 unlabeled samples, the inverse growing by a block a round,
        beside the same with an LSSVM fitted anew every round; the labels must be the same.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
from sklearn.base import clone
from sklearn.metrics import log_loss

from data import UNLABELED, partly, shown_at, two_gaussians
from selection_sets import CHOOSING, load_set
from semisvm import LSSVM, HelpTraining, SelfTraining
from timing import fitting, race, show, warm_up, write


class Anew(LSSVM):
    """An LSSVM that HelpTraining does not know to grow."""


def sets(args: argparse.Namespace) -> None:
    """Rows of (error, supervised error, log loss, log loss by the final model) by label count and method."""
    inner = LSSVM(C=10.0, gamma="median")
    methods = {
        "Help-Training": HelpTraining(inner),
        "Help-Training, own windows, density, eps .1, 1 %": HelpTraining(
            inner, bandwidth="leave_one_out", rank="density", eps=0.1
        ),
        "self-training": SelfTraining(inner),
        "self-training, threshold .5": SelfTraining(inner, 0.5),
    }
    found: dict[tuple[int, str], list[tuple[float, ...]]] = {}
    for name, count, draw in product(args.sets, (10, 20, 50), range(args.draws)):
        X, y = load_set(name)[1:]
        if count < 2 * len(np.unique(y)):
            continue
        shown = shown_at(y, count, np.random.default_rng(100 + draw))
        hidden = shown == UNLABELED
        one_each = round(hidden.sum() / (100 * len(np.unique(y))))
        methods["Help-Training, own windows, density, eps .1, 1 %"].set_params(n_candidates=max(1, one_each))
        for key, method in methods.items():
            found.setdefault((count, key), []).append(_measure(clone(method).fit(X, shown), X[hidden], y[hidden]))
    out = []
    for (count, key), measured in found.items():
        error, supervised, held_out, own = np.array(measured).T
        row = {"labels": count, "method": key, "supervised %": supervised.mean(), "error %": error.mean()}
        row |= {"harmed %": 100.0 * np.mean(error > supervised + 1.0), "log loss": held_out.mean()}
        out.append(row | {"log loss, own labels": own.mean()})
    show(out)
    write("self_training_sets", out, draws=args.draws)


def _measure(fitted, X, y: np.ndarray) -> tuple[float, ...]:
    """Percent error, that of the supervised model, and log losses of the method and of its final model."""
    errors = [100.0 * float(np.mean(model.predict(X) != y)) for model in (fitted, fitted.supervised_)]
    return *errors, *(log_loss(y, model.predict_proba(X)) for model in (fitted, fitted.estimator_))


def growth(args: argparse.Namespace) -> None:
    out = []
    for u in args.sizes:
        data = two_gaussians(u)
        X, shown = data.X, partly(data.y, data.splits[0])
        models = {"grown": HelpTraining(LSSVM(gamma=0.01)), "anew": HelpTraining(Anew(gamma=0.01))}
        warm_up(models["grown"], X[: 2 * args.warm], shown[: 2 * args.warm])
        times = race({key: fitting(model, X, shown) for key, model in models.items()}, args.repeats)
        grown, anew = times["grown"].result, times["anew"].result
        same = bool(
            (grown.labeled_iter_ == anew.labeled_iter_).all() and (grown.transduction_ == anew.transduction_).all()
        )
        row = {
            "unlabeled": u,
            "rounds": grown.n_iter_ - 1,
            "grown s": times["grown"].best,
            "anew s": times["anew"].best,
        }
        row |= {"anew / grown": times["anew"].best / times["grown"].best, "same labels and rounds": same}
        out.append(row)
        print(row, flush=True)
    print()
    show(out)
    write("self_training_growth", out)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = options.add_subparsers(required=True)
    one = tasks.add_parser("sets", help="defaults on other sets, and probabilities")
    one.set_defaults(task=sets)
    one.add_argument("--draws", type=int, default=4)
    one.add_argument("--sets", nargs="+", choices=CHOOSING, default=list(CHOOSING))
    one = tasks.add_parser("growth", help="what growing saves")
    one.set_defaults(task=growth)
    one.add_argument("--sizes", type=int, nargs="+", default=[1000, 3000])
    one.add_argument("--repeats", type=int, default=1)
    one.add_argument("--warm", type=int, default=300)
    args = options.parse_args()
    args.task(args)


if __name__ == "__main__":
    main()
