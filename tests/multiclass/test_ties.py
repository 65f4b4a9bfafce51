"""Ties of scores: a rule that rounding does not decide, with probabilities and labels that follow it."""

import numpy as np
import pytest

from factories import blobs, make_estimator
from semisvm.multiclass import merge_ties, merge_zeros, votes

ROUNDING = np.array([[0.0, 1e-13, -2e-13], [3e-13, 0.0, 1e-13], [-1e-13, 2e-13, 0.0]])


def test_scores_within_rounding_of_the_largest_one_are_equal_to_it():
    scores = 5.0 + ROUNDING
    merged = merge_ties(scores, 5.0)
    assert (merged == merged[:, :1]).all()
    np.testing.assert_array_equal(merged.argmax(axis=1), 0)
    apart = np.array([[1.0, 1.0 + 1e-6, 0.0], [2.0, -1.0, 2.0 - 1e-6]])
    np.testing.assert_array_equal(merge_ties(apart, 2.0), apart)


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_scores_of_any_size_have_a_zero_of_that_size(size):
    f = size * np.array([[1e-13], [-1e-13], [1e-6], [-1e-6], [1.0]])
    np.testing.assert_array_equal(merge_zeros(f, size), np.where(np.arange(5) < 2, 0.0, f[:, 0])[:, None])


def test_votes_with_equal_pairs_go_to_the_first_class():
    np.testing.assert_array_equal(votes(np.vstack([ROUNDING, [[1.0, 1.0, 1.0]]]), 3), [0, 0, 0, 2])


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rounding_errors_of_scores_change_no_label_and_no_order_of_probabilities(n_classes, multiclass):
    """Where scores are tied the first class wins, whatever their last digits are."""
    X, y = blobs(n_classes, seed=1)
    model = make_estimator("SVM", multiclass=multiclass).fit(X, y)
    n_tasks = len(model.intercept_)
    for noise in (ROUNDING, -ROUNDING, ROUNDING[::-1]):
        tied = (1.0 if n_classes == 3 and multiclass == "ovr" else 0.0) + noise[:, :n_tasks]
        model._scores = lambda X, tied=tied: tied
        np.testing.assert_array_equal(model.predict(X[:3]), model.classes_[0])
        np.testing.assert_array_equal(model.predict_proba(X[:3]).argmax(axis=1), 0)
        assert len(np.unique(model.predict_proba(X[:3])[0])) == 1


def test_labels_do_not_depend_on_the_order_of_samples_where_scores_are_tied():
    X, y = blobs(3, n=60, n_labeled=12, seed=2)
    X = np.round(2.0 * X) / 2.0
    order = np.random.default_rng(2).permutation(len(y))
    one, other = (make_estimator("SwitchingTSVM").fit(X[at], y[at]) for at in (np.arange(len(y)), order))
    np.testing.assert_array_equal(one.transduction_[order], other.transduction_)
