"""From a problem with a hinge to its dual, and back from a dual point to a solution.

Every sample brings bounds and a slope to the dual (stated in ``pair_steps``); c is its cost, beta the slope of the
concave part of its loss at the present scores, times c (zero for a convex loss):

=======================================  ======================  ==================================================
sample                                   slope                   bounds
=======================================  ======================  ==================================================
labeled, hinge                           y                       0 <= y a <= c
labeled, squared hinge                   y, ridge 1/(2c)         0 <= y a
labeled, ramp                            y                       -beta <= y a <= c - beta
unlabeled, symmetric ramp: the copies    +1 below the kink, -1   -beta_+ <= a_+ <= c - beta_+ for label +1 and
for both labels are one coordinate       above it;               -beta_- <= -a_- <= c - beta_-, a = a_+ + a_-
                                         kink = beta_- - beta_+
=======================================  ======================  ==================================================

A free intercept is the condition sum a = 0. Without one a virtual sample absorbs the sum: the origin, or for a
regularized intercept the constant -1, which is the kernel K + 1 up to a constant that sum a = 0 makes irrelevant. A
mean balance is one more virtual sample, the mean of the unlabeled samples in feature space, whose slope is the mean
that is asked for.

References
----------
.. [1] R. Collobert, F. Sinz, J. Weston and L. Bottou, "Large scale transductive SVMs", JMLR 7, 2006.
   https://jmlr.org/papers/v7/collobert06a.html
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ... import losses
from ...losses import SquaredHinge
from ...problem import Problem, objective_of_scores, violation
from ...solution import Certificate, Solution
from ...spaces import Gram, is_definite

ROUNDING = 1e-9  # a negative ||w||^2 this small beside its terms is zero


class LastBlock:
    """The block of a kernel matrix that was asked for last: a solve to a tighter tolerance begins with the same one."""

    def __init__(self) -> None:
        self._samples = np.zeros(0, dtype=np.intp)
        self._K: np.ndarray | None = None

    def of(self, gram: Gram, samples: np.ndarray) -> np.ndarray:
        """K at the rows and columns of some samples."""
        if self._K is None or not np.array_equal(samples, self._samples):
            self._K = None  # its memory is free before the next one takes as much
            self._K, self._samples = gram.block(samples), samples
        return self._K


class Dual(NamedTuple):
    """maximize sum phi_i(a_i) - 1/2 a'(K + diag(ridge)) a, sum a = 0, lower <= a <= upper.

    phi_i has slope ``slope`` below ``kink`` and ``slope_above`` above it; None for both where no phi has a kink.
    ``virtual`` holds the kernel values of virtual samples with all samples and with each other, shape (k, n + k); their
    coordinates are unbounded and their slopes are ``virtual_slope``. A dual by ``_replace`` shares ``last_block``.
    """

    gram: Gram
    lower: np.ndarray
    upper: np.ndarray
    slope: np.ndarray
    ridge: np.ndarray | None = None
    kink: np.ndarray | None = None
    slope_above: np.ndarray | None = None
    virtual: np.ndarray | None = None
    virtual_slope: np.ndarray | None = None
    last_block: LastBlock | None = None

    def block(self, samples: np.ndarray) -> np.ndarray:
        """K at the rows and columns of some samples."""
        return self.gram.block(samples) if self.last_block is None else self.last_block.of(self.gram, samples)


@dataclass(frozen=True)
class DualPoint:
    """A feasible point of a dual, and how it was reached.

    ``a`` holds the coordinates, those of virtual samples last; ``f`` is (K + diag(ridge)) a and ``b`` the multiplier of
    sum a = 0. ``violation`` is max (up - f) - min (down - f), zero at a solution; ``n_iter`` counts pair steps.
    """

    a: np.ndarray
    f: np.ndarray
    b: float
    violation: float
    n_iter: int
    status: str


class PrimalValues(NamedTuple):
    """Scores at the training samples, intercept and ||w||^2."""

    scores: np.ndarray
    b: float
    norm2: float

    def objective(self, problem: Problem) -> float:
        """The objective of a problem there."""
        return objective_of_scores(problem, self.norm2, self.scores, self.b)


def build_dual(problem: Problem) -> Dual:
    """The dual of the labeled samples with zero concave slopes; the coordinates of unlabeled samples are fixed at zero.

    With a balance this is the supervised model that keeps it. ``linearize`` frees the other coordinates.
    """
    return with_virtual_samples(problem, build_box_dual(problem))


def with_virtual_samples(problem: Problem, dual: Dual) -> Dual:
    """The dual with the virtual samples of the intercept and the balance."""
    virtual, virtual_slope = _virtual_samples(problem)
    return dual._replace(virtual=virtual, virtual_slope=virtual_slope)


def build_box_dual(problem: Problem) -> Dual:
    """The dual without virtual samples, for a solver that eliminates them: bounds and slopes of the samples alone."""
    part = problem.is_labeled & (problem.cost > 0)
    y = problem.signs
    squared = isinstance(problem.labeled, SquaredHinge)
    if squared and problem.is_indefinite:
        _check_bounded(problem)
    bound = np.where(part, np.inf if squared else problem.cost, 0.0)
    return Dual(
        problem.space.gram(),
        lower=np.where(y < 0, -bound, 0.0),
        upper=np.where(y > 0, bound, 0.0),
        slope=y.astype(np.float64),
        ridge=np.divide(0.5, problem.cost, out=np.zeros_like(problem.cost), where=part) if squared else None,
        last_block=LastBlock(),
    )


def _check_bounded(problem: Problem) -> None:
    """Refuse a squared hinge whose dual is unbounded: its multipliers are limited by the ridge 1/(2c) alone."""
    samples = np.flatnonzero(problem.cost > 0) if problem.unlabeled is not None else problem.labeled_samples
    K = problem.space.gram().block(samples).astype(np.float64)
    if not is_definite(K + np.diag(0.5 / problem.cost[samples]), sum_zero=problem.intercept is True):
        raise ValueError(
            "the kernel is indefinite and the kernel matrix with 1/(2 C) on its diagonal still is, so that the problem "
            "of the squared hinge has no minimum. Use a smaller C, the hinge or a positive definite kernel."
        )


def linearize(problem: Problem, dual: Dual, f: np.ndarray) -> Dual:
    """The dual of the convex step at scores f: the concave parts are replaced by their tangents, which moves bounds."""
    known, y, c = problem.is_labeled, problem.signs, problem.cost
    lower, upper = dual.lower.copy(), dual.upper.copy()
    if known.any() and not isinstance(problem.labeled, SquaredHinge):
        beta = c * losses.concave_slope(problem.labeled, y * f)
        lower[known] = np.where(y > 0, -beta, beta - c)[known]
        upper[known] = np.where(y > 0, c - beta, beta)[known]
    if problem.unlabeled is None or not problem.has_unlabeled:
        return dual._replace(lower=lower, upper=upper)
    tilt = c * losses.concave_slope(problem.unlabeled, f)  # beta_+ - beta_-
    lower[~known], upper[~known] = (-c - tilt)[~known], (c - tilt)[~known]
    slope = np.where(known, dual.slope, 1.0)
    return dual._replace(
        lower=lower,
        upper=upper,
        kink=np.where(known, upper, -tilt),
        slope=slope,
        slope_above=np.where(known, slope, -1.0),
    )


def _virtual_samples(problem: Problem) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Kernel values and slopes of the virtual samples: the mean of a balance, then what absorbs the sum."""
    gram = problem.space.gram()
    rows, slopes = [], []
    if problem.fixed_mean is not None:
        rows.append(gram.product(problem.mean_weights))
        slopes.append(problem.fixed_mean)
    if problem.intercept is not True:
        rows.append(np.full(gram.n, -1.0 if problem.intercept == "regularized" else 0.0))
        slopes.append(0.0)
    if not rows:
        return None, None
    corner = np.full((len(rows), len(rows)), rows[-1][0] if problem.intercept is not True else 0.0)
    if problem.fixed_mean is not None:
        corner[0, 0] = problem.mean_weights @ rows[0]
        if problem.is_indefinite and problem.intercept is not True and corner[0, 0] < 0:
            raise ValueError(
                "the kernel is indefinite and the mean of the unlabeled samples has a negative squared norm, so that "
                "the problem has no minimum. Use balance=None, fit_intercept=True or a positive definite kernel."
            )
    return np.c_[np.array(rows), corner], np.array(slopes)


def primal_values(problem: Problem, dual: Dual, point: DualPoint) -> PrimalValues:
    """Scores, intercept and ||w||^2 from what the dual point holds, without kernel values."""
    n = dual.gram.n
    f = point.f
    if dual.ridge is not None:
        f = f.copy()
        f[:n] -= dual.ridge * point.a[:n]
    if problem.intercept is True:
        b = offset = point.b if problem.fixed_mean is None else problem.fixed_mean - f[n]
    else:
        b, offset = float(point.a[:-1].sum()) if problem.intercept else 0.0, 0.0
    norm2 = float(point.a @ f) - (b**2 if problem.intercept == "regularized" else 0.0)
    return PrimalValues(f[:n] + offset, b, norm2)


def solution_from_dual(
    problem: Problem,
    point: DualPoint,
    kind: str,
    tol: float | None,
    trace: list[dict[str, Any]] | None = None,
) -> Solution:
    """The solution at a dual point, with everything that is reported recomputed by ``problem``.

    Without a trace the iterations are the pair steps of the point.
    """
    n = len(problem.signs)
    own, virtual = point.a[:n], point.a[n:]
    a = own if problem.fixed_mean is None else own + virtual[0] * problem.mean_weights
    coef = problem.space.from_dual(a)
    scores = problem.space.scores(coef, 0.0)
    norm2 = float(a @ scores)
    b = 0.0 if problem.intercept is False else float(a.sum()) if problem.intercept == "regularized" else point.b
    if problem.fixed_mean is not None and problem.intercept is True:
        b = problem.fixed_mean - float(problem.mean_weights @ scores)
    scores += b
    value = objective_of_scores(problem, norm2, scores, b)
    if kind == "kkt" and (norm2 < -ROUNDING * float(np.abs(a) @ np.abs(scores)) or problem.is_indefinite):
        kind = "stationary"
    bound = _dual_value(problem, own, virtual, norm2, b) if kind == "kkt" else None
    gap = None if bound is None else value - bound
    certificate = Certificate(kind, violation(problem, own, scores), bound, gap, tol)
    labels = problem.labels_of(scores)
    n_iter = point.n_iter if trace is None else max(len(trace), 1)
    return Solution(coef, b, scores, labels, value, certificate, point.status, n_iter, own, a, trace or [])


def _dual_value(problem: Problem, a: np.ndarray, virtual: np.ndarray, norm2: float, b: float) -> float:
    """Weak duality: y'a [+ m v] - 1/2 ||w||^2 [- 1/2 b^2] [- sum a^2/(4c)] is below every objective."""
    ridge = 0.0
    if isinstance(problem.labeled, SquaredHinge):
        ridge = np.divide(a**2, 4.0 * problem.cost, out=np.zeros_like(a), where=problem.cost > 0).sum()
    b_part = 0.5 * b**2 if problem.intercept == "regularized" else 0.0
    mean_part = 0.0 if problem.fixed_mean is None else problem.fixed_mean * virtual[0]
    return float(problem.signs @ a + mean_part - 0.5 * norm2 - b_part - ridge)
