"""nabla-TSVM: derivatives of the levels, the path, and the stationary point at its end."""

import numpy as np
import pytest

from factories import INTERCEPTS, dense_samples, primal_problem
from semisvm.balance import Free, Mean
from semisvm.problem import objective
from semisvm.solvers import GradientPath
from semisvm.solvers.primal.operator import PrimalOperator


def losses_in_numpy(problem, f, share):
    known, cost = problem.is_labeled, problem.cost
    hinges = np.maximum(1.0 - problem.signs[known] * f[known], 0.0) ** 2
    return cost[known] @ hinges + share * cost[~known] @ np.exp(-3.0 * f[~known] ** 2)


def test_cost_of_unlabeled_samples_increases_by_a_constant_factor_to_the_full_cost():
    problem, rng = primal_problem(0, losses="gaussian", cost_spread=0.5), np.random.default_rng(1)
    levels = GradientPath().levels(problem)
    np.testing.assert_allclose([share for share, _ in levels], 0.01 * 100.0 ** np.linspace(0.0, 1.0, 11))
    for share, losses in levels:
        f, v = rng.standard_normal((2, 40))
        assert losses.value(f) == pytest.approx(losses_in_numpy(problem, f, share), rel=1e-12)
        ahead, behind = f + 1e-6 * v, f - 1e-6 * v
        assert losses.gradient(f) @ v == pytest.approx((losses.value(ahead) - losses.value(behind)) / 2e-6, rel=1e-6)
        difference = (losses.gradient(ahead) - losses.gradient(behind)) / 2e-6
        np.testing.assert_allclose(losses.curvature(f) * v, difference, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("balance", [Mean(0.2), Mean(-0.4), Free()], ids=str)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("space", ["features", "csr"])
def test_path_keeps_the_mean_and_ends_at_a_stationary_point_of_the_objective(balance, intercept, space):
    problem = primal_problem(0, losses="gaussian", balance=balance, intercept=intercept, space=space)
    solution = GradientPath(1e-6).solve(problem)
    operator = PrimalOperator(problem)
    theta = np.append(solution.coef, solution.intercept / operator.unit) if operator.has_b else solution.coef

    def value(theta):
        return objective(problem, *operator.split(theta))

    assert solution.objective == pytest.approx(value(theta), rel=1e-12)
    steps = 1e-5 * np.eye(len(theta))
    slopes = [(value(theta + step) - value(theta - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(slopes, 0.0, atol=1e-5)
    if isinstance(balance, Mean):
        assert problem.mean_weights @ solution.scores == pytest.approx(balance.m, abs=1e-10)
    np.testing.assert_allclose(solution.coef, dense_samples(problem).T @ solution.dual, atol=1e-6)
    assert solution.status == "converged"
    assert solution.certificate.kind == "stationary"
    assert solution.certificate.value <= 1e-6
    assert [row["level"] for row in solution.trace] == [level for level, _ in GradientPath().levels(problem)]


@pytest.mark.parametrize("space", ["features", "csr"])
def test_levels_are_solved_to_the_tolerance_and_the_last_one_to_the_last_digits(space):
    solution = GradientPath(1e-3).solve(primal_problem(0, losses="gaussian", balance=Mean(0.2), space=space))
    violations = [row["violation"] for row in solution.trace]
    assert max(violations[:-1]) <= 1e-3
    assert max(violations[:-1]) > 1e-6
    assert violations[-1] <= 1e-9
