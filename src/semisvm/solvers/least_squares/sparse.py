"""Least-squares SVMs with few support vectors.

``Greedy``
    adds samples one at a time: with Q = K + 11' + diag(1/c) and the model of the samples S so far, the next one is that
    which increases the dual objective most, by g_j^2/(2 s_j), with g = y - Q_.S a_S the residual and s_j the Schur
    complement of the sample. It ends at a small relative gain; the rule of the article was not available.
``Pruning``
    starts from all samples and removes those of smallest |alpha|, a twentieth at a time, from the inverse by one block
    elimination. Samples removed are evaluated like new ones, samples kept by leave-one-out.

The reduced set, which keeps every sample in the loss, is the exact solution in the features of ``spaces.nystroem``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from ...losses import Squared
from ...problem import Problem
from ...solution import Solution
from ...spaces import Gram
from ..base import Accepts, Callback, Solver, StoppingRule
from .growing_inverse import remove_from_inverse
from .system import build_dense_form, solution_from_dual

POOL_SIZE = 8192  # samples among which the next one is searched
PRUNED_SHARE = 0.05


def _sparse_solution(problem: Problem, dual: np.ndarray, b: float, stop: StoppingRule) -> Solution:
    """The solution of few dual variables.

    The last row of its trace has the objective over all samples, those before it the objective over the few.
    """
    solution = solution_from_dual(problem, problem.signs, dual, problem.space.from_dual(dual), b)
    trace = [*stop.trace, {"step": len(stop.trace), "objective": solution.objective}]
    return replace(solution, status=stop.status or "converged", n_iter=max(len(stop.trace), 1), trace=trace)


@dataclass(frozen=True)
class Greedy(Solver):
    """Support vectors added one at a time, each the one that increases the dual objective most.

    Parameters
    ----------
    n_support : int or None
        Largest number of support vectors; None for all samples.
    tol : float
        Stop when a sample would add less than this share of the dual objective.
    max_time : float or None
        Seconds after which the support vectors so far are kept.

    References
    ----------
    L. Jiao, L. Bo and L. Wang, "Fast sparse approximation for least squares support vector machine", IEEE Transactions
    on Neural Networks 18, 2007.
    """

    n_support: int | None = None
    tol: float = 1e-4

    accepts: ClassVar[Accepts] = Accepts((Squared,), intercepts=("regularized",), space="gram")

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Add samples of a pool of at most ``POOL_SIZE``, drawn at random."""
        stop = StoppingRule(max_time=self.max_time, callback=callback)
        pool = problem.labeled_samples
        if len(pool) > POOL_SIZE:
            pool = np.sort(np.random.default_rng(rng).choice(pool, POOL_SIZE, replace=False))
        max_support = min(self.n_support or len(pool), len(pool))
        factor = _GreedyCholesky(problem, pool, max_support)
        with stop:
            while stop.running and len(factor.chosen) < max_support:
                j, gain = factor.best()
                if gain <= self.tol * factor.dual_objective:
                    break
                factor.add(j, gain)
                is_full = len(factor.chosen) == max_support
                stop.log_iteration({"objective": factor.dual_objective}, converged=is_full)
        dual = np.zeros(problem.space.n)
        dual[pool[factor.chosen]] = factor.coefficients()
        return _sparse_solution(problem, dual, float(dual.sum()), stop)


class _GreedyCholesky:
    """The Cholesky factor of Q over the chosen samples, with residuals and Schur complements of the pool."""

    def __init__(self, problem: Problem, pool: np.ndarray, max_support: int):
        self._gram, self._pool = problem.space.gram(), pool
        self._y, self._ridge = problem.signs[pool], 1.0 / problem.cost[pool]
        self._L = np.zeros((len(pool), max_support))
        self._residual = self._y.copy()
        self._complement = self._gram.diagonal()[pool] + 1.0 + self._ridge
        self._is_left = np.ones(len(pool), dtype=bool)
        self.chosen: list[int] = []  # positions in the pool
        self.dual_objective = 0.0  # 1/2 y'Q^-1 y over the chosen samples

    def best(self) -> tuple[int, float]:
        """The sample that increases the dual objective most, and by how much."""
        g, s = self._residual, self._complement
        gain = np.divide(0.5 * g * g, s, out=np.full(len(s), -1.0), where=self._is_left)
        j = int(gain.argmax())
        return j, float(gain[j])

    def add(self, j: int, gain: float) -> None:
        """Add a sample with its gain."""
        t = len(self.chosen)
        unit = np.zeros(self._gram.n)
        unit[self._pool[j]] = 1.0
        column = self._gram.product(unit)[self._pool] + 1.0
        column[j] += self._ridge[j]
        pivot = np.sqrt(self._complement[j])
        self._L[:, t] = (column - self._L[:, :t] @ self._L[j, :t]) / pivot
        self._residual -= self._L[:, t] * (self._residual[j] / pivot)
        self._complement -= self._L[:, t] ** 2
        self._is_left[j] = False
        self.dual_objective += gain
        self.chosen.append(j)

    def coefficients(self) -> np.ndarray:
        """The dual variables of the chosen samples."""
        if not self.chosen:
            return np.zeros(0)
        L = np.tril(self._L[self.chosen, : len(self.chosen)])
        z = linalg.solve_triangular(L, self._y[self.chosen], lower=True)
        return linalg.solve_triangular(L, z, lower=True, trans="T")


@dataclass(frozen=True)
class Pruning(Solver):
    """All samples, then fewer and fewer, until the held-out error increases.

    Parameters
    ----------
    n_support : int or None
        Stop at this number of support vectors; None: before the held-out error exceeds that of the model of all samples
        by one standard error.
    max_time : float or None
        Seconds after which the support vectors that are left are kept.

    References
    ----------
    .. [1] J. A. K. Suykens, L. Lukas and J. Vandewalle, "Sparse approximation using least squares support vector
       machines", ISCAS, 2000. https://doi.org/10.1109/ISCAS.2000.856439
    .. [2] J. A. K. Suykens, J. De Brabanter, L. Lukas and J. Vandewalle, "Weighted least squares support vector
       machines: robustness and sparse approximation", Neurocomputing 48, 2002.
       https://doi.org/10.1016/S0925-2312(01)00644-0
    """

    n_support: int | None = None

    accepts: ClassVar[Accepts] = Accepts((Squared,), space="gram")

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Remove the samples of smallest ``|alpha|``, a twentieth at a time."""
        stop = StoppingRule(max_time=self.max_time, callback=callback)
        samples = kept = problem.labeled_samples
        gram, max_error = problem.space.gram(), np.inf
        S = build_dense_form(gram, samples, problem.cost[samples], problem.intercept).compute_S()
        with stop:
            while stop.running:
                error, alpha = _held_out_error(problem, gram, samples, S)
                if not stop.trace and self.n_support is None:
                    max_error = error + np.sqrt(error * (1.0 - error) / len(samples))
                if error <= max_error:
                    kept = samples
                removed = _smallest_alpha(alpha, problem.signs[samples], self._n_removed(len(samples)))
                value = 0.5 * float(alpha @ problem.signs[samples])
                row = {"objective": value, "n_samples": len(samples), "error": error}
                stop.log_iteration(row, converged=error > max_error or not len(removed))
                if stop.running:
                    S = remove_from_inverse(S, np.sort(removed))
                    samples = np.delete(samples, removed)
        form, y = build_dense_form(gram, kept, problem.cost[kept], problem.intercept), problem.signs[kept]
        dual = np.zeros(gram.n)
        dual[kept] = alpha = form.product(y)
        return _sparse_solution(problem, dual, form.intercept_for(y, alpha), stop)

    def _n_removed(self, n: int) -> int:
        """How many of n samples to remove next."""
        return max(min(max(1, int(PRUNED_SHARE * n)), n - (self.n_support or 2)), 0)


def _smallest_alpha(alpha: np.ndarray, signs: np.ndarray, n: int) -> np.ndarray:
    """The n samples of smallest |alpha|, apart from the largest one of each class, which stays."""
    order = np.argsort(np.abs(alpha), kind="stable")
    largest = [order[signs[order] == sign][-1:] for sign in (-1.0, 1.0)]
    return order[~np.isin(order, np.concatenate(largest))][:n]


def _held_out_error(problem: Problem, gram: Gram, samples: np.ndarray, S: np.ndarray) -> tuple[float, np.ndarray]:
    """Weighted share of misclassified labeled samples: kept ones by leave-one-out, removed ones as new; and alpha."""
    y = problem.signs[samples]
    alpha = S @ y
    dual = np.zeros(gram.n)
    dual[samples] = alpha
    f = gram.product(dual)
    if problem.intercept is True:
        f += np.mean(y - alpha / problem.cost[samples] - f[samples])
    elif problem.intercept == "regularized":
        f += alpha.sum()
    f[samples] = y - alpha / S.diagonal()
    evaluated = problem.labeled_samples
    weights = problem.cost[evaluated] / problem.cost[evaluated].sum()
    return float(weights @ (problem.signs[evaluated] * f[evaluated] <= 0)), alpha
