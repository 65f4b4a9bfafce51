"""Greedy choice and pruning of support vectors against loops that train every model."""

import numpy as np
import pytest

from factories import INTERCEPTS, random_problem
from references import assert_close, least_squares_matrix, least_squares_svm
from semisvm.problem import objective
from semisvm.solvers import Greedy, Pruning
from semisvm.solvers.least_squares import sparse

every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
both_spaces = pytest.mark.parametrize("space", ["rbf", "features"])


def supervised_problem(n=24, seed=0, n_unlabeled=0, **options):
    """Labeled samples of uneven costs, and perhaps others, which no solver here may use."""
    defaults = {"n_labeled": n, "n_features": 3, "losses": "squared", "weighted": True, "separation": 0.4}
    problem = random_problem(seed, n_unlabeled, **(defaults | options)).labeled_only()
    return problem, np.asarray(problem.space.gram().compute()), np.flatnonzero(problem.is_labeled)


def assert_model_of(problem, K, solution, samples):
    """The solution is the model of these samples alone, with its objective over all labeled ones."""
    np.testing.assert_array_equal(np.flatnonzero(solution.dual), np.sort(samples))
    alpha, b, f = least_squares_svm(K, problem.cost, problem.signs, problem.intercept, samples)
    assert_close(solution.scores, f)
    assert_close(solution.dual[samples], alpha)
    norm2 = alpha @ (f - b)[samples] + (b * b if problem.intercept == "regularized" else 0.0)
    known = problem.is_labeled
    value = 0.5 * norm2 + 0.5 * problem.cost[known] @ (problem.signs - f)[known] ** 2
    assert solution.objective == pytest.approx(value, rel=1e-9)
    assert solution.objective == pytest.approx(objective(problem, solution.coef, solution.intercept), rel=1e-9)
    assert solution.trace[-1]["objective"] == solution.objective


def naive_greedy(problem, K, candidates, n_steps):
    """At every step the sample with which the dual objective 1/2 y'Q^-1 y is largest."""
    Q, y, chosen, duals = least_squares_matrix(K, problem.cost, "regularized"), problem.signs, [], []
    for _ in range(n_steps):
        values = {}
        for j in np.setdiff1d(candidates, chosen):
            few = [*chosen, j]
            values[j] = 0.5 * y[few] @ np.linalg.solve(Q[np.ix_(few, few)], y[few])
        chosen.append(max(values, key=values.get))
        duals.append(values[chosen[-1]])
    return chosen, np.array(duals)


@both_spaces
@pytest.mark.parametrize("seed", range(3))
def test_greedy_adds_the_sample_that_increases_the_dual_most(space, seed):
    problem, K, labeled = supervised_problem(20, seed, 4, space=space, intercept="regularized")
    chosen, duals = naive_greedy(problem, K, labeled, 20)
    for n_support in (1, 2, 10, None):
        solution = Greedy(n_support, tol=1e-300).solve(problem)
        assert_model_of(problem, K, solution, chosen[:n_support])
        assert_close([row["objective"] for row in solution.trace[:-1]], duals[:n_support])
        assert solution.n_iter == (n_support or 20)
        assert solution.status == "converged"


def test_greedy_stops_at_a_small_gain():
    problem, K, labeled = supervised_problem(intercept="regularized")
    chosen, duals = naive_greedy(problem, K, labeled, 24)
    gains = np.diff(duals) / duals[:-1]
    tol = 0.5 * (gains[11] + gains[12])
    n_support = 1 + int(np.argmax(gains <= tol))
    assert 2 < n_support < 24
    assert_model_of(problem, K, Greedy(tol=tol).solve(problem), chosen[:n_support])


def test_greedy_chooses_among_a_random_pool_of_many_samples(monkeypatch):
    monkeypatch.setattr(sparse, "POOL_SIZE", 12)
    problem, K, _ = supervised_problem(intercept="regularized")
    pools = [np.flatnonzero(Greedy(tol=1e-300).solve(problem, rng=seed).dual) for seed in (0, 0, 1)]
    assert [len(pool) for pool in pools] == [12, 12, 12]
    np.testing.assert_array_equal(pools[0], pools[1])
    assert set(pools[0]) != set(pools[2])
    chosen, _ = naive_greedy(problem, K, pools[0], 5)
    assert_model_of(problem, K, Greedy(5, tol=1e-300).solve(problem, rng=0), chosen)


def naive_pruning(problem, K, samples, n_support):
    """Samples after every step and their held-out errors, every model trained."""
    y, cost, intercept, evaluated, history = problem.signs, problem.cost, problem.intercept, samples, []
    while True:
        alpha, _, f = least_squares_svm(K, cost, y, intercept, samples)
        for j in samples:
            f[j] = least_squares_svm(K, cost, y, intercept, samples[samples != j])[2][j]
        error = cost[evaluated] @ (y * f <= 0)[evaluated] / cost[evaluated].sum()
        history.append((samples, error))
        n_removed = min(max(1, int(0.05 * len(samples))), len(samples) - n_support)
        if n_removed <= 0:
            return history
        removed = np.argsort(np.abs(alpha))[:n_removed]
        for sign in (-1.0, 1.0):
            if not (np.delete(y[samples], removed) == sign).any():
                removed = removed[y[samples][removed] != sign]
        samples = np.delete(samples, removed)


@every_intercept
@both_spaces
@pytest.mark.parametrize("n, n_support", [(20, 5), (44, 38)])
def test_pruning_removes_what_a_loop_that_trains_every_model_removes(n, n_support, intercept, space):
    problem, K, labeled = supervised_problem(n, 5, 3, space=space, intercept=intercept)
    history = naive_pruning(problem, K, labeled, n_support)
    solution = Pruning(n_support).solve(problem)
    assert [row["n_samples"] for row in solution.trace[:-1]] == [len(samples) for samples, _ in history]
    assert_close([row["error"] for row in solution.trace[:-1]], [error for _, error in history])
    assert len(history[-1][0]) == n_support
    assert_model_of(problem, K, solution, history[-1][0])


def test_pruning_stops_before_the_error_exceeds_its_standard_error():
    n_support = []
    for seed in range(5):
        problem, K, labeled = supervised_problem(24, seed)
        history = naive_pruning(problem, K, labeled, 2)
        first = history[0][1]
        within = [error <= first + np.sqrt(first * (1.0 - first) / 24) for _, error in history]
        samples = history[within.index(False) - 1 if False in within else -1][0]
        assert_model_of(problem, K, Pruning().solve(problem), samples)
        n_support.append(len(samples))
    assert 2 < min(n_support) < max(n_support)


@pytest.mark.parametrize("n_support", [2, 3, 9, 30, 100])
def test_pruning_ends_at_the_given_number_with_both_classes(n_support):
    problem, _, _ = supervised_problem(30)
    kept = np.flatnonzero(Pruning(n_support).solve(problem).dual)
    assert len(kept) == min(n_support, 30)
    assert set(problem.signs[kept]) == {-1.0, 1.0}


@every_intercept
@pytest.mark.parametrize("seed", range(3))
def test_pruning_keeps_the_last_sample_of_a_class_however_small_its_coefficient(seed, intercept):
    problem, _, _ = supervised_problem(16, seed, intercept=intercept)
    problem.signs[:], problem.signs[3] = -1.0, 1.0
    problem.cost[3] = 0.02
    kept = np.flatnonzero(Pruning(6).solve(problem).dual)
    assert 3 in kept
    assert len(kept) == 6


@pytest.mark.parametrize("solver", [Greedy, Pruning])
def test_early_ends_leave_a_model_of_the_samples_so_far(solver):
    problem, K, labeled = supervised_problem(intercept="regularized")
    in_no_time = solver(5, max_time=1e-9).solve(problem)
    assert in_no_time.status == "max_time"
    assert_model_of(problem, K, in_no_time, naive_greedy(problem, K, labeled, 1)[0] if solver is Greedy else labeled)
    rows = []
    stopped = solver(4).solve(problem, callback=lambda row: rows.append(row) or len(rows) == 2)
    assert stopped.status == "stopped"
    assert len(rows) == 2
    assert_model_of(problem, K, stopped, np.flatnonzero(stopped.dual))
