"""What self-training and Help-Training share: the final model, invariances, labels, samples, weights, kernel values."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from factories import blobs, make_estimator
from rounds_reference import assert_rounds_add_up, assert_same_rounds, in_short_rounds, partly_labeled_blobs
from semisvm import CCCPTSVM, LSSVM, SVM, SelfTraining
from semisvm.model_selection import LabeledKFold
from semisvm.self_training import WRAPPERS

both = pytest.mark.parametrize("name", WRAPPERS)


# -------------------------------------------------------------------- the final model


@both
@pytest.mark.parametrize("k, model", [(2, LSSVM()), (3, SVM(tol=1e-7))], ids=["LSSVM", "SVM"])
@pytest.mark.parametrize("max_iter", [None, 2])
def test_final_model_is_that_of_all_labels(name, k, model, max_iter):
    X, y, truth = partly_labeled_blobs(k, distance=2.0)
    fitted = in_short_rounds(name, model, max_iter=max_iter).fit(X, y)
    assert_rounds_add_up(fitted, y)
    assert (fitted.n_iter_ > 3) if max_iter is None else (fitted.n_iter_ == 3)
    assert fitted.termination_condition_ == ("all_labeled" if max_iter is None else "max_iter")
    inner, labeled = fitted.estimator_, fitted.labeled_iter_ >= 0
    assert inner.gamma_ == pytest.approx(type(model)().fit(X, truth).gamma_)  # of all samples
    again = clone(inner).set_params(C=inner.C_, gamma=inner.gamma_)
    again.fit(X, np.where(labeled, fitted.transduction_, None))
    assert_array_equal(fitted.transduction_, np.where(labeled, fitted.transduction_, again.predict(X)))
    atol = 1e-9 if isinstance(model, LSSVM) else 1e-6
    assert_allclose(fitted.decision_function(X), again.decision_function(X), rtol=0, atol=atol)
    assert_array_equal(fitted.predict(X), inner.predict(X))
    assert_array_equal(fitted.classes_[fitted.predict_proba(X).argmax(axis=1)], inner.predict(X))
    assert fitted.score(X, truth) > 0.85


@both
@pytest.mark.parametrize("k, model", [(3, LSSVM()), (2, SVM()), (3, RidgeClassifier())], ids=["LSSVM", "SVM", "Ridge"])
def test_without_unlabeled_samples_it_is_the_supervised_model(name, k, model):
    X, y, truth = partly_labeled_blobs(k)
    fitted, supervised = make_estimator(name, estimator=model).fit(X, truth), clone(model).fit(X, truth)
    assert_array_equal(fitted.decision_function(X), supervised.decision_function(X))
    assert_array_equal(fitted.predict(X), supervised.predict(X))
    assert_array_equal(fitted.transduction_, truth)
    assert (fitted.labeled_iter_ == 0).all()
    assert (fitted.termination_condition_, fitted.n_iter_, fitted.trace_) == ("all_labeled", 1, [])
    fitted.fit(X, y, sample_weight=y != -1)  # unlabeled samples of weight zero
    assert_allclose(fitted.decision_function(X), fitted.supervised_.decision_function(X), rtol=1e-12)
    assert_array_equal(fitted.transduction_, np.where(y == -1, fitted.predict(X), y))
    assert (fitted.termination_condition_, fitted.n_iter_) == ("all_labeled", 1)


# -------------------------------------------------------------------- what does not matter


@both
@pytest.mark.parametrize("k, model", [(2, LSSVM()), (3, SVM(tol=1e-7)), (3, RidgeClassifier())], ids=lambda v: str(v))
def test_order_of_samples_and_names_of_classes_do_not_matter(name, k, model):
    X, y, _ = partly_labeled_blobs(k)
    fitted = in_short_rounds(name, model).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = in_short_rounds(name, model).fit(X[order], y[order])
    assert_array_equal(shuffled.labeled_iter_, fitted.labeled_iter_[order])
    assert_array_equal(shuffled.transduction_, fitted.transduction_[order])
    assert_allclose(shuffled.decision_function(X), fitted.decision_function(X), atol=1e-5)
    names = np.array(["", "zebra", "ape", "cat"], dtype=object)
    named = in_short_rounds(name, model).fit(X, np.where(y == -1, "", names[y]))
    assert_array_equal(named.labeled_iter_, fitted.labeled_iter_)
    assert_array_equal(named.transduction_, names[fitted.transduction_])
    assert_array_equal(named.predict(X), names[fitted.predict(X)])


@both
@pytest.mark.parametrize(
    "change",
    {
        "one feature": lambda X: X[:, :1],
        "constant features": lambda X: np.c_[X, np.ones(len(X)), np.zeros(len(X))],
        "duplicates": lambda X: np.r_[X[:30], X[:30]],
        "all samples equal": lambda X: np.ones_like(X),
        "far from the origin": lambda X: X + 1e5,
        "tiny": lambda X: X * 1e-6,
    }.items(),
    ids=lambda item: item[0],
)
def test_degenerate_samples_all_get_a_label(name, change):
    X, y, _ = partly_labeled_blobs()
    X = change[1](X)
    for model in (LSSVM(), SVM(), RidgeClassifier()):
        fitted = in_short_rounds(name, model).fit(X, y)
        assert fitted.termination_condition_ == "all_labeled"
        assert np.isfinite(fitted.decision_function(X)).all()
        assert_rounds_add_up(fitted, y)


@both
def test_samples_of_confidence_zero_get_a_label_in_the_end(name):
    X, y = np.ones((30, 2)), np.repeat([1, 2, -1], 10)
    fitted = in_short_rounds(name, RidgeClassifier()).fit(X, y)
    assert not fitted.supervised_.decision_function(X).any()
    assert (fitted.confidence_[fitted.labeled_iter_ == 1] == 0).all()
    assert fitted.termination_condition_ == "all_labeled"


@both
@pytest.mark.parametrize("k, multiclass", [(2, "joint"), (3, "ovr")])
def test_fitted_estimator_is_saved_copied_and_cloned_and_keeps_its_samples(name, k, multiclass):
    X, y, _ = partly_labeled_blobs(k)
    given = X.copy(), y.copy()
    fitted = in_short_rounds(name, SVM(), multiclass=multiclass).fit(*given)
    assert_array_equal(given[0], X)
    assert_array_equal(given[1], y)
    given[0][:] = 0.0
    for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted), clone(fitted).fit(X, y)):
        assert_same_rounds(again, fitted)
        assert_array_equal(again.decision_function(X), fitted.decision_function(X))
        assert_array_equal(again.supervised_.decision_function(X), fitted.supervised_.decision_function(X))
        assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


@both
def test_another_fit_replaces_the_first(name):
    X, y, _ = partly_labeled_blobs(3)
    other_X, other_y, _ = partly_labeled_blobs(2, seed=1)
    fitted = in_short_rounds(name, SVM(), multiclass="ovr").fit(X, y)
    first = fitted.supervised_
    fitted.fit(other_X, other_y)
    fresh = in_short_rounds(name, SVM(), multiclass="ovr").fit(other_X, other_y)
    assert vars(fitted).keys() == vars(fresh).keys()
    assert not hasattr(fitted, "estimators_")
    assert fitted.supervised_ is not first
    assert_same_rounds(fitted, fresh)
    assert_array_equal(fitted.predict_proba(other_X), fresh.predict_proba(other_X))
    fitted.fit(X, y)
    assert not hasattr(fitted, "estimator_")
    assert fitted.decision_function(X).shape == (60, 3)


@both
def test_parameters_of_the_estimator_inside_are_nested_and_searched(name):
    X, y, truth = partly_labeled_blobs(n_labeled=24, distance=2.0)
    estimator = in_short_rounds(name, LSSVM(C=3.0))
    assert estimator.get_params()["estimator__C"] == 3.0
    fitted = clone(estimator.set_params(estimator__C=5.0)).fit(X, y)
    assert fitted.estimator_.C_ == fitted.estimator.C == 5.0
    assert not hasattr(fitted.estimator, "classes_")
    grid = {"estimator__C": [1e-4, 3.0], "balance": [None, "labeled"]}
    search = GridSearchCV(estimator, grid, cv=LabeledKFold(3), error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert (search.cv_results_["mean_test_score"] > 0.5).any()
    assert search.score(X, truth) > 0.8
    assert search.best_params_["estimator__C"] == search.best_estimator_.estimator_.C_


# -------------------------------------------------------------------- labels and samples in all forms


@pytest.mark.parametrize(
    "labels, unlabeled",
    [
        (lambda y: pd.Series([None if v == -1 else f"class {v}" for v in y], dtype="category"), -1),
        (lambda y: np.where(y == -1, 0, np.where(y == 1, -1, 1)), 0),
        (lambda y: np.where(y == -1, np.nan, np.where(y == 1, -1, 1)), None),
    ],
    ids=["category", "signs and zero", "signs and NaN"],
)
@pytest.mark.parametrize("model", [LSSVM(), SVC(), CCCPTSVM()], ids=["LSSVM", "SVC", "CCCPTSVM"])
def test_labels_of_any_kind(model, labels, unlabeled):
    X, y, _ = partly_labeled_blobs()
    expected = SelfTraining(model, 0.5, max_iter=3).fit(X, y)
    fitted = SelfTraining(model, 0.5, max_iter=3, unlabeled=unlabeled).fit(X, labels(y))
    assert_array_equal(fitted.labeled_iter_, expected.labeled_iter_)
    assert_array_equal(fitted.transduction_ == fitted.classes_[1], expected.transduction_ == 2)
    assert_allclose(fitted.decision_function(X), expected.decision_function(X))
    assert_array_equal(fitted.predict(X) == fitted.classes_[1], expected.predict(X) == 2)
    assert set(fitted.transduction_.tolist()) == set(fitted.classes_.tolist())
    assert_allclose(fitted.supervised_.decision_function(X), expected.supervised_.decision_function(X))
    assert_array_equal(fitted.supervised_.classes_, fitted.classes_)


@both
@pytest.mark.parametrize(
    "convert",
    [
        lambda X: pd.DataFrame(X, columns=["f0", "f1", "f2"]),
        lambda X: sparse.csr_array(X),
        lambda X: X.astype(np.float32),
    ],
    ids=["pandas", "csr_array", "float32"],
)
@pytest.mark.filterwarnings("ignore:X has feature names, but StandardScaler was fitted without feature names")
def test_samples_of_any_kind(name, convert):
    X, y, _ = partly_labeled_blobs()
    X = np.where(np.abs(X) < 0.4, 0.0, X).astype(np.float32).astype(np.float64)
    pipeline = make_pipeline(StandardScaler(with_mean=False), RidgeClassifier())
    for model, atol in ((LSSVM(), 1e-3), (SVM(kernel="linear"), 1e-2), (pipeline, 1e-3)):
        expected = in_short_rounds(name, model, max_iter=3).fit(X, y)
        fitted = in_short_rounds(name, model, max_iter=3).fit(convert(X), y)
        assert_array_equal(fitted.labeled_iter_, expected.labeled_iter_)
        assert_allclose(fitted.decision_function(convert(X)), expected.decision_function(X), atol=atol)
        assert_array_equal(fitted.supervised_.predict(convert(X)), expected.supervised_.predict(X))
        if hasattr(convert(X), "columns"):
            assert_array_equal(fitted.feature_names_in_, ["f0", "f1", "f2"])


@both
@pytest.mark.parametrize(
    "k, model", [(3, LSSVM(3.0)), (2, SVM(3.0, tol=1e-7)), (3, RidgeClassifier())], ids=["LSSVM", "SVM", "Ridge"]
)
def test_sample_of_weight_zero_is_absent(name, k, model):
    X, y, _ = partly_labeled_blobs(k)
    present = np.arange(len(y)) % 5 > 0
    X[~present] += 30.0
    assert (y[~present] == -1).any()
    assert (y[~present] != -1).any()
    fitted = in_short_rounds(name, model).fit(X, y, sample_weight=present)
    expected = in_short_rounds(name, model).fit(X[present], y[present])
    assert_array_equal(fitted.labeled_iter_[present], expected.labeled_iter_)
    assert_array_equal(fitted.transduction_[present], expected.transduction_)
    assert (fitted.labeled_iter_[~present] == -1).all()
    assert_allclose(fitted.decision_function(X), expected.decision_function(X), atol=1e-6)
    filled = np.where(y == -1, expected.predict(X), y)  # given labels stay
    assert_array_equal(fitted.transduction_[~present], filled[~present])
    assert_allclose(fitted.supervised_.decision_function(X), expected.supervised_.decision_function(X), atol=1e-6)


@both
@pytest.mark.parametrize(
    "cls, params",
    [(LSSVM, {"gamma": 0.3}), (SVM, {"gamma": 0.3, "tol": 1e-8}), (LinearSVC, {"tol": 1e-8, "dual": False})],
)
def test_weights_are_factors_on_the_costs(name, cls, params):
    X, y, _ = partly_labeled_blobs()
    fitted = in_short_rounds(name, cls(C=1.5, **params)).fit(X, y, sample_weight=np.full(len(y), 2.0))
    expected = in_short_rounds(name, cls(C=3.0, **params)).fit(X, y)
    assert_array_equal(fitted.labeled_iter_, expected.labeled_iter_)
    assert_allclose(fitted.decision_function(X), expected.decision_function(X), atol=1e-5)
    uneven = np.where(np.arange(len(y)) % 2, 3.0, 1.0)
    fitted = in_short_rounds(name, cls(C=1.5, **params)).fit(X, y, sample_weight=uneven)
    again = clone(fitted.estimator_).fit(X, fitted.transduction_, sample_weight=uneven)
    assert_allclose(fitted.decision_function(X), again.decision_function(X), atol=1e-5)
    assert not np.allclose(fitted.decision_function(X), expected.decision_function(X), atol=1e-3)


@both
@pytest.mark.parametrize("cls", [LSSVM, SVM, CCCPTSVM])
def test_supervised_model_has_C_and_gamma_of_all_samples(name, cls):
    X, y, _ = partly_labeled_blobs()
    X[y == -1] *= 3.0  # the labeled samples alone would lead to other values
    gamma_of_all = CCCPTSVM(gamma="median").fit(X, y).gamma_
    assert SVM(gamma="median").fit(X[y != -1], y[y != -1]).gamma_ > 2.0 * gamma_of_all
    fitted = in_short_rounds(name, cls(C="auto", gamma="median"), max_iter=2).fit(X, y)
    assert fitted.supervised_.gamma_ == fitted.estimator_.gamma_ == pytest.approx(gamma_of_all)
    assert fitted.supervised_.C_ == fitted.estimator_.C_


# -------------------------------------------------------------------- kernel values


@pytest.mark.parametrize(
    "name, k, cls",
    [
        ("SelfTraining", 3, LSSVM),
        ("SelfTraining", 2, SVC),
        ("HelpTraining", 3, SVM),
        ("HelpTraining", 2, CCCPTSVM),
        ("HelpTraining", 3, SVC),
    ],
)
def test_kernel_values_stand_for_samples(name, k, cls):
    X, y, _ = partly_labeled_blobs(k, 50)
    K, options = rbf_kernel(X, gamma=0.3), {} if cls is LSSVM else {"tol": 1e-7}
    options |= {"balance": "labeled"} if cls is CCCPTSVM else {}  # an estimated share depends on the form of X
    samples = in_short_rounds(name, cls(gamma=0.3, **options), bandwidth=0.3).fit(X, y)
    values = in_short_rounds(name, cls(kernel="precomputed", **options)).fit(K, y)
    assert_same_rounds(values, samples, 1e-4)
    assert values.n_iter_ > 3
    assert_allclose(values.decision_function(K), samples.decision_function(X), atol=1e-5)
    assert_array_equal(values.predict(K[:7]), samples.predict(X[:7]))
    labeled = y != -1
    if cls is not SVC:  # which takes kernel values with the samples that it was fitted to
        C = values.estimator_.C_  # that of the rounds, from all samples
        supervised = cls(C, kernel="precomputed", **options).fit(K[np.ix_(labeled, labeled)], y[labeled])
        expected = supervised.decision_function(K[:, labeled])
        assert_allclose(values.supervised_.decision_function(K), expected, atol=1e-5)
    present = np.arange(50) % 5 > 0
    values = in_short_rounds(name, cls(kernel="precomputed", **options)).fit(K, y, sample_weight=present)
    samples = in_short_rounds(name, cls(gamma=0.3, **options), bandwidth=0.3).fit(X[present], y[present])
    assert_array_equal(values.labeled_iter_[present], samples.labeled_iter_)
    assert_allclose(values.decision_function(K), samples.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("name", WRAPPERS)
@pytest.mark.parametrize("balance", [0.2, 0.5, {1: 0.7, 2: 0.1, 3: 0.2}], ids=str)
def test_given_shares_are_those_of_the_labels_found(name, balance):
    """Also where the rounds leave samples, which the model alone would label otherwise."""
    k = 2 if isinstance(balance, float) else 3
    X, y = blobs(k, 102, 12, distance=0.7, first_class=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = make_estimator(name, balance=balance, threshold=0.9, random_state=0).fit(X, y)
    asked = fitted.share_.asked
    for label, share in fitted.share_.reached.items():
        assert share == pytest.approx(asked[label], abs=0.51 / 90 + 1e-9)
