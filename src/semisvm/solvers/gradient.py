"""nabla-TSVM (Chapelle and Zien): a smooth loss on unlabeled rows, whose weight grows.

The unlabeled rows pay exp(-3 f^2), which is highest at the boundary. Their cost rises from a hundredth to the whole in
eleven steps of one factor, each solved from the last: an early, nearly convex problem guides the later ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import losses
from ..balance import Free, Mean
from ..losses import Gaussian, SquaredHinge
from ..passes import table_of
from ..problem import Problem, objective, objective_of_scores
from ..solution import Certificate, Solution
from .limits import LOOSE, deadline
from .plane import Plane
from .smo import SMO
from .trust_region import Level, Spot, Walk, descend, joined, lead

LEVELS = 11
FIRST = 0.01
POLISH, POLISH_STEPS = 1e-7, 20


def supervised(problem: Problem) -> Problem | None:
    """The problem of the labeled rows if no other row has a say, else None."""
    rest = ~problem.is_labeled & (problem.cost > 0)
    return problem.alone() if problem.unlabeled is None or not rest.any() else None


def path(problem: Problem, levels: list[tuple[float, Level]], solver, callback) -> Walk:
    """Minimise level after level, each from the last point, and judge the end by the problem's own objective.

    Parameters
    ----------
    problem : Problem
        In a space of features.
    levels : list of (number, Level)
        What the trace calls the level, and its losses.
    solver : dataclass
        With ``tol``, ``max_iter`` and ``max_time``.
    callback : callable or None
        Sees every row of the trace and may return True to stop.
    """
    end = deadline(solver.max_time)
    plane = Plane(problem)
    theta, labels, trace = np.zeros(plane.size), np.zeros(len(problem.signs)), []
    spot = Spot(theta, np.full(len(labels), float(plane.split(theta)[1])))
    status, violation = "converged", np.inf

    def late() -> bool:
        return time.perf_counter() > end

    try:
        for number, level in levels:
            last = number == levels[-1][0]
            tol = solver.tol if last else LOOSE * solver.tol
            spot, violation, done = yield from descend(plane, level, spot, tol, solver.max_iter, late)
            if last and done:  # Newton's last digits are cheap
                spot, violation, _ = yield from descend(plane, level, spot, POLISH * tol, POLISH_STEPS, late)
            w, b = plane.split(spot.theta)
            old, labels = labels, np.where(spot.f > 0, 1.0, -1.0)
            value = objective_of_scores(problem, float(w @ w), spot.f, float(b))
            row = {"step": len(trace), "objective": value, "level": number}
            trace.append(row | {"changed": int(np.count_nonzero(old != labels)), "violation": violation})
            if not done and late():
                status = "max_time"
            elif not done and last:
                status = "max_iter"
            elif callback is not None and callback(trace[-1]) and not last:
                status = "stopped"
            if status != "converged":
                break
    except KeyboardInterrupt:
        status = "interrupted"
    return _solution(problem, plane, levels[-1][1], spot.theta, status, violation, trace)


def solve_paths(problems: list[Problem], levels_of: Callable, solver, callbacks: list) -> list[Solution]:
    """Follow the paths of several problems in one space side by side; those without a say of unlabeled rows by SMO."""
    found: dict[int, Solution] = {}
    walks: dict[int, Walk] = {}
    for number, (problem, callback) in enumerate(zip(problems, callbacks)):
        alone = supervised(problem)
        if alone is None:
            walks[number] = path(problem, levels_of(problem), solver, callback)
        else:
            found[number] = SMO(solver.tol, max_time=solver.max_time).solve(alone, callback=callback)
    if walks:
        found |= zip(walks, lead(table_of(problems[0].space), list(walks.values())))
    return [found[number] for number in range(len(problems))]


def _solution(problem: Problem, plane: Plane, level: Level, theta, status: str, violation: float, trace) -> Solution:
    w, b = plane.split(theta)
    b, f = float(b), plane.scores(theta)
    labels = np.where(problem.is_labeled, problem.signs, np.where(f > 0, 1.0, -1.0))
    value = objective(problem, w, b)
    certificate = Certificate("stationary" if np.isfinite(violation) else "none", min(violation, np.finfo(float).max))
    pull = -level.slope(f)
    told = {"status": status, "n_iter": max(len(trace), 1), "multipliers": pull, "trace": trace}
    return Solution(w, b, f, labels, value, certificate, dual=plane.spread(problem, pull, b), **told)


@dataclass(frozen=True)
class GradientPath:
    """The cost of unlabeled rows rises in steps; Newton steps in a trust region at each.

    Parameters
    ----------
    tol : float
        Gradient at which a level is solved, relative to that of the losses at w = 0.
    max_iter : int
        Largest number of Newton steps a level.
    max_time : float or None
        Seconds after which the best so far is returned.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float | None = None

    losses = (SquaredHinge,)
    unlabeled_losses = (type(None), Gaussian)
    balances = (Free, Mean)
    on_features = True

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Follow the path from w = 0."""
        return self.solve_all([problem], [callback])[0]

    def solve_all(self, problems: list[Problem], callbacks: list) -> list[Solution]:
        """Follow the paths of several problems in one space side by side."""
        return solve_paths(problems, levels_of, self, callbacks)


def levels_of(problem: Problem) -> list[tuple[float, Level]]:
    """The levels of a problem: shares of the cost of unlabeled rows, and the losses."""
    shares = FIRST ** np.linspace(1, 0, LEVELS)
    return [(float(share), level_of(problem, float(share))) for share in shares]


def level_of(problem: Problem, share: float) -> Level:
    """The losses of a problem with the cost of unlabeled rows multiplied by ``share``."""
    known = problem.is_labeled
    signs, cost, rest = problem.signs[known], problem.cost[known], share * problem.cost[~known]

    def value(f):
        own = cost @ losses.value(problem.labeled, signs * f[known])
        return float(own + rest @ losses.value(problem.unlabeled, f[~known]))

    def slope(f):
        own = cost * signs * losses.slope(problem.labeled, signs * f[known])
        return joined(known, own, rest * losses.slope(problem.unlabeled, f[~known]))

    def curvature(f):
        own = cost * losses.curvature(problem.labeled, signs * f[known])
        return joined(known, own, rest * losses.curvature(problem.unlabeled, f[~known]))

    return Level(value, slope, curvature, known)
