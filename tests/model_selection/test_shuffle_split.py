"""Random splits of the labeled samples, alone and inside scikit-learn's searches."""

import numpy as np
import pandas as pd
import pytest
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    cross_val_score,
    cross_validate,
)

from factories import two_gaussians
from semisvm import LSSVM
from semisvm.model_selection import LabeledShuffleSplit


def splits_of(y, splitter):
    return list(splitter.split(np.zeros((len(y), 1)), y))


def uneven_labels():
    """20 samples of class 1, 10 of class 2, one of class 3, 30 unlabeled, mixed."""
    return np.random.default_rng(0).permutation(np.repeat([1, 2, 3, -1], [20, 10, 1, 30]))


def test_held_out_samples_have_the_class_shares_of_the_labeled_ones():
    y = uneven_labels()
    for train, test in splits_of(y, LabeledShuffleSplit(5, test_size=6, random_state=0)):
        np.testing.assert_array_equal(np.bincount(y[test], minlength=4), [0, 4, 2, 0])
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(len(y)))


def test_a_share_to_hold_out_is_rounded_up():
    y = uneven_labels()
    assert [len(test) for _, test in splits_of(y, LabeledShuffleSplit(2, test_size=0.1, random_state=0))] == [4, 4]


def test_training_parts_of_a_given_size_leave_the_other_labeled_samples_out():
    y = uneven_labels()
    for train, test in splits_of(y, LabeledShuffleSplit(5, test_size=6, train_size=6, random_state=0)):
        counts = np.bincount(y[train][y[train] > 0], minlength=4)
        np.testing.assert_array_equal(counts[3], 1)
        assert counts.sum() == 6
        assert abs(counts[1] - 6 * 20 / 31) < 1.5
        assert not set(train) & set(test)
        assert np.sum(y[train] == -1) == 30


def test_every_class_is_held_out_at_some_time_where_classes_tie():
    y = np.array([1, 1, 2, 2, -1])
    held = {int(y[test][0]) for _, test in splits_of(y, LabeledShuffleSplit(20, test_size=1, random_state=0))}
    assert held == {1, 2}


def test_splits_follow_their_seed():
    y = uneven_labels()

    def held(seed):
        return [test.tolist() for _, test in splits_of(y, LabeledShuffleSplit(3, random_state=seed))]

    assert held(0) == held(0)
    assert held(0) != held(1)
    assert len({tuple(test) for test in held(0)}) == 3


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"test_size": 0}, "test_size=0 is not allowed"),
        ({"test_size": 1.0}, "test_size=1.0 is not allowed"),
        ({"test_size": 29}, "holds out 29 of 31 labeled samples.*leaves 28; use a smaller"),
        ({"train_size": 2}, "trains on 2 of 31.*between 3.*and 23"),
        ({"train_size": 0.9}, "trains on 27 of 31"),
        ({"n_splits": 0}, "n_splits=0 is not allowed"),
    ],
)
def test_sizes_that_cannot_be_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        splits_of(uneven_labels(), LabeledShuffleSplit(**params))


def test_text_with_nan_is_split_like_numbers():
    y = uneven_labels()
    text = pd.Series(y).map({1: "one", 2: "three", 3: "two", -1: None})
    numbers = np.where(y > 1, 5 - y, y)  # in the order of the texts
    for (a, b), (c, d) in zip(
        splits_of(text, LabeledShuffleSplit(3, random_state=0)),
        splits_of(numbers, LabeledShuffleSplit(3, random_state=0)),
    ):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)


def searches(splitter):
    grid = {"C": [1e-4, 1.0]}
    return {
        "grid": GridSearchCV(LSSVM(), grid, cv=splitter),
        "random": RandomizedSearchCV(LSSVM(), grid, n_iter=2, cv=splitter, random_state=0),
        "halving": HalvingGridSearchCV(LSSVM(), grid, cv=splitter, resource="degree", max_resources=4, random_state=0),
    }


@pytest.mark.parametrize("name", ["grid", "random", "halving"])
def test_searches_score_every_candidate_on_the_same_held_out_samples(name):
    X, y = two_gaussians(n=60, n_labeled=20)
    splitter = LabeledShuffleSplit(3, random_state=0)
    search = searches(splitter)[name].fit(X, y)
    for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"]):
        by_hand = [
            LSSVM(C=params["C"]).fit(X[train], y[train]).score(X[test], y[test]) for train, test in splitter.split(X, y)
        ]
        np.testing.assert_allclose(score, np.mean(by_hand))


def test_cross_validate_and_cross_val_score_agree():
    X, y = two_gaussians(n=60, n_labeled=20)
    splitter = LabeledShuffleSplit(3, random_state=0)
    found = cross_validate(LSSVM(), X, y, cv=splitter, scoring=["accuracy", "roc_auc"])
    np.testing.assert_array_equal(found["test_accuracy"], cross_val_score(LSSVM(), X, y, cv=splitter))
    assert len(found["test_roc_auc"]) == 3
