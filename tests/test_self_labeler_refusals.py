"""What self-training and Help-Training refuse, in one sentence: what came, what is allowed and what to do."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVR, LinearSVC, OneClassSVM

from semisvm import SVM, HelpTraining, SelfTraining
from semisvm.estimators import WRAPPERS
from test_bad_input import LABELS, TABLES
from test_bad_input import data as few
from test_self_labelers import BOTH, data

ONE = "takes a whole number of 1 or more"
SHARED = {
    "estimator": [
        (SVM, r"estimator=.*SVM.* is not allowed; estimator takes a classifier, as SVM\(\)"),
        ("svm", "estimator='svm' is not allowed"),
        (OneClassSVM(), r"estimator=OneClassSVM\(\) is not allowed; estimator takes a classifier"),
        (KNeighborsClassifier(), r"KNeighborsClassifier\(\) has no decision_function; .* confidence='probability'"),
        (SVR(), r"estimator=SVR\(\) is not allowed; estimator takes a classifier"),
        (SVM(C=-1.0), r"C=-1.0 is not allowed.*\(0, inf\)"),
    ],
    "multiclass": [("ovo", "multiclass='ovo' is not allowed; multiclass takes one of 'joint', 'ovr'")],
    "max_iter": [(0, f"max_iter=0 is not allowed; max_iter {ONE}"), (2.5, "max_iter=2.5"), (True, "max_iter=True")],
    "max_time": [(0.0, r"max_time=0.0 .*\(0, inf\)"), (-1, "max_time=-1"), ("long", "max_time='long'")],
    "balance": [
        (1.5, r"balance=1.5.*\[0, 1\]"),
        (True, "balance=True is not allowed"),
        ("even", "balance='even' is not allowed; balance takes 'labeled'"),
        ({1: 0.5}, "give one share for each class"),
        ({1: 1.0, 2: 1.0, 3: 1.0}, r"names the classes \[1, 2, 3\] and y holds \[1, 2\]"),
        ({1: -1.0, 2: 2.0}, r"balance\[1\]=-1.0"),
        ({1: 0.0, 2: 0.0}, "the sum of the shares in balance"),
    ],
}
OWN = {
    SelfTraining: {
        "threshold": [(-0.1, r"threshold=-0.1 .*\[0, inf\)"), (np.nan, "threshold=nan"), ("high", "threshold='high'")],
        "confidence": [("votes", "confidence takes one of 'decision', 'probability'")],
        "threshold_decay": [(0.0, r"threshold_decay=0.0 .*\(0, 1\)"), (1.0, "threshold_decay=1.0"), ("a", "decay='a'")],
        "k_best": [(0, f"k_best=0 is not allowed; k_best {ONE}"), (2.5, "k_best=2.5"), (True, "k_best=True")],
    },
    HelpTraining: {
        "eps": [(-0.1, r"eps=-0.1 .*\[0, inf\)"), (np.nan, "eps=nan"), ("a", "eps='a'")],
        "eps_decay": [(0.0, r"eps_decay=0.0 .*\(0, 1\)"), (1.0, "eps_decay=1.0"), (None, "eps_decay=None")],
        "rank": [("both", "rank takes one of 'density', 'lead'")],
        "bandwidth": [
            ("wide", "bandwidth takes one of 'auto', 'leave_one_out', 'kernel'"),
            (0.0, r"bandwidth=0.0 .*\(0, inf\)"),
            (None, "bandwidth=None"),
        ],
        "n_candidates": [
            (0, f"n_candidates=0 is not allowed; n_candidates {ONE}"),
            (2.5, "n_candidates=2.5"),
            ({1: 2}, r"n_candidates names the classes \[1\] and y holds \[1, 2\]; give a number for each"),
            ({1: 2, 2: 0}, r"n_candidates\[2\]=0 is not allowed"),
        ],
    },
}


@pytest.mark.parametrize(
    ("wrapper", "parameter", "value", "message"),
    [
        pytest.param(wrapper, parameter, value, message, id=f"{wrapper.__name__}-{message[:40]}")
        for wrapper in WRAPPERS.values()
        for parameter, cases in (SHARED | OWN[wrapper]).items()
        for value, message in cases
    ],
)
def test_parameters(wrapper, parameter, value, message):
    X, _, y = data()
    with pytest.raises(ValueError, match=message):
        wrapper(**{parameter: value}).fit(X, y)


@pytest.mark.parametrize(
    ("inner", "params", "message"),
    [
        (LinearSVC(), {}, r"LinearSVC\(\) has no predict_proba; use one that has, such as SVM\(\) or LSSVM\(\)\.$"),
        (SVM(), {"threshold": 1.0}, r"threshold=1.0 .*\[0, 1\)"),
        (SVM(), {"balance": 0.5}, r"balance=0.5 came with confidence='probability'.*use confidence='decision' or"),
    ],
    ids=["no probabilities", "threshold", "balance"],
)
def test_probabilities_that_cannot_be(inner, params, message):
    X, _, y = data()
    with pytest.raises(ValueError, match=message):
        SelfTraining(inner, confidence="probability", **params).fit(X, y)


@BOTH
def test_one_share_is_not_enough_for_three_classes(wrapper):
    X, _, y = data(3)
    with pytest.raises(ValueError, match=r"balance=0.3 is one share and y holds 3 classes; pass a mapping"):
        wrapper(balance=0.3).fit(X, y)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize("case", LABELS)
@BOTH
def test_labels(wrapper, case):
    X, y = few()
    change, message = LABELS[case]
    with pytest.raises(ValueError, match=message):
        wrapper().fit(X, change(y))


@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("inner", [None, LinearSVC()], ids=["LSSVM", "LinearSVC"])
@BOTH
def test_tables(wrapper, inner, case):
    X, y = few()
    change, message = TABLES[case]
    with pytest.raises(ValueError, match=f"(?s){message}"):
        wrapper(inner).fit(change(X), y[: len(change(X))])


@pytest.mark.parametrize(
    "machine",
    [
        SelfTraining(LinearDiscriminantAnalysis()),
        HelpTraining(LinearDiscriminantAnalysis()),
        SelfTraining(GaussianNB(), confidence="probability"),
        HelpTraining(SVM(kernel="precomputed")),
    ],
    ids=["SelfTraining", "HelpTraining", "GaussianNB", "precomputed"],
)
def test_sparse_rows_for_a_machine_that_takes_none(machine):
    X, _, y = data()
    with pytest.raises(TypeError, match="dense data is required"):
        machine.fit(sparse.csr_array(rbf_kernel(X)), y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [([1.0, 2.0], r"expected \(60,\)"), (-np.ones(60), "0 or more"), (np.zeros(60), "not all zero")],
    ids=["short", "negative", "zero"],
)
@BOTH
def test_weights(wrapper, weight, message):
    X, _, y = data()
    with pytest.raises(ValueError, match=message):
        wrapper().fit(X, y, sample_weight=weight)


@BOTH
def test_labels_that_weigh_nothing_and_columns_that_are_others(wrapper):
    X, _, y = data()
    with pytest.raises(ValueError, match="positive weight"):
        wrapper().fit(X, y, sample_weight=y == -1)
    with pytest.raises(ValueError, match=r"only one class, 1,.* on rows of positive weight"):
        wrapper().fit(X, y, sample_weight=y != 2)
    fitted = wrapper().fit(X, y)
    for method in (fitted.predict, fitted.decision_function, fitted.predict_proba):
        with pytest.raises(ValueError, match="2 features"):
            method(X[:, :2])


def test_scores_that_are_no_numbers(monkeypatch):
    X, _, y = data()
    monkeypatch.setattr(RidgeClassifier, "decision_function", lambda self, X: np.full(X.shape[0], np.inf))
    with pytest.raises(ValueError, match=r"RidgeClassifier gave scores that are not finite numbers; scale X or change"):
        HelpTraining(RidgeClassifier()).fit(X, y)


@pytest.mark.parametrize("classes, columns", [(2, 3), (3, 1), (3, 2), (4, 6)])
def test_scores_that_are_not_those_of_the_classes(monkeypatch, classes, columns):
    X, _, _ = data()
    y = np.where(np.arange(60) < 20, 1 + np.arange(60) % classes, -1)
    monkeypatch.setattr(RidgeClassifier, "decision_function", lambda self, X: np.zeros((X.shape[0], columns)))
    with pytest.raises(ValueError, match=rf"of RidgeClassifier has {columns} columns? for {classes} classes; use one"):
        SelfTraining(RidgeClassifier()).fit(X, y)
