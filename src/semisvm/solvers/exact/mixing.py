"""The semidefinite relaxation of the labels by unit vectors of low rank: the mixing method with an SVM inside.

The labels enter the dual of the hinge SVM as y y'. Relaxed to a positive semidefinite matrix of unit diagonal, whose
entries are products of unit vectors v_i (y_i e at labeled samples), the smallest objective over all labels is at least

    min over v  max over 0 <= a <= c   sum a - 1/2 sum a_i a_j K_ij v_i'v_j        [sum over unlabeled w_j e'v_j = s].

For fixed v this is the SVM F = W phi of vectors, where labeled samples have the loss (1 - y e'F)_+ and the others
(1 - ||F||)_+. One sample after the other gets the a_j and v_j that are best for the others: with S_j the sum over
i != j of K_ij a_i v_i and nu the dual variable of the balance, a_j maximizes a - ||a S_j + nu w_j e|| - 1/2 K_jj a^2,
and v_j then points along a_j (S_j + K_jj a_j v_j / 2) + nu w_j e (``sweep``). At some sweeps all a are made optimal for
the vectors, by SMO, and value and bound are compared.

**The bound.** Let Q be the matrix of a_i a_j K_ij, with the labeled samples merged into one and nu w_j added beside it.
For any 0 <= a <= c, any nu and any lambda with diag(lambda) - Q positive semidefinite, no labels have an objective
below sum a - 1/2 sum lambda + nu s. lambda comes from the vectors and is increased by what the largest eigenvalue says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..._jit import jit
from ..._threads import single_blas_thread
from ...balance import positive_band
from ...losses import Hinge
from ...problem import Problem
from ...solution import Solution
from ...spaces import Gram, Kernel
from ..base import StoppingRule
from ..dual import kernel_block, solve_dual
from ..dual.dual_problem import build_dual

TINY = 1e-12
MAX_COST = 1e100
FASTMATH = {"contract", "arcp", "nsz"}
N_BISECTIONS = 60
FIRST_CHECK, MAX_INTERVAL = 10, 40  # sweeps before the first check of the bound; later intervals double up to this
MAX_IDLE = 5  # checks without a change of value and bound after which sweeps end
INERTIA = 0.5  # share of its old direction in a new vector: with 0 samples oscillate, with 1 they converge slowly
NOISE, COLLINEAR = 0.1, 1e-3  # random parts added to vectors that are this close to one line, which sweeps never leave
EIGENVALUE_SPEEDUP = 2.0  # how much faster LAPACK finds the two eigenvalues of a bound than n^3 plain multiplications
SVM_TOL, SVM_MAX_STEPS = 1e-5, 1_000_000  # tolerance and pair steps of an SVM


@jit()
def best_multiplier(norm2, along, shift, diagonal, cost):
    """The a in [0, cost] of largest a - ||a S + shift e|| - diagonal a^2/2, given ||S||^2 and S'e.

    The derivative decreases in a, so that its zero is found by bisection where it has no closed form.
    """
    if shift == 0.0:
        return min(max((1.0 - np.sqrt(norm2)) / diagonal, 0.0), cost)
    low, high = 0.0, cost
    for _ in range(N_BISECTIONS):
        a = 0.5 * (low + high)
        size = np.sqrt(max(a * a * norm2 + 2.0 * a * shift * along + shift * shift, TINY * TINY))
        if 1.0 - (a * norm2 + shift * along) / size - diagonal * a > 0.0:
            low = a
        else:
            high = a
    return 0.5 * (low + high)


@jit(fastmath=FASTMATH)
def sweep(K, cost, signs, shift, a, V, F):
    """Update a and V at every sample once, and F = sum over i of K_ij a_i v_i; returns the largest step of an a_i v_i.

    ``shift`` is nu w_j, the dual variable of the balance times the weight of the sample in it.
    """
    n, rank = V.shape
    old, new = np.empty(rank), np.empty(rank)
    largest = 0.0
    for i in range(n):
        diagonal = max(K[i, i], TINY)
        norm2 = 0.0
        for k in range(rank):
            old[k] = a[i] * V[i, k]
            new[k] = F[i, k] - K[i, i] * old[k]
            norm2 += new[k] * new[k]
        if signs[i] != 0.0:
            a[i] = min(max((1.0 - signs[i] * new[0]) / diagonal, 0.0), cost[i])
        else:
            a[i] = best_multiplier(norm2, new[0], shift[i], diagonal, cost[i])
            scale = a[i] if a[i] > 0.0 or shift[i] != 0.0 else 1.0
            size = 0.0
            for k in range(rank):
                new[k] = scale * (new[k] + INERTIA * K[i, i] * old[k]) + (shift[i] if k == 0 else 0.0)
                size += new[k] * new[k]
            if size > 0.0:
                for k in range(rank):
                    V[i, k] = new[k] / np.sqrt(size)
        step = 0.0
        for k in range(rank):
            new[k] = a[i] * V[i, k] - old[k]
            step += new[k] * new[k]
        if step > 0.0:
            largest = max(largest, np.sqrt(step))
            for j in range(n):
                value = K[j, i]
                for k in range(rank):
                    F[j, k] += value * new[k]
    return largest


@dataclass
class _Progress:
    """Smallest value and largest bound of the checks so far, and how many in a row have changed neither."""

    value: float = np.inf
    bound: float = -np.inf
    n_idle: int = 0

    def add(self, value: float, bound: float, tol: float) -> None:
        change = 0.1 * tol * abs(value)
        is_idle = value > self.value - change and bound < self.bound + change
        self.n_idle = self.n_idle + 1 if is_idle else 0
        self.value, self.bound = min(value, self.value), max(bound, self.bound)


class Relaxation:
    """The relaxed problem.

    Parameters
    ----------
    problem : Problem
        With a hinge and without a free intercept.
    first : Solution
        The SVM of the labeled samples, which is a lower bound, too.
    rng : Generator
        Draws the first vectors.

    Attributes
    ----------
    samples, n_labeled : array, int
        The samples, labeled ones first, in an order that does not depend on how they came; number of labeled ones.
    K, cost, signs, weights : arrays
        Kernel values (plus 1 for a regularized intercept), costs, signs and weights in the balance of ``samples``.
    label_sums : array of two floats
        Lowest and highest weighted sum of labels that the balance allows.
    labeled_bound : float
        The lower bound from the labeled samples alone.
    rng, side : Generator, float
        Random draws are multiplied by ``side``, +1 or -1, which changes with the names of the classes as labels do.
    a, V, F : arrays of shape (n,), (n, rank) and (n, rank)
        Multipliers, unit vectors, and F = sum over i of K_ij a_i v_i.
    balance_dual : float
        nu, the dual variable of the balance.
    """

    def __init__(self, problem: Problem, first: Solution, rng: np.random.Generator):
        labeled, searched = problem.labeled_samples, problem.searched
        kernel_sums = problem.space.gram().product((problem.cost > 0).astype(float))
        searched = searched[np.argsort(kernel_sums[searched], kind="stable")]
        self.samples = np.r_[labeled[np.argsort(kernel_sums[labeled], kind="stable")], searched]
        self.n_labeled = len(labeled)
        K = kernel_block(problem, self.samples)
        self.K = K + 1.0 if problem.intercept == "regularized" else K
        self.cost, self.signs = problem.cost[self.samples], problem.signs[self.samples]
        if self.cost.sum() > MAX_COST:
            raise ValueError(
                f"costs that sum to {self.cost.sum():.3g} are too large for the semidefinite relaxation, where "
                f"squared multipliers would overflow; their sum may be at most {MAX_COST:g}. Lower C."
            )
        weights = problem.weights_of(searched)
        self.weights = np.r_[np.zeros(self.n_labeled), weights]
        low, high = positive_band(problem.balance, weights, first.labels[searched])
        total = weights.sum()
        self.label_sums = np.clip([2.0 * low - total, 2.0 * high - total], -total, total)
        self.labeled_bound = first.certificate.lower_bound or 0.0
        f = first.scores[searched]
        self.rng, self.side = rng, 1.0 if f[np.abs(f).argmax()] > 0 else -1.0
        rank = int(np.ceil(np.sqrt(2.0 * (len(f) + 1)))) + 1
        self.V = np.zeros((len(self.samples), rank))
        self.V[: self.n_labeled, 0] = self.signs[: self.n_labeled]
        self._add_noise(1.0)
        self.a = 0.1 * self.cost
        self._update_F()
        self.balance_dual = 0.0

    def _add_noise(self, size: float) -> None:
        """Add random parts to the vectors of the unlabeled samples."""
        vectors = self.V[self.n_labeled :]
        noise = size * self.rng.normal(size=vectors.shape)
        noise[:, 0] *= self.side
        vectors += noise
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    def _update_F(self) -> None:
        self.F = self.K @ (self.a[:, None] * self.V)

    def minimize(self, tol: float, max_sweeps: int, stop: StoppingRule) -> str | None:
        """Sweep at the present ``balance_dual`` until value and bound meet, or until neither changes.

        Every check of both is a row of the trace of ``stop``, which converges with a row where the balance is met
        without a dual variable.

        Parameters
        ----------
        tol : float
            Relative distance of value and bound.
        max_sweeps : int
            Largest number of sweeps of this call.
        stop : StoppingRule
            What ends the sweeps early, also where the time left is too short for the eigenvalues of a bound.

        Returns
        -------
        status : str or None
            Why this call ended, as in ``Solution``; None if ``stop`` has ended it.
        """
        rule = stop.nested(max_sweeps)
        n_sweeps, next_check, progress = 0, FIRST_CHECK, _Progress()
        with rule:
            while rule.running and stop.running:
                shift = self.balance_dual * self.weights
                step = sweep(self.K, self.cost, self.signs, shift, self.a, self.V, self.F)
                n_sweeps += 1
                if n_sweeps < min(next_check, max_sweeps) and step > 0.0 and not stop.time_is_over:
                    continue
                next_check += min(next_check, MAX_INTERVAL)
                self.train(stop)
                value, bound = self.value(), self.labeled_bound
                if stop.has_time_for(len(self.a) ** 3 / EIGENVALUE_SPEEDUP):
                    bound = max(self.bound(), bound)
                else:
                    rule.end("max_time")
                progress.add(value, bound, tol)
                converged = value - bound <= tol * abs(value) or step == 0.0 or progress.n_idle >= MAX_IDLE
                row = {"objective": value, "bound": bound, "sweeps": n_sweeps, "balance_dual": self.balance_dual}
                is_solution = rule.running and converged and self.balance_dual == 0.0 and self.balance_is_met(tol)
                stop.log_iteration(row, is_solution)
                rule.count(n_sweeps - rule.n_iter, row, converged)
                if rule.running and stop.running and progress.n_idle and self._is_collinear():
                    self._add_noise(NOISE)
                    self._update_F()
        return rule.status

    def _is_collinear(self) -> bool:
        return bool(np.abs(self.V[self.n_labeled :, 1:]).max() < COLLINEAR)

    def train(self, stop: StoppingRule) -> None:
        """Make a optimal for the present vectors: an SVM with the kernel K_ij v_i'v_j and positive labels."""
        space = Gram(Kernel("precomputed"), self.K * (self.V @ self.V.T))
        svm = Problem(space, np.ones(len(self.a)), self.cost, Hinge(), intercept=False)
        point = solve_dual(build_dual(svm), self.a, SVM_TOL, stop.nested(SVM_MAX_STEPS))
        self.a = point.a[: len(self.a)].copy()
        self._update_F()

    def value(self) -> float:
        """The objective of the SVM of vectors at the present ``balance_dual``, an upper bound on the relaxation."""
        margins = np.einsum("ij,ij->i", self.V, self.F)
        norm2 = float(np.einsum("ij,ij,i->", self.V, self.F, self.a))
        balance_term = self.balance_dual * (self._label_sum() - float(self.weights @ self.V[:, 0]))
        return 0.5 * norm2 + float(self.cost @ np.maximum(1.0 - margins, 0.0)) + balance_term

    def _label_sum(self) -> float:
        """The end of ``label_sums`` that binds where ``balance_dual`` has its sign."""
        return float(self.label_sums[0] if self.balance_dual > 0 else self.label_sums[1])

    def bound(self) -> float:
        """A lower bound on the objective of all labels that keep the balance, whatever a, V and nu are."""
        a, z, U = self.a[self.n_labeled :], (self.signs * self.a)[: self.n_labeled], slice(self.n_labeled, None)
        Q = np.empty((len(a) + 1, len(a) + 1))
        Q[1:, 1:] = self.K[U, U] * np.outer(a, a)
        Q[0, 0] = z @ self.K[: self.n_labeled, : self.n_labeled] @ z
        Q[0, 1:] = Q[1:, 0] = (z @ self.K[: self.n_labeled, U]) * a + self.balance_dual * self.weights[U]
        vectors = np.r_[np.eye(1, self.V.shape[1]), self.V[U]]
        total = float(self.a.sum()) + self.balance_dual * self._label_sum()
        lam = np.einsum("ij,ij->i", Q @ vectors, vectors)
        shifted = lam.sum() + len(lam) * max(_largest_eigenvalue(Q - np.diag(lam)), 0.0)
        positive = np.maximum(lam, 1e-9 * max(lam.max(), TINY))
        root = np.sqrt(positive)
        scaled = positive.sum() * max(_largest_eigenvalue(Q / np.outer(root, root)), 0.0)
        return float(total - 0.5 * min(shifted, scaled))

    def balance_is_met(self, tol: float) -> bool:
        """Whether the sum of e'v_j is within the balance, up to ``tol`` of all weight."""
        return abs(self.balance_excess()) <= tol * self.weights.sum()

    def balance_excess(self) -> float:
        """How far the sum of e'v_j is above (positive) or below (negative) what the balance allows.

        Without ``balance_dual``, samples without a multiplier may turn as long as they keep their margin, v'F >= 1.
        """
        low = high = self.V[:, 0]
        if self.balance_dual == 0.0:
            size = np.maximum(np.linalg.norm(self.F, axis=1), TINY)
            angle = np.arccos(np.clip(self.F[:, 0] / size, -1.0, 1.0))
            turn = np.arccos(np.minimum(1.0 / size, 1.0))
            low = np.where(self.a > 0, low, np.cos(np.minimum(angle + turn, np.pi)))
            high = np.where(self.a > 0, high, np.cos(np.maximum(angle - turn, 0.0)))
        above = max(float(self.weights @ low) - self.label_sums[1], 0.0)
        return above - max(self.label_sums[0] - float(self.weights @ high), 0.0)


def _largest_eigenvalue(A: np.ndarray) -> float:
    """The largest eigenvalue, plus the rounding error it may have."""
    last = len(A) - 1
    with single_blas_thread:
        largest = linalg.eigvalsh(A, subset_by_index=[last, last])[0]
    return float(largest) + 1e-13 * len(A) * float(np.abs(A).max())
