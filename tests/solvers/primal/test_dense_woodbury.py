"""The compiled preconditioner is the one of the batch engine; Lanczos' method against the explicit matrix."""

import numpy as np
import pytest

from factories import INTERCEPTS, primal_problem, run_coroutine
from semisvm.balance import Free, Mean
from semisvm.solvers import Continuation, GradientPath
from semisvm.solvers.primal import dense_woodbury
from semisvm.solvers.primal.dense_woodbury import build_metric, precondition
from semisvm.solvers.primal.lanczos import largest_by_lanczos
from semisvm.solvers.primal.operator import PrimalOperator
from semisvm.solvers.primal.preconditioner import build_woodbury
from semisvm.solvers.primal.quasi_newton import Affine


@pytest.mark.parametrize("solver, losses", [(GradientPath, "gaussian"), (Continuation, "hinge_gaussian")])
@pytest.mark.parametrize("balance", [Free(), Mean(0.2)], ids=str)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_compiled_preconditioner_is_the_other_one(solver, losses, balance, intercept):
    problem = primal_problem(0, losses=losses, balance=balance, intercept=intercept, cost_spread=0.5)
    operator, rng = PrimalOperator(problem), np.random.default_rng(1)
    level = solver().levels(problem)[4][1]
    f, r = rng.standard_normal(40), rng.standard_normal(operator.size)
    curvature = np.abs(level.curvature(f))
    expected = run_coroutine(operator, build_woodbury(operator, curvature, problem.is_labeled)).solve(r)
    affine = Affine(operator.design.rows, operator.beta, operator.offset, float(intercept == "regularized"))
    root, V = build_metric(affine, level, f)
    assert len(V) > 0
    found = np.empty(operator.size)
    precondition(root, V, r, found)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_many_labeled_samples_leave_a_diagonal():
    problem = primal_problem(0, 10, n_labeled=200, losses="gaussian", balance=Mean(0.0))
    operator, level = PrimalOperator(problem), GradientPath().levels(problem)[0][1]
    affine = Affine(operator.design.rows, operator.beta, operator.offset, 0.0)
    root, V = build_metric(affine, level, np.zeros(210))
    assert len(V) == 0
    assert dense_woodbury.MAX_RATIO * 210 < 200**2
    squares = operator.design.weighted_squares(np.abs(level.curvature(np.zeros(210))))
    np.testing.assert_allclose(root**2, 1.0 + squares)


@pytest.mark.parametrize("shape", [(50, 1), (50, 3), (60, 30), (20, 40), (300, 120)], ids=str)
def test_largest_eigenvalue_by_lanczos_is_that_of_the_matrix(shape):
    rng = np.random.default_rng(0)
    X, mean, weights = rng.standard_normal(shape), rng.standard_normal(shape[1]), rng.random(shape[0])
    expected = np.linalg.eigvalsh(((X - mean).T * weights) @ (X - mean))[-1]
    found = largest_by_lanczos(X, mean, weights, rng.standard_normal(shape[1]), 1e-4)
    assert found == pytest.approx(expected, rel=1e-6)


def test_lanczos_ends_early_in_a_small_subspace():
    X = np.outer(np.arange(1.0, 6.0), np.ones(30))
    assert largest_by_lanczos(X, np.zeros(30), np.ones(5), np.arange(30.0), 1e-4) == pytest.approx(30.0 * 55.0)
