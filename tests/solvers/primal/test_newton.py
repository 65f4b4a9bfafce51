"""Finite Newton on squared hinges: derivatives, the exact step, and solves against an interior point."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from factories import MODES, dense_samples, primal_problem, run_coroutine, two_sided_costs
from references import squared_hinge_svm, squared_hinge_value, squared_hinge_violation
from semisvm.balance import Mean
from semisvm.solvers.base import StoppingRule
from semisvm.solvers.primal import newton
from semisvm.solvers.primal.newton import HingeCosts, beyond_corners, derivatives, exact_step, minimize
from semisvm.solvers.primal.operator import Iterate, PrimalOperator
from semisvm.spaces import Features

every_mode = pytest.mark.parametrize("balance, intercept", MODES, ids=str)


def mode_of(problem):
    """Samples, and how references treat the intercept and the mean."""
    mean = (problem.mean_weights, problem.balance.m) if isinstance(problem.balance, Mean) else None
    return dense_samples(problem), {"intercept": problem.intercept, "mean": mean}


def solve(problem, costs, tol=1e-11, start=None, stop=None, **options):
    operator = PrimalOperator(problem)
    coroutine = minimize(operator, costs, start or operator.zero(), tol, stop or StoppingRule(), **options)
    iterate = run_coroutine(operator, coroutine)
    return iterate, *operator.split(iterate.theta)


# ---------------------------------------------------------------- derivatives


def test_derivatives_are_those_of_the_formula():
    f = np.array([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0])
    gradient, curvature = derivatives(f, np.full(7, 2.0), np.full(7, 3.0))
    np.testing.assert_allclose(gradient, [-16.0, -8.0, -3.0, 2.0, 7.0, 12.0, 24.0])
    np.testing.assert_allclose(curvature, [4.0, 4.0, 10.0, 10.0, 10.0, 6.0, 6.0])


@every_mode
def test_gradient_and_hessian_products_are_finite_differences(balance, intercept):
    problem, costs = primal_problem(0, balance=balance, intercept=intercept), two_sided_costs(40)
    operator, rng, X = PrimalOperator(problem), np.random.default_rng(2), dense_samples(problem)

    def value(theta):
        return squared_hinge_value(X, *costs, *operator.split(theta), intercept)

    def derivatives_at(theta):
        w, b = operator.split(theta)
        gradient, curvature = derivatives(X @ w + b, *costs)
        return operator.norm_gradient(theta) + run_coroutine(operator, operator.adjoint(gradient)), curvature

    theta, step = 0.6 * rng.standard_normal(operator.size), 1e-6
    gradient, curvature = derivatives_at(theta)
    for v in rng.standard_normal((3, operator.size)):
        ahead, behind = theta + step * v, theta - step * v
        assert gradient @ v == pytest.approx((value(ahead) - value(behind)) / (2 * step), rel=1e-6, abs=1e-6)
        difference = (derivatives_at(ahead)[0] - derivatives_at(behind)[0]) / (2 * step)
        product = run_coroutine(operator, operator.hessian_product(v, curvature))[0]
        np.testing.assert_allclose(product, difference, rtol=1e-5, atol=1e-5)


# ---------------------------------------------------------------- the exact step


def root_by_pieces(f, z, costs, slope, curvature):
    """The zero of the derivative, found on its piece, and the number of corners before it."""

    def derivative(t):
        g = f + t * z
        hinges = costs.negative * np.maximum(1.0 + g, 0.0) - costs.positive * np.maximum(1.0 - g, 0.0)
        return slope + curvature * t + 2.0 * z @ hinges

    with np.errstate(divide="ignore", invalid="ignore"):
        corners = np.concatenate([(1.0 - f) / z, (-1.0 - f) / z])
    corners = np.r_[0.0, np.sort(corners[np.isfinite(corners) & (corners > 0)])]
    before = int(np.searchsorted([derivative(t) >= 0 for t in corners], True)) - 1
    low = corners[before]
    high = corners[before + 1] if before + 1 < len(corners) else low + 1.0
    return low + (high - low) * -derivative(low) / (derivative(high) - derivative(low)), before


def test_step_ends_where_the_derivative_is_zero_however_many_corners_lie_before():
    rng, n_corners, sizes = np.random.default_rng(3), [], []
    for case in range(600):
        n = int(rng.integers(1, 25))
        f, z = 2.0 * rng.standard_normal(n), rng.standard_normal(n) * 10.0 ** rng.uniform(-1.5, 1.5)
        z[rng.random(n) < 0.2] = 0.0
        costs, curvature = two_sided_costs(n, case), 10.0 ** rng.uniform(-2, 2)
        slope = -z @ derivatives(f, *costs)[0] - 10.0 ** rng.uniform(-1, 3)  # so that the direction is one of descent
        expected, before = root_by_pieces(f, z, costs, slope, curvature)
        assert exact_step(f, z, *costs, slope, curvature) == pytest.approx(expected, rel=1e-9)
        n_corners.append(before)
        sizes.append(expected)
    n_corners, sizes = np.array(n_corners), np.array(sizes)
    assert n_corners.min() == 0
    assert min(np.sum(n_corners >= 4), np.sum(sizes > 3.0), np.sum(sizes < 0.3)) > 50  # all kinds were there


def test_step_crosses_an_interval_without_curvature():
    f, costs = np.array([-10.0]), (np.array([0.0]), np.array([1.0]))
    assert exact_step(f, np.array([0.1]), *costs, -0.01, 0.0) == pytest.approx(90.5, rel=1e-12)
    assert exact_step(f, np.array([1e6]), *costs, -0.01, 0.0) == pytest.approx(9e-6, rel=1e-6)


# ---------------------------------------------------------------- a solve


@every_mode
@pytest.mark.parametrize("space", ["features", "csr"])
def test_minimizer_is_that_of_an_interior_point(balance, intercept, space):
    for seed in range(3):
        options = {"weighted": seed == 1, "n_features": (4, 4, 12)[seed]}
        problem = primal_problem(seed, balance=balance, intercept=intercept, space=space, **options)
        costs, (X, mode) = two_sided_costs(40, seed), mode_of(problem)
        if seed == 2:  # costs of labels, so that many samples pass a corner of their hinge
            is_positive = costs.positive > costs.negative
            costs = HingeCosts(100.0 * is_positive, 100.0 * ~is_positive)
        iterate, w, b = solve(problem, costs)
        other_w, other_b = squared_hinge_svm(X, *costs, **mode)
        np.testing.assert_allclose(np.append(w, b), np.append(other_w, other_b), atol=1e-6)
        value, other = (squared_hinge_value(X, *costs, *at, intercept) for at in ((w, b), (other_w, other_b)))
        assert value <= other * (1 + 1e-9)
        assert squared_hinge_violation(X, *costs, w, b, **mode) <= 2e-10
        np.testing.assert_allclose(iterate.f, X @ w + b, atol=1e-10)


@every_mode
@pytest.mark.parametrize("tol", [0.1, 1e-2, 1e-4])
def test_solve_ends_at_the_given_decrease_relative_to_the_objective_and_returns_it(balance, intercept, tol):
    problem = primal_problem(1, balance=balance, intercept=intercept)
    costs, (X, mode) = two_sided_costs(40, 5), mode_of(problem)
    iterate, w, b = solve(problem, costs, tol)
    value, least = (
        squared_hinge_value(X, *costs, *at, intercept) for at in ((w, b), squared_hinge_svm(X, *costs, **mode))
    )
    assert iterate.is_solution
    assert iterate.violation <= tol
    left = (value - least) / value
    assert left <= 4.0 * iterate.violation**2 + 1e-9  # M stands for the Hessian
    assert tol > 1e-2 or iterate.violation > 1e-3 * tol  # as far as necessary, no farther


@every_mode
@pytest.mark.parametrize("reduction", [0.5, 0.1])
def test_solve_may_end_when_the_predicted_decrease_is_reduced_enough(balance, intercept, reduction):
    problem, costs = primal_problem(1, balance=balance, intercept=intercept), two_sided_costs(40, 5)
    X, _ = mode_of(problem)
    none, w, b = solve(problem, costs, 0.0, stop=StoppingRule(max_time=-1.0))
    first = none.violation**2 * squared_hinge_value(X, *costs, w, b, intercept)
    iterate, w, b = solve(problem, costs, 1e-12, reduction=reduction)
    assert iterate.is_solution
    assert iterate.violation**2 * squared_hinge_value(X, *costs, w, b, intercept) <= reduction**2 * first * (1 + 1e-9)
    assert iterate.violation > 1e-8


@every_mode
@pytest.mark.parametrize("space", ["features", "csr"])
def test_gradient_that_is_updated_along_the_steps_is_the_gradient(balance, intercept, space):
    for seed in range(4):
        problem = primal_problem(seed, balance=balance, intercept=intercept, space=space)
        operator, start = PrimalOperator(problem), None
        for costs in (two_sided_costs(40, seed), two_sided_costs(40, seed + 9)):  # the second from the first's gradient
            start, _, _ = solve(problem, costs, 1e-12, start=start, reduction=0.3)
            slopes = derivatives(start.f, *costs)[0]
            gradient = operator.norm_gradient(start.theta) + run_coroutine(operator, operator.adjoint(slopes))
            np.testing.assert_allclose(start.gradient, gradient, atol=1e-11 * np.abs(slopes).sum())
            np.testing.assert_allclose(start.slopes, slopes)
            f = run_coroutine(operator, operator.product(start.theta)) + operator.offset
            np.testing.assert_allclose(start.f, f, atol=1e-12)


def test_derivatives_beyond_corners_are_what_a_linear_model_lacks():
    rng = np.random.default_rng(4)
    for seed in range(20):
        f, z, costs, t = 1.5 * rng.standard_normal(40), rng.standard_normal(40), two_sided_costs(40, seed), rng.random()
        (gradient, curvature), (new_gradient, _) = (derivatives(at, *costs) for at in (f, f + t * z))
        expected = new_gradient - gradient - t * curvature * z
        np.testing.assert_allclose(beyond_corners(f, z, t, *costs), expected, atol=1e-12)
    assert not beyond_corners(f, np.zeros(40), 1.0, *costs).any()


def test_no_step_is_made_when_time_is_over():
    problem, costs = primal_problem(2), two_sided_costs(40, 2)
    iterate, _, _ = solve(problem, costs, 1e-12, stop=StoppingRule(max_time=-1.0))
    assert not iterate.theta.any()
    assert not iterate.is_solution
    assert np.isfinite(iterate.violation)


def test_inexact_newton_steps_end_at_the_same_minimizer(monkeypatch):
    problem, costs = primal_problem(2), two_sided_costs(40, 2)
    expected, original = solve(problem, costs)[0], newton.conjugate_gradient

    def loose(operator, curvature, gradient, preconditioner, relative_tol, stop, solved):
        return original(operator, curvature, gradient, preconditioner, 0.9, stop, solved=solved)

    monkeypatch.setattr(newton, "conjugate_gradient", loose)
    np.testing.assert_allclose(solve(problem, costs)[0].theta, expected.theta, atol=1e-7)


def test_every_step_is_the_best_along_its_direction(monkeypatch):
    longer_and_shorter = np.r_[1.0, np.linspace(0.0, 3.0, 61)]
    for seed in range(5):
        problem = primal_problem(seed, 0, n_labeled=40, n_features=12, separation=0.3)
        costs, points = HingeCosts(100.0 * (problem.signs > 0), 100.0 * (problem.signs < 0)), []
        for n_steps in range(8):
            monkeypatch.setattr(newton, "MAX_NEWTON_STEPS", n_steps)
            points.append(np.append(*solve(problem, costs, 1e-12)[1:]))
        for now, then in pairwise(points):
            along = [now + t * (then - now) for t in longer_and_shorter]
            values = [squared_hinge_value(dense_samples(problem), *costs, point[:-1], point[-1]) for point in along]
            assert values[0] <= min(values) * (1 + 1e-12)


def test_solve_may_start_where_no_sample_has_a_loss():
    X = np.array([[2.0, 0.3], [1.0, -0.2], [-1.0, 0.1], [-1.5, 0.4]])
    problem = replace(primal_problem(0, 0, n_labeled=4), space=Features(X))
    costs, theta = HingeCosts(np.array([1.0, 1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 1.0])), np.array([30.0, 0, 0])
    _, w, b = solve(problem, costs, start=Iterate(theta, 30.0 * X[:, 0]))
    np.testing.assert_allclose(np.append(w, b), np.append(*squared_hinge_svm(X, *costs)), atol=1e-7)
    assert not solve(problem, HingeCosts(np.zeros(4), np.zeros(4)))[0].theta.any()  # nothing to fit
