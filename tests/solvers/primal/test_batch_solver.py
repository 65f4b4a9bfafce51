"""What all solvers on features promise: batches, limits, traces, invariances; and what searches over labels find."""

import itertools
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from factories import dense_samples, primal_problem, take_samples, with_balance
from references import (
    keeps_balance,
    label_vectors,
    largest_label_gain,
    numpy_objective,
    smallest_objective,
    squared_hinge_violation,
    svm_values,
)
from semisvm import _threads
from semisvm._threads import limit_threads
from semisvm.balance import Count, Free, Mean
from semisvm.problem import objective
from semisvm.solvers import SMO, Annealing, Continuation, FiniteNewton, GradientPath, MultiSwitch
from semisvm.solvers.primal import newton
from semisvm.solvers.primal.operator import PrimalOperator
from semisvm.spaces import Gram, Kernel

SETTINGS = {  # losses and balance that a solver takes
    FiniteNewton: {"losses": "squared_hinge", "balance": Mean(-0.2)},
    MultiSwitch: {"losses": "squared_hinge", "balance": Count(0.4)},
    Annealing: {"losses": "squared_hinge", "balance": Count(0.4)},
    GradientPath: {"losses": "gaussian", "balance": Mean(-0.2)},
    Continuation: {"losses": "hinge_gaussian", "balance": Mean(-0.2)},
}
SEARCHES = [MultiSwitch, Annealing]
BY_NEWTON = [FiniteNewton, MultiSwitch, Annealing]
every_solver = pytest.mark.parametrize("solver", SETTINGS)
every_search = pytest.mark.parametrize("solver", SEARCHES)
by_newton = pytest.mark.parametrize("solver", BY_NEWTON)


def make_problem(solver, seed=0, n_unlabeled=30, **options):
    problem = primal_problem(seed, n_unlabeled, **(SETTINGS[solver] | options))
    return replace(problem, unlabeled=None) if solver is FiniteNewton else problem


def problems_in_one_space(solver, **options):
    """Five problems with other signs, costs, balances and intercepts, some with samples that are not part of them."""
    base = make_problem(solver, **options)
    problems = []
    for k, r in enumerate((0.3, 0.5, 0.42, 0.7, 0.6)):
        rng = np.random.default_rng(10 + k)
        signs, weights = np.zeros(40), np.ones(40)
        signs[rng.permutation(40)[: 6 + k]] = np.where(np.arange(6 + k) % 2 == 0, 1.0, -1.0)
        if k in (1, 3):
            absent = rng.permutation(40)[:9]
            signs[absent], weights[absent] = 0.0, 0.0
        cost = weights * np.where(signs != 0, 10.0 ** (k - 2), 0.3)
        balance = Count(r) if isinstance(base.balance, Count) else Mean(2 * r - 1)
        intercept = (True, "regularized", True, False, True)[k]
        problem = replace(base, signs=signs, cost=cost, weights=weights, intercept=intercept)
        problems.append(with_balance(problem, Free() if k == 4 else balance))
    return problems


# ---------------------------------------------------------------- batches


@every_solver
@pytest.mark.parametrize("space", ["features", "csr"])
def test_problems_together_are_problems_alone(solver, space):
    problems = problems_in_one_space(solver, space=space)
    for problem, found in zip(problems, solver().solve_batch(problems, [None] * 5)):
        alone = solver().solve(problem)
        np.testing.assert_array_equal(found.labels, alone.labels)
        np.testing.assert_allclose(found.coef, alone.coef, atol=1e-7)
        np.testing.assert_allclose(found.dual, alone.dual, atol=1e-6)
        assert found.intercept == pytest.approx(alone.intercept, abs=1e-7)
        assert found.objective == pytest.approx(alone.objective, rel=1e-9)
        assert found.status == alone.status == "converged"
        for name in ("level", "changed"):
            np.testing.assert_allclose(*([row[name] for row in one.trace] for one in (found, alone)), rtol=1e-9)
        paths = ([row["objective"] for row in one.trace] for one in (found, alone))
        np.testing.assert_allclose(*paths, rtol=1e-6)


@every_solver
def test_a_callback_stops_only_its_problem(solver):
    problems = problems_in_one_space(solver)
    alone = [solver().solve(problem) for problem in problems]
    callbacks = [None, lambda row: row["step"] == 0, None, lambda row: False, None]
    together = solver().solve_batch(problems, callbacks)
    assert [solution.status for solution in together] == ["converged", "stopped"] + ["converged"] * 3
    assert together[1].n_iter == 1
    for k in (0, 2, 3, 4):
        np.testing.assert_array_equal(together[k].labels, alone[k].labels)
        np.testing.assert_allclose(together[k].coef, alone[k].coef, atol=1e-7)


@every_solver
def test_ctrl_c_in_one_problem_ends_all_that_have_not_converged(solver):
    problems = problems_in_one_space(solver)
    at = 0 if solver is FiniteNewton else 3
    with limit_threads(1):  # in several threads others may have converged before
        together = solver().solve_batch(problems, [None, interrupting(at), None, None, None])
    statuses = [solution.status for solution in together]
    assert statuses[1] == "interrupted"
    assert set(statuses) <= {"interrupted", "converged"}
    assert statuses.count("interrupted") >= 3
    for problem, solution, status in zip(problems, together, statuses):
        check_usable(solver, problem, solution, status)


@pytest.mark.parametrize("solver", [GradientPath, Continuation])
def test_ctrl_c_in_one_thread_ends_a_problem_that_runs_in_another(solver, monkeypatch):
    monkeypatch.setattr(_threads, "_n_cores", lambda: 2)
    both_run = threading.Barrier(2)

    def interrupt(row):
        both_run.wait(60)
        raise KeyboardInterrupt

    def run_slowly(row):
        if row["step"] == 0:
            both_run.wait(60)
        time.sleep(0.2)

    first, second = solver().solve_batch(problems_in_one_space(solver)[:2], [interrupt, run_slowly])
    assert first.status == second.status == "interrupted"
    assert 0 < len(second.trace) < solver().n_levels


@every_solver
def test_problems_with_nothing_to_search_are_supervised_and_may_be_behind_a_kernel(solver):
    problem = make_problem(solver, 8, balance=Free())
    problem = replace(problem, cost=np.where(problem.is_labeled, problem.cost, 0.0))
    found, expected = solver(1e-8).solve(problem), SMO(1e-10).solve(problem.labeled_only())
    behind_kernel = solver(1e-8).solve(replace(problem, space=Gram(Kernel("linear"), dense_samples(problem))))
    for solution in (found, behind_kernel):
        np.testing.assert_allclose(solution.scores, expected.scores, atol=1e-6)
        assert solution.certificate.kind == "kkt"
    if solver in SEARCHES:
        assert found.trace == FiniteNewton(1e-8).solve(problem).trace


# ---------------------------------------------------------------- invariances


@every_solver
def test_samples_of_weight_zero_might_as_well_be_absent(solver):
    for problem in problems_in_one_space(solver)[1:4:2]:
        present = problem.weights > 0
        found, expected = solver().solve(problem), solver().solve(take_samples(problem, present))
        np.testing.assert_allclose(found.coef, expected.coef, atol=1e-7)
        np.testing.assert_array_equal(found.labels[present], expected.labels)
        np.testing.assert_array_equal(found.labels[~present], np.where(found.scores[~present] > 0, 1.0, -1.0))
        assert found.objective == pytest.approx(expected.objective, rel=1e-9)


@every_solver
def test_samples_twice_at_half_the_cost_are_samples_once(solver):
    problem = make_problem(solver, 2)
    twice = take_samples(problem, np.repeat(np.arange(40), 2))
    once, double = solver().solve(problem), solver().solve(replace(twice, cost=0.5 * twice.cost))
    np.testing.assert_allclose(double.coef, once.coef, atol=1e-7)
    np.testing.assert_array_equal(double.labels, np.repeat(once.labels, 2))
    assert double.objective == pytest.approx(once.objective, rel=1e-9)


@by_newton
def test_sparse_samples_are_never_made_dense(solver, monkeypatch):
    sparse_problem, dense_problem = (make_problem(solver, 6, space=space) for space in ("csr", "features"))
    expected = solver().solve(dense_problem)

    def refuse(*args, **kwargs):
        raise AssertionError("made dense")

    for name in ("toarray", "todense"):
        monkeypatch.setattr(sparse.csr_array, name, refuse)
    found = solver().solve(sparse_problem)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-7)
    np.testing.assert_array_equal(found.labels, expected.labels)


# ---------------------------------------------------------------- traces and limits


def interrupting(at):
    def callback(row):
        if row["step"] == at:
            raise KeyboardInterrupt

    return callback


def check_usable(solver, problem, solution, status):
    assert solution.status == status
    assert np.isfinite(solution.coef).all()
    assert np.isfinite([solution.objective, solution.certificate.value]).all()
    assert set(solution.labels) <= {-1.0, 1.0}
    np.testing.assert_array_equal(solution.labels[problem.is_labeled], problem.signs[problem.is_labeled])
    np.testing.assert_allclose(solution.scores, dense_samples(problem) @ solution.coef + solution.intercept, atol=1e-9)
    labels = solution.labels if solver is MultiSwitch else None
    value = objective(problem, solution.coef, solution.intercept, labels)
    assert solution.objective == pytest.approx(value, rel=1e-9)


@every_solver
def test_trace_has_a_row_per_solve(solver):
    rows = []
    solution = solver().solve(make_problem(solver), callback=lambda row: rows.append(dict(row)))
    assert rows == solution.trace
    assert all(set(row) == {"step", "objective", "level", "changed", "violation"} for row in rows)
    assert [row["step"] for row in rows] == list(range(len(rows)))
    assert solution.n_iter == len(rows)
    assert rows[-1]["objective"] == pytest.approx(solution.objective, rel=1e-9)
    if solver not in BY_NEWTON:
        assert rows[-1]["violation"] == solution.certificate.value
        assert all(row["violation"] <= 1e-2 for row in rows)
    assert rows[-1]["violation"] <= 1e-9
    if solver in SEARCHES:
        assert rows[0]["changed"] == 30  # all were without a label
        assert rows[-1]["changed"] == 0
    elif solver is FiniteNewton:
        assert len(rows) == 2


@every_search
def test_trace_counts_the_labels_that_changed_and_has_the_objective(solver, record_search):
    for seed, intercept in enumerate((True, False, "regularized")):
        problem = make_problem(solver, seed, C_unlabeled=3.0, intercept=intercept)
        solution, solves = record_search(solver(), problem)
        labels = [problem.signs, *(solve.labels for solve in solves)]
        assert [row["changed"] for row in solution.trace] == [
            int((a != b).sum()) for a, b in itertools.pairwise(labels)
        ]
        for row, solve in zip(solution.trace, solves):
            best = np.where(problem.is_labeled, problem.signs, np.where(solve.f > 0, 1.0, -1.0))
            value = solve.value_at(solve.labels if solver is MultiSwitch else best)
            assert row["objective"] == pytest.approx(value, rel=1e-9)
            assert row["level"] == solve.level


@every_solver
def test_limits_keep_the_best_so_far(solver):
    problem = make_problem(solver)
    solution = solver(max_time=1e-9).solve(problem)
    check_usable(solver, problem, solution, "max_time")
    assert solution.n_iter == 1
    solution = solver(max_iter=1).solve(problem)
    check_usable(solver, problem, solution, "max_iter")
    if solver in SEARCHES:
        assert solution.n_iter == 1
        longer = solver(max_iter=7).solve(problem)
        check_usable(solver, problem, longer, "max_iter")
        assert longer.n_iter == 7
        assert solver(max_iter=solver().solve(problem).n_iter).solve(problem).status == "converged"


@every_solver
@pytest.mark.parametrize("at", [0, 1, 4])
@pytest.mark.parametrize("status", ["stopped", "interrupted"])
def test_a_callback_or_ctrl_c_keeps_the_best_so_far(solver, at, status):
    problem = make_problem(solver)
    callback = interrupting(at) if status == "interrupted" else lambda row: row["step"] == at
    solution = solver().solve(problem, callback=callback)
    if solver is FiniteNewton and at > (status == "interrupted"):  # at its end already
        check_usable(solver, problem, solution, "converged")
        return
    check_usable(solver, problem, solution, status)
    assert len(solution.trace) == at + 1
    if solver in SEARCHES:
        assert solution.objective == pytest.approx(min(row["objective"] for row in solution.trace), rel=1e-9)


@every_search
@pytest.mark.parametrize("at", [0, 3, 6, None])
@pytest.mark.parametrize("balance", [Free(), Count(0.4), Count(0.4, 0.1)], ids=str)
def test_certificate_is_that_of_the_labels_at_full_cost_wherever_a_search_ends(solver, at, balance):
    """And not of the costs of a level or of soft labels, for which the point was solved."""
    problem = primal_problem(2, 20, n_labeled=5, balance=balance)
    solution = solver().solve(problem, callback=None if at is None else lambda row: row["step"] == at)
    positive, negative = (problem.cost * (solution.labels == side) for side in (1.0, -1.0))
    point = (solution.coef, solution.intercept)
    violation = squared_hinge_violation(dense_samples(problem), positive, negative, *point)
    gain = largest_label_gain(problem, solution.scores, solution.labels) / numpy_objective(problem, solution)
    assert solution.certificate.kind == "stationary"
    assert solution.certificate.value == pytest.approx(max(violation, gain), rel=1e-6, abs=1e-12)
    assert (solution.certificate.value <= 1e-3) == (solution.status == "converged") == (at is None)


@every_search
@pytest.mark.parametrize("weighted", [False, True])
def test_no_change_of_labels_gains_at_the_end(solver, weighted):
    """Neither within the slack of the balance nor where ranks do not show it, as samples differ in weight."""
    n_met = 0
    for seed in range(12):
        options = {"weighted": weighted, "separation": 0.2, "C_unlabeled": (0.1, 0.5)[seed % 2]}
        problem = primal_problem(seed, 20, n_labeled=4, balance=Count(0.4, 0.08), **options)
        solution = solver().solve(problem)
        assert solution.status == "converged"
        if keeps_balance(problem, solution.labels[None]).all():
            n_met += 1
            assert largest_label_gain(problem, solution.scores, solution.labels) <= 1e-9
    assert n_met > 8


@pytest.mark.parametrize("solver", [GradientPath, Continuation])
@pytest.mark.parametrize("at", [0, 4, 10, None])
def test_certificate_of_a_path_is_that_of_its_last_level_wherever_it_ends(solver, at):
    problem = make_problem(solver)
    solution = solver().solve(problem, callback=None if at is None else lambda row: row["step"] == at)
    operator, losses = PrimalOperator(problem), solver().levels(problem)[-1][1]
    A, w = dense_samples(problem) - operator.mean, solution.coef  # the mean of f is fixed
    at_zero, at_end = (A.T @ losses.gradient(f) for f in (operator.zero().f, solution.scores))
    expected = np.linalg.norm(w + at_end) / (np.linalg.norm(at_zero) + np.linalg.norm(w))
    assert solution.certificate.value == pytest.approx(expected, rel=1e-6, abs=1e-12)
    assert (solution.status == "converged") == (at in (10, None))
    assert (solution.certificate.value <= 1e-3) == (at in (10, None))


@every_solver
def test_ctrl_c_before_the_end_of_the_first_solve_leaves_a_usable_zero(solver, monkeypatch):
    problem = make_problem(solver, space="csr")

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(problem.space.design, "hessian_product", interrupted)
    solution = solver().solve(problem)
    check_usable(solver, problem, solution, "interrupted")
    assert not solution.coef.any()
    assert solution.n_iter == 1
    assert solution.certificate.value == pytest.approx(1.0)


@pytest.mark.parametrize("solver", [GradientPath, Continuation])
def test_ctrl_c_before_the_first_level_leaves_usable_zeros_in_all_problems(solver, monkeypatch):
    problems, n_calls, levels = problems_in_one_space(solver, space="csr"), [], solver.levels

    def interrupted(self, problem):
        n_calls.append(problem)
        if len(n_calls) == 2:
            raise KeyboardInterrupt
        return levels(self, problem)

    monkeypatch.setattr(solver, "levels", interrupted)
    for problem, solution in zip(problems, solver().solve_batch(problems, [None] * len(problems))):
        check_usable(solver, problem, solution, "interrupted")
        assert not solution.coef.any()


def test_supervised_problems_of_a_batch_share_the_time(clock, monkeypatch):
    """Each takes all the time that it is given."""
    problems, given, solve = problems_in_one_space(GradientPath), [], SMO.solve

    def slow_solve(solver, *args, **kwargs):
        given.append(solver.max_time)
        clock.now += solver.max_time
        return solve(solver, *args, **kwargs)

    monkeypatch.setattr(SMO, "solve", slow_solve)
    GradientPath(max_time=10.0).solve_batch([problem.labeled_only() for problem in problems], [None] * len(problems))
    assert given == pytest.approx([2.0] * 5)


@by_newton
def test_a_solve_that_does_not_reach_its_tolerance_says_so(solver, monkeypatch):
    monkeypatch.setattr(newton, "MAX_NEWTON_STEPS", 1)
    problem = make_problem(solver)
    check_usable(solver, problem, solver(tol=1e-9).solve(problem), "stalled")


# ---------------------------------------------------------------- what the searches find


@every_search
@pytest.mark.parametrize("balance", [Count(0.5), Count(0.25), Free()], ids=str)
def test_no_search_is_below_the_best_labeling(solver, balance):
    n_reached = 0
    for seed in range(4):
        problem = make_problem(solver, seed, 6, n_labeled=5, balance=balance, C_unlabeled=10.0 ** (seed % 3 - 1))
        best, solution = smallest_objective(problem), solver().solve(problem)
        found = numpy_objective(problem, solution)
        assert found >= best * (1 - 1e-8)
        n_reached += found <= best * (1 + 1e-6)
        assert keeps_balance(problem, solution.labels[None]).all()
    assert n_reached >= 2


@every_search
def test_best_labeling_is_found_where_clusters_lie_apart(solver):
    for seed in range(3):
        problem = make_problem(solver, seed, 8, n_labeled=2, n_features=2, separation=2.5)
        truth = np.where(dense_samples(problem).sum(axis=1) > 0, 1.0, -1.0)
        problem = with_balance(problem, Count(float((truth[problem.searched] > 0).mean())))
        labelings = label_vectors(problem)
        values = svm_values(problem, labelings)
        solution = solver().solve(problem)
        np.testing.assert_array_equal(labelings[values.argmin()], truth)
        np.testing.assert_array_equal(solution.labels, truth)
        assert solution.objective == pytest.approx(values.min(), rel=1e-8)


@every_search
def test_weighted_samples_keep_their_share_as_near_as_the_weights_allow(solver):
    for seed in range(4):
        problem = make_problem(solver, seed, 25, n_labeled=5, weighted=True)
        solution = solver().solve(problem)
        shares = problem.mean_weights
        assert abs(shares @ (solution.labels > 0) - 0.4) <= 0.5 * shares.max() + 1e-12
        assert solution.status == "converged"
