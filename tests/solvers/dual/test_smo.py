"""SMO against libsvm and an interior-point method, on every path of memory, and however it ends."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.svm import SVC

from factories import dense_samples, random_problem
from references import linear_svm, maximize_dual
from semisvm.losses import Hinge, SquaredHinge
from semisvm.problem import Problem, objective
from semisvm.solvers.base import StoppingRule
from semisvm.solvers.dual import SMO, iterate, smo, solve_dual
from semisvm.solvers.dual.dual_problem import Dual, build_dual
from semisvm.spaces import KERNELS, Features, Gram, Kernel


def svm_problem(kernel="rbf", n=120, C=1.0, seed=0, **other):
    """Overlapping classes, all labeled, so that many multipliers are at their bounds."""
    problem = random_problem(seed, 0, n_labeled=n, n_features=4, separation=0.3, C=C)
    coef0 = 1.0 if kernel in ("inverse_multiquadric", "poly") else 0.0
    space = Gram(Kernel(kernel, gamma=0.2, coef0=coef0, degree=2, sigma=1.0), problem.space.X)
    return replace(problem, space=space, **other)


def random_dual(seed, n=12, kinks=False, ridge=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    lower, upper = -rng.uniform(0, 1, n), rng.uniform(0, 1, n)
    extra = {"ridge": rng.uniform(0, 0.5, n)} if ridge else {}
    slope = rng.standard_normal(n)
    if kinks:
        extra |= {"kink": rng.uniform(lower, upper), "slope_above": slope - rng.uniform(0, 2, n)}
    return Dual(Gram(Kernel("rbf", 0.5), X), lower, upper, slope, **extra)


def dual_value(dual, a):
    kink = dual.upper if dual.kink is None else dual.kink
    above = dual.slope if dual.slope_above is None else dual.slope_above
    gain = dual.slope @ np.minimum(a, kink) + above @ np.maximum(a - kink, 0.0)
    return gain - 0.5 * a @ dual.gram.product(a) - (0.0 if dual.ridge is None else 0.5 * dual.ridge @ a**2)


# ---- against other solvers ----


@pytest.mark.parametrize(("kernel", "C"), [*((kernel, 1.0) for kernel in KERNELS), ("rbf", 0.1), ("rbf", 100.0)])
def test_objective_is_that_of_svc(kernel, C):
    """libsvm has kernel values in single precision: ours may be lower, which shows at C = 100."""
    problem = svm_problem(kernel, C=C)
    solution = SMO(tol=1e-6).solve(problem)
    svc = SVC(C=C, kernel="precomputed", tol=1e-7).fit(problem.space.compute(), problem.signs)
    coef = np.zeros(len(problem.signs))
    coef[svc.support_] = svc.dual_coef_[0]
    theirs = objective(problem, coef, svc.intercept_[0])
    assert solution.objective <= theirs * (1 + 1e-6)
    assert C == 100.0 or solution.objective == pytest.approx(theirs, rel=1e-6)
    assert solution.certificate.value <= 1e-6
    assert solution.certificate.gap == pytest.approx(0.0, abs=1e-4 * solution.objective)
    assert solution.certificate.lower_bound <= theirs * (1 + 1e-9)


def test_squared_hinge_is_a_ridge_on_the_kernel():
    problem = svm_problem(C=2.0, labeled=SquaredHinge())
    solution = SMO(tol=1e-8).solve(problem)
    svc = SVC(C=1e8, kernel="precomputed", tol=1e-8).fit(problem.space.compute() + np.eye(120) / 4.0, problem.signs)
    coef = np.zeros(120)
    coef[svc.support_] = svc.dual_coef_[0]
    np.testing.assert_allclose(solution.coef, coef, atol=1e-5)
    assert solution.certificate.gap == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("kinks", [False, True], ids=["linear", "kinks"])
@pytest.mark.parametrize("ridge", [False, True], ids=["no ridge", "ridge"])
def test_bounds_slopes_and_kinks_of_any_kind_give_the_interior_point_solution(kinks, ridge):
    for seed in range(3):
        dual = random_dual(seed, kinks=kinks, ridge=ridge)
        point = solve_dual(dual, tol=1e-9)
        K, above = dual.gram.compute(), dual.slope_above
        _, best = maximize_dual(K, dual.lower, dual.upper, dual.slope, dual.ridge, dual.kink, above)
        assert dual_value(dual, point.a) == pytest.approx(best, abs=1e-7)
        assert abs(point.a.sum()) < 1e-12
        assert (point.a >= dual.lower).all()
        assert (point.a <= dual.upper).all()


def test_features_give_the_solution_of_their_kernel():
    problem = svm_problem("linear")
    X = problem.space.X
    behind_kernel = SMO(tol=1e-7).solve(problem)
    on_features = SMO(tol=1e-7).solve(replace(problem, space=Features(X)))
    assert on_features.objective == pytest.approx(behind_kernel.objective, rel=1e-9)
    np.testing.assert_allclose(on_features.coef, X.T @ behind_kernel.coef, atol=1e-9)


# ---- starts ----


@pytest.mark.parametrize("kinks", [False, True])
def test_start_at_the_solution_takes_no_step(kinks):
    dual = random_dual(3, n=40, kinks=kinks)
    point = solve_dual(dual, tol=1e-6)
    assert point.n_iter > 0
    assert solve_dual(dual, point.a, tol=1e-6).n_iter == 0
    assert solve_dual(dual, point, tol=1e-6).n_iter == 0


@pytest.mark.parametrize("seed", range(4))
def test_any_start_ends_at_the_same_value(seed):
    dual = random_dual(1, n=40, kinks=True)
    rng = np.random.default_rng(seed)
    best = dual_value(dual, solve_dual(dual, tol=1e-8).a)
    for start in (rng.uniform(dual.lower, dual.upper), 5.0 * rng.standard_normal(40)):
        feasible = iterate.feasible_point(start, dual.lower, dual.upper)
        assert abs(feasible.sum()) < 1e-12
        assert (dual.lower <= feasible).all()
        assert (feasible <= dual.upper).all()
        assert dual_value(dual, solve_dual(dual, start, tol=1e-8).a) == pytest.approx(best, abs=1e-8)


def test_projection_leaves_feasible_points_and_moves_an_unbounded_coordinate_first():
    lower, upper, a = -np.ones(4), np.ones(4), np.array([0.5, -0.5, 0.25, -0.25])
    np.testing.assert_array_equal(iterate.feasible_point(a, lower, upper), a)
    lower[3], upper[3] = -np.inf, np.inf
    np.testing.assert_array_equal(iterate.feasible_point(a + [9.0, 0, 0, 0], lower, upper), [1.0, -0.5, 0.25, -0.75])


def test_coordinates_without_an_interval_stay_at_zero():
    dual = build_dual(svm_problem(n=50))._replace(lower=np.zeros(50), upper=np.zeros(50))
    point = solve_dual(dual)
    assert point.n_iter == 0
    assert point.status == "converged"
    assert not point.a.any()


# ---- memory ----


def restrict_memory(monkeypatch, n_rows, n):
    """Memory for some kernel rows of n values, small active sets, few rows fetched at once."""
    monkeypatch.setenv("SEMISVM_MEMORY", str(n_rows * n * 8))
    monkeypatch.setattr(smo, "BLOCK_SIZE", 20)
    monkeypatch.setattr(smo, "FIRST_ACTIVE", 60)
    monkeypatch.setattr(smo, "MAX_ACTIVE", 90)
    monkeypatch.setattr(smo, "N_FETCHED", 16)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("whole_matrix", [True, False], ids=["active sets", "cached rows"])
def test_little_memory_gives_the_solution_of_the_whole_matrix(kernel, whole_matrix, monkeypatch):
    problem = svm_problem(kernel, 250, C=10.0)
    best = solve_dual(build_dual(problem), tol=1e-6)
    restrict_memory(monkeypatch, 100, 250)
    dual = build_dual(svm_problem(kernel, 250, C=10.0))
    point = solve_dual(dual, tol=1e-6, whole_matrix=whole_matrix)
    assert not dual.gram.is_computed
    assert (dual.gram._cache is None) == whole_matrix
    assert dual_value(dual, point.a) == pytest.approx(dual_value(dual, best.a), rel=1e-8)
    assert point.violation <= 1e-6
    np.testing.assert_allclose(point.f, problem.space.compute() @ point.a, atol=1e-8)


def test_blocks_keep_the_memory_limit(monkeypatch):
    """900 samples that can all move, and memory for 550 of them."""
    best = solve_dual(build_dual(svm_problem(n=900)), tol=1e-4)
    monkeypatch.setenv("SEMISVM_MEMORY", str(8 * 550**2))
    block, sizes = Gram.block, []
    monkeypatch.setattr(Gram, "block", lambda gram, index: sizes.append(len(index)) or block(gram, index))
    dual = build_dual(svm_problem(n=900))
    point = solve_dual(dual, tol=1e-4)
    assert max(sizes) == 550
    assert dual_value(dual, point.a) == pytest.approx(dual_value(dual, best.a), rel=1e-6)


@pytest.mark.parametrize("n_rows", [2, 3, 5])
def test_cache_of_very_few_rows_is_enough(n_rows, monkeypatch):
    best = solve_dual(build_dual(svm_problem(C=10.0)), tol=1e-6)
    restrict_memory(monkeypatch, n_rows, 120)
    dual = build_dual(svm_problem(C=10.0))
    dual.gram.row_cache().values[:] = np.nan  # what memory holds before a row is written must not matter
    point = solve_dual(dual, tol=1e-6, whole_matrix=False)
    assert dual.gram.row_cache().capacity == n_rows
    assert dual_value(dual, point.a) == pytest.approx(dual_value(dual, best.a), rel=1e-8)


def test_shrinking_does_not_change_the_solution(monkeypatch):
    sizes, submatrix = [], smo.submatrix
    monkeypatch.setattr(
        smo, "submatrix", lambda K, rows, columns: sizes.append(len(rows)) or submatrix(K, rows, columns)
    )
    with_shrinking = SMO(tol=1e-5).solve(svm_problem(n=1200, C=3.0))
    assert sizes
    assert min(sizes) < 900
    monkeypatch.setattr(smo, "SHRINK", 0.0)
    without = SMO(tol=1e-5).solve(svm_problem(n=1200, C=3.0))
    assert with_shrinking.objective == pytest.approx(without.objective, rel=1e-7)
    assert with_shrinking.n_iter < 1.2 * without.n_iter  # what is left out by mistake has to come back
    assert with_shrinking.certificate.value <= 1e-5


def test_single_precision_kernel_values_are_close(monkeypatch):
    exact = SMO().solve(svm_problem(n=300))
    monkeypatch.setattr("semisvm.spaces.gram.FLOAT64_SAMPLES", 10)
    problem = svm_problem(n=300)
    rough = SMO().solve(problem)
    assert problem.space.dtype == np.float32
    assert rough.objective == pytest.approx(exact.objective, rel=1e-4)
    assert rough.certificate.value <= 1e-3


# ---- the linear system of the free coordinates ----


def test_small_problems_are_solved_to_the_last_digit():
    solution = SMO(tol=1e-3).solve(svm_problem(n=60))
    assert solution.certificate.value < 1e-12
    assert abs(solution.certificate.gap) < 1e-10


@pytest.mark.parametrize(("kinks", "n"), [(False, 80), (True, 20)])
def test_polishing_never_increases_the_violation(kinks, n):
    """At a loose tolerance the free coordinates are not always those of the solution, and others may get worse."""
    improved = 0
    for seed in range(40):
        dual = random_dual(seed, n=n, kinks=kinks)
        raw, polished = (solve_dual(dual, tol=0.1, polish=polish) for polish in (False, True))
        assert polished.violation <= raw.violation + 1e-12
        assert abs(polished.a.sum()) < 1e-12
        assert (dual.lower <= polished.a).all()
        assert (polished.a <= dual.upper).all()
        np.testing.assert_allclose(polished.f, dual.gram.product(polished.a), atol=1e-12)
        improved += polished.violation < 1e-12 < raw.violation
    assert improved > 3


def test_samples_that_coincide_are_polished_by_least_squares():
    problem = svm_problem(n=40)
    X = np.vstack([problem.space.X] * 2)
    twice = replace(
        problem,
        space=Gram(problem.space.kernel, X),
        signs=np.tile(problem.signs, 2),
        cost=np.tile(0.5 * problem.cost, 2),
    )
    once, both = SMO(tol=1e-6).solve(problem), SMO(tol=1e-6).solve(twice)
    assert both.objective == pytest.approx(once.objective, rel=1e-9)
    assert both.certificate.value < 1e-8


# ---- ends ----


@pytest.mark.parametrize("n_steps", [0, 1, 5])
def test_max_iter_is_the_number_of_pair_steps(n_steps):
    solution = SMO(max_iter=n_steps).solve(svm_problem())
    assert (solution.status, solution.n_iter) == ("max_iter", n_steps)
    assert solution.certificate.value > solution.certificate.tol


def test_solution_reached_with_the_last_step_has_converged():
    problem = svm_problem()
    n_iter = SMO().solve(problem).n_iter
    assert SMO(max_iter=n_iter).solve(problem).status == "converged"
    assert SMO(max_iter=n_iter - 1).solve(problem).status == "max_iter"


@pytest.mark.parametrize("whole_matrix", [True, False], ids=["active sets", "cached rows"])
@pytest.mark.parametrize("how", ["stopped", "interrupted"])
def test_point_of_an_early_end_is_consistent(how, whole_matrix, monkeypatch):
    """f of the samples outside the active set is brought up to date."""
    restrict_memory(monkeypatch, 100, 250)
    dual = build_dual(svm_problem(n=250, C=10.0))

    def callback(row):
        if row["pair_steps"] > 50 and how == "interrupted":
            raise KeyboardInterrupt
        return row["pair_steps"] > 50

    point = solve_dual(dual, None, 1e-9, StoppingRule(callback=callback), whole_matrix=whole_matrix)
    assert point.status == how
    assert abs(point.a.sum()) < 1e-12
    np.testing.assert_allclose(point.f, dual.gram.product(point.a), atol=1e-9)
    assert point.violation > 1e-9


def test_tolerance_of_zero_ends_where_the_arithmetic_does():
    problem = random_problem(0, 0, n_labeled=60, n_features=4, separation=0.2, C=10.0)
    exact, reached = SMO(tol=1e-10).solve(problem), SMO(tol=0.0, max_iter=1_000_000).solve(problem)
    assert reached.n_iter < 1_000_000
    assert reached.objective == pytest.approx(exact.objective, rel=1e-12)


@pytest.mark.parametrize("memory", ["whole matrix", "active sets", "cached rows"])
def test_rounds_without_a_step_end(memory, monkeypatch):
    """A violation that rounding errors make larger than tol in one sum and smaller in another, pair by pair."""
    if memory != "whole matrix":
        restrict_memory(monkeypatch, 100, 250)
    monkeypatch.setattr(smo, "pair_steps", lambda *_: (0, 0.0, -1))
    point = solve_dual(build_dual(svm_problem(n=250)), whole_matrix=memory != "cached rows", polish=False)
    assert (point.status, point.n_iter) == ("stalled", 0)


@pytest.mark.parametrize("intercept", [True, "regularized"])
@pytest.mark.parametrize("seed", range(3))
def test_large_cost_on_few_features_needs_joint_steps_of_the_free_coordinates(seed, intercept):
    """Pair steps alone take more than ten million where a combination of samples has almost no curvature."""
    problem = random_problem(
        seed, 0, n_labeled=120, n_features=3, space="features", C=1e6, intercept=intercept, separation=0.3
    )
    found = SMO(max_iter=200_000).solve(problem)
    expected = linear_svm(dense_samples(problem), problem.signs, problem.cost, intercept, norm=2)[2]
    assert found.status == "converged"
    assert found.objective == pytest.approx(expected, rel=1e-7)


def test_joint_steps_that_rounding_spoils_are_taken_back():
    """Far from the origin without an intercept nothing is left of the differences between samples."""
    problem = random_problem(0, 0, n_labeled=20, n_features=1, space="linear", C=1e-4, intercept=False)
    far = replace(problem, space=Gram(Kernel("linear"), problem.space.X + 1e9))
    found = SMO().solve(far)
    assert found.status != "converged"
    assert found.objective < far.cost.sum() * 2.0
    assert found.n_iter < 1_000_000


# ---- which samples and rows are worked on, and the intercept where none decides ----


def test_intercept_without_a_free_multiplier_is_in_the_middle_of_its_interval():
    """x = 2 and -1 at their bounds of 0.1: f = 0.3 x, so that every b of [-0.7, 0.4] is optimal."""
    X, signs = np.array([[2.0], [-1.0]]), np.array([1.0, -1.0])
    problem = Problem(Gram(Kernel("linear"), X), signs, np.full(2, 0.1), Hinge())
    point = solve_dual(build_dual(problem))
    np.testing.assert_allclose(point.a, [0.1, -0.1])
    assert point.b == pytest.approx(-0.15)
    assert point.violation == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_active_set_holds_the_worst_pair_however_many_samples_are_free(seed):
    dual = random_dual(seed, n=120)
    point = iterate.Iterate(dual, solve_dual(dual, tol=0.01, polish=False).a)
    (top, bottom), (up, down) = point.extremes(), point.slopes()
    limit = len(point.free()) // 2
    active = smo._active_set(point, top, bottom, limit)
    assert len(active) == limit > 4
    assert {int((up - point.f).argmax()), int((down - point.f).argmin())} <= set(active.tolist())


@pytest.mark.parametrize(("capacity", "n_rows"), [(100, 9), (9, 3), (2, 1)])
def test_rows_are_fetched_for_the_worst_violators_without_one_up_to_half_of_the_cache(capacity, n_rows, monkeypatch):
    monkeypatch.setattr(smo, "N_FETCHED", 10)
    slot = np.full(40, -1)
    slot[[3, 7, 20]] = 0, 1, 2
    above, below = np.arange(40.0), np.arange(40.0) + 50.0  # the last samples want to go up, the first ones down
    rows = smo._rows_to_fetch(30, above, below, SimpleNamespace(slot=slot, capacity=capacity))
    half = (n_rows - 1) // 2
    expected = {30, *range(40 - half, 40), *[sample for sample in range(10) if slot[sample] < 0][:half]}
    assert rows.tolist() == sorted(expected)


def test_blocks_with_virtual_samples_shrink_to_real_ones(monkeypatch):
    monkeypatch.setattr(smo, "PERIOD", 50)
    sizes, submatrix = [], smo.submatrix
    monkeypatch.setattr(
        smo, "submatrix", lambda K, rows, columns: sizes.append(len(rows)) or submatrix(K, rows, columns)
    )
    shrunk = SMO(tol=1e-6).solve(svm_problem(n=200, C=0.3, intercept="regularized"))
    assert min(sizes) < 140
    monkeypatch.setattr(smo, "SHRINK", 0.0)
    whole = SMO(tol=1e-6).solve(svm_problem(n=200, C=0.3, intercept="regularized"))
    assert shrunk.objective == pytest.approx(whole.objective, rel=1e-9)
