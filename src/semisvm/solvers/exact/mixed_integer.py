"""The best labels of the unlabeled samples by mixed integer programming.

minimize over f and the labels y_j = +-1 of the searched samples that keep the balance

    ||w||_1 or 1/2 ||w||^2 [+ the part of the intercept] + sum over all i of c_i (1 - y_i f_i)_+

A heuristic goes first: labels by the rank of the supervised scores, then alternating minimization over f and labels, at
the full cost of the unlabeled samples and at increasing costs. Its objective is an upper bound on the optimum, which
bounds all scores and so makes the big M of ``integer_program`` small. The labels that the integer solver returns are
improved in the same way, and the best solution is returned with the solver's lower bound; the SVM of the labeled
samples gives one before the search.

References
----------
.. [1] K. P. Bennett and A. Demiriz, "Semi-supervised support vector machines", NIPS 11, 1998.
   https://proceedings.neurips.cc/paper_files/paper/1998/hash/b710915795b9e9c02cf10d6d2bdb688c-Abstract.html
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...balance import Count, Free, labels_in_band, positive_band
from ...losses import Hinge, SymmetricHinge
from ...problem import Problem, objective
from ...solution import Solution, gap_certificate, with_gap
from ..base import Accepts, Callback, Solver, StoppingRule
from ..dual import SMO
from .highs import solve_with_highs
from .integer_program import BOUND_MARGIN, GAP_MARGIN, IntegerProgram, IntegerResult, score_bounds
from .linear_program import labeled_losses, scaled_features, solve_lp, trivial_solution
from .scip import solve_with_scip

SVM_TOL = 1e-9  # tolerance of an SVM with fixed labels
COST_SHARES = (0.01, 0.03, 0.1, 0.3, 1.0)  # of the cost of searched samples, in the heuristic
MAX_ALTERNATIONS = 50
MIN_DECREASE = 1e-9  # of the objective: a smaller decrease is rounding error


@dataclass(frozen=True)
class MixedInteger(Solver):
    """Branch and bound over the labels by HiGHS (norm 1) or SCIP (norm 2), from the solution of a heuristic.

    Parameters
    ----------
    tol : float
        Relative gap between objective and bound at which the search ends.
    max_iter : int
        Largest number of nodes.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    K. P. Bennett and A. Demiriz, "Semi-supervised support vector machines", NIPS 11, 1998.
    https://proceedings.neurips.cc/paper_files/paper/1998/hash/b710915795b9e9c02cf10d6d2bdb688c-Abstract.html
    """

    tol: float = 1e-6
    max_iter: int = 10_000

    accepts: ClassVar[Accepts] = Accepts((Hinge,), (SymmetricHinge,), (Free, Count), norms=(1, 2), space="features")

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Search from the labels of the supervised SVM, and from those of another solution if there is one."""
        stop = StoppingRule(max_time=self.max_time, callback=callback)
        search = _IntegerSearch(problem, stop)
        with stop:
            search.run_heuristic(start)
            if len(problem.searched):
                search.log(search.n_nodes)
            if len(problem.searched) and stop.running:
                search.run_integer_solver(self.tol, self.max_iter)
            stop.end("converged")
        return search.solution(self.tol)


def solve_convex(problem: Problem, signs: np.ndarray, stop: StoppingRule) -> Solution:
    """The SVM of the samples with a sign; w = 0 or an early point of SMO if the time is over."""
    supervised = problem.with_labels(signs)
    if problem.norm == 2:
        solution = SMO(SVM_TOL, max_time=stop.time_left).solve(supervised)
        if solution.status == "interrupted":
            stop.end("interrupted")
        return solution
    found = solve_lp(supervised, labeled_losses(supervised), stop)
    point = found or trivial_solution(supervised)
    f = problem.space.scores(point.coef, point.intercept)
    value = objective(supervised, point.coef, point.intercept)
    return Solution(
        point.coef,
        point.intercept,
        f,
        np.where(signs != 0, signs, np.where(f > 0, 1.0, -1.0)),
        value,
        gap_certificate(value, point.lower_bound),
        "converged" if found else "max_time",
        n_iter=1,
        multipliers=point.multipliers,
    )


class _IntegerSearch:
    """The search of one problem.

    Parameters
    ----------
    problem : Problem
        In a space of features.
    stop : StoppingRule
        What ends the search.

    Attributes
    ----------
    samples, weights : arrays
        The samples whose labels are searched, and their weights in the balance.
    band : tuple of two floats
        Lowest and highest weight of positive samples.
    best : Solution
        The best solution so far.
    lower_bound : float
        A lower bound on the objective of all labels that keep the balance.
    n_nodes : int
        Nodes of the integer solver.
    """

    def __init__(self, problem: Problem, stop: StoppingRule):
        self.problem, self.stop = problem, stop
        self.samples = problem.searched
        self.weights = problem.weights_of(self.samples)
        self.band = (-np.inf, np.inf)
        self.lower_bound, self.n_nodes = 0.0, 1
        self._best: Solution | None = None
        self._program: tuple[IntegerProgram, np.ndarray, float] | None = None

    @property
    def best(self) -> Solution:
        """The best solution so far."""
        assert self._best is not None, "nothing was solved yet"
        return self._best

    def run_heuristic(self, start: Solution | None) -> None:
        """The supervised SVM, and alternating minimization from its labels and from those of another solution."""
        first = solve_convex(self.problem, self.problem.signs, self.stop)
        self._begin(first)
        if not len(self.samples):
            if first.ended_early:
                self.stop.end(first.status)
            return
        labels = self.best.labels[self.samples]
        for given in [labels] if start is None else [labels, start.labels[self.samples]]:
            self.alternate(given)
        for share in COST_SHARES:
            labels = self.alternate(labels, share)

    def _begin(self, first: Solution) -> None:
        """Take the supervised SVM as the first solution, with labels by the rank of its scores within the balance."""
        self.lower_bound = max(first.certificate.lower_bound or 0.0, 0.0)
        labels = first.labels.copy()
        rest = np.flatnonzero(self.problem.mean_weights > 0)
        if len(rest) and self.problem.unlabeled is not None:
            labels[rest] = labels_in_band(first.scores[rest], self.problem.weights_of(rest), self.problem.balance)
        self._best = replace(first, labels=labels)
        if len(self.samples):
            ranked = self._labels_by_rank(first.scores)
            self.band = positive_band(self.problem.balance, self.weights, ranked)
            signs = self._signs_with(ranked)
            self._best = replace(first, labels=signs, objective=self._objective(first, signs))

    def _labels_by_rank(self, f: np.ndarray) -> np.ndarray:
        """Labels of the searched samples by the rank of their scores, within the balance."""
        return labels_in_band(f[self.samples], self.weights, self.problem.balance)

    def _signs_with(self, labels: np.ndarray) -> np.ndarray:
        """The signs of the problem with labels of the searched samples."""
        signs = self.problem.signs.copy()
        signs[self.samples] = labels
        return signs

    def _objective(self, solution: Solution, signs: np.ndarray) -> float:
        return objective(self.problem, solution.coef, solution.intercept, signs)

    def alternate(self, labels: np.ndarray, share: float = 1.0) -> np.ndarray:
        """Minimize over f and labels in turn, at a share of the cost of the searched samples; returns the last labels.

        At the full cost every solution is offered as the best one.
        """
        cost = self.problem.cost.copy()
        cost[self.samples] *= share
        problem, value = replace(self.problem, cost=cost), np.inf
        for _ in range(MAX_ALTERNATIONS):
            if not self.stop.running or self.stop.time_is_over:
                break
            solution = solve_convex(problem, self._signs_with(labels), self.stop)
            if share == 1.0:
                self.offer(solution, self._signs_with(labels))
            if solution.objective >= value * (1.0 - MIN_DECREASE):
                break
            value, new = solution.objective, self._labels_by_rank(solution.scores)
            if (new == labels).all() or not self.band[0] <= self.weights @ (new > 0) <= self.band[1]:
                break
            labels = new
        return labels

    def offer(self, solution: Solution, signs: np.ndarray) -> None:
        """Keep a solution with these labels if it is better than the best one."""
        value = self._objective(solution, signs)
        if value < self.best.objective * (1.0 - MIN_DECREASE):
            self._best = replace(solution, labels=signs, objective=value)

    def log(self, n_nodes: int) -> None:
        """Log the best solution and the bound."""
        self.n_nodes = n_nodes
        row = {"objective": float(self.best.objective), "bound": float(self.lower_bound), "nodes": n_nodes}
        self.stop.log_iteration(row)

    def build_program(self) -> tuple[IntegerProgram, np.ndarray, float]:
        """The program, the samples in its order, and the sign of its positive class.

        Order and sign depend on the data alone: where the solver ends early, the solution still does not depend on the
        order of the samples and the names of the classes.
        """
        problem, scaled = self.problem, scaled_features(self.problem)
        included = problem.is_labeled & (problem.cost > 0)
        included[self.samples] = True
        samples = np.flatnonzero(included)
        samples = samples[np.argsort(scaled.Z[samples] @ np.cos(np.arange(scaled.Z.shape[1])), kind="stable")]
        signs, scale = problem.signs[samples], scaled.scale**problem.norm
        side = signs[signs != 0][0]
        weights = self.weights[np.searchsorted(self.samples, samples[signs == 0])]
        low, high = self.band
        if side < 0:
            low, high = weights.sum() - high, weights.sum() - low
        program = IntegerProgram(
            Z=scaled.Z[samples],
            signs=side * signs,
            cost=scale * problem.cost[samples],
            weights=weights,
            low=low,
            high=high,
            intercept=problem.intercept,
            objective_scale=scale,
            norm=problem.norm,
            upper=scale * self.best.objective,
        )
        lowest_f, highest_f = score_bounds(program)
        return program._replace(lowest_f=lowest_f, highest_f=highest_f), samples, side

    def run_integer_solver(self, tol: float, max_nodes: int) -> None:
        """Solve the program, and improve the labels that the solver finds."""
        program, samples, side = self._program = self.build_program()
        position = np.argsort(samples[program.signs == 0])  # of ``self.samples`` in the program

        def on_incumbent(n_nodes: int, bound: float, labels: np.ndarray) -> None:
            self._increase_bound((bound - BOUND_MARGIN * program.upper) / program.objective_scale)
            self.alternate(side * labels[position])
            self.log(n_nodes)

        if self.problem.norm == 1:
            result = solve_with_highs(program, tol, max_nodes, self.stop)
        else:
            start = self._start_values(program, samples, side)
            result = solve_with_scip(program, tol, max_nodes, self.stop, start, on_incumbent)
        self._finish(result, program, side, position)

    def _finish(self, result: IntegerResult, program: IntegerProgram, side: float, position: np.ndarray) -> None:
        self._increase_bound(result.lower_bound / program.objective_scale)
        self.n_nodes = max(result.n_nodes, 1)
        if result.labels is not None:
            self.alternate(side * result.labels[position])
        self.stop.end(result.status)

    def _increase_bound(self, bound: float) -> None:
        self.lower_bound = max(self.lower_bound, bound)

    def _start_values(self, program: IntegerProgram, samples: np.ndarray, side: float) -> np.ndarray:
        """The best solution as the variables of ``solve_with_scip``."""
        f, labels = side * self.best.scores[samples], side * self.best.labels[samples]
        scale = program.objective_scale
        v = side * scale**0.5 * self.best.coef
        b = [] if program.intercept is False else [float(np.mean(f - program.Z @ v))]
        norm = 0.5 * v @ v + (0.5 * scale * b[0] ** 2 if program.intercept == "regularized" else 0.0)
        return np.r_[v, b, norm, np.maximum(1.0 - labels * f, 0.0), labels[program.signs == 0] > 0]

    def solution(self, tol: float) -> Solution:
        """The best solution, with its objective recomputed, and the bound."""
        if self._best is None:  # Ctrl-C came before anything was solved
            self._begin(solve_convex(self.problem, self.problem.signs, StoppingRule(max_time=0.0)))
        best = self.best
        labels = np.where(best.labels != 0, best.labels, np.where(best.scores > 0, 1.0, -1.0))
        value = objective(self.problem, best.coef, best.intercept, labels if len(self.samples) else None)
        self._best = replace(best, labels=labels, objective=value)
        with self.stop:  # the callback sees the last row, too, and may raise
            self.log(self.n_nodes)
        best = replace(
            self.best,
            status=str(self.stop.status),
            n_iter=self.n_nodes,
            trace=self.stop.trace,
            details={} if self._program is None else {"big_m_slack": self._big_m_slack()},
        )
        return with_gap(best, self.lower_bound, self._largest_gap(tol))

    def _largest_gap(self, tol: float) -> float:
        """The gap that a converged solution promises: ``tol`` of the objective, but for the solver's tolerances."""
        value = abs(self.best.objective)
        upper = value if self._program is None else self._program[0].upper / self._program[0].objective_scale
        return tol * value + GAP_MARGIN * upper

    def _big_m_slack(self) -> float:
        """The smallest distance of a score from the interval in which big M does not bind."""
        assert self._program is not None
        program, samples, side = self._program
        f = side * self.best.scores[samples[program.signs == 0]]
        return float(np.minimum(f - program.lowest_f, program.highest_f - f).min())
