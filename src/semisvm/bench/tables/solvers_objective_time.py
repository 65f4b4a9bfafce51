"""Objective against time for all solvers of a problem, for three problems of the same samples."""

from __future__ import annotations

from functools import cache, partial
from typing import NamedTuple

import numpy as np

from ...balance import Balance, Count, Free
from ...datasets import hide_labels, make_two_gaussians
from ...losses import Hinge, Loss, Squared, SquaredHinge, SymmetricHinge, SymmetricSquared, SymmetricSquaredHinge
from ...plots.objective_paths import timed_trace
from ...problem import Problem
from ...solvers import SOLVERS, Solver
from ...spaces import Features
from ..protocol import FIXED, Cell, Measured, Protocol, Setup

N_SAMPLES, N_LABELED, COST = 300, 20, 10.0
MAX_SECONDS, QUICK_SECONDS = 10.0, 1.0


class Losses(NamedTuple):
    """Losses and balance of a problem."""

    labeled: Loss
    unlabeled: Loss
    balance: Balance


ROWS = {
    "hinge loss, no balance": Losses(Hinge(), SymmetricHinge(), Free()),
    "squared hinge loss, half of the labels positive": Losses(SquaredHinge(), SymmetricSquaredHinge(), Count(0.5)),
    "squared loss, half of the labels positive": Losses(Squared(), SymmetricSquared(), Count(0.5)),
}


def problem(row: str, n_samples: int, n_labeled: int, seed: int) -> Problem:
    """A linear problem of two Gaussians; all unlabeled samples cost as much as all labeled ones."""
    X, y = make_two_gaussians(n_samples, random_state=seed)
    shown = hide_labels(y, n_labeled, seed)
    signs = np.where(shown == -1, 0.0, 2.0 * shown - 3.0)
    C = COST / X.var(axis=0).sum()
    cost = np.where(signs != 0, C, C * n_labeled / (n_samples - n_labeled))
    return Problem(Features(X), signs, cost, *ROWS[row], intercept="regularized")


def solvers_of(row: str) -> dict[str, type[Solver]]:
    """All solvers that take the problem."""
    small = problem(row, 4, 2, 0)
    return {name: cls for name, cls in SOLVERS.items() if cls.accepts.unsupported(small) is None}


@cache
def compile_loops(row: str, name: str) -> None:
    """Solve a small problem, so that no time is measured in which numba compiles."""
    SOLVERS[name]().solve(problem(row, 24, 12, 0), rng=0)


def measure(row: str, name: str, setup: Setup, draw: int) -> Measured:
    """The objective of the solution, and the way to it."""
    compile_loops(row, name)
    solver = SOLVERS[name](max_time=QUICK_SECONDS if setup.quick else MAX_SECONDS)
    seconds, objectives = timed_trace(solver, problem(row, N_SAMPLES, N_LABELED, draw), draw)
    trace = {"seconds": [float(f"{at:.6g}") for at in seconds], "objective": [float(value) for value in objectives]}
    return Measured(trace["objective"][-1], seconds=trace["seconds"][-1], trace=trace)


PROTOCOL = Protocol(
    name="solvers-objective-time",
    title="All solvers: objective against seconds",
    reference=f"Two Gaussians in 50 dimensions, {N_SAMPLES} samples, {N_LABELED} of them labeled; not of an article.",
    url="",
    selection=FIXED,
    cells=tuple(Cell(row, name, None, partial(measure, row, name)) for row in ROWS for name in solvers_of(row)),
    draws=1,
    notes=(
        f"Linear kernel, regularized intercept; at most {MAX_SECONDS:g} seconds ({QUICK_SECONDS:g} in the short form)",
        "Genetic, progressive, relaxation and annealing log the objective of a part of the samples or of another "
        "problem on the way; what lies below the best objective is not drawn",
        "Loops are compiled before",
    ),
    measures="objective",
    picture="trace",
)
