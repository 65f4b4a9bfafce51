"""Semidefinite relaxation of the labels: its bound, the dual variable of the balance, and labels by rounding.

``mixing`` states the relaxation and solves it for one value of the dual variable nu of the balance. Its bound holds for
every nu. Where the relaxed labels meet the balance with nu = 0 there is nothing more to do; otherwise the nu at which
they do, which has the largest bound, is a root in one variable.

**The rounding.** Labels by e'v_j, by the supervised scores, and by the sides of random hyperplanes through the vectors,
each improved by ``PairSwitching``. There is no free intercept: it is absent, or regularized, which is the kernel K + 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import optimize

from ..._threads import single_blas_thread
from ...balance import Count, Free, labels_in_band
from ...losses import Hinge, SymmetricHinge
from ...problem import Problem
from ...solution import Solution, with_gap
from ...spaces import require_memory
from ..base import Accepts, Callback, Solver, StoppingRule, without_false_bound
from ..dual import PairSwitching, evaluate_all_samples, solve_supervised
from .mixing import Relaxation

N_HYPERPLANES = 10
MAX_BALANCE_DUALS = 20  # values of nu tried for a balance that binds
SUPERVISED_TOL = 1e-6  # tolerance of the SVM of the labeled samples
SWITCHING_TOL = 1e-4  # tolerance of the SVMs of pair switching


@dataclass(frozen=True)
class LowRankRelaxation(Solver):
    """Semidefinite relaxation, rounding and pair switching.

    Parameters
    ----------
    tol : float
        Relative distance of value and bound of the relaxation.
    max_iter : int
        Largest number of sweeps over the samples, for each value of the dual variable of the balance.
    max_time : float or None
        Seconds after which the best solution so far is returned, with its gap.

    References
    ----------
    T. De Bie and N. Cristianini, "Convex methods for transduction", NIPS 16, 2003.
    https://proceedings.neurips.cc/paper_files/paper/2003/hash/83691715fdc5baf20ed0742b0b85785b-Abstract.html
    P.-W. Wang, W.-C. Chang and J. Z. Kolter, "The mixing method: coordinate descent for low-rank semidefinite
    programming", 2017. https://arxiv.org/abs/1706.00476
    """

    tol: float = 1e-3
    max_iter: int = 2000

    accepts: ClassVar[Accepts] = Accepts(
        (Hinge,), (SymmetricHinge,), (Free, Count), intercepts=(False, "regularized"), space="gram"
    )

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Relax, round, and improve the labels by pair switching; the labels of another solution are tried, too."""
        stop = StoppingRule(max_time=self.max_time, callback=callback)
        first = solve_supervised(problem, SUPERVISED_TOL, stop.time_left, callback)
        bound = first.certificate.lower_bound or 0.0
        if not len(problem.searched):
            return without_false_bound(problem, with_gap(first, bound))
        if first.ended_early:
            return without_false_bound(problem, with_gap(evaluate_all_samples(problem, first), bound))
        _check_memory(len(problem.signs))
        relaxed: Relaxation | None = None
        with stop, single_blas_thread:
            relaxed = Relaxation(problem, first, np.random.default_rng(rng))
            self._solve_relaxation(relaxed, stop)
        bound = max((row["bound"] for row in stop.trace), default=bound)
        solution = _round(problem, _candidates(problem, relaxed, first, start), first, stop)
        trace = [*stop.trace, {"step": len(stop.trace), "objective": solution.objective, "bound": bound}]
        solution = replace(solution, status=str(stop.status), trace=trace, n_iter=len(trace))
        return without_false_bound(problem, with_gap(solution, bound))  # no tolerance: the relaxation may be loose

    def _solve_relaxation(self, relaxed: Relaxation, stop: StoppingRule) -> None:
        """Solve without a dual variable of the balance; if the balance binds, with the one at which it is met as well.

        A step of the search for it that ``stop`` has ended returns an excess of zero, which ends the search.
        """
        status = relaxed.minimize(self.tol, self.max_iter, stop)
        if status == "max_iter":
            stop.end("max_iter")
        if not stop.running:
            return
        excess, n_tried = relaxed.balance_excess(), 0

        def excess_at(balance_dual: float) -> float:
            nonlocal n_tried
            relaxed.balance_dual, n_tried = balance_dual, n_tried + 1
            relaxed.minimize(self.tol, self.max_iter, stop)
            return relaxed.balance_excess() if stop.running else 0.0

        far = -np.sign(excess) * float(relaxed.cost[relaxed.n_labeled :].mean())
        while (far_excess := excess_at(far)) * excess > 0 and n_tried + 1 < MAX_BALANCE_DUALS:
            far *= 2.0
        if far_excess * excess <= 0:
            optimize.brentq(
                lambda nu: excess if nu == 0.0 else far_excess if nu == far else excess_at(nu),
                0.0, far, xtol=1e-6 * abs(far), rtol=1e-6, maxiter=MAX_BALANCE_DUALS, disp=False,
            )  # fmt: skip
        stop.end("converged")


def _candidates(
    problem: Problem, relaxed: Relaxation | None, first: Solution, start: Solution | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Samples and scores whose ranks are labels: along e, supervised ones, those given, and of random hyperplanes.

    Without a relaxation, which Ctrl-C may have prevented, there are neither the first nor the last.
    """
    samples = problem.searched if relaxed is None else relaxed.samples[relaxed.n_labeled :]
    scores = [first.scores[samples]]
    if start is not None:
        scores.append(start.labels[samples])
    if relaxed is not None:
        V = _principal_coordinates(relaxed.V[relaxed.n_labeled :])
        normals = relaxed.side * relaxed.rng.normal(size=(N_HYPERPLANES, V.shape[1]))
        normals[:, 0] = np.abs(normals[:, 0])  # labeled samples stay on their side
        scores = [V[:, 0], *scores, *(V @ normal for normal in normals)]
    return [(samples, one) for one in scores]


def _principal_coordinates(V: np.ndarray) -> np.ndarray:
    """The vectors turned around e, the first axis, until the others are their principal axes.

    The relaxation fixes their products only, and rounding errors of its sweeps turn them: hyperplanes that are drawn in
    these coordinates do not depend on that, and so not on the order of the samples.
    """
    _, axes = np.linalg.eigh(V[:, 1:].T @ V[:, 1:])
    coordinates = V[:, 1:] @ axes[:, ::-1]
    largest = np.abs(coordinates).argmax(axis=0)
    sides = np.where(coordinates[largest, np.arange(len(axes))] < 0, -1.0, 1.0)
    return np.column_stack([V[:, 0], sides * coordinates])


def _round(
    problem: Problem, candidates: list[tuple[np.ndarray, np.ndarray]], first: Solution, stop: StoppingRule
) -> Solution:
    """The best of pair switching from the labels of the candidates; an early end is one of ``stop``."""
    for samples, scores in candidates:
        if stop.best is not None and (stop.time_is_over or stop.status == "interrupted"):
            _end_early(stop, "max_time")
            break
        labels = first.labels.copy()
        labels[samples] = labels_in_band(scores, problem.weights_of(samples), problem.balance)
        solver = PairSwitching(SWITCHING_TOL, max_time=stop.time_left)
        found = solver.solve(problem, replace(first, labels=labels))
        stop.offer(found.objective, found)
        if found.ended_early:
            _end_early(stop, found.status)
    assert stop.best is not None
    return stop.best[1]


def _end_early(stop: StoppingRule, status: str) -> None:
    """End a rule early, also where the sweeps have converged; the first reason counts, but for Ctrl-C."""
    if status == "interrupted" or stop.status in (None, "converged"):
        stop.status = status


def _check_memory(n: int) -> None:
    require_memory(4 * 8 * n**2, f"the relaxation of {n:,} samples", "Pass fewer unlabeled samples")
