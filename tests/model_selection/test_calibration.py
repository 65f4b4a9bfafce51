"""Calibration on partly labeled samples: what it is equal to, what it never sees, and that it is an estimator."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import LabelPropagation, SelfTrainingClassifier
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from factories import blobs, two_gaussians
from semisvm import CCCPTSVM, LSSVM, SVM, GradientTSVM, SelfTraining
from semisvm.datasets import hide_labels
from semisvm.model_selection import LabeledCalibratedClassifierCV, LabeledKFold, LabeledShuffleSplit
from semisvm.model_selection.calibrators import fit_sigmoid, smoothed_targets
from semisvm.model_selection.splits import folds_of_distinct_samples

METHODS = ["sigmoid", "isotonic"]
CHECKED = [
    LabeledCalibratedClassifierCV(RidgeClassifier()),
    LabeledCalibratedClassifierCV(LogisticRegression(), method="isotonic", ensemble=True, cv=2),
]


def expected_failures(model):
    found = {"check_classifiers_classes": "y in {-1, 1}: -1 marks unlabeled samples"}
    if model.ensemble:
        found["check_estimators_empty_data_messages"] = "samples without features are all equal, which is said first"
    return found


@pytest.mark.slow
@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_scikit_learn(estimator, check):
    check(estimator)


def gaussians(n_classes, n, seed):
    """Gaussians of unit variance with equally distant means, and the true probabilities of the classes."""
    rng, means = np.random.default_rng(seed), 1.5 * np.eye(n_classes)
    y = np.arange(n) % n_classes
    X = rng.standard_normal((n, n_classes)) + means[y]
    return X, y, softmax(X @ means, axis=1)


def calibration_error(P, y):
    """Mean difference of a probability and the frequency of its class, over tenths of the probabilities."""
    said, observed = P.ravel(), (np.arange(P.shape[1]) == y[:, None]).ravel()
    tenth = np.minimum((10 * said).astype(int), 9)
    return np.abs(np.bincount(tenth, said - observed)).sum() / len(said)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("model", "n_classes"),
    [(LSSVM(1.0), 2), (LSSVM(1.0), 3), (GradientTSVM(balance="labeled"), 2)],
    ids=["two", "three", "TSVM"],
)
def test_probabilities_are_calibrated(method, model, n_classes):
    X, y, _ = gaussians(n_classes, 500, 0)
    fitted = LabeledCalibratedClassifierCV(model, method=method, cv=3).fit(X, hide_labels(y, 400, random_state=0))
    X, y, posterior = gaussians(n_classes, 6000, 1)
    P = fitted.predict_proba(X)
    scores = fitted.calibrated_classifiers_[0].estimator.decision_function(X)
    plain = softmax(np.column_stack([0 * scores, scores]) if n_classes == 2 else scores, axis=1)
    assert log_loss(y, P) <= log_loss(y, plain)
    assert log_loss(y, P) <= log_loss(y, posterior) + 0.07
    assert calibration_error(P, y) <= min(0.05, calibration_error(plain, y))


def own_folds(X, y, n_folds):
    """Pairs of indices of the folds that a number stands for."""
    folds = folds_of_distinct_samples(X, np.where(y > 0, y - 1, -1), n_folds)
    every = np.arange(len(y))
    return [(every[folds != fold], every[folds == fold]) for fold in range(n_folds)]


def platt(f, is_class, weights):
    """The sigmoid of largest likelihood, by another optimizer."""
    positive, negative = weights[is_class].sum(), weights[~is_class].sum()
    targets = np.where(is_class, (positive + 1) / (positive + 2), 1 / (negative + 2))

    def loss(point):
        z = point[0] * f + point[1]
        return weights @ (np.logaddexp(0, z) - targets * z)

    found = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 4000})
    return lambda new: expit(found.x[0] * new + found.x[1])


def smoothed_isotonic(f, is_class, weights):
    """Isotonic regression of 0 and 1, mapped to the interval of the smoothed targets."""
    positive, negative = weights[is_class].sum(), weights[~is_class].sum()
    low, high = 1 / (negative + 2), (positive + 1) / (positive + 2)
    f = np.round(f, 9)  # several samples are on a margin but for rounding error
    model = IsotonicRegression(out_of_bounds="clip").fit(f, is_class, sample_weight=weights)
    return lambda new: low + (high - low) * model.predict(new)


def columns_of(scores):
    return scores[:, None] if scores.ndim == 1 else scores


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("hidden", [True, False])
def test_it_is_the_loop_over_folds(method, n_classes, hidden):
    X, y = blobs(n_classes, n=60, n_labeled=36 if hidden else 60, first_class=1)
    weights, new = np.random.default_rng(0).uniform(0.5, 2.0, len(y)), blobs(n_classes, seed=7)[0]
    model = LabeledCalibratedClassifierCV(CCCPTSVM(), method=method, cv=3).fit(X, y, sample_weight=weights)
    held_out = np.full((len(y), 1 if n_classes == 2 else n_classes), np.nan)
    for train, test in own_folds(X, y, 3):
        if hidden:
            seen = y.copy()
            seen[test] = -1
            one = CCCPTSVM().fit(X, seen, sample_weight=weights)
        else:
            one = CCCPTSVM().fit(X[train], y[train], sample_weight=weights[train])
        held_out[test] = columns_of(one.decision_function(X[test]))
    known = y > 0
    final = columns_of(CCCPTSVM().fit(X, y, sample_weight=weights).decision_function(new))
    fit = platt if method == "sigmoid" else smoothed_isotonic
    classes = [2] if n_classes == 2 else [1, 2, 3]
    P = [fit(held_out[known, i], y[known] == c, weights[known])(final[:, i]) for i, c in enumerate(classes)]
    P = np.column_stack([1 - P[0], P[0]]) if n_classes == 2 else np.column_stack(P) / np.sum(P, axis=0)[:, None]
    np.testing.assert_allclose(model.predict_proba(new), P, atol=1e-5)
    np.testing.assert_array_equal(model.predict(new), model.classes_[P.argmax(axis=1)])


@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("inner", [RidgeClassifier(), GaussianNB()], ids=["decision_function", "predict_proba"])
def test_with_all_labels_it_is_that_of_scikit_learn(ensemble, n_classes, inner):
    X, y = blobs(n_classes, n=90, n_labeled=90)
    weights, splits = np.random.default_rng(0).uniform(0.5, 2.0, len(y)), list(LabeledKFold(3).split(X, y))
    ours, theirs = (
        cls(inner, cv=splits, ensemble=ensemble).fit(X, y, sample_weight=weights)
        for cls in (LabeledCalibratedClassifierCV, CalibratedClassifierCV)
    )
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("inner", [CCCPTSVM(), GradientTSVM(), SelfTraining(LSSVM())], ids=lambda m: type(m).__name__)
def test_a_label_has_no_part_in_its_held_out_score(inner, monkeypatch):
    X, y = two_gaussians(n=60, n_labeled=20)
    splits = list(LabeledKFold(4).split(X, y))
    changed, test = y.copy(), splits[2][1]
    changed[test] = 3 - y[test]
    seen = []

    def record(method, scores, codes, weights):
        seen.append(scores)
        return []

    monkeypatch.setattr("semisvm.model_selection.calibrated_models.fit_calibrators", record)
    for labels in (y, changed):
        LabeledCalibratedClassifierCV(inner, cv=splits).fit(X, labels)
    own = slice(sum(len(held) for _, held in splits[:2]), sum(len(held) for _, held in splits[:3]))
    np.testing.assert_array_equal(seen[0][own], seen[1][own])
    assert not np.allclose(seen[0], seen[1])  # the scores of the other folds are by models of these labels


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("inner", [LSSVM(), CCCPTSVM(tol=1e-8)], ids=lambda m: type(m).__name__)
def test_a_weight_of_two_is_a_sample_twice_and_one_of_zero_none(inner, method):
    X, y = two_gaussians(n=50, n_labeled=30)
    times = np.random.default_rng(0).integers(0, 3, len(y))
    repeated = np.repeat(np.arange(len(y)), times)
    weighted, copied = (LabeledCalibratedClassifierCV(inner, method=method, cv=3) for _ in range(2))
    weighted.fit(X, y, sample_weight=times)
    copied.fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.predict_proba(X), copied.predict_proba(X), atol=1e-4)
    assert not np.allclose(weighted.predict_proba(X), clone(copied).fit(X, y).predict_proba(X), atol=1e-2)


@pytest.mark.parametrize("seed", range(5))
def test_the_sigmoid_has_the_largest_likelihood_of_those_that_rise(seed):
    rng = np.random.default_rng(seed)
    is_class = rng.random(30) < 0.4
    f, weights = 1e3 + 50.0 * (rng.standard_normal(30) + 2.0 * is_class), rng.uniform(0.1, 3.0, 30)
    targets = smoothed_targets(is_class, weights)
    slope, offset = fit_sigmoid(f, targets, weights)
    residual = weights * (expit(slope * f + offset) - targets)
    assert slope > 0
    assert abs(residual.sum()) + abs(residual @ (f - 1e3)) / 50 < 1e-8
    falling = fit_sigmoid(-f, targets, weights)
    assert falling.slope == 0
    assert falling.predict(f)[0] == pytest.approx(weights @ targets / weights.sum())
    assert fit_sigmoid(np.ones(30), targets, weights) == pytest.approx(falling)


def test_samples_held_out_several_times_count_once():
    X, y = two_gaussians(n=40, n_labeled=20)
    splits = list(LabeledKFold(4).split(X, y))
    once, twice = (LabeledCalibratedClassifierCV(LSSVM(), cv=cv).fit(X, y) for cv in (splits, splits + splits))
    np.testing.assert_allclose(once.predict_proba(X), twice.predict_proba(X), rtol=1e-8)


def test_splitters_hold_out_labeled_samples():
    X, y = two_gaussians(n=40, n_labeled=20)
    splitter = LabeledShuffleSplit(5, random_state=0)
    model = LabeledCalibratedClassifierCV(LSSVM(), cv=splitter).fit(X, y)
    listed = LabeledCalibratedClassifierCV(LSSVM(), cv=list(splitter.split(X, y)), n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), listed.predict_proba(X))


@pytest.mark.parametrize("ensemble", [True, False])
def test_attributes_are_those_of_the_estimator(ensemble):
    X, y = two_gaussians(n=40, n_labeled=20)
    frame = pd.DataFrame(X).add_prefix("x")
    model = LabeledCalibratedClassifierCV(GradientTSVM(), cv=2, ensemble=ensemble).fit(frame, y)
    assert model.n_features_in_ == X.shape[1]
    assert list(model.feature_names_in_) == list(frame.columns)
    assert len(model.calibrated_classifiers_) == (2 if ensemble else 1)
    assert hasattr(model, "transduction_") != ensemble
    if not ensemble:
        np.testing.assert_array_equal(model.transduction_, GradientTSVM().fit(X, y).transduction_)
    assert model.score(frame, y) == np.mean(model.predict(frame[y > 0]) == y[y > 0])
    model.set_params(estimator=SVM()).fit(X, y)
    assert not hasattr(model, "feature_names_in_")
    assert clone(model).get_params()["estimator__C"] == SVM().C


@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("n_labeled", [30, 60])
def test_kernel_values_are_taken(ensemble, n_labeled):
    X, y = two_gaussians(n=60, n_labeled=n_labeled, seed=1)
    splits = list(LabeledKFold(3).split(X, y))
    plain, kernel = (
        LabeledCalibratedClassifierCV(SVM(1.0, kernel=name), ensemble=ensemble, cv=splits)
        for name in ("linear", "precomputed")
    )
    P = kernel.fit(X @ X.T, y).predict_proba(X[:9] @ X.T)
    np.testing.assert_allclose(P, plain.fit(X, y).predict_proba(X[:9]), atol=1e-3)
    folds = clone(kernel).set_params(cv=3).fit(X @ X.T, y)
    assert folds.predict_proba(X[:9] @ X.T).shape == (9, 2)


MARKED = {
    "text": (np.array(["a", "b"]), "?", "?"),
    "None": (np.array(["a", "b"], dtype=object), None, None),
    "NaN": (np.array([1.0, 2.0]), np.nan, -1),
    "zero": (np.array([-1, 1]), 0, 0),
    "bool": (np.array([False, True], dtype=object), None, -1),
}


@pytest.mark.parametrize("kind", MARKED)
def test_labels_and_markers_are_those_of_the_estimators(kind):
    X, y = two_gaussians(n=40, n_labeled=20)
    names, value, marker = MARKED[kind]
    given = np.where(y < 0, value, names[y - 1])
    model = LabeledCalibratedClassifierCV(GradientTSVM(unlabeled=marker), cv=2, unlabeled=marker).fit(X, given)
    plain = LabeledCalibratedClassifierCV(GradientTSVM(), cv=2).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), names[plain.predict(X) - 1])
    assert model.score(X, given) == plain.score(X, y)


@pytest.mark.parametrize("container", [pd.DataFrame, sparse.csr_matrix, sparse.csr_array, sparse.coo_array, np.array])
def test_samples_come_in_any_container(container):
    X, y = two_gaussians(n=40, n_labeled=20)
    model = LabeledCalibratedClassifierCV(LSSVM(1.0, gamma=0.1), cv=2)
    np.testing.assert_allclose(
        clone(model).fit(container(X), y).predict_proba(container(X)), model.fit(X.tolist(), y).predict_proba(X)
    )


def test_samples_of_a_pipeline_may_be_text():
    texts = ["good " * (1 + i % 3) + f"w{i}" if i % 2 else "bad " * (1 + i % 3) + f"w{i}" for i in range(24)]
    y = np.array(["bad", "good"] * 8 + [""] * 8)
    model = LabeledCalibratedClassifierCV(make_pipeline(CountVectorizer(), GradientTSVM(kernel="linear")), cv=2)
    assert model.fit(texts, y).predict(["bad bad", "good good"]).tolist() == ["bad", "good"]


@pytest.mark.parametrize("inner", [SelfTrainingClassifier(LogisticRegression()), LabelPropagation()])
def test_semi_supervised_classifiers_of_scikit_learn_are_taken(inner):
    X, y = two_gaussians(n=60, n_labeled=30, shift=1.0)
    model = LabeledCalibratedClassifierCV(inner, cv=3).fit(X, y)
    np.testing.assert_array_equal(model.classes_, [1, 2])
    assert model.score(X, y) > 0.8


def test_weights_that_the_estimator_does_not_take_are_for_the_calibration():
    X, y = two_gaussians(n=40, n_labeled=40)
    weights = np.where(y == 1, 5.0, 1.0)
    model = LabeledCalibratedClassifierCV(KNeighborsClassifier(), cv=3)
    with pytest.warns(UserWarning, match=r"KNeighborsClassifier.fit takes no sample_weight; the weights are used by"):
        weighted = clone(model).fit(X, y, sample_weight=weights)
    assert weighted.predict_proba(X)[:, 0].mean() > model.fit(X, y).predict_proba(X)[:, 0].mean() + 0.1


REFUSED = [
    ({"method": "beta"}, "method='beta' is not allowed; method takes one of 'sigmoid', 'isotonic'"),
    ({"cv": 1}, "cv=1 is not allowed; cv takes a whole number of 2 or more or a splitter"),
    ({"ensemble": "auto"}, "ensemble='auto' is not allowed"),
    ({"n_jobs": 0}, "n_jobs=0 is not allowed"),
    ({"estimator": LinearRegression()}, "estimator takes a classifier"),
    ({"estimator": SVM}, "estimator takes a classifier"),
    ({"estimator": VotingClassifier([("one", LSSVM())])}, "neither decision_function nor predict_proba"),
    ({"estimator": SVC(decision_function_shape="ovo")}, "a column per pair of classes"),
    ({"estimator": LogisticRegression()}, r"found the classes \[-1, 1, 2\] where y holds \[1, 2\] and unlabeled=-1"),
    ({"unlabeled": 0}, r"LSSVM found the classes \[1, 2\] where y holds \[-1, 1, 2\] and unlabeled=0"),
    ({"cv": [(np.arange(40), np.arange(5))]}, "trains on samples that it holds out"),
    ({"cv": [(np.arange(0), np.arange(5))]}, "leaves a class without a labeled sample to train on"),
    ({"cv": [(np.arange(40), np.arange(0))]}, "holds out no labeled sample"),
]


@pytest.mark.parametrize(("params", "message"), REFUSED)
def test_refusals_say_what_to_do(params, message):
    X, y = two_gaussians(n=40, n_labeled=20)
    model = LabeledCalibratedClassifierCV(LSSVM()).set_params(**params)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_a_class_that_cannot_be_held_out_is_refused():
    X, y = two_gaussians(n=40, n_labeled=20)
    y[np.flatnonzero(y == 2)[1:]] = -1
    y = np.where(y == 2, "rare", np.where(y == 1, "often", ""))
    model = LabeledCalibratedClassifierCV(LSSVM())
    with pytest.raises(ValueError, match="class 'rare' has one labeled sample"):
        model.fit(X, y)
    X[np.flatnonzero(y == "")[0]], y[np.flatnonzero(y == "")[0]] = X[y == "rare"][0], "rare"
    with pytest.raises(ValueError, match="class 'rare' has one labeled sample"):
        model.fit(X, y)
    y[np.flatnonzero(y == "rare")[1]] = ""
    with pytest.raises(ValueError, match="cv holds out no labeled sample of class 'rare'"):
        model.set_params(cv=LabeledShuffleSplit(3, random_state=0)).fit(X, y)


def test_nothing_is_predicted_before_fit():
    with pytest.raises(NotFittedError):
        LabeledCalibratedClassifierCV(LSSVM()).predict_proba([[0.0]])
