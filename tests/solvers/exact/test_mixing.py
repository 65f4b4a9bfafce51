"""The relaxation at one value of the dual variable of the balance: its sweeps, its value and its bound at any point."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from factories import FREE, hinge_search_problem, with_balance
from references import relaxation_optimum, smallest_objective
from semisvm.balance import Count
from semisvm.solvers.base import StoppingRule
from semisvm.solvers.dual import solve_supervised
from semisvm.solvers.exact import mixing
from semisvm.solvers.exact.mixing import Relaxation

BALANCES = [FREE, Count(0.5), Count(0.9), Count(0.3, 0.15)]
INTERCEPTS = ["regularized", False]


def relaxation_of(problem, seed=0):
    return Relaxation(problem, solve_supervised(problem, 1e-6, None), np.random.default_rng(seed))


def add_noise(relaxed, size, rng):
    """Turn the vectors of the unlabeled samples by random parts of this size."""
    V = relaxed.V[relaxed.n_labeled :]
    V += size * rng.normal(size=V.shape)
    V /= np.linalg.norm(V, axis=1, keepdims=True)


def test_best_multiplier_maximizes_over_its_interval():
    """a - ||a S + shift e|| - diagonal a^2/2, against a bounded scalar search."""
    rng = np.random.default_rng(0)
    for number in range(200):
        S = rng.normal(size=4) * 10.0 ** rng.uniform(-2, 1)
        shift = 0.0 if number % 4 == 0 else rng.normal() * 10.0 ** rng.uniform(-2, 1)
        diagonal, cost = 10.0 ** rng.uniform(-2, 1), 10.0 ** rng.uniform(-2, 2)

        def value(a, S=S, shift=shift, diagonal=diagonal):
            return a - np.linalg.norm(a * S + shift * np.eye(4)[0]) - 0.5 * diagonal * a * a

        found = mixing.best_multiplier(S @ S, S[0], shift, diagonal, cost)
        best = minimize_scalar(lambda a: -value(a), bounds=(0.0, cost), method="bounded", options={"xatol": 1e-12})
        others = (best.x, 0.0, cost)
        assert 0.0 <= found <= cost
        assert value(found) >= max(map(value, others)) - 1e-9 * max(1.0, abs(shift))
        assert min(abs(found - a) for a in others) <= 2e-5 * max(1.0, cost)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("balance_dual", [0.0, 0.7, -0.4])
def test_sweeps_keep_constraints_and_scores_and_converge(intercept, balance_dual):
    for seed in range(2):
        relaxed = relaxation_of(hinge_search_problem(seed, 9, Count(0.5), intercept, weighted=seed == 1))
        K, V, F, a = relaxed.K, relaxed.V, relaxed.F, relaxed.a
        labeled, steps = V[: relaxed.n_labeled].copy(), []
        for _ in range(30):
            before = a[:, None] * V
            steps.append(mixing.sweep(K, relaxed.cost, relaxed.signs, balance_dual * relaxed.weights, a, V, F))
            assert steps[-1] == pytest.approx(np.linalg.norm(a[:, None] * V - before, axis=1).max(), abs=1e-9)
            np.testing.assert_allclose(F, K @ (a[:, None] * V), atol=1e-8)
            np.testing.assert_allclose(np.linalg.norm(V, axis=1), 1.0, atol=1e-12)
            np.testing.assert_array_equal(V[: relaxed.n_labeled], labeled)
            assert (a >= 0.0).all()
            assert (a <= relaxed.cost).all()
        assert steps[-1] < 0.3 * steps[0]


def test_relaxed_problem_has_labeled_samples_first_and_sums_of_labels():
    problem = hinge_search_problem(0, 8, Count(0.25))
    relaxed = relaxation_of(problem)
    signs = problem.signs[relaxed.samples]
    assert (signs[: relaxed.n_labeled] != 0.0).all()
    assert (signs[relaxed.n_labeled :] == 0.0).all()
    np.testing.assert_array_equal(np.sort(relaxed.samples[relaxed.n_labeled :]), problem.searched)
    K = np.asarray(problem.space.compute())[np.ix_(relaxed.samples, relaxed.samples)]
    np.testing.assert_allclose(relaxed.K, K + 1.0)
    np.testing.assert_allclose(relaxation_of(replace(problem, intercept=False)).K, K)
    for balance, sums in ((Count(0.25), [-4.0, -4.0]), (FREE, [-8.0, 8.0]), (Count(0.5, 0.25), [-4.0, 4.0])):
        np.testing.assert_allclose(relaxation_of(with_balance(problem, balance)).label_sums, sums, atol=1e-7)


def test_balance_excess_is_the_distance_of_the_sum_of_labels_from_what_is_allowed():
    """Two of eight samples are positive, a sum of -4; without a dual variable samples of a = 0 may turn."""
    relaxed = relaxation_of(hinge_search_problem(0, 8, Count(0.25)))
    V, F, a = relaxed.V[relaxed.n_labeled :], relaxed.F[relaxed.n_labeled :], relaxed.a
    V[:], a[:] = 0.0, 0.5 * relaxed.cost
    for n_positive, excess in ((2, 0.0), (5, 6.0), (0, -4.0)):
        V[:, 0] = np.where(np.arange(8) < n_positive, 1.0, -1.0)
        assert relaxed.balance_excess() == pytest.approx(excess, abs=1e-6)
        assert relaxed.balance_is_met(1e-3) == (excess == 0.0)
    V[:, 0] = 1.0
    a[relaxed.n_labeled :][:5] = 0.0
    F[:5] = 0.0
    F[:5, 1] = 1e9  # large margins: five samples may point anywhere, and 3 - 5 is 2 above -4
    assert relaxed.balance_excess() == pytest.approx(2.0, abs=1e-6)
    F[:5, 1], F[:5, 0] = 0.0, 2.0  # v'F >= 1 allows 60 degrees: 3 + 5/2 + 4
    assert relaxed.balance_excess() == pytest.approx(9.5, abs=1e-6)
    relaxed.balance_dual = -0.1
    assert relaxed.balance_excess() == pytest.approx(12.0, abs=1e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("balance", BALANCES, ids=str)
def test_bound_is_below_all_labels_at_any_point(intercept, balance):
    """Whatever multipliers, vectors and dual variable are: at random points, and near the optimum."""
    n_tight = 0
    for seed in range(3):
        problem = hinge_search_problem(seed, 7, balance, intercept, weighted=seed == 2 and balance == FREE)
        smallest, relaxed, rng = smallest_objective(problem), relaxation_of(problem, seed), np.random.default_rng(seed)
        for _ in range(15):
            relaxed.balance_dual = rng.choice([0.0, 0.1, 1.0, 10.0]) * rng.normal()
            relaxed.a[:] = relaxed.cost * rng.random(len(relaxed.a)) ** rng.choice([0.2, 1.0, 5.0])
            add_noise(relaxed, 1.0, rng)
            assert relaxed.bound() <= smallest * (1.0 + 1e-6)
        relaxed.balance_dual = 0.0
        relaxed._update_F()
        relaxed.minimize(1e-4, 200, StoppingRule())
        n_tight += relaxed.bound() > 0.7 * smallest
        a, V = relaxed.a.copy(), relaxed.V.copy()
        for _ in range(15):
            size = 10.0 ** rng.uniform(-4, -1)
            relaxed.balance_dual = size * rng.choice([0.0, 0.1, 1.0, 10.0]) * rng.normal()
            relaxed.a[:], relaxed.V[:] = np.clip(a + size * rng.normal(size=len(a)), 0.0, relaxed.cost), V
            add_noise(relaxed, 10.0 ** rng.uniform(-3, -1), rng)
            assert relaxed.bound() <= smallest * (1.0 + 1e-6)
    assert n_tight or isinstance(balance, Count)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_value_and_bound_approach_the_optimum_from_both_sides(intercept):
    for seed in range(2):
        problem = hinge_search_problem(seed, 9, intercept=intercept)
        optimum, relaxed, gaps = relaxation_optimum(problem), relaxation_of(problem), []
        for max_sweeps in (1, 10, 100, 1000):
            stop = StoppingRule()
            relaxed.minimize(1e-6, max_sweeps, stop)
            value, bound = stop.trace[-1]["objective"], max(row["bound"] for row in stop.trace)
            assert value == relaxed.value()
            assert bound >= max(relaxed.bound(), relaxed.labeled_bound)
            assert bound <= optimum * (1.0 + 1e-5)
            assert value >= optimum * (1.0 - 1e-5)
            gaps.append(value - bound)
        assert gaps[1] < 0.7 * gaps[0]
        assert gaps[-1] <= gaps[2] <= gaps[1]
        assert gaps[-1] < 1e-3 * optimum


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_value_and_bound_meet_at_a_dual_variable_of_the_balance(side):
    """The bound at a balance that binds is above that without a dual variable, and still below all labels."""
    for seed in (1, 2, 3):
        problem = hinge_search_problem(seed, 8, Count(0.5 + 0.4 * side))
        problem = replace(problem, signs=side * problem.signs)
        relaxed = relaxation_of(problem)
        relaxed.minimize(1e-4, 500, StoppingRule())
        without = relaxed.bound()
        relaxed.balance_dual = 0.5 * side
        relaxed.minimize(1e-4, 500, StoppingRule())
        assert relaxed.value() == pytest.approx(relaxed.bound(), rel=1e-4)
        assert without < relaxed.bound() <= smallest_objective(problem) * (1.0 + 1e-6)


def test_costs_whose_squares_overflow_are_refused():
    problem = hinge_search_problem(C=1e300)
    with pytest.raises(ValueError, match="too large for the semidefinite relaxation"):
        Relaxation(problem, solve_supervised(problem, 1e-3, None, None), np.random.default_rng(0))
