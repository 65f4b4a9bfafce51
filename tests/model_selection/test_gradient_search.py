"""Gradient search of hyperparameters: what it finds, and that it is an estimator like others."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from factories import blobs, two_gaussians
from semisvm import DCLSSVM, LSSVM, SVM
from semisvm.datasets import make_two_gaussians
from semisvm.model_selection import GCV, OCV, PRESS, EmpiricalError, GradientSearchCV, LabeledKFold, LeaveOneOutError

CHECKED = [
    GradientSearchCV(LSSVM(), starts=[{}], max_iter=20),
    GradientSearchCV(SVM(), starts=[{}], max_iter=20, tol=0.1),
]


def expected_failures(search):
    copies = "a copy of a sample is held out alone, one of weight 2 as a whole"
    return {
        "check_classifiers_classes": "y in {-1, 1}: -1 marks unlabeled samples",
        "check_sample_weight_equivalence_on_dense_data": copies,
        "check_sample_weight_equivalence_on_sparse_data": copies,
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.slow
@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_scikit_learn(estimator, check):
    check(estimator)


def overlapping(n=60, n_labeled=60, seed=0):
    return two_gaussians(n=n, n_labeled=n_labeled, n_features=4, shift=0.6, seed=seed)


def grid_minimum(criterion, model, X, y, C_values, gammas):
    values = [criterion.value(model.set_params(C=C, gamma=gamma), X, y) for C in C_values for gamma in gammas]
    return min(values)


@pytest.mark.parametrize(
    ("model", "criterion"),
    [(LSSVM(1.0, gamma=0.5), PRESS()), (SVM(1.0, gamma=0.5), OCV(2))],
    ids=["press", "folds"],
)
def test_it_is_at_least_as_good_as_a_finer_grid(model, criterion):
    X, y = overlapping(40, 40)
    search = GradientSearchCV(model, criterion, starts=2).fit(X, y)
    assert search.best_criterion_ == pytest.approx(criterion.value(search.best_estimator_, X, y))
    assert search.best_criterion_ == -search.best_score_ == search.path_["criterion"].min()
    best = grid_minimum(criterion, clone(model), X, y, np.geomspace(1e-2, 1e2, 9), 0.5 * np.geomspace(1e-2, 1e2, 9))
    assert search.best_criterion_ <= best * (1.0 + 1e-6)


def test_a_smooth_criterion_ends_where_its_gradient_is_zero():
    X, y = overlapping()
    search = GradientSearchCV(LSSVM(1.0, gamma=0.5), "gcv").fit(X, y)
    value, gradient = GCV().value_and_gradient(search.best_estimator_, X, y)
    assert search.converged_.any()
    assert max(abs(one) for one in gradient.values()) < 1e-3 * value


def test_it_repairs_hyperparameters_that_are_far_off():
    X, y = make_two_gaussians(160, 6, shift=0.6, random_state=0)
    train, test = slice(0, 80), slice(80, None)
    poor = LSSVM(100.0, gamma=3.0)
    search = GradientSearchCV(poor).fit(X[train], y[train])
    assert search.score(X[test], y[test]) > clone(poor).fit(X[train], y[train]).score(X[test], y[test]) + 0.1


def test_unlabeled_samples_are_part_of_folds_and_of_the_last_fit():
    X, y = overlapping(50, 20)
    search = GradientSearchCV(DCLSSVM(), EmpiricalError(3), starts=[{}], max_iter=30, tol=1e-2).fit(X, y)
    again = DCLSSVM(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.transduction_, again.transduction_)
    np.testing.assert_array_equal(search.decision_function(X), again.decision_function(X))
    assert search.best_criterion_ == pytest.approx(EmpiricalError(3).value(again, X, y))
    assert search.best_criterion_ < EmpiricalError(3).value(DCLSSVM(), X, y)


def test_one_eigendecomposition_serves_all_costs(monkeypatch):
    calls, eigh = [], np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda K: calls.append(len(K)) or eigh(K))
    X, y = overlapping()
    search = GradientSearchCV(LSSVM(gamma=0.3), "press", params=["C"]).fit(X, y)
    assert len(calls) == 1
    assert search.n_iter_ > 15
    calls.clear()
    search.set_params(params=None).fit(X, y)
    grid = search.path_["start"] == -1
    assert len(calls) == len(np.unique(search.path_["param_gamma"][grid].round(12))) < grid.sum() / 5


def test_starts_and_bounds_are_kept():
    X, y = overlapping()
    starts = [{"C": 5.0}, {"gamma": 2.0}, {"C": 1e9, "gamma": 0.1}]
    bounds = {"C": (0.5, 20.0)}
    search = GradientSearchCV(LSSVM(2.0, gamma=0.3), "press", starts=starts, bounds=bounds).fit(X, y)
    assert search.starts_ == [
        pytest.approx(one) for one in ({"C": 5, "gamma": 0.3}, {"C": 2, "gamma": 2.0}, {"C": 20, "gamma": 0.1})
    ]
    assert set(search.path_["start"]) == {0, 1, 2}
    assert len(search.converged_) == 3
    assert search.path_["param_C"].min() >= 0.5 * (1 - 1e-12)
    assert search.path_["param_C"].max() <= 20.0 * (1 + 1e-12)
    assert {len(column) for column in search.path_.values()} == {search.n_iter_}


def test_searches_are_repeatable_and_leave_the_estimator_as_it_is():
    X, y = overlapping(40, 20)
    model = DCLSSVM(random_state=None)
    one, other = (GradientSearchCV(model, "evidence", starts=[{}], max_iter=20, tol=1e-2).fit(X, y) for _ in range(2))
    assert one.best_params_ == other.best_params_
    assert not hasattr(model, "C_")


CONTAINERS = {"frame": pd.DataFrame, "csr": sparse.csr_matrix, "csr array": sparse.csr_array, "float32": np.float32}


@pytest.mark.parametrize("name", CONTAINERS)
def test_samples_come_in_any_container_and_labels_as_text(name):
    X, y = overlapping(50, 30)
    text = pd.Series(y).map({1: "no", 2: "yes", -1: None})
    X = X.astype(np.float32).astype(float)
    plain = GradientSearchCV(LSSVM(), "press", starts=1).fit(X, y)
    given = X.copy() if name == "frame" else X
    search = GradientSearchCV(LSSVM(), "press", starts=1).fit(CONTAINERS[name](given), text)
    for key, value in plain.best_params_.items():
        assert search.best_params_[key] == pytest.approx(value, rel=1e-3)
    predicted = search.predict(CONTAINERS[name](X))
    np.testing.assert_array_equal(predicted == "yes", plain.predict(X) == 2)
    assert list(search.classes_) == ["no", "yes"]
    assert search.predict_proba(CONTAINERS[name](X)).shape == (50, 2)


def test_a_precomputed_kernel_has_its_cost_searched():
    X, y = overlapping()
    linear = GradientSearchCV(LSSVM(kernel="linear"), "press").fit(X, y)
    given = GradientSearchCV(LSSVM(kernel="precomputed"), "press").fit(X @ X.T, y)
    assert list(given.best_params_) == ["C"]
    assert given.best_criterion_ == pytest.approx(linear.best_criterion_, rel=1e-6)
    np.testing.assert_array_equal(given.predict(X @ X.T), linear.predict(X))


def test_several_classes_and_weights():
    X, y = blobs(n_classes=3, n=60, n_labeled=45)
    weights = np.random.default_rng(0).uniform(0.0, 2.0, 60)
    weights[:5] = 0.0
    search = GradientSearchCV(LSSVM(100.0, gamma=3.0), "press", starts=1).fit(X, y, sample_weight=weights)
    assert search.best_criterion_ == pytest.approx(PRESS().value(search.best_estimator_, X, y, weights))
    tuned, given = (LeaveOneOutError().value(one, X, y, weights) for one in (search.best_estimator_, search.estimator))
    assert tuned < given


def test_it_can_be_cross_validated():
    X, y = overlapping(60, 30)
    search, folds = GradientSearchCV(LSSVM(), starts=[{}]), LabeledKFold(3)
    scores = cross_val_score(search, X, y, cv=folds, error_score="raise")
    by_hand = [search.fit(X[train], y[train]).score(X[test], y[test]) for train, test in folds.split(X, y)]
    np.testing.assert_array_equal(scores, by_hand)


def test_without_a_last_fit_there_are_parameters_only():
    X, y = overlapping()
    search = GradientSearchCV(LSSVM(), "press", starts=[{}], refit=False).fit(X, y)
    assert search.best_params_
    with pytest.raises(AttributeError, match="refit=False: no estimator was fitted"):
        search.predict(X)
    with pytest.raises(NotFittedError):
        clone(search).predict(X)


def test_a_descent_that_is_cut_short_says_so():
    X, y = overlapping()
    with pytest.warns(ConvergenceWarning, match="max_iter=1 reached by the descent from start 0"):
        search = GradientSearchCV(LSSVM(100.0, gamma=3.0), "press", starts=[{}], max_iter=1).fit(X, y)
    assert not search.converged_[0]


REFUSED = {
    "criterion": ({"criterion": "error"}, "criterion='error' is not allowed; criterion takes one of 'empirical_error'"),
    "no gradient": ({"criterion": LeaveOneOutError()}, "LeaveOneOutError is constant almost everywhere"),
    "bounds": ({"bounds": {"C": (2.0, 1.0)}}, r"bounds\['C'\]=\(2.0, 1.0\) is not allowed"),
    "bounds of others": ({"bounds": {"degree": (1, 2)}}, "bounds takes a mapping from names out of C, gamma"),
    "starts": ({"starts": 0}, "starts=0 is not allowed; starts takes a whole number of 1"),
    "starts of others": ({"starts": [{"degree": 2}]}, "starts takes a whole number of 1 or more, or mappings"),
    "start": ({"starts": [{"C": -1.0}]}, "C=-1.0 is not allowed"),
    "max_iter": ({"max_iter": 0}, "max_iter=0 is not allowed"),
    "tol": ({"tol": -1.0}, "tol=-1.0 is not allowed"),
    "refit": ({"refit": "yes"}, "refit='yes' is not allowed"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_parameters_are_checked(name):
    params, message = REFUSED[name]
    X, y = overlapping()
    with pytest.raises(ValueError, match=message):
        GradientSearchCV(LSSVM()).set_params(**params).fit(X, y)
