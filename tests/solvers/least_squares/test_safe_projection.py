"""The safe projection: never worse than the supervised model whatever the labels, and an actual projection."""

import numpy as np
import pytest

from factories import INTERCEPTS, least_squares_problem, with_balance
from references import assert_close, label_vectors, least_squares_svm, minimize_qp, problem_form
from semisvm.balance import Count, Free
from semisvm.problem import objective
from semisvm.solvers import LeastSquares, SafeProjection

every_space = pytest.mark.parametrize("space", ["rbf", "features", "many features"])
every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)


def projected_targets(problem, f):
    """Soft labels of the projection, by an interior-point method; f is that of the supervised model."""
    S, searched, known = problem_form(problem), problem.searched, np.flatnonzero(problem.is_labeled)
    cost, u = problem.cost[searched], len(searched)
    linear_term = cost * f[searched] + S[np.ix_(searched, known)] @ problem.signs[known]
    y = problem.signs.copy()
    box = np.vstack([np.eye(u), -np.eye(u)]), np.ones(2 * u)
    y[searched] = minimize_qp(np.diag(cost) - S[np.ix_(searched, searched)], -linear_term, below=box)[0]
    return y


@every_space
@every_intercept
def test_safe_projection_is_never_worse_whatever_the_labels(space, intercept):
    is_outside = []
    for seed in range(3):
        options = {"intercept": intercept, "C": 8.0, "C_unlabeled": 4.0, "separation": 0.8, "gamma": 0.2}
        problem = least_squares_problem(seed, 8, space=space, balance=Count(0.5), **options)
        first, safe = LeastSquares().solve(problem.labeled_only()), SafeProjection().solve(problem)
        for y in label_vectors(with_balance(problem, Free())):
            ours, theirs = (objective(problem, model.coef, model.intercept, y) for model in (safe, first))
            assert ours <= theirs + 1e-9
        assert safe.objective == pytest.approx(objective(problem, safe.coef, safe.intercept), rel=1e-9)
        assert (safe.status, safe.certificate.kind) == ("converged", "stationary")
        assert safe.certificate.value < 1e-8
        K = np.asarray(problem.space.gram().compute())
        expected = least_squares_svm(K, problem.cost, projected_targets(problem, first.scores), intercept)[2]
        assert_close(safe.scores, expected, 1e-5)
        is_outside.append(np.abs(first.scores[problem.searched]).max() > 1.0)
        if space != "features":  # soft labels reach every f in the box
            assert (np.abs(safe.scores - first.scores).max() > 1e-6) == is_outside[-1]
    assert any(is_outside) or space == "many features"
    assert not all(is_outside) or space == "features"


def test_ctrl_c_leaves_the_supervised_model_with_its_objective_of_the_whole_problem():
    problem = least_squares_problem(0, 8)

    def interrupt(row):
        raise KeyboardInterrupt

    solution = SafeProjection().solve(problem, callback=interrupt)
    assert solution.status == "interrupted"
    assert_close(solution.scores, LeastSquares().solve(problem.labeled_only()).scores)
    assert solution.objective == pytest.approx(objective(problem, solution.coef, solution.intercept), rel=1e-9)
    assert solution.certificate.gap is None
