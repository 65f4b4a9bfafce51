"""The augmented Lagrangian method on the dual of models with a hinge, for samples with few features.

The dual is that of ``coordinate_steps``, with sum a = 0 where the intercept is free. A step of the proximal point
method,

    a  <-  argmax over alpha of  dual(alpha) - 1/2 sum tau_i (alpha_i - a_i)^2,

has as its own dual a smooth problem in w and b [1]_,

    minimize  1/2 ||w||^2 [+ 1/2 b^2] + sum psi_i(x_i'w + b)      (psi as in ``proximal_steps``),

whose gradient is w - sum alpha_i x_i and, for b, [b] - sum alpha_i. It is solved by Newton steps with an exact line
search. Only samples whose alpha is strictly inside its bounds have curvature, in the end hardly more than there are
features, so that the Hessian costs little; a step reads X twice [2]_. At the solution the optimality conditions of the
dual hold up to tau_i |alpha_i - a_i|. tau falls from step to step, and a handful of them does.

The number of Newton steps hardly depends on C or on how the samples lie, unlike that of sweeps or pair steps.

References
----------
.. [1] R. T. Rockafellar, "Augmented Lagrangians and applications of the proximal point algorithm in convex
   programming", Mathematics of Operations Research 1, 1976. https://doi.org/10.1287/moor.1.2.97
.. [2] X. Li, D. Sun and K.-C. Toh, "A highly efficient semismooth Newton augmented Lagrangian method for solving Lasso
   problems", SIAM Journal on Optimization 28, 2018. https://doi.org/10.1137/16M1097572
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg.lapack import dposv

from ..._threads import single_blas_thread
from ...problem import Problem
from ...spaces import Features
from ...spaces.design_matrix import DesignMatrix
from ..base import StoppingRule
from .dual_problem import Dual, DualPoint
from .duality_gap import Start
from .iterate import sum_to_zero
from .on_features import FeatureSolver, go_on_by_pairs
from .pair_steps import summarize
from .proximal_steps import add_outer_products, line_search, set_maximizers
from .stagnation import EPS

FIRST_WIDTH = 1 / 3  # in units of f: where alpha goes from one bound to the other at first
NARROWER = 3.0  # times, from step to step
INEXACT = 0.3  # of tau |alpha - a|, or of tol: error of f at which the Newton steps of one step end
MIN_INEXACT = 1e-6  # below, a violation above tol is rounding error
ROUNDING = 1e-10  # of the sum of |alpha|: what remains of the sum of alpha at a solution with a free intercept
FEW = 0.7  # of the samples that count: an update for so many costs less than a new sum
MAX_NEWTON_STEPS = 500  # before SMO goes on


def solve_augmented(
    problem: Problem, dual: Dual, start: np.ndarray | DualPoint | None, tol: float, stop: StoppingRule
) -> DualPoint:
    """Solve the dual of a problem in a space of features, without a mean that is fixed.

    Parameters
    ----------
    problem : Problem
        The problem.
    dual : Dual
        Its bounds and slopes, as ``build_box_dual`` makes them.
    start : array of shape (n,) or more, or DualPoint, or None
        Where to start: any multipliers, or zeros.
    tol : float
        Largest violation of the optimality conditions at a solution, in units of f.
    stop : StoppingRule
        What ends the Newton steps early; not used before.
    """
    run = _Run(problem, dual, start, tol)
    point: DualPoint | None = None
    with stop, single_blas_thread:
        while stop.running and stop.n_iter < MAX_NEWTON_STEPS:
            if not run.newton_steps(stop):
                break
            if run.residual <= max(tol, run.rounding):
                point = run.point(stop.n_iter)
                if point.violation <= tol:
                    stop.status = "converged"  # whatever limit was reached with the last step
                elif run.inexact < MIN_INEXACT:
                    stop.end("stalled")
                run.inexact *= 0.1
            run.next_step()
        if stop.running:
            return go_on_by_pairs(problem, dual, run.point(stop.n_iter), tol, stop)
    if point is None or stop.status != "converged":
        point = run.point(stop.n_iter)
    return replace(point, status=str(stop.status))


class _Run:
    """The state of a run: multipliers a, the point (w, b) of the smooth problem with its scores f, and alpha there."""

    def __init__(self, problem: Problem, dual: Dual, start: np.ndarray | DualPoint | None, tol: float):
        space, n = problem.space, dual.gram.n
        assert isinstance(space, Features), "the augmented Lagrangian method needs a space of features"
        X = space.X
        self.design = space.design if X.dtype == np.float64 else DesignMatrix(X.astype(np.float64))
        self.intercept, self.tol = problem.intercept, tol
        kink, above = (dual.upper, dual.slope) if dual.kink is None else (dual.kink, dual.slope_above)
        self.pieces = (dual.lower, kink, dual.upper, dual.slope, above)
        self.ridge = np.zeros(n) if dual.ridge is None else dual.ridge
        given = np.zeros(n) if start is None else start.a if isinstance(start, DualPoint) else start
        self.a = np.clip(given[:n], dual.lower, dual.upper).astype(np.float64)
        self.alpha, self.curvature = self.a.copy(), np.zeros(n)
        self.w, self.f, self.b, violation = self._scores(self.a)
        self.f += self.b
        self.residual, self.inexact = np.inf, INEXACT
        self.sums, self.hessian = _Sums(self.design, self.alpha, self.w), _Hessian(self.design)
        # 1/tau is the width of the bounds over a width in f; a ridge makes psi smooth as it is
        is_smooth = (self.ridge > 0) | (dual.lower == dual.upper)
        size = np.where(is_smooth, np.inf, dual.upper - dual.lower)
        self.unit_tau = np.where(dual.lower == dual.upper, 1.0, 1.0 / size)
        self.width = FIRST_WIDTH if start is None else min(FIRST_WIDTH, max(violation, tol))

    def newton_steps(self, stop: StoppingRule) -> bool:
        """Newton steps to the solution of the smooth problem; returns whether it was found."""
        tau, (lower, kink, upper, slope, slope_above) = self.width * self.unit_tau, self.pieces
        scale = 1.0 / (self.ridge + tau)
        smooth = (scale, scale * (tau * self.a + slope), scale * (tau * self.a + slope_above), lower, kink, upper)
        while True:
            total = set_maximizers(self.f, smooth, self.alpha, self.curvature)
            self.residual = float((tau * np.abs(self.alpha - self.a)).max())
            gradient = np.append(self.w - self.sums.at(self.alpha), self._b_gradient(total))
            if self._error(gradient) <= self.inexact * max(self.residual, self.tol):
                return True
            if not stop.running or stop.n_iter >= MAX_NEWTON_STEPS:
                return False
            step = self._newton_step(gradient)
            if step is None:
                return False
            dw, db = step[:-1], float(step[-1])
            z = self.design.X @ dw + db
            b_part = self.intercept == "regularized"
            first, second = self.w @ dw + b_part * self.b * db, dw @ dw + b_part * db**2
            t = line_search(self.f, z, smooth, first, second)
            self.w, self.b, self.f = self.w + t * dw, self.b + t * db, self.f + t * z
            stop.count(1, {"newton_steps": stop.n_iter + 1, "violation": self.residual})

    def next_step(self) -> None:
        """The multipliers found, and a smaller tau."""
        self.a = self.alpha.copy()
        self.width /= NARROWER

    def _b_gradient(self, total: float) -> float:
        """The derivative by b, where ``total`` is the sum of alpha."""
        return 0.0 if self.intercept is False else (self.b if self.intercept == "regularized" else 0.0) - total

    def _error(self, gradient: np.ndarray) -> float:
        """How far f is at most from the scores of the w and b that belong to alpha, beyond rounding."""
        b_error = abs(float(gradient[-1]))
        if self.intercept is True and b_error > ROUNDING * float(np.abs(self.alpha).sum()):
            return np.inf
        error = float(np.linalg.norm(gradient[:-1])) * self.design.max_norm + b_error
        return error if error > self.rounding else 0.0

    @property
    def rounding(self) -> float:
        """What is rounding error of f at alpha."""
        return EPS * self.design.max_norm**2 * float(np.abs(self.alpha).sum())

    def _newton_step(self, gradient: np.ndarray) -> np.ndarray | None:
        """-(N + sum of curvature_i (x_i, 1)(x_i, 1)')^-1 gradient; N is the identity but for the intercept.

        None if the matrix is singular in floating point.
        """
        H = self.hessian.at(self.curvature * self.width) / self.width
        d = len(gradient) - 1
        H[np.arange(d), np.arange(d)] += 1.0
        if self.intercept is False:
            H[d], H[:, d] = 0.0, 0.0
        if self.intercept is not True:
            H[d, d] += 1.0
        elif H[d, d] == 0.0:  # no sample has curvature: a step of about the right length, for the line search
            H[d, d] = 1.0 + float(np.abs(self.alpha).sum()) / self.width
        _, step, failed = dposv(H.T, -gradient, overwrite_a=True)  # LAPACK reads columns
        return None if failed else step

    def _scores(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
        """w, f with the ridge and without a free b, b, and the violation of the optimality conditions at a point."""
        w = self.design.adjoint(a)
        f = self.design.X @ w + self.ridge * a
        if self.intercept is True:
            top, bottom, b, n_free = summarize(a, f, *self.pieces)
            if not n_free:
                b = 0.5 * (top + bottom) if np.isfinite(top + bottom) else 0.0
            return w, f, b, max(top - bottom, 0.0)
        if self.intercept == "regularized":
            f += a.sum()
        top, bottom, _, _ = summarize(a, f, *self.pieces)
        return w, f, 0.0, max(top, 0.0) - min(bottom, 0.0)

    def point(self, n_iter: int) -> DualPoint:
        """The dual point at alpha, which sums to zero if the intercept is free, with all that belongs to it."""
        a, lower, upper = self.alpha, self.pieces[0], self.pieces[2]
        if self.intercept is not True:
            _, f, b, violation = self._scores(a)
            return DualPoint(np.append(a, -a.sum()), np.append(f, 0.0), b, violation, n_iter, "")
        a = sum_to_zero(a, lower, upper)
        _, f, b, violation = self._scores(a)
        return DualPoint(a, f, b, violation, n_iter, "")


class _Sums:
    """X'alpha, updated where few alpha_i have changed, from the sums that belong to a first alpha."""

    def __init__(self, design: DesignMatrix, alpha: np.ndarray, sums: np.ndarray):
        self._design, self._alpha, self._sums = design, alpha.copy(), sums

    def at(self, alpha: np.ndarray) -> np.ndarray:
        """The sums for another alpha."""
        change = alpha - self._alpha
        if np.count_nonzero(change) < FEW * np.count_nonzero(alpha):
            self._sums = self._sums + self._design.adjoint(change)
        else:
            self._sums = self._design.adjoint(alpha)
        self._alpha = alpha.copy()
        return self._sums


class _Hessian:
    """sum over the samples of h_i (x_i, 1)(x_i, 1)', updated where few h_i have changed; the lower triangle is used."""

    def __init__(self, design: DesignMatrix):
        self._X: Any = design.X if design.sparse else design.rows
        self._sparse = design.sparse
        self._h = np.zeros(design.n)
        self._sum = np.zeros((design.d + 1, design.d + 1))

    def at(self, h: np.ndarray) -> np.ndarray:
        """The sum for other h."""
        changed, active = np.flatnonzero(h != self._h), np.flatnonzero(h)
        if len(changed) < FEW * len(active):
            self._add(changed, h[changed] - self._h[changed])
        else:
            self._sum[:] = 0.0
            self._add(active, h[active])
        self._h = h
        return self._sum

    def _add(self, samples: np.ndarray, weights: np.ndarray) -> None:
        if self._sparse:
            X = self._X
            add_outer_products(X.data, X.indices, X.indptr, samples, weights, self._sum)
            return
        rows = self._X[samples]
        scaled = rows * weights[:, None]
        self._sum[:-1, :-1] += scaled.T @ rows
        self._sum[-1, :-1] += scaled.sum(axis=0)
        self._sum[-1, -1] += weights.sum()


@dataclass(frozen=True)
class AugmentedLagrangian(FeatureSolver):
    """The augmented Lagrangian method for a supervised problem with hinge or squared hinge loss.

    With the squared hinge it is one step of Newton's method. Kernels without features are solved by SMO.

    Parameters
    ----------
    tol : float
        Largest violation of the optimality conditions, in units of f.
    max_iter : int
        Largest number of Newton steps; behind a kernel, of as many pair steps as there are samples.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    R. T. Rockafellar, "Augmented Lagrangians and applications of the proximal point algorithm in convex programming",
    Mathematics of Operations Research 1, 1976. https://doi.org/10.1287/moor.1.2.97

    X. Li, D. Sun and K.-C. Toh, "A highly efficient semismooth Newton augmented Lagrangian method for solving Lasso
    problems", SIAM Journal on Optimization 28, 2018. https://doi.org/10.1137/16M1097572
    """

    def solve_box_dual(self, problem: Problem, dual: Dual, start: Start, stop: StoppingRule) -> DualPoint:
        """Solve the dual by ``solve_augmented``."""
        return solve_augmented(problem, dual, start, self.tol, stop)
