"""Objectives, levels and times of the iterations of estimators and solvers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..estimators.base import BaseSVM, settings_of
from ..solution import Solution
from ..solvers import Annealing, Continuation, GradientPath, MultiSwitch, PairSwitching, Solver

ROUNDING = 1e-10  # of the best objective: smaller differences are zero
SHARE = "share of C_unlabeled"
LEVEL_NAMES: dict[type[Solver], str] = {  # what solvers that follow a path log as their level
    Annealing: "temperature",
    Continuation: "smoothing",
    GradientPath: SHARE,
    MultiSwitch: SHARE,
    PairSwitching: SHARE,
}


class ObjectivePath(NamedTuple):
    """Objectives of the iterations, the last that of the solution; levels where a solver has them, NaN elsewhere."""

    objectives: np.ndarray
    levels: np.ndarray | None = None
    level_name: str = "level"
    seconds: np.ndarray | None = None


def timed_path(solver: Any, problem: Any, random_state: int | None = 0) -> ObjectivePath:
    """The path of a solver, with the seconds after which it logged each objective."""
    seconds: list[float] = []
    rows: list[Mapping[str, Any]] = []
    begin = time.perf_counter()

    def log(row: Mapping[str, Any]) -> None:
        if "objective" in row:
            seconds.append(time.perf_counter() - begin)
            rows.append(row)

    solution = solver.solve(problem, callback=log, rng=random_state)
    objectives = np.array([*(float(row["objective"]) for row in rows), solution.objective])
    times = np.array([*seconds, time.perf_counter() - begin])
    return ObjectivePath(objectives, _levels(rows, len(objectives)), _level_name(solver), times)


def timed_trace(solver: Any, problem: Any, random_state: int | None = 0) -> tuple[np.ndarray, np.ndarray]:
    """Seconds and objectives of the iterations of a solver; the last objective is that of the solution."""
    path = timed_path(solver, problem, random_state)
    assert path.seconds is not None
    return path.seconds, path.objectives


def fitted_paths(name: str, fitted: Any) -> list[ObjectivePath]:
    """The path of each binary problem of an estimator, or that of a solution."""
    if isinstance(fitted, Solution):
        return [_path(fitted.trace, [row["objective"] for row in fitted.trace], fitted.objective, "level")]
    check_is_fitted(fitted)
    if not hasattr(fitted, "objective_path_"):
        raise ValueError(f"{name} has no objective_path_; pass estimators that minimize one objective, or solutions.")
    level_name = _level_name(settings_of(fitted).formulation.solver) if isinstance(fitted, BaseSVM) else "level"
    several = isinstance(fitted.objective_path_, list)
    found = (fitted.trace_, fitted.objective_path_, fitted.objective_)
    problems = zip(*found) if several else [found]
    return [_path(trace, path, final, level_name) for trace, path, final in problems]


def _path(trace: Sequence[Mapping[str, Any]], objectives: Any, final: float, level_name: str) -> ObjectivePath:
    """Objectives with the final one at the end, unless it is there, and levels."""
    path = np.asarray(objectives, dtype=float)
    ends_there = path.size and abs(path[-1] - final) <= ROUNDING * abs(final)
    path = path if ends_there else np.append(path, final)
    return ObjectivePath(path, _levels(trace, len(path)), level_name)


def _levels(trace: Sequence[Mapping[str, Any]], n: int) -> np.ndarray | None:
    """The level of each of n objectives, the last one to the end; None for a method that has none."""
    if not any("level" in row for row in trace):
        return None
    levels = np.array([float(row.get("level", np.nan)) for row in trace])
    return np.append(levels, np.full(n - len(levels), levels[-1]))


def _level_name(solver: Any) -> str:
    return LEVEL_NAMES.get(type(solver), "level")
