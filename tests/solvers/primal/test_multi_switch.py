"""Multiple switching: every promise of the method at every solve, and the labels at the end."""

import itertools

import numpy as np
import pytest

from factories import dense_samples, primal_problem, with_balance
from references import label_vectors, squared_hinge_violation
from semisvm.balance import Count, Free, labels_in_band, positive_band
from semisvm.problem import balance_residual, objective
from semisvm.solvers import MultiSwitch
from semisvm.solvers.primal import multi_switch

BALANCES = [Count(0.4), Count(0.31), Count(0.3, 0.1), Free()]
every_balance = pytest.mark.parametrize("balance", BALANCES, ids=str)


def possible_gain_by_a_swap(problem, f, y):
    """By how much the losses decrease if a positive and a negative searched sample swap their labels."""
    f, y, cost = f[problem.searched], y[problem.searched], problem.cost[problem.searched]
    gain = cost * (np.maximum(1.0 - y * f, 0.0) ** 2 - np.maximum(1.0 + y * f, 0.0) ** 2)
    return gain[y > 0].max(initial=-np.inf) + gain[y < 0].max(initial=-np.inf)


def n_positive(problem, labels):
    return int((labels[problem.searched] > 0).sum())


def check_solves(problem, max_switches, solution, solves):
    """What the method promises at every solve; returns the largest number of labels that changed between two."""
    searched, negligible = problem.searched, 1e-9 * (1.0 + problem.cost.max())
    low, high = positive_band(problem.balance, np.ones(len(searched)))
    assert solution.status == "converged"
    assert solves[0].level == 0.0
    assert solves[-1].level == 1.0
    n_changed = [0]
    labels = solves[0].labels
    for now, then in itertools.pairwise(solves[1:]):
        side = labels[searched] > 0  # the whole cost of a sample is on the side of its label
        np.testing.assert_allclose(now.costs.positive[searched], now.level * problem.cost[searched] * side)
        np.testing.assert_allclose(now.costs.negative[searched], now.level * problem.cost[searched] * ~side)
        known = problem.is_labeled
        np.testing.assert_array_equal(now.costs.positive[known], (problem.cost * (problem.signs > 0))[known])
        changed = np.flatnonzero(now.labels != labels)
        assert low <= n_positive(problem, now.labels) <= high
        if then.level == now.level:
            assert then.value(then.costs) <= now.value(now.costs) * (1 + 1e-12)
        if len(changed):
            assert then.level == now.level
            assert now.value(then.costs) < now.value(now.costs)
            check_farthest(problem, max_switches, now.f, labels, changed)
        else:  # a level is left when no swap is a gain
            assert possible_gain_by_a_swap(problem, now.f, now.labels) <= negligible
            assert then.level == pytest.approx(min(2.0 * now.level, 1.0))
        n_changed.append(len(changed))
        labels = now.labels
    assert possible_gain_by_a_swap(problem, solution.scores, solution.labels) <= negligible
    return max(n_changed)


def check_farthest(problem, max_switches, f, labels, changed):
    """On each side the samples that change are those that are farthest on the other one, at most ``max_switches``."""
    searched = problem.searched
    wanted = labels.copy()
    wanted[searched] = labels_in_band(f[searched], np.ones(len(searched)), problem.balance)
    for side in (1.0, -1.0):
        candidates = np.flatnonzero((wanted == side) & (labels != side))
        chosen = np.intersect1d(changed, candidates)
        assert len(chosen) == min(len(candidates), max_switches)
        left = np.setdiff1d(candidates, chosen)
        assert (side * f[chosen]).min(initial=np.inf) >= (side * f[left]).max(initial=-np.inf)


@pytest.mark.parametrize("max_switches", [1, 10_000])
@every_balance
def test_objective_of_a_level_never_increases_and_the_number_of_positive_samples_stays(
    balance, max_switches, record_search
):
    n_changed = 0
    for seed in range(5):
        costs = {"C": 10.0 ** (seed % 3 - 1), "C_unlabeled": 10.0 ** (seed % 4 - 2)}
        problem = primal_problem(seed, 25, n_labeled=5, balance=balance, **costs)
        solution, solves = record_search(MultiSwitch(max_switches=max_switches), problem)
        n_changed = max(n_changed, check_solves(problem, max_switches, solution, solves))
        first = labels_in_band(solves[0].f[problem.searched], np.ones(25), balance)
        np.testing.assert_array_equal(
            solves[0].labels[problem.searched], first
        )  # by the scores of the supervised model
        assert [solve.level for solve in solves[:2]] == [0.0, 0.03]
        assert {(solve.tol, solve.reduction) for solve in solves if 0.0 < solve.level < 1.0} == {(1e-3, 0.5)}  # loose
        if balance == Count(0.4):
            assert {n_positive(problem, solve.labels) for solve in solves} == {10}
        value = objective(problem, solution.coef, solution.intercept, solution.labels)
        assert solution.objective == pytest.approx(value, rel=1e-12)
        if balance == Free():
            np.testing.assert_array_equal(solution.labels[problem.searched] > 0, solution.scores[problem.searched] > 0)
    assert n_changed > 0


@pytest.mark.parametrize("max_switches", [1, 3, 10_000])
@every_balance
def test_many_labels_change_where_the_first_ones_are_bad(balance, max_switches, record_search, monkeypatch):
    n_changed, original = 0, labels_in_band

    def random_first_labels(f, weights, balance):
        """Labels drawn at random at the first call."""
        drawn = np.random.default_rng(0).standard_normal(len(f)) if not calls else f
        calls.append(1)
        return original(drawn, weights, balance)

    monkeypatch.setattr(multi_switch, "FIRST_LEVEL", 1.0)  # at the full cost from the start
    for seed in range(4):
        calls = []
        problem = primal_problem(seed, 32, n_labeled=8, balance=balance)
        monkeypatch.setattr(multi_switch, "labels_in_band", random_first_labels)
        solution, solves = record_search(MultiSwitch(max_switches=max_switches), problem)
        n_changed = max(n_changed, check_solves(problem, max_switches, solution, solves))
    assert n_changed == 2 * max_switches or (max_switches > 3 and n_changed > 8)


@pytest.mark.parametrize("tol", [0.9, 0.5, 0.2])
def test_last_swaps_are_looked_for_at_an_exact_solution(tol):
    for seed in (1, 3, 15, 20):  # where a swap would be left at a solution of accuracy tol
        problem = primal_problem(seed, 35, n_labeled=5, balance=Count(0.4))
        solution = MultiSwitch(tol).solve(problem)
        assert possible_gain_by_a_swap(problem, solution.scores, solution.labels) <= 1e-9


def test_objective_of_a_level_never_increases_with_weights_and_the_balance_stays(record_search):
    for seed in range(8):
        slack = 0.1 * (seed % 2)
        problem = primal_problem(seed, 25, n_labeled=5, balance=Count((0.4, 0.3, 0.7)[seed % 3], slack), weighted=True)
        _, solves = record_search(MultiSwitch(), problem)
        nearest = 0.0 if slack else 0.5 * problem.mean_weights.max()  # the weights may not sum to the share
        for now, then in itertools.pairwise(solves):
            assert balance_residual(problem, now.f, now.labels) <= nearest + 1e-9
            if then.level == now.level:
                assert then.value(then.costs) <= now.value(now.costs) * (1 + 1e-12)


@pytest.mark.parametrize("max_switches", [1, 10_000])
@pytest.mark.parametrize("balance", [Count(0.5), Count(0.37), Count(0.4, 0.15), Free()], ids=str)
def test_no_labels_that_keep_the_balance_cost_less_at_the_end(balance, max_switches):
    for seed in range(4):
        problem = primal_problem(seed, 9, n_labeled=5, balance=balance, C_unlabeled=10.0 ** (seed % 3 - 1))
        solution, allowed = MultiSwitch(max_switches=max_switches).solve(problem), label_vectors(problem)
        losses = np.maximum(1.0 - np.vstack([solution.labels, allowed]) * solution.scores, 0.0) ** 2 @ problem.cost
        assert (solution.labels == allowed).all(axis=1).any()
        assert losses[0] <= losses.min() + 1e-9
        positive, negative = (problem.cost * (solution.labels == side) for side in (1.0, -1.0))
        point = (solution.coef, solution.intercept)
        assert squared_hinge_violation(dense_samples(problem), positive, negative, *point) < 1e-9  # f is best for them
        assert solution.certificate.kind == "stationary"
        assert solution.certificate.value < 1e-6


def test_slack_is_used_where_it_pays():
    clusters = primal_problem(3, 10, n_labeled=2, n_features=2, separation=2.0)  # far apart
    truth = np.where(dense_samples(clusters).sum(axis=1) > 0, 1.0, -1.0)
    n_true = n_positive(clusters, truth)
    assert 3 <= n_true <= 7
    for r, slack in [(0.0, 0.3), (0.3, 0.1), (0.3, 0.0), (0.8, 0.1), (1.0, 0.8), (0.0, 0.8)]:
        solution = MultiSwitch().solve(with_balance(clusters, Count(r, slack)))
        nearest = np.clip(n_true, round(10 * (r - slack)), round(10 * (r + slack)))
        assert n_positive(clusters, solution.labels) == nearest
    np.testing.assert_array_equal(solution.labels, truth)
