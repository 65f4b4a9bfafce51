"""The SVM of norm 1 with hinge losses, as a linear program.

minimize  ||w||_1 [+ |b|] + sum over k of c_k (1 - s_k f(x_k))_+      [subject to mean f = m over the unlabeled samples]

A sample may have a hinge with the sign s_k = +1, with -1, with both, or with none. In the program w = p - q with
p, q >= 0, and every loss is a slack variable. HiGHS solves it with features scaled to size one, so that its tolerances
mean the same on every scale. The intercept is then the midpoint of all intercepts that are optimal for w: where there
are several, the solution does not depend on the names of the classes or the order of the samples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ...problem import Problem, objective
from ...solution import Solution, gap_certificate
from ...spaces import Features
from ..base import StoppingRule

TOLERANCES = (1e-10, 1e-7)  # the smallest that HiGHS takes, and one that it reaches where it fails with the first
FLAT = 1e-12  # of all costs: a derivative by b below this is zero but for rounding
DIGITS = 44  # binary digits of the features that are kept
MAX_DENSE = 2_000_000  # entries up to which sparse features are centered and solved as dense ones, to the same optimum
BOUND_ROUNDING = 1e-9  # of the optimum: rounding error allowed in it as a lower bound


class HingeLosses(NamedTuple):
    """The losses of a program: samples, the sign of each loss, and its cost."""

    samples: np.ndarray
    signs: np.ndarray
    cost: np.ndarray


class ScaledFeatures(NamedTuple):
    """Features of size one: Z = (X - center) / scale, f = Z v + a with v = scale w and a = b + center w.

    Dense features, and sparse ones of few entries, are centered if the intercept is free. With v in the place of w an
    objective is ``scale ** norm`` times as large.
    """

    Z: Any
    scale: float


class LPSolution(NamedTuple):
    """A solved program: w, b, the multiplier of every sample, and a lower bound on the optimum."""

    coef: np.ndarray
    intercept: float
    multipliers: np.ndarray
    lower_bound: float


def features_of(problem: Problem) -> Features:
    """The space of a problem that is stated in features."""
    assert isinstance(problem.space, Features), "the 1-norm of w and integer programs need a space of features"
    return problem.space


def scaled_features(problem: Problem) -> ScaledFeatures:
    """The features of a problem scaled to size one, computed once per space."""
    space = features_of(problem)
    is_sparse = sparse.issparse(space.X) and space.X.shape[0] * space.X.shape[1] > MAX_DENSE
    is_centered = problem.intercept is True and not is_sparse

    def make() -> ScaledFeatures:
        X = space.X
        if is_sparse:
            Z = sparse.csr_array(X, dtype=np.float64)
            scale = float(np.abs(Z.data).max(initial=0.0)) or 1.0
            return ScaledFeatures(Z / scale, scale)
        Z = np.array(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        if is_centered:
            Z -= np.median(Z, axis=0)
        Z = _without_last_digits(Z)
        scale = float(np.abs(Z).max(initial=0.0)) or 1.0
        return ScaledFeatures(Z / scale, scale)

    return space.once(("scaled_features", is_centered), make)


def _without_last_digits(Z: np.ndarray) -> np.ndarray:
    """Z up to rounding error, on a grid: of several optima HiGHS chooses by the last digits.

    Those of dense samples, which are centered before they come here, differ from those of the same sparse ones.
    """
    exponent = np.ceil(np.log2(np.abs(Z).max(initial=0.0) or 1.0)) - DIGITS
    grid = max(np.exp2(exponent), np.finfo(float).tiny)
    return grid * np.round(Z / grid)


def labeled_losses(problem: Problem) -> HingeLosses:
    """The losses of the labeled samples of positive cost."""
    samples = problem.labeled_samples
    return HingeLosses(samples, problem.signs[samples], problem.cost[samples])


def solve_lp(problem: Problem, losses: HingeLosses, stop: StoppingRule | None = None) -> LPSolution | None:
    """Minimize the norm and these losses; None if the time is over before the optimum is found.

    Parameters
    ----------
    problem : Problem
        Of norm 1, in a space of features: its intercept and its mean balance are used.
    losses : HingeLosses
        The losses.
    stop : StoppingRule, optional
        Its deadline is that of HiGHS.
    """
    stop = stop or StoppingRule()
    scaled = scaled_features(problem)
    program = _linprog_arguments(problem, scaled, losses)
    for tolerance in TOLERANCES:
        if stop.time_is_over:
            return None
        options: dict[str, Any] = {
            "primal_feasibility_tolerance": tolerance,
            "dual_feasibility_tolerance": tolerance,
            "presolve": sparse.issparse(scaled.Z),  # of dense features it removes nothing, in as much time as it takes
        }
        if stop.time_left is not None:
            options["time_limit"] = stop.time_left
        result = linprog(**program, method="highs", options=options)
        if result.status == 0:
            return _lp_solution(problem, scaled, losses, result)
        if result.status == 1:
            return None
        if result.status == 2 and problem.fixed_mean is not None and problem.intercept is False:
            raise ValueError(
                f"without an intercept f cannot have the mean {problem.fixed_mean:g} over the unlabeled samples, whose "
                "mean is zero; use fit_intercept=True or balance=None."
            )
    raise ValueError(
        f"HiGHS did not solve the linear program ({result.message.rstrip('.')}) with costs up to "
        f"{np.abs(program['c']).max():.2g} times the size of w; scale or center X, or lower C."
    )


def _linprog_arguments(problem: Problem, scaled: ScaledFeatures, losses: HingeLosses) -> dict[str, Any]:
    """The arguments of ``linprog``; variables are p, q, those of the intercept, and the slacks."""
    samples, signs, cost = losses
    d, k = scaled.Z.shape[1], len(samples)
    signed = sparse.csr_array(scaled.Z[samples] * -signs[:, None])
    shift, price, bounds = intercept_variables(problem.intercept, scaled.scale)
    columns = [signed, -signed, sparse.csr_array(-signs[:, None] @ shift), -sparse.eye_array(k)]
    program = {
        "c": np.r_[np.ones(2 * d), price, scaled.scale * cost],
        "A_ub": sparse.hstack(columns, format="csc"),
        "b_ub": -np.ones(k),
        "bounds": np.r_[np.tile([0.0, np.inf], (2 * d, 1)), bounds, np.tile([0.0, np.inf], (k, 1))],
    }
    if problem.fixed_mean is not None:
        mean = problem.mean_weights @ scaled.Z
        program |= {"A_eq": np.r_[mean, -mean, shift[0], np.zeros(k)][None], "b_eq": [problem.fixed_mean]}
    return program


def intercept_variables(intercept: bool | str, scale: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients in f, costs and bounds of the variables of b: one if it is free, two parts if it is regularized."""
    if intercept is True:
        return np.ones((1, 1)), np.zeros(1), np.array([[-np.inf, np.inf]])
    if intercept is False:
        return np.zeros((1, 0)), np.zeros(0), np.zeros((0, 2))
    return np.array([[1.0, -1.0]]), np.full(2, scale), np.tile([0.0, np.inf], (2, 1))


def _lp_solution(problem: Problem, scaled: ScaledFeatures, losses: HingeLosses, result: Any) -> LPSolution:
    d = scaled.Z.shape[1]
    w, b = _with_intercept(problem, losses, (result.x[:d] - result.x[d : 2 * d]) / scaled.scale)
    multipliers = np.zeros(len(problem.signs))
    np.add.at(multipliers, losses.samples, -losses.signs * result.ineqlin.marginals / scaled.scale)
    return LPSolution(w, b, multipliers, max((result.fun - BOUND_ROUNDING * abs(result.fun)) / scaled.scale, 0.0))


def trivial_solution(problem: Problem) -> LPSolution:
    """A feasible point without a program: w = 0, or the w of smallest norm with the fixed mean and no intercept."""
    space = features_of(problem)
    w = np.zeros(space.X.shape[1])
    if problem.fixed_mean is not None and problem.intercept is False:
        mean = space.from_dual(problem.mean_weights)
        largest = np.abs(mean).argmax()
        w[largest] = np.sign(mean[largest])
    w, b = _with_intercept(problem, labeled_losses(problem), w)
    return LPSolution(w, b, np.zeros(len(problem.signs)), 0.0)


def _with_intercept(problem: Problem, losses: HingeLosses, w: np.ndarray) -> tuple[np.ndarray, float]:
    """w and its best intercept, or the one that the fixed mean leaves; without one the nonzero w move to that mean.

    The mean of a program holds up to the tolerance of HiGHS, and here to all digits.
    """
    f = problem.space.scores(w, 0.0)
    if problem.fixed_mean is not None:
        mean = float(problem.mean_weights @ f)
        if problem.intercept is not False:
            return w, problem.fixed_mean - mean
        gradient = np.where(w != 0, problem.space.from_dual(problem.mean_weights), 0.0)
        square = float(gradient @ gradient)
        return (w + gradient * ((problem.fixed_mean - mean) / square) if square > 0 else w), 0.0
    if problem.intercept is False:
        return w, 0.0
    return w, best_intercept(f[losses.samples], losses, 1.0 if problem.intercept == "regularized" else 0.0)


def solution_from_lp(problem: Problem, point: LPSolution) -> Solution:
    """The point as a solution, with labels by the sign of f and the gap to the bound of the point."""
    f = problem.space.scores(point.coef, point.intercept)
    value = objective(problem, point.coef, point.intercept)
    return Solution(
        point.coef,
        point.intercept,
        f,
        problem.labels_of(f),
        value,
        gap_certificate(value, point.lower_bound),
        "converged",
        n_iter=1,
        multipliers=point.multipliers,
    )


def best_intercept(f: np.ndarray, losses: HingeLosses, price: float = 0.0) -> float:
    """The midpoint of all b of smallest sum c (1 - s (f + b))_+ + price |b|.

    The derivative by b increases by c at each breakpoint b = s - f, where a loss starts or ends, and by twice the price
    at zero.

    Parameters
    ----------
    f : array
        Scores without an intercept, at the samples of ``losses``.
    losses : HingeLosses
        The losses.
    price : float
        Cost of a unit of |b|.
    """
    breakpoints, increase = np.append(losses.signs - f, 0.0), np.append(losses.cost, 2.0 * price)
    order = np.argsort(breakpoints, kind="stable")
    order = order[increase[order] > 0]
    breakpoints, increase = breakpoints[order], increase[order]
    if not len(breakpoints):
        return 0.0
    derivative = np.cumsum(increase) - losses.cost[losses.signs > 0].sum() - price
    rounding = FLAT * increase.sum()
    first = np.flatnonzero(derivative >= -rounding)[0]  # there is one: beyond all breakpoints it is not negative
    positive = np.flatnonzero(derivative > rounding)
    last = positive[0] if len(positive) else len(breakpoints) - 1  # else every b beyond the last breakpoint is optimal
    return float(0.5 * (breakpoints[first] + breakpoints[last]))
