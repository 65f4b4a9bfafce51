"""S2LS-SVM 2 (Adankon, Cheriet and Biem): label one row at a time, the one that fits the present machine best.

With f the machine of the rows taken so far and p_j = k_jj + 1/c_j - [k_j; 1]'H^-1[k_j; 1] the Schur complement of row
j, taking j with label y adds (y - f_j)^2 / (2 p_j) to the objective and alpha_j = (y - f_j) / p_j to the machine. The
Schur complement C of all rows not yet taken is kept up to date as in a pivoted Cholesky factorisation, in panels:

    f <- f + C_j alpha_j,     C <- C - C_j C_j' / p_j

u^3/3 multiplications in all, most of them in one matrix product per panel.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..balance import Count, Free
from ..linalg import LowRank
from ..losses import Squared, SymmetricSquared
from ..problem import Problem
from ..solution import Certificate, Solution
from ..spaces import Gram, submatrix
from .label_search import EVEN, limits_of, weights_of
from .least_squares import Taking, fitted, machine, need_memory, system_of, taking_part
from .limits import deadline

PANEL = 64


@dataclass(frozen=True)
class Progressive:
    """Unlabeled rows taken one at a time, each with the label that costs less.

    Parameters
    ----------
    pick : {"growth", "alpha"}
        Take the row that adds least to the objective, or the one of smallest |alpha| as the paper has it.
    sign : {"turns", "objective"}
        Which label comes next: the classes take turns, or the one that costs less. Turns are in proportion to the
        balance; without one as many of each class, unless the labeled rows speak against that (``_proportion``).
    max_time : float or None
        Seconds after which the rows not yet taken get the sign of the present machine.
    """

    pick: str = "growth"
    sign: str = "turns"
    max_time: float | None = None

    losses = (Squared,)
    unlabeled_losses = (type(None), SymmetricSquared)
    balances = (Free, Count)

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Take all rows, from the machine of the labeled ones on."""
        end = deadline(self.max_time)
        taking = taking_part(problem)
        if taking.whole:
            need_memory(len(taking.rows), problem.space.gram().dtype.itemsize)
            if isinstance(problem.space, Gram) and problem.space.fits:
                _ = problem.space.whole  # the first machine finds its part of it there
        first = fitted(problem.alone(), None if len(taking.free) else callback)
        if not len(taking.free):
            return first
        rest = _Rest(problem, taking, first)
        trace = [{"step": 0, "objective": first.objective, "taken": 0}]
        status = "converged"
        try:
            while not rest.empty:
                for _ in range(PANEL):
                    if not rest.empty:
                        rest.take(self.pick, self.sign)
                trace.append({"step": len(trace), "objective": rest.value, "taken": rest.taken})
                if callback is not None and callback(trace[-1]):
                    status = "stopped"
                    break
                if time.perf_counter() > end:
                    status = "max_time"
                    break
        except KeyboardInterrupt:
            status = "interrupted"
        labels, left = rest.labels(), len(taking.free) - rest.taken
        del rest  # its matrix makes room for the system
        system = system_of(problem)
        y = problem.signs[system.rows].copy()
        y[system.free] = labels
        told = {"status": status, "n_iter": len(trace), "trace": trace}
        return machine(problem, system, y, certificate=Certificate("none", float(left)), **told)


class _Rest:
    """The rows not yet taken: scores, Schur complement, and what the balance still allows.

    Arrays are over ``names``, the rows left when the last panel began; ``open`` marks those not taken since.
    """

    def __init__(self, problem: Problem, taking: Taking, first: Solution):
        rows = taking.rows[taking.free]
        self.names = np.arange(len(rows))
        self.open = np.ones(len(rows), dtype=bool)
        self.weight = weights_of(problem, taking)
        self.f = first.scores[rows].copy()
        self.complement = _complement(problem, taking)
        self.p = self.complement.diagonal()
        self.panel = np.zeros((PANEL, len(rows)))
        self.used = 0
        self.y = np.zeros(len(rows))
        self.taken = 0
        self.share = _proportion(problem)
        self.passed = np.zeros(2)  # weight of negative and positive rows taken
        self.value = first.objective
        low, high = limits_of(problem.balance, self.weight)
        self.room = {1.0: high, -1.0: self.weight.sum() - low}

    @property
    def empty(self) -> bool:
        """Whether all rows are taken."""
        return self.taken == len(self.y)

    def take(self, pick: str, sign: str) -> None:
        """The next row joins the machine, with a label that the balance has room for."""
        left = np.flatnonzero(self.open)
        f, p = self.f[left], self.p[left]
        y = np.where(f > 0, 1.0, -1.0)
        if sign == "turns":
            step = self.weight[left].min()
            behind = self.share * (self.passed.sum() + step) - self.passed[1] - 0.5 * step
            if abs(behind) > EVEN * step:
                y[:] = np.sign(behind)
        y = self._within(y, self.weight[left])
        off = np.abs(y - f)
        best = int((off * off / p if pick == "growth" else off / p).argmin())
        j, label = left[best], y[best]
        alpha = (label - self.f[j]) / self.p[j]
        self.value += 0.5 * alpha * (label - self.f[j])
        self.y[self.names[j]] = label
        self.passed[int(label > 0)] += self.weight[j]
        self.room[label] -= self.weight[j]
        self.taken += 1
        self.open[j] = False
        self._eliminate(j, alpha)

    def _within(self, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Labels for which there is room: another one if it alone has some, and if none has, that with more."""
        fits = {sign: weight <= self.room[sign] for sign in (1.0, -1.0)}
        for sign in (1.0, -1.0):
            more = fits[-sign] | (self.room[-sign] > self.room[sign])
            y = np.where((y == sign) & ~fits[sign] & more, -sign, y)
        return y

    def _eliminate(self, j: int, alpha: float) -> None:
        """Row j out of the Schur complement, which is itself brought up to date once a panel is full."""
        column = self.complement.column(j) - self.panel[: self.used, j] @ self.panel[: self.used]
        self.f += alpha * column
        pivot = column / np.sqrt(self.p[j])
        self.panel[self.used] = pivot
        self.used += 1
        self.p -= pivot * pivot
        if self.used == PANEL and self.open.any():
            kept = np.flatnonzero(self.open)
            self.complement.advance(kept, np.flatnonzero(~self.open), self.panel)
            self.names, self.f, self.weight = self.names[kept], self.f[kept], self.weight[kept]
            self.p = self.complement.diagonal()
            self.open = np.ones(len(kept), dtype=bool)
            self.panel, self.used = np.zeros((PANEL, len(kept))), 0

    def labels(self) -> np.ndarray:
        """Labels of all rows; those not taken get the sign of the present machine, surest first, if there is room."""
        y = self.y.copy()
        left = np.flatnonzero(self.open)
        for j in left[np.argsort(-np.abs(self.f[left]), kind="stable")]:
            sign = 1.0 if self.f[j] > 0 else -1.0
            label = self._within(np.array([sign]), self.weight[[j]])[0]
            self.room[label] -= self.weight[j]
            y[self.names[j]] = label
        return y


def _proportion(problem: Problem) -> float:
    """The share of positive turns: that of the balance; else one half, or the labeled share if it differs too much.

    Too much is 2.58 standard errors of a fair coin thrown once per labeled row (one in a hundred).
    """
    if isinstance(problem.balance, Count):
        return problem.balance.r
    weights = np.ones(len(problem.signs)) if problem.weights is None else problem.weights
    known = problem.is_labeled & (problem.cost > 0)
    total, positive = weights[known].sum(), weights[problem.is_labeled & (problem.signs > 0) & known].sum()
    return 0.5 if abs(positive / total - 0.5) <= 1.29 / np.sqrt(total) else float(positive / total)


def _complement(problem: Problem, taking: Taking) -> _Whole | _Factored:
    """C of the unlabeled rows given the labeled ones."""
    known, rows = taking.rows[taking.labeled], taking.rows[taking.free]
    cost, space = problem.cost, problem.space
    if taking.whole:
        return _Whole(space.gram(), known, rows, cost, problem.intercept)
    return _Factored(space.X, known, rows, cost, problem.intercept)


class _Whole:
    """C = K_UU + 1/c - [K_UL, 1] H_L^-1 [K_LU; 1'], held whole."""

    def __init__(self, gram, known: np.ndarray, rows: np.ndarray, cost: np.ndarray, intercept):
        K, m = gram.square(np.concatenate([known, rows])), len(known)
        L = np.array(K[:m, :m], dtype=np.float64)
        B = np.array(K[:m, m:], dtype=np.float64)
        C = np.array(K[m:, m:], dtype=np.float64)
        del K
        if intercept == "regularised":
            L, B, C = L + 1.0, B + 1.0, C + 1.0
        L[np.diag_indices(len(known))] += 1.0 / cost[known]
        C[np.diag_indices(len(rows))] += 1.0 / cost[rows]
        if intercept is True:
            one = np.ones((1, 1))
            L = np.block([[L, np.ones((len(known), 1))], [np.ones((1, len(known))), 0.0 * one]])
            B = np.vstack([B, np.ones((1, len(rows)))])
        C -= B.T @ linalg.solve(L, B, assume_a="sym")
        self.C = C

    def diagonal(self) -> np.ndarray:
        return self.C.diagonal().copy()

    def column(self, j: int) -> np.ndarray:
        return self.C[j]

    def advance(self, kept: np.ndarray, gone: np.ndarray, panel: np.ndarray) -> None:
        """C without the rows that a panel has eliminated."""
        own = panel[:, kept]
        self.C = submatrix(self.C, kept, kept)
        self.C -= own.T @ own


class _Factored:
    """C = 1/c + V V', V = Z~_U G^-1/2 with G = Z~_L'c Z~_L + R of the rows taken: few features, O(u r) memory."""

    def __init__(self, X, known: np.ndarray, rows: np.ndarray, cost: np.ndarray, intercept):
        form = LowRank(X[known], cost[known], intercept)
        self.V = form.lift(X[rows])
        self.cost = cost[rows]

    def diagonal(self) -> np.ndarray:
        return 1.0 / self.cost + np.einsum("ij,ij->i", self.V, self.V)

    def column(self, j: int) -> np.ndarray:
        column = self.V @ self.V[j]
        column[j] += 1.0 / self.cost[j]
        return column

    def advance(self, kept: np.ndarray, gone: np.ndarray, panel: np.ndarray) -> None:
        """G grows by W'W, W = c^1/2 V of the rows gone: V <- V (I + W'W)^-1/2, along the few directions of W."""
        W = np.sqrt(self.cost[gone])[:, None] * self.V[gone]
        _, size, basis = np.linalg.svd(W, full_matrices=False)
        V = self.V[kept]
        V += ((V @ basis.T) * (1.0 / np.sqrt(1.0 + size**2) - 1.0)) @ basis
        self.V, self.cost = V, self.cost[kept]
