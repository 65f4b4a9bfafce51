"""Coordinate descent against an interior-point method and SMO, in all its forms of the intercept, dense and sparse."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from factories import dense_samples, random_problem
from references import linear_svm, maximize_dual
from semisvm.balance import Free, Mean
from semisvm.losses import Hinge, Ramp, SquaredHinge
from semisvm.problem import balance_residual, objective, violation
from semisvm.solvers.base import StoppingRule
from semisvm.solvers.dual import CCCP, SMO, CoordinateDescent, convex, coordinate_descent, on_features, solve_dual
from semisvm.solvers.dual.convex import choose_method
from semisvm.solvers.dual.coordinate_descent import descend
from semisvm.solvers.dual.dual_problem import build_box_dual, build_dual, linearize, primal_values
from semisvm.solvers.dual.duality_gap import box_gap, duality_gap
from semisvm.solvers.dual.eliminated_intercept import EliminatedIntercept
from semisvm.solvers.dual.iterate import Iterate
from semisvm.spaces import Features

MODES = [  # without an intercept to search for
    (Free(), False),
    (Free(), "regularized"),
    (Mean(0.2), True),
    (Mean(0.2), False),
    (Mean(-0.3), "regularized"),
]
every_mode = pytest.mark.parametrize("balance, intercept", MODES, ids=str)
with_a_search = pytest.mark.parametrize("balance, intercept", [*MODES, (Free(), True)], ids=str)


def make_problem(seed=0, n_unlabeled=30, labeled=None, **options):
    """A problem of hinge and symmetric ramp on features, some of which are zero."""
    defaults = {"n_labeled": 10, "n_features": 4, "losses": "ramp", "space": "features", "C": 3.0, "zero_below": 0.3}
    problem = random_problem(seed, n_unlabeled, **(defaults | options))
    return problem if labeled is None else replace(problem, labeled=labeled)


def svm_problem(seed=0, n=60, **options):
    """A supervised problem of overlapping classes."""
    return replace(make_problem(seed, 0, **({"n_labeled": n, "separation": 0.3} | options)), unlabeled=None)


def as_csr(problem):
    return replace(problem, space=Features(sparse.csr_array(dense_samples(problem))))


def tangent_duals(problem, seed=0):
    """The dual of a convex step at random scores, with bounds alone and with virtual samples."""
    f = np.random.default_rng(seed).standard_normal(len(problem.signs))
    return linearize(problem, build_box_dual(problem), f), linearize(problem, build_dual(problem), f)


def by_smo(monkeypatch, solver, problem):
    """What CCCP finds with SMO in the place of coordinate descent."""
    with monkeypatch.context() as patch:
        patch.setattr(convex, "choose_method", lambda problem: "pairs")
        return solver.solve(problem)


# ---- supervised ----


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("intercept", [False, "regularized", True])
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=str)
def test_supervised_objective_is_that_of_smo(loss, intercept, C):
    problem = svm_problem(C=C, intercept=intercept, cost_spread=0.5, weighted=True, n_zero_weight=4, labeled=loss)
    for one in (problem, as_csr(problem)):
        solution = CoordinateDescent(tol=1e-8).solve(one)
        assert solution.objective == pytest.approx(SMO(tol=1e-8).solve(problem).objective, rel=1e-9)
        assert solution.status == "converged"
        assert violation(one, solution.multipliers, solution.scores) <= 1e-8
        assert -1e-9 <= solution.certificate.gap <= 1e-6 * solution.objective
        assert objective(one, solution.coef, solution.intercept) == pytest.approx(solution.objective, rel=1e-12)


@with_a_search
def test_supervised_model_that_keeps_a_balance_is_that_of_an_interior_point_method(balance, intercept):
    problem = make_problem(1, balance=balance, intercept=intercept, weighted=True, cost_spread=0.5)
    mean = None if isinstance(balance, Free) else (problem.mean_weights, balance.m)
    w, b, _ = linear_svm(dense_samples(problem), problem.signs, problem.cost, intercept, norm=2, mean=mean)
    dual = build_box_dual(problem)
    point = descend(EliminatedIntercept(problem), dual, None, 1e-9, StoppingRule())
    values = primal_values(problem, dual, point)
    np.testing.assert_allclose(values.scores, dense_samples(problem) @ w + b, atol=1e-5)
    assert values.b == pytest.approx(b, abs=1e-5)
    assert values.norm2 == pytest.approx(w @ w, rel=1e-5)


# ---- convex steps ----


@with_a_search
@pytest.mark.parametrize("labeled", [Hinge(), Ramp(-0.5), SquaredHinge()], ids=str)
def test_convex_step_is_that_of_an_interior_point_method_and_of_smo(labeled, balance, intercept):
    problem = make_problem(2, balance=balance, intercept=intercept, weighted=True, n_zero_weight=4, labeled=labeled)
    boxes, full = tangent_duals(problem)
    point = descend(EliminatedIntercept(problem), boxes, None, 1e-9, StoppingRule())
    assert point.status == "converged"
    run = Iterate(full, point.a)
    np.testing.assert_allclose(point.f, run.f, atol=1e-9)
    assert abs(point.a.sum()) < 1e-9
    top, bottom = run.extremes()
    assert top - bottom <= 1e-8
    smo = solve_dual(full, None, 1e-9)
    assert run.value() == pytest.approx(Iterate(full, smo.a).value(), abs=1e-7)
    if intercept != "regularized":  # whose virtual sample makes a matrix that is definite where sum a = 0 alone
        n = len(problem.signs)
        K = np.block([[full.gram.compute(), run.V[:, :n].T], [run.V]])
        lower, kink, upper = (np.clip(piece, -100.0, 100.0) for piece in run.pieces[:3])
        a, _ = maximize_dual(K, lower, upper, run.pieces[3], run.ridge, kink, run.pieces[4])
        assert run.value() == pytest.approx(Iterate(full, a).value(), rel=1e-6, abs=1e-6)


@every_mode
def test_sparse_is_dense_and_scores_are_those_of_w(balance, intercept):
    problem = make_problem(3, balance=balance, intercept=intercept)
    dense, csr = CCCP(tol=1e-7).solve(problem), CCCP(tol=1e-7).solve(as_csr(problem))
    np.testing.assert_allclose(csr.scores, dense.scores, atol=1e-6)
    np.testing.assert_allclose(csr.coef, dense.coef, atol=1e-6)
    assert csr.objective == pytest.approx(dense.objective, rel=1e-9)
    np.testing.assert_allclose(problem.space.scores(dense.coef, dense.intercept), dense.scores, atol=1e-12)


def test_single_precision_samples_are_taken_as_they_are():
    problem = make_problem(4, intercept="regularized")
    single = replace(problem, space=Features(problem.space.X.astype(np.float32)))
    double = replace(problem, space=Features(single.space.X.astype(np.float64)))
    assert CCCP(tol=1e-7).solve(single).objective == pytest.approx(CCCP(tol=1e-7).solve(double).objective, rel=1e-6)


# ---- CCCP ----


@every_mode
@pytest.mark.parametrize("C", [0.5, 5.0, 50.0])
def test_cccp_ends_at_a_stationary_point_and_where_smo_ends_on_average(balance, intercept, C, monkeypatch):
    gaps = []
    for seed in range(4):
        problem = make_problem(seed, 60, balance=balance, intercept=intercept, C=C, C_unlabeled=0.2 * C, weighted=True)
        assert choose_method(problem) == "coordinates"
        solution = CCCP(tol=1e-6).solve(problem)
        path = [row["objective"] for row in solution.trace]
        assert (np.diff(path) <= 1e-8 * path[0]).all()
        assert path[-1] == pytest.approx(solution.objective, rel=1e-9)
        assert solution.status == "converged"
        assert violation(problem, solution.multipliers, solution.scores) <= 1e-5
        assert balance_residual(problem, solution.scores, solution.labels) < 1e-9
        gaps.append(solution.objective / by_smo(monkeypatch, CCCP(tol=1e-6), problem).objective - 1.0)
    assert np.median(np.abs(gaps)) < 1e-3


@pytest.mark.parametrize("C", [1.0, 1e4, 1e6])
def test_supervised_ramp_is_as_good_as_that_of_smo_whatever_the_cost(C, monkeypatch):
    """At a large cost, with classes that can be separated, a small violation is a large part of the objective."""
    options = {"n_features": 30, "separation": 0.1, "zero_below": 0.0, "intercept": "regularized"}
    problem = replace(svm_problem(n=60, C=C, **options), labeled=Ramp(-1e6))
    solution, expected = CCCP().solve(problem), by_smo(monkeypatch, CCCP(), problem)
    assert solution.objective == pytest.approx(expected.objective, rel=1e-3)


def test_same_bits_every_time():
    problem = make_problem(5, 100, balance=Mean(0.1))
    first, second = CCCP().solve(problem), CCCP().solve(problem)
    assert first.coef.tobytes() == second.coef.tobytes()
    assert first.multipliers.tobytes() == second.multipliers.tobytes()


# ---- extremes ----


@pytest.mark.parametrize("m", [-1.0, -0.99, 0.0, 5.0])
def test_extreme_means_hold(m):
    for intercept in (True, "regularized"):
        problem = make_problem(6, balance=Mean(m), intercept=intercept)
        solution = CCCP(tol=1e-6).solve(problem)
        assert problem.mean_weights @ solution.scores == pytest.approx(m, abs=1e-9)
        assert violation(problem, solution.multipliers, solution.scores) <= 1e-5


def test_duplicates_and_samples_at_the_origin_are_solved(monkeypatch):
    problem = make_problem(7, intercept=False)
    X = np.vstack([problem.space.X, problem.space.X, np.zeros((4, 4))])
    signs, cost = (
        np.r_[problem.signs, problem.signs, 1.0, -1.0, 0.0, 0.0],
        np.r_[problem.cost, problem.cost, np.ones(4)],
    )
    doubled = replace(problem, space=Features(X), signs=signs, cost=cost)
    boxes, full = tangent_duals(doubled)
    point = descend(EliminatedIntercept(doubled), boxes, None, 1e-8, StoppingRule())
    assert Iterate(full, point.a).value() == pytest.approx(Iterate(full, solve_dual(full, None, 1e-8).a).value())


def test_nothing_to_move_is_a_solution():
    problem = replace(make_problem(8, intercept=False), cost=np.zeros(40))
    solution = CCCP().solve(problem)
    assert solution.objective == 0.0
    assert not solution.coef.any()


# ---- the duality gap ----


@pytest.mark.parametrize("balance, intercept", MODES[:3], ids=str)
def test_duality_gap_is_the_distance_to_the_best_dual_value_at_most(balance, intercept):
    problem = make_problem(9, balance=balance, intercept=intercept)
    boxes, full = tangent_duals(problem)
    samples, n = EliminatedIntercept(problem), len(problem.signs)
    best = Iterate(full, solve_dual(full, None, 1e-9).a).value()
    for tol in (1.0, 0.1, 1e-6):
        point = descend(samples, boxes, None, tol, StoppingRule())
        gap = duality_gap(problem, boxes, point, primal_values(problem, boxes, point))
        assert best - Iterate(full, point.a).value() <= gap + 1e-9
    assert gap < 1e-3
    squared = replace(problem, labeled=SquaredHinge())
    boxes, _ = tangent_duals(squared)
    assert np.isfinite(box_gap(boxes, np.clip(0.0, boxes.lower, boxes.upper), np.zeros(n)))


# ---- which solver, and how it ends ----


def test_smo_goes_on_where_sweeps_do_not_converge(monkeypatch):
    problem = make_problem(10, balance=Mean(0.2), C=1e4, C_unlabeled=1e3)
    monkeypatch.setattr(coordinate_descent, "MAX_SWEEPS", 3)
    calls = []

    def counted(*args):
        calls.append(args)
        return solve_dual(*args)

    monkeypatch.setattr(on_features, "solve_dual", counted)
    solution = CCCP(tol=1e-6).solve(problem)
    assert calls
    assert solution.status == "converged"
    assert violation(problem, solution.multipliers, solution.scores) <= 1e-5


def test_supervised_problem_behind_a_kernel_is_solved_by_smo():
    problem = svm_problem(space="rbf", intercept=False)
    assert CoordinateDescent(1e-7).solve(problem).objective == pytest.approx(
        SMO(1e-7).solve(problem).objective, rel=1e-12
    )
    assert CoordinateDescent(max_iter=1).solve(svm_problem(space="rbf", intercept=False, C=1e3)).status == "max_iter"


def test_start_at_a_solution_needs_few_sweeps():
    problem = svm_problem(intercept="regularized")
    first = CoordinateDescent(1e-6).solve(problem)
    again = CoordinateDescent(1e-6).solve(problem, start=first)
    assert again.n_iter < first.n_iter / 2
    assert again.objective == pytest.approx(first.objective, rel=1e-6)


@pytest.mark.parametrize("intercept", ["regularized", True])
@pytest.mark.parametrize("status", ["interrupted", "max_time", "stopped", "max_iter"])
def test_early_end_has_a_consistent_point(status, intercept, monkeypatch, clock):
    problem = svm_problem(intercept=intercept, C=100.0)
    monkeypatch.setattr(coordinate_descent, "PERIOD", 1)

    def callback(row):
        assert row["violation"] > 0.0
        if row["sweeps"] >= 3 and status == "interrupted":
            raise KeyboardInterrupt
        clock.now += 100.0 * (status == "max_time")
        return row["sweeps"] >= 3 and status == "stopped"

    solver = CoordinateDescent(1e-9, max_time=250.0, max_iter=3 if status == "max_iter" else 1000)
    solution = solver.solve(problem, callback=callback)
    assert solution.status == status
    assert solution.n_iter == 3
    assert solution.certificate.value > 1e-9
    assert objective(problem, solution.coef, solution.intercept) == pytest.approx(solution.objective, rel=1e-12)
    assert solution.certificate.lower_bound <= SMO(1e-8).solve(problem).objective


def test_tolerance_below_the_arithmetic_ends():
    solution = CoordinateDescent(tol=0.0).solve(svm_problem(intercept="regularized"))
    assert solution.status in ("converged", "stalled")
    assert solution.certificate.value < 1e-9
