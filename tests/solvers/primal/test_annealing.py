"""Deterministic annealing: soft labels against general minimizers, and every promise of the method at every solve."""

import itertools

import numpy as np
import pytest
from scipy.special import logit

from factories import INTERCEPTS, dense_samples, primal_problem
from references import squared_hinge_violation
from semisvm.balance import Count, Free, labels_by_sign
from semisvm.problem import objective
from semisvm.solvers import Annealing
from semisvm.solvers.primal.newton import HingeCosts
from semisvm.solvers.primal.soft_labels import divergence, entropy, soft_labels

# ---------------------------------------------------------------- soft labels


@pytest.mark.parametrize("temperature", [10.0, 1.0, 1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3, 1e7])
def test_soft_labels_have_the_given_mean_and_one_multiplier(temperature, size):
    for seed in range(15):
        rng = np.random.default_rng(seed)
        g = size * rng.standard_normal(int(rng.integers(1, 14)))
        if seed % 3 == 0:
            g = np.r_[g, -g, g[:1], 0.0]
        weights = np.ones(len(g)) if seed % 2 else rng.uniform(0.2, 3.0, len(g))
        share = 0.5 if seed % 5 == 0 else rng.uniform(0.02, 0.98)
        p = soft_labels(g, temperature, share, weights).p
        assert ((p >= 0) & (p <= 1)).all()
        assert weights @ p / weights.sum() == pytest.approx(share, abs=1e-9)
        assert (np.diff(p[np.argsort(g)]) <= 1e-12).all()
        inside = (p > 1e-6) & (p < 1 - 1e-6)
        multiplier = g[inside] + temperature * logit(p[inside])  # equal at all samples: the minimum, as it is convex
        if inside.any():
            assert np.ptp(multiplier) <= 1e-8 * temperature + 1e-15 * np.abs(g).max()
            nu = multiplier.mean()
            assert (g[p <= 1e-6] >= nu + 10 * temperature).all()
            assert (g[p >= 1 - 1e-6] <= nu - 10 * temperature).all()


def test_soft_labels_at_the_limits():
    g, weights = np.array([3.0, -1.0, 0.5]), np.array([1.0, 2.0, 0.5])
    np.testing.assert_allclose(soft_labels(g, 0.7, None, weights).p, 1.0 / (1.0 + np.exp(g / 0.7)), rtol=1e-13)
    np.testing.assert_array_equal(soft_labels(g, 0.7, 0.0, weights).p, np.zeros(3))
    np.testing.assert_array_equal(soft_labels(g, 0.7, 1.0, weights).p, np.ones(3))
    for equal in (0.0, 2.5, -1e9):
        np.testing.assert_allclose(soft_labels(np.full(3, equal), 1e-5, 0.3, weights).p, 0.3, rtol=1e-9)
    np.testing.assert_allclose(soft_labels(np.array([4.0]), 0.1, 0.3, np.ones(1)).p, 0.3, rtol=1e-9)
    np.testing.assert_allclose(soft_labels(np.array([1e12, -1e12]), 1e-5, 0.1, np.ones(2)).p, [0.0, 0.2], atol=1e-9)
    cold = soft_labels(np.arange(10.0), 1e-5, 0.4, np.ones(10)).p
    np.testing.assert_allclose(cold, np.arange(10) < 4, atol=1e-9)


def test_divergence_and_entropy_are_their_formulas():
    rng = np.random.default_rng(6)
    p, q, weights = rng.uniform(0.01, 0.99, 7), rng.uniform(0.01, 0.99, 7), rng.uniform(0.2, 2.0, 7)
    kullback_leibler = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
    bits = -p * np.log2(p) - (1 - p) * np.log2(1 - p)
    assert divergence(p, q, weights) == pytest.approx(weights @ kullback_leibler / weights.sum(), rel=1e-12)
    assert divergence(p, p, weights) == pytest.approx(0.0, abs=1e-15)
    assert entropy(p, weights) == pytest.approx(weights @ bits / weights.sum(), rel=1e-12)
    assert entropy(np.full(3, 0.5), np.ones(3)) == pytest.approx(1.0)
    certain = np.array([0.0, 1.0, 1.0])
    assert entropy(certain, np.ones(3)) == 0.0
    assert divergence(certain, certain, np.ones(3)) == pytest.approx(0.0, abs=1e-14)
    assert 1.0 < divergence(certain, 1.0 - certain, np.ones(3)) < np.inf


# ---------------------------------------------------------------- the search


def labels_at(solve):
    """The labels that belong to the scores of a solve."""
    problem, labels = solve.problem, solve.problem.signs.copy()
    weights = problem.weights_of(problem.searched)
    labels[problem.searched] = labels_by_sign(solve.f[problem.searched], weights, problem.balance)
    return labels


def soft_labels_at(solve, temperature):
    problem, f = solve.problem, solve.f[solve.problem.searched]
    g = np.maximum(1.0 - f, 0.0) ** 2 - np.maximum(1.0 + f, 0.0) ** 2
    share = problem.balance.r if isinstance(problem.balance, Count) else None
    return soft_labels(g, temperature, share, problem.weights_of(problem.searched)).p


def free_energy(solve, costs, temperature):
    searched = solve.problem.searched
    cost, p = solve.problem.cost[searched], costs.positive[searched] / solve.problem.cost[searched]
    return solve.value(costs) - temperature * cost.sum() * entropy(p, cost) * np.log(2.0)


def soft_costs(solve, p):
    """The costs of a solve with other soft labels."""
    searched, costs = solve.problem.searched, HingeCosts(*(cost.copy() for cost in solve.costs))
    costs.positive[searched], costs.negative[searched] = (solve.problem.cost[searched] * q for q in (p, 1.0 - p))
    return costs


@pytest.mark.parametrize("balance", [Count(0.4), Count(0.31), Count(0.0), Count(1.0), Free()], ids=str)
def test_probabilities_keep_their_mean_while_the_temperature_decreases(balance, record_search):
    share = getattr(balance, "r", None)
    for seed in range(2):
        options = {"weighted": seed == 0, "C_unlabeled": (0.2, 2.0)[seed], "balance": balance}
        problem = primal_problem(seed, 25, n_labeled=5, **options)
        searched = problem.searched
        weights, cost = problem.weights_of(searched), problem.cost[searched]
        solution, solves = record_search(Annealing(), problem)
        soft, (fixed, polished) = solves[:-2], solves[-2:]
        assert solution.status == "converged"
        assert soft[0].level == 10.0
        certain = weights.max() / weights.sum() + 1e-6  # the share may leave one sample between the labels
        np.testing.assert_allclose(soft[0].costs.positive[searched], cost * (0.5 if share is None else share))
        for now, then in itertools.pairwise(soft):
            p = soft_labels_at(now, now.level)
            assert share is None or weights @ p / weights.sum() == pytest.approx(share, abs=1e-9)
            rounding = 4.0 * np.finfo(float).eps * cost.max()  # of 1 - p; nu is found from another first guess
            np.testing.assert_allclose(then.costs.positive[searched], cost * p, rtol=1e-12, atol=rounding)
            np.testing.assert_allclose(then.costs.negative[searched], cost * (1.0 - p), rtol=1e-12, atol=rounding)
            unchanged = divergence(p, now.costs.positive[searched] / cost, weights) <= 1e-6
            assert then.level == pytest.approx(now.level / 1.5 if unchanged else now.level)
            assert not unchanged or entropy(p, weights) > certain  # certain labels end the search
            if (
                not unchanged
            ):  # at one temperature neither labels nor solves, nor moves beyond, increase the free energy
                before, between = (free_energy(now, costs, now.level) for costs in (now.costs, then.costs))
                after = free_energy(then, soft_costs(then, soft_labels_at(then, now.level)), now.level)
                assert between <= before + 1e-9 * abs(before)
                assert after <= between + 1e-9 * abs(between)
        last = soft_labels_at(soft[-1], soft[-1].level)
        assert entropy(last, weights) <= certain or soft[-1].level / 1.5 < 10.0 / 1.5**30 * (1 + 1e-9)
        best = labels_at(min(soft, key=lambda solve: solve.value_at(labels_at(solve))))
        np.testing.assert_array_equal(solution.labels, best)
        for costs in (fixed.costs, polished.costs):
            np.testing.assert_array_equal(costs.positive, problem.cost * (best == 1.0))
            np.testing.assert_array_equal(costs.negative, problem.cost * (best == -1.0))
        assert fixed.level == polished.level == 0.0


def test_best_labels_on_the_way_are_kept(record_search):
    problem = primal_problem(75, 28, n_labeled=2, balance=Count(0.3), C_unlabeled=0.05)
    _, solves = record_search(Annealing(), problem)
    soft, hard = ([solve for solve in solves if (solve.level > 0.0) == is_soft] for is_soft in (True, False))
    best = min(soft, key=lambda solve: solve.value_at(labels_at(solve)))
    assert best.value_at(labels_at(best)) < soft[-1].value_at(labels_at(soft[-1]))
    assert (labels_at(soft[-1]) != labels_at(best)).any()  # those of the last soft labels are not the best
    np.testing.assert_array_equal(hard[0].costs.positive, problem.cost * (labels_at(best) == 1.0))


def test_search_that_is_stopped_returns_the_best_point_and_not_the_last():
    problem = primal_problem(1, 28, n_labeled=2, balance=Count(0.3), C_unlabeled=0.05)
    path = [row["objective"] for row in Annealing().solve(problem).trace]
    assert path[30] > min(path[:30]) * (1 + 1e-6)
    solution = Annealing().solve(problem, callback=lambda row: row["step"] == 30)
    assert solution.status == "stopped"
    assert solution.objective == pytest.approx(min(path[:31]), rel=1e-9)


@pytest.mark.parametrize("r", [0.0, 0.31, 0.5, 1.0])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_labels_have_the_given_share_and_the_objective_is_that_of_the_problem(r, intercept):
    problem = primal_problem(1, 28, n_labeled=5, balance=Count(r), intercept=intercept)
    solution = Annealing().solve(problem)
    point = (solution.coef, solution.intercept)
    assert abs((solution.labels[problem.searched] > 0).sum() - r * 28) <= 0.5
    assert solution.objective == pytest.approx(objective(problem, *point), rel=1e-12)
    assert solution.objective <= objective(problem, *point, solution.labels) + 1e-12
    temperatures = [row["level"] for row in solution.trace]
    assert temperatures == sorted(temperatures, reverse=True)
    assert temperatures[-1] == 0.0
    positive, negative = (problem.cost * (solution.labels == side) for side in (1.0, -1.0))
    assert squared_hinge_violation(dense_samples(problem), positive, negative, *point, intercept) < 1e-9
