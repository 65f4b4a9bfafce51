"""Bad input: one sentence that says what came, what is allowed and what to do."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from factories import few_unlabeled, make_estimator, two_gaussians
from semisvm.estimators import ESTIMATORS
from semisvm.solvers import CCCP

every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


def data():
    return two_gaussians(40, 10, 5)


def with_entry(X, value):
    X = X.copy()
    X[3, 2] = value
    return X


LABELS = {
    "no labeled sample": (lambda y: np.full(len(y), -1), "no labeled sample.*needed"),
    "all None": (lambda y: [None] * len(y), "no labeled sample"),
    "one class": (lambda y: np.where(y == -1, -1, 5), "only one class, 5.*second class"),
    "-1 and +1": (lambda y: np.where(y == 2, 1, -1), "only one class, 1,.*unlabeled=None.*unlabeled=0"),
    "continuous": (lambda y: np.linspace(0.1, 0.9, len(y)), "Unknown label type"),
    "mixed": (lambda y: ["a", 2] * (len(y) // 2), "all text or all numbers"),
    "too short": (lambda y: y[:-1], "40 samples and y has 39.*one label per sample"),
    "none at all": (lambda y: None, "y is None"),
}


@every_estimator
@pytest.mark.parametrize("case", LABELS)
def test_labels(name, case):
    X, y = data()
    change, message = LABELS[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=message):
            ESTIMATORS[name]().fit(X, change(y))


SAMPLES = {
    "NaN": (lambda X: with_entry(X, np.nan), "NaN"),
    "infinity": (lambda X: with_entry(X, np.inf), "infinity"),
    "text": (
        lambda X: pd.DataFrame(X, columns=list("abcde")).assign(word="cat"),
        "X holds text.*only numbers.*TfidfVectorizer",
    ),
    "text array": (lambda X: X.astype(str).astype(object) + "x", "X holds text"),
    "one dimension": (lambda X: X[:, 0], "Expected 2D array.*reshape|Reshape"),
    "no samples": (lambda X: X[:0], "0 sample"),
    "no features": (lambda X: X[:, :0], "0 feature"),
}


@every_estimator
@pytest.mark.parametrize("case", SAMPLES)
def test_samples(name, case):
    X, y = data()
    change, message = SAMPLES[case]
    with pytest.raises(ValueError, match=f"(?s){message}"):
        ESTIMATORS[name]().fit(change(X), y[: len(change(X))])


PARAMETERS = {
    "kernel": [("rfb", "'rfb' is not known.*'rbf'"), (3, "name or a function")],
    "C": [(0, r"C=0 is not allowed.*\(0, inf\)"), (-1.0, "C=-1.0"), ("big", "C='big'"), (np.nan, "C=nan")],
    "C_unlabeled": [(-0.1, "C_unlabeled=-0.1")],
    "gamma": [(0.0, "gamma=0.0"), ("wide", "'median', 'scale', 'auto'")],
    "coef0": [("a", "coef0='a'")],
    "tol": [(0.0, "tol=0.0")],
    "max_iter": [(0, "max_iter=0.*whole number of 1 or more"), (2.5, "max_iter=2.5")],
    "max_time": [(-1, "max_time=-1")],
    "balance": [
        (1.5, r"balance=1.5.*\[0, 1\]"),
        ("even", "balance='even'.*'labeled'"),
        ({1: 0.5}, "one share for each class"),
        ({1: -1.0, 2: 2.0}, "balance"),
    ],
    "multiclass": [("all", "'ovr', 'ovo'")],
    "coupling": [("pwc6", "'pwc1'")],
    "s": [(2.0, "s=2.0")],
    "loss": [("log", "'hinge', 'squared_hinge'")],
    "init": [("all", "'svm', 'subset'")],
    "norm": [(3, "norm=3.*takes one of"), (1.0, "norm=1.0")],
    "fit_intercept": [("yes", "'regularized'")],
    "labeled_loss": [("log", "'hinge'"), (3, "labeled_loss=3")],
    "unlabeled_loss": [("log", "'symmetric_ramp'")],
    "solver": [("magic", "'smo', 'coordinate_descent', 'augmented_lagrangian'"), (3, "solver=3")],
}


@pytest.mark.parametrize(
    ("name", "parameter", "value", "message"),
    [
        (name, parameter, value, message)
        for name, cls in ESTIMATORS.items()
        for parameter, cases in PARAMETERS.items()
        for value, message in cases
        if parameter in cls().get_params()
    ],
)
def test_parameters(name, parameter, value, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        ESTIMATORS[name](**{parameter: value}).fit(X, y)


@every_estimator
def test_kernels_that_cannot_be(name):
    X, y = data()
    with pytest.raises(ValueError, match=r"infinite at distance 0.*coef0=1"):
        ESTIMATORS[name](kernel="inverse_multiquadric").fit(X, y)
    with pytest.raises(ValueError, match="not positive definite"):
        ESTIMATORS[name](kernel="poly", coef0=-1.0).fit(X, y)
    if "fit_intercept" in ESTIMATORS[name]().get_params():
        with pytest.raises(ValueError, match=r"sum to zero.*fit_intercept=True"):
            ESTIMATORS[name](kernel="multiquadric", fit_intercept=False).fit(X, y)
    with pytest.raises(ValueError, match="square matrix"):
        ESTIMATORS[name](kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="not symmetric"):
        ESTIMATORS[name](kernel="precomputed").fit(np.random.default_rng(0).random((40, 40)), y)
    with pytest.raises(ValueError, match="shape"):
        ESTIMATORS[name](kernel=lambda A, B: np.ones(3)).fit(X, y)


@every_estimator
@pytest.mark.parametrize("n", [40, 600])
def test_kernels_that_overflow(name, n):
    X, y = two_gaussians(n, 10, 5)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"not finite numbers.*scale X"):
        ESTIMATORS[name](C=1.0, kernel="poly", degree=300, gamma=1.0).fit(1e6 * X, y)


@every_estimator
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, 2.0], r"expected \(40,\)"),
        (-np.ones(40), "0 or more"),
        (np.zeros(40), "not all zero"),
        (["a"] * 40, "numbers"),
    ],
)
def test_weights(name, weight, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        ESTIMATORS[name]().fit(X, y, sample_weight=weight)


@every_estimator
def test_labels_of_weight_zero(name):
    X, y = data()
    with pytest.raises(ValueError, match="positive weight"):
        ESTIMATORS[name]().fit(X, y, sample_weight=(y == -1) * 1.0)


ZERO_MARKS = {
    "fit": lambda model: model.fit,
    "pipeline": lambda model: make_pipeline(StandardScaler(), model).fit,
    "search": lambda model: GridSearchCV(model, {"verbose": [0]}, cv=2).fit,
}


@pytest.mark.parametrize("name", ["SVM", "CCCPTSVM", "SelfTraining"])
@pytest.mark.parametrize("case", ZERO_MARKS)
def test_signs_with_many_zeros_are_warned_of_at_the_line_of_the_caller(name, case):
    X, y = data()
    y = np.where(y == -1, 0, np.where(y == 1, 1, -1))
    fit = ZERO_MARKS[case](make_estimator(name))
    with pytest.warns(UserWarning, match="unlabeled=0") as warned:
        fit(X, y)
    assert {one.filename for one in warned if "unlabeled=0" in str(one.message)} == {__file__}


@every_estimator
def test_other_features_at_predict(name):
    X, y = few_unlabeled(name, *data())
    fitted = make_estimator(name, population=4).fit(X, y)
    with pytest.raises(ValueError, match="4 features"):
        fitted.predict(X[:, :4])
    with pytest.raises(ValueError, match="NaN"):
        fitted.predict(with_entry(X, np.nan))


@pytest.mark.parametrize(
    "params, name",
    [
        ({"unlabeled_loss": None, "solver": "smo", "balance": 0.3}, "balance"),
        ({"unlabeled_loss": None, "solver": "smo", "C_unlabeled": 0.3}, "C_unlabeled"),
        ({"solver": CCCP(), "tol": 1e-5}, "tol"),
        ({"solver": CCCP(), "max_time": 3.0}, "max_time"),
        ({"solver": "progressive", "max_iter": 7}, "max_iter"),
    ],
)
def test_arguments_that_would_be_ignored_are_refused(params, name):
    with pytest.raises(ValueError, match=rf"^{name}=.* is not allowed with .*; leave {name} at its default, or pass"):
        ESTIMATORS["S3VM"](**params).fit(*data())
