"""Where a search of hyperparameters begins: bounds, a coarse grid and the best points of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from .._validation import Real, check_integer, check_value
from .criteria import ModelFamily

RANGE = np.log(1e3)  # how far from the estimator's own hyperparameters the search goes by default
MAX_SCREENED = 64  # points of the coarse grid
MAX_PER_PARAMETER = 13


def check_bounds(bounds: Any, family: ModelFamily) -> np.ndarray:
    """Smallest and largest logarithms, shape (p, 2)."""
    limits = np.column_stack([family.start - RANGE, family.start + RANGE])
    if bounds is None:
        return limits
    if not isinstance(bounds, Mapping) or not set(bounds) <= set(family.names):
        raise ValueError(
            f"bounds={bounds!r} is not allowed; bounds takes a mapping from names out of {', '.join(family.names)} to "
            "pairs of a smallest and a largest value."
        )
    for name, pair in bounds.items():
        low, high = np.ravel(pair)[[0, -1]].tolist() if np.size(pair) == 2 else (np.nan, np.nan)
        if not 0.0 < low <= high < np.inf:
            raise ValueError(f"bounds[{name!r}]={pair!r} is not allowed; a bound takes two numbers 0 < low <= high.")
        limits[family.names.index(name)] = np.log([low, high])
    return limits


def given_starts(starts: Any, family: ModelFamily, limits: np.ndarray) -> list[np.ndarray]:
    """Starting points from mappings; what is not named is the estimator's own. Points move within the bounds."""
    wrong = not isinstance(starts, Sequence) or isinstance(starts, str) or not len(starts)
    if wrong or not all(isinstance(one, Mapping) and set(one) <= set(family.names) for one in starts):
        raise ValueError(
            f"starts={starts!r} is not allowed; starts takes a whole number of 1 or more, or mappings from names out "
            f"of {', '.join(family.names)} to values."
        )
    points = []
    for one in starts:
        point = family.start.copy()
        for name, value in one.items():
            point[family.names.index(name)] = np.log(check_value(name, value, [Real(0.0)]))
        points.append(np.clip(point, *limits.T))
    return points


def screen(
    value: Callable[[np.ndarray], float], family: ModelFamily, limits: np.ndarray, n_starts: Any
) -> list[np.ndarray]:
    """The best points of a coarse grid, none of them beside another, and of the estimator's own.

    C varies fastest, so that points of the same kernel follow each other.
    """
    check_integer("starts", n_starts, 1)
    n = min(MAX_PER_PARAMETER, max(2, int(MAX_SCREENED ** (1.0 / len(limits)))))
    axes = [np.linspace(low, high, n) for low, high in limits]
    costs_last = np.argsort([name in ("C", "C_unlabeled") for name in family.names], kind="stable")
    grid = []
    for combination in product(*(axes[i] for i in costs_last)):
        point = np.empty(len(axes))
        point[costs_last] = combination
        grid.append(point)
    candidates = [np.clip(family.start, *limits.T), *grid]
    values = [value(point) for point in candidates]
    step = np.maximum((limits[:, 1] - limits[:, 0]) / (n - 1), np.finfo(float).tiny)
    chosen: list[np.ndarray] = []
    for i in np.argsort(values, kind="stable"):
        apart = all((np.abs(candidates[i] - one) / step).max() > 1.5 for one in chosen)
        if apart and len(chosen) < n_starts:
            chosen.append(candidates[i])
    return chosen
