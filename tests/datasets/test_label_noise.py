"""Flipping labels."""

import math

import numpy as np
import pytest

from semisvm.datasets import flip_labels


@pytest.mark.parametrize("share", [0.0, 0.1, 0.33, 0.5, 1.0])
@pytest.mark.parametrize("classes", [(1, 2), (-1, 1), ("a", "b", "c"), (0.5, 1.5, 2.5, 3.5)], ids=str)
def test_exactly_the_share_is_wrong(classes, share):
    y = np.array(classes)[np.arange(203) % len(classes)]
    before = y.copy()
    noisy = flip_labels(y, share, random_state=0)
    assert np.sum(noisy != y) == round(share * 203)
    assert set(noisy) <= set(classes)
    assert noisy.dtype == y.dtype
    np.testing.assert_array_equal(y, before)


def test_all_flipped_is_the_other_class():
    assert flip_labels([1, 2, 2, 1], 1.0).tolist() == [2, 1, 1, 2]


def test_every_sample_and_every_other_class_is_equally_likely():
    y, n = np.arange(30) % 3, 1000
    draws = np.array([flip_labels(y, 0.2, random_state=seed) for seed in range(n)])
    np.testing.assert_allclose((draws != y).mean(axis=0), 0.2, atol=5.0 * math.sqrt(0.2 * 0.8 / n))
    offsets = ((draws - y) % 3)[draws != y]
    assert np.mean(offsets == 1) == pytest.approx(0.5, abs=5.0 * 0.5 / math.sqrt(len(offsets)))


def test_the_expected_error_is_the_documented_one():
    n, share, error = 20_000, 0.1, 0.25
    truth = np.random.default_rng(0).integers(1, 3, n)
    found = flip_labels(truth, error, random_state=1)
    measured = np.mean(found != flip_labels(truth, share, random_state=2))
    assert measured == pytest.approx(error + share * (1 - 2 * error), abs=5.0 * 0.5 / math.sqrt(n))


def test_two_classes_as_recorded_figures_have_them():
    """The noisy samples are the first draw of the seed."""
    y = np.arange(50) % 2 + 1
    rows = np.random.default_rng(5).choice(50, 5, replace=False)
    assert sorted(np.flatnonzero(flip_labels(y, 0.1, random_state=5) != y)) == sorted(rows)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), "a", None])
def test_other_shares_are_refused(share):
    with pytest.raises(ValueError, match=r"share=.* is not allowed; share takes a number in \[0, 1\]"):
        flip_labels([1, 2], share)


@pytest.mark.parametrize("y", [[1, 1, 1], [[1, 2], [2, 1]], []])
def test_one_class_or_a_table_is_refused(y):
    with pytest.raises(ValueError, match="pass one label per sample, of two or more classes"):
        flip_labels(y)
