"""Folds of the labeled samples, alone and inside scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from semisvm import CCCPTSVM
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.model_selection import LabeledKFold


def partly_labeled(n=90, n_labeled=30, n_features=5):
    X, y = make_two_gaussians(n, n_features, shift=1.0, random_state=0)
    return X, hide_labels(y, n_labeled, random_state=0)


def uneven_labels():
    """20 samples of class 1, 10 of class 2, 30 unlabeled, mixed."""
    return np.random.default_rng(0).permutation(np.repeat([1, 2, -1], [20, 10, 30]))


def folds_of(y, splitter):
    return list(splitter.split(np.zeros((len(y), 1)), y))


def model():
    return CCCPTSVM(1.0, kernel="linear")


both_orders = pytest.mark.parametrize(
    "splitter", [LabeledKFold(5), LabeledKFold(5, shuffle=True, random_state=1)], ids=["as is", "shuffled"]
)


@both_orders
def test_unlabeled_samples_always_train_and_labeled_samples_are_held_out_once(splitter):
    y = uneven_labels()
    folds = folds_of(y, splitter)
    assert len(folds) == splitter.get_n_splits() == 5
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.flatnonzero(y > 0))
    for train, test in folds:
        assert set(np.flatnonzero(y == -1)) <= set(train)
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(len(y)))


@both_orders
def test_every_fold_has_the_class_shares_of_the_labeled_samples(splitter):
    y = uneven_labels()
    for _, test in folds_of(y, splitter):
        np.testing.assert_array_equal(np.bincount(y[test]), [0, 4, 2])


def test_shuffled_folds_follow_their_seed():
    _, y = partly_labeled()

    def held(seed):
        return [test.tolist() for _, test in folds_of(y, LabeledKFold(3, shuffle=True, random_state=seed))]

    assert held(0) == held(0)
    assert held(0) != held(1)


def test_folds_that_are_not_shuffled_ignore_the_seed():
    _, y = partly_labeled()
    plain, seeded = folds_of(y, LabeledKFold(3)), folds_of(y, LabeledKFold(3, random_state=7))
    assert all(np.array_equal(a, b) for one, other in zip(plain, seeded) for a, b in zip(one, other))


MARKED = {
    "text with NaN": (["a", "b", np.nan, "a", "b", np.nan], -1),
    "text with None": (["a", "b", None, "a", "b", None], -1),
    "pandas text with NaN": (pd.Series(["a", "b", None, "a", "b", None]), -1),
    "signs with zero": ([-1, 1, 0, -1, 1, 0], 0),
    "question marks": (["a", "b", "?", "a", "b", "?"], "?"),
}


@pytest.mark.parametrize(("y", "marker"), MARKED.values(), ids=MARKED)
def test_markers_are_those_of_the_estimators(y, marker):
    folds = folds_of(y, LabeledKFold(2, unlabeled=marker))
    assert [test.tolist() for _, test in folds] == [[0, 1], [3, 4]]
    assert [train.tolist() for train, _ in folds] == [[2, 3, 4, 5], [0, 1, 2, 5]]


def test_without_unlabeled_samples_the_folds_are_stratified_folds():
    y = np.array([1, 2, 2, 1, 1, 2])
    for train, test in folds_of(y, LabeledKFold(3)):
        np.testing.assert_array_equal(np.bincount(y[test]), [0, 1, 1])
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(6))


def test_too_few_labels_of_a_class_are_refused_with_what_to_do():
    y = [1, 1, 1, 1, 2, 2, -1, -1, -1]
    with pytest.raises(
        ValueError, match=r"n_splits=3 is more than the 2 labeled samples.*use fewer folds or label more"
    ):
        folds_of(y, LabeledKFold(3))


@pytest.mark.parametrize("n_splits", [1, 2.5, "3"])
def test_the_number_of_folds_is_whole_and_at_least_two(n_splits):
    with pytest.raises(ValueError, match=r"n_splits=.*whole number of 2 or more"):
        folds_of([1, 2, 1, 2, -1], LabeledKFold(n_splits))


def test_cross_val_score_is_the_mean_over_held_out_labeled_samples():
    X, y = partly_labeled()
    folds = LabeledKFold(3)
    by_hand = [
        accuracy_score(y[test], model().fit(X[train], y[train]).predict(X[test])) for train, test in folds.split(X, y)
    ]
    np.testing.assert_allclose(cross_val_score(model(), X, y, cv=folds), by_hand)
    assert np.mean(by_hand) > 0.8


def test_cross_val_score_takes_text_with_nan():
    X, y = partly_labeled()
    text = pd.Series(y).map({1: "one", 2: "two", -1: None}).to_numpy()
    found = cross_val_score(model(), X, text, cv=LabeledKFold(3))
    np.testing.assert_allclose(found, cross_val_score(model(), X, y, cv=LabeledKFold(3)))


def test_grid_search_finds_the_cost_that_wins_on_labeled_samples():
    X, y = partly_labeled()
    grid, folds = [1e-3, 1.0], LabeledKFold(3)
    search = GridSearchCV(model(), {"C": grid}, cv=folds).fit(X, y)
    scores = [cross_val_score(model().set_params(C=C), X, y, cv=folds).mean() for C in grid]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], scores)
    assert search.best_params_["C"] == grid[int(np.argmax(scores))]
    best = clone(model()).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_allclose(search.best_estimator_.decision_function(X), best.decision_function(X))


def test_cross_val_predict_says_that_unlabeled_samples_are_never_held_out():
    X, y = partly_labeled()
    with pytest.raises(ValueError, match="only works for partitions"):
        cross_val_predict(model(), X, y, cv=LabeledKFold(3))
