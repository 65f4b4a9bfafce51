"""The compiled preconditioner against its explicit matrix; Lanczos' method against the explicit matrix."""

import numpy as np
import pytest

from factories import INTERCEPTS, dense_samples, primal_problem
from semisvm.balance import Free, Mean
from semisvm.solvers import Continuation, GradientPath
from semisvm.solvers.primal import dense_woodbury
from semisvm.solvers.primal.dense_woodbury import affine_map, build_metric, intercept_diagonal, precondition
from semisvm.solvers.primal.lanczos import largest_by_lanczos
from semisvm.solvers.primal.operator import PrimalOperator
from semisvm.spaces import DesignMatrix


def explicit_metric(problem, operator, h):
    """D + U'GU + B'hB from X, with all labeled samples in B."""
    X, U = dense_samples(problem), operator.design.leading.U
    A = X - operator.mean if operator.mean is not None else X
    rest, known = np.where(problem.is_labeled, 0.0, h), problem.is_labeled
    along = U.T @ U @ (A.T * rest) @ A @ U.T @ U
    M = np.diag(np.maximum(1.0 + rest @ A**2 - np.diag(along), 1.0)) + along
    B = A[known]
    if operator.has_b:
        M = np.pad(M, (0, 1))
        M[-1, -1] = intercept_diagonal(operator.unit, h.sum(), rest.sum(), float(operator.intercept == "regularized"))
        B = np.c_[B, np.full(known.sum(), operator.unit)]
    return M + (B.T * h[known]) @ B


@pytest.mark.parametrize("solver, losses", [(GradientPath, "gaussian"), (Continuation, "hinge_gaussian")])
@pytest.mark.parametrize("balance", [Free(), Mean(0.2)], ids=str)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_compiled_preconditioner_is_the_inverse_of_its_matrix(solver, losses, balance, intercept):
    problem = primal_problem(0, losses=losses, balance=balance, intercept=intercept, cost_spread=0.5)
    operator, rng = PrimalOperator(problem), np.random.default_rng(1)
    level = solver().levels(problem)[4][1]
    f, r = rng.standard_normal(40), rng.standard_normal(operator.size)
    root, V = build_metric(affine_map(operator), level, f)
    assert len(V) > len(operator.design.leading.U) > 0
    found = np.empty(operator.size)
    precondition(root, V, r, found)
    M = explicit_metric(problem, operator, np.abs(level.curvature(f)))
    np.testing.assert_allclose(M @ found, r, atol=1e-8)


def test_many_labeled_samples_leave_the_leading_directions():
    problem = primal_problem(0, 10, n_labeled=200, losses="gaussian", balance=Mean(0.0))
    operator, level = PrimalOperator(problem), GradientPath().levels(problem)[0][1]
    _, V = build_metric(affine_map(operator), level, np.zeros(210))
    assert len(V) == len(operator.design.leading.U)
    assert dense_woodbury.MAX_RATIO * 210 < 200**2


@pytest.mark.parametrize("shape", [(50, 1), (50, 3), (60, 30), (20, 40), (300, 120)], ids=str)
def test_largest_eigenvalue_by_lanczos_is_that_of_the_matrix(shape):
    rng = np.random.default_rng(0)
    X, mean, weights = rng.standard_normal(shape), rng.standard_normal(shape[1]), rng.random(shape[0])
    expected = np.linalg.eigvalsh(((X - mean).T * weights) @ (X - mean))[-1]
    found = largest_by_lanczos(DesignMatrix(X), mean, weights, rng.standard_normal(shape[1]), 1e-4)
    assert found == pytest.approx(expected, rel=1e-6)


def test_lanczos_ends_early_in_a_small_subspace():
    design = DesignMatrix(np.outer(np.arange(1.0, 6.0), np.ones(30)))
    assert largest_by_lanczos(design, np.zeros(30), np.ones(5), np.arange(30.0), 1e-4) == pytest.approx(30.0 * 55.0)
