"""TLS-SVM by difference-of-convex steps: fit, take the signs, fit again.

The symmetric squared loss 1/2 (1 - |f|)^2 is convex minus |f|; its tangent at the present scores turns a step into
least squares with the labels sign(f). Each step decreases the objective, and once no sign changes the point is
stationary. With a balance the labels are the closest ones that keep it: +1 for the highest scores, as many as it
requires. Classes take their steps side by side: a step of all of them is one product with several columns of labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...balance import Count, Free, labels_by_sign, nearest_labels
from ...losses import Squared, SymmetricSquared
from ...problem import Problem
from ...solution import Certificate, Solution
from ...spaces import Space
from ..base import Accepts, Callback, Solver, StoppingRule
from .system import last_model, searched_solution, solve_labeled, system_in_time


@dataclass(frozen=True)
class DifferenceConvex(Solver):
    """Labels by the sign of f, f by the labels, until they agree.

    Parameters
    ----------
    max_iter : int
        Largest number of steps.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    .. [1] J. Shim and K. Seok, "A transductive least squares support vector machine with the difference convex
       algorithm", Journal of the Korean Data and Information Science Society 25, 2014.
    .. [2] A. L. Yuille and A. Rangarajan, "The concave-convex procedure", Neural Computation 15, 2003.
       https://doi.org/10.1162/08997660360581958
    """

    max_iter: int = 1000

    accepts: ClassVar[Accepts] = Accepts((Squared,), (SymmetricSquared,), (Free, Count), batch=True)

    def needs_samples(self) -> None:
        """Nothing: products are enough."""

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Step from the supervised model or from another solution."""
        return self._solve([problem], [callback], start)[0]

    def solves_together(self, space: Space) -> bool:
        """On features as well as behind a kernel."""
        return True

    def solve_batch(self, problems: Sequence[Problem], callbacks: Sequence[Callback | None]) -> list[Solution]:
        """Solve several problems in one space; those with the same system take their steps side by side."""
        return self._solve(problems, callbacks, None)

    def _solve(
        self, problems: Sequence[Problem], callbacks: Sequence[Callback | None], start: Solution | None
    ) -> list[Solution]:
        rules = [StoppingRule(self.max_iter, self.max_time, callback) for callback in callbacks]
        searches = [_Search(problem, start, stop) for problem, stop in zip(problems, rules)]
        while any(search.is_running for search in searches):
            running = [search for search in searches if search.is_running]
            _step([search for search in running if search.system.form is running[0].system.form])
            if any(search.stop.interrupted for search in searches):
                for search in running:
                    search.stop.end("interrupted")
        share = None if self.max_time is None else self.max_time / len(problems)
        return [search.solution(share) for search in searches]


class _Search:
    """The steps of one problem.

    Attributes
    ----------
    has_system : bool
        Whether there is a system: not where nothing is searched, or where the time was over before it was built.
    y : array
        The labels of the samples of the system.
    alpha : array or None
        S y, if it has been computed for these labels.
    """

    def __init__(self, problem: Problem, start: Solution | None, stop: StoppingRule):
        self.problem, self.stop = problem, stop
        self.n_changed = len(problem.searched)
        self.alpha: np.ndarray | None = None
        self.has_system = False
        if not self.n_changed:
            return
        self.first = solve_labeled(problem.labeled_only()) if start is None else start
        self.weights = problem.weights_of(problem.searched)
        self.labels = labels_by_sign(self.first.scores[problem.searched], self.weights, problem.balance)
        system = system_in_time(problem, stop)
        if system is not None:
            self.system, self.has_system = system, True
            self.y = problem.signs[system.samples].copy()
            self.y[system.searched] = self.labels

    @property
    def is_running(self) -> bool:
        """Whether there are steps to take."""
        return self.has_system and self.stop.running

    def step(self, alpha: np.ndarray) -> None:
        """Replace the labels by those closest to their scores, alpha being S y; converged if they are the same."""
        self.alpha = alpha
        _, new = self._next_labels(alpha)
        changes = new != self.y[self.system.searched]
        value = self.system.form.value(self.y, alpha)
        self.stop.log_iteration({"objective": value, "changed": self.n_changed}, converged=not changes.any())
        if self.stop.running:
            self.alpha = None
            self.y[self.system.searched] = new
            self.n_changed = int(np.count_nonzero(changes))

    def _next_labels(self, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The scores of the present labels, and the labels closest to these scores within the balance.

        The present ones are kept if the others do not decrease the objective.
        """
        searched, samples = self.system.searched, self.problem.searched
        f, present = self.system.form.scores(self.y, alpha)[searched], self.y[searched]
        new = nearest_labels(f, present, self.weights, self.problem.balance)
        if self.problem.cost[samples] @ ((new - present) * f) <= 0:
            new = present  # weights that differ may leave no closer labels within the balance
        return f, new

    def solution(self, max_time: float | None) -> Solution:
        """The solution of the labels at which the steps ended."""
        if not len(self.problem.searched):
            return solve_labeled(self.problem.labeled_only(), self.stop.callback)
        if not self.has_system:
            return last_model(self.problem, self.first, self.labels, str(self.stop.status), max_time)
        alpha = self.system.form.product(self.y) if self.alpha is None else self.alpha
        f, new = self._next_labels(alpha)
        violation = float(np.abs(f[new != self.y[self.system.searched]]).max(initial=0.0))
        certificate = Certificate("stationary", violation, tol=0.0)
        return searched_solution(self.problem, self.system, self.y, certificate, self.stop, alpha)


def _step(searches: list[_Search]) -> None:
    """A step of problems with the same system, by one product; Ctrl-C ends the one at which it arrives."""
    with searches[0].stop:
        Y = np.column_stack([search.y for search in searches])
        A = searches[0].system.form.product(Y if len(searches) > 1 else Y[:, 0])
        A = A.reshape(Y.shape)
    for column, search in enumerate(searches):
        if any(one.stop.interrupted for one in searches):
            return
        with search.stop:
            search.step(np.ascontiguousarray(A[:, column]))
