"""What do restarts, more classes and more samples cost the search over labels, beside the system it searches in?

Data: Gaussians in 50 dimensions, 50 labels (two classes) or 100. Models: LabelSearch on a system that is formed
already, LocalSearchRLSC. Measured: seconds. Three questions: 200 restarts against forming S once; ten classes against
two on the same samples; and with --nystroem, how seconds and memory grow with the rows at 1,000 landmarks.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from dataclasses import replace

import numpy as np

from data import many_gaussians, partly, two_classes, two_gaussians
from semisvm import LocalSearchRLSC
from semisvm.balance import Count
from semisvm.losses import Squared, SymmetricSquared
from semisvm.problem import Problem
from semisvm.solvers import LabelSearch
from semisvm.solvers.least_squares.system import build_system
from semisvm.spaces import Gram, Kernel
from semisvm.spaces.bandwidth import resolve_gamma, total_variance
from timing import fitting, growth, peak_memory, race, show, warm_up, write


def problem_of(n: int) -> Problem:
    """Two Gaussians as LocalSearchRLSC states them by default, in a new space."""
    data = two_gaussians(n - 50)
    labeled, unlabeled = data.splits[0].labeled, data.splits[0].unlabeled
    every = np.ones(n)
    kernel = Kernel("rbf", resolve_gamma(Kernel("rbf"), "median", data.X, every))
    cost = np.full(n, 1.0 / total_variance(kernel, data.X, every))
    cost[unlabeled] *= len(labeled) / len(unlabeled)
    signs = np.zeros(n)
    signs[labeled] = 2.0 * data.y[labeled] - 3.0
    balance = Count(float(np.mean(signs[labeled] > 0)), 0.1)
    return Problem(Gram(kernel, data.X), signs, cost, Squared(), SymmetricSquared(), balance, False)


def restarts(n: int, inits: list[int], repeats: int) -> list[dict]:
    """Seconds of S, kernel matrix included, and of searches on it."""
    problem = problem_of(n)
    build_system(problem).form.compute_S()

    def form() -> None:
        space = Gram(problem.space.kernel, two.X)
        build_system(replace(problem, space=space)).form.compute_S()

    two = two_gaussians(n - 50)
    calls = {"S": form}
    for init in inits:
        search = LabelSearch("round_robin", init)
        search.solve(problem, rng=0)  # compiled, and the labeled model made
        calls[str(init)] = lambda search=search: search.solve(problem, rng=0)
    timed = race(calls, repeats)
    whole = timed["S"].median
    rows = [{"what": f"kernel matrix and S, n = {n}", "median": whole, "best": timed["S"].best, "ratio": 1.0}]
    for init in inits:
        one = timed[str(init)]
        named = {"what": f"search, {init} starts", "median": one.median, "best": one.best, "ratio": one.median / whole}
        rows.append(named | {"objective": one.result.objective, "rounds": one.result.n_iter})
    rows[0] |= {"objective": None, "rounds": None}
    return rows


def classes(n: int, repeats: int) -> list[dict]:
    """Ten classes against two on the same samples."""
    data = many_gaussians(n)
    labels = {"10": data.y, "2": two_classes(data.y <= 5)}
    model = LocalSearchRLSC(n_init=1, random_state=0)
    calls = {}
    for name, y in labels.items():
        shown = partly(y, data.splits[0])
        warm_up(model, data.X, shown)
        calls[name] = fitting(model, data.X, shown)
    timed = race(calls, repeats)
    return [
        {
            "classes": name,
            "rows": n,
            "median": one.median,
            "best": one.best,
            "ratio": one.median / timed["2"].median,
            "error %": _error(one.result, labels[name], data.splits[0].test),
        }
        for name, one in timed.items()
    ]


def _error(model: LocalSearchRLSC, y: np.ndarray, rows: np.ndarray) -> float:
    return 100.0 * float(np.mean(model.transduction_[rows] != y[rows]))


def fit_mapped(n: int, number: int, components: int, results) -> None:
    """One fit with Nystroem's features, in a process of its own; tells seconds and error."""
    data = many_gaussians(n, number)
    shown = partly(data.y, data.splits[0])
    model = LocalSearchRLSC(n_init=1, approximation="nystroem", n_components=components, random_state=0)
    subset = np.concatenate([data.splits[0].labeled, data.splits[0].unlabeled[:1000]])
    fitting(model, data.X[subset], shown[subset])()
    start = time.perf_counter()
    fitted = model.fit(data.X, shown)
    results.put((time.perf_counter() - start, _error(fitted, data.y, data.splits[0].test)))


def mapped(sizes: list[int], components: int) -> list[dict]:
    """Two classes at all sizes, ten at the largest."""
    rows = []
    for n, number in [(n, 2) for n in sizes] + [(max(sizes), 10)]:
        results = multiprocessing.get_context("spawn").SimpleQueue()
        memory = peak_memory(fit_mapped, n, number, components, results)
        seconds, error = results.get()
        rows.append({"rows": n, "classes": number, "seconds": seconds, "MiB": memory, "error %": error})
        print(f"{n} rows, {number} classes: {seconds:.1f} s", flush=True)
    return rows


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=2000, help="of the first two questions")
    options.add_argument("--inits", type=int, nargs="+", default=[1, 10, 200])
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--nystroem", action="store_true", help="the third question instead")
    options.add_argument("--sizes", type=int, nargs="+", default=[25_000, 50_000, 100_000])
    options.add_argument("--components", type=int, default=1000)
    args = options.parse_args()
    if args.nystroem:
        rows = mapped(args.sizes, args.components)
        p = growth(args.sizes, [row["seconds"] for row in rows[:-1]])
        print()
        show(rows)
        print(f"\ngrowth exponent: {p if p is None else round(p, 2)}; ten classes / two: ", end="")
        print(f"{rows[-1]['seconds'] / rows[-2]['seconds']:.2f}")
        write("label_search_nystroem", rows, growth=p)
        return
    first, second = restarts(args.rows, args.inits, args.repeats), classes(args.rows, args.repeats)
    show(first)
    print()
    show(second)
    write("label_search_speed", first + second)


if __name__ == "__main__":
    main()
