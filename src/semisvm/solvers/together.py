"""Searches over the labels of unlabeled rows that solve one convex problem after another, of several classes together.

A ``Search`` belongs to one binary problem. It asks for a solve, is told where that ended, and asks again with other
costs or labels until it is content. ``together`` answers the searches of all classes at once, so that a pass over the
table serves them all; each goes its own way, and those that are content drop out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ..problem import Problem, objective, objective_of_scores
from ..solution import Certificate, Solution
from .limits import deadline
from .newton import Costs, Point, minimise, slopes_of
from .plane import Plane

DIGITS = 1e-7  # of tol: the last solve goes on to there, Newton's last digits being cheap


class Ask(NamedTuple):
    """A solve: what the losses cost, in one column, and to which violation."""

    costs: Costs
    tol: float
    polish: bool = False


class Search:
    """The supervised machine: one solve, then its last digits. Searches over labels go on from there.

    Parameters
    ----------
    problem : Problem
        In a space of features.
    tol : float
        Violation at which a solve is done.
    """

    level = 0.0
    labels_count = False  # whether the objective is that of the labels, or of the better label of each row

    def __init__(self, problem: Problem, tol: float):
        self.problem, self.tol = problem, tol
        searched = problem.unlabeled is not None
        self.free = np.flatnonzero(~problem.is_labeled & (problem.cost > 0) & searched)
        self.weight = np.ones(len(self.free)) if problem.weights is None else problem.weights[self.free]
        self.labels = problem.signs.copy()
        self.trace: list[dict] = []
        self.best: tuple | None = None
        self.ask: Ask | None = Ask(self.costs_at(0.0), tol)

    def costs_at(self, share: float, positive: np.ndarray | None = None) -> Costs:
        """Costs with those of unlabeled rows times ``share``, rows being positive with the probabilities given."""
        problem = self.problem
        up, down = (np.where(problem.signs == side, problem.cost, 0.0) for side in (1.0, -1.0))
        if share > 0:
            rest = share * problem.cost[self.free]
            up[self.free], down[self.free] = rest * positive, rest * (1.0 - positive)
        return Costs(up[:, None], down[:, None])

    def told(self, theta: np.ndarray, b: float, norm2: float, f: np.ndarray, violation: float) -> None:
        """Where the solve that was asked for ended: note it, and ask for the next one."""
        last, before = self.ask, self.labels
        self.value = partial(objective_of_scores, self.problem, norm2, f, b)
        self.ask = self.next(f, violation)
        value = self.value(self.labels if self.labels_count and len(self.free) else None)
        changed = int(np.count_nonzero(before[self.free] != self.labels[self.free]))
        row = {"step": len(self.trace), "objective": value, "level": float(self.level), "changed": changed}
        self.trace.append(row | {"violation": float(violation)})
        if self.best is None or self.ask is None or value < self.best[0]:
            self.best = (value, theta.copy(), self.labels.copy(), violation, last)

    def next(self, f: np.ndarray, violation: float) -> Ask | None:
        """The next solve, with ``labels`` brought up to date; None if content."""
        return None if self.ask.polish else self.polished(self.ask)

    def polished(self, ask: Ask) -> Ask:
        """The same solve to its last digits."""
        return Ask(ask.costs, DIGITS * self.tol, polish=True)


def together(problems: list[Problem], searches: list[Search], solver, callbacks: list) -> list[Solution]:
    """Answer all searches until each is content, out of solves or of time, or stopped.

    Parameters
    ----------
    problems : list of Problem
        In one space of features.
    searches : list of Search
        One for each.
    solver : dataclass
        With ``tol``, ``max_iter`` (solves of a search) and ``max_time``.
    callbacks : list of callable or None
        One for each; sees every row of its trace and may return True to stop that search.
    """
    end = deadline(solver.max_time)
    plane = Plane(problems)
    theta = np.zeros((plane.size, len(problems)))
    f = np.broadcast_to(plane.split(theta)[1], (plane.table.n, len(problems))).copy()
    status = ["converged"] * len(problems)
    live, content = np.arange(len(problems)), np.zeros(len(problems), dtype=bool)

    def late() -> bool:
        return time.perf_counter() > end

    try:
        while len(live):
            asks = [searches[k].ask for k in live]
            costs = Costs(*(np.hstack(side) for side in zip(*(ask.costs for ask in asks))))
            own = plane.take(live)
            tol = np.array([ask.tol for ask in asks])
            point = minimise(own, costs, Point(theta[:, live], f[:, live], None), tol, late)
            theta[:, live], f[:, live] = point.theta, point.f
            w, b = own.split(point.theta)
            norms, b = (w * w).sum(axis=0), np.broadcast_to(b, len(live))
            for column, k in enumerate(live):
                searches[k].told(theta[:, k], float(b[column]), float(norms[column]), f[:, k], point.violation[column])
                status[k] = _why(searches[k], asks[column], solver, callbacks[k], late)
                content[k] = searches[k].ask is None
            live = np.array([k for k in live if status[k] == "converged" and searches[k].ask is not None], dtype=int)
    except KeyboardInterrupt:
        for k in live[~content[live]]:
            status[k] = "interrupted"
    return [_solution(problems[k], searches[k], plane.take(np.array([k])), status[k]) for k in range(len(problems))]


def _why(search: Search, asked: Ask, solver, callback: Callable | None, late: Callable[[], bool]) -> str:
    """Why to stop a search, or "converged" while there is no reason."""
    row, content = search.trace[-1], search.ask is None
    if callback is not None and callback(row) and not content:
        return "stopped"
    if asked.polish and content:
        return "converged"
    if late() and (not content or row["violation"] > asked.tol):
        return "max_time"
    if row["violation"] > asked.tol or (len(search.trace) >= solver.max_iter and not content):
        return "max_iter"
    return "converged"


def _solution(problem: Problem, search: Search, plane: Plane, status: str) -> Solution:
    """The best point of a search, judged afresh."""
    if search.best is None:  # stopped before the first solve ended
        search.best = (0.0, np.zeros(plane.size), search.labels, np.inf, search.ask)
    _, theta, labels, violation, ask = search.best
    w, b = plane.split(theta[:, None])
    w, b = w[:, 0], float(np.ravel(b)[0]) if np.ndim(b) else float(b)
    f = problem.space.scores(w, b)
    pull = -slopes_of(np.ascontiguousarray(f[:, None]), ask.costs)[0][:, 0]
    counted = np.where(labels == 0, np.where(f > 0, 1.0, -1.0), labels)
    value = objective(problem, w, b, counted if search.labels_count and len(search.free) else None)
    certificate = Certificate("stationary" if len(search.free) else "kkt", min(violation, np.finfo(float).max))
    told = {"multipliers": pull, "dual": plane.spread(problem, pull, b), "trace": search.trace}
    return Solution(w, b, f, counted, value, certificate, status, max(len(search.trace), 1), **told)
