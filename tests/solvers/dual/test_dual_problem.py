"""Duals of problems with a hinge: their solutions against interior points in the primal, weak duality on the way."""

from dataclasses import replace

import numpy as np
import pytest

from factories import INTERCEPTS, random_problem
from references import linear_svm, squared_hinge_svm
from semisvm.balance import Free, Mean
from semisvm.losses import Ramp, SymmetricHinge, SymmetricRamp, concave_slope
from semisvm.problem import balance_residual, objective
from semisvm.solvers.base import StoppingRule
from semisvm.solvers.dual import solve_dual
from semisvm.solvers.dual.dual_problem import build_dual, linearize, primal_values, solution_from_dual

BALANCES = [Free(), Mean(0.3)]


def linear_problem(seed=0, **options):
    """A problem on features with costs that differ, some of them zero, and weights in the mean."""
    return random_problem(
        seed, 7, n_labeled=9, n_features=3, space="features", cost_spread=0.5, weighted=True, n_zero_weight=4, **options
    )


def mean_of(problem):
    return None if problem.fixed_mean is None else (problem.mean_weights, problem.fixed_mean)


@pytest.mark.parametrize(
    ("losses", "balance", "intercept"),
    [("hinge", balance, intercept) for balance in BALANCES for intercept in INTERCEPTS]
    + [("squared_hinge", Free(), intercept) for intercept in INTERCEPTS]
    + [("squared_hinge", Mean(0.3), intercept) for intercept in (True, "regularized")],
    ids=str,
)
def test_dual_of_the_labeled_samples_has_the_primal_solution(losses, balance, intercept):
    """With a mean balance this is the supervised model that keeps it."""
    problem = linear_problem(balance=balance, intercept=intercept, losses=losses)
    supervised = replace(problem, unlabeled=None)
    X, y, cost = problem.space.X, problem.signs, problem.cost
    if losses == "hinge":
        w, b, _ = linear_svm(X, y, cost, intercept, norm=2, mean=mean_of(problem))
    else:
        w, b = squared_hinge_svm(X, cost * (y > 0), cost * (y < 0), intercept, mean_of(problem))
    smallest = objective(supervised, w, b)
    dual = build_dual(problem)
    assert not dual.lower[y == 0].any()
    assert not dual.upper[y == 0].any()
    for n_steps in (0, 1, 3, 10, 10_000):
        point = solve_dual(dual, None, 1e-9, StoppingRule(n_steps) if n_steps < 10_000 else None)
        solution = solution_from_dual(supervised, point, "kkt", 1e-6)
        assert solution.certificate.lower_bound <= smallest * (1.0 + 1e-7)
        assert solution.certificate.gap == pytest.approx(solution.objective - solution.certificate.lower_bound)
        values = primal_values(problem, dual, point)  # without kernel values, on the way as at the end
        np.testing.assert_allclose(values.scores, solution.scores, atol=1e-9)
        assert values.b == pytest.approx(solution.intercept, abs=1e-9)
        assert values.norm2 == pytest.approx(solution.coef @ solution.coef, abs=1e-9)
    assert solution.objective == pytest.approx(smallest, rel=1e-6)
    assert solution.certificate.gap == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(solution.coef, w, atol=1e-4)
    np.testing.assert_allclose(solution.coef, X.T @ solution.dual, atol=1e-12)
    assert balance_residual(problem, solution.scores, solution.labels) < 1e-7


@pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
@pytest.mark.parametrize("balance", BALANCES, ids=str)
@pytest.mark.parametrize("unlabeled", [SymmetricRamp(-0.3), SymmetricHinge()], ids=str)
@pytest.mark.parametrize("ramp", [False, True], ids=["hinge", "ramp"])
def test_dual_of_a_convex_step_minimizes_the_linearized_objective(intercept, balance, unlabeled, ramp):
    """In the primal: both copies of an unlabeled sample have a hinge, and concave parts are linear terms."""
    problem = replace(linear_problem(1, balance=balance, intercept=intercept), unlabeled=unlabeled)
    problem = replace(problem, labeled=Ramp(-0.2)) if ramp else problem
    X, known, cost = problem.space.X, problem.is_labeled, problem.cost
    f = np.random.default_rng(0).standard_normal(len(cost))
    y = problem.signs
    slope = np.where(known, y * concave_slope(problem.labeled, y * f), concave_slope(unlabeled, f))
    linear_term = (cost * slope) @ np.c_[X, np.ones(len(X))]
    copies = np.r_[np.arange(len(X)), np.flatnonzero(~known)]
    sides = np.r_[np.where(known, y, 1.0), -np.ones(np.count_nonzero(~known))]
    mean = mean_of(problem)
    mean = None if mean is None else (np.r_[mean[0], np.zeros(np.count_nonzero(~known))], mean[1])
    linear_term = linear_term if intercept is not False else linear_term[:-1]
    w, b, _ = linear_svm(X[copies], sides, cost[copies], intercept, 2, mean, linear_term)
    dual = linearize(problem, build_dual(problem), f)
    values = primal_values(problem, dual, solve_dual(dual, tol=1e-9))
    np.testing.assert_allclose(values.scores, X @ w + b, atol=1e-4)
    assert np.count_nonzero(slope) > 4


def test_labels_of_a_dual_point_are_the_given_ones_and_signs():
    problem = random_problem(2)
    solution = solution_from_dual(problem, solve_dual(build_dual(problem)), "stationary", None)
    known = problem.is_labeled
    np.testing.assert_array_equal(solution.labels[known], problem.signs[known])
    np.testing.assert_array_equal(solution.labels[~known], np.sign(solution.scores[~known]))
    assert solution.certificate.lower_bound is None  # the problem is not convex
