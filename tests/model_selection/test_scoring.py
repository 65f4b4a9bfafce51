"""Scores on labeled samples alone."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, get_scorer, log_loss, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from factories import two_gaussians
from semisvm import LSSVM
from semisvm.model_selection import LabeledKFold, make_labeled_scorer


@pytest.fixture(scope="module")
def fitted():
    X, y = two_gaussians(n=80, n_labeled=40)
    return LSSVM().fit(X, y), X, y


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss", "neg_brier_score"])
def test_named_scores_are_those_of_the_labeled_samples(fitted, name):
    model, X, y = fitted
    known = y > 0
    expected = get_scorer(name)(model, X[known], y[known])
    assert make_labeled_scorer(name)(model, X, y) == expected


def test_a_metric_is_called_with_what_it_asks_for(fitted):
    model, X, y = fitted
    known = y > 0
    by_labels = make_labeled_scorer(f1_score, pos_label=2)(model, X, y)
    assert by_labels == f1_score(y[known], model.predict(X)[known], pos_label=2)
    by_scores = make_labeled_scorer(roc_auc_score, response_method="decision_function")(model, X, y)
    assert by_scores == roc_auc_score(y[known], model.decision_function(X)[known])
    by_probabilities = make_labeled_scorer(log_loss, response_method="predict_proba", greater_is_better=False)
    assert by_probabilities(model, X, y) == -log_loss(y[known], model.predict_proba(X)[known])


def test_scorers_are_taken_as_they_are(fitted):
    model, X, y = fitted
    known = y > 0

    def n_samples(estimator, X, y):
        return 1000 * len(y) + X.shape[0]

    assert make_labeled_scorer(n_samples)(model, X, y) == known.sum() * 1001
    made = make_labeled_scorer(make_scorer(accuracy_score))
    assert made(model, X, y) == make_labeled_scorer(made)(model, X, y) == model.score(X, y)


@pytest.mark.parametrize("container", [pd.DataFrame, sparse.csr_matrix, sparse.csr_array, np.ndarray.tolist])
def test_samples_come_in_any_container(fitted, container):
    model, X, y = fitted
    assert make_labeled_scorer()(LSSVM().fit(X, y), container(X), y) == model.score(X, y)


def test_labels_are_marked_as_in_the_estimators(fitted):
    model, X, y = fitted
    text = pd.Series(y).map({1: "a", 2: "b", -1: "?"})
    scored = make_labeled_scorer(unlabeled="?")(LSSVM(unlabeled="?").fit(X, text), X, text)
    assert scored == model.score(X, y)


def test_weights_are_those_of_the_labeled_samples(fitted):
    model, X, y = fitted
    weights = np.random.default_rng(0).uniform(size=len(y))
    expected = model.score(X, y, sample_weight=weights)
    assert make_labeled_scorer()(model, X, y, sample_weight=weights) == pytest.approx(expected)


def test_weights_are_routed():
    X, y = two_gaussians(n=60, n_labeled=30)
    weights = np.random.default_rng(0).uniform(size=len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_labeled_scorer().set_score_request(sample_weight=True)
        model = LSSVM().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        found = cross_val_score(
            model, X, y, cv=KFold(3), scoring=scorer, params={"sample_weight": weights}, error_score="raise"
        )
    for score, (train, test) in zip(found, KFold(3).split(X)):
        one = LSSVM().fit(X[train], y[train], sample_weight=weights[train])
        assert score == pytest.approx(one.score(X[test], y[test], sample_weight=weights[test]))


def test_other_classifiers_are_not_blamed_for_unlabeled_samples():
    X, y = two_gaussians(n=80, n_labeled=40, shift=1.5)
    model = LogisticRegression().fit(X[y > 0], y[y > 0])
    assert make_labeled_scorer()(model, X, y) > 0.9
    assert get_scorer("accuracy")(model, X, y) < 0.6


def test_it_is_a_scorer_of_grid_search():
    X, y = two_gaussians(n=60, n_labeled=30)
    grid = {"C": [1e-3, 1.0]}
    search = GridSearchCV(LSSVM(), grid, cv=LabeledKFold(3), scoring=make_labeled_scorer()).fit(X, y)
    plain = GridSearchCV(LSSVM(), grid, cv=LabeledKFold(3)).fit(X, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


def test_what_is_no_score_is_refused():
    with pytest.raises(ValueError, match="score=3 is not allowed"):
        make_labeled_scorer(3)
    with pytest.raises(ValueError, match="pos_label: options are for metrics; 'accuracy' is a scorer"):
        make_labeled_scorer("accuracy", pos_label=2)
