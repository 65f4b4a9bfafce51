"""BS2LS-SVM (Adankon, Cheriet and Biem): the most probable labels, as an integer quadratic program.

With a Gaussian prior on w and Gaussian noise the posterior of the labels is largest where F'H^-1F is, which is
beta n - mu y'Sy with C = beta/mu: the labels of smallest 1/2 y'Sy, subject to the balance. All labels of few rows are
tried, SCIP proves the optimum of some more; many are searched as in ``label_search``, and a relaxation says how far the
best can be below.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..balance import Count, Free
from ..linalg import box_qp, flips, lower_bound
from ..losses import Squared, SymmetricSquared
from ..problem import Problem
from ..solution import Certificate, Solution
from .label_search import LabelSearch, limits_of, weights_of
from .least_squares import System, fitted, machine, system_of
from .scip import package

TRIED_ROWS = 18  # all labels of so many rows are tried in a blink
PROVEN_ROWS = 30  # SCIP proves so many in seconds
BOUNDED_ROWS = 3000  # the relaxation solves systems of this size a few times
KEEP_CONVEX = 1.0 - 1e-9


@dataclass(frozen=True)
class IntegerQuadratic:
    """The labels of smallest 1/2 y'Sy, proven where that is possible.

    Parameters
    ----------
    exact : {"auto", True, False}
        Prove the optimum: by trial of all labels of at most ``TRIED_ROWS`` rows, by SCIP, if it is installed, of at
        most ``PROVEN_ROWS``; however many there are; never.
    confident : float or None
        Unlabeled rows close to a labeled one whose supervised |f| is at least this get that label before the search.
    near : float or None
        What close means: a distance in feature space; None for the median over the unlabeled rows of the distance to
        the closest labeled one.
    n_init : int
        Starts of the search.
    max_iter : int
        Largest number of rounds of the search.
    max_time : float or None
        Seconds after which the best so far is returned.
    """

    exact: bool | str = "auto"
    confident: float | None = None
    near: float | None = None
    n_init: int = 10
    max_iter: int = 1000
    max_time: float | None = None

    losses = (Squared,)
    unlabeled_losses = (type(None), SymmetricSquared)
    balances = (Free, Count)

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Fix the confident rows, search, then prove or bound."""
        if problem.unlabeled is None or not len(system_of(problem).free):
            solution = fitted(problem.alone(), callback)
            system = system_of(problem.alone())
            solution.facts.update(_evidence(system, problem.signs[system.rows]))
            return solution
        inner = self._with_confident(problem) if self.confident is not None else problem
        search = LabelSearch("round_robin", self.n_init, self.max_iter, self.max_time)
        found = search.solve(inner, start, callback, rng)
        system = system_of(problem)
        y = found.labels[system.rows]
        free = np.flatnonzero(inner.signs[system.rows] == 0)
        status, bound = found.status, None
        if len(free) and status == "converged" and self._proves(len(free)):
            prove = _tried if len(free) <= TRIED_ROWS else _scip
            y, bound, status = prove(problem, system, y, free, self.max_time)
        if (bound is None or len(free) < len(system.free)) and len(system.free) <= BOUNDED_ROWS:
            bound = relaxed(system, y, system.free)  # rows fixed first are free in the bound: it is one for all labels
        solution = machine(problem, system, y, status=status, n_iter=found.n_iter, trace=found.trace)
        solution.facts.update(_evidence(system, y))
        if solution.objective < found.objective:
            solution.trace.append(found.trace[-1] | {"step": len(found.trace), "objective": solution.objective})
        if bound is None:
            solution.certificate = found.certificate
        else:
            gap = max(solution.objective - bound, 0.0)
            solution.certificate = Certificate("gap", gap, bound, gap)
        return solution

    def _proves(self, rows: int) -> bool:
        if self.exact == "auto":
            return rows <= TRIED_ROWS or (rows <= PROVEN_ROWS and importlib.util.find_spec("pyscipopt") is not None)
        return bool(self.exact)

    def _with_confident(self, problem: Problem) -> Problem:
        """The problem with the labels of confident rows near labeled ones given, and the balance of what is left."""
        first = fitted(problem.alone())
        gram = problem.space.gram()
        diagonal, known = gram.diagonal(), np.flatnonzero(problem.is_labeled & (problem.cost > 0))
        rest = np.flatnonzero(~problem.is_labeled & (problem.cost > 0))
        distance = np.full(gram.n, np.inf)
        for z in known:
            unit = np.zeros(gram.n)
            unit[z] = 1.0
            np.minimum(distance, diagonal + diagonal[z] - 2.0 * gram.times(unit), out=distance)
        limit = np.median(distance[rest]) if self.near is None else self.near**2
        sure = rest[(distance[rest] <= limit) & (np.abs(first.scores[rest]) >= self.confident)]
        signs = problem.signs.copy()
        signs[sure] = np.where(first.scores[sure] > 0, 1.0, -1.0)
        return problem._replace(signs=signs, balance=_rest_of(problem, signs, sure, rest))


def _evidence(system: System, y: np.ndarray) -> dict[str, float]:
    """Log evidence of the labels, and the precision mu of the prior at which it is largest."""
    alpha = system.form.times(y)
    spread = float(y @ alpha)
    freedom = system.form.n - (1 if system.form.intercept is True else 0)
    return {"evidence": system.form.evidence(y, alpha), "mu": freedom / spread}


def _rest_of(problem: Problem, signs: np.ndarray, sure: np.ndarray, rest: np.ndarray) -> tuple:
    """The balance that the rows still to be labeled have to keep."""
    if not isinstance(problem.balance, Count):
        return problem.balance
    weight = np.ones(len(signs)) if problem.weights is None else problem.weights
    total, left = weight[rest].sum(), weight[rest].sum() - weight[sure].sum()
    if left <= 0:
        return Free()
    r, slack = problem.balance
    given = weight[sure][signs[sure] > 0].sum()
    low, high = (float(np.clip((end * total - given) / left, 0.0, 1.0)) for end in (r - slack, r + slack))
    return Count(0.5 * (low + high), 0.5 * (high - low))


def _shifted(system: System, y: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """1/2 x'Px + q'x + constant for x = y[free] of +-1, P as little convex as can be.

    x'x is the number of rows for labels of +-1, so the smallest eigenvalue of S_ff is taken out of P: the same values
    at labels, higher ones between them.
    """
    fixed = np.setdiff1d(np.arange(len(y)), free)
    P = system.form.block(free)
    P = 0.5 * (P + P.T)
    q = system.form.block(free, fixed) @ y[fixed]
    lift = KEEP_CONVEX * float(linalg.eigvalsh(P, subset_by_index=(0, 0))[0])
    P[np.diag_indices(len(free))] -= lift
    known = np.zeros(len(y))
    known[fixed] = y[fixed]
    return P, q, system.form.value(known) + 0.5 * lift * len(free)


def relaxed(system: System, y: np.ndarray, free: np.ndarray) -> float:
    """A bound on 1/2 y'Sy over all labels of the free rows: the smallest value over the box between them."""
    P, q, constant = _shifted(system, y, free)
    x = box_qp(P, q, 0.5 * y[free])
    return constant + lower_bound(float(0.5 * x @ P @ x + q @ x), P @ x + q, x)


def _tried(problem: Problem, system: System, y: np.ndarray, free: np.ndarray, max_time) -> tuple:
    """The best of all labels, its value as the bound, and the status."""
    S = np.ascontiguousarray(system.form.block(free))
    weight, (low, high) = _limits(problem, system, free, y)
    best = y.copy()
    alpha = system.form.times(y)[free]
    positive = float(weight @ (y[free] > 0))
    best[free] = flips.enumerate_labels(S, y[free].copy(), alpha, weight, positive, low, high)
    return best, system.form.value(best), "converged"


def _limits(problem: Problem, system: System, free: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, tuple]:
    """Weights of the free rows, and between which sums the positive ones among them may lie."""
    weight = np.ones(len(y))
    weight[system.free] = weights_of(problem, system)
    low, high = limits_of(problem.balance, weight[system.free], y[system.free])
    others = np.setdiff1d(system.free, free)
    given = float(weight[others] @ (y[others] > 0))
    now = float(weight[free] @ (y[free] > 0))  # as near as one gets, if the others break the balance
    return weight[free], (min(low - given, now), max(high - given, now))


def _scip(problem: Problem, system: System, y: np.ndarray, free: np.ndarray, max_time) -> tuple:
    """The best labels by SCIP from the ones found, with a bound, and why it stopped."""
    pyscipopt = package("exact=True", "exact=False")
    Model, quicksum = pyscipopt.Model, pyscipopt.quicksum
    P, q, constant = _shifted(system, y, free)
    model = Model()
    model.hideOutput()
    model.setParam("limits/gap", 0.0)
    if max_time is not None:
        model.setParam("limits/time", float(max_time))
    # labels 2 z - 1 of binary z: 1/2 x'Px + q'x = 2 z'Pz + 2 (q - P1)'z + 1/2 1'P1 - q'1
    z = [model.addVar(vtype="B", name=f"z{i}") for i in range(len(free))]
    top = model.addVar(lb=None, name="top")
    linear = 2.0 * (q - P.sum(axis=1))
    model.addCons(
        quicksum(2.0 * P[i, i] * z[i] * z[i] + linear[i] * z[i] for i in range(len(free)))
        + quicksum(4.0 * P[i, j] * z[i] * z[j] for i in range(len(free)) for j in range(i))
        <= top
    )
    model.setObjective(top, "minimize")
    weight, (low, high) = _limits(problem, system, free, y)
    if np.isfinite(high):
        positive = quicksum(float(w) * variable for w, variable in zip(weight, z))
        model.addCons(positive <= high)
        model.addCons(positive >= low)
    start = model.createSol()
    for variable, label in zip(z, y[free]):
        model.setSolVal(start, variable, float(label > 0))
    values = 0.5 * y[free] @ P @ y[free] + q @ y[free]
    offset = 0.5 * P.sum() - q.sum()
    model.setSolVal(start, top, float(values - offset) + 1e-9)
    model.addSol(start)
    model.optimize()
    best = y.copy()
    best[free] = [1.0 if model.getVal(variable) > 0.5 else -1.0 for variable in z]
    better = system.form.value(best) < system.form.value(y)
    status = "converged" if model.getStatus() in ("optimal", "gaplimit") else "max_time"
    y = best if better else y
    return y, min(constant + offset + model.getDualbound(), system.form.value(y)), status
