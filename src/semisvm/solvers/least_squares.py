"""Least squares with fixed labels: one linear system; and what the searches over labels share.

The system of a problem is made once per space, costs and intercept (``Shared.once``): it serves all classes and every
restart. Rows without a cost are not part of it; they get their score from the machine, as new rows do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .. import problem as judge
from ..balance import Count, Free
from ..linalg import Dense, Form, LowRank
from ..losses import Squared
from ..problem import Problem
from ..solution import Certificate, Solution
from ..spaces import Features, Gram, gram_limit, submatrix


class Taking(NamedTuple):
    """Which rows are part of a system.

    Attributes
    ----------
    rows : int array of shape (m,)
        The rows that cost something; where the form is held whole the labeled ones stand first.
    labeled, free : int arrays
        Positions in ``rows`` of those with a label and of those without.
    whole : bool
        Whether the form is held whole rather than by its features.
    """

    rows: np.ndarray
    labeled: np.ndarray
    free: np.ndarray
    whole: bool


class System(NamedTuple):
    """The quadratic form of a problem, and its rows as in ``Taking``."""

    form: Form
    rows: np.ndarray
    labeled: np.ndarray
    free: np.ndarray


def taking_part(problem: Problem) -> Taking:
    """The rows of a problem's system; labeled ones alone where the problem has no loss for the others."""
    known = problem.is_labeled
    part = (problem.cost > 0) & (known if problem.unlabeled is None else True)
    whole = isinstance(problem.space, Gram) or part.sum() <= problem.space.X.shape[1] + 1
    rows = np.flatnonzero(part)
    if whole:
        rows = np.concatenate([rows[known[rows]], rows[~known[rows]]])
    return Taking(rows, np.flatnonzero(known[rows]), np.flatnonzero(~known[rows]), whole)


def system_of(problem: Problem) -> System:
    """The system of a problem, or the one that another problem with the same costs made in this space."""
    rows, labeled, free, whole = taking_part(problem)
    cost = problem.cost[rows]
    key = ("form", problem.intercept, rows.tobytes(), cost.tobytes())
    make = dense_form if whole else _low_rank
    form = problem.space.once(key, lambda: make(problem.space, rows, cost, problem.intercept))
    return System(form, rows, labeled, free)


def form_bytes(n: int, itemsize: int) -> int:
    """What a form of n rows that is held whole needs together with its kernel matrix."""
    return n**2 * (8 + itemsize)


def need_memory(n: int, itemsize: int) -> None:
    """Refuse a form that breaks the memory rule."""
    need, limit = form_bytes(n, itemsize), gram_limit()
    if need > limit:
        raise MemoryError(
            f"least squares on {n:,} rows holds two matrices of that size, {need / 2**30:.1f} GiB, and the limit is "
            f"{limit / 2**30:.1f} GiB. Use approximation='nystroem' or raise SEMISVM_MEMORY."
        )


def dense_form(space, rows: np.ndarray, cost: np.ndarray, intercept) -> Dense:
    """The form of some rows, held whole."""
    gram = space.gram()
    need_memory(len(rows), gram.dtype.itemsize)
    if 2 * len(rows) > gram.n and gram.fits:
        K = submatrix(gram.whole, rows, rows)
    else:
        K = gram.square(rows)
    return Dense(K, cost, intercept, overwrite=True)


def _low_rank(space: Features, rows: np.ndarray, cost: np.ndarray, intercept) -> LowRank:
    need, limit = 8 * len(rows) * (space.X.shape[1] + 1), gram_limit()
    if need > limit:
        raise MemoryError(
            f"least squares on {len(rows):,} rows of {space.X.shape[1]:,} features holds {need / 2**30:.1f} GiB, and "
            f"the limit is {limit / 2**30:.1f} GiB. Use approximation='nystroem' or raise SEMISVM_MEMORY."
        )
    return LowRank(space.X if len(rows) == space.n else space.X[rows], cost, intercept)


def machine(problem: Problem, system: System, y: np.ndarray, soft: bool = False, **told) -> Solution:
    """The machine of the labels y at the rows of a system, judged as ``problem.py`` has it.

    ``soft`` labels are targets only, and the signs of f are reported; the rest of a ``Solution`` may be told.
    """
    form, rows = system.form, system.rows
    alpha = form.times(y)
    dual = np.zeros(problem.space.n)
    dual[rows] = alpha
    if isinstance(form, LowRank):
        coef, b = form.weights(y)
    else:
        coef, b = problem.space.from_dual(dual), form.bias(y, alpha)
    f = problem.space.scores(coef, b)
    labels = np.where(f > 0, 1.0, -1.0)
    if not soft:
        labels[rows] = y
    labels = np.where(problem.is_labeled, problem.signs, labels)
    norm2 = float(dual @ (f - b)) if isinstance(problem.space, Gram) else problem.space.norm2(coef)
    value = judge.objective_of_scores(problem, norm2, f, b, None if problem.unlabeled is None else labels)
    told = {"status": "converged", "n_iter": 1, "certificate": Certificate("none", 0.0), "trace": []} | told
    return Solution(coef, b, f, labels, value, multipliers=dual, dual=dual, **told)


def fitted(problem: Problem, callback=None) -> Solution:
    """The machine of the labeled rows.

    Its certificate says how far f is from solving the system, and bounds the objective by duality.
    """
    system = system_of(problem)
    y = problem.signs[system.rows]
    solution = machine(problem, system, y)
    f, a, b = solution.scores[system.rows], solution.dual[system.rows], solution.intercept
    slack = a / system.form.cost
    off = float(np.abs(y - slack - f).max(initial=0.0))
    norm2 = float(a @ (f - b)) + (b * b if problem.intercept == "regularised" else 0.0)
    bound = float(a @ y - 0.5 * norm2 - 0.5 * a @ slack)
    solution.certificate = Certificate("kkt", off, bound, max(solution.objective - bound, 0.0))
    solution.trace.append({"step": 0, "objective": solution.objective, "violation": off})
    if callback is not None:
        callback(solution.trace[0])
    return solution


@dataclass(frozen=True)
class LeastSquares:
    """The least-squares machine of the labeled rows, in closed form.

    Parameters
    ----------
    max_time : float or None
        Not reached: a linear system is solved to the end.
    """

    max_time: float | None = None

    losses = (Squared,)
    unlabeled_losses = (type(None),)
    balances = (Free, Count)

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Solve the system."""
        return fitted(problem, callback)

    def held_out(self, problem: Problem, solution: Solution, groups: list[np.ndarray]) -> np.ndarray:
        """Scores of labeled rows as machines without their group have them, in closed form."""
        system = system_of(problem)
        place = np.full(problem.space.n, -1)
        place[system.rows] = np.arange(len(system.rows))
        inside = [place[group][place[group] >= 0] for group in groups]
        scores = solution.scores.copy()
        y = problem.signs[system.rows]
        scores[system.rows] = system.form.left_out(y, solution.dual[system.rows], inside)
        return scores
