"""The map from theta to f against explicit matrices, for every kind of intercept and balance."""

import numpy as np
import pytest

from factories import MODES, dense_samples, primal_problem, run_coroutine
from semisvm.balance import Mean
from semisvm.solvers.primal.operator import PrimalOperator

every_mode = pytest.mark.parametrize("balance, intercept", [*MODES, (Mean(0.3), False)], ids=str)


def explicit(problem):
    """A and the Hessian N of half the squared norm, written out."""
    X = dense_samples(problem)
    n, d = X.shape
    if isinstance(problem.balance, Mean):
        mean = problem.mean_weights @ X
        return X - mean, np.eye(d) + (np.outer(mean, mean) if problem.intercept == "regularized" else 0.0)
    if problem.intercept is False:
        return X, np.eye(d)
    unit = problem.space.design.unit
    return np.c_[X, np.full(n, unit)], np.diag(np.r_[np.ones(d), unit**2 * (problem.intercept == "regularized")])


@every_mode
@pytest.mark.parametrize("space", ["features", "csr"])
@pytest.mark.parametrize("weighted", [False, True])
def test_products_are_those_of_the_explicit_matrices(balance, intercept, space, weighted):
    options = {"weighted": weighted, "n_zero_weight": 6 * weighted}
    problem = primal_problem(0, balance=balance, intercept=intercept, space=space, **options)
    operator, rng, (A, N) = PrimalOperator(problem), np.random.default_rng(1), explicit(problem)
    n = len(A)
    v, r, h = rng.standard_normal(operator.size), rng.standard_normal(n), rng.uniform(0.0, 2.0, n)
    h[rng.random(n) < 0.4] = 0.0
    H = N + (A.T * h) @ A
    assert operator.size == A.shape[1]
    close = {"rtol": 1e-11, "atol": 1e-11}
    np.testing.assert_allclose(run_coroutine(operator, operator.product(v)), A @ v, **close)
    np.testing.assert_allclose(run_coroutine(operator, operator.adjoint(r)), A.T @ r, **close)
    np.testing.assert_allclose(run_coroutine(operator, operator.hessian_product(v, h))[0], H @ v, **close)
    some = run_coroutine(operator, operator.partial_product(v, h > 0.0))
    np.testing.assert_allclose(some[h > 0.0], (A @ v)[h > 0.0], **close)
    np.testing.assert_allclose(operator.norm_product(v), N @ v, **close)
    norms = operator.sample_norms()
    np.testing.assert_allclose(norms, np.linalg.norm(A[:, : problem.space.design.d], axis=1), rtol=1e-10)


@every_mode
def test_scores_are_affine_in_theta_and_keep_the_mean(balance, intercept):
    problem = primal_problem(0, balance=balance, intercept=intercept, weighted=True)
    operator, (A, _) = PrimalOperator(problem), explicit(problem)
    theta, *directions = np.random.default_rng(1).standard_normal((4, operator.size))
    w, b = operator.split(theta)
    f = operator.zero().f + A @ theta
    np.testing.assert_allclose(f, dense_samples(problem) @ w + b, atol=1e-12)
    assert not operator.zero().theta.any()
    if isinstance(balance, Mean):
        assert problem.mean_weights @ f == pytest.approx(balance.m, abs=1e-12)
        assert problem.mean_weights @ operator.zero().f == pytest.approx(balance.m, abs=1e-12)
    half = 0.5 * w @ w + (0.5 * b**2 if intercept == "regularized" else 0.0)
    assert operator.half_norm2(theta) == pytest.approx(half, rel=1e-12)
    for v in directions:
        difference = (operator.half_norm2(theta + 1e-5 * v) - operator.half_norm2(theta - 1e-5 * v)) / 2e-5
        assert operator.norm_gradient(theta) @ v == pytest.approx(difference, rel=1e-7, abs=1e-8)


def test_scale_of_the_gradient_is_not_below_its_rounding_error():
    operator = PrimalOperator(primal_problem(0))
    (A, _), r = explicit(primal_problem(0)), np.random.default_rng(3).standard_normal(40)
    assert run_coroutine(operator, operator.gradient_scale(r)) == pytest.approx(np.linalg.norm(A.T @ r), rel=1e-12)
    cancels = r - A @ np.linalg.lstsq(A, r, rcond=None)[0]
    assert np.linalg.norm(A.T @ cancels) < 1e-12
    largest_norm = np.linalg.norm(A[:, :-1], axis=1).max()
    expected = 1e-10 * np.abs(cancels).sum() * largest_norm
    assert run_coroutine(operator, operator.gradient_scale(cancels)) == pytest.approx(expected, rel=1e-9)
