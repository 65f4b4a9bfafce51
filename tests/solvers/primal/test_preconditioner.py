"""The Woodbury preconditioner against explicit matrices."""

import numpy as np
import pytest

from factories import INTERCEPTS, dense_samples, primal_problem, run_coroutine
from semisvm.balance import Free, Mean
from semisvm.solvers.primal import preconditioner
from semisvm.solvers.primal.operator import PrimalOperator
from semisvm.solvers.primal.preconditioner import HessianPreconditioner, build_woodbury


@pytest.mark.parametrize("balance", [Mean(0.2), Free()], ids=str)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("space", ["features", "csr"])
@pytest.mark.parametrize("limit", [None, "MAX_SAMPLES", "MAX_NUMBERS"])
@pytest.mark.parametrize("with_mean", [False, True])
def test_solve_and_norm_are_those_of_the_matrix(balance, intercept, space, limit, with_mean, monkeypatch):
    if limit is not None:
        monkeypatch.setattr(preconditioner, limit, 5)
    problem = primal_problem(0, balance=balance, intercept=intercept, space=space)
    operator, rng, X = PrimalOperator(problem), np.random.default_rng(6), dense_samples(problem)
    h = rng.uniform(0.5, 2.0, 40)
    h[np.flatnonzero(problem.is_labeled)[:3]] = 1e-9  # too little to be worth a place in B
    M = run_coroutine(operator, build_woodbury(operator, h, problem.is_labeled, with_mean=with_mean))
    chosen = problem.is_labeled & (h > 1e-3) & (limit is None)
    A = np.column_stack([run_coroutine(operator, operator.product(unit)) for unit in np.eye(operator.size)])
    matrix = (A[chosen].T * h[chosen]) @ A[chosen]
    left = h[~chosen].sum()
    mean = h[~chosen] @ X[~chosen] / left * with_mean
    diagonal = 1.0 + h[~chosen] @ (X[~chosen] - mean) ** 2
    if operator.has_b:
        rest = 1e-3 * h.sum() if with_mean else left
        diagonal = np.append(diagonal, operator.unit**2 * (rest + (intercept == "regularized")))
    if with_mean:
        row = h[~chosen] @ A[~chosen] / left
        matrix += left * np.outer(row, row)
    matrix += np.diag(diagonal)
    v = rng.standard_normal(operator.size)
    np.testing.assert_allclose(matrix @ M.solve(v), v, atol=1e-10)
    assert M.norm(v) == pytest.approx(np.sqrt(v @ matrix @ v), rel=1e-12)


def test_intercept_has_some_weight_where_all_curvature_is_labeled():
    problem = primal_problem(0, 0, n_labeled=12)
    operator, h = PrimalOperator(problem), np.ones(12)
    M = run_coroutine(operator, build_woodbury(operator, h, problem.is_labeled))
    B = np.c_[dense_samples(problem), np.full(12, operator.unit)]
    matrix = B.T @ B + np.diag([1.0, 1.0, 1.0, 1.0, 1e-3 * 12 * operator.unit**2])
    v = np.random.default_rng(0).standard_normal(5)
    np.testing.assert_allclose(matrix @ M.solve(v), v, atol=1e-10)


@pytest.mark.parametrize("space", ["features", "csr"])
def test_preconditioner_is_kept_until_the_curvature_has_changed_much(space):
    problem = primal_problem(0, 30, n_labeled=10, space=space)
    operator, rest = PrimalOperator(problem), ~problem.is_labeled
    kept, h = HessianPreconditioner(operator), np.ones(40)

    def at(curvature):
        return run_coroutine(operator, kept.at(curvature))

    first = at(h)
    assert at(np.where(rest, 1.9, 1.0)) is first
    assert at(np.where(rest, 0.6, 1.0)) is first
    second = at(np.where(rest, 2.1, 1.0))
    assert second is not first
    one_off = np.where(rest, 2.1, 1.0)
    one_off[np.flatnonzero(~rest)[0]] = 0.0
    third = at(one_off)  # one of ten labeled samples is more than five percent
    assert third is not second
    v = np.random.default_rng(0).standard_normal(operator.size)
    expected = run_coroutine(operator, build_woodbury(operator, one_off, problem.is_labeled, with_mean=True)).solve(v)
    np.testing.assert_array_equal(third.solve(v), expected)


def test_sparse_samples_far_from_the_origin_that_are_centered_leave_a_positive_definite_matrix():
    problem = primal_problem(0, 30, n_labeled=10, balance=Mean(0.1), space="csr")
    problem.space.X.data += 1e7
    operator = PrimalOperator(problem)
    M = run_coroutine(operator, build_woodbury(operator, np.full(40, 100.0), problem.is_labeled))
    for v in np.random.default_rng(1).standard_normal((5, operator.size)):
        assert v @ M.solve(v) > 0.0


@pytest.mark.parametrize("space", ["features", "csr"])
def test_many_labeled_samples_leave_their_mean_and_a_diagonal_where_their_factorization_would_cost_more_than_it_saves(
    space,
):
    problem = primal_problem(0, 20, n_labeled=300, space=space)
    operator, h = PrimalOperator(problem), np.ones(320)
    M = run_coroutine(operator, HessianPreconditioner(operator).at(h))
    r = np.random.default_rng(2).standard_normal(operator.size)
    X = dense_samples(problem)
    mean, unit = X.mean(axis=0), operator.unit
    diagonal = np.append(1.0 + ((X - mean) ** 2).sum(axis=0), 1e-3 * unit**2 * 320)
    matrix = np.diag(diagonal) + 320 * np.outer(np.append(mean, unit), np.append(mean, unit))
    np.testing.assert_allclose(matrix @ M.solve(r), r, atol=1e-12)
    without_limit = run_coroutine(operator, build_woodbury(operator, h, problem.is_labeled))
    assert np.abs(without_limit.solve(r) - M.solve(r)).max() > 1e-4
