"""Newton steps against pair steps from zero and against the optimality conditions themselves."""

from dataclasses import replace

import numpy as np
import pytest

from factories import random_problem
from semisvm.solvers.dual import semismooth_newton
from semisvm.solvers.dual.dual_problem import build_dual
from semisvm.solvers.dual.semismooth_newton import factor_rows, newton_point
from semisvm.solvers.dual.smo import solve_dual
from semisvm.spaces import Gram, Kernel

every_loss = pytest.mark.parametrize("losses", ["hinge", "squared_hinge"])


def labeled_problem(seed, losses="hinge", C=5.0, n=60):
    options = {"losses": losses, "C": C, "n_features": 4, "cost_spread": 0.5}
    problem = random_problem(seed, 0, n_labeled=n, **options)
    problem.space.compute()
    return problem


def flipped(problem, n_flips, seed=0):
    y = problem.signs.copy()
    y[np.random.default_rng(seed).choice(len(y), n_flips, replace=False)] *= -1.0
    return problem.with_labels(y)


def assert_solves(dual, point, tol):
    """Feasible, f is what it should be, and no pair of coordinates increases the objective, by plain arithmetic."""
    a, lower, upper = point.a, dual.lower, dual.upper
    ridge = 0.0 if dual.ridge is None else dual.ridge * a
    f = dual.gram.compute() @ a + ridge
    assert (lower <= a).all()
    assert (a <= upper).all()
    assert abs(a.sum()) < 1e-10 * np.abs(a).sum()
    np.testing.assert_allclose(point.f, f, atol=1e-9)
    assert (dual.slope - f)[a < upper].max() - (dual.slope - f)[a > lower].min() <= tol + 1e-12


@every_loss
@pytest.mark.parametrize("C", [0.3, 5.0, 100.0])
def test_after_some_flips_the_solution_is_that_of_pair_steps(losses, C):
    n_solved = 0
    for seed in range(10):
        problem = labeled_problem(seed, losses, C)
        old = solve_dual(build_dual(problem), tol=1e-3, polish=False)
        dual = build_dual(flipped(problem, 1 + seed % 4, seed))
        a, f = old.a.copy(), old.f.copy()
        point = newton_point(dual, old.a, old.f, 1e-6)
        np.testing.assert_array_equal(old.a, a)
        np.testing.assert_array_equal(old.f, f)
        if point is None:
            continue
        n_solved += 1
        assert_solves(dual, point, 1e-6)
        expected = solve_dual(dual, tol=1e-10)
        np.testing.assert_allclose(point.a, expected.a, atol=1e-4 * C)
        assert solve_dual(dual, point, 1e-6, polish=False).n_iter == 0
    assert n_solved >= (6 if losses == "hinge" else 9)


def test_multipliers_of_few_samples_lead_to_the_solution_of_all():
    problem = labeled_problem(3)
    few = problem.cost * (np.arange(60) < 40)
    old = solve_dual(build_dual(problem.with_labels(problem.signs, few)), tol=1e-6)
    dual = build_dual(problem)
    point = newton_point(dual, old.a, dual.gram.product(old.a), 1e-6)
    assert_solves(dual, point, 1e-6)


def test_equal_samples_and_indefinite_kernels_give_no_wrong_point():
    """The matrix of the free samples is singular or has negative eigenvalues."""
    n_solved = 0
    for seed in range(10):
        problem = labeled_problem(seed, C=20.0, n=30)
        K = problem.space.compute()
        K = np.tile(K, (2, 2)) if seed % 2 else K - 0.3 * np.eye(30)
        y, cost = np.resize(problem.signs, len(K)), np.resize(problem.cost, len(K))
        problem = replace(problem, space=Gram(Kernel("precomputed"), K), signs=y, cost=cost)
        a = solve_dual(build_dual(problem), tol=1e-3).a
        dual = build_dual(flipped(problem, 2, seed))
        point = newton_point(dual, a, K @ a, 1e-3)
        if point is not None:
            n_solved += 1
            assert_solves(dual, point, 1e-3)
    assert n_solved < 10


def test_without_free_samples_or_with_too_many_pair_steps_have_to_do_it(monkeypatch):
    problem = labeled_problem(0)
    dual = build_dual(problem)
    assert newton_point(dual, np.zeros(60), np.zeros(60), 1e-3) is None
    old = solve_dual(dual, tol=1e-3)
    monkeypatch.setattr(semismooth_newton, "LIMIT", 3)
    assert newton_point(dual, old.a, old.f, 1e-3) is None


def test_rows_of_the_factor_are_those_of_cholesky_and_may_come_in_parts():
    K, ridge = labeled_problem(1).space.compute(), np.linspace(0.1, 1.0, 60)
    order = np.random.default_rng(0).permutation(60)[:25]
    expected = np.linalg.cholesky((K + np.diag(ridge))[np.ix_(order, order)])
    L = np.zeros((30, 30))
    assert factor_rows(K, ridge, order, 0, 10, L)
    assert factor_rows(K, ridge, order, 10, 25, L)
    np.testing.assert_allclose(L[:25, :25], expected, atol=1e-12)
    assert not factor_rows(K, np.zeros(60), np.array([3, 3]), 0, 2, L)
