"""Least-squares machines on few rows.

``Greedy``    grows a set of rows: with Q = K + 11' + diag(1/c) and the machine of the rows taken, the next one is that
              which raises the dual most, g_j^2/(2 s_j): g = y - Q_.S a_S its residual, s_j its Schur complement.
``Pruning``   starts from all rows and drops those of smallest |alpha|, a twentieth at a time (Suykens), from the
              inverse by one block elimination. Rows dropped are judged as new rows are, rows kept by leave-one-out.

The reduced set, which keeps every row in the loss, is the exact machine in the features of ``featuremaps.nystroem``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from .. import problem as judge
from ..balance import Free
from ..linalg import shrink
from ..losses import Squared
from ..problem import Problem
from ..solution import Certificate, Solution
from .least_squares import dense_form, machine, system_of
from .limits import deadline

POOL = 8192  # rows among which the next one is sought
DROPPED = 0.05


def _judged(problem: Problem, dual: np.ndarray, b: float, kind: str, value: float, **told) -> Solution:
    """A machine of few rows. The last row of its trace has the objective of all rows, those before that of the few."""
    coef = problem.space.from_dual(dual)
    f = problem.space.scores(coef, b)
    labels = np.where(problem.is_labeled, problem.signs, np.where(f > 0, 1.0, -1.0))
    norm2 = float(dual @ (f - b)) if coef is dual else problem.space.norm2(coef)
    total = judge.objective_of_scores(problem, norm2, f, b)
    told["trace"].append({"step": len(told["trace"]), "objective": total})
    return Solution(coef, b, f, labels, total, Certificate(kind, value), multipliers=dual, dual=dual, **told)


@dataclass(frozen=True)
class Greedy:
    """Rows taken one at a time, each the one that raises the dual most; the intercept is part of the norm.

    Parameters
    ----------
    n_rows : int or None
        Largest number of rows; None for all.
    tol : float
        Stop when a row adds less than this share of the dual reached.
    max_time : float or None
        Seconds after which the rows taken so far are kept.
    """

    n_rows: int | None = None
    tol: float = 1e-4
    max_time: float | None = None

    losses = (Squared,)
    unlabeled_losses = (type(None),)
    balances = (Free,)

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Take rows out of a pool of at most ``POOL``, drawn at random."""
        if problem.intercept != "regularised":
            raise ValueError("the greedy machine has a regularised intercept; pass fit_intercept='regularised'.")
        end = deadline(self.max_time)
        rows = np.flatnonzero(problem.is_labeled & (problem.cost > 0))
        if len(rows) > POOL:
            rows = np.sort(np.random.default_rng(rng).choice(rows, POOL, replace=False))
        gram, y = problem.space.gram(), problem.signs[rows]
        limit = min(self.n_rows or len(rows), len(rows))
        G = np.zeros((len(rows), limit))
        g, s = y.copy(), gram.diagonal()[rows] + 1.0 + 1.0 / problem.cost[rows]
        left = np.ones(len(rows), dtype=bool)
        taken, dual, status, trace = [], 0.0, "converged", []
        try:
            while len(taken) < limit and status == "converged":
                gain = np.divide(0.5 * g * g, s, out=np.full(len(s), -1.0), where=left)
                j = int(gain.argmax())
                if gain[j] <= self.tol * dual:
                    break
                t = len(taken)
                column = _column(gram, rows, j) + 1.0
                column[j] += 1.0 / problem.cost[rows[j]]
                G[:, t] = (column - G[:, :t] @ G[j, :t]) / np.sqrt(s[j])
                g -= G[:, t] * (g[j] / np.sqrt(s[j]))
                s -= G[:, t] ** 2
                taken.append(j)
                left[j] = False
                dual += float(gain[j])
                trace.append({"step": t, "objective": dual})
                if callback is not None and callback(trace[-1]):
                    status = "stopped"
                elif time.perf_counter() > end:
                    status = "max_time"
        except KeyboardInterrupt:
            status = "interrupted"
        chosen = np.zeros(problem.space.n)
        if taken:
            L = np.tril(G[taken, : len(taken)])
            z = linalg.solve_triangular(L, y[taken], lower=True)
            chosen[rows[taken]] = linalg.solve_triangular(L, z, lower=True, trans="T")
        told = {"status": status, "n_iter": max(len(taken), 1), "trace": trace}
        return _judged(problem, chosen, float(chosen.sum()), "none", 0.0, **told)


def _column(gram, rows: np.ndarray, j: int) -> np.ndarray:
    """Kernel values of row j with the rows of the pool."""
    unit = np.zeros(gram.n)
    unit[rows[j]] = 1.0
    return gram.times(unit)[rows]


@dataclass(frozen=True)
class Pruning:
    """All rows, then fewer and fewer, until the held-out error rises.

    Parameters
    ----------
    n_rows : int or None
        Stop at this number of rows; None: before the error of rows not trained on exceeds that of all rows by one
        standard error.
    max_time : float or None
        Seconds after which the rows left are kept.
    """

    n_rows: int | None = None
    max_time: float | None = None

    losses = (Squared,)
    unlabeled_losses = (type(None),)
    balances = (Free,)

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Drop the rows of smallest |alpha|, a twentieth at a time."""
        end = deadline(self.max_time)
        rows = np.flatnonzero(problem.is_labeled & (problem.cost > 0))
        gram = problem.space.gram()
        S = dense_form(gram, rows, problem.cost[rows], problem.intercept).S
        status, trace, best, allowed = "converged", [], rows, None
        try:
            while True:
                error, alpha = _held_out_error(problem, gram, rows, S)
                trace.append(
                    {
                        "step": len(trace),
                        "objective": 0.5 * float(alpha @ problem.signs[rows]),
                        "rows": len(rows),
                        "error": error,
                    }
                )
                if allowed is None:
                    count = np.count_nonzero(problem.is_labeled & (problem.cost > 0))
                    allowed = error + np.sqrt(error * (1.0 - error) / count)
                if self.n_rows is None and error > allowed:
                    break
                best = rows
                drop = min(max(1, int(DROPPED * len(rows))), len(rows) - (self.n_rows or 2))
                if drop <= 0:
                    break
                if callback is not None and callback(trace[-1]):
                    status = "stopped"
                    break
                if time.perf_counter() > end:
                    status = "max_time"
                    break
                gone = _smallest(alpha, problem.signs[rows], drop)
                if not len(gone):
                    break
                S = shrink(S, np.sort(gone))
                rows = np.delete(rows, gone)
        except KeyboardInterrupt:
            status = "interrupted"
        return self._machine(problem, best, status, trace)

    @staticmethod
    def _machine(problem: Problem, rows: np.ndarray, status: str, trace: list[dict]) -> Solution:
        """The machine of the rows left, judged on all."""
        cost = np.zeros_like(problem.cost)
        cost[rows] = problem.cost[rows]
        part = problem._replace(cost=cost)
        few = machine(part, system_of(part), problem.signs[system_of(part).rows])
        told = {"status": status, "n_iter": len(trace), "trace": trace}
        return _judged(problem, few.dual, few.intercept, "none", 0.0, **told)


def _smallest(alpha: np.ndarray, signs: np.ndarray, drop: int) -> np.ndarray:
    """Rows of smallest |alpha|, but for the largest of each class, which stays."""
    order = np.argsort(np.abs(alpha), kind="stable")
    last = [order[signs[order] == sign][-1:] for sign in (-1.0, 1.0)]
    return order[~np.isin(order, np.concatenate(last))][:drop]


def _held_out_error(problem: Problem, gram, rows: np.ndarray, S: np.ndarray) -> tuple[float, np.ndarray]:
    """Share of labeled rows on the wrong side: rows kept by leave-one-out, rows dropped as they are; and alpha."""
    y = problem.signs[rows]
    alpha = S @ y
    dual = np.zeros(gram.n)
    dual[rows] = alpha
    f = gram.times(dual)
    if problem.intercept is True:
        f += np.mean(y - alpha / problem.cost[rows] - f[rows])
    elif problem.intercept == "regularised":
        f += alpha.sum()
    f[rows] = y - alpha / S.diagonal()
    judged = problem.is_labeled & (problem.cost > 0)
    weight = problem.cost[judged] / problem.cost[judged].sum()
    return float(weight @ (problem.signs[judged] * f[judged] <= 0)), alpha
