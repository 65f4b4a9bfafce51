"""How far is each kind of fit from its peer, at equal objective, and from what the computer can do at best?

A row is a piece of work: ours and the peer take turns, then the limit is timed in the same run. The limit is the work
that no method of its kind avoids: one kernel matrix, X X' and its exponentials (``kernel``); one X w and one X'v
(``pass``); one Cholesky factorization (``potrf``). Seconds are the best of the repeats, CPU seconds those of all
threads. What takes milliseconds is called many times in a row, as in ``timeit``; with ``--single`` once, after other
work, when both sides wait for memory more than they compute. Objectives are recomputed by ``semisvm.problem`` from the
coefficients of both, and are what the estimator says, which is the same, where there is no peer of that objective. Rows
of searches have as the peer the same method with less to do, or its fastest relative.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, LinearSVC

import semisvm
from data import UNLABELED, hidden_at, load, noisy_sphere, partly, shown_at, two_classes, two_gaussians
from semisvm import (
    CCCPTSVM,
    DCLSSVM,
    LSSVM,
    SVM,
    ContinuationTSVM,
    GradientTSVM,
    HelpTraining,
    LocalSearchRLSC,
    MultiSwitchTSVM,
    SelfTraining,
    SwitchingLSSVM,
    SwitchingTSVM,
)
from semisvm.losses import LABELED
from semisvm.problem import Problem, objective
from semisvm.spaces import Features, Gram, Kernel
from timing import fitting, race, show, write

Call = Callable[[], Any]
GAMMA = 1 / 50


class Work(NamedTuple):
    """A row: what is done, by whom, what it minimizes, and its limit."""

    name: str
    peer_name: str
    peer: Call
    ours: Call
    limit_name: str
    limit: Call
    objective: Callable[[Any], float] | None = None
    repeats: int = 3
    calls: int = 1  # in a row, of which a turn is the mean


def kernel_matrix(X: Any) -> Call:
    """X X' and the exponentials of as many numbers, in the precision of our kernel matrices."""
    X = np.asarray(X, dtype=np.float64 if X.shape[0] <= 4096 else np.float32)
    X = X / np.abs(X).max() / X.shape[1]  # nothing to overflow

    def compute() -> None:
        K = X @ X.T
        np.exp(K, out=K)

    return compute


def one_pass(X: Any) -> Call:
    """X w and X'v."""
    w, v = np.ones(X.shape[1]), np.ones(X.shape[0])
    return lambda: (X @ w, X.T @ v)


def potrf(n: int) -> Call:
    """The Cholesky factor of an n by n matrix."""
    A = np.eye(n) + 1.0 / n
    return lambda: linalg.cholesky(A, lower=True, check_finite=False)


def hinge_objective(kernel: Kernel, X: Any, y: np.ndarray, C: float, loss: str, intercept: bool | str) -> Callable:
    """The objective of a fitted SVM, ours or scikit-learn's, linear or not."""
    space = Features(X) if kernel.name == "linear" else Gram(kernel, X)
    problem = Problem(space, 2.0 * y - 3.0, np.full(len(y), C), LABELED[loss](), intercept=intercept)

    def value(model: Any) -> float:
        if kernel.name == "linear":
            coef = np.ravel(model.coef_)
        else:
            coef = np.zeros(len(y))
            coef[model.support_] = np.ravel(model.dual_coef_)
        return objective(problem, coef, float(np.ravel(model.intercept_)[0]))

    return value


def reported(model: Any) -> float:
    """What an estimator says that its objective is, summed over binary problems."""
    return float(np.sum(model.objective_))


# ---------------------------------------------------------------- rows


def small() -> list[Work]:
    """Fits and a prediction of few samples."""
    rows = []
    for n in (50, 100, 200, 500):
        data = noisy_sphere(n)
        value = hinge_objective(Kernel("rbf", GAMMA), data.X, data.y, 1.0, "hinge", True)
        peer, ours = fitting(SVC(gamma=GAMMA), data.X, data.y), fitting(SVM(1.0, gamma=GAMMA), data.X, data.y)
        rows.append(Work(f"SVM rbf, n = {n}", "SVC", peer, ours, "kernel", kernel_matrix(data.X), value, 15, 20))
    fitted, X = (peer(), ours()), data.X
    one, many = [lambda model=model: model.predict(X[:1]) for model in fitted], kernel_matrix(X[:1])
    rows.append(Work("predict one row, n = 500", "SVC", *one, "kernel", many, None, 15, 200))
    return rows


def supervised() -> list[Work]:
    """The SVM with kernels, linear, and of many classes; least squares; prediction."""
    rows = []
    for n in (2000, 10_000):
        data = noisy_sphere(n)
        value = hinge_objective(Kernel("rbf", GAMMA), data.X, data.y, 1.0, "hinge", True)
        peer = fitting(SVC(gamma=GAMMA, cache_size=2000), data.X, data.y)
        ours = fitting(SVM(1.0, gamma=GAMMA), data.X, data.y)
        rows.append(Work(f"SVM rbf, n = {n:,}", "SVC", peer, ours, "kernel", kernel_matrix(data.X), value))
    usps = load("usps")
    X, y = usps.X[usps.splits[0].labeled], usps.y[usps.splits[0].labeled]
    for multiclass in ("ovo", "ovr"):
        peer = fitting(SVC(C=10, gamma=0.01, cache_size=2000), X, y)
        ours = fitting(SVM(10.0, gamma=0.01, multiclass=multiclass), X, y)
        rows.append(Work(f"USPS, ten classes, {multiclass}", "SVC (ovo)", peer, ours, "kernel", kernel_matrix(X)))
    new = noisy_sphere(20_000).X[10_000:]
    models = [model(data.X, data.y) for model in (SVC(gamma=GAMMA, cache_size=2000).fit, SVM(1.0, gamma=GAMMA).fit)]
    one, block = [lambda model=model: model.predict(new) for model in models], kernel_matrix(new)
    rows.append(Work("predict 10,000 rows, SVM of 10,000", "SVC", *one, "kernel", block))
    data = noisy_sphere(5000)
    peer = fitting(KernelRidge(alpha=1.0, kernel="rbf", gamma=GAMMA), data.X, data.y)
    ours = fitting(LSSVM(1.0, gamma=GAMMA), data.X, data.y)
    return [*rows, Work("LS-SVM rbf, n = 5,000", "KernelRidge", peer, ours, "potrf", potrf(5000))]


def linear() -> list[Work]:
    """Linear SVMs, dense and sparse, with the intercept regularized as in LIBLINEAR."""
    data, adult, text, news, imdb = noisy_sphere(5000), load("adult"), load("text"), load("news20"), load("imdb")
    pair, kept = np.flatnonzero((news.y == 7) | (news.y == 8)), np.flatnonzero(imdb.y != 0)[::12]
    sets = {
        "5,000 x 50 dense": (data.X, data.y),
        "adult, 32,561 sparse": (adult.X[:32_561].astype(np.float64), two_classes(adult.y[:32_561] > 0)),
        "text, sparse": (text.X.astype(np.float64), two_classes(text.y > 0)),
        "imdb, every twelfth, sparse": (imdb.X[kept].astype(np.float64), two_classes(imdb.y[kept] > 0)),
        "news 7 8, sparse": (news.X[pair].astype(np.float64), two_classes(news.y[pair] == 8)),
    }
    rows = []
    for name, (X, y) in sets.items():
        for loss in ("hinge", "squared_hinge"):
            for intercept in ("regularized", True):
                value = hinge_objective(Kernel("linear"), X, y, 1.0, loss, intercept)
                peer = fitting(LinearSVC(C=1.0, loss=loss, max_iter=10_000), X, y)
                ours = fitting(SVM(1.0, kernel="linear", loss=loss, fit_intercept=intercept), X, y)
                kind = "regularized" if intercept == "regularized" else "free"
                name_of_row = f"linear SVM, {name}, {loss}, {kind} intercept"
                rows.append(Work(name_of_row, "LinearSVC", peer, ours, "pass", one_pass(X), value, 3))
    return rows


def transductive() -> list[Work]:
    """CCCP beside a supervised fit of all labels; switching and the smooth methods beside CCCP."""
    rows = []
    for u in (500, 2000, 5000, 20_000):
        data = two_gaussians(u)
        shown = partly(data.y, data.splits[0])
        peer = fitting(SVC(gamma=0.02, cache_size=2000), data.X, data.y)
        ours = fitting(CCCPTSVM(1.0, gamma=0.02), data.X, shown)
        rows.append(Work(f"CCCPTSVM rbf, u = {u:,}", "SVC, all labels", peer, ours, "kernel", kernel_matrix(data.X)))
    for u in (500, 2000):
        data = two_gaussians(u)
        shown = partly(data.y, data.splits[0])
        peer = fitting(CCCPTSVM(), data.X, shown)
        for cls in (GradientTSVM, ContinuationTSVM, semisvm.AnnealingTSVM, MultiSwitchTSVM, SwitchingTSVM):
            ours = fitting(cls(), data.X, shown)
            rows.append(Work(f"{cls.__name__} rbf, u = {u:,}", "CCCPTSVM", peer, ours, "potrf", potrf(50 + u)))
    return rows


def sparse_text() -> list[Work]:
    """SVMlin's methods on IMDB, in fits of LinearSVC; against SVMlin itself see ``svmlin.py``."""
    data = load("imdb")
    kept = np.flatnonzero(data.y != 0)
    X, y = data.X[kept].astype(np.float64), two_classes(data.y[kept] > 0)
    shown = hidden_at(y, 100, 0)
    rows = []
    for cls in (MultiSwitchTSVM, semisvm.AnnealingTSVM):
        ours = fitting(cls(10.0, kernel="linear"), X, shown)
        peer = fitting(LinearSVC(C=1), X, y)
        rows.append(Work(f"{cls.__name__}, IMDB 50,000", "LinearSVC, all labels", peer, ours, "pass", one_pass(X)))
    return [row._replace(repeats=1) for row in rows]


def searches() -> list[Work]:
    """What restarts and classes add to one search, and slower methods beside their relatives."""
    rng = np.random.default_rng(0)
    y = two_classes(rng.random(2000) < 0.5)
    X = rng.standard_normal((2000, 20)) + 0.3 * (2.0 * y[:, None] - 3.0)
    shown, limit = shown_at(y, 50, rng), potrf(2000)
    one, many = (fitting(LocalSearchRLSC(n_init=k, random_state=0), X, shown) for k in (1, 200))
    rows = [Work("LocalSearchRLSC, 200 starts, n = 2,000", "one start", one, many, "potrf", limit)]
    uspst = load("uspst")
    ten = partly(uspst.y, uspst.splits[0])
    two = np.where(ten == UNLABELED, UNLABELED, two_classes(ten % 2 == 0))
    for cls in (DCLSSVM, SwitchingLSSVM):
        peer, ours = (fitting(cls(), uspst.X, labels) for labels in (two, ten))
        name = f"{cls.__name__}, ten classes of Uspst"
        rows.append(Work(name, "two classes", peer, ours, "potrf", potrf(len(ten))))
    relatives = {
        semisvm.BayesianLSSVM(): SwitchingLSSVM(),
        semisvm.ProgressiveLSSVM(): SwitchingLSSVM(),
        HelpTraining(LSSVM()): SelfTraining(LSSVM()),
        semisvm.ConcaveLPTSVM(): SwitchingTSVM(kernel="linear"),
        semisvm.GeneticTSVM(random_state=0): SwitchingTSVM(),
    }
    for u in (450, 1450):
        data = two_gaussians(u)
        shown = partly(data.y, data.splits[0])
        for model, relative in relatives.items():
            peer, ours = (fitting(one, data.X, shown) for one in (relative, model))
            name = f"{type(model).__name__}, n = {u + 50:,}"
            rows.append(Work(name, type(relative).__name__, peer, ours, "potrf", potrf(u + 50), None, 1))
    return rows


GROUPS: dict[str, Callable[[], list[Work]]] = {
    group.__name__: group for group in (small, supervised, linear, transductive, sparse_text, searches)
}


# ---------------------------------------------------------------- measurement


def measure(work: Work, single: bool) -> dict[str, Any]:
    """A row of the table; everything is called once before the clock starts."""
    work.peer(), work.ours(), work.limit()
    calls = {"peer": work.peer, "ours": work.ours, "limit": work.limit}
    timed = race(calls, 2 * work.repeats) if single else race(calls, work.repeats, work.calls)
    peer, ours, limit = timed["peer"], timed["ours"], timed["limit"]
    row = {"work": work.name, "peer": work.peer_name, "peer s": peer.best, "peer CPU s": peer.best_cpu}
    row |= {"ours s": ours.best, "ours CPU s": ours.best_cpu, "ours/peer": ours.best / peer.best}
    row |= {"CPU ours/peer": ours.best_cpu / max(peer.best_cpu, 1e-9), "above peer %": None, "objective": None}
    if work.objective is not None:
        values = [work.objective(one.result) for one in (ours, peer)]
        row |= {"above peer %": 100.0 * (values[0] / values[1] - 1.0), "objective": values[0]}
    elif hasattr(ours.result, "objective_"):
        row["objective"] = reported(ours.result)
    return row | {"limit": work.limit_name, "limit s": limit.best, "ours/limit": ours.best / limit.best}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    options.add_argument("--only", default="", help="a part of the name of the rows to measure")
    options.add_argument("--single", action="store_true", help="every call by itself, after other work")
    args = options.parse_args()
    rows = []
    for group in args.groups:
        for work in GROUPS[group]():
            if args.only in work.name:
                rows.append(measure(work, args.single))
                print(f"{work.name}: {rows[-1]['ours/peer']:.2f}", flush=True)
    print()
    show(rows)
    write("limits", rows)


if __name__ == "__main__":
    main()
