"""Difference-of-convex steps: labels and scores that agree, and the system of the article."""

from dataclasses import replace

import numpy as np
import pytest

from factories import INTERCEPTS, least_squares_problem
from references import (
    assert_close,
    assert_least_squares_of_labels,
    label_vectors,
    labeling_values,
    problem_form,
)
from semisvm.balance import Count, Free
from semisvm.problem import objective
from semisvm.solvers import DifferenceConvex
from semisvm.solvers.least_squares import difference_convex

BALANCES = [Free(), Count(0.4), Count(0.3, 0.15)]
every_balance = pytest.mark.parametrize("balance", BALANCES, ids=["free", "count", "slack"])


@pytest.mark.parametrize("space", ["rbf", "features", "many features"])
@every_balance
@pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
def test_objective_decreases_until_labels_and_scores_agree(space, balance, intercept):
    options = {"space": space, "balance": balance, "intercept": intercept, "C": 0.1, "C_unlabeled": 0.05}
    n_steps = 0
    for seed in range(3):
        problem = least_squares_problem(seed, 30, **options)
        solution = DifferenceConvex().solve(problem)
        path = np.array([row["objective"] for row in solution.trace])
        n_steps += len(path)
        assert (np.diff(path) < 0).all()
        assert path[-1] == pytest.approx(solution.objective, rel=1e-9)
        assert_least_squares_of_labels(problem, solution)
        f, y = solution.scores[problem.searched], solution.labels[problem.searched]
        if balance == Free():
            np.testing.assert_array_equal(y, np.sign(f))
            without_labels = objective(problem, solution.coef, solution.intercept)
            assert solution.objective == pytest.approx(without_labels, rel=1e-9)
        else:  # no labels that keep the balance are closer to f
            sums = [(np.where(np.argsort(np.argsort(-f)) < k, 1.0, -1.0) @ f, k) for k in allowed_counts(balance, 30)]
            np.testing.assert_array_equal(np.sort(f[y > 0]), np.sort(f)[30 - max(sums)[1] :])
        assert (solution.status, solution.certificate.kind) == ("converged", "stationary")
        assert solution.certificate.value == 0.0
    assert n_steps > 5 or space != "features"


def allowed_counts(balance, n):
    """Numbers of positive samples within the slack."""
    return [k for k in range(n + 1) if abs(k - balance.r * n) <= balance.slack * n + 1e-9]


@every_balance
def test_objective_is_at_least_that_of_the_best_labels(balance):
    for seed in range(4):
        problem = least_squares_problem(seed, 9, balance=balance)
        solution = DifferenceConvex().solve(problem)
        assert_least_squares_of_labels(problem, solution)
        assert solution.objective >= labeling_values(problem_form(problem), label_vectors(problem)).min() - 1e-9


@pytest.mark.parametrize("slack", [0.0, 0.05, 0.1])
def test_objective_does_not_increase_and_the_balance_stays_with_uneven_weights(slack):
    for seed in range(50):
        r = np.random.default_rng(seed).uniform(0.2, 0.8)
        problem = least_squares_problem(seed, 12, balance=Count(r, slack), weighted=True, C_unlabeled=2.0)
        solution = DifferenceConvex(max_iter=100).solve(problem)
        assert solution.status == "converged"
        assert (np.diff([row["objective"] for row in solution.trace]) <= 1e-9).all()
        weights = problem.weights_of(problem.searched)
        difference = abs(weights @ (solution.labels[problem.searched] > 0) - r * weights.sum())
        assert difference <= max(slack * weights.sum(), 0.5 * weights.max()) + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_fixed_point_solves_the_system_of_the_article(seed):
    C, C_unlabeled = 5.0, 1.5
    problem = least_squares_problem(seed, 20, C=C, C_unlabeled=C_unlabeled)
    solution = DifferenceConvex().solve(problem)
    labeled, unlabeled = np.flatnonzero(problem.is_labeled), problem.searched
    K, m, u = np.asarray(problem.space.gram().compute()), len(labeled), len(unlabeled)
    K11, K12, K22 = K[np.ix_(labeled, labeled)], K[np.ix_(labeled, unlabeled)], K[np.ix_(unlabeled, unlabeled)]
    D = C_unlabeled * np.sign(solution.scores[unlabeled])
    left = np.block(
        [
            [K11 + np.eye(m) / C, -K12, np.ones((m, 1))],
            [-K12.T, K22 + np.eye(u) / C_unlabeled, -np.ones((u, 1))],
            [np.ones((1, m)), -np.ones((1, u)), np.zeros((1, 1))],
        ]
    )
    solved = np.linalg.solve(left, np.r_[problem.signs[labeled] - K12 @ D, K22 @ D, -D.sum()])
    a1, a2, b = solved[:m], solved[m:-1], solved[-1]
    assert_close(solution.scores, K[:, labeled] @ a1 + K[:, unlabeled] @ (D - a2) + b)
    assert_close(a2, C_unlabeled * solution.scores[unlabeled])


@pytest.mark.parametrize("space", ["rbf", "features"])
def test_problems_side_by_side_end_where_each_of_them_ends_alone(space):
    """Whether they share a system or not; the products of those that do are made together."""
    problem = least_squares_problem(0, 40, space=space, C=0.1, C_unlabeled=0.05)
    flipped = replace(problem, signs=-problem.signs * np.where(np.arange(len(problem.signs)) % 3, 1.0, -1.0))
    other = replace(problem, cost=3.0 * problem.cost, balance=Count(0.3))
    supervised = replace(problem, unlabeled=None)
    rows = [[], [], [], []]
    callbacks = [lambda row, seen=seen: seen.append(row["objective"]) for seen in rows]
    together = DifferenceConvex().solve_batch([problem, flipped, other, supervised], callbacks)
    for one, solution, seen in zip((problem, flipped, other, supervised), together, rows):
        alone = DifferenceConvex().solve(one)
        np.testing.assert_array_equal(solution.labels, alone.labels)
        assert_close(solution.scores, alone.scores)
        assert seen == pytest.approx([row["objective"] for row in alone.trace], rel=1e-9)
        assert (solution.status, solution.n_iter) == (alone.status, alone.n_iter)
        assert solution.certificate.value == pytest.approx(alone.certificate.value, abs=1e-9)
    assert len({solution.n_iter for solution in together[:3]}) > 1


def test_ctrl_c_ends_all_problems_side_by_side(monkeypatch):
    problem = least_squares_problem(1, 40, balance=Count(0.45, 0.1), C=0.1, C_unlabeled=0.05)
    calls, nearest_labels = [], difference_convex.nearest_labels

    def interrupted_once(*given):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return nearest_labels(*given)

    monkeypatch.setattr(difference_convex, "nearest_labels", interrupted_once)
    problems = [problem, replace(problem, signs=-problem.signs)]
    for one, solution in zip(problems, DifferenceConvex().solve_batch(problems, [None, None])):
        assert solution.status == "interrupted"
        assert_least_squares_of_labels(one, solution)


@pytest.mark.parametrize("status", ["max_iter", "interrupted"])
def test_an_early_end_leaves_a_solution_of_its_labels(status, monkeypatch):
    problem = least_squares_problem(1, 40, balance=Count(0.45, 0.1), C=0.1, C_unlabeled=0.05)
    complete = DifferenceConvex().solve(problem)
    assert complete.n_iter > 2
    calls, nearest_labels = [], difference_convex.nearest_labels

    def interrupted_once(*given):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return nearest_labels(*given)

    if status == "interrupted":
        monkeypatch.setattr(difference_convex, "nearest_labels", interrupted_once)
    solution = DifferenceConvex(max_iter=1 if status == "max_iter" else 1000).solve(problem)
    assert solution.status == status
    assert len(solution.trace) == solution.n_iter == 1
    assert_least_squares_of_labels(problem, solution)
    assert solution.objective > complete.objective
    assert solution.certificate.value > 0.0
