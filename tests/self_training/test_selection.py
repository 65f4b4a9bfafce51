"""Predictions, thresholds, candidates and quotas: against plain counts and direct formulas."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from semisvm.self_training.selection import (
    ClassQuota,
    DensitySelector,
    Prediction,
    ThresholdSelector,
    decay_threshold,
    predict_from_scores,
    rank_by_difference,
)


def random_scores(n=30, n_columns=1, seed=0):
    return np.random.default_rng(seed).standard_normal((n, n_columns))


# -------------------------------------------------------------------- predictions


@pytest.mark.parametrize("use_margin", [True, False])
def test_one_column_is_f_of_two_classes(use_margin):
    found = predict_from_scores(np.array([[0.3], [-2.0], [0.0], [1e-9]]), use_margin)
    assert_array_equal(found.codes, [1, 0, 0, 1])
    assert_array_equal(found.confidence, [0.3, 2.0, 0.0, 1e-9])


def test_columns_of_opposite_sign_are_one_column():
    f = random_scores()
    one, two = predict_from_scores(f, True), predict_from_scores(np.hstack([-f, f]), True)
    assert_array_equal(one.codes, two.codes)
    assert_allclose(one.confidence, two.confidence, rtol=1e-15)


def test_confidence_of_several_classes_is_half_the_margin():
    scores = np.array([[1.0, 4.0, 2.0], [-1.0, -5.0, -1.5], [0.0, 0.0, 0.0], [3.0, 1.0, 3.0]])
    kept = scores.copy()
    found = predict_from_scores(scores, True)
    assert_array_equal(found.codes, [1, 0, 0, 0])
    assert_array_equal(found.confidence, [1.0, 0.25, 0.0, 0.0])
    assert_array_equal(scores, kept)
    scores = random_scores(40, 5)
    ordered = np.sort(scores, axis=1)
    assert_array_equal(predict_from_scores(scores, True).confidence, 0.5 * (ordered[:, -1] - ordered[:, -2]))


def test_confidence_of_probabilities_is_the_largest():
    found = predict_from_scores(np.array([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]]), False)
    assert_array_equal(found.codes, [1, 0, 0])
    assert_array_equal(found.confidence, [0.8, 0.6, 0.5])


def test_take_keeps_the_order_of_the_index():
    found = Prediction(np.array([2, 0, 1]), np.array([0.1, 0.2, 0.3])).take(np.array([2, 0]))
    assert_array_equal(found.codes, [1, 2])
    assert_array_equal(found.confidence, [0.3, 0.1])


# -------------------------------------------------------------------- thresholds


@pytest.mark.parametrize("decay", [0.9, 0.5, 0.999, 0.01])
@pytest.mark.parametrize("start", [0.1, 37.0])
def test_threshold_decays_by_whole_factors_until_it_is_reached(start, decay):
    for top in start * 10.0 ** -np.random.default_rng(0).uniform(0.01, 4.0, 20):
        expected = start
        while expected > top:
            expected *= decay
        found = decay_threshold(start, decay, top)
        assert found <= top
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("decay", [0.99, 0.9, 0.7, 0.3])
def test_threshold_is_reached_whatever_the_rounding_of_powers(decay):
    for power in range(1, 200):
        for top in (0.1 * decay**power, np.nextafter(0.1 * decay**power, 0), np.nextafter(0.1 * decay**power, 1)):
            found = decay_threshold(0.1, decay, top)
            assert found <= top
            assert found > decay * top * (1 - 1e-9)


def test_threshold_that_is_met_exactly_decays_no_further():
    for start in (0.1, 1.0):
        for power in range(1, 100):
            assert decay_threshold(start, 0.5, start * 0.5**power) == start * 0.5**power  # exact in binary numbers


@pytest.mark.parametrize("top", [0.0, -0.3, 1e-12, 1e-150, 1e-300, 5e-324])
def test_threshold_decays_to_tiny_numbers_and_zero(top):
    found = decay_threshold(0.1, 0.9, top)
    assert found <= top
    if top <= 0:
        assert found == top
    elif top > 1e-290:
        assert found > 0.9 * top * (1 - 1e-9)


def test_samples_above_the_threshold_are_confident():
    selector = ThresholdSelector(0.5)
    assert_array_equal(selector.candidates(np.array([7, 3, 9])), [0, 1, 2])
    assert_array_equal(selector.confident(np.array([0.6, 0.5, 0.4, 0.51])), [0, 3])
    assert_array_equal(selector.confident(np.array([0.5, 0.1])), [])
    assert selector.threshold == 0.5


def test_threshold_with_a_decay_may_be_met_exactly():
    selector = ThresholdSelector(0.5, decay=0.5)
    assert_array_equal(selector.confident(np.array([0.5, 0.4, 0.8])), [0, 2])
    assert selector.threshold == 0.5
    assert_array_equal(selector.confident(np.array([0.3, 0.25, 0.2])), [0, 1])
    assert selector.threshold == 0.25
    assert_array_equal(selector.confident(np.zeros(2)), [0, 1])
    assert selector.threshold == 0.0


@pytest.mark.parametrize("decay", [None, 0.5])
def test_k_best_takes_the_most_confident_ones(decay):
    confidence = np.array([0.6, 0.9, 0.1, 0.7, 0.8, 0.7])
    for k_best, expected in ((1, [1]), (2, [1, 4]), (3, [1, 3, 4]), (4, [1, 3, 4, 5]), (50, [0, 1, 3, 4, 5])):
        assert_array_equal(ThresholdSelector(0.5, decay, k_best).confident(confidence), expected)
    assert_array_equal(ThresholdSelector(0.5, decay, 2).confident(0.1 * confidence), [] if decay is None else [1, 4])


# -------------------------------------------------------------------- candidates by density


def order_by_difference(log_densities, c):
    G = np.exp(log_densities)
    return np.argsort(-(G[:, c] - np.delete(G, c, axis=1).max(axis=1)), kind="stable")


@pytest.mark.parametrize("k", [2, 3, 5])
def test_difference_is_the_distance_to_the_densest_other_class(k):
    for seed in range(5):
        found = 3.0 * random_scores(50, k, seed)
        for c in range(k):
            expected = order_by_difference(found, c)
            assert_array_equal(rank_by_difference(found, c), expected)
            assert_array_equal(rank_by_difference(found - 5000.0, c), expected)  # all densities underflow


def test_rank_by_difference_of_densities_far_apart():
    found = np.array([[-5000.0, -5001.0], [-4000.0, -4000.5], [-1.0, -3000.0], [-6000.0, -10.0], [-9000.0, -8000.0]])
    assert_array_equal(rank_by_difference(found, 0), [2, 1, 0, 4, 3])
    assert_array_equal(rank_by_difference(found, 1), [3, 4, 0, 1, 2])


def test_rank_by_difference_of_densities_that_are_equal_or_zero():
    inf = np.inf
    found = np.array([[-inf, -2.0], [-inf, -inf], [-2.0, -inf], [-1.0, -1.0], [-3.0, -2.0], [-1.0, -inf]])
    assert_array_equal(rank_by_difference(found, 0), [5, 2, 1, 3, 4, 0])  # e^-1, e^-2, 0, 0, e^-3 - e^-2, -e^-2


def density_selector(log_densities, counts, rank="density"):
    """A selector whose densities are given numbers, and the list of what was added to them."""
    added = []
    densities = SimpleNamespace(
        log_densities=lambda samples: log_densities[samples], add=lambda *given: added.append(given)
    )
    return DensitySelector(densities, np.array(counts), 0.5, 0.5, rank), added


def test_candidates_are_the_densest_samples_of_each_class():
    found = np.array([[0.0, -9.0], [-1.0, -8.0], [-2.0, -1.0], [-3.0, -2.0], [-9.0, -7.0], [-0.5, -0.1]])
    cases = [([1, 1], [0, 5]), ([2, 1], [0, 5]), ([3, 2], [0, 1, 2, 5]), ([0, 3], [2, 3, 5]), ([50, 1], range(6))]
    for counts, expected in cases:  # sample 5 is typical of both classes
        assert_array_equal(density_selector(found, counts)[0].candidates(np.arange(6)), expected)
    assert_array_equal(density_selector(found, [1, 1])[0].candidates(np.array([4, 3, 1])), [1, 2])  # positions


def test_candidates_by_margin():
    found = np.array([[0.0, -0.1], [-1.0, -8.0], [-2.0, -1.0], [-3.0, -0.9], [-9.0, -7.0]])
    assert_array_equal(density_selector(found, [1, 1])[0].candidates(np.arange(5)), [0])
    assert_array_equal(density_selector(found, [1, 1], "difference")[0].candidates(np.arange(5)), [1, 3])
    assert_array_equal(density_selector(found, [2, 2], "difference")[0].candidates(np.arange(5)), [0, 1, 2, 3])


def test_candidates_are_confident_from_eps_on_and_eps_decays():
    selector, added = density_selector(np.zeros((3, 2)), [1, 1])
    assert_array_equal(selector.confident(np.array([0.49, 0.5, 0.7])), [1, 2])
    assert selector.threshold == 0.5
    assert_array_equal(selector.confident(np.array([0.12, 0.2, 0.13])), [1, 2])
    assert selector.threshold == 0.125
    assert_array_equal(selector.confident(np.array([0.3, 0.1])), [0])  # eps does not increase again
    assert_array_equal(selector.confident(np.array([0.0, 0.0])), [0, 1])
    selector.update("samples", "codes")
    assert added == [("samples", "codes")]


# -------------------------------------------------------------------- quotas


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.95])
def test_shifted_scores_of_two_classes_have_as_many_positives_as_the_quota(share):
    scores = random_scores(40) + 2.0
    quota = ClassQuota(np.array([1.0 - share, share]), 40)
    shifted = quota.shift(scores)
    assert (shifted > 0).sum() == round(40 * share) == quota.remaining[1] == 40 - quota.remaining[0]
    assert np.ptp(shifted - scores) < 1e-12  # by one number
    ordered = np.sort(shifted[:, 0])[::-1]
    assert ordered[quota.remaining[1] - 1] == pytest.approx(-ordered[quota.remaining[1]], abs=1e-12)  # halfway


def test_shifted_scores_of_several_classes_have_a_threshold_for_each():
    scores = random_scores(60, 4) + [5.0, 0.0, -3.0, 1.0]
    shifted = ClassQuota(np.array([0.1, 0.2, 0.3, 0.4]), 60).shift(scores)
    assert_array_equal((shifted > 0).sum(axis=0), [6, 12, 18, 24])
    assert_allclose(np.ptp(shifted - scores, axis=0), np.zeros(4), atol=1e-12)


def test_scores_are_shifted_by_the_remaining_counts():
    quota = ClassQuota(np.array([0.5, 0.5]), 40)
    quota.use(np.r_[np.ones(15, dtype=int), np.zeros(5, dtype=int)])
    assert_array_equal(quota.remaining, [15, 5])
    assert (quota.shift(random_scores(20)) > 0).sum() == 5


@pytest.mark.parametrize("k", [3, 4])
def test_class_without_a_quota_is_not_predicted(k):
    quota = ClassQuota(np.r_[0.0, np.full(k - 1, 1.0 / (k - 1))], 30)
    scores = random_scores(30, k) + 10.0 * (np.arange(k) == 0)
    scores[3, 0], scores[3, 1:] = 100.0, -100.0  # first of the class without a quota, last of all others
    found = predict_from_scores(quota.shift(scores), True)
    assert 0 not in found.codes
    assert np.isfinite(found.confidence).all()
    one_class = ClassQuota(np.array([1.0, 0.0]), 30)
    assert not predict_from_scores(one_class.shift(random_scores(30) + 9.0), True).codes.any()


def test_most_confident_samples_of_a_class_are_within_its_quota():
    quota = ClassQuota(np.array([0.25, 0.5, 0.25]), 8)  # 2, 4, 2
    codes = np.array([0, 0, 0, 1, 2, 2, 2, 1])
    found = Prediction(codes, np.array([0.3, 0.9, 0.4, 0.1, 0.5, 0.5, 0.5, 0.2]))
    assert_array_equal(quota.within(found), [1, 2, 3, 4, 5, 7])
    quota.use(np.array([0, 0, 1]))
    assert_array_equal(quota.remaining, [0, 3, 2])
    assert_array_equal(quota.within(found), [3, 4, 5, 7])
