"""The pivoted tableau against its definition, and the SVMs that it is used for against an interior-point method."""

import numpy as np
import pytest

from factories import random_problem
from references import kernel_squared_hinge_value
from semisvm.solvers.exact import active_set

MARGIN_TOL = 1e-9
with_and_without_intercept = pytest.mark.parametrize("free_intercept", [False, True])


def random_tableau(seed, free_intercept, n=14, n_unlabeled=4, C=3.0, gamma=0.3):
    """A tableau of samples of which some have no label, the kernel and the costs it was made of."""
    costs = {"C": C, "C_unlabeled": C, "cost_spread": 0.9}
    sizes = {"n_unlabeled": n_unlabeled, "n_labeled": n - n_unlabeled, "n_features": 3}
    problem = random_problem(seed, losses="squared_hinge", gamma=gamma, **sizes, **costs)
    K = np.asarray(problem.space.compute())
    return active_set.new_tableau(K + np.diag(0.5 / problem.cost), problem.signs, free_intercept), K, problem.cost


def other_samples(tableau):
    return np.setdiff1d(np.arange(tableau.n_samples[0]), tableau.anchors)


def set_support(tableau, in_support):
    tableau.in_support[: len(in_support)] = in_support
    active_set.rebuild(tableau)


def random_support(tableau, rng):
    """A support set of samples with labels, both anchors among them."""
    n = tableau.n_samples[0]
    in_support = (tableau.y[:n] != 0.0) & (rng.random(n) < 0.5)
    in_support[tableau.anchors] = True
    return in_support


def tableau_by_definition(tableau):
    """S and g of the present support set, by an inverse."""
    M, n = tableau.M, int(tableau.n_samples[0])
    A = np.flatnonzero(np.r_[tableau.in_support[:n], np.ones(len(M) - n, dtype=bool)])
    outside = np.setdiff1d(np.arange(len(M)), A)
    inverse = np.linalg.inv(M[np.ix_(A, A)])
    S = np.empty_like(M)
    S[np.ix_(A, A)] = -inverse
    S[np.ix_(outside, A)] = M[np.ix_(outside, A)] @ inverse
    S[np.ix_(A, outside)] = S[np.ix_(outside, A)].T
    S[np.ix_(outside, outside)] = M[np.ix_(outside, outside)] - S[np.ix_(outside, A)] @ M[np.ix_(A, outside)]
    return S, S[:, A] @ tableau.y[A]


def error_of(tableau):
    """Largest error of S and g, relative to their size."""
    S, g = tableau_by_definition(tableau)
    return max(np.abs(tableau.S - S).max() / np.abs(S).max(), np.abs(tableau.g - g).max() / max(np.abs(g).max(), 1.0))


def value_of(tableau):
    """1/2 y'a on the support set, by the definition."""
    g = tableau_by_definition(tableau)[1]
    return -0.5 * float((tableau.y * g)[tableau.in_support].sum())


def assert_optimal(tableau, K, cost):
    """Signs of the multipliers, margins, sum a = 0 for a free intercept, and g outside the support set."""
    n = int(tableau.n_samples[0])
    y, g, inside = tableau.y[:n], tableau.g[:n], tableau.in_support[:n]
    a = np.where(inside, -g, 0.0)
    f = K @ a - tableau.g[n:].sum()
    assert (y * a >= 0.0).all()
    assert not inside[y == 0.0].any()
    if len(tableau.g) > n:
        assert abs(a.sum()) < 1e-9 * np.abs(a).sum()
    np.testing.assert_allclose(f[~inside], g[~inside], atol=1e-8)
    np.testing.assert_allclose((y * f)[inside], 1.0 - np.abs(a[inside]) / (2.0 * cost[inside]), atol=1e-8)
    assert ((y * f)[~inside & (y != 0.0)] >= 1.0 - 1e-8).all()


# ------------------------------------------------------------------------------------------- pivots


@with_and_without_intercept
def test_new_tableau_has_the_border_and_an_anchor_of_each_class(free_intercept):
    tableau, K, cost = random_tableau(0, free_intercept)
    n = len(K)
    expected = np.ones((n + free_intercept, n + free_intercept))
    expected[:n, :n], expected[n:, n:] = K + np.diag(0.5 / cost), 0.0
    np.testing.assert_array_equal(tableau.M, expected)
    assert sorted(tableau.y[tableau.anchors]) == [-1.0, 1.0]
    np.testing.assert_array_equal(np.flatnonzero(tableau.in_support[:n]), np.sort(tableau.anchors))
    assert error_of(tableau) < 1e-10


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="labeled samples of both classes"):
        active_set.new_tableau(np.eye(3), np.array([1.0, 1.0, 0.0]), True)


@with_and_without_intercept
def test_pivots_keep_the_definition_and_are_counted(free_intercept):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        tableau, _, _ = random_tableau(seed, free_intercept)
        tableau.n_pivots[:] = 0
        for step in range(60):
            k = rng.choice(other_samples(tableau))
            was_inside = tableau.in_support[k]
            (active_set.pivot_out if was_inside else active_set.pivot_in)(tableau, k)
            assert tableau.in_support[k] != was_inside
            if step % 10 == 9:
                assert error_of(tableau) < 1e-10
        np.testing.assert_array_equal(tableau.n_pivots, [60, 60])


@with_and_without_intercept
def test_rebuild_is_the_definition_for_any_support_set(free_intercept):
    for seed in range(5):
        tableau, _, _ = random_tableau(seed, free_intercept)
        n_pivots = tableau.n_pivots[1]
        tableau.S[:] = tableau.g[:] = np.nan  # nothing of the old tableau is used
        set_support(tableau, random_support(tableau, np.random.default_rng(seed)))
        assert error_of(tableau) < 1e-10
        assert tableau.n_pivots[0] == 0
        assert tableau.n_pivots[1] > n_pivots


@with_and_without_intercept
def test_entering_sample_increases_the_value_by_its_squared_slack(free_intercept):
    """(y - f)^2 / (2 p), with p from the tableau."""
    for seed in range(5):
        tableau, _, _ = random_tableau(seed, free_intercept)
        set_support(tableau, random_support(tableau, np.random.default_rng(seed)))
        before, n = value_of(tableau), tableau.n_samples[0]
        for j in np.flatnonzero(~tableau.in_support[:n]):
            given = tableau.y[j]
            for tableau.y[j] in (-1.0, 1.0):
                increase = (tableau.y[j] - tableau.g[j]) ** 2 / (2.0 * tableau.S[j, j])
                active_set.pivot_in(tableau, j)
                assert value_of(tableau) - before == pytest.approx(increase, rel=1e-8, abs=1e-11)
                active_set.pivot_out(tableau, j)
            tableau.y[j] = given


# ------------------------------------------------------------------------------------------- solutions


@with_and_without_intercept
@pytest.mark.parametrize("gamma", [0.05, 0.5, 5.0])
def test_solve_reaches_the_optimum_from_any_support_set(free_intercept, gamma):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        tableau, K, cost = random_tableau(seed, free_intercept, n=18, C=10.0, gamma=gamma)
        optimum = kernel_squared_hinge_value(K, tableau.y[:18], cost, free_intercept)
        for _ in range(4):
            set_support(tableau, random_support(tableau, rng))
            value = active_set.solve(tableau, MARGIN_TOL, np.inf)
            assert value == pytest.approx(optimum, rel=1e-7)
            assert value == pytest.approx(value_of(tableau), rel=1e-9)
            assert error_of(tableau) < 1e-9
            assert_optimal(tableau, K, cost)


@with_and_without_intercept
def test_solve_reaches_the_optimum_after_changes_of_labels(free_intercept):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        tableau, K, cost = random_tableau(seed, free_intercept)
        for _ in range(12):
            j = rng.choice(other_samples(tableau))
            active_set.remove(tableau, j)
            tableau.y[j] = rng.choice([-1.0, 0.0, 1.0])
            value = active_set.solve(tableau, MARGIN_TOL, np.inf)
            assert value == pytest.approx(kernel_squared_hinge_value(K, tableau.y[:14], cost, free_intercept), rel=1e-7)
            assert_optimal(tableau, K, cost)


@with_and_without_intercept
def test_steps_that_end_early_give_a_lower_bound_that_is_large_enough(free_intercept):
    n_early = 0
    for seed in range(6):
        tableau, K, cost = random_tableau(seed, free_intercept, n=18)
        optimum = kernel_squared_hinge_value(K, tableau.y[:18], cost, free_intercept)
        start = random_support(tableau, np.random.default_rng(seed))
        for share in (0.0, 0.2, 0.5, 0.8, 0.95, 1.5):
            set_support(tableau, start)
            value = active_set.solve(tableau, MARGIN_TOL, share * optimum)
            assert min(share, 1.0) * optimum * (1.0 - 1e-8) <= value <= optimum * (1.0 + 1e-8)
            assert error_of(tableau) < 1e-9
            n_early += value < optimum * (1.0 - 1e-6)
    assert n_early > 5


@with_and_without_intercept
def test_every_step_increases_the_value(free_intercept):
    for seed in range(4):
        tableau, K, cost = random_tableau(seed, free_intercept, n=18)
        optimum = kernel_squared_hinge_value(K, tableau.y[:18], cost, free_intercept)
        set_support(tableau, np.isin(np.arange(18), tableau.anchors))
        value = 0.0
        while value < optimum * (1.0 - 1e-7):
            last, value = value, active_set.solve(tableau, MARGIN_TOL, value * (1.0 + 1e-12) + 1e-12)
            assert value > last
        assert value == pytest.approx(optimum, rel=1e-7)


@with_and_without_intercept
def test_sample_of_largest_increase_enters_and_of_largest_wrong_multiplier_leaves(free_intercept):
    for seed in range(10):
        tableau, _, _ = random_tableau(seed, free_intercept, n=18, C=30.0)
        set_support(tableau, random_support(tableau, np.random.default_rng(seed)))
        y, g, inside = tableau.y[:18], tableau.g[:18], tableau.in_support[:18]
        slack = np.where((y != 0.0) & ~inside, np.maximum(1.0 - y * g, 0.0), 0.0)
        gain = slack**2 / np.where(inside, 1.0, np.diag(tableau.S)[:18])
        assert active_set._entering_sample(tableau, MARGIN_TOL) == (gain.argmax() if gain.max() > 0.0 else -1)
        assert active_set._entering_sample(tableau, 1e9) == -1
        wrong = np.where(inside, y * g, 0.0)
        assert active_set._leaving_sample(tableau) == (wrong.argmax() if wrong.max() > 0.0 else -1)


@with_and_without_intercept
def test_samples_leave_where_their_multiplier_reaches_zero(free_intercept):
    """The point that moves to a new solution keeps multipliers of the right sign and ends at that solution."""
    n_left = 0
    for seed in range(20):
        tableau, _, _ = random_tableau(seed, free_intercept, n=18, n_unlabeled=6, C=30.0)
        active_set.solve(tableau, MARGIN_TOL, np.inf)
        for j in np.flatnonzero(tableau.y[:18] == 0.0):
            tableau.y[j] = -1.0 if tableau.g[j] > 0.0 else 1.0  # the label of larger loss
            y = tableau.y[:18]
            point = np.where(tableau.in_support[:18], -y * tableau.g[:18], 0.0)
            before = tableau.in_support[:18].copy()
            active_set.pivot_in(tableau, j)
            active_set._move_to_solution(tableau, point)
            left = before & ~tableau.in_support[:18]
            n_left += left.sum()
            assert (point >= -1e-12).all()
            np.testing.assert_allclose(point[left], 0.0, atol=1e-9)
            assert (y * tableau.g[:18])[tableau.in_support[:18]].max() <= 0.0
            active_set.solve(tableau, MARGIN_TOL, np.inf)
    assert n_left > 10


@with_and_without_intercept
def test_increase_of_the_optimum_is_exact_while_the_support_set_stays(free_intercept):
    n_same = 0
    for seed in range(12):
        tableau, _, _ = random_tableau(seed, free_intercept, n=16)
        before = active_set.solve(tableau, MARGIN_TOL, np.inf)
        for j in np.flatnonzero(tableau.y[:16] == 0.0):
            for label in (-1.0, 1.0):
                support = tableau.in_support.copy()
                increase = max(1.0 - label * tableau.g[j], 0.0) ** 2 / (2.0 * tableau.S[j, j])
                tableau.y[j] = label
                value = active_set.solve(tableau, MARGIN_TOL, np.inf)
                support[j] = tableau.in_support[j]
                if np.array_equal(support, tableau.in_support):
                    assert value - before == pytest.approx(increase, rel=1e-7, abs=1e-9)
                    n_same += 1
                active_set.remove(tableau, j)
                active_set.solve(tableau, MARGIN_TOL, np.inf)
    assert n_same > 20


@with_and_without_intercept
def test_two_samples_and_equal_samples_of_both_classes(free_intercept):
    _, K, cost = random_tableau(0, free_intercept, n=6)
    K[:, 3] = K[:, 2]
    K[3, :] = K[2, :]
    y = np.array([1.0, -1.0, 1.0, -1.0, -1.0, 1.0])
    for n in (2, 4, 6):
        optimum = kernel_squared_hinge_value(K[:n, :n], y[:n], cost[:n], free_intercept)
        tableau = active_set.new_tableau(K[:n, :n] + np.diag(0.5 / cost[:n]), y[:n], free_intercept)
        assert active_set.solve(tableau, MARGIN_TOL, np.inf) == pytest.approx(optimum, rel=1e-7)


# ------------------------------------------------------------------------------------------- rounding errors, anchors


@with_and_without_intercept
def test_thousands_of_pivots_lose_no_digits(free_intercept):
    """``ensure_anchors`` rebuilds the tableau after MAX_PIVOTS pivots, and not before."""
    tableau, _, _ = random_tableau(5, free_intercept, n=20, C=1000.0, gamma=0.02)
    rng = np.random.default_rng(0)
    largest = 0
    for step in range(2000):
        active_set.ensure_anchors(tableau)
        largest = max(largest, tableau.n_pivots[0])
        k = rng.choice(other_samples(tableau))
        (active_set.pivot_out if tableau.in_support[k] else active_set.pivot_in)(tableau, k)
        if step % 100 == 99:
            assert error_of(tableau) < 1e-8
    assert 10 < largest <= active_set.MAX_PIVOTS + 2
    assert tableau.n_pivots[1] > 2000


@with_and_without_intercept
@pytest.mark.parametrize("n_pivots", [1, active_set.MAX_PIVOTS + 1])
def test_solve_rebuilds_a_tableau_that_has_lost_digits(free_intercept, n_pivots):
    """Whether the pivots have reached their limit, or the optimality conditions as computed from M fail."""
    tableau, K, cost = random_tableau(7, free_intercept, n=30)
    tableau.S[:] *= 1.0 + 1e-4
    tableau.g[:] *= 1.0 + 1e-4
    tableau.n_pivots[0] = n_pivots
    value = active_set.solve(tableau, MARGIN_TOL, np.inf)
    assert value == pytest.approx(kernel_squared_hinge_value(K, tableau.y[:30], cost, free_intercept), rel=1e-7)
    assert error_of(tableau) < 1e-9


@with_and_without_intercept
def test_samples_can_be_removed_once_both_anchors_are_in_the_support_set(free_intercept):
    n_returned = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        tableau, _, _ = random_tableau(seed, free_intercept, n_unlabeled=0)
        active_set.solve(tableau, MARGIN_TOL, np.inf)
        for k in rng.permutation(other_samples(tableau)):
            n_returned += not tableau.in_support[tableau.anchors].all()
            active_set.ensure_anchors(tableau)
            assert tableau.in_support[tableau.anchors].all()
            was_inside, before = tableau.in_support[k], (tableau.S.copy(), tableau.g.copy(), tableau.n_pivots.copy())
            active_set.remove(tableau, k)
            assert not tableau.in_support[k]
            assert tableau.y[k] == 0.0
            assert error_of(tableau) < 1e-9
            if not was_inside:  # only the label is taken
                for now, then in zip((tableau.S, tableau.g, tableau.n_pivots), before):
                    np.testing.assert_array_equal(now, then)
            if rng.random() < 0.5:
                active_set.solve(tableau, MARGIN_TOL, np.inf)
        active_set.ensure_anchors(tableau)
        np.testing.assert_array_equal(np.flatnonzero(tableau.in_support[:14]), np.sort(tableau.anchors))
    assert n_returned  # solve takes an anchor out of the support set where its margin is large
