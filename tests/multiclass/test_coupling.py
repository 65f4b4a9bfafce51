"""Couplings against tables written out by hand, and the binary tasks of both schemes sample by sample."""

from itertools import combinations

import numpy as np
import pytest

from semisvm.balance import AskedShares
from semisvm.multiclass import COUPLINGS, couple, one_vs_one, one_vs_rest, pairs, votes

EVERY = pytest.mark.parametrize("coupling", COUPLINGS)

# Three classes; p holds P(1 | 0 or 1), P(2 | 0 or 2), P(2 | 1 or 2). With p = (.2, .6, .9) class 0 has the
# probabilities .8 and .4, class 1 has .2 and .1, class 2 has .6 and .9; the tables hold the sums of sigma over these.
P = np.array([[0.2, 0.6, 0.9], [0.5, 0.3, 0.5], [0.0, 1.0, 1.0], [0.5, 0.5, 0.5]])
SUMS = {
    "pwc1": [[1.0, 0.0, 2.0], [1.5, 1.0, 0.5], [1.0, 0.0, 2.0], [1.0, 1.0, 1.0]],
    "pwc2": [[1.2, 0.3, 1.5], [1.2, 1.0, 0.8], [1.0, 0.0, 2.0], [1.0, 1.0, 1.0]],
    "pwc3": [
        [0.9734030064 + 0.2314752165, 0.0265969936 + 0.0081625711, 0.7685247835 + 0.9918374289],
        [0.5 + 0.9168273035, 0.5 + 0.5, 0.0831726965 + 0.5],
        [0.9975273768 + 0.0024726232, 0.0024726232 + 0.0024726232, 0.9975273768 + 0.9975273768],
        [1.0, 1.0, 1.0],
    ],
    "pwc4": [[1.4, 0.3, 2.0], [1.5, 1.0, 0.8], [1.0, 0.0, 2.0], [1.0, 1.0, 1.0]],
    "pwc5": [[0.8, 0.0, 1.5], [1.2, 1.0, 0.5], [1.0, 0.0, 2.0], [1.0, 1.0, 1.0]],
}
ADDS_UP = {"pwc1", "pwc2", "pwc3"}  # sigma(x) + sigma(1 - x) = 1
CODES = np.array([0, 1, 2, 0, -1, -1, 2, -1, 1, -1])
ASKED = AskedShares(np.array([0.5, 0.3, 0.2]), 10.0)
GUESS = np.array([0, 0, 0, 0, 0, 1, 0, 2, 0, 1])  # that of labeled samples does not count


def random_p(k, n=200, seed=0):
    """Probabilities of all pairs, many of them at 0, 1/2 and 1."""
    p = np.random.default_rng(seed).random((n, k * (k - 1) // 2))
    return np.where(p < 0.1, 0.0, np.where(p > 0.9, 1.0, np.where(np.abs(p - 0.5) < 0.05, 0.5, p)))


def test_every_coupling_has_a_table():
    assert set(SUMS) == set(COUPLINGS)


@EVERY
def test_three_classes_as_computed_by_hand(coupling):
    sums = np.array(SUMS[coupling])
    np.testing.assert_allclose(couple(P, 3, coupling), sums / sums.sum(axis=1, keepdims=True), atol=1e-9)


@EVERY
def test_half_counts_half_for_both(coupling):
    assert COUPLINGS[coupling](np.array([0.5]))[0] == 0.5


@EVERY
@pytest.mark.parametrize("k", [2, 3, 5])
def test_samples_sum_to_one_and_hold_no_negative_number(coupling, k):
    joined = couple(random_p(k), k, coupling)
    assert joined.shape == (200, k)
    assert (joined >= 0).all()
    np.testing.assert_allclose(joined.sum(axis=1), 1.0, atol=1e-14)


@pytest.mark.parametrize("coupling", sorted(ADDS_UP))
@pytest.mark.parametrize("k", [2, 3, 5])
def test_some_sum_to_one_before_they_are_divided(coupling, k):
    p, sigma = random_p(k), COUPLINGS[coupling]
    total = np.zeros((len(p), k))
    for column, (i, j) in enumerate(combinations(range(k), 2)):
        total[:, j] += 2.0 / (k * (k - 1)) * sigma(p[:, column])
        total[:, i] += 2.0 / (k * (k - 1)) * sigma(1.0 - p[:, column])
    np.testing.assert_allclose(total.sum(axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(couple(p, k, coupling), total, atol=1e-14)


@EVERY
def test_two_classes(coupling):
    p, sigma = np.linspace(0.0, 1.0, 41)[:, None], COUPLINGS[coupling]
    joined = couple(p, 2, coupling)
    np.testing.assert_allclose(joined[:, 1], (sigma(p) / (sigma(p) + sigma(1.0 - p)))[:, 0])
    np.testing.assert_array_equal(np.sign(joined[:, 1] - joined[:, 0]), np.sign(p[:, 0] - (1.0 - p[:, 0])))
    if coupling == "pwc2":
        np.testing.assert_allclose(joined, np.column_stack([1.0 - p, p]))


@EVERY
@pytest.mark.parametrize("column", range(6))
def test_more_for_a_class_in_a_pair_is_not_less_in_the_end(coupling, column):
    i, j = list(combinations(range(4), 2))[column]
    for row in random_p(4, 20, seed=column):
        p = np.repeat(row[None, :], 101, axis=0)
        p[:, column] = np.linspace(0.0, 1.0, 101)
        joined = couple(p, 4, coupling)
        assert (np.diff(joined[:, j]) > -1e-14).all()
        assert (np.diff(joined[:, i]) < 1e-14).all()


@EVERY
def test_who_surely_wins_every_pair_is_the_most_probable(coupling):
    p = random_p(4)
    for column, pair in enumerate(pairs(4)):
        if 2 in pair:
            p[:, column] = float(pair[1] == 2)
    assert (couple(p, 4, coupling).argmax(axis=1) == 2).all()


def test_order_of_pairs():
    assert pairs(2) == [(0, 1)]
    assert pairs(4) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def tally(scores, k):
    """For each class the pairs won, and the sum of squeezed scores, which stays below 1/3 in all."""
    won = [0.0] * k
    for f, (i, j) in zip(scores, combinations(range(k), 2)):
        won[j if f >= 0 else i] += 1.0
        won[j] += (f / (1.0 + np.abs(f))) / (3.0 * k)
        won[i] -= (f / (1.0 + np.abs(f))) / (3.0 * k)
    return np.array(won)


@pytest.mark.parametrize("k", [2, 3, 4, 6])
@pytest.mark.parametrize("size", [0.1, 1.0, 100.0])
def test_votes_are_counted(k, size):
    scores = size * np.random.default_rng(k).standard_normal((300, k * (k - 1) // 2))
    for chosen, row in zip(votes(scores, k), scores):
        won = tally(row, k)
        assert won[chosen] > won.max() - 1e-12
        assert round(won[chosen]) == np.round(won).max()  # squeezed scores only break ties


def test_a_circle_of_three_is_decided_by_the_scores():
    # 1 beats 0, 0 beats 2, 2 beats 1
    np.testing.assert_array_equal(votes(np.array([[0.9, -0.1, 0.1], [0.1, -0.9, 0.1], [0.1, -0.1, 0.9]]), 3), [1, 0, 2])


def test_one_vs_rest_tasks():
    tasks = one_vs_rest(CODES, ASKED)
    assert [task.share for task in tasks] == [0.5, 0.3, 0.2]
    assert [task.n_labels for task in tasks] == [10.0] * 3
    expected = [
        [1, -1, -1, 1, 0, 0, -1, 0, -1, 0],
        [-1, 1, -1, -1, 0, 0, -1, 0, 1, 0],
        [-1, -1, 1, -1, 0, 0, 1, 0, -1, 0],
    ]
    np.testing.assert_array_equal([task.signs for task in tasks], expected)
    assert all(task.present.all() for task in tasks)


def test_one_vs_one_tasks():
    tasks = one_vs_one(CODES, ASKED)
    np.testing.assert_allclose([task.share for task in tasks], [0.3 / 0.8, 0.2 / 0.7, 0.2 / 0.5])
    np.testing.assert_allclose([task.n_labels for task in tasks], [8.0, 7.0, 5.0])  # those of the two classes
    expected = [
        [-1, 1, 0, -1, 0, 0, 0, 0, 1, 0],
        [-1, 0, 1, -1, 0, 0, 1, 0, 0, 0],
        [0, -1, 1, 0, 0, 0, 1, 0, -1, 0],
    ]
    np.testing.assert_array_equal([task.signs for task in tasks], expected)
    for task in tasks:
        np.testing.assert_array_equal(task.present, (task.signs != 0) | (CODES < 0))


def test_a_guess_puts_unlabeled_samples_into_the_pairs_of_their_class():
    open_tasks, tasks = one_vs_one(CODES, ASKED), one_vs_one(CODES, ASKED, GUESS)
    for task, before, (i, j) in zip(tasks, open_tasks, pairs(3)):
        np.testing.assert_array_equal(task.signs, before.signs)
        assert task.share == before.share
        np.testing.assert_array_equal(task.present[CODES >= 0], before.present[CODES >= 0])
        np.testing.assert_array_equal(task.present[CODES < 0], np.isin(GUESS[CODES < 0], [i, j]))
    np.testing.assert_array_equal(np.sum([task.present for task in tasks], axis=0), 2)


def test_a_pair_of_which_nothing_is_wanted_is_shared_evenly():
    assert one_vs_one(CODES, AskedShares(np.array([0.0, 0.0, 1.0]), 5.0))[0].share == 0.5


def test_every_scheme():
    for task in one_vs_rest(CODES, ASKED) + one_vs_one(CODES, ASKED) + one_vs_one(CODES, ASKED, GUESS):
        assert set(task.signs) <= {-1.0, 0.0, 1.0}
        assert {-1.0, 1.0} <= set(task.signs)
        assert task.present[task.signs != 0].all()
        assert not task.signs[CODES < 0].any()
        assert 0.0 <= task.share <= 1.0


@pytest.mark.parametrize("scheme", [one_vs_rest, one_vs_one])
def test_two_classes_are_one_task_with_the_second_as_the_positive(scheme):
    codes = np.array([0, 1, -1, 1, 0, -1])
    (task,) = scheme(codes, AskedShares(np.array([0.6, 0.4]), 10.0))
    np.testing.assert_array_equal(task.signs, [-1.0, 1.0, 0.0, 1.0, -1.0, 0.0])
    assert task.present.all()
    assert task.share == pytest.approx(0.4)
