"""Multiple switching in passes over a table: derivatives, brute force over labelings, Newton's method on its labels."""

import itertools
import pickle

import numpy as np
import pytest

from factories import INTERCEPTS, dense_samples, primal_problem, random_samples, two_gaussians
from references import label_vectors, smallest_objective, squared_hinge_violation
from semisvm.balance import Count, Free, Mean, labels_in_band
from semisvm.losses import SquaredHinge, SymmetricSquaredHinge
from semisvm.problem import Problem, objective
from semisvm.solvers import FiniteNewton, MultiSwitch
from semisvm.solvers.primal import OutOfCoreProblem, OutOfCoreSwitch, Start
from semisvm.solvers.primal.threshold_objective import ThresholdObjective
from semisvm.spaces import DesignMatrix, Features

BALANCES = [Count(0.4), Count(0.31), Count(0.3, 0.1), Count(0.5, 0.4), Free()]
HALF = Count(0.5)
every_balance = pytest.mark.parametrize("balance", BALANCES, ids=str)
every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS)


def stated(problem):
    """A problem in memory as the solver takes it: its labeled samples, and the rows of its table to leave out."""
    rows, X = np.flatnonzero(problem.is_labeled), dense_samples(problem)
    cost = problem.cost[problem.searched[0]] if len(problem.searched) else 1.0
    return OutOfCoreProblem(
        X[rows], problem.signs[rows], problem.cost[rows], cost, problem.balance, problem.intercept, rows
    )


class Table:
    """A table in memory that is read in tiles of any size, and counts what it is asked for."""

    def __init__(self, X, tile=None):
        self.design, self.tile, self.thresholds = DesignMatrix(X), tile, []
        self.n, self.d = X.shape

    def accumulate(self, function, *shared):
        self.thresholds.append(pickle.loads(pickle.dumps(shared))[0])
        function = pickle.loads(pickle.dumps(function))
        if self.tile is None:
            return self.design.accumulate(function, *shared)
        X = np.ascontiguousarray(self.design.X)
        terms = [function(X[first : first + self.tile], first, *shared) for first in range(0, self.n, self.tile)]
        return tuple(sum(column) for column in zip(*terms))


def solve(problem, start=None, tile=None, callback=None, **options):
    return OutOfCoreSwitch(**options).solve(Table(dense_samples(problem), tile), stated(problem), start, callback)


def labels_of(problem, solution):
    f = dense_samples(problem) @ solution.coef + solution.intercept
    return np.where(problem.is_labeled, problem.signs, np.where(f > solution.tau, 1.0, -1.0))


def check_solution(problem, solution, tol=1e-6):
    """The objective at the labels, which fit f best, is that of Newton's method at these labels."""
    y = labels_of(problem, solution)
    value = objective(problem, solution.coef, solution.intercept, y)
    fixed = FiniteNewton(tol=1e-8).solve(problem.with_labels(y))
    f = problem.space.scores(solution.coef, solution.intercept)[problem.searched]
    assert solution.status == "converged"
    assert solution.n_undecided == 0
    assert solution.objective == pytest.approx(value, rel=1e-9)
    assert fixed.objective * (1 - 1e-9) <= value <= fixed.objective * (1 + tol)
    np.testing.assert_array_equal(y[problem.searched], labels_in_band(f, np.ones(len(f)), problem.balance))
    assert solution.share == pytest.approx((y[problem.searched] > 0).mean())
    assert solution.certificate.kind == "stationary"
    assert solution.certificate.value <= solution.certificate.tol


def brute_value(problem, theta, width=None):
    """The objective with the best labels, or the best soft ones by bisection for their threshold."""
    w, b = theta[:-1], theta[-1]
    f = dense_samples(problem) @ w + b
    y = problem.signs.copy()
    s = f[problem.searched]
    if width is None:
        y[problem.searched] = labels_in_band(s, np.ones(len(s)), problem.balance)
        return objective(problem, w, b, y)
    rho, D = 8.0 * width, np.maximum(1 + s, 0) ** 2 - np.maximum(1 - s, 0) ** 2

    def p(nu):
        return np.clip(0.5 + (D - nu) / rho, 0.0, 1.0)

    nu, (low, high) = 0.0, (0, len(s))
    if isinstance(problem.balance, Count):
        low, high = (len(s) * (problem.balance.r + side * problem.balance.slack) for side in (-1, 1))
        low, high = np.ceil(low - 1e-9), np.floor(high + 1e-9)
    k = np.clip(p(0.0).sum(), low, high)
    if k != p(0.0).sum():
        ends = [-1e3, 1e3]
        for _ in range(200):
            nu = 0.5 * sum(ends)
            ends[int(p(nu).sum() < k)] = nu
    q = p(nu)
    losses = q * np.maximum(1 - s, 0) ** 2 + (1 - q) * np.maximum(1 + s, 0) ** 2 + rho / 2 * ((q - 0.5) ** 2 - 0.25)
    labeled = objective(problem.labeled_only(), w, b)
    return labeled + problem.cost[problem.searched[0]] * losses.sum()


@pytest.mark.parametrize("width", [None, 0.02, 0.2])
@pytest.mark.parametrize("balance", [Count(0.4), Count(0.3, 0.1), Count(0.5, 0.4), Free()], ids=str)
def test_value_gradient_and_hessian_are_those_of_the_objective_with_the_best_labels(balance, width):
    for seed, intercept in enumerate(INTERCEPTS):
        problem = primal_problem(seed, 2000, n_features=3, balance=balance, intercept=intercept)
        at = ThresholdObjective(Table(dense_samples(problem)), stated(problem))
        theta = 0.7 * random_samples(1, at.size, seed)[0]
        point = at.at(theta, 0.0, width or 0.05, is_soft=width is not None)
        for _ in range(8):  # to the exact threshold
            point = at.at(theta, point.labels.tau, width or 0.05, width is not None, 1e-3 * point.at.bracket)
        full = np.append(theta, np.zeros(4 - at.size))
        assert point.value == pytest.approx(brute_value(problem, full, width), rel=1e-10)
        steps = np.eye(4)[: at.size] * (1e-6 if width else 1e-7)

        def gradient(theta, point=point, at=at):
            near = at.at(theta, point.labels.tau, width or 0.05, width is not None, 1e-3)
            return at.at(theta, near.labels.tau, width or 0.05, width is not None, 1e-6).gradient

        values = [
            (brute_value(problem, full + step, width) - brute_value(problem, full - step, width)) / 2 / step.max()
            for step in steps
        ]
        np.testing.assert_allclose(point.gradient, values, rtol=1e-4, atol=1e-4 * np.abs(values).max())
        rows = [(gradient(theta + step) - gradient(theta - step)) / 2 / step.max() for step in steps[:, : at.size]]
        hessian = point.hessian if width else point.fixed_hessian
        np.testing.assert_allclose(hessian, rows, atol=1e-4 * np.abs(rows).max())


@every_intercept
@every_balance
def test_few_samples_never_below_brute_force_and_stationary(balance, intercept):
    for seed in range(4):
        problem = primal_problem(
            seed, 9, n_labeled=5, balance=balance, intercept=intercept, C_unlabeled=10.0 ** (seed % 3 - 1)
        )
        solution = solve(problem)
        check_solution(problem, solution)
        assert solution.objective >= smallest_objective(problem) * (1 - 1e-9)
        losses = (
            np.maximum(1.0 - label_vectors(problem) * problem.space.scores(solution.coef, solution.intercept), 0.0) ** 2
        )
        y = labels_of(problem, solution)
        own = np.maximum(1.0 - y * problem.space.scores(solution.coef, solution.intercept), 0.0) ** 2 @ problem.cost
        assert own <= (losses @ problem.cost).min() + 1e-9
        X, sides = dense_samples(problem), [problem.cost * (y == side) for side in (1.0, -1.0)]
        violation = squared_hinge_violation(X, *sides, solution.coef, solution.intercept, intercept)
        assert violation <= 2.0 * solution.certificate.value + 1e-12 <= 2e-4


@every_intercept
@every_balance
def test_more_samples_end_where_newtons_method_does_at_their_labels(balance, intercept):
    problem = primal_problem(1, 600, n_labeled=20, balance=balance, intercept=intercept, C_unlabeled=0.05)
    solution = solve(problem)
    check_solution(problem, solution)
    other = MultiSwitch(tol=1e-6).solve(problem)
    assert solution.objective <= other.objective * 1.02


def test_tiles_of_any_size_and_any_number_of_threads_give_the_same_solution(monkeypatch):
    problem = primal_problem(2, 500, n_features=6, balance=Count(0.4), C_unlabeled=0.1)
    expected = solve(problem)
    for tile in (1, 7, 100, 510):  # of one row, and with all rows in one tile
        solution = solve(problem, tile=tile)
        np.testing.assert_allclose(solution.coef, expected.coef, atol=1e-6)
        assert solution.objective == pytest.approx(expected.objective, rel=1e-10)
    again = []
    for n_threads in (1, 3):
        monkeypatch.setattr("semisvm._threads._n_cores", lambda n_threads=n_threads: n_threads)
        again.append(solve(problem).coef)
    np.testing.assert_array_equal(*again)


def large_problem(n=20_000, n_features=20, dtype=np.float32, balance=HALF, **options):
    X, y = two_gaussians(n, 100, n_features, **({"shift": 0.35} | options))
    signs = np.where(y == -1, 0.0, 2.0 * y - 3.0)
    cost = np.where(signs == 0.0, 100.0 / n, 1.0)
    space = Features(X.astype(dtype))
    return Problem(space, signs, cost, SquaredHinge(), SymmetricSquaredHinge(), balance)


@pytest.mark.parametrize("balance", [Count(0.5), Count(0.35), Count(0.45, 0.02)], ids=str)
def test_few_passes_over_many_samples(balance):
    problem = large_problem(balance=balance)
    solution = solve(problem)
    check_float32_solution(problem, solution)
    assert solution.n_passes <= 40
    assert solution.n_passes == solution.trace[-1]["n_passes"] + 1


def check_float32_solution(problem, solution):
    """The same in single precision, and a few samples may lie between scores in both precisions."""
    X = dense_samples(problem).astype(np.float64)
    check_solution(Problem(Features(X), problem.signs, problem.cost, SquaredHinge(), SymmetricSquaredHinge(),
                           problem.balance), solution)  # fmt: skip


def test_double_and_single_precision_agree():
    single, double = (solve(large_problem(dtype=dtype)) for dtype in (np.float32, np.float64))
    assert single.objective == pytest.approx(double.objective, rel=1e-4)


@pytest.mark.parametrize("tau", [-1e6, -3.0, 0.0, 5.0])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
def test_threshold_that_is_far_off_is_found(tau, scale):
    problem = primal_problem(3, 300, balance=Count(0.4))
    table = Table(dense_samples(problem))
    for is_soft in (True, False):
        at = ThresholdObjective(table, stated(problem))
        theta = scale * random_samples(1, at.size, 3)[0]
        point = at.at(theta, tau, 0.25, is_soft)
        f = dense_samples(problem)[problem.searched] @ theta[:-1] + theta[-1]
        if not is_soft:
            for _ in range(3):
                point = at.again(point)
            assert point.is_clean
            assert np.count_nonzero(f > point.labels.tau) == 120
        assert at.n_passes <= 8


def test_start_at_a_solution_is_never_left_for_a_higher_one():
    for seed in range(4):
        problem = primal_problem(seed, 80, n_labeled=5, balance=Count(0.4))
        other = MultiSwitch(tol=1e-6).solve(problem)
        solution = solve(problem, Start(other.coef, other.intercept, 0.0))
        assert solution.objective <= other.objective * (1 + 1e-9)
        again = solve(problem, solution)
        assert again.objective <= solution.objective * (1 + 1e-9)


def test_trace_has_a_row_for_every_point_and_the_band_becomes_narrower():
    rows = []
    solution = solve(large_problem(), callback=lambda row: rows.append(row))
    assert rows == solution.trace
    assert [row["step"] for row in rows] == list(range(solution.n_iter))
    widths = [row["width"] for row in rows]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == 0.25
    assert widths[-1] == 0.0
    for now, then in itertools.pairwise(rows):
        assert then["n_passes"] > now["n_passes"]
        if now["width"] == then["width"] == 0.0:
            assert then["objective"] <= now["objective"]


def check_usable(problem, solution, status):
    y = labels_of(problem, solution)
    assert solution.status == status
    assert solution.objective == pytest.approx(objective(problem, solution.coef, solution.intercept, y), rel=1e-9)
    assert solution.share == pytest.approx((y[problem.searched] > 0).mean())


@pytest.mark.parametrize("n_steps", [1, 3])
def test_callback_limits_and_ctrl_c_return_the_best_point(n_steps, clock):
    problem = primal_problem(4, 300, balance=Count(0.4), C_unlabeled=0.05)

    def interrupt(row):
        if row["step"] + 1 >= n_steps:
            raise KeyboardInterrupt

    def wait(row):
        clock.now += 1.0

    check_usable(problem, solve(problem, callback=lambda row: row["step"] + 1 >= n_steps), "stopped")
    check_usable(problem, solve(problem, max_iter=n_steps), "max_iter")
    check_usable(problem, solve(problem, callback=interrupt), "interrupted")
    check_usable(problem, solve(problem, callback=wait, max_time=n_steps - 0.5), "max_time")


def test_ctrl_c_in_the_first_pass_returns_the_start():
    problem = primal_problem(4, 50, balance=Count(0.4))

    class Interrupted(Table):
        def accumulate(self, function, *shared):
            if not self.thresholds:
                self.thresholds.append(None)
                raise KeyboardInterrupt
            return super().accumulate(function, *shared)

    solution = OutOfCoreSwitch().solve(Interrupted(dense_samples(problem)), stated(problem))
    check_usable(problem, solution, "interrupted")


def test_the_path_is_a_function_of_the_sums_that_the_table_returns():
    problem = primal_problem(5, 200, balance=Count(0.4))
    table = Table(dense_samples(problem))
    answers = []

    class Journal(Table):
        def accumulate(self, function, *shared):
            answers.append(super().accumulate(function, *shared))
            return answers[-1]

    class Replay:
        n, d = table.n, table.d

        def __init__(self):
            self.left = iter(answers)

        def accumulate(self, function, *shared):
            return next(self.left)

    first = OutOfCoreSwitch().solve(Journal(dense_samples(problem)), stated(problem))
    second = OutOfCoreSwitch().solve(Replay(), stated(problem))
    np.testing.assert_array_equal(first.coef, second.coef)
    assert first.trace == second.trace


@pytest.mark.parametrize("balance", [Count(0.0), Count(1.0), Count(0.0, 0.2), Count(1.0, 0.1)], ids=str)
def test_shares_at_their_ends(balance):
    problem = primal_problem(6, 60, balance=balance)
    solution = solve(problem)
    check_solution(problem, solution)
    assert abs(solution.share - balance.r) <= balance.slack + 1e-9


def test_labeled_samples_need_not_be_in_the_table():
    problem = primal_problem(7, 90, balance=Count(0.4))
    X = dense_samples(problem)
    inside = solve(problem)
    outside = OutOfCoreSwitch().solve(
        Table(X[problem.searched]), stated(problem)._replace(left_out=np.zeros(0, dtype=int))
    )
    assert outside.objective == pytest.approx(inside.objective, rel=1e-9)


def test_all_rows_of_a_tile_may_be_labeled():
    problem = primal_problem(8, 90, n_labeled=30, balance=Count(0.4))
    order = np.argsort(~problem.is_labeled, kind="stable")
    first = Problem(Features(dense_samples(problem)[order]), problem.signs[order], problem.cost[order], SquaredHinge(),
                    SymmetricSquaredHinge(), problem.balance)  # fmt: skip
    assert solve(first, tile=10).objective == pytest.approx(solve(problem).objective, rel=1e-9)


@every_intercept
@pytest.mark.parametrize("balance", [Count(0.4), Free()], ids=str)
def test_one_feature(balance, intercept):
    problem = primal_problem(9, 70, n_features=1, zero_below=0.0, balance=balance, intercept=intercept)
    check_solution(problem, solve(problem))


def test_no_unlabeled_samples_and_no_effect_of_their_cost():
    problem = primal_problem(10, 0, n_labeled=20)
    expected = FiniteNewton(tol=1e-8).solve(problem.labeled_only())
    assert solve(problem).objective == pytest.approx(expected.objective, rel=1e-6)
    problem = primal_problem(10, 20, n_labeled=20, C_unlabeled=1e-12)
    expected = FiniteNewton(tol=1e-8).solve(problem.labeled_only())
    assert solve(problem).objective == pytest.approx(expected.objective, rel=1e-6)


@pytest.mark.parametrize("n", [60, 3000])
def test_constant_features_share_the_labels(n):
    X = np.tile([2.0, -1.0], (n + 4, 1))
    signs = np.r_[1.0, -1.0, 1.0, 1.0, np.zeros(n)]
    problem = Problem(Features(X), signs, np.full(n + 4, 1.0), SquaredHinge(), SymmetricSquaredHinge(), Count(0.25))
    solution = solve(problem)
    y = np.r_[signs[:4], np.ones(n // 4), -np.ones(n - n // 4)]
    fixed = FiniteNewton(tol=1e-8).solve(problem.with_labels(y))
    assert solution.objective == pytest.approx(fixed.objective, rel=1e-6)
    assert solution.share == 0.25
    assert solution.n_undecided == n
    assert solution.certificate.value <= 1e-3


def test_duplicates_share_the_labels():
    X = np.repeat(random_samples(30, 2, 1), 20, axis=0)
    signs = np.where(np.arange(600) % 100 == 0, np.where(X[:, 0] > 0, 1.0, -1.0), 0.0)
    cost = np.where(signs == 0.0, 0.02, 1.0)
    problem = Problem(Features(X), signs, cost, SquaredHinge(), SymmetricSquaredHinge(), Count(0.43))
    solution = solve(problem)
    assert solution.status == "converged"
    f = problem.space.scores(solution.coef, solution.intercept)
    y = signs.copy()
    y[problem.searched] = labels_in_band(np.round(f[problem.searched], 9), np.ones(594), problem.balance)
    assert solution.objective == pytest.approx(objective(problem, solution.coef, solution.intercept, y), rel=1e-9)
    assert solution.objective <= FiniteNewton(tol=1e-8).solve(problem.with_labels(y)).objective * (1 + 1e-6)


def test_scale_of_features_does_not_matter_for_the_end():
    problem = primal_problem(11, 200, n_features=3, balance=Count(0.4), C_unlabeled=0.05)
    for factor in (1e-3, 1e3):
        X = factor * dense_samples(problem)
        scaled = Problem(Features(X), problem.signs, problem.cost, SquaredHinge(), SymmetricSquaredHinge(), Count(0.4))
        check_solution(scaled, solve(scaled))


def test_a_mean_balance_is_refused():
    problem = primal_problem(0, 20, balance=Mean(0.1))
    with pytest.raises(TypeError, match="the balance Mean is not a number of positive labels"):
        solve(problem)
