"""The augmented Lagrangian method against SMO and an interior-point method, with kinks, ridges and every intercept."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from factories import dense_samples, random_problem
from references import linear_svm
from semisvm.losses import Hinge, Ramp, SquaredHinge
from semisvm.problem import objective, violation
from semisvm.solvers.base import StoppingRule
from semisvm.solvers.dual import SMO, AugmentedLagrangian, augmented_lagrangian, solve_dual
from semisvm.solvers.dual.augmented_lagrangian import solve_augmented
from semisvm.solvers.dual.dual_problem import build_box_dual, build_dual, linearize
from semisvm.solvers.dual.iterate import Iterate, sum_to_zero
from semisvm.solvers.dual.proximal_steps import line_search, set_maximizers
from semisvm.spaces import Features

every_intercept = pytest.mark.parametrize("intercept", [True, False, "regularized"])
every_loss = pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=str)


def make_problem(seed=0, n_unlabeled=30, labeled=None, **options):
    """A problem of hinge and symmetric ramp on features, some of which are zero."""
    defaults = {"n_labeled": 10, "n_features": 4, "losses": "ramp", "space": "features", "C": 3.0, "zero_below": 0.3}
    problem = random_problem(seed, n_unlabeled, **(defaults | options))
    return problem if labeled is None else replace(problem, labeled=labeled)


def svm_problem(seed=0, n=60, **options):
    """A supervised problem of overlapping classes."""
    return replace(make_problem(seed, 0, **({"n_labeled": n, "separation": 0.3} | options)), unlabeled=None)


def with_samples(problem, X):
    return replace(problem, space=Features(X))


def check_solution(problem, solution, expected, tol):
    """The objective of another solver, and all that is said about the solution computed anew."""
    assert solution.status == "converged"
    assert solution.objective == pytest.approx(expected, rel=1e-8)
    assert violation(problem, solution.multipliers, solution.scores) <= tol
    assert -1e-9 * solution.objective <= solution.certificate.gap <= 1e-6 * solution.objective
    assert objective(problem, solution.coef, solution.intercept) == pytest.approx(solution.objective, rel=1e-12)
    np.testing.assert_allclose(solution.coef, dense_samples(problem).T @ solution.dual, atol=1e-12)
    if problem.intercept is True:
        assert abs(solution.multipliers.sum()) <= 1e-12 * np.abs(solution.multipliers).sum()


# ---- supervised ----


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@every_intercept
@every_loss
def test_objective_is_that_of_smo(loss, intercept, C):
    problem = svm_problem(C=C, intercept=intercept, cost_spread=0.5, weighted=True, n_zero_weight=4, labeled=loss)
    expected = SMO(tol=1e-9).solve(problem).objective
    for X in (problem.space.X, sparse.csr_array(problem.space.X), np.asfortranarray(problem.space.X)):
        one = with_samples(problem, X)
        check_solution(one, AugmentedLagrangian(tol=1e-7).solve(one), expected, 1e-7)


@every_intercept
def test_model_is_that_of_an_interior_point_method(intercept):
    problem = svm_problem(1, intercept=intercept, cost_spread=0.5)
    w, b, _ = linear_svm(dense_samples(problem), problem.signs, problem.cost, intercept, norm=2)
    solution = AugmentedLagrangian(tol=1e-8).solve(problem)
    np.testing.assert_allclose(solution.coef, w, atol=1e-5)
    assert solution.intercept == pytest.approx(b, abs=1e-5)


@every_loss
def test_duplicated_samples_are_samples_of_twice_the_cost(loss):
    problem = svm_problem(2, labeled=loss)
    doubled = replace(
        problem,
        space=Features(np.vstack([problem.space.X] * 2)),
        signs=np.tile(problem.signs, 2),
        cost=np.tile(problem.cost, 2),
        weights=None,
    )
    once = AugmentedLagrangian(1e-7).solve(replace(problem, cost=2.0 * problem.cost))
    check_solution(doubled, AugmentedLagrangian(1e-7).solve(doubled), once.objective, 1e-7)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@every_intercept
def test_units_of_the_samples_do_not_matter(scale, intercept):
    problem = svm_problem(3, intercept=intercept if intercept != "regularized" else False)
    other = replace(with_samples(problem, scale * problem.space.X), cost=problem.cost / scale**2)
    first, second = AugmentedLagrangian(1e-7).solve(problem), AugmentedLagrangian(1e-7).solve(other)
    assert second.objective * scale**2 == pytest.approx(first.objective, rel=1e-8)


@every_loss
def test_samples_far_from_the_origin(loss):
    problem = svm_problem(4, labeled=loss)
    far = with_samples(problem, problem.space.X + 20.0)
    check_solution(far, AugmentedLagrangian(1e-6).solve(far), SMO(1e-8).solve(problem).objective, 1e-6)


def test_nothing_to_move_is_a_solution():
    problem = svm_problem(5)
    nothing = AugmentedLagrangian().solve(replace(problem, cost=np.zeros(60)))
    assert nothing.objective == 0.0
    assert not nothing.coef.any()


def test_single_precision_samples_are_those_of_double_precision():
    problem = svm_problem(6)
    single = with_samples(problem, problem.space.X.astype(np.float32))
    double = with_samples(problem, single.space.X.astype(np.float64))
    found = AugmentedLagrangian(1e-7).solve(single)
    assert found.objective == pytest.approx(AugmentedLagrangian(1e-7).solve(double).objective, rel=1e-6)


# ---- convex steps of CCCP ----


@every_intercept
@pytest.mark.parametrize("labeled", [Hinge(), Ramp(-0.5), SquaredHinge()], ids=str)
def test_dual_with_kinks_is_solved_from_anywhere(labeled, intercept):
    problem = make_problem(2, intercept=intercept, weighted=True, n_zero_weight=4, labeled=labeled)
    f = np.random.default_rng(0).standard_normal(len(problem.signs))
    boxes, full = linearize(problem, build_box_dual(problem), f), linearize(problem, build_dual(problem), f)
    best = Iterate(full, solve_dual(full, None, 1e-9).a).value()
    for start in (None, np.random.default_rng(1).normal(0.0, 5.0, len(f))):
        point = solve_augmented(problem, boxes, start, 1e-8, StoppingRule())
        assert point.status == "converged"
        run = Iterate(full, point.a)
        np.testing.assert_allclose(point.f, run.f, atol=1e-9)
        assert run.value() == pytest.approx(best, abs=1e-7)
        assert np.subtract(*run.extremes()) <= 2e-8


def test_start_at_a_solution_needs_few_steps():
    problem = svm_problem(7, 300, C=10.0)
    first = AugmentedLagrangian(1e-6).solve(problem)
    again = AugmentedLagrangian(1e-6).solve(problem, start=first)
    assert again.n_iter < first.n_iter / 3
    assert again.objective == pytest.approx(first.objective, rel=1e-9)


# ---- how it ends ----


def test_smo_goes_on_where_newton_steps_do_not_converge(monkeypatch):
    monkeypatch.setattr(augmented_lagrangian, "MAX_NEWTON_STEPS", 2)
    for intercept in (True, "regularized"):
        problem = svm_problem(8, intercept=intercept)
        check_solution(problem, AugmentedLagrangian(1e-7).solve(problem), SMO(1e-9).solve(problem).objective, 1e-7)


def test_supervised_problem_behind_a_kernel_is_solved_by_smo():
    problem = svm_problem(space="rbf")
    found, expected = AugmentedLagrangian(1e-7).solve(problem), SMO(1e-7).solve(problem)
    assert found.n_iter == expected.n_iter
    assert found.objective == pytest.approx(expected.objective, rel=1e-12)


@pytest.mark.parametrize("intercept", ["regularized", True])
@pytest.mark.parametrize("status", ["interrupted", "max_time", "stopped", "max_iter"])
def test_early_end_has_a_consistent_point(status, intercept, clock):
    problem = svm_problem(intercept=intercept, C=100.0)

    def callback(row):
        if row["newton_steps"] >= 3 and status == "interrupted":
            raise KeyboardInterrupt
        clock.now += 100.0 * (status == "max_time")
        return row["newton_steps"] >= 3 and status == "stopped"

    solver = AugmentedLagrangian(1e-9, max_time=250.0, max_iter=3 if status == "max_iter" else 1000)
    solution = solver.solve(problem, callback=callback)
    assert solution.status == status
    assert solution.n_iter == 3
    assert solution.certificate.value > 1e-9
    assert objective(problem, solution.coef, solution.intercept) == pytest.approx(solution.objective, rel=1e-12)
    assert solution.certificate.lower_bound <= SMO(1e-8).solve(problem).objective


@every_loss
def test_tolerance_below_the_arithmetic_ends(loss):
    for C in (1.0, 1e6):
        solution = AugmentedLagrangian(tol=0.0).solve(svm_problem(labeled=loss, C=C))
        assert solution.status in ("converged", "stalled")
        assert solution.certificate.value < 1e-6


# ---- the compiled loops ----


def random_pieces(n=200, seed=0):
    """scale, below, above, lower, kink, upper of samples, with and without a kink."""
    rng = np.random.default_rng(seed)
    lower, width, tau, ridge = rng.normal(size=n), rng.random(n), rng.random(n) + 0.1, rng.random(n)
    a, slope = lower + rng.random(n) * width, rng.normal(size=n)
    has_kink = rng.random(n) < 0.5
    kink = np.where(has_kink, lower + 0.5 * width, lower + width)
    slope_above = np.where(has_kink, slope - rng.random(n), slope)
    scale = 1.0 / (ridge + tau)
    smooth = (scale, scale * (tau * a + slope), scale * (tau * a + slope_above), lower, kink, lower + width)
    return smooth, (a, tau, ridge, slope, slope_above)


def test_maximizers_are_those_of_a_grid():
    smooth, (a, tau, ridge, slope, slope_above) = random_pieces()
    _, _, _, lower, kink, upper = smooth
    f = np.random.default_rng(1).normal(size=len(a))
    alpha, curvature = np.empty_like(f), np.empty_like(f)
    assert set_maximizers(f, smooth, alpha, curvature) == pytest.approx(alpha.sum())
    x = lower + np.linspace(0.0, 1.0, 20_001)[:, None] * (upper - lower)
    phi = slope * np.minimum(x, kink) + slope_above * np.maximum(x - kink, 0.0)
    best = (phi - x * f - 0.5 * ridge * x**2 - 0.5 * tau * (x - a) ** 2).argmax(axis=0)
    np.testing.assert_allclose(alpha, x[best, np.arange(len(f))], atol=1e-4)
    at_corner = (alpha == lower) | (alpha == upper) | (alpha == kink)
    np.testing.assert_array_equal(curvature, np.where(at_corner, 0.0, smooth[0]))
    assert 0 < at_corner.sum() < len(f)


def test_line_search_ends_where_the_derivative_is_small():
    smooth, _ = random_pieces(seed=2)
    rng = np.random.default_rng(3)
    f, z = rng.normal(size=200), rng.normal(size=200)

    def derivative(t):
        alpha = np.empty(200)
        set_maximizers(f + t * z, smooth, alpha, np.empty(200))
        return 0.3 * t - z @ alpha

    z *= -np.sign(derivative(0.0))
    t = line_search(f, z, smooth, 0.0, 0.3)
    assert t > 0.0
    assert abs(derivative(t)) <= 0.01 * abs(derivative(0.0))


def test_sum_becomes_zero_by_samples_inside_their_bounds():
    lower, upper = np.array([0.0, 0.0, -1.0, -1.0]), np.array([1.0, 1.0, 0.0, 0.0])
    a = sum_to_zero(np.array([1.0, 0.5, -1.0, -0.4]), lower, upper)
    assert a.sum() == pytest.approx(0.0, abs=1e-15)
    assert a[0] == 1.0
    assert a[2] == -1.0
    far = sum_to_zero(np.array([1.0, 0.9, 0.0, -0.1]), lower, upper)
    assert far.sum() == pytest.approx(0.0, abs=1e-15)
    assert (far >= lower).all()
    assert (far <= upper).all()
