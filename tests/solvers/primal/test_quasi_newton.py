"""L-BFGS on dense features against other minimizers, the batch engine, and itself in pieces and in threads."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, sparse

from factories import INTERCEPTS, dense_samples, primal_problem
from semisvm.balance import Free, Mean
from semisvm.losses import Gaussian, SquaredHinge
from semisvm.problem import objective
from semisvm.solvers import Continuation, GradientPath
from semisvm.solvers.base import StoppingRule
from semisvm.solvers.primal import quasi_newton
from semisvm.solvers.primal.dense_pass import losses_along
from semisvm.solvers.primal.operator import Iterate, PrimalOperator
from semisvm.solvers.primal.quasi_newton import minimize
from semisvm.solvers.primal.smooth_objective import SmoothObjective
from semisvm.spaces import Features

SOLVERS = {GradientPath: "gaussian", Continuation: "hinge_gaussian"}
every_path = pytest.mark.parametrize("solver", SOLVERS)
every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS)
every_balance = pytest.mark.parametrize("balance", [Free(), Mean(0.2)], ids=str)


def make_problem(solver, seed=0, **options):
    return primal_problem(seed, losses=SOLVERS[solver], **({"cost_spread": 0.5} | options))


class Level:
    """A level of a path as a function of theta, in plain numpy."""

    def __init__(self, solver, problem, number):
        self.operator, self.losses = PrimalOperator(problem), solver().levels(problem)[number][1]
        X, operator = dense_samples(problem), self.operator
        self.A = X - operator.mean if operator.mean is not None else X
        self.A = np.c_[X, np.full(len(X), operator.unit)] if operator.has_b else self.A

    def scores(self, theta):
        return self.A @ theta + self.operator.zero().f

    def value(self, theta):
        return self.operator.half_norm2(theta) + self.losses.value(self.scores(theta))

    def gradient(self, theta):
        return self.operator.norm_gradient(theta) + self.A.T @ self.losses.gradient(self.scores(theta))

    def violation(self, theta):
        at_zero = self.A.T @ self.losses.gradient(self.operator.zero().f)
        return np.linalg.norm(self.gradient(theta)) / (np.linalg.norm(at_zero) + np.linalg.norm(theta))

    def minimize(self, start, tol=1e-9, max_steps=1000, stop=None, n_polish=0):
        iterate = Iterate(start, self.scores(start))
        return minimize(self.operator, self.losses, iterate, tol, max_steps, stop or StoppingRule(), n_polish)


@every_path
@every_intercept
@every_balance
def test_level_ends_where_another_method_ends(solver, intercept, balance):
    problem = make_problem(solver, intercept=intercept, balance=balance)
    theta = np.zeros(PrimalOperator(problem).size)
    for number in (0, 6, 10):  # from the same start, near the minimum, both find the same one
        level = Level(solver, problem, number)
        found = level.minimize(theta)
        other = optimize.minimize(level.value, theta, jac=level.gradient, method="BFGS", options={"gtol": 1e-8})
        assert level.value(found.theta) <= other.fun + 1e-9 * abs(other.fun)
        assert found.violation <= 1e-9
        assert found.violation == pytest.approx(level.violation(found.theta), rel=1e-3, abs=1e-13)
        np.testing.assert_allclose(found.f, level.scores(found.theta), atol=1e-12)
        if number == 0:
            np.testing.assert_allclose(found.theta, other.x, atol=1e-5)
        theta = found.theta


@every_path
@every_intercept
@every_balance
def test_path_is_that_of_the_batch_engine_on_the_same_numbers(solver, intercept, balance):
    for seed in range(2):
        problem = make_problem(solver, seed, intercept=intercept, balance=balance, weighted=seed == 1)
        dense = solver(1e-8).solve(problem)
        other = solver(1e-8).solve(replace(problem, space=Features(sparse.csr_array(dense_samples(problem)))))
        assert dense.objective == pytest.approx(other.objective, rel=1e-4)
        assert dense.objective == pytest.approx(objective(problem, dense.coef, dense.intercept), rel=1e-12)
        np.testing.assert_allclose(
            [row["level"] for row in dense.trace], [row["level"] for row in other.trace], rtol=2e-3
        )
        assert dense.status == other.status == "converged"


@pytest.mark.slow  # compiles the loops for every kind of array
@pytest.mark.parametrize("solver", [GradientPath, Continuation])
def test_order_of_the_numbers_in_memory_and_their_precision_change_nothing(solver):
    problem = make_problem(solver, balance=Mean(0.2))
    X = dense_samples(problem).astype(np.float32)
    expected = solver().solve(replace(problem, space=Features(X.astype(np.float64))))
    for same in (np.asfortranarray(X.astype(np.float64)), X, np.repeat(X, 2, axis=1)[:, ::2]):
        found = solver().solve(replace(problem, space=Features(same)))
        np.testing.assert_allclose(found.coef, expected.coef, atol=1e-6)


@every_path
def test_calls_of_one_step_each_are_one_call(solver, monkeypatch):
    problem = make_problem(solver, balance=Mean(0.2))
    expected = solver().solve(problem)
    monkeypatch.setattr(quasi_newton, "SECONDS", 0.0)
    found = solver().solve(problem)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-10)
    assert [row["violation"] for row in found.trace] == pytest.approx([row["violation"] for row in expected.trace])


def test_deadline_ends_a_level_between_two_calls(clock, monkeypatch):
    problem, n_calls, lbfgs = make_problem(GradientPath), [], quasi_newton.lbfgs

    def slow(*arguments):
        n_calls.append(clock.now)
        clock.now += 1.0
        return lbfgs(*arguments)

    monkeypatch.setattr(quasi_newton, "SECONDS", 0.0)
    monkeypatch.setattr(quasi_newton, "lbfgs", slow)
    solution = GradientPath(max_time=2.5).solve(problem)
    assert solution.status == "max_time"
    assert len(n_calls) == 3
    assert solution.n_iter == 1
    level = Level(GradientPath, problem, 10)
    theta = np.append(solution.coef, solution.intercept / level.operator.unit)
    assert solution.certificate.value == pytest.approx(level.violation(theta), rel=1e-9)


def test_objective_decreases_in_every_step_and_none_is_made_without_time():
    level = Level(GradientPath, make_problem(GradientPath, C_unlabeled=5.0), 10)
    theta = 0.3 * np.random.default_rng(0).standard_normal(level.operator.size)
    assert np.linalg.eigvalsh(np.eye(5) + (level.A.T * level.losses.curvature(level.scores(theta))) @ level.A)[0] < 0
    values = [level.value(level.minimize(theta, 1e-12, n).theta) for n in range(12)]
    assert (np.diff(values) <= 1e-12 * abs(values[0])).all()
    assert values[-1] < values[0]
    np.testing.assert_array_equal(level.minimize(theta, stop=StoppingRule(max_time=-1.0)).theta, theta)


@pytest.mark.parametrize("bend", [0.05, 0.3, 0.45, 0.55, 0.6, 0.9])
def test_line_search_finds_a_step_behind_a_sharp_bend(bend):
    """The derivative is -1 up to the bend and increases by 200 a unit from there."""
    losses = SmoothObjective(SquaredHinge(), Gaussian(), np.array([-1.0]), np.array([100.0]))
    f, z, slopes, none = np.array([-1.0 - bend]), np.ones(1), np.empty(1), np.empty((1, 1))
    state = quasi_newton.State(f, f, f, none, none, f, np.zeros(2, dtype=np.int64))
    at_one = losses_along(losses, f, z, 1.0, slopes)
    step = quasi_newton._search(losses, state, z, (0.0, -1.0, 0.0, -1.0), 1.0, *at_one, slopes)
    assert abs(-1.0 + 200.0 * (step - bend)) <= quasi_newton.CURVATURE


def test_steps_beyond_the_tolerance_do_not_end_above_it():
    problem = make_problem(GradientPath, n_labeled=150, n_unlabeled=50, n_features=300, C=100.0, separation=0.0)
    level = Level(GradientPath, problem, 10)
    for n_polish in range(0, 30, 3):
        assert level.minimize(np.zeros(301), 1e-4, n_polish=n_polish).violation <= 1e-4


@every_path
def test_ctrl_c_in_the_thread_that_waits_leaves_zeros_where_nothing_has_begun(solver, monkeypatch):
    problems = [make_problem(solver, balance=Mean(m)) for m in (0.2, 0.1, -0.1)]
    problems = [replace(problem, space=problems[0].space) for problem in problems]

    def interrupted(task, numbers):
        task(numbers[0])
        raise KeyboardInterrupt

    monkeypatch.setattr("semisvm.solvers.primal.smooth_path.run_in_threads", interrupted)
    first, *others = solver().solve_batch(problems, [None] * 3)
    assert first.status == "converged"
    for solution in others:
        assert solution.status == "interrupted"
        assert not solution.coef.any()
        assert np.isfinite(solution.objective)


def test_a_change_of_the_gradient_that_is_too_small_to_be_squared():
    """step'change = 1e-200 is a positive number, change'change = 1e-400 is not; the preconditioner is the identity."""
    steps, changes = np.ones((2, quasi_newton.MEMORY, 1))
    changes[0] = 1e-200
    products, gradient = np.full(quasi_newton.MEMORY, 1e-200), np.array([3e-200])
    state = quasi_newton.State(
        np.zeros(1), np.zeros(1), gradient, steps, changes, products, np.array([1, 0], dtype=np.int64)
    )
    direction = np.empty(1)
    quasi_newton._descent_direction(state, np.ones(1), np.empty((0, 1)), direction)
    assert direction[0] == pytest.approx(-3.0)  # minus the gradient divided by the curvature along the step


def test_a_pair_without_curvature_replaces_no_other():
    n_pairs = quasi_newton.MEMORY
    steps, changes = np.arange(1.0, 1.0 + 2 * n_pairs).reshape(2, n_pairs, 1)
    products = (steps * changes)[:, 0]
    state = quasi_newton.State(
        np.zeros(1), np.zeros(1), np.zeros(1), steps.copy(), changes.copy(), products.copy(), np.array([n_pairs, 0])
    )
    for new_gradient in (0.0, -1.0):  # no change, and one against the step
        quasi_newton._remember(state, np.ones(1), np.array([new_gradient]))
        assert state.gradient[0] == new_gradient
    assert state.counts[0] == n_pairs
    for kept, before in ((state.steps, steps), (state.changes, changes), (state.products, products)):
        np.testing.assert_array_equal(kept, before)
    quasi_newton._remember(state, np.ones(1), np.array([4.0]))
    assert (state.counts[0], state.steps[0, 0], state.changes[0, 0], state.products[0]) == (n_pairs + 1, 1.0, 5.0, 5.0)
