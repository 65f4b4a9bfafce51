"""Balances and class shares against enumeration in exact fractions."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from semisvm.balance import (
    Count,
    Free,
    Mean,
    class_counts,
    codes_by_share,
    given_shares,
    labels_by_sign,
    labels_in_band,
    nearest_labels,
    positive_band,
    remaining_balance,
    residual,
)

SHARES = [Fraction(k, 20) for k in range(21)] + [Fraction(k, 3) for k in range(4)] + [Fraction(1, 7)]


def allowed_counts(n, r, slack):
    """Numbers of positive samples of n equal ones within the slack of the share, else the nearest to it."""
    distance = [abs(Fraction(k) - r * n) for k in range(n + 1)]
    within = {k for k in range(n + 1) if distance[k] <= slack * n}
    return within or {k for k in range(n + 1) if distance[k] == min(distance)}


def all_labels(n):
    return np.array(list(itertools.product((-1.0, 1.0), repeat=n)))


def by_rank(f, count):
    """+1 at the highest scores."""
    y = np.full(len(f), -1.0)
    y[np.argsort(-f, kind="stable")[:count]] = 1.0
    return y


def random_case(seed, equal, n_max=7):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, n_max + 1))
    f, weights = rng.standard_normal(n) + rng.standard_normal(), rng.uniform(0.5, 2.0, n)
    balance = Count(float(rng.uniform()), float(rng.choice([0.0, 0.1, 0.3])))
    return f, np.full(n, 1.7) if equal else weights, balance, rng


both_weights = pytest.mark.parametrize("equal", [True, False], ids=["equal weights", "weights"])


@pytest.mark.parametrize(
    ("balance", "expected"),
    [
        (Free(), 0.0),
        (Mean(0.5), 0.75),  # the weighted mean of f is 1/4 * 2 - 3/4 * 1 = -1/4
        (Mean(-0.25), 0.0),
        (Count(0.25), 0.0),  # the positive sample has a weight of 1/4
        (Count(0.5), 0.25),
        (Count(0.5, slack=0.1), 0.15),
        (Count(0.0, slack=0.2), 0.05),
        (Count(0.5, slack=0.3), 0.0),
    ],
    ids=str,
)
def test_residual_of_two_samples_by_hand(balance, expected):
    f, labels, weights = np.array([2.0, -1.0]), np.array([1.0, -1.0]), np.array([0.25, 0.75])
    assert residual(balance, f, labels, weights) == pytest.approx(expected)


# ---- the band of positive weight ----


@pytest.mark.parametrize("slack", [Fraction(k, 20) for k in (0, 1, 2, 6, 20)], ids=str)
@pytest.mark.parametrize("unit", [1.0, 0.1, 3.7])
def test_band_of_equal_weights_holds_the_allowed_counts(unit, slack):
    """At every edge: shares and slacks that are whole numbers of samples are not whole in floating point."""
    for n, r in itertools.product([1, 2, 3, 7, 10, 20], SHARES):
        low, high = positive_band(Count(float(r), float(slack)), np.full(n, unit))
        sums = [float(np.full(n, unit) @ (np.arange(n) < k)) for k in range(n + 1)]
        found = {k for k in range(n + 1) if low <= sums[k] <= high}
        assert found == allowed_counts(n, r, slack), (n, r)


def test_band_of_large_counts_is_exact():
    weights = np.full(10_000, 0.3)
    low, high = positive_band(Count(0.3, 0.1), weights)
    assert low < 2000 * 0.3 < 2001 * 0.3 < high
    assert low > 1999 * 0.3
    assert high < 4001 * 0.3


def test_band_of_other_weights_is_the_share_and_its_slack():
    weights = np.array([1.0, 2.0, 4.0, 3.0])
    low, high = positive_band(Count(0.4, 0.1), weights)
    inside = [float(weights @ (y > 0)) for y in all_labels(4) if low <= weights @ (y > 0) <= high]
    assert set(inside) == {3.0, 4.0, 5.0}  # of 10: shares of 0.3 to 0.5, edges included
    y = np.array([1.0, -1.0, -1.0, -1.0])
    low, high = positive_band(Count(0.4, 0.1), weights, y)
    assert low == pytest.approx(1.0)
    assert low <= 1.0
    assert high == pytest.approx(5.0)
    assert positive_band(Count(0.4, 0.1), weights, -y)[1] == pytest.approx(9.0)


@pytest.mark.parametrize("balance", [Free(), Mean(0.3)], ids=str)
def test_band_without_a_count_is_unbounded(balance):
    assert positive_band(balance, np.ones(3)) == (-np.inf, np.inf)


# ---- labels by scores ----


@both_weights
def test_labels_by_sign_are_the_signs_or_those_of_the_nearest_share(equal):
    n_signs = 0
    for seed in range(300):
        f, weights, balance, _ = random_case(seed, equal)
        y = labels_by_sign(f, weights, balance)
        low, high = positive_band(balance, weights)
        if low <= weights @ (f > 0) <= high:
            n_signs += 1
            np.testing.assert_array_equal(y > 0, f > 0)
            continue
        np.testing.assert_array_equal(y, by_rank(f, np.count_nonzero(y > 0)))
        distance = np.array([abs(weights @ (by_rank(f, k) > 0) / weights.sum() - balance.r) for k in range(len(f) + 1)])
        count = np.count_nonzero(y > 0)
        assert distance[count] <= distance.min() + 1e-9
        ties = np.flatnonzero(distance <= distance.min() + 1e-9)
        assert abs(count - np.count_nonzero(f > 0)) == np.abs(ties - np.count_nonzero(f > 0)).min()
    assert 50 < n_signs < 250


def test_labels_by_sign_of_an_odd_number_of_samples_follow_the_signs():
    f = np.array([-0.1, 3.0, 0.5, 2.0, 1.0])
    np.testing.assert_array_equal(labels_by_sign(f, np.ones(5), Count(0.5)), [-1.0, 1.0, -1.0, 1.0, 1.0])
    np.testing.assert_array_equal(labels_by_sign(-f, np.ones(5), Count(0.5)), [1.0, -1.0, 1.0, -1.0, -1.0])
    np.testing.assert_array_equal(labels_by_sign(f, np.ones(5), Count(0.6)), [-1.0, 1.0, -1.0, 1.0, 1.0])


def test_labels_without_a_count_are_the_signs():
    f = np.array([0.3, -0.2, 0.0])
    for balance in (Free(), Mean(1.0)):
        np.testing.assert_array_equal(labels_by_sign(f, np.ones(3), balance), [1.0, -1.0, -1.0])
        np.testing.assert_array_equal(labels_in_band(f, np.ones(3), balance), [1.0, -1.0, -1.0])
        np.testing.assert_array_equal(nearest_labels(f, np.ones(3), np.ones(3), balance), [1.0, -1.0, 1.0])


@both_weights
def test_labels_in_band_have_the_smallest_loss_of_those_by_rank(equal):
    for seed in range(300):
        f, weights, balance, _ = random_case(seed, equal)
        low, high = positive_band(balance, weights)
        y = labels_in_band(f, weights, balance)
        np.testing.assert_array_equal(y, by_rank(f, np.count_nonzero(y > 0)))
        ranked = [by_rank(f, k) for k in range(len(f) + 1)]
        inside = [labels for labels in ranked if low <= weights @ (labels > 0) <= high]
        if inside:
            assert low <= weights @ (y > 0) <= high
            loss = [weights @ np.maximum(1.0 - labels * f, 0.0) ** 2 for labels in (y, *inside)]
            assert loss[0] == pytest.approx(min(loss), abs=1e-12)
        else:
            np.testing.assert_array_equal(y, labels_by_sign(f, weights, balance))


def test_nearest_labels_of_equal_weights_are_the_nearest_of_all_that_keep_the_balance():
    for seed in range(200):
        f, weights, balance, rng = random_case(seed, equal=True)
        y = labels_in_band(rng.standard_normal(len(f)), weights, balance)
        new = nearest_labels(f, y, weights, balance)
        low, high = positive_band(balance, weights)
        assert low <= weights @ (new > 0) <= high
        options = [labels for labels in all_labels(len(f)) if low <= weights @ (labels > 0) <= high]
        assert new @ f == pytest.approx(max(labels @ f for labels in options))


def test_nearest_labels_of_other_weights_change_the_signs_of_smallest_size_or_nothing():
    kept = 0
    for seed in range(200):
        f, weights, balance, rng = random_case(seed, equal=False)
        y = labels_in_band(rng.standard_normal(len(f)), weights, balance)
        new = nearest_labels(f, y, weights, balance)
        low, high = positive_band(balance, weights, y)
        assert low <= weights @ (new > 0) <= high
        changed = new != np.where(f > 0, 1.0, -1.0)
        if np.array_equal(new, y) and changed.any():
            kept += 1
            continue
        assert len(set(new[changed])) <= 1
        side = (f > 0) == (f[changed] > 0).any()
        assert np.abs(f[changed]).max(initial=0.0) <= np.abs(f[side & ~changed]).min(initial=np.inf)
        if changed.any():  # one change less breaks the balance
            last = np.flatnonzero(changed)[np.abs(f[changed]).argmax()]
            new[last] *= -1.0
            assert not low <= weights @ (new > 0) <= high
    assert 0 < kept < 100


def test_nearest_labels_keep_the_label_of_a_score_of_zero():
    f, y = np.array([0.0, 0.0, 1.0, -1.0]), np.array([1.0, -1.0, -1.0, 1.0])
    np.testing.assert_array_equal(nearest_labels(f, y, np.ones(4), Count(0.5)), [1.0, -1.0, 1.0, -1.0])


def test_nearest_labels_at_a_sum_of_weights_on_the_edge():
    """Ten weights of 0.1 and five of 0.1 more: what is to change is a whole number of samples but for rounding."""
    f = np.linspace(0.1, 1.5, 15)
    weights = np.full(15, 0.1)
    new = nearest_labels(f, -np.ones(15), weights, Count(2 / 3))
    np.testing.assert_array_equal(new, np.where(np.arange(15) < 5, -1.0, 1.0))
    new = nearest_labels(-f, np.ones(15), weights, Count(1 / 3))
    np.testing.assert_array_equal(new, np.where(np.arange(15) < 5, 1.0, -1.0))


# ---- what is left of a balance ----


@both_weights
@pytest.mark.parametrize("slack", [0.0, 0.15])
def test_remaining_balance_is_kept_by_the_labels_that_complete_the_balance(equal, slack):
    n, n_kept, n_out_of_reach = 8, 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        weights = np.full(n, 0.3) if equal else rng.integers(1, 4, n) * 0.7
        fixed = rng.permutation(np.arange(n) < rng.integers(0, 6))
        y = rng.choice([-1.0, 1.0], n)
        share = float(weights @ (rng.choice([-1.0, 1.0], n) > 0) / weights.sum())
        left = remaining_balance(Count(share, slack), weights, fixed, y)
        positive, rest = weights[fixed] @ (y[fixed] > 0), weights[~fixed]
        if not (share + slack) * weights.sum() - positive >= -1e-9 or not (
            (share - slack) * weights.sum() - positive <= rest.sum() + 1e-9
        ):
            n_out_of_reach += 1
            assert left == Count(float((share - slack) * weights.sum() > positive), 0.0)
            continue
        for labels in all_labels(len(rest)):
            y[~fixed] = labels
            keeps = abs(weights @ (y > 0) / weights.sum() - share) <= slack + 1e-9
            assert (residual(left, labels, labels, rest / rest.sum()) <= 1e-9) == keeps
            n_kept += keeps
    assert n_kept > 100
    assert slack > 0 or n_out_of_reach > 0


def test_remaining_balance_of_no_count_or_no_samples():
    weights, fixed, y = np.ones(3), np.array([True, False, False]), np.ones(3)
    for balance in (Free(), Mean(0.2)):
        assert remaining_balance(balance, weights, fixed, y) == balance
    assert remaining_balance(Count(0.5), weights, np.ones(3, dtype=bool), y) == Free()
    assert remaining_balance(Count(0.5), np.array([1.0, 0.0, 0.0]), fixed, y) == Free()


# ---- classes ----


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_class_counts_are_the_whole_numbers_nearest_to_the_shares(k):
    for seed, n in itertools.product(range(20), range(7)):
        shares = np.random.default_rng(seed).dirichlet(np.ones(k))
        counts = class_counts(shares, n)
        assert counts.sum() == n
        options = np.array([c for c in itertools.product(range(n + 1), repeat=k) if sum(c) == n])
        distance = ((options - n * shares) ** 2).sum(axis=1)
        assert ((counts - n * shares) ** 2).sum() == pytest.approx(distance.min(), abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_classes_by_share_are_those_of_the_scores_with_the_least_certain_moved(seed):
    rng = np.random.default_rng(seed)
    k, n = 2 + seed % 4, 40
    scores, shares = rng.standard_normal((n, k)), rng.dirichlet(np.ones(k))
    codes = codes_by_share(scores, np.full(n, 0.5), shares)
    np.testing.assert_array_equal(np.bincount(codes, minlength=k), class_counts(shares, n))
    first = scores.argmax(axis=1)
    kept = codes_by_share(scores, np.ones(n), np.bincount(first, minlength=k) / n)
    np.testing.assert_array_equal(kept, first)
    weights = rng.uniform(0.5, 2.0, n)
    reached = np.bincount(codes_by_share(scores, weights, shares), weights, minlength=k) / weights.sum()
    np.testing.assert_allclose(reached, shares, atol=k * weights.max() / weights.sum())
    if k == 2:
        f = scores[:, 1] - scores[:, 0]
        assert f[codes == 1].min(initial=np.inf) >= f[codes == 0].max(initial=-np.inf)


def test_a_class_of_share_zero_gets_no_sample():
    scores = np.array([[3.0, 0.0, 1.0], [3.0, 1.0, 0.0], [2.0, 0.0, 1.0], [9.0, 1.0, 1.5]])
    np.testing.assert_array_equal(codes_by_share(scores, np.ones(4), np.array([0.0, 0.25, 0.75])), [2, 1, 2, 2])


@pytest.mark.parametrize(
    ("given", "n_classes", "message"),
    [
        ("equal", 2, "balance='equal' is not allowed; balance takes 'auto'"),
        (True, 2, "balance=True is not allowed; balance takes 'auto'"),
        ([0.5, 0.5], 2, "is not allowed; balance takes 'auto'"),
        (0.5, 3, "is one share and y holds 3 classes"),
        (1.5, 2, "balance"),
        (-0.1, 2, "balance"),
        (np.nan, 2, "balance"),
        ({0: 1.0}, 2, "give one share for each class"),
        ({0: 1.0, 1: 1.0, 2: 1.0}, 2, "give one share for each class"),
        ({0: 1.0, 1: -0.5}, 2, "balance[1]"),
        ({0: 0.0, 1: 0.0}, 2, "the sum of the shares"),
    ],
    ids=str,
)
def test_shares_that_are_not_allowed_are_refused(given, n_classes, message):
    with pytest.raises(ValueError) as error:
        given_shares(given, np.arange(n_classes))
    assert message in str(error.value)
    assert str(error.value).endswith(".")
