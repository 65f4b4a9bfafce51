"""The judge: objectives computed by hand, gradients by differences, violation at a solution known in closed form."""

import numpy as np
import pytest
from scipy import sparse

from semisvm import losses
from semisvm.balance import Count, Free, Mean, residual
from semisvm.kernels import Kernel
from semisvm.losses import LABELED, UNLABELED, Hinge, Squared, SquaredHinge, SymmetricHinge, SymmetricRamp
from semisvm.problem import Problem, gradient, imbalance, objective, objective_of_scores, violation
from semisvm.spaces import Features, Gram

PAIRS = [(labeled(), unlabeled()) for labeled in LABELED.values() for unlabeled in UNLABELED.values()]
LABELED_AT_HALF = {"hinge": 0.5, "squared_hinge": 0.25, "squared": 0.125, "ramp": 0.5}
UNLABELED_AT_MINUS_QUARTER = {
    "symmetric_hinge": 0.75,
    "symmetric_squared_hinge": 0.5625,
    "symmetric_squared": 0.28125,
    "symmetric_ramp": 0.7,
    "gaussian": np.exp(-3.0 / 16.0),
}


def random_problem(space, labeled, unlabeled, intercept=True):
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 0.0, 1.0], space.n)
    return Problem(space, signs, rng.random(space.n) + 0.5, labeled, unlabeled, intercept=intercept)


def random_spaces():
    X = np.random.default_rng(1).standard_normal((15, 3))
    return [Features(X), Features(sparse.csr_array(X)), Gram(Kernel("rbf", 0.4), X)]


def coordinates(space):
    return space.n if isinstance(space, Gram) else space.X.shape[1]


def test_the_hand_computed_values_cover_every_loss():
    assert list(LABELED_AT_HALF) == list(LABELED)
    assert list(UNLABELED_AT_MINUS_QUARTER) == list(UNLABELED)


@pytest.mark.parametrize("intercept", [True, "regularised"])
@pytest.mark.parametrize("unlabeled", [*UNLABELED, None])
@pytest.mark.parametrize("labeled", LABELED)
def test_objective_of_two_rows_by_hand(labeled, unlabeled, intercept):
    """Rows 2 and -1 with w = 1/4 and b = 0: margin 1/2 at the labeled one, score -1/4 at the other."""
    second = None if unlabeled is None else UNLABELED[unlabeled]()
    space, cost = Features(np.array([[2.0], [-1.0]])), np.array([3.0, 5.0])
    problem = Problem(space, np.array([1.0, 0.0]), cost, LABELED[labeled](), second, intercept=intercept)
    expected = 0.5 / 16.0 + 3.0 * LABELED_AT_HALF[labeled] + 5.0 * UNLABELED_AT_MINUS_QUARTER.get(unlabeled, 0.0)
    assert objective(problem, np.array([0.25]), 0.0) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(("intercept", "paid"), [(True, 0.0), ("regularised", 0.5 * 0.3**2)])
def test_only_a_regularised_intercept_is_paid_for(intercept, paid):
    problem = Problem(Features(np.eye(2)), np.array([1.0, -1.0]), np.ones(2), Hinge(), intercept=intercept)
    hinges = max(1.0 - 1.3, 0.0) + max(1.0 + 2.3, 0.0)
    assert objective(problem, np.array([1.0, 2.0]), 0.3) == pytest.approx(2.5 + hinges + paid, rel=1e-14)


def test_given_labels_make_unlabeled_rows_pay_the_labeled_loss():
    """Scores 1/2 and -1/4: as -1 the second row has margin 1/4, as +1 it has -1/4."""
    space, cost = Features(np.array([[2.0], [-1.0]])), np.array([3.0, 5.0])
    problem = Problem(space, np.array([1.0, 0.0]), cost, Hinge(), SymmetricHinge())
    for label, loss in ((-1.0, 0.75), (1.0, 1.25)):
        found = objective(problem, np.array([0.25]), 0.0, labels=np.array([1.0, label]))
        assert found == pytest.approx(0.5 / 16.0 + 3.0 * 0.5 + 5.0 * loss, rel=1e-14)


@pytest.mark.parametrize(("labeled", "unlabeled"), PAIRS, ids=str)
def test_objective_in_a_gram_is_that_of_its_matrix(labeled, unlabeled):
    gram = random_spaces()[-1]
    problem = random_problem(gram, labeled, unlabeled)
    a, known = np.random.default_rng(2).standard_normal(gram.n), problem.is_labeled
    K = gram.whole
    f = K @ a + 0.2
    paid = np.where(known, losses.value(labeled, problem.signs * f), losses.value(unlabeled, f))
    expected = 0.5 * a @ K @ a + problem.cost @ paid
    assert objective(problem, a, 0.2) == pytest.approx(expected, rel=1e-12)
    assert objective_of_scores(problem, a @ K @ a, f, 0.2) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("intercept", [True, "regularised"])
@pytest.mark.parametrize("space", random_spaces(), ids=["dense", "sparse", "gram"])
@pytest.mark.parametrize(("labeled", "unlabeled"), [*PAIRS, (SquaredHinge(), None)], ids=str)
def test_gradient_away_from_kinks_against_differences(space, labeled, unlabeled, intercept):
    problem = random_problem(space, labeled, unlabeled, intercept)
    point = np.random.default_rng(3).standard_normal(coordinates(space) + 1)

    def at(both):
        return objective(problem, both[:-1], both[-1])

    steps = 1e-6 * np.eye(len(point))
    expected = [(at(point + step) - at(point - step)) / 2e-6 for step in steps]
    by_coef, by_b = gradient(problem, point[:-1], point[-1])
    np.testing.assert_allclose(np.r_[by_coef, by_b], expected, rtol=1e-6, atol=1e-6)


def test_gradient_by_an_absent_intercept_is_zero():
    problem = random_problem(random_spaces()[0], Squared(), None, intercept=False)
    assert gradient(problem, np.ones(3), 0.0)[1] == 0.0


def two_points(cost=10.0):
    """x = +-1 with their own sign: the widest margin is w = 1, b = 0, with multipliers +-1/2."""
    X = np.array([[1.0], [-1.0]])
    return Problem(Gram(Kernel("linear"), X), np.array([1.0, -1.0]), np.full(2, cost), Hinge())


def test_the_closed_form_solution_of_two_points_has_no_violation():
    problem, a = two_points(), np.array([0.5, -0.5])
    f = problem.space.scores(a, 0.0)
    np.testing.assert_allclose(f, [1.0, -1.0])
    assert violation(problem, a, f) == 0.0
    assert objective(problem, a, 0.0) == pytest.approx(0.5)


@pytest.mark.parametrize("off", [0.01, -0.3])
def test_violation_is_how_far_a_score_is_off(off):
    problem = two_points()
    assert violation(problem, np.array([0.5, -0.5]), np.array([1.0 + off, -1.0])) == pytest.approx(abs(off))
    assert violation(problem, np.array([0.5, -0.5]), np.array([1.0, -1.0 + off])) == pytest.approx(abs(off))


def test_violation_grows_when_multipliers_reach_a_bound_too_early():
    problem = two_points(cost=0.1)
    a = np.array([0.1, -0.1])  # at the cost: margins of 1 or less are right
    assert violation(problem, a, problem.space.scores(a, 0.0)) == 0.0
    assert violation(problem, np.zeros(2), np.zeros(2)) == 1.0


def test_violation_counts_unlabeled_rows_but_not_rows_without_cost():
    signs, f = np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.4, 0.1])
    problem = Problem(None, signs, np.ones(3), Hinge(), SymmetricRamp(-0.3))
    assert violation(problem, np.array([0.5, 0.0, 0.0]), f) == pytest.approx(0.1)  # 0.4 to the flat part
    assert violation(problem, np.array([0.5, 1.0, 0.0]), f) == 0.0
    free = problem._replace(cost=np.array([1.0, 0.0, 1.0]))
    assert violation(free, np.array([0.5, 0.0, 0.0]), f) == 0.0


def test_shares_are_those_of_unlabeled_rows_and_sum_to_one():
    problem = Problem(None, np.array([1.0, 0.0, -1.0, 0.0]), np.ones(4), Hinge())
    np.testing.assert_allclose(problem.shares(), [0.0, 0.5, 0.0, 0.5])
    weighted = problem._replace(weights=np.array([9.0, 1.0, 9.0, 3.0]))
    np.testing.assert_allclose(weighted.shares(), [0.0, 0.25, 0.0, 0.75])
    none = problem._replace(signs=np.array([1.0, 1.0, -1.0, 1.0]))
    np.testing.assert_array_equal(none.shares(), np.zeros(4))


@pytest.mark.parametrize(
    ("balance", "expected"),
    [
        (Free(), 0.0),
        (Mean(0.5), 0.75),  # weighted mean of f is 1/4 * 2 - 3/4 * 1 = -1/4
        (Mean(-0.25), 0.0),
        (Count(0.25), 0.0),  # the positive row weighs 1/4
        (Count(0.5), 0.25),
        (Count(0.5, slack=0.1), 0.15),
        (Count(0.0, slack=0.2), 0.05),
        (Count(0.5, slack=0.3), 0.0),
    ],
    ids=str,
)
def test_imbalance_of_the_unlabeled_rows(balance, expected):
    signs, f, labels = np.array([1.0, 0.0, 0.0]), np.array([7.0, 2.0, -1.0]), np.array([1.0, 1.0, -1.0])
    problem = Problem(None, signs, np.ones(3), Hinge(), balance=balance, weights=np.array([5.0, 1.0, 3.0]))
    assert imbalance(problem, f, labels) == pytest.approx(expected)
    assert residual(balance, f[1:], labels[1:], np.array([0.25, 0.75])) == pytest.approx(expected)
