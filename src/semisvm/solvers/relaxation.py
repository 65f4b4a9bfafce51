"""The semidefinite relaxation of De Bie and Cristianini, by coordinates of low rank, with a bound and a rounding.

The labels enter the dual of the hinge machine as y y'. Relaxed to a matrix of unit diagonal that is positive
semidefinite, whose entries are products of unit vectors v_i (y_i e on labeled rows), the objective is at least

    min over v  max over 0 <= a <= c   sum a - 1/2 sum a_i a_j K_ij v_i'v_j        [sum over unlabeled w_j e'v_j = s].

(With v known this is the machine F = W phi of vectors: labeled rows pay (1 - y e'F)_+, the others (1 - ||F||)_+.) One
row after the other takes a_j and v_j that are good for the rest: with S_j the sum over i != j of K_ij a_i v_i and nu
the multiplier of the balance, a_j maximises a - ||a S_j + nu w_j e|| - 1/2 K_jj a^2 and v_j then points along
a_j (S_j + K_jj a_j v_j / 2) + nu w_j e (``sweep``). That is the mixing method of Wang and Kolter with a machine inside;
now and then all a are made the best ones for the vectors, by SMO, and value and bound are compared.

**The bound.** For any 0 <= a <= c, nu and lambda with diag(lambda) - Q positive semidefinite, Q the matrix of
a_i a_j K_ij with labeled rows merged into one and nu w_j beside it, no machine lies below
sum a - 1/2 sum lambda + nu s. lambda comes from the vectors and is raised as far as the top eigenvalue asks.

**The rounding.** Labels by e'v_j, and by random planes through the vectors, each bettered by ``pair_switching``.
There is no free intercept: it is absent, or regularised, which is K + 1.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, optimize

from .._jit import jit
from ..balance import Count, Free
from ..kernels import Kernel
from ..losses import Hinge, SymmetricHinge
from ..problem import Problem
from ..solution import Solution
from ..spaces import Gram, gram_limit, one_blas_thread
from .dual import formulate
from .held_labels import Changes, block, supervised, with_bound
from .label_search import labels_in_band
from .limits import Limits, deadline
from .pair_switching import PairSwitching
from .smo import solve_dual

TINY = 1e-12
FAST = {"contract", "arcp", "nsz"}
PLANES = 10
CHECK, MOST = 10, 40  # sweeps before the first look at the bound, then twice as many each time, up to so many
MULTIPLIERS = 20  # values of nu tried for a balance that binds
HALVINGS = 60
IDLE = 5  # looks without a change of value and bound after which sweeps end
KEPT = 0.5  # share of its own part that a vector keeps: with none rows swing to and fro, with all they move slowly
SHAKEN, FLAT = 0.1, 1e-3  # size of the random parts that free vectors from a line, and how near to one they are then
EXACT, STEPS = 1e-5, 1_000_000  # tolerance and pair steps of a machine on the way


@jit()
def _multiplier(norm2, along, pull, own, cost):
    """The a in [0, cost] of largest a - ||a S + pull e|| - own a^2/2, given ||S||^2 and S'e: its slope falls."""
    if pull == 0.0:
        return min(max((1.0 - np.sqrt(norm2)) / own, 0.0), cost)
    low, high = 0.0, cost
    for _ in range(HALVINGS):
        a = 0.5 * (low + high)
        size = np.sqrt(max(a * a * norm2 + 2.0 * a * pull * along + pull * pull, TINY * TINY))
        if 1.0 - (a * norm2 + pull * along) / size - own * a > 0.0:
            low = a
        else:
            high = a
    return 0.5 * (low + high)


@jit(fastmath=FAST)
def sweep(K, cost, signs, pull, a, V, F):
    """Every row once; F holds sum over i of K_ij a_i v_i. Returned is the largest step of an a_i v_i."""
    n, rank = V.shape
    old, new = np.empty(rank), np.empty(rank)
    furthest = 0.0
    for i in range(n):
        own = max(K[i, i], TINY)
        norm2 = 0.0
        for k in range(rank):
            old[k] = a[i] * V[i, k]
            new[k] = F[i, k] - K[i, i] * old[k]
            norm2 += new[k] * new[k]
        if signs[i] != 0.0:
            a[i] = min(max((1.0 - signs[i] * new[0]) / own, 0.0), cost[i])
        else:
            a[i] = _multiplier(norm2, new[0], pull[i], own, cost[i])
            scale = a[i] if a[i] > 0.0 or pull[i] != 0.0 else 1.0
            size = 0.0
            for k in range(rank):
                new[k] = scale * (new[k] + KEPT * K[i, i] * old[k]) + (pull[i] if k == 0 else 0.0)
                size += new[k] * new[k]
            if size > 0.0:
                for k in range(rank):
                    V[i, k] = new[k] / np.sqrt(size)
        step = 0.0
        for k in range(rank):
            new[k] = a[i] * V[i, k] - old[k]
            step += new[k] * new[k]
        if step > 0.0:
            furthest = max(furthest, np.sqrt(step))
            for j in range(n):
                value = K[j, i]
                for k in range(rank):
                    F[j, k] += value * new[k]
    return furthest


class Relaxation:
    """The relaxed problem of one machine.

    Parameters
    ----------
    problem : Problem
        With a hinge and without a free intercept.
    changes : Changes
        Its unlabeled rows.
    first : Solution
        The machine of the labeled rows, which bounds the whole, too.
    rng : Generator
        Draws the first vectors.

    Attributes
    ----------
    rows, known : array, int
        The rows, labeled ones first, in an order that does not depend on how they came; the number of labeled ones.
    order : array
        Where the unlabeled rows of ``changes`` stand in that order.
    side : float
        +1 or -1, changing with the names of the classes.
    """

    def __init__(self, problem: Problem, changes: Changes, first: Solution, rng: np.random.Generator):
        known = np.flatnonzero(problem.is_labeled & (problem.cost > 0))
        middle = problem.space.gram().times((problem.cost > 0).astype(float))
        self.order = np.argsort(middle[changes.rows], kind="stable")
        self.rows = np.r_[known[np.argsort(middle[known], kind="stable")], changes.rows[self.order]]
        self.known = len(known)
        K = block(problem, self.rows)
        self.K = K + 1.0 if problem.intercept == "regularised" else K
        self.cost, self.signs = problem.cost[self.rows], problem.signs[self.rows]
        self.weight = np.r_[np.zeros(self.known), changes.weight[self.order]]
        low, high = changes.band(first.labels[changes.rows])
        self.floor = first.certificate.lower_bound
        total = changes.weight.sum()
        self.sums = np.clip([2.0 * low - total, 2.0 * high - total], -total, total)  # of the labels that are allowed
        f = first.scores[self.rows[self.known :]]
        self.rng, self.side = rng, 1.0 if f[np.abs(f).argmax()] > 0 else -1.0
        rank = int(np.ceil(np.sqrt(2.0 * (len(f) + 1)))) + 1
        self.V = np.zeros((len(self.rows), rank))
        self.V[: self.known, 0] = self.signs[: self.known]
        self.shake(1.0)
        self.a = 0.1 * self.cost
        self.F = self.K @ (self.a[:, None] * self.V)
        self.nu = 0.0

    def shake(self, size: float) -> None:
        """Add random parts to the vectors of the unlabeled rows: sweeps never leave a line that holds them all."""
        free = self.V[self.known :]
        drawn = size * self.rng.normal(size=free.shape)
        drawn[:, 0] *= self.side
        free += drawn
        free /= np.linalg.norm(free, axis=1, keepdims=True)

    def settle(self, tol: float, sweeps: int, end: float, told=None) -> tuple[float, float, str]:
        """Sweeps at the present nu until value and bound meet; returned are both and why it stopped."""
        made, look, last, idle = 0, CHECK, (np.inf, -np.inf), 0
        while True:
            step = sweep(self.K, self.cost, self.signs, self.nu * self.weight, self.a, self.V, self.F)
            made += 1
            late = time.perf_counter() > end
            if made < min(look, sweeps) and not late and step > 0.0:
                continue
            look += min(look, MOST)
            self.train()
            value, bound = self.value(), max(self.bound(), self.floor)
            still = value > last[0] - 0.1 * tol * abs(value) and bound < last[1] + 0.1 * tol * abs(value)
            idle, last = idle + 1 if still else 0, (min(value, last[0]), max(bound, last[1]))
            met = value - bound <= tol * abs(value)
            status = "converged" if met or step == 0.0 or idle >= IDLE else None
            status = status or ("max_time" if late else "max_iter" if made >= sweeps else None)
            if told is not None and told(value, bound, made):
                status = "stopped"
            if status:
                return value, last[1], status
            if still and np.abs(self.V[self.known :, 1:]).max() < FLAT:
                self.shake(SHAKEN)
                self.F = self.K @ (self.a[:, None] * self.V)

    def train(self) -> None:
        """The best a for the present vectors: a machine with the kernel K_ij v_i'v_j, all labels positive."""
        space = Gram(Kernel("precomputed"), self.K * (self.V @ self.V.T))
        machine = Problem(space, np.ones(len(self.a)), self.cost, Hinge(), intercept=False)
        point = solve_dual(formulate(machine), self.a, EXACT, Limits(max_iter=STEPS))
        if point.status == "interrupted":
            raise KeyboardInterrupt
        self.a = point.a[: len(self.a)].copy()
        self.F = self.K @ (self.a[:, None] * self.V)

    def value(self) -> float:
        """The objective of the machine of vectors at the present nu, which lies above the relaxed optimum."""
        margins = np.einsum("ij,ij->i", self.V, self.F)
        norm2 = float(np.einsum("ij,ij,i->", self.V, self.F, self.a))
        pay = self.nu * (self.middle() - float(self.weight @ self.V[:, 0]))
        return 0.5 * norm2 + float(self.cost @ np.maximum(1.0 - margins, 0.0)) + pay

    def middle(self) -> float:
        """The allowed sum of labels that nu pulls against."""
        return float(self.sums[0] if self.nu > 0 else self.sums[1])

    def bound(self) -> float:
        """No machine lies below this."""
        a, z, U = self.a[self.known :], (self.signs * self.a)[: self.known], slice(self.known, None)
        Q = np.empty((len(a) + 1, len(a) + 1))
        Q[1:, 1:] = self.K[U, U] * np.outer(a, a)
        Q[0, 0] = z @ self.K[: self.known, : self.known] @ z
        Q[0, 1:] = Q[1:, 0] = (z @ self.K[: self.known, U]) * a + self.nu * self.weight[U]
        corner = np.zeros((1, self.V.shape[1]))
        corner[0, 0] = 1.0
        vectors = np.r_[corner, self.V[U]]
        total = float(self.a.sum()) + self.nu * self.middle()
        lam = np.einsum("ij,ij->i", Q @ vectors, vectors)
        raised = lam.sum() + len(lam) * max(_top(Q - np.diag(lam)), 0.0)
        floor = np.maximum(lam, 1e-9 * max(lam.max(), TINY))
        root = np.sqrt(floor)
        scaled = floor.sum() * max(_top(Q / np.outer(root, root)), 0.0)
        return float(total - 0.5 * min(raised, scaled))

    def excess(self) -> float:
        """How far the sum of e'v_j is outside what is allowed.

        Without nu, rows that have no multiplier may turn as far as they keep their margin, v'F >= 1.
        """
        low = high = self.V[:, 0]
        if self.nu == 0.0:
            size = np.maximum(np.linalg.norm(self.F, axis=1), TINY)
            apart = np.arccos(np.clip(self.F[:, 0] / size, -1.0, 1.0))
            turn = np.where(self.a > 0, 0.0, np.arccos(np.minimum(1.0 / size, 1.0)))
            low = np.where(self.a > 0, low, np.cos(np.minimum(apart + turn, np.pi)))
            high = np.where(self.a > 0, high, np.cos(np.maximum(apart - turn, 0.0)))
        return max(float(self.weight @ low) - self.sums[1], 0.0) - max(self.sums[0] - float(self.weight @ high), 0.0)


def _top(A: np.ndarray) -> float:
    """The largest eigenvalue, with what rounding may hide."""
    last = len(A) - 1
    with one_blas_thread:
        top = linalg.eigvalsh(A, subset_by_index=[last, last])[0]
    return float(top) + 1e-13 * len(A) * float(np.abs(A).max())


@dataclass(frozen=True)
class LowRankRelaxation:
    """Semidefinite relaxation, rounding and switching.

    Parameters
    ----------
    tol : float
        Relative distance of value and bound of the relaxation.
    max_iter : int
        Largest number of sweeps over the rows.
    max_time : float or None
        Seconds after which the best so far is returned, with its gap.
    """

    tol: float = 1e-3
    max_iter: int = 2000
    max_time: float | None = None

    losses = (Hinge,)
    unlabeled_losses = (type(None), SymmetricHinge)
    balances = (Free, Count)
    intercepts = (False, "regularised")
    on_gram = True

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Relax, round, and better by switching."""
        end = deadline(self.max_time)
        changes = Changes(problem)
        first = supervised(problem, 1e-6, self.max_time, callback)
        nothing = problem.unlabeled is None or not (problem.cost[changes.rows] > 0).any()
        if nothing or first.status != "converged":
            return with_bound(first, first.certificate.lower_bound)
        _check_memory(len(problem.signs))
        rng = np.random.default_rng(rng)
        relaxed = Relaxation(problem, changes, first, rng)
        trace: list[dict] = []

        def told(value: float, bound: float, made: int) -> bool:
            row = {"step": len(trace), "objective": value, "bound": bound, "sweeps": made}
            trace.append(row | {"multiplier": relaxed.nu})
            return callback is not None and bool(callback(trace[-1]))

        try:
            with one_blas_thread:
                bound, status = self._balanced(relaxed, end, told)
        except KeyboardInterrupt:
            bound, status = max((row["bound"] for row in trace), default=relaxed.floor), "interrupted"
        solution = _rounded(problem, changes, relaxed, first, start, rng, end)
        solution.status, solution.trace = status, trace
        solution.trace.append({"step": len(trace), "objective": solution.objective, "bound": bound})
        solution.n_iter = len(trace)
        return with_bound(solution, min(bound, solution.objective))

    def _balanced(self, relaxed: Relaxation, end: float, told) -> tuple[float, str]:
        """Sweeps without the balance; if it binds, the nu of the highest bound as well."""
        _, bound, status = relaxed.settle(self.tol, self.max_iter, end, told)
        excess = relaxed.excess()
        if status != "converged" or abs(excess) <= self.tol * relaxed.weight.sum():
            return bound, status
        best = [bound]

        def off(nu: float) -> float:
            relaxed.nu = nu
            _, bound, status = relaxed.settle(self.tol, self.max_iter, end, told)
            best.append(bound)
            if status in ("stopped", "max_time"):
                raise _EndedError(status)
            return relaxed.excess()

        far = -np.sign(excess) * float(relaxed.cost[relaxed.known :].mean())
        try:
            while (now := off(far)) * excess > 0 and len(best) < MULTIPLIERS:
                far *= 2.0
            if now * excess <= 0:
                optimize.brentq(
                    lambda nu: excess if nu == 0.0 else now if nu == far else off(nu),
                    0.0, far, xtol=1e-6 * abs(far), rtol=1e-6, maxiter=MULTIPLIERS, disp=False,
                )  # fmt: skip
        except _EndedError as ended:
            status = str(ended)
        return max(best), status


class _EndedError(Exception):
    """A search over nu that ends early."""


def _rounded(problem, changes, relaxed, first, start, rng, end) -> Solution:
    """The best machine of the labels along e, those of random planes and those given."""
    V = np.empty_like(relaxed.V[relaxed.known :])
    V[relaxed.order] = relaxed.V[relaxed.known :]
    guesses = [V[:, 0]] if start is None else [V[:, 0], start.labels[changes.rows]]
    for _ in range(PLANES):
        plane = relaxed.side * rng.normal(size=V.shape[1])
        plane[0] = abs(plane[0])  # labeled rows keep their side
        guesses.append(V @ plane)
    best = None
    for guess in guesses:
        labels = first.labels.copy()
        labels[changes.rows] = labels_in_band(guess, changes.weight, problem.balance)
        left = max(end - time.perf_counter(), 1e-9) if np.isfinite(end) else None
        found = PairSwitching(1e-4, max_time=left).solve(problem, replace(first, labels=labels))
        if best is None or found.objective < best.objective:
            best = found
        if time.perf_counter() > end or found.status == "interrupted":
            break
    return best


def _check_memory(n: int) -> None:
    if 4 * 8 * n**2 > gram_limit():
        raise MemoryError(
            f"the relaxation of {n:,} rows takes {4 * 8 * n**2 / 2**30:.1f} GiB and {gram_limit() / 2**30:.1f} GiB are "
            "allowed; pass fewer unlabeled rows, or raise the environment variable SEMISVM_MEMORY (bytes)."
        )
