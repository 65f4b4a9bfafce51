"""Hiding labels."""

import math

import numpy as np
import pandas as pd
import pytest

from semisvm._validation import encode_labels
from semisvm.datasets import hide_labels

CLASSES = np.repeat([0, 1, 2], [60, 30, 10])


def test_results_depend_on_the_seed_alone():
    first, again, other = (hide_labels(CLASSES, 20, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def kept(y, hidden):
    """Mask of the samples that have a label, after checking that it is the original one."""
    mask = hidden != -1
    np.testing.assert_array_equal(hidden[mask], y[mask])
    return mask


@pytest.mark.parametrize("n_labeled", [3, 4, 10, 17, 50, 99, 100])
def test_number_of_labeled_samples_is_exact_and_every_class_has_one(n_labeled):
    mask = kept(CLASSES, hide_labels(CLASSES, n_labeled, random_state=0))
    assert mask.sum() == n_labeled
    assert np.bincount(CLASSES[mask], minlength=3).min() >= 1


@pytest.mark.parametrize("n_labeled", [10, 20, 50])
def test_class_shares_are_kept(n_labeled):
    mask = kept(CLASSES, hide_labels(CLASSES, n_labeled, random_state=0))
    np.testing.assert_array_equal(np.bincount(CLASSES[mask]), np.array([60, 30, 10]) * n_labeled / 100)


@pytest.mark.parametrize("n_labeled", [3, 4, 5])
def test_rare_classes_do_not_increase_the_number(n_labeled):
    y = np.repeat([0, 1, 2], [98, 1, 1])
    mask = kept(y, hide_labels(y, n_labeled, random_state=0))
    assert mask.sum() == n_labeled
    assert np.bincount(y[mask]).tolist() == [n_labeled - 2, 1, 1]


@pytest.mark.parametrize("share", [0.1, 0.29, 0.57, 0.5])
def test_float_below_one_is_a_share(share):
    mask = kept(CLASSES, hide_labels(CLASSES, share, random_state=0))
    assert mask.sum() == round(100 * share)


def test_all_samples_are_equally_likely_to_keep_their_label():
    y = np.repeat([0, 1], 50)
    frequency = np.mean([kept(y, hide_labels(y, 20, random_state=seed)) for seed in range(300)], axis=0)
    np.testing.assert_allclose(frequency, 0.2, atol=5.0 * math.sqrt(0.2 * 0.8 / 300))


HIDDEN = {
    "list": ([1, 2] * 5, -1),
    "text": (["a", "b"] * 5, -1),
    "text array": (np.array(["long", "b"] * 5), "unlabeled"),
    "text and None": (["a", "b"] * 5, None),
    "floats and NaN": (np.array([1.0, 2.0] * 5), np.nan),
    "numbers and None": ([1, 2] * 5, None),
    "booleans": ([True, False] * 5, -1),
    "unsigned": (np.array([1, 2] * 5, dtype=np.uint8), -1),
    "pandas": (pd.Series(["a", "b"] * 5), -1),
}


@pytest.mark.parametrize(("y", "marker"), HIDDEN.values(), ids=HIDDEN)
def test_estimators_read_hidden_labels_as_unlabeled(y, marker):
    found = encode_labels(hide_labels(y, 4, random_state=0, marker=marker), marker)
    truth = encode_labels(y, marker)
    assert found.is_labeled.sum() == 4
    assert found.classes.tolist() == truth.classes.tolist()
    np.testing.assert_array_equal(found.codes[found.is_labeled], truth.codes[found.is_labeled])


def test_input_is_not_modified():
    y = CLASSES.copy()
    hide_labels(y, 10, random_state=0)
    np.testing.assert_array_equal(y, CLASSES)


@pytest.mark.parametrize("n_labeled", [2, 0, -5, 101, 0.01, 1.0])
def test_invalid_numbers_are_refused_with_the_allowed_range(n_labeled):
    with pytest.raises(
        ValueError, match=rf"n_labeled={n_labeled} means .* labeled samples; 100 samples of 3 classes allow 3 to 100"
    ):
        hide_labels(CLASSES, n_labeled)
