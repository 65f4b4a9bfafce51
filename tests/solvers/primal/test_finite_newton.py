"""The supervised squared-hinge SVM against liblinear, SMO, interior points and its dual."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from factories import MODES, dense_samples, primal_problem
from semisvm.balance import Free, Mean
from semisvm.datasets import make_two_gaussians
from semisvm.losses import SquaredHinge
from semisvm.problem import Problem, objective
from semisvm.solvers import SMO, FiniteNewton
from semisvm.solvers.primal.operator import PrimalOperator
from semisvm.spaces import Features

both_spaces = pytest.mark.parametrize("space", ["features", "csr"])


def supervised(seed=0, **options):
    return replace(primal_problem(seed, cost_spread=0.5, **options), unlabeled=None)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("intercept", [False, "regularized"])
def test_solution_is_that_of_liblinear(C, intercept):
    X, y = make_two_gaussians(60, 5, 0.7, random_state=0)
    problem = Problem(Features(X), 2.0 * y - 3.0, np.full(60, C), SquaredHinge(), intercept=intercept)
    solution = FiniteNewton().solve(problem)
    other = LinearSVC(C=C, dual=False, tol=1e-10, max_iter=10_000, fit_intercept=bool(intercept)).fit(X, y)
    np.testing.assert_allclose(solution.coef, other.coef_[0], atol=1e-5)
    assert solution.intercept == pytest.approx(np.ravel(other.intercept_)[0] if intercept else 0.0, abs=1e-5)


@pytest.mark.parametrize("balance, intercept", MODES, ids=str)
@both_spaces
def test_solution_is_that_of_smo_and_of_its_dual(balance, intercept, space):
    problem = supervised(3, balance=balance, intercept=intercept, space=space)
    solution, other = FiniteNewton().solve(problem), SMO(1e-10).solve(problem)
    X = dense_samples(problem)
    np.testing.assert_allclose(solution.coef, other.coef, atol=1e-7)
    assert solution.intercept == pytest.approx(other.intercept, abs=1e-7)
    np.testing.assert_allclose(solution.coef, X.T @ solution.dual, atol=1e-9)
    np.testing.assert_allclose(solution.multipliers, other.multipliers, atol=1e-6)
    np.testing.assert_allclose(solution.scores, X @ solution.coef + solution.intercept, atol=1e-12)
    assert solution.objective == pytest.approx(objective(problem, solution.coef, solution.intercept), rel=1e-12)
    assert solution.certificate.kind == "kkt"
    assert solution.certificate.value <= 1e-9
    assert solution.status == "converged"
    if isinstance(balance, Mean):
        assert problem.mean_weights @ solution.scores == pytest.approx(balance.m, abs=1e-10)


def test_mean_of_no_samples_is_no_condition():
    problem = supervised(4, n_unlabeled=0, n_labeled=40)
    solution, other = (FiniteNewton().solve(replace(problem, balance=balance)) for balance in (Mean(0.3), Free()))
    np.testing.assert_array_equal(solution.coef, other.coef)
    assert solution.intercept == other.intercept


@both_spaces
def test_single_precision_samples_give_the_same_solution(space):
    problem = supervised(7, space=space)
    X = problem.space.X.astype(np.float32)
    single, double = (FiniteNewton().solve(replace(problem, space=Features(x))) for x in (X, X.astype(np.float64)))
    np.testing.assert_allclose(single.coef, double.coef, atol=1e-9)
    assert single.coef.dtype == np.float64


def test_gradient_that_is_only_rounding_counts_as_zero():
    rng = np.random.default_rng(0)
    X = rng.permutation(np.repeat(rng.standard_normal((30, 4)), 2, axis=0))
    signs = np.zeros(60)
    for sample in X:  # of two equal samples one is positive and one negative
        signs[np.flatnonzero((sample == X).all(axis=1))] = [1.0, -1.0]
    problem = Problem(Features(sparse.csr_array(X)), signs, np.ones(60), SquaredHinge(), intercept=False)
    gradient = PrimalOperator(problem).design.adjoint(2.0 * signs)
    assert 0.0 < np.abs(gradient).max() < 1e-13
    solution = FiniteNewton().solve(problem)
    np.testing.assert_allclose(solution.coef, 0.0, atol=1e-14)
    assert solution.status == "converged"
    assert solution.trace[0]["violation"] <= 1e-3
