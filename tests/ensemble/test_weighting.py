"""Weights, scores and the hedge, recomputed by hand."""

import numpy as np
import pytest

from semisvm.balance import AskedShares
from semisvm.ensemble.hedging import Evidence, average_weight, has_rare_class, log_odds, share_excess
from semisvm.ensemble.weighting import centered, margins, separator_weights, squash
from semisvm.multiclass import winners


def evidence(**changes):
    values = {
        "n_labels": 50.0,
        "gain": 0.0,
        "error": 0.1,
        "agreement": 0.9,
        "change": 0.19,
        "share_excess": 0.0,
        "is_rare": False,
        "average_margins": np.array([0.95, 0.45]),
        "supervised_margins": np.array([0.15, 0.95]),
    }
    return Evidence(**(values | changes))


def test_weights_fall_with_error_and_instability():
    found = separator_weights(np.array([0.1, 0.2, 0.1]), np.array([0.05, 0.05, 0.15]), 25.0)
    raw = np.exp([-1.5, -2.5, -2.5])
    np.testing.assert_allclose(found, raw / raw.sum())


def test_negligible_weights_are_zero_and_the_others_sum_to_one():
    found = separator_weights(np.array([0.0, 0.5, 0.02]), np.zeros(3), 100.0)
    assert found[1] == 0.0
    np.testing.assert_allclose(found[[0, 2]], np.array([1, np.exp(-0.4)]) / (1 + np.exp(-0.4)))


def test_squashed_scores():
    np.testing.assert_allclose(squash(np.array([[2.0, -3.0]]), np.array([4.0, 0.0])), [[np.tanh(0.5), np.tanh(-3.0)]])


def test_winners_and_margins_of_one_and_of_several_columns():
    np.testing.assert_array_equal(winners(np.array([[0.0], [1.0], [-1.0]])), [0, 1, 0])
    np.testing.assert_array_equal(winners(np.array([[0.1, 0.5, 0.2], [3.0, 1.0, 2.5]])), [1, 0])
    np.testing.assert_allclose(margins(np.array([[-0.25], [1.0]])), [0.25, 1.0])
    np.testing.assert_allclose(margins(np.array([[0.1, 0.5, 0.2], [3.0, 1.0, 2.5]])), [0.3, 0.5])


def test_log_odds_are_those_of_the_formula():
    given = evidence(gain=0.04, error=0.12, share_excess=0.02)
    one = 1.08 + 0.44 * np.log(1.0) - 0.16 * np.log(0.2) + 0.24 * 0.04 * np.sqrt(50) - 0.34 * np.log(0.1 / 0.2 + 0.05)
    two = 1.08 + 0.44 * np.log(0.5) - 0.16 * np.log(1.0) + 0.24 * 0.04 * np.sqrt(50) - 0.34 * np.log(0.1 / 0.2 + 0.05)
    common = -2.3 * 0.12 + 4.9 * 10 / 50 * 0.02
    assert log_odds(given) == pytest.approx((one + two) / 2 + common)


def test_models_that_do_not_differ_have_no_odds():
    given = evidence(change=0.0, average_margins=np.zeros(0), supervised_margins=np.zeros(0))
    assert log_odds(given) == 0.0
    assert average_weight(given, "safe") == 0.15
    assert average_weight(given, "none") == 1.0


@pytest.mark.parametrize(
    ("n_labels", "is_rare", "safety", "lowest", "start", "full"),
    [
        (30, False, "safe", 0.15, 0.25, 1.0),
        (15, False, "safe", 0.1, 0.4, 1.1),
        (14, False, "safe", 0.05, 1.1, 1.5),
        (50, False, "bold", 0.5, 0.0, 0.5),
        (10, False, "bold", 0.5, 0.0, 0.5),
        (20, True, "safe", 0.05, 1.1, 1.5),
        (10, True, "bold", 0.05, 1.1, 1.5),
    ],
)
def test_the_weight_of_the_average_rises_with_its_odds(n_labels, is_rare, safety, lowest, start, full):
    base = evidence(n_labels=float(n_labels), is_rare=is_rare)

    def weight_at(z):
        return average_weight(base._replace(error=base.error - (z - log_odds(base)) / 2.3), safety)

    middle = (start + full) / 2
    for z, expected in ((start - 1, lowest), (start, lowest), (middle, (1 + lowest) / 2), (full, 1.0), (full + 1, 1.0)):
        assert weight_at(z) == pytest.approx(expected)
    assert average_weight(base, "none") == 1.0


def test_scores_of_several_classes_are_centered():
    np.testing.assert_allclose(centered(np.array([[1.0, 0.0, 0.5]])), [[0.5, -0.5, 0.0]])
    np.testing.assert_array_equal(centered(np.array([[2.0], [3.0]])), [[2.0], [3.0]])


def test_a_class_is_rare_below_a_tenth_of_few_labels():
    assert has_rare_class(np.array([2.0, 18.0]))
    assert not has_rare_class(np.array([5.0, 15.0]))
    assert not has_rare_class(np.array([2.0, 19.0]))
    assert has_rare_class(np.array([1.0, 9.0, 8.0]))


def test_share_excess_is_the_distance_from_both_intervals():
    counts, asked = np.array([5.0, 15.0]), AskedShares(np.array([0.4, 0.6]), 24.0)
    low = 0.25 - np.sqrt(0.25 * 0.75 / 20)
    high = 0.4 + np.sqrt(0.4 * 0.6 / 24)
    for share, expected in ((0.3, 0.0), (high + 0.05, 0.05), (low - 0.1, 0.1)):
        assert share_excess(np.array([share, 1 - share]), counts, asked) == pytest.approx(expected, abs=1e-12)
