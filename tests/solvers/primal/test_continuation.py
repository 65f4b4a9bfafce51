"""Continuation: smoothed losses as means over a Gaussian, the convex first level, and the limit of no smoothing."""

from dataclasses import replace

import numpy as np
import pytest

from factories import INTERCEPTS, dense_samples, primal_problem, run_coroutine
from semisvm.balance import Free, Mean
from semisvm.losses import SymmetricRamp
from semisvm.problem import objective
from semisvm.solvers import CCCP, Continuation
from semisvm.solvers.primal.continuation import largest_eigenvalue, smoothed_losses, smoothing
from semisvm.solvers.primal.operator import PrimalOperator
from semisvm.spaces import Features

BALANCES = pytest.mark.parametrize("balance", [Mean(0.2), Free()], ids=str)


def make_problem(balance=Mean(0.2), **options):  # noqa: B008
    return primal_problem(0, losses="hinge_gaussian", balance=balance, **({"cost_spread": 0.5} | options))


def scores(operator, theta):
    return operator.zero().f + run_coroutine(operator, operator.product(theta))


@pytest.mark.parametrize("gamma", [5.0, 0.3, 0.01])
def test_derivatives_of_smoothed_losses_are_finite_differences(gamma):
    problem, rng = make_problem(), np.random.default_rng(1)
    level = smoothed_losses(problem, PrimalOperator(problem).sample_norms(), gamma)
    f, v = rng.standard_normal(40), rng.standard_normal(40)
    ahead, behind = f + 1e-6 * v, f - 1e-6 * v
    assert level.gradient(f) @ v == pytest.approx((level.value(ahead) - level.value(behind)) / 2e-6, rel=1e-6, abs=1e-7)
    difference = (level.gradient(ahead) - level.gradient(behind)) / 2e-6
    np.testing.assert_allclose(level.curvature(f) * v, difference, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("gamma", [0.05, 1.0])
def test_smoothed_losses_are_means_over_a_gaussian_around_w(gamma):
    problem = make_problem()
    operator, rng, known = PrimalOperator(problem), np.random.default_rng(2), problem.is_labeled
    theta = 0.5 * rng.standard_normal(operator.size)
    around = np.sqrt(gamma / 2.0) * rng.standard_normal((100_000, operator.size))
    around = np.vstack([around, -around])
    f = scores(operator, theta) + around @ (dense_samples(problem) - operator.mean).T
    hinge = np.maximum(1.0 - problem.signs[known] * f[:, known], 0.0).mean(axis=0)
    gaussian = np.exp(-3.0 * f[:, ~known] ** 2).mean(axis=0)
    expected = problem.cost[known] @ hinge + problem.cost[~known] @ gaussian
    level = smoothed_losses(problem, operator.sample_norms(), gamma)
    assert level.value(scores(operator, theta)) == pytest.approx(expected, rel=3e-3)


@pytest.mark.parametrize("C_unlabeled", [0.05, 0.7, 20.0])
@pytest.mark.parametrize("balance, intercept", [(Mean(0.2), True), (Free(), False)], ids=str)
def test_first_level_is_convex_and_the_last_one_is_not_where_unlabeled_samples_cost_much(
    C_unlabeled, balance, intercept
):
    problem = make_problem(balance, intercept=intercept, C_unlabeled=C_unlabeled)
    operator = PrimalOperator(problem)
    norms = operator.sample_norms()
    gammas = smoothing(problem, norms, 11)
    assert len(gammas) == 11
    assert gammas == sorted(gammas, reverse=True)
    assert gammas[-1] == pytest.approx(1.0 / (30.0 * norms[~problem.is_labeled].max() ** 2))
    A = dense_samples(problem) - (0.0 if operator.mean is None else operator.mean)

    def smallest_curvature(gamma):
        """Over the Hessians at many scores; the Gaussian is most concave at f = 0."""
        level, rng = smoothed_losses(problem, norms, gamma), np.random.default_rng(3)
        every_f = np.vstack([np.zeros(40), 0.5 * rng.standard_normal((50, operator.size)) @ A.T])
        hessians = [np.eye(operator.size) + (A.T * level.curvature(f)) @ A for f in every_f]
        return min(np.linalg.eigvalsh(H)[0] for H in hessians)

    assert smallest_curvature(gammas[0]) > 0
    assert C_unlabeled < 20.0 or smallest_curvature(gammas[-1]) < 0


@pytest.mark.parametrize("n_features", [2, 4])
@BALANCES
def test_largest_eigenvalue_is_that_of_the_explicit_matrix(n_features, balance):
    problem = make_problem(balance, n_features=n_features)
    operator = PrimalOperator(problem)
    A = dense_samples(problem) - (0.0 if operator.mean is None else operator.mean)
    norms = operator.sample_norms()
    np.testing.assert_allclose(norms, np.linalg.norm(A, axis=1))
    used = ~problem.is_labeled & (norms > 0)
    matrix = (A[used].T * (problem.cost[used] / norms[used] ** 3)) @ A[used]
    expected = np.linalg.eigvalsh(matrix)[-1]
    found = largest_eigenvalue(problem, norms)
    assert expected * (1 - 1e-12) <= found <= 1.002 * expected


@BALANCES
@pytest.mark.parametrize("n_unlabeled", [1, 2])
@pytest.mark.parametrize("sample", [[1.0, -1.0, 0.0, 0.0], [0.1, 0.7, -0.3, 1.1]], ids=["orthogonal", "any"])
def test_unlabeled_samples_that_coincide_are_no_obstacle(balance, n_unlabeled, sample):
    """One sample, or two equal ones, have norm zero after centering; without, one may be orthogonal to any start."""
    problem = make_problem(balance, n_unlabeled=n_unlabeled, C=100.0)
    X = dense_samples(problem).copy()
    X[~problem.is_labeled] = sample
    problem = replace(problem, space=Features(X))
    norms = PrimalOperator(problem).sample_norms()
    assert not isinstance(balance, Mean) or not norms[~problem.is_labeled].any()
    solution = Continuation(1e-6).solve(problem)
    exact = CCCP(tol=1e-6).solve(replace(problem, unlabeled=SymmetricRamp(s=-1.0)))  # which costs nothing
    assert solution.objective <= 1.5 * exact.objective + problem.cost[~problem.is_labeled].sum()


@BALANCES
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_losses_without_smoothing_are_those_of_the_problem(balance, intercept):
    problem = make_problem(balance, intercept=intercept)
    operator = PrimalOperator(problem)
    theta = np.random.default_rng(4).standard_normal(operator.size)
    level = smoothed_losses(problem, operator.sample_norms(), 1e-12)
    value = operator.half_norm2(theta) + level.value(scores(operator, theta))
    assert value == pytest.approx(objective(problem, *operator.split(theta)), rel=1e-5)


@BALANCES
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_path_keeps_the_mean_and_ends_at_a_stationary_point_of_the_last_level(balance, intercept):
    problem = make_problem(balance, intercept=intercept)
    solution = Continuation(1e-6).solve(problem)
    operator, last = PrimalOperator(problem), Continuation().levels(problem)[-1][1]
    theta = np.append(solution.coef, solution.intercept / operator.unit) if operator.has_b else solution.coef

    def value(theta):
        return operator.half_norm2(theta) + last.value(scores(operator, theta))

    slopes = [(value(theta + step) - value(theta - step)) / 2e-6 for step in 1e-6 * np.eye(len(theta))]
    np.testing.assert_allclose(slopes, 0.0, atol=1e-5)
    assert solution.objective == pytest.approx(objective(problem, solution.coef, solution.intercept), rel=1e-12)
    np.testing.assert_allclose(solution.coef, dense_samples(problem).T @ solution.dual, atol=1e-6)
    if isinstance(balance, Mean):
        assert problem.mean_weights @ solution.scores == pytest.approx(balance.m, abs=1e-10)
    assert len(solution.trace) == 11
    assert solution.certificate.value <= 1e-6
    assert solution.status == "converged"
