"""The swept table: against its definition by numpy, and the machines it settles at against an interior point."""

import numpy as np
import pytest

from judges import minimise_qp
from semisvm.linalg import sweeps

bordered = pytest.mark.parametrize("border", [False, True], ids=["plain", "border"])
TOL = 1e-9


# ------------------------------------------------------------------------------------------- problems and judges


def parts(seed, n=14, width=0.5, costs=(-0.5, 1.5)):
    """A kernel matrix, costs that differ from row to row, and labels; the first two rows have one of each class."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    K = np.exp(-width * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    cost = 10.0 ** rng.uniform(*costs, n)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = rng.permutation([1.0, -1.0])
    return K, cost, y


def made(seed, border, n=14, **rest):
    """A table of random rows, of which some take no part, and what it was made of."""
    K, cost, y = parts(seed, n, **rest)
    y[2:][np.random.default_rng(seed + 1000).random(n - 2) < 0.3] = 0.0
    return sweeps.table(K + np.diag(0.5 / cost), y, border), K, cost


def choose(table, inside):
    """Take a support set and build the table of it."""
    table.inside[: len(inside)] = inside
    sweeps.build(table)


def random_set(table, rng):
    """A support set of rows that take part, both anchors among them."""
    inside = (table.y != 0.0) & (rng.random(len(table.y)) < 0.5)
    inside[table.anchor] = True
    return inside[: table.n[0]]


def by_definition(table):
    """S and g of the present support set, from scratch."""
    M, n = table.M, int(table.n[0])
    A = np.flatnonzero(np.r_[table.inside[:n], np.ones(len(M) - n, dtype=bool)])
    rest = np.setdiff1d(np.arange(len(M)), A)
    inverse = np.linalg.inv(M[np.ix_(A, A)])
    S = np.empty_like(M)
    S[np.ix_(A, A)] = -inverse
    S[np.ix_(rest, A)] = M[np.ix_(rest, A)] @ inverse
    S[np.ix_(A, rest)] = S[np.ix_(rest, A)].T
    S[np.ix_(rest, rest)] = M[np.ix_(rest, rest)] - S[np.ix_(rest, A)] @ M[np.ix_(A, rest)]
    return S, S[:, A] @ table.y[A]


def assert_defined(table, tol=1e-10):
    S, g = by_definition(table)
    np.testing.assert_allclose(table.S, S, atol=tol * np.abs(S).max(), rtol=0)
    np.testing.assert_allclose(table.g, g, atol=tol * max(np.abs(g).max(), 1.0), rtol=0)


def off(table):
    S, g = by_definition(table)
    return max(np.abs(table.S - S).max() / np.abs(S).max(), np.abs(table.g - g).max() / max(np.abs(g).max(), 1.0))


def value_of(table):
    """1/2 y'a on the support set, from scratch."""
    n = int(table.n[0])
    _, g = by_definition(table)
    return -0.5 * float((table.y * g)[:n][table.inside[:n]].sum())


def machine(K, cost, y, border):
    """min 1/2 a'Ka + cost' (1 - y (K a + b))_+^2 over the rows with a label, by an interior point."""
    some = y != 0.0
    K, cost, y, n = K[np.ix_(some, some)], cost[some], y[some], int(some.sum())
    P = np.zeros((2 * n + 1, 2 * n + 1))
    P[:n, :n] = K + 1e-12 * np.eye(n)
    P[n + 1 :, n + 1 :] = np.diag(2.0 * cost)
    below = (np.hstack([-y[:, None] * np.c_[K, np.ones(n)], -np.eye(n)]), -np.ones(n))
    equal = None if border else (np.eye(2 * n + 1)[n], 0.0)
    return minimise_qp(P, np.zeros(2 * n + 1), equal, below)[1]


# ------------------------------------------------------------------------------------------- the table


@bordered
def test_a_new_table_holds_its_anchors(border):
    for seed in range(5):
        table, K, cost = made(seed, border)
        assert len(table.M) == len(K) + border
        np.testing.assert_array_equal(table.M[: len(K), : len(K)], K + np.diag(0.5 / cost))
        if border:
            np.testing.assert_array_equal(table.M[-1], np.r_[np.ones(len(K)), 0.0])
            np.testing.assert_array_equal(table.M[:, -1], table.M[-1])
        assert sorted(table.y[table.anchor]) == [-1.0, 1.0]
        np.testing.assert_array_equal(np.flatnonzero(table.inside[: len(K)]), np.sort(table.anchor))
        assert_defined(table)


@bordered
def test_joining_and_leaving_keep_the_definition(border):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        table, _, _ = made(seed, border)
        for step in range(60):
            k = rng.integers(table.n[0])
            if k not in table.anchor:
                (sweeps.leave if table.inside[k] else sweeps.join)(table, k)
            if step % 6 == 0:
                assert_defined(table)
        assert_defined(table)
        np.testing.assert_allclose(table.S, table.S.T, atol=1e-10)


@bordered
def test_sweeps_are_counted(border):
    table, _, _ = made(0, border)
    table.count[:] = 0
    rows = np.setdiff1d(np.arange(table.n[0]), table.anchor)[:4]
    for k in rows:
        sweeps.join(table, k)
    for k in rows[:3]:
        sweeps.leave(table, k)
    np.testing.assert_array_equal(table.count, [7, 7])
    assert table.inside[rows[3]]
    assert not table.inside[rows[:3]].any()
    sweeps.build(table)
    assert table.count[0] == 0
    assert table.count[1] > 7


@bordered
def test_build_is_the_definition_for_any_support_set(border):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        table, _, _ = made(seed, border)
        table.S[:] = np.nan  # nothing of the old table is used
        table.g[:] = np.nan
        choose(table, random_set(table, rng))
        assert_defined(table)


@bordered
def test_a_row_and_back_again_changes_nothing(border):
    table, _, _ = made(3, border)
    S, g = table.S.copy(), table.g.copy()
    k = np.setdiff1d(np.flatnonzero(table.y), table.anchor)[0]
    sweeps.join(table, k)
    assert np.abs(table.S - S).max() > 1e-3
    sweeps.leave(table, k)
    np.testing.assert_allclose(table.S, S, atol=1e-12)
    np.testing.assert_allclose(table.g, g, atol=1e-12)


@bordered
def test_a_row_that_joins_costs_its_squared_shortfall(border):
    """(y - f)^2 / (2 p), with p from the table, is what the value rises by while the support set stays."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        table, _, _ = made(seed, border)
        choose(table, random_set(table, rng))
        before, rest = value_of(table), np.flatnonzero(~table.inside[: table.n[0]])
        for j in rest:
            own = table.y[j]
            for label in (-1.0, 1.0):
                table.y[j] = label
                told = (label - table.g[j]) ** 2 / (2.0 * table.S[j, j])
                sweeps.join(table, j)
                assert value_of(table) - before == pytest.approx(told, rel=1e-8, abs=1e-11)
                sweeps.leave(table, j)
            table.y[j] = own


# ------------------------------------------------------------------------------------------- machines


@bordered
@pytest.mark.parametrize("width", [0.05, 0.5, 5.0])
def test_settle_is_the_machine_from_any_support_set(border, width):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        table, K, cost = made(seed, border, n=18, width=width)
        n = int(table.n[0])
        best = machine(K, cost, table.y[:n], border)
        for _ in range(4):
            choose(table, random_set(table, rng))
            value = sweeps.settle(table, TOL, np.inf)
            assert value == pytest.approx(best, rel=1e-7)
            assert_defined(table, 1e-9)
            assert value == pytest.approx(value_of(table), rel=1e-9)
            assert_optimal(table, K, cost, border)


def assert_optimal(table, K, cost, border):
    """Signs of multipliers inside, margins outside, and the scores that g tells outside."""
    n = int(table.n[0])
    y, g, inside = table.y[:n], table.g[:n], table.inside[:n]
    a = np.where(inside, -g, 0.0)
    assert (y * a >= 0.0).all()
    assert not inside[y == 0.0].any()
    b = -table.g[n] if border else 0.0
    f = K @ a + b
    if border:
        assert abs(a.sum()) < 1e-9 * np.abs(a).sum()
    np.testing.assert_allclose(f[~inside], g[~inside], atol=1e-8)
    np.testing.assert_allclose((y * f)[inside], 1.0 - np.abs(a[inside]) / (2.0 * cost[inside]), atol=1e-8)
    assert ((y * f)[~inside & (y != 0.0)] >= 1.0 - 1e-8).all()


@bordered
def test_a_walk_from_another_labeling_ends_at_the_machine_too(border):
    """Labels change under the support set, as in a tree."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        table, K, cost = made(seed, border, n=16)
        n = int(table.n[0])
        for _ in range(12):
            sweeps.anchored(table)
            j = rng.integers(2, n)
            sweeps.forget(table, j)
            table.y[j] = rng.choice([-1.0, 0.0, 1.0])
            value = sweeps.settle(table, TOL, np.inf)
            assert value == pytest.approx(machine(K, cost, table.y[:n], border), rel=1e-7)
            assert_optimal(table, K, cost, border)


@bordered
def test_a_walk_that_ends_early_is_a_bound(border):
    stopped = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        table, K, cost = made(seed, border, n=18)
        best = machine(K, cost, table.y[: table.n[0]], border)
        start = random_set(table, rng)
        for share in (0.0, 0.2, 0.5, 0.8, 0.95, 1.5):
            choose(table, start)
            value = sweeps.settle(table, TOL, share * best)
            assert min(share, 1.0) * best * (1.0 - 1e-8) <= value <= best * (1.0 + 1e-8)
            assert_defined(table, 1e-9)
            stopped += value < best * (1.0 - 1e-6)
    assert stopped > 5


@bordered
def test_every_join_raises_the_value(border):
    """Walks that may end a little later each time give values that never fall."""
    for seed in range(6):
        table, K, cost = made(seed, border, n=18)
        best = machine(K, cost, table.y[: table.n[0]], border)
        choose(table, np.isin(np.arange(table.n[0]), table.anchor))
        last = 0.0
        while last < best * (1.0 - 1e-7):
            value = sweeps.settle(table, TOL, last * (1.0 + 1e-12) + 1e-12)
            assert value > last
            last = value
        assert last == pytest.approx(best, rel=1e-7)


@bordered
def test_the_row_that_gains_most_joins_and_the_worst_leaves(border):
    for seed in range(20):
        table, _, _ = made(seed, border, n=18, costs=(-2.0, 2.0))
        choose(table, random_set(table, np.random.default_rng(seed)))
        n = int(table.n[0])
        y, g, inside = table.y[:n], table.g[:n], table.inside[:n]
        short = np.where((y != 0.0) & ~inside, np.maximum(1.0 - y * g, 0.0), 0.0)
        gain = short**2 / np.where(inside, 1.0, np.diag(table.S)[:n])
        assert sweeps._best_join(table, TOL) == (gain.argmax() if gain.max() > 0.0 else -1)
        assert sweeps._best_join(table, 1e9) == -1
        wrong = np.where(inside, y * g, 0.0)
        assert sweeps._worst_sign(table) == (wrong.argmax() if wrong.max() > 0.0 else -1)


@bordered
def test_rows_leave_where_they_reach_zero(border):
    """The walk to a new solution stays among multipliers of the right sign and ends at that solution."""
    gone = 0
    for seed in range(20):
        table, _, _ = made(seed, border, n=18, costs=(0.5, 2.0))
        n = int(table.n[0])
        sweeps.settle(table, TOL, np.inf)
        for j in np.flatnonzero(table.y[:n] == 0.0):
            table.y[j] = -1.0 if table.g[j] > 0.0 else 1.0  # the dearer label
            table.a[:n] = np.where(table.inside[:n], -table.y[:n] * table.g[:n], 0.0)
            held = table.inside[:n].copy()
            sweeps.join(table, j)
            sweeps._hold_signs(table)
            left = held & ~table.inside[:n]
            gone += left.sum()
            assert (table.a[:n] >= -1e-12).all()
            np.testing.assert_allclose(table.a[:n][left], 0.0, atol=1e-9)
            assert (table.y[:n] * table.g[:n])[table.inside[:n]].max() <= 0.0
            sweeps.settle(table, TOL, np.inf)
    assert gone > 10


@bordered
def test_the_cost_is_what_the_machine_costs_more_while_the_support_set_stays(border):
    same = 0
    for seed in range(12):
        table, K, cost = made(seed, border, n=16)
        n = int(table.n[0])
        before = sweeps.settle(table, TOL, np.inf)
        for j in np.flatnonzero(table.y[:n] == 0.0):
            for label in (-1.0, 1.0):
                kept, f, p = table.inside.copy(), table.g[j], table.S[j, j]
                told = max(1.0 - label * f, 0.0) ** 2 / (2.0 * p)
                table.y[j] = label
                value = sweeps.settle(table, TOL, np.inf)
                assert value == pytest.approx(machine(K, cost, table.y[:n], border), rel=1e-7)
                kept[j] = table.inside[j]
                if np.array_equal(kept, table.inside):
                    assert value - before == pytest.approx(told, rel=1e-7, abs=1e-9)
                    same += 1
                sweeps.anchored(table)
                sweeps.forget(table, j)
                sweeps.settle(table, TOL, np.inf)
    assert same > 20


# ------------------------------------------------------------------------------------------- wear, anchors


@bordered
def test_thousands_of_sweeps_keep_the_digits(border):
    table, _, _ = made(5, border, n=20, width=0.02, costs=(2.0, 4.0))
    rng = np.random.default_rng(0)
    worst = 0
    for step in range(3000):
        sweeps.anchored(table)
        worst = max(worst, table.count[0])
        k = rng.integers(2, table.n[0])
        (sweeps.leave if table.inside[k] else sweeps.join)(table, k)
        if step % 100 == 0:
            assert off(table) < 1e-8
    assert off(table) < 1e-8
    assert worst <= sweeps.FRESH + 2  # a table is never older
    assert table.count[1] > 3000


@bordered
def test_a_worn_table_is_built_afresh(border):
    table, _, _ = made(2, border)
    table.S[:] += 1e-3
    sweeps.anchored(table)
    assert off(table) > 1e-6  # not before it is worn
    table.count[0] = sweeps.FRESH + 1
    sweeps.anchored(table)
    assert off(table) < 1e-10
    assert table.count[0] == 0


@bordered
def test_a_long_walk_builds_afresh_too(border):
    table, K, cost = made(7, border, n=30)
    table.S[:] *= 1.0 + 1e-4
    table.count[0] = sweeps.FRESH + 1
    value = sweeps.settle(table, TOL, np.inf)
    assert value == pytest.approx(machine(K, cost, table.y[:30], border), rel=1e-7)
    assert off(table) < 1e-9


@bordered
def test_anchored_and_forget_keep_both_classes_inside(border):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        table, _, _ = made(seed, border)
        n = int(table.n[0])
        table.y[2:n] = np.where(rng.random(n - 2) < 0.5, 1.0, -1.0)
        choose(table, np.isin(np.arange(n), table.anchor))
        sweeps.settle(table, TOL, np.inf)
        for k in rng.permutation(np.setdiff1d(np.arange(n), table.anchor)):
            sweeps.anchored(table)
            assert table.inside[table.anchor].all()
            sweeps.forget(table, k)
            assert not table.inside[k]
            assert table.y[k] == 0.0
            assert table.inside[table.anchor].all()
            assert_defined(table, 1e-9)
            if rng.random() < 0.5:
                sweeps.settle(table, TOL, np.inf)
        sweeps.anchored(table)
        np.testing.assert_array_equal(np.flatnonzero(table.inside[:n]), np.sort(table.anchor))


def test_forgetting_a_row_outside_only_takes_its_label():
    table, _, _ = made(1, True)
    k = np.setdiff1d(np.flatnonzero(table.y), table.anchor)[0]
    S, g, count = table.S.copy(), table.g.copy(), table.count.copy()
    sweeps.forget(table, k)
    assert table.y[k] == 0.0
    for now, was in ((table.S, S), (table.g, g), (table.count, count)):
        np.testing.assert_array_equal(now, was)


@bordered
def test_an_anchor_that_left_comes_back(border):
    """With every row of a class beyond its margin but one, settle may drop an anchor; ``anchored`` brings it back."""
    dropped = 0
    for seed in range(30):
        K, cost, y = parts(seed, n=16)
        table = sweeps.table(K + np.diag(0.5 / cost), y, border)
        sweeps.settle(table, TOL, np.inf)
        dropped += not table.inside[table.anchor].all()
        sweeps.anchored(table)
        assert table.inside[table.anchor].all()
        assert_defined(table, 1e-9)
    assert dropped


@bordered
def test_two_rows_and_equal_rows(border):
    K, cost, y = parts(0, n=6)
    K[:, 3] = K[:, 2]
    K[3, :] = K[2, :]
    K[3, 3] = K[2, 3] = K[3, 2] = 1.0
    y[2:4] = 1.0, -1.0
    for n in (2, 4, 6):
        table = sweeps.table(K[:n, :n] + np.diag(0.5 / cost[:n]), y[:n], border)
        value = sweeps.settle(table, TOL, np.inf)
        assert value == pytest.approx(machine(K[:n, :n], cost[:n], y[:n], border), rel=1e-7)
