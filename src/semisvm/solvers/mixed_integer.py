"""The exact search as a mixed integer program (Bennett and Demiriz).

minimise over f and the labels y_j = +-1 of unlabeled rows that keep the balance

    ||w||_1 or 1/2 ||w||^2 [+ the intercept's part] + sum over all i of c_i (1 - y_i f_i)_+

A heuristic goes first: labels by the rank of the supervised scores, then machine and labels in turn, at once and at a
cost of unlabeled rows that rises. What it finds bounds the optimum from above and with it all scores, which makes the
big M of ``integer_program`` small. The machine at the labels that the integer solver ends with is solved again as a
convex problem, and the better of both is returned with the solver's lower bound; the labeled rows alone are one from
the start.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from ..balance import Count, Free
from ..losses import Hinge, SymmetricHinge
from ..problem import Problem, objective
from ..solution import Certificate, Solution
from . import linear_program as lp
from .highs import by_highs
from .integer_program import SAFE, Found, Program, reach
from .label_search import labels_in_band, limits_of
from .limits import deadline
from .scip import by_scip
from .smo import SMO

TIGHT = 1e-9  # violation at which a machine with labels is solved
SHARES = (0.01, 0.03, 0.1, 0.3, 1.0)  # of the cost of unlabeled rows, on the way to a first machine
TURNS = 50
GAIN = 1e-9  # of the objective: a machine better by less is no better


@dataclass(frozen=True)
class MixedInteger:
    """Branch and bound over the labels, by HiGHS (norm 1) or SCIP (norm 2), from the machine of a heuristic.

    Parameters
    ----------
    tol : float
        Gap between objective and bound, relative to the objective, at which the search is done.
    max_iter : int
        Largest number of nodes.
    max_time : float or None
        Seconds after which the best so far is returned.
    """

    tol: float = 1e-6
    max_iter: int = 10_000
    max_time: float | None = None

    losses = (Hinge,)
    unlabeled_losses = (type(None), SymmetricHinge)
    balances = (Free, Count)
    norms = (1, 2)
    on_features = True

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Search from the labels of the supervised machine, and from those of another solution if there is one."""
        search = _Search(problem, deadline(self.max_time), callback)
        found = Found(None, 0.0, 1, "max_time")
        try:
            search.begin(start)
            if not search.open:
                found = found._replace(status=search.best.status)
            elif search.told(1):
                found = found._replace(status="stopped")
            elif not search.late:
                found = search.run(self.tol, self.max_iter)
                if found.labels is not None:
                    search.turns(found.labels)
        except KeyboardInterrupt:
            found = found._replace(status="interrupted")
        return search.solution(found)


def solved(problem: Problem, signs: np.ndarray, end: float) -> Solution:
    """The machine of rows with a sign, as a convex problem; w = 0 or an early point of SMO if time is over."""
    stated = problem._replace(signs=signs, unlabeled=None, balance=Free())
    if problem.norm == 2:
        left = end - time.perf_counter()
        return SMO(TIGHT, max_time=None if left == np.inf else max(left, 1e-9)).solve(stated)
    point = lp.solve(stated, lp.labeled_sides(stated), end)
    status = "max_time" if point is None else "converged"
    w, b, multipliers, bound = point or lp.zero(stated)
    f, value = problem.space.scores(w, b), objective(stated, w, b)
    gap = max(value - bound, 0.0)
    labels = np.where(signs != 0, signs, np.where(f > 0, 1.0, -1.0))
    return Solution(w, b, f, labels, value, Certificate("gap", gap, bound, gap), status, 1, multipliers)


class _Search:
    """The best machine so far, the bound, and how they came about."""

    def __init__(self, problem: Problem, end: float, callback):
        self.problem, self.end, self.callback = problem, end, callback
        weights = np.ones(len(problem.signs)) if problem.weights is None else problem.weights
        searched = ~problem.is_labeled & (weights > 0) & (problem.unlabeled is not None)
        self.free, self.weight = np.flatnonzero(searched), weights[searched]
        self.open = bool((problem.cost[self.free] > 0).any())
        self.band, self.bound = (-np.inf, np.inf), 0.0
        self.best: Solution | None = None
        self.ends: tuple | None = None  # between which scores of the free rows big M leaves them alone
        self.trace: list[dict] = []

    @property
    def late(self) -> bool:
        return time.perf_counter() >= self.end

    def begin(self, start: Solution | None) -> None:
        """The supervised machine, and what a heuristic makes of it."""
        first = solved(self.problem, self.problem.signs, self.end)
        self.best = first
        self.bound = max(first.certificate.lower_bound, 0.0)
        if not len(self.free):
            return
        labels = self.ranked(first.scores)
        self.band = limits_of(self.problem.balance, self.weight, labels)
        self.best = replace(first, labels=self.filled(labels), objective=np.inf)
        self.consider(first, self.filled(labels))
        if self.open:
            for given in [labels] if start is None else [labels, start.labels[self.free]]:
                self.turns(given)
            for share in SHARES:
                labels = self.turns(labels, share)

    def ranked(self, f: np.ndarray) -> np.ndarray:
        """Labels of the free rows by the rank of their scores, within the balance."""
        return labels_in_band(f[self.free], self.weight, self.problem.balance)

    def filled(self, labels: np.ndarray) -> np.ndarray:
        """The problem's signs with the labels of the free rows."""
        signs = self.problem.signs.copy()
        signs[self.free] = labels
        return signs

    def turns(self, labels: np.ndarray, share: float = 1.0) -> np.ndarray:
        """Machine and labels in turn until the objective rests; returns the last labels."""
        cost = self.problem.cost.copy()
        cost[self.free] *= share
        inner, last = self.problem._replace(cost=cost), np.inf
        for _ in range(TURNS):
            if self.late:
                break
            machine = solved(inner, self.filled(labels), self.end)
            if share == 1.0:
                self.consider(machine, self.filled(labels))
            if machine.objective >= last * (1.0 - GAIN):
                break
            last, new = machine.objective, self.ranked(machine.scores)
            if (new == labels).all() or not self.band[0] <= self.weight @ (new > 0) <= self.band[1]:
                break
            labels = new
        return labels

    def consider(self, machine: Solution, signs: np.ndarray) -> None:
        """Keep a machine with these labels if it is better than the best."""
        value = objective(self.problem, machine.coef, machine.intercept, signs)
        if value < self.best.objective * (1.0 - GAIN):
            self.best = replace(machine, labels=signs, objective=value)

    def told(self, nodes: int) -> bool:
        """A row of the trace; whether somebody wants to stop."""
        row = {"step": len(self.trace), "objective": float(self.best.objective), "bound": float(self.bound)}
        self.trace.append(row | {"nodes": nodes})
        return bool(self.callback is not None and self.callback(self.trace[-1]))

    def program(self) -> tuple[Program, np.ndarray, float]:
        """The program, its rows, and the side of its positive class.

        Rows stand in an order and classes on sides that are the data's own: where the solver stops early, the answer
        still does not depend on how rows came and classes are called.
        """
        problem, frame = self.problem, lp.frame_of(self.problem)
        part = problem.is_labeled & (problem.cost > 0)
        part[self.free] = True
        rows = np.flatnonzero(part)
        rows = rows[np.argsort(frame.Z[rows] @ np.cos(np.arange(frame.Z.shape[1])), kind="stable")]
        signs, factor = problem.signs[rows], frame.scale**problem.norm
        side = signs[signs != 0][0]
        weight = self.weight[np.searchsorted(self.free, rows[signs == 0])]
        low, high = self.band if side > 0 else (weight.sum() - self.band[1], weight.sum() - self.band[0])
        pieces = weight, low, high, problem.intercept, factor, problem.norm, factor * self.best.objective
        program = Program(frame.Z[rows], side * signs, factor * problem.cost[rows], *pieces)
        floor, ceiling = reach(program)
        return program._replace(floor=floor, ceiling=ceiling), rows, side

    def run(self, tol: float, max_nodes: int) -> Found:
        """Hand the program to its solver; labels and bound come back as the problem has them."""
        program, rows, side = self.program()
        free = rows[program.signs == 0]
        place = np.argsort(free)  # where the rows of ``self.free`` stand in the program
        self.ends = free, *((program.floor, program.ceiling) if side > 0 else (-program.ceiling, -program.floor))

        def better(nodes: int, bound: float, labels: np.ndarray) -> bool:
            self.bound = max(self.bound, (bound - SAFE * program.upper) / program.price)
            self.turns(side * labels[place])
            return self.told(nodes)

        if self.problem.norm == 1:
            found = by_highs(program, tol, max_nodes, self.end)
        else:
            found = by_scip(program, tol, max_nodes, self.end, self._start(program, rows, side), better)
        self.bound = max(self.bound, found.bound / program.price)
        labels = None if found.labels is None else side * found.labels[place]
        return found._replace(labels=labels, nodes=max(found.nodes, 1))

    def _start(self, program: Program, rows: np.ndarray, side: float) -> np.ndarray:
        """The best machine as the variables of ``by_scip``."""
        f, labels = side * self.best.scores[rows], side * self.best.labels[rows]
        v = side * program.price**0.5 * self.best.coef
        b = [] if program.intercept is False else [float(np.mean(f - program.Z @ v))]
        norm = 0.5 * v @ v + (0.5 * program.price * b[0] ** 2 if program.intercept == "regularised" else 0.0)
        return np.r_[v, b, norm, np.maximum(1.0 - labels * f, 0.0), labels[program.signs == 0] > 0]

    def solution(self, found: Found) -> Solution:
        """The best machine, judged, with the bound."""
        if self.best is None:  # Ctrl-C came before anything else
            first = solved(self.problem, self.problem.signs, 0.0)
            self.best = replace(first, labels=self.filled(self.ranked(first.scores)))
        best = self.best
        labels = np.where(best.labels != 0, best.labels, np.where(best.scores > 0, 1.0, -1.0))
        value = objective(self.problem, best.coef, best.intercept, labels if len(self.free) else None)
        bound, certificate, facts = min(self.bound, value), best.certificate, {}
        if len(self.free):
            certificate = Certificate("gap", value - bound, bound, value - bound)
        if self.ends is not None:
            free, floor, ceiling = self.ends
            facts["room"] = float(np.minimum(best.scores[free] - floor, ceiling - best.scores[free]).min())
        self.best = replace(best, labels=labels, objective=value)
        self.told(found.nodes)
        told = {"certificate": certificate, "status": found.status, "n_iter": found.nodes, "trace": self.trace}
        return replace(self.best, facts=facts, **told)
