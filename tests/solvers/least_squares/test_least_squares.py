"""The least-squares SVM of labeled samples against numpy, and its held-out scores against refits."""

import numpy as np
import pytest

from factories import INTERCEPTS, random_problem
from references import assert_close, least_squares_svm
from semisvm.balance import Count
from semisvm.problem import objective, violation
from semisvm.solvers import LeastSquares

every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
every_space = pytest.mark.parametrize("space", ["rbf", "features", "csr"])


def supervised_problem(space, intercept, n_features=3):
    """Some samples have no label, two have no cost."""
    options = {"losses": "squared", "n_features": n_features, "weighted": True, "n_zero_weight": 2}
    problem = random_problem(1, 5, n_labeled=16, space=space, intercept=intercept, balance=Count(0.4), **options)
    K, used = np.asarray(problem.space.gram().compute()), np.flatnonzero(problem.is_labeled & (problem.cost > 0))
    return problem.labeled_only(), K, used


@every_space
@every_intercept
@pytest.mark.parametrize("n_features", [3, 30])
def test_solution_is_that_of_the_bordered_system(space, intercept, n_features):
    problem, K, used = supervised_problem(space, intercept, n_features)
    solution = LeastSquares().solve(problem)
    alpha, b, f = least_squares_svm(K, problem.cost, problem.signs, intercept, used)
    assert_close(solution.dual[used], alpha)
    assert_close(solution.scores, f)
    assert solution.intercept == pytest.approx(b, abs=1e-9)
    smallest = 0.5 * problem.signs[used] @ alpha
    assert solution.objective == pytest.approx(smallest, rel=1e-9)
    assert objective(problem, solution.coef, solution.intercept) == pytest.approx(smallest, rel=1e-9)
    assert violation(problem, solution.multipliers, solution.scores) < 1e-9
    certificate = solution.certificate
    assert certificate.kind == "kkt"
    assert 0.0 <= certificate.value < 1e-9
    assert 0.0 <= certificate.gap < 1e-9 * smallest
    assert certificate.lower_bound == pytest.approx(smallest, rel=1e-9)
    assert solution.status == "converged"


@every_space
@every_intercept
def test_held_out_scores_are_those_of_models_without_the_group(space, intercept):
    problem, K, used = supervised_problem(space, intercept)
    solution = LeastSquares().solve(problem)
    no_cost = np.flatnonzero(problem.is_labeled & (problem.cost == 0))
    groups = [np.r_[used[:3], no_cost], used[3:4], used[8:]]
    expected = solution.scores.copy()
    for group in [*groups, *used[4:8, None]]:
        kept = np.setdiff1d(used, group)
        held = np.intersect1d(group, used)
        expected[held] = least_squares_svm(K, problem.cost, problem.signs, intercept, kept)[2][held]
    found = LeastSquares().held_out_scores(problem, solution, groups)
    assert len(no_cost)
    assert np.abs(expected - solution.scores)[used].min() > 1e-4
    assert_close(found, expected)
