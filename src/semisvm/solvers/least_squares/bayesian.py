"""BS2LS-SVM: the most probable labels, as an integer quadratic program.

With a Gaussian prior on w and Gaussian noise the posterior of the labels is largest where F'H^-1F is, which is
beta n - mu y'Sy with C = beta/mu: the labels of smallest 1/2 y'Sy subject to the balance. They are searched as in
``label_search``; for few samples ``optimal_labels`` proves the optimum, and otherwise bounds the objective from below.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...balance import Count, Free, remaining_balance
from ...losses import Squared, SymmetricSquared
from ...problem import Problem
from ...solution import Solution, gap_certificate
from ...spaces import memory_limit
from ..base import Accepts, Callback, Solver, StoppingRule, without_false_bound
from .label_search import LabelSearch
from .optimal_labels import Labeling, enumerate_all, relaxation_bound, solve_scip
from .system import System, build_system, solution_from_labels, solve_labeled, system_in_time

MAX_ENUMERATED = 18  # samples whose labels are all enumerated, which takes milliseconds
MAX_PROVED = 30  # samples whose optimum SCIP proves in seconds
MAX_BOUNDED = 3000  # samples up to which the relaxation, a few systems of this size, is solved
GAP_TOL = 1e-5  # of the objective, or of 1 if that is larger: gap of a proved optimum


@dataclass(frozen=True)
class IntegerQuadratic(Solver):
    """The labels of smallest 1/2 y'Sy, proved optimal where that is possible.

    Parameters
    ----------
    exact : {"auto", True, False}
        Prove the optimum: by enumeration for at most ``MAX_ENUMERATED`` samples and, if it is installed, by SCIP for at
        most ``MAX_PROVED``; for any number of samples; never.
    confidence_threshold : float or None
        Unlabeled samples close to a labeled one whose supervised ``|f|`` is at least this get its sign before the
        search.
    max_distance : float or None
        What close means: a distance in feature space; None for the median over the unlabeled samples of the distance to
        the closest labeled one.
    n_init : int
        Labelings that the search starts from.
    max_iter : int
        Largest number of rounds of the search.
    max_time : float or None
        Seconds after which the best solution so far is returned, without a bound if the time does not allow for one.

    References
    ----------
    M. M. Adankon, M. Cheriet and A. Biem, "Semisupervised learning using Bayesian interpretation: application to
    LS-SVM", IEEE Transactions on Neural Networks 22, 2011. https://doi.org/10.1109/TNN.2011.2105888
    """

    exact: bool | str = "auto"
    confidence_threshold: float | None = None
    max_distance: float | None = None
    n_init: int = 10
    max_iter: int = 1000

    accepts: ClassVar[Accepts] = Accepts((Squared,), (SymmetricSquared,), (Free, Count))

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Fix the confident samples, search, then prove or bound."""
        stop = StoppingRule(max_time=self.max_time)
        if not len(problem.searched):
            return _solve_supervised(problem.labeled_only(), callback)
        inner = self.fix_confident(problem)
        search = LabelSearch("round_robin", self.n_init, self.max_iter, max_time=stop.time_left)
        found = search.solve(inner, start, callback, rng)
        if found.ended_early:
            stop.end(found.status)
        system = system_in_time(problem, stop)
        if system is None:
            return replace(found, details={"evidence": np.nan, "mu": np.nan})
        free = np.flatnonzero(inner.signs[system.samples] == 0)
        best = Labeling(found.labels[system.samples])
        with stop:
            if len(free) and stop.running and self._proves(len(free)):
                if len(free) <= MAX_ENUMERATED:
                    best = enumerate_all(problem, system, best.y, free)
                else:
                    best = solve_scip(problem, system, best.y, free, stop)
            if len(free) < len(system.searched):
                best = best._replace(bound=None, is_optimal=False)  # the bound has to hold for all labels
            if best.bound is None and self._bounds(len(system.searched), stop):
                best = best._replace(bound=relaxation_bound(system, best.y, system.searched, stop))
        return _solution(problem, system, found, best, stop)

    def prepare(self, problems: Sequence[Problem], stop: StoppingRule) -> None:
        """The system, which all classes against the rest share."""
        LabelSearch().prepare(problems, stop)

    def _proves(self, n: int) -> bool:
        """Whether to prove the optimum of n samples."""
        if self.exact == "auto":
            return n <= MAX_ENUMERATED or (n <= MAX_PROVED and importlib.util.find_spec("pyscipopt") is not None)
        return bool(self.exact)

    def _bounds(self, n: int, stop: StoppingRule) -> bool:
        """Whether to bound the objective by a relaxation of n samples: an eigenvalue, then systems of that size."""
        return n <= MAX_BOUNDED and 8 * n**2 <= memory_limit() and stop.has_time_for(n**3)

    def fix_confident(self, problem: Problem) -> Problem:
        """The problem with the labels of confident samples close to labeled ones, and the balance of the others."""
        if self.confidence_threshold is None:
            return problem
        first = solve_labeled(problem.labeled_only())
        gram, searched = problem.space.gram(), problem.searched
        distance = np.full(gram.n, np.inf)
        for sample in problem.labeled_samples.tolist():
            np.minimum(distance, gram.squared_distances(sample), out=distance)
        limit = np.median(distance[searched]) if self.max_distance is None else self.max_distance**2
        f = first.scores[searched]
        fixed = (distance[searched] <= limit) & (np.abs(f) >= self.confidence_threshold)
        y = np.where(f > 0, 1.0, -1.0)
        signs = problem.signs.copy()
        signs[searched[fixed]] = y[fixed]
        balance = remaining_balance(problem.balance, problem.weights_of(searched), fixed, y)
        return replace(problem, signs=signs, balance=balance)


def _solve_supervised(problem: Problem, callback: Callback | None) -> Solution:
    """The model of the labeled samples, with the evidence of their labels."""
    system = build_system(problem)
    return replace(solve_labeled(problem, callback), details=_evidence(system, problem.signs[system.samples]))


def _solution(problem: Problem, system: System, found: Solution, best: Labeling, stop: StoppingRule) -> Solution:
    """The solution of the best labels; ``found`` is that of the search."""
    solution = solution_from_labels(problem, system, best.y)
    trace = found.trace
    if solution.objective < found.objective:
        trace = [*trace, trace[-1] | {"step": len(trace), "objective": solution.objective}]
    certificate = found.certificate
    if best.bound is not None:
        tol = GAP_TOL * max(solution.objective, 1.0) if best.is_optimal else None
        certificate = gap_certificate(solution.objective, best.bound, tol)
    found = replace(
        solution,
        certificate=certificate,
        status=stop.status or "converged",
        n_iter=found.n_iter,
        trace=trace,
        details=_evidence(system, best.y),
    )
    return without_false_bound(problem, found)


def _evidence(system: System, y: np.ndarray) -> dict[str, float]:
    """Log evidence of the labels, and the precision mu of the prior at which it is largest."""
    evidence, mu = system.form.evidence(y)
    return {"evidence": evidence, "mu": mu}
