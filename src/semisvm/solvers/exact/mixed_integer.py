"""The best labels of the unlabeled samples by mixed integer programming.

minimize over f and the labels y_j = +-1 of the searched samples that keep the balance

    ||w||_1 or 1/2 ||w||^2 [+ the part of the intercept] + sum over all i of c_i (1 - y_i f_i)_+

A heuristic goes first: labels by the rank of the supervised scores, then alternating minimization over f and labels, at
the full cost of the unlabeled samples and at increasing costs. Its objective is an upper bound on the optimum, which
bounds all scores and so makes the big M of ``integer_program`` small. The labels that the integer solver returns are
improved in the same way, and the best solution is returned with the solver's lower bound; the SVM of the labeled
samples gives one before the search.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...balance import Count, Free, labels_in_band, positive_band
from ...losses import Hinge, SymmetricHinge
from ...problem import Problem, objective
from ...solution import Solution, with_gap
from ..base import Accepts, Callback, Solver, StoppingRule
from ..dual import SMO
from .highs import solve_with_highs
from .integer_program import BOUND_MARGIN, GAP_MARGIN, IntegerProgram, score_bounds
from .linear_program import labeled_losses, scaled_features, solution_from_lp, solve_lp, trivial_solution
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
    if found is None:
        return replace(solution_from_lp(supervised, trivial_solution(supervised)), status="max_time")
    return solution_from_lp(supervised, found)


class _IntegerSearch:
    """The search of one problem.

    Attributes
    ----------
    samples, weights : arrays
        The samples whose labels are searched, and their weights in the balance.
    band : tuple of two floats
        Lowest and highest weight of positive samples.
    lower_bound : float
        A lower bound on the objective of all labels that keep the balance.
    n_nodes : int
        Nodes of the integer solver.
    program : IntegerProgram or None
        The program, once it is built.
    """

    def __init__(self, problem: Problem, stop: StoppingRule):
        self.problem, self.stop = problem, stop
        self.samples = problem.searched
        self.weights = problem.weights_of(self.samples)
        self.band = (-np.inf, np.inf)
        self.lower_bound, self.n_nodes = 0.0, 1
        self.program: IntegerProgram | None = None
        self._best: Solution | None = None

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
        self.alternate(labels)
        if start is not None:
            self.alternate(start.labels[self.samples])
        for share in COST_SHARES:
            labels = self.alternate(labels, share)

    def _begin(self, first: Solution) -> None:
        """Take the supervised SVM as the first solution, with labels by the rank of its scores within the balance."""
        problem, labels, value = self.problem, first.labels.copy(), first.objective
        self.lower_bound = max(first.certificate.lower_bound or 0.0, 0.0)
        if len(self.samples):
            labels[self.samples] = labels_in_band(first.scores[self.samples], self.weights, problem.balance)
            self.band = positive_band(problem.balance, self.weights, labels[self.samples])
            value = objective(problem, first.coef, first.intercept, labels)
        elif problem.unlabeled is not None and problem.has_unlabeled:
            rest = np.flatnonzero(problem.mean_weights > 0)
            labels[rest] = labels_in_band(first.scores[rest], problem.weights_of(rest), problem.balance)
        self._best = replace(first, labels=labels, objective=value)

    def alternate(self, labels: np.ndarray, share: float = 1.0) -> np.ndarray:
        """Minimize over f and labels in turn, at a share of the cost of the searched samples; returns the last labels.

        At the full cost a solution that is better than the best one takes its place.
        """
        cost = self.problem.cost.copy()
        cost[self.samples] *= share
        problem, value = replace(self.problem, cost=cost), np.inf
        for _ in range(MAX_ALTERNATIONS):
            if not self.stop.running or self.stop.time_is_over:
                break
            signs = self.problem.signs.copy()
            signs[self.samples] = labels
            solution = solve_convex(problem, signs, self.stop)
            if share == 1.0 and solution.objective < self.best.objective * (1.0 - MIN_DECREASE):
                self._best = solution
            if solution.objective >= value * (1.0 - MIN_DECREASE):
                break
            value = solution.objective
            new = labels_in_band(solution.scores[self.samples], self.weights, problem.balance)
            if (new == labels).all() or not self.band[0] <= self.weights @ (new > 0) <= self.band[1]:
                break
            labels = new
        return labels

    def log(self, n_nodes: int) -> None:
        """Log the best solution and the bound."""
        self.n_nodes = n_nodes
        row = {"objective": float(self.best.objective), "bound": float(self.lower_bound), "nodes": n_nodes}
        self.stop.log_iteration(row)

    def build_program(self) -> IntegerProgram:
        """The program, in an order and with a positive class that depend on the data alone.

        Where the solver ends early, the solution then does not depend on the order of the samples and the names of the
        classes.
        """
        problem, scaled = self.problem, scaled_features(self.problem)
        samples = np.r_[labeled_losses(problem).samples, self.samples]
        samples = samples[np.argsort(scaled.Z[samples] @ np.cos(np.arange(scaled.Z.shape[1])), kind="stable")]
        signs, scale = problem.signs[samples], scaled.scale**problem.norm
        side = signs[signs != 0][0]
        weights = problem.weights_of(samples[signs == 0])
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
            samples=samples,
            side=side,
        )
        lowest_f, highest_f = score_bounds(program)
        return program._replace(lowest_f=lowest_f, highest_f=highest_f)

    def run_integer_solver(self, tol: float, max_nodes: int) -> None:
        """Solve the program, and improve the labels that the solver finds."""
        program = self.program = self.build_program()

        def on_incumbent(n_nodes: int, bound: float, labels: np.ndarray) -> None:
            self._improve(program, bound, labels)
            self.log(n_nodes)

        if program.norm == 1:
            result = solve_with_highs(program, tol, max_nodes, self.stop)
        else:
            start = self._start_values(program)
            result = solve_with_scip(program, tol, max_nodes, self.stop, start, on_incumbent)
        self._improve(program, result.lower_bound, result.labels)
        self.n_nodes = max(result.n_nodes, 1)
        self.stop.end(result.status)

    def _improve(self, program: IntegerProgram, bound: float, labels: np.ndarray | None) -> None:
        """Take over the bound of an integer solver, and minimize from its labels."""
        bound = (bound - BOUND_MARGIN * program.upper) / program.objective_scale
        self.lower_bound = max(self.lower_bound, bound)
        if labels is not None:
            position = np.argsort(program.searched)  # of ``self.samples`` in the program
            self.alternate(program.side * labels[position])

    def _start_values(self, program: IntegerProgram) -> np.ndarray:
        """The best solution as the variables of ``solve_with_scip``."""
        side, scale = program.side, program.objective_scale
        f, labels = side * self.best.scores[program.samples], side * self.best.labels[program.samples]
        v = side * scale**0.5 * self.best.coef
        b = [] if program.intercept is False else [float(np.mean(f - program.Z @ v))]
        norm = 0.5 * v @ v + (0.5 * scale * b[0] ** 2 if program.intercept == "regularized" else 0.0)
        return np.r_[v, b, norm, np.maximum(1.0 - labels * f, 0.0), labels[program.signs == 0] > 0]

    def solution(self, tol: float) -> Solution:
        """The best solution, with the bound; the gap that it promises is ``tol``, but for the solver's tolerances."""
        if self._best is None:  # Ctrl-C came before anything was solved
            self._begin(solve_convex(self.problem, self.problem.signs, StoppingRule(max_time=0.0)))
        with self.stop:  # the callback sees the last row, too, and may raise
            self.log(self.n_nodes)
        value, details = abs(self.best.objective), {}
        upper = value
        if self.program is not None:
            upper = self.program.upper / self.program.objective_scale
            details = {"big_m_slack": self._big_m_slack(self.program)}
        status, trace = str(self.stop.status), self.stop.trace
        best = replace(self.best, status=status, n_iter=self.n_nodes, trace=trace, details=details)
        return with_gap(best, self.lower_bound, tol * value + GAP_MARGIN * upper)

    def _big_m_slack(self, program: IntegerProgram) -> float:
        """The smallest distance of a score from the interval in which big M does not bind."""
        f = program.side * self.best.scores[program.searched]
        return float(np.minimum(f - program.lowest_f, program.highest_f - f).min())
