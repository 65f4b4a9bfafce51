"""The big M of the integer program: bounds of the scores, by hand and against the extreme scores of good models."""

import numpy as np
import pytest

from factories import INTERCEPTS, dense_samples, random_problem
from references import linear_svm
from semisvm.solvers.exact.integer_program import IntegerProgram, score_bounds


def make_program(Z, signs, cost, norm, upper, intercept=True):
    return IntegerProgram(
        Z=Z,
        signs=signs,
        cost=cost,
        weights=np.ones(np.count_nonzero(signs == 0)),
        low=-np.inf,
        high=np.inf,
        intercept=intercept,
        objective_scale=1.0,
        norm=norm,
        upper=upper,
        samples=np.arange(len(signs)),
        side=1.0,
    )


def lowest_score(X, problem, j, side, upper):
    """The smallest side * f_j of all models whose objective is at most ``upper``.

    The models that minimize the objective plus a price times side * f_j are those; the price is found by bisection.
    """
    direction = side * np.r_[X[j], [1.0] * (problem.intercept is not False)]
    lowest, low, high = np.inf, 0.0, 1.0
    for _ in range(25):
        share = 0.5 * (low + high)
        price = share / (1.0 - share)
        w, b, value = linear_svm(
            X, problem.signs, problem.cost, problem.intercept, problem.norm, linear_term=price * direction
        )
        if np.isfinite(w).all() and value <= upper:
            low, lowest = share, min(lowest, side * (X[j] @ w + b))
        else:
            high = share
    return lowest


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_scores_of_models_that_are_good_enough_are_within_the_bounds(norm, intercept):
    for seed in range(2):
        options = {"n_features": 3, "weighted": True, "zero_below": 0.2, "norm": norm, "intercept": intercept}
        problem = random_problem(seed, 3, space="csr", **options)
        X = dense_samples(problem)
        upper = 1.5 * linear_svm(X, problem.signs, problem.cost, intercept, norm)[2]
        program = make_program(X, problem.signs, problem.cost, norm, upper, intercept)
        low, high = score_bounds(program)
        np.testing.assert_allclose(score_bounds(program._replace(Z=problem.space.X)), (low, high), rtol=1e-12)
        for side, bound in ((1.0, low[0]), (-1.0, -high[0])):
            lowest = lowest_score(X, problem, problem.searched[0], side, upper)
            assert bound - 1e-5 <= lowest < np.inf


def test_bounds_of_one_labeled_sample_per_class_by_hand():
    """Costs for which the objective is spent on the slack of the labeled sample, and for which it is spent on w."""
    Z, signs = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]]), np.array([1.0, -1.0, 0.0])
    for norm, cost, expected in (
        (1, 10.0, [1.0 - 6.0, -1.0 + 6.0]),
        (1, 0.1, [1.0 - 20.0, -1.0 + 20.0]),
        (2, 10.0, [1.0 - 2.0 * np.sqrt(10.0), -1.0 + 2.0 * np.sqrt(18.0)]),
        (2, 0.1, [1.0 - (20.0 + 0.05 * 10.0), -1.0 + 20.0 + 0.05 * 18.0]),
    ):
        bounds = score_bounds(make_program(Z, signs, np.full(3, cost), norm, 2.0))
        np.testing.assert_allclose(np.ravel(bounds), expected, rtol=1e-5)


def test_big_m_covers_the_slack_of_both_labels():
    program = make_program(np.zeros((1, 1)), np.zeros(1), np.ones(1), 1, 2.0)
    for lowest, highest, expected in ((-2.0, -3.0, [3.0, 0.0]), (-2.0, 4.0, [3.0, 5.0])):
        bounded = program._replace(lowest_f=np.array([lowest]), highest_f=np.array([highest]))
        np.testing.assert_array_equal(np.ravel(bounded.big_m), expected)


def test_one_class_with_a_free_intercept_is_refused():
    Z, signs = np.arange(6.0).reshape(3, 2), np.array([1.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="labeled samples of both classes"):
        score_bounds(make_program(Z, signs, np.ones(3), 1, 2.0))
    assert np.isfinite(score_bounds(make_program(Z, signs, np.ones(3), 1, 2.0, "regularized"))).all()
