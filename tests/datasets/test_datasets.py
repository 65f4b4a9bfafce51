"""The artificial data of the papers, and hiding labels."""

import math

import numpy as np
import pandas as pd
import pytest

from semisvm._validation import encode_labels
from semisvm.datasets import hide_labels, make_two_gaussians

CLASSES = np.repeat([0, 1, 2], [60, 30, 10])


def test_default_shape_and_dtype():
    X, y = make_two_gaussians(random_state=0)
    assert X.shape == (550, 50)
    assert X.dtype == np.float64
    assert y.shape == (550,)


@pytest.mark.parametrize(("n", "counts"), [(2, [1, 1]), (10, [5, 5]), (11, [6, 5])])
def test_classes_have_equal_sizes_or_one_more_in_the_first(n, counts):
    X, y = make_two_gaussians(n, 3, random_state=1)
    assert X.shape == (n, 3)
    assert np.bincount(y, minlength=3).tolist() == [0, *counts]


def test_samples_are_in_random_order():
    _, y = make_two_gaussians(200, 2, random_state=0)
    assert 60 < (np.diff(y) != 0).sum() < 140  # sorted: 1, alternating: 199


def test_means_and_covariance_are_the_documented_ones():
    n, shift = 20_000, 0.4
    X, y = make_two_gaussians(n, 4, shift=shift, random_state=0)
    five_standard_errors = 5.0 / math.sqrt(n / 2)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), -shift, atol=five_standard_errors)
    np.testing.assert_allclose(X[y == 2].mean(axis=0), shift, atol=five_standard_errors)
    np.testing.assert_allclose(np.cov(X[y == 1].T), np.eye(4), atol=1.5 * five_standard_errors)


@pytest.mark.parametrize(("n_features", "shift"), [(50, 0.23), (4, 0.5), (1, 1.0)])
def test_best_linear_rule_has_the_bayes_error(n_features, shift):
    n = 40_000
    X, y = make_two_gaussians(n, n_features, shift=shift, random_state=0)
    error = ((X.sum(axis=1) > 0) != (y == 2)).mean()
    bayes = 0.5 * math.erfc(shift * math.sqrt(n_features) / math.sqrt(2.0))
    assert error == pytest.approx(bayes, abs=5.0 * math.sqrt(bayes * (1.0 - bayes) / n))


def test_bayes_error_of_the_defaults_is_the_documented_one():
    assert 0.5 * math.erfc(0.23 * math.sqrt(50.0) / math.sqrt(2.0)) == pytest.approx(0.052, abs=5e-4)


@pytest.mark.parametrize("make", [make_two_gaussians, lambda **seed: (hide_labels(CLASSES, 20, **seed),)])
def test_results_depend_on_the_seed_alone(make):
    first, again, other = make(random_state=3), make(random_state=3), make(random_state=4)
    assert all(np.array_equal(a, b) for a, b in zip(first, again))
    assert not any(np.array_equal(a, b) for a, b in zip(first, other))


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
