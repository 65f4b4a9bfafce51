"""S2LS-SVM 2: unlabeled samples are labeled one at a time, the one that fits the present model best first.

With f the model of the samples so far and p_j the Schur complement of sample j (``schur_complement``), adding j with
label y adds (y - f_j)^2 / (2 p_j) to the objective and alpha_j = (y - f_j) / p_j to the model:

    f <- f + C_j alpha_j,     C <- C - C_j C_j' / p_j

u^3/3 multiplications in all, nearly all of them in one matrix product per panel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...balance import ROUNDING, Count, Free, positive_band
from ...losses import Squared, SymmetricSquared
from ...problem import Problem
from ...solution import Certificate, Solution
from ...spaces import Gram
from ..base import Accepts, Callback, Solver, StoppingRule
from .schur_complement import SchurComplement, build_complement
from .system import check_memory, last_model, searched_solution, solve_labeled, system_in_time, system_samples

PANEL = 64  # samples labeled between two updates of the whole Schur complement
LARGEST = 1e100  # scores and pivots: beyond that they are rounding errors, divided by rounding errors


@dataclass(frozen=True)
class Progressive(Solver):
    """Unlabeled samples added to the model one at a time, each with the label that costs less.

    Parameters
    ----------
    selection : {"growth", "alpha"}
        Add the sample that increases the objective least, or the one of smallest ``|alpha|``, as in the article.
    label_order : {"turns", "objective"}
        Which label comes next: the classes take turns, or the one that costs less. Turns are in proportion to the
        balance; without one, to the labeled samples.
    max_time : float or None
        Seconds after which the remaining samples get the sign of the present model. The model of all labels may take
        half as long again; where that is not enough, f is that of the labeled samples.

    References
    ----------
    M. M. Adankon, M. Cheriet and A. Biem, "Semisupervised least squares support vector machine", IEEE Transactions on
    Neural Networks 20, 2009. https://doi.org/10.1109/TNN.2009.2031143
    """

    selection: str = "growth"
    label_order: str = "turns"

    accepts: ClassVar[Accepts] = Accepts((Squared,), (SymmetricSquared,), (Free, Count))

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Label all samples, from the model of the labeled ones on."""
        stop = StoppingRule(max_time=self.max_time, callback=callback)
        samples, is_dense = system_samples(problem)
        if is_dense:
            check_memory(len(samples), problem.space.gram().dtype.itemsize)
            if isinstance(problem.space, Gram) and problem.space.fits_memory:
                problem.space.compute()  # read by the first model and by the Schur complement
        if not len(problem.searched):
            return solve_labeled(problem.labeled_only(), callback)
        first = solve_labeled(problem.labeled_only())
        remaining = _RemainingSamples(problem, first, build_complement(problem, is_dense))
        stop.trace.append({"step": 0, "objective": first.objective, "n_labeled": 0})
        with stop:
            while stop.running:
                for _ in range(min(PANEL, remaining.n_left)):
                    remaining.label_next(self.selection, self.label_order)
                row = {"objective": remaining.objective, "n_labeled": remaining.n_labeled}
                stop.log_iteration(row, converged=not remaining.n_left)
        labels, n_left = remaining.final_labels(), remaining.n_left
        del remaining  # frees the memory of its matrix before the system is built
        system = system_in_time(problem, stop)
        if system is None:
            status = "max_time" if stop.status == "converged" else str(stop.status)
            return last_model(problem, first, labels, status, self.max_time, stop.trace)
        y = problem.signs[system.samples].copy()
        y[system.searched] = labels
        return searched_solution(problem, system, y, Certificate("none", float(n_left), tol=0.0), stop)


class _RemainingSamples:
    """The samples without a label: scores, Schur complement, and what the balance still allows.

    Arrays are over ``index``, the samples that were left when the last panel began; ``is_left`` marks those that still
    are. ``first`` is the model of the labeled samples.
    """

    def __init__(self, problem: Problem, first: Solution, complement: SchurComplement):
        u = len(problem.searched)
        self.index = np.arange(u)
        self.is_left = np.ones(u, dtype=bool)
        self.weights = problem.weights_of(problem.searched)
        self.f = first.scores[problem.searched].copy()
        self.complement = complement
        self.ridge = 0.5 / problem.cost[problem.searched]  # p is above it, but for rounding errors
        self.p = np.maximum(complement.diagonal(), self.ridge)
        self.panel = np.zeros((PANEL, u))
        self.n_in_panel = 0
        self.y = np.zeros(u)
        self.n_labeled = 0
        self.positive_share = _positive_share(problem)
        self.labeled_weight = {1.0: 0.0, -1.0: 0.0}
        self.objective = first.objective
        low, high = positive_band(problem.balance, self.weights)
        self.quota = {1.0: high, -1.0: self.weights.sum() - low}  # weight that may still get each label

    @property
    def n_left(self) -> int:
        """Number of samples without a label."""
        return len(self.y) - self.n_labeled

    def label_next(self, selection: str, label_order: str) -> None:
        """Add the next sample to the model, with a label within its quota."""
        left = np.flatnonzero(self.is_left)
        f, p = self.f[left], self.p[left]
        y = np.where(f > 0, 1.0, -1.0)
        if label_order == "turns":
            smallest = self.weights[left].min()
            total = self.labeled_weight[-1.0] + self.labeled_weight[1.0]
            deficit = self.positive_share * (total + smallest) - self.labeled_weight[1.0] - 0.5 * smallest
            if abs(deficit) > ROUNDING * smallest:
                y[:] = np.sign(deficit)
        y = self._within_quota(y, self.weights[left])
        residual = np.abs(y - f)
        best = int((residual * residual / p if selection == "growth" else residual / p).argmin())
        j, label = left[best], float(y[best])
        alpha = (label - self.f[j]) / self.p[j]
        self.objective += 0.5 * alpha * (label - self.f[j])
        self.y[self.index[j]] = label
        self.labeled_weight[label] += self.weights[j]
        self.quota[label] -= self.weights[j]
        self.n_labeled += 1
        self.is_left[j] = False
        self._eliminate(j, alpha)

    def _within_quota(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Labels within their quota: the other one if it alone has some left; if none has, the one with more."""
        fits = {label: weights <= self.quota[label] for label in (1.0, -1.0)}
        for label in (1.0, -1.0):
            other_has_more = fits[-label] | (self.quota[-label] > self.quota[label])
            y = np.where((y == label) & ~fits[label] & other_has_more, -label, y)
        return y

    def _eliminate(self, j: int, alpha: float) -> None:
        """Eliminate sample j; the Schur complement itself is updated once a panel is full."""
        panel = self.panel[: self.n_in_panel]
        column = self.complement.column(j) - panel[:, j] @ panel
        pivot = column / np.sqrt(self.p[j])
        with np.errstate(over="ignore"):
            self.f += alpha * column
        if not max(np.abs(self.f).max(), np.abs(pivot).max()) < LARGEST:
            raise ValueError(
                f"kernel values with costs up to {0.5 / self.ridge.min():.2g} are too large for the order of the "
                "samples: they leave no digits for 1/C. Center and scale X, for instance with "
                "sklearn.preprocessing.StandardScaler, or lower C."
            )
        self.panel[self.n_in_panel] = pivot
        self.n_in_panel += 1
        self.p = np.maximum(self.p - pivot * pivot, self.ridge[self.index])
        if self.n_in_panel == PANEL and self.is_left.any():
            kept = np.flatnonzero(self.is_left)
            self.complement.apply_panel(kept, np.flatnonzero(~self.is_left), self.panel)
            index, f, weights = self.index[kept], self.f[kept], self.weights[kept]
            is_left, self.panel, self.n_in_panel = np.ones(len(kept), dtype=bool), np.zeros((PANEL, len(kept))), 0
            self.p = np.maximum(self.complement.diagonal(), self.ridge[index])
            # together, so that Ctrl-C leaves arrays of one length
            self.index, self.f, self.weights, self.is_left = index, f, weights, is_left

    def final_labels(self) -> np.ndarray:
        """Labels of all samples; those left get the sign of f, largest |f| first, within their quota."""
        y = self.y.copy()
        left = np.flatnonzero(self.is_left)
        for j in left[np.argsort(-np.abs(self.f[left]), kind="stable")]:
            sign = 1.0 if self.f[j] > 0 else -1.0
            label = float(self._within_quota(np.array([sign]), self.weights[[j]])[0])
            self.quota[label] -= self.weights[j]
            y[self.index[j]] = label
        return y


def _positive_share(problem: Problem) -> float:
    """The share of positive turns: that of the balance, else of the labeled samples."""
    if isinstance(problem.balance, Count):
        return problem.balance.r
    labeled = problem.labeled_samples
    weights = problem.weights_of(labeled)
    return float(weights[problem.signs[labeled] > 0].sum() / weights.sum())
