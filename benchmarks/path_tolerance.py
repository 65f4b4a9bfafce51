"""How close do GradientTSVM and ContinuationTSVM follow their paths, and what does a looser tolerance cost?

Data: g50c (five official splits), three pairs of digits of Uspst with 10 labels and four of Raetsch's sets (at most 500
rows, standardized) with 20 labels, three draws each. Measured per kernel and tolerance: CPU seconds of one thread, the
objective relative to that of tol 1e-6 (mean, and share of the draws within 0.1 %), the error on unlabeled samples, and
in how many draws the end is that of the exact path. That is followed by plain gradient descent with steps of
1/(1 + largest |curvature|), far too slow for use: each level ends in the minimum that the last one flows to. Paths on
which a level takes more than 20,000 steps, as most of Continuation, are left out there.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from data import UNLABELED, load, partly, shown_at, two_classes
from semisvm import ContinuationTSVM, GradientTSVM
from semisvm._threads import limit_threads
from semisvm.estimators.base import settings_of
from semisvm.estimators.problems import prepare
from semisvm.problem import Problem, objective
from semisvm.solvers.primal.operator import PrimalOperator
from semisvm.solvers.primal.smooth_path import SmoothPath
from timing import show, write

PAIRS = ((3, 5), (1, 7), (4, 9))
TABLES = ("raetsch_banana", "raetsch_waveform", "raetsch_image", "raetsch_heart")
DRAWS, MAX_ROWS, MAX_STEPS = 3, 500, 20_000


class Case(NamedTuple):
    """Samples, labels as shown, and all labels."""

    X: np.ndarray
    shown: np.ndarray
    y: np.ndarray


def cases() -> Iterator[Case]:
    g50c, uspst = load("g50c"), load("uspst")
    y = two_classes(g50c.y > 0)
    for split in g50c.splits[:5]:
        yield Case(g50c.X.astype(float), partly(y, split), y)
    for pair in PAIRS:
        rows = np.flatnonzero(np.isin(uspst.y, pair))
        y = two_classes(uspst.y[rows] == pair[1])
        for seed in range(DRAWS):
            yield Case(uspst.X[rows].astype(float), shown_at(y, 10, np.random.default_rng(seed)), y)
    for name in TABLES:
        data = load(name)
        rows = np.random.default_rng(0).permutation(len(data.y))[:MAX_ROWS]
        X, y = data.X[rows].astype(float), two_classes(data.y[rows] > 0)
        for seed in range(DRAWS):
            yield Case((X - X.mean(axis=0)) / X.std(axis=0), shown_at(y, 20, np.random.default_rng(seed)), y)


def estimator(cls: type, kernel: str, tol: float) -> GradientTSVM | ContinuationTSVM:
    return cls(kernel=kernel, tol=tol, balance="labeled")


def exact_end(model: GradientTSVM | ContinuationTSVM, case: Case) -> float:
    """The objective where the path ends, followed by gradient descent; nan where that takes too long."""
    settings, weights = settings_of(model), np.ones(len(case.y))
    codes = np.where(case.shown == UNLABELED, -1, case.shown - 1)
    problems = prepare(settings, np.unique(case.y), case.X, codes, weights)
    problem = problems.state(problems.tasks(codes, weights)[0], weights)
    solver = settings.formulation.solver
    assert isinstance(solver, SmoothPath)
    return _descend(problem, solver)


def _descend(problem: Problem, solver: SmoothPath) -> float:
    operator = PrimalOperator(problem)
    A, theta = problem.space.X - operator.mean, np.zeros(operator.size)
    direction = np.random.default_rng(0).standard_normal(operator.size)
    for _, losses in solver.levels(problem):
        for step in range(MAX_STEPS):
            f = A @ theta + operator.offset
            gradient = theta + A.T @ losses.gradient(f)
            if np.linalg.norm(gradient) < 1e-6 * (1.0 + np.linalg.norm(theta)):
                break
            if step % 50 == 0:
                curvature = np.abs(losses.curvature(f))
                for _ in range(15):
                    direction /= np.linalg.norm(direction)
                    direction = direction + A.T @ (curvature * (A @ direction))
            theta = theta - gradient / (1.3 * np.linalg.norm(direction))
        else:
            return np.nan
    return objective(problem, *operator.split(theta))


def compare(cls: type, kernel: str, tols: list[float], draws: list[Case], with_path: bool) -> list[dict]:
    found: dict[float, list[float]] = {}
    rows = []
    for tol in tols:
        errors = []
        estimator(cls, kernel, tol).fit(draws[0].X, draws[0].shown)  # compile off the clock
        start, found[tol] = time.process_time(), []
        for case in draws:
            model = estimator(cls, kernel, tol).fit(case.X, case.shown)
            free = case.shown == UNLABELED
            errors.append(100.0 * float(np.mean(model.transduction_[free] != case.y[free])))
            found[tol].append(model.objective_)
        row = {"model": cls.__name__, "kernel": kernel, "tol": tol, "CPU s": time.process_time() - start}
        rows.append(row | {"error %": float(np.mean(errors))})
    for row in rows:
        change = np.array(found[row["tol"]]) / np.array(found[min(tols)]) - 1.0
        row |= {"above the tightest %": 100.0 * float(change.mean()), "within .1 %": float((change < 1e-3).mean())}
    if not with_path:
        return rows
    exact = np.array([exact_end(estimator(cls, kernel, min(tols)), case) for case in draws])
    for row in rows:
        distance = (np.array(found[row["tol"]]) / exact - 1.0)[np.isfinite(exact)]
        row |= {"paths": len(distance), "above the path %": 100.0 * float(distance.mean())}
        row["on the path"] = float((abs(distance) < 1e-3).mean())
    return rows


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tols", type=float, nargs="+", default=[1e-2, 1e-3, 1e-4, 1e-6])
    options.add_argument("--kernels", nargs="+", default=["rbf", "linear"])
    options.add_argument("--path", action="store_true", help="follow the exact path as well; a quarter of an hour")
    args = options.parse_args()
    rows, draws = [], list(cases())
    with limit_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cls in (GradientTSVM, ContinuationTSVM):
            for kernel in args.kernels:
                rows += compare(cls, kernel, args.tols, draws, args.path)
    show(rows)
    write("path_tolerance", rows)


if __name__ == "__main__":
    main()
