"""The compiled search and its dives, without the heuristics around them, against all labels."""

import numpy as np
import pytest

from factories import FREE, INTERCEPTS, search_problem
from references import keeps_balance, label_vectors, svm_values
from semisvm.balance import Count, positive_band
from semisvm.solvers.exact import active_set
from semisvm.solvers.exact.tree import MARGIN_TOL, dive, explore, new_tree

BALANCES = [FREE, Count(0.5), Count(0.3, 0.1), Count(0.0), Count(1.0), Count(0.6, 0.2)]


def root_of(problem):
    """Tableau and tree at the root, and the costs of the searched samples."""
    searched = problem.searched
    samples = np.r_[np.flatnonzero(problem.signs), searched]
    K = np.asarray(problem.space.compute())[np.ix_(samples, samples)] + 1.0 * (problem.intercept == "regularized")
    M = K + np.diag(0.5 / problem.cost[samples])
    tableau = active_set.new_tableau(M, problem.signs[samples], problem.intercept is True)
    weights = problem.weights_of(searched)
    positions = np.arange(len(samples) - len(searched), len(samples))
    tree = new_tree(positions, weights, positive_band(problem.balance, weights), 1e-6)
    tree.node_bound[0] = active_set.solve(tableau, MARGIN_TOL, np.inf)
    return tableau, tree, problem.cost[searched]


def incumbent_of(problem, tree):
    """The labels of the incumbent, one per sample of the problem."""
    y = problem.signs.copy()
    y[problem.searched] = tree.incumbent_y
    return y[None]


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("balance", BALANCES, ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_search_goes_from_the_worst_labels_to_the_best(intercept, balance, weighted):
    """The smallest bound of the nodes that are left is below all labels, the incumbent decreases to the best."""
    if weighted and isinstance(balance, Count):
        balance = Count(balance.r, max(balance.slack, 0.15))
    for seed in range(2):
        problem = search_problem(seed, 7, balance=balance, intercept=intercept, weighted=weighted)
        Y = label_vectors(problem)
        values = svm_values(problem, Y)
        tableau, tree, cost = root_of(problem)
        tree.incumbent[0], tree.incumbent_y[:] = values.max() * 1.01, Y[values.argmax(), problem.searched]
        last = np.inf
        for _ in range(2 ** (7 + 1)):
            depth = tree.depth[0]
            pending = tree.pending_bound[:depth][tree.is_pending[:depth]]
            assert min(tree.node_bound[0], pending.min(initial=np.inf)) <= values.min() * (1.0 + 1e-9)
            assert values.min() * (1.0 - 1e-9) <= tree.incumbent[0] <= last
            last = tree.incumbent[0]
            if explore(tableau, tree, cost, 1):
                break
        else:
            pytest.fail("more nodes than a tree of 7 levels has")
        assert keeps_balance(problem, incumbent_of(problem, tree)).all()
        best_found = svm_values(problem, incumbent_of(problem, tree))[0]
        assert best_found == pytest.approx(values.min(), rel=1e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("balance", [FREE, Count(0.4), Count(0.5, 0.2)], ids=str)
def test_dive_finds_labels_and_leaves_the_tableau_as_it_was(intercept, balance):
    for seed in range(3):
        problem = search_problem(seed, 12, balance=balance, intercept=intercept, separation=0.3)
        tableau, tree, cost = root_of(problem)
        y = tableau.y.copy()
        dive(tableau, tree, cost, np.ones(12))
        np.testing.assert_array_equal(tableau.y, y)
        assert not tableau.in_support[tree.samples].any()
        fresh, _, _ = root_of(problem)
        value = active_set.solve(fresh, MARGIN_TOL, np.inf)
        assert active_set.solve(tableau, MARGIN_TOL, np.inf) == pytest.approx(value, rel=1e-9)
        fresh.in_support[:] = tableau.in_support
        active_set.rebuild(fresh)
        np.testing.assert_allclose(tableau.S, fresh.S, atol=1e-8 * np.abs(fresh.S).max())
        np.testing.assert_allclose(tableau.g, fresh.g, atol=1e-8)
        found = incumbent_of(problem, tree)
        assert svm_values(problem, found)[0] * (1.0 - 1e-8) <= tree.incumbent[0] < np.inf
        assert keeps_balance(problem, found).all()


@pytest.mark.parametrize("balance", [FREE, Count(0.3), Count(0.6, 0.2)], ids=str)
def test_first_incumbent_is_the_best_rounding_of_the_root(balance):
    """With costs that are equal no labels within the balance have a smaller objective at the f of the root."""
    for seed in range(4):
        problem = search_problem(seed, 7, balance=balance, cost_spread=0.0)
        tableau, tree, cost = root_of(problem)
        f, bound = tableau.g[tree.samples].copy(), tree.node_bound[0]
        explore(tableau, tree, cost, 1)
        labels = label_vectors(problem)[:, problem.searched]
        assert tree.incumbent[0] == pytest.approx((bound + np.maximum(1.0 - labels * f, 0.0) ** 2 @ cost).min())


def test_factors_of_the_certainty_lead_dives_to_different_labels():
    problem = search_problem(1, 6)
    found = set()
    for sample in range(6):
        tableau, tree, cost = root_of(problem)
        dive(tableau, tree, cost, np.where(np.arange(6) == sample, 1e6, 1.0))
        found.add(round(tree.incumbent[0], 9))
    assert len(found) > 1
