"""Successive linear programs: their fixed points against an interior-point method and all labels, their limits."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from factories import FREE, INTERCEPTS, dense_samples, random_problem
from references import linear_svm, numpy_objective
from semisvm.balance import Mean
from semisvm.solvers.exact import ConcaveLP, concave_lp, linear_program
from semisvm.solvers.exact.concave_lp import tangent_losses
from semisvm.spaces import Features

every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS)
every_balance = pytest.mark.parametrize("balance", [FREE, Mean(0.2)], ids=str)


def lp_problem(seed=0, n_unlabeled=8, C=2.0, **options):
    defaults = {"n_labeled": 8, "n_features": 4, "weighted": True, "zero_below": 0.2, "C_unlabeled": 0.6 * C}
    return random_problem(seed, n_unlabeled, space="features", norm=1, C=C, **(defaults | options))


def svm_at(problem, labels):
    """The smallest objective at labels of all samples, with the mean of f that the balance fixes."""
    mean = (problem.mean_weights, problem.balance.m) if isinstance(problem.balance, Mean) else None
    return linear_svm(dense_samples(problem), labels, problem.cost, problem.intercept, mean=mean)[2]


@every_intercept
@every_balance
def test_objective_decreases_to_a_stationary_point_above_the_best_labels(intercept, balance):
    for seed in range(3):
        problem = lp_problem(seed, 5, balance=balance, intercept=intercept)
        solution = ConcaveLP().solve(problem)
        assert solution.status == "converged"
        path = [row["objective"] for row in solution.trace]
        assert (np.diff(path) <= 1e-12).all()
        assert solution.objective == path[-1] == pytest.approx(numpy_objective(problem, solution), rel=1e-12)
        assert solution.n_iter == len(path) >= 2
        assert solution.trace[-1]["changed"] == 0
        signs = np.where(problem.is_labeled, problem.signs, np.sign(solution.scores))
        np.testing.assert_array_equal(solution.labels, signs)
        assert solution.objective <= svm_at(problem, signs) * (1.0 + 1e-7)  # a solution of its own program
        assert solution.certificate.kind == "stationary"
        assert solution.certificate.value <= 1e-7 * solution.objective
        assert ConcaveLP().solve(problem, start=solution).objective == pytest.approx(solution.objective, rel=1e-9)
        Y = np.tile(problem.signs, (2**5, 1))
        Y[:, problem.searched] = list(itertools.product((-1.0, 1.0), repeat=5))
        smallest = min(svm_at(problem, y) for y in Y)
        assert solution.certificate.lower_bound <= smallest <= solution.objective * (1.0 + 1e-7)
        assert solution.certificate.gap == pytest.approx(solution.objective - solution.certificate.lower_bound)
        if isinstance(balance, Mean):
            assert problem.mean_weights @ solution.scores == pytest.approx(0.2, abs=1e-9)


def test_tangent_has_the_smaller_loss_of_each_sample_or_half_of_both():
    problem = lp_problem(0, 4)
    samples, f = problem.searched, np.zeros(12)
    f[samples] = 0.3, -2.0, 0.0, 5.0
    losses = tangent_losses(problem, f)
    n_labeled = len(losses.samples) - 5
    np.testing.assert_array_equal(losses.samples[:n_labeled], np.flatnonzero(problem.signs))
    np.testing.assert_array_equal(losses.samples[n_labeled:], samples[[0, 2, 3, 1, 2]])
    np.testing.assert_array_equal(losses.signs, np.r_[problem.signs[problem.is_labeled], 1, 1, 1, -1, -1])
    np.testing.assert_allclose(losses.cost[n_labeled:], problem.cost[samples[[0, 2, 3, 1, 2]]] * [1, 0.5, 1, 1, 0.5])


def test_samples_of_cost_zero_do_not_matter():
    problem = lp_problem(1)
    without_cost = ConcaveLP().solve(replace(problem, cost=np.where(problem.is_labeled, problem.cost, 0.0)))
    supervised = ConcaveLP().solve(problem.labeled_only())
    np.testing.assert_array_equal(without_cost.coef, supervised.coef)
    assert without_cost.status == supervised.status == "converged"
    assert without_cost.certificate.value == 0.0
    assert without_cost.objective == pytest.approx(svm_at(problem, problem.signs), rel=1e-8)


def test_limits_callback_and_interrupt_keep_the_best_point_so_far(interrupt_at):
    problem = lp_problem(3, 30, C=10.0)
    complete = ConcaveLP().solve(problem)
    assert complete.n_iter > 2
    one = ConcaveLP(max_iter=1).solve(problem)
    assert (one.status, one.n_iter, one.certificate.kind) == ("max_iter", 1, "gap")
    assert one.objective == complete.trace[0]["objective"]
    two = ConcaveLP(max_iter=2).solve(problem)
    assert (two.status, two.n_iter) == ("max_iter", 2)
    assert two.objective == complete.trace[1]["objective"] < one.objective
    assert two.certificate.lower_bound <= complete.objective <= two.objective
    rows = []
    ConcaveLP().solve(problem, callback=rows.append)
    assert rows == complete.trace
    for step in (0, 1):
        stopped = ConcaveLP().solve(problem, callback=lambda row, step=step: row["step"] == step)
        assert (stopped.status, len(stopped.trace)) == ("stopped", step + 1)
    interrupt_at(linear_program, "linprog", 2)
    kept = ConcaveLP().solve(problem)
    assert kept.status == "interrupted"
    assert kept.objective == one.objective


def test_the_program_of_the_labels_found_is_not_solved_again(monkeypatch):
    """Solved again it would decrease nothing either."""
    problem, solve, calls = lp_problem(3, 30, C=10.0), concave_lp.solve_lp, []
    monkeypatch.setattr(concave_lp, "solve_lp", lambda *given: calls.append(given) or solve(*given))
    solution = ConcaveLP().solve(problem)
    assert (solution.status, len(calls)) == ("converged", solution.n_iter - 1)
    again = solve(problem, tangent_losses(problem, solution.scores))
    assert solution.objective - again.lower_bound == pytest.approx(solution.certificate.value, abs=1e-9)
    np.testing.assert_allclose(again.multipliers, solution.multipliers, atol=1e-9)


@every_intercept
@every_balance
def test_without_time_the_solution_still_keeps_the_balance(intercept, balance):
    problem = lp_problem(balance=balance, intercept=intercept)
    solution = ConcaveLP(max_time=1e-9).solve(problem)
    assert solution.status == "max_time"
    assert solution.objective == pytest.approx(numpy_objective(problem, solution), rel=1e-12)
    assert 0.0 <= solution.certificate.lower_bound <= ConcaveLP().solve(problem).objective <= solution.objective
    if isinstance(balance, Mean):
        assert problem.mean_weights @ solution.scores == pytest.approx(0.2, abs=1e-9)


@pytest.mark.parametrize(
    "seed, n_unlabeled, options",
    [
        (5, 30, {"n_labeled": 8, "n_features": 4, "C": 1.0, "C_unlabeled": 1.0}),
        (18, 20, {"n_labeled": 5, "n_features": 6, "C": 2.0, "C_unlabeled": 0.5}),
    ],
)
def test_sparse_and_dense_samples_end_at_the_same_labels_where_several_are_equally_good(seed, n_unlabeled, options):
    """On a grid of integers, which dense samples leave by rounding error when they are centered."""
    problem = lp_problem(seed, n_unlabeled, weighted=False, **options)
    X = np.round(dense_samples(problem))
    spaces = Features(sparse.csr_array(X)), Features(X - X.mean(axis=0))
    by_csr, by_dense = (ConcaveLP().solve(replace(problem, space=space)) for space in spaces)
    np.testing.assert_array_equal(by_csr.labels, by_dense.labels)
    np.testing.assert_allclose(by_csr.coef, by_dense.coef, atol=1e-9)


def test_sparse_samples_of_many_entries_stay_sparse(monkeypatch):
    problem = lp_problem(3, 14)
    dense = ConcaveLP().solve(problem)
    monkeypatch.setattr(linear_program, "MAX_DENSE", 10)
    csr = replace(problem, space=Features(sparse.csr_array(dense_samples(problem))))
    assert sparse.issparse(linear_program.scaled_features(csr).Z)
    assert ConcaveLP().solve(csr).objective == pytest.approx(dense.objective, rel=1e-8)
