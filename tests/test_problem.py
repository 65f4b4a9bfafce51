"""The problem: objectives computed by hand, violation at a solution known in closed form, derived problems."""

from dataclasses import replace

import numpy as np
import pytest

from factories import random_problem
from semisvm import losses
from semisvm.balance import Count, Free, Mean
from semisvm.losses import LABELED, UNLABELED, Hinge, SymmetricHinge, SymmetricRamp
from semisvm.problem import Problem, balance_residual, objective, objective_of_scores, violation
from semisvm.spaces import Features, Gram, Kernel

LABELED_AT_HALF = {"hinge": 0.5, "squared_hinge": 0.25, "squared": 0.125, "ramp": 0.5}
UNLABELED_AT_MINUS_QUARTER = {
    "symmetric_hinge": 0.75,
    "symmetric_squared_hinge": 0.5625,
    "symmetric_squared": 0.28125,
    "symmetric_ramp": 0.7,
    "gaussian": np.exp(-3.0 / 16.0),
}


def two_samples(labeled, unlabeled):
    """Samples 2, labeled +1, and -1, unlabeled: at w = 1/4 and b = 0 the scores are 1/2 and -1/4."""
    space, signs = Features(np.array([[2.0], [-1.0]])), np.array([1.0, 0.0])
    return Problem(space, signs, np.array([3.0, 5.0]), labeled, unlabeled)


def test_values_computed_by_hand_cover_every_loss():
    assert list(LABELED_AT_HALF) == list(LABELED)
    assert list(UNLABELED_AT_MINUS_QUARTER) == list(UNLABELED)


@pytest.mark.parametrize("unlabeled", [*UNLABELED, None])
@pytest.mark.parametrize("labeled", LABELED)
def test_objective_of_two_samples_by_hand(labeled, unlabeled):
    problem = two_samples(LABELED[labeled](), None if unlabeled is None else UNLABELED[unlabeled]())
    expected = 0.5 / 16.0 + 3.0 * LABELED_AT_HALF[labeled] + 5.0 * UNLABELED_AT_MINUS_QUARTER.get(unlabeled, 0.0)
    assert objective(problem, np.array([0.25]), 0.0) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("norm", "intercept", "size"),
    [(2, True, 2.5), (2, "regularized", 2.5 + 0.5 * 0.3**2), (1, True, 3.0), (1, "regularized", 3.3)],
)
def test_norm_holds_the_intercept_only_if_it_is_regularized(norm, intercept, size):
    signs = np.array([1.0, -1.0])
    problem = Problem(Features(np.eye(2)), signs, np.ones(2), Hinge(), intercept=intercept, norm=norm)
    assert objective(problem, np.array([1.0, -2.0]), 0.3) == pytest.approx(size + 0.0, rel=1e-14)
    assert objective(problem, np.array([1.0, -2.0]), -0.3) == pytest.approx(size + 0.3, rel=1e-14)  # margins 0.7, 2.3


@pytest.mark.parametrize(("label", "loss"), [(-1.0, 0.75), (1.0, 1.25)])
def test_unlabeled_samples_with_a_label_have_the_labeled_loss(label, loss):
    problem = two_samples(Hinge(), SymmetricHinge())
    found = objective(problem, np.array([0.25]), 0.0, labels=np.array([1.0, label]))
    assert found == pytest.approx(0.5 / 16.0 + 3.0 * 0.5 + 5.0 * loss, rel=1e-14)


@pytest.mark.parametrize("kind", ["hinge", "squared", "gaussian"])
def test_objective_behind_a_kernel_is_that_of_its_matrix(kind):
    problem = random_problem(0, 9, n_labeled=6, losses=kind, cost_spread=0.5)
    a, known = np.random.default_rng(2).standard_normal(15), problem.is_labeled
    K = problem.space.compute()
    f = K @ a + 0.2
    loss = np.where(known, losses.value(problem.labeled, problem.signs * f), losses.value(problem.unlabeled, f))
    expected = 0.5 * a @ K @ a + problem.cost @ loss
    assert objective(problem, a, 0.2) == pytest.approx(expected, rel=1e-12)
    assert objective_of_scores(problem, a @ K @ a, f, 0.2) == pytest.approx(expected, rel=1e-12)


# ---- violation of the optimality conditions ----


def two_points(cost=10.0):
    """x = +-1 with their own sign: the largest margin is at w = 1, b = 0, with multipliers +-1/2."""
    X = np.array([[1.0], [-1.0]])
    return Problem(Gram(Kernel("linear"), X), np.array([1.0, -1.0]), np.full(2, cost), Hinge())


def test_solution_of_two_points_in_closed_form_has_no_violation():
    problem, a = two_points(), np.array([0.5, -0.5])
    f = problem.space.scores(a, 0.0)
    np.testing.assert_allclose(f, [1.0, -1.0])
    assert violation(problem, a, f) == 0.0
    assert objective(problem, a, 0.0) == pytest.approx(0.5)


@pytest.mark.parametrize("error", [0.01, -0.3])
def test_violation_is_the_distance_of_a_score(error):
    problem = two_points()
    assert violation(problem, np.array([0.5, -0.5]), np.array([1.0 + error, -1.0])) == pytest.approx(abs(error))
    assert violation(problem, np.array([0.5, -0.5]), np.array([1.0, -1.0 + error])) == pytest.approx(abs(error))


def test_violation_at_the_bounds_of_the_multipliers():
    problem = two_points(cost=0.1)
    a = np.array([0.1, -0.1])  # at the cost: margins of at most 1 are optimal
    assert violation(problem, a, problem.space.scores(a, 0.0)) == 0.0
    assert violation(problem, np.zeros(2), np.zeros(2)) == 1.0


def test_violation_counts_unlabeled_samples_but_not_samples_without_cost():
    signs, f = np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.4, 0.1])
    problem = Problem(None, signs, np.ones(3), Hinge(), SymmetricRamp(-0.3))
    assert violation(problem, np.array([0.5, 0.0, 0.0]), f) == pytest.approx(0.1)  # from 0.4 to the flat part
    assert violation(problem, np.array([0.5, 1.0, 0.0]), f) == 0.0
    no_cost = replace(problem, cost=np.array([1.0, 0.0, 1.0]))
    assert violation(no_cost, np.array([0.5, 0.0, 0.0]), f) == 0.0


# ---- samples, weights and balance ----


def test_mean_weights_are_those_of_unlabeled_samples_and_sum_to_one():
    problem = Problem(None, np.array([1.0, 0.0, -1.0, 0.0]), np.ones(4), Hinge())
    np.testing.assert_allclose(problem.mean_weights, [0.0, 0.5, 0.0, 0.5])
    weighted = replace(problem, weights=np.array([9.0, 1.0, 9.0, 3.0]))
    np.testing.assert_allclose(weighted.mean_weights, [0.0, 0.25, 0.0, 0.75])
    np.testing.assert_array_equal(weighted.weights_of(np.array([3, 0])), [3.0, 9.0])
    np.testing.assert_array_equal(problem.weights_of(np.array([3, 0])), [1.0, 1.0])
    all_labeled = replace(problem, signs=np.array([1.0, 1.0, -1.0, 1.0]))
    np.testing.assert_array_equal(all_labeled.mean_weights, np.zeros(4))
    assert problem.has_unlabeled
    assert not all_labeled.has_unlabeled
    assert not replace(weighted, weights=np.array([1.0, 0.0, 1.0, 0.0])).has_unlabeled


def test_labels_are_the_given_ones_and_signs_of_scores_beyond_rounding():
    problem = Problem(None, np.array([1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), np.ones(7), Hinge())
    f = np.array([-3.0, 2.0, 1e-3, -1e-3, 0.0, 1e-11, 1e-8])  # the largest score is 3
    np.testing.assert_array_equal(problem.labels_of(f), [1.0, -1.0, 1.0, -1.0, -1.0, -1.0, 1.0])
    assert problem.labels_of(np.zeros(7)).tolist() == [1.0, *[-1.0] * 6]


def test_searched_samples_are_unlabeled_and_have_a_cost():
    problem = random_problem(0, 6, n_zero_weight=5, weighted=True)
    samples = problem.searched
    assert len(samples) == 6
    assert not problem.signs[samples].any()
    assert (problem.cost[samples] > 0).all()
    assert len(replace(problem, unlabeled=None).searched) == 0
    no_cost = replace(problem, cost=np.where(problem.is_labeled, problem.cost, 0.0))
    assert len(no_cost.searched) == 0


def test_balance_residual_is_over_the_unlabeled_samples_by_their_weights():
    signs, f, labels = np.array([1.0, 0.0, 0.0]), np.array([7.0, 2.0, -1.0]), np.array([1.0, 1.0, -1.0])
    problem = Problem(None, signs, np.ones(3), Hinge(), weights=np.array([5.0, 1.0, 3.0]))
    for balance, expected in [(Free(), 0.0), (Mean(0.5), 0.75), (Count(0.5, 0.1), 0.15)]:
        assert balance_residual(replace(problem, balance=balance), f, labels) == pytest.approx(expected)


def test_a_mean_is_fixed_by_a_mean_balance_with_unlabeled_samples_alone():
    problem = random_problem(1, balance=Mean(0.25))
    assert problem.fixed_mean == 0.25
    assert replace(problem, balance=Count(0.25)).fixed_mean is None
    assert replace(problem, signs=np.ones(12)).fixed_mean is None


def test_derived_problems_are_supervised_and_leave_the_problem_unchanged():
    problem = random_problem(1, balance=Count(0.5))
    y, cost = np.where(problem.is_labeled, problem.signs, 1.0), 3.0 * problem.cost
    for derived in (problem.labeled_only(), problem.with_labels(y), problem.with_labels(y, cost)):
        assert derived.unlabeled is None
        assert derived.balance == Free()
    np.testing.assert_array_equal(problem.labeled_only().signs, problem.signs)
    np.testing.assert_array_equal(problem.with_labels(y).signs, y)
    np.testing.assert_array_equal(problem.with_labels(y).cost, problem.cost)
    np.testing.assert_array_equal(problem.with_labels(y, cost).cost, cost)
    np.testing.assert_array_equal(problem.signs[problem.searched], 0.0)
