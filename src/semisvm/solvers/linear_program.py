"""The 1-norm machine with hinges, as a linear program.

minimise  ||w||_1 [+ |b|] + sum over k of c_k (1 - s_k f(x_k))_+      [subject to mean f = m over the unlabeled rows]

A row may stand in it on one side s_k = +-1, on both, or not at all. In the program w = p - q with p, q >= 0 and every
loss is a slack; HiGHS solves it in a frame where the table is of size one, so that its tolerances mean the same on
every scale. The intercept is then the middle of all that are best with w: names of the classes and order of rows have
no say where there are several.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ..balance import Mean
from ..problem import Problem

TOLERANCE = 1e-10  # the smallest that HiGHS takes
FLAT = 1e-12  # of all cost: a slope by b this small is none


class Sides(NamedTuple):
    """The losses of a program: which row, on which side, at what cost."""

    rows: np.ndarray
    signs: np.ndarray
    cost: np.ndarray


@dataclass(frozen=True)
class Frame:
    """A table of size one: Z = (X - centre) / scale, f = Z v + a with v = scale w and a = b + centre w.

    Dense tables are centred if the intercept is free. An objective is ``scale ** norm`` times as large here.
    """

    Z: np.ndarray | sparse.csr_array
    scale: float


class Point(NamedTuple):
    """A solved program: w, b, every row's multiplier, and the value it has, less what rounding may hide."""

    w: np.ndarray
    b: float
    multipliers: np.ndarray
    bound: float


def frame_of(problem: Problem) -> Frame:
    """The frame of a problem, made once per space."""
    X, centred = problem.space.X, problem.intercept is True and not sparse.issparse(problem.space.X)

    def make() -> Frame:
        Z = sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.array(X, dtype=np.float64)
        if centred:
            Z -= np.median(Z, axis=0)
        scale = float(np.abs(Z.data if sparse.issparse(Z) else Z).max(initial=0.0)) or 1.0
        return Frame(Z / scale, scale)

    return problem.space.once(("frame", centred), make)


def labeled_sides(problem: Problem) -> Sides:
    """The losses of the rows with a sign; those that cost nothing are left out."""
    rows = np.flatnonzero(problem.is_labeled & (problem.cost > 0))
    return Sides(rows, problem.signs[rows], problem.cost[rows])


def solve(problem: Problem, sides: Sides, end: float = np.inf) -> Point | None:
    """The best machine of these losses; None if time is over before it is found.

    Parameters
    ----------
    problem : Problem
        Of norm 1, in a space of features: says what the intercept and the balance are.
    sides : Sides
        The losses.
    end : float
        ``time.perf_counter()`` at which to give up.
    """
    frame = frame_of(problem)
    program = _program(problem, frame, sides)
    for tolerance in (TOLERANCE, 1e-7):  # HiGHS may not reach the first
        left = end - time.perf_counter()
        if left <= 0:
            return None
        options = {"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance}
        answer = linprog(**program, method="highs", options=options | ({"time_limit": left} if left < np.inf else {}))
        if answer.status == 0:
            return _point(problem, frame, sides, answer)
        if answer.status == 1:
            return None
        if answer.status == 2 and balanced(problem):
            raise ValueError(
                f"no machine without an intercept has a mean of f of {problem.balance.m:g} over the unlabeled rows, "
                "whose mean is zero; use fit_intercept=True or balance=None."
            )
    raise ArithmeticError(f"HiGHS did not solve the linear program ({answer.message}); scale X or lower C.")


def _program(problem: Problem, frame: Frame, sides: Sides) -> dict:
    """The program in the words of ``linprog``; variables are p, q, [b], slacks."""
    rows, signs, cost = sides
    d, k = frame.Z.shape[1], len(rows)
    own = sparse.csr_array(frame.Z[rows] * -signs[:, None])
    shift, price, bounds = _intercept(problem, frame)
    columns = [own, -own, sparse.csr_array(-signs[:, None] @ shift), -sparse.eye_array(k)]
    program = {
        "c": np.r_[np.ones(2 * d), price, frame.scale * cost],
        "A_ub": sparse.hstack(columns, format="csc"),
        "b_ub": -np.ones(k),
        "bounds": np.r_[np.tile([0.0, np.inf], (2 * d, 1)), bounds, np.tile([0.0, np.inf], (k, 1))],
    }
    if balanced(problem):
        mean = problem.shares() @ frame.Z
        program |= {"A_eq": np.r_[mean, -mean, shift[0], np.zeros(k)][None], "b_eq": [problem.balance.m]}
    return program


def _intercept(problem: Problem, frame: Frame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the intercept's variables add to f, what they cost, and their bounds: one if free, two parts if it costs."""
    if problem.intercept is True:
        return np.ones((1, 1)), np.zeros(1), np.array([[-np.inf, np.inf]])
    if problem.intercept is False:
        return np.zeros((1, 0)), np.zeros(0), np.zeros((0, 2))
    return np.array([[1.0, -1.0]]), np.full(2, frame.scale), np.tile([0.0, np.inf], (2, 1))


def balanced(problem: Problem) -> bool:
    """Whether the mean of f over the unlabeled rows is fixed."""
    return isinstance(problem.balance, Mean) and problem.has_unlabeled


def _point(problem: Problem, frame: Frame, sides: Sides, answer) -> Point:
    d = frame.Z.shape[1]
    w, b = (answer.x[:d] - answer.x[d : 2 * d]) / frame.scale, 0.0
    f = problem.space.scores(w, 0.0)
    if balanced(problem):
        mean = float(problem.shares() @ f)
        if problem.intercept is not False:
            b = problem.balance.m - mean
        elif mean:
            w = w * (problem.balance.m / mean)  # to its last digits
    elif problem.intercept is not False:
        b = best_intercept(f[sides.rows], sides, 1.0 if problem.intercept == "regularised" else 0.0)
    multipliers = np.zeros(len(problem.signs))
    np.add.at(multipliers, sides.rows, -sides.signs * answer.ineqlin.marginals / frame.scale)
    return Point(w, b, multipliers, max((answer.fun - 1e-9 * abs(answer.fun)) / frame.scale, 0.0))


def zero(problem: Problem) -> Point:
    """A machine that costs no time: w = 0, or the shortest that holds a mean without an intercept."""
    w, b, sides = np.zeros(problem.space.X.shape[1]), 0.0, labeled_sides(problem)
    if balanced(problem):
        mean = problem.space.adjoint(problem.shares())
        if problem.intercept is not False:
            b = problem.balance.m
        elif mean.any():
            w[np.abs(mean).argmax()] = problem.balance.m / mean[np.abs(mean).argmax()]
    elif problem.intercept is not False:
        b = best_intercept(np.zeros(len(sides.rows)), sides, float(problem.intercept == "regularised"))
    return Point(w, b, np.zeros(len(problem.signs)), 0.0)


def best_intercept(f: np.ndarray, sides: Sides, price: float = 0.0) -> float:
    """The middle of all b of smallest sum c (1 - s (f + b))_+ + price |b|.

    Its slope rises by c at b = s - f, where a loss begins or ends, and by twice the price at zero.

    Parameters
    ----------
    f : array
        Scores without an intercept, at the rows of ``sides``.
    sides : Sides
        The losses.
    price : float
        What a unit of the intercept costs.
    """
    turns, rise = np.append(sides.signs - f, 0.0), np.append(sides.cost, 2.0 * price)
    order = np.argsort(turns, kind="stable")
    turns, rise = turns[order][rise[order] > 0], rise[order][rise[order] > 0]
    if not len(turns):
        return 0.0
    slope = np.cumsum(rise) - sides.cost[sides.signs > 0].sum() - price
    even = FLAT * rise.sum()
    first = np.flatnonzero(slope >= -even)[0]  # the slope ends at or above zero
    above = np.flatnonzero(slope > even)
    last = above[0] if len(above) else len(turns) - 1  # or stays flat: then every b from here on is best
    return float(0.5 * (turns[first] + turns[last]))
