"""What self-training and Help-Training refuse, in one sentence: what came, what is allowed and what to do."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

from rounds_reference import partly_labeled_blobs
from semisvm import LSSVM, SVM, HelpTraining, SelfTraining
from semisvm.self_training import WRAPPERS

both = pytest.mark.parametrize("name", WRAPPERS)

WHOLE = "takes a whole number of 1 or more"
PAIRWISE = r"SVC\(decision_function_shape='ovo'\).* a column per pair of classes; use decision_function_shape='ovr'"
SHARED = {
    "estimator": [
        (SVM, r"estimator=.*SVM.* is not allowed; estimator takes a classifier, as SVM\(\)"),
        ("svm", "estimator='svm' is not allowed"),
        (KNeighborsClassifier(), r"KNeighborsClassifier\(\) has no decision_function; .* confidence='probability'"),
        (SVR(), r"estimator=SVR\(\) is not allowed; estimator takes a classifier"),
        (SVM(C=-1.0), r"C=-1.0 is not allowed.*\(0, inf\)"),
        (SVC(decision_function_shape="ovo"), PAIRWISE),
        (make_pipeline(StandardScaler(), SVC(decision_function_shape="ovo")), rf"(?s){PAIRWISE}"),
    ],
    "multiclass": [("ovo", "multiclass='ovo' is not allowed; multiclass takes one of 'joint', 'ovr'")],
    "max_iter": [(0, f"max_iter=0 is not allowed; max_iter {WHOLE}"), (True, "max_iter=True")],
    "max_time": [(0.0, r"max_time=0.0 .*\(0, inf\)"), ("long", "max_time='long'")],
    "balance": [
        (1.5, r"balance=1.5.*\[0, 1\]"),
        ({1: 0.5}, "give one share for each class"),
    ],
}
SPECIFIC = {
    "SelfTraining": {
        "threshold": [(-0.1, r"threshold=-0.1 .*\[0, inf\)"), (np.nan, "threshold=nan")],
        "confidence": [("votes", "confidence takes one of 'decision', 'probability'")],
        "threshold_decay": [(0.0, r"threshold_decay=0.0 .*\(0, 1\)"), (1.0, "threshold_decay=1.0")],
        "k_best": [(0, f"k_best=0 is not allowed; k_best {WHOLE}"), (2.5, "k_best=2.5")],
    },
    "HelpTraining": {
        "eps": [(-0.1, r"eps=-0.1 .*\[0, inf\)"), ("a", "eps='a'")],
        "eps_decay": [(0.0, r"eps_decay=0.0 .*\(0, 1\)"), (None, "eps_decay=None")],
        "rank": [("both", "rank takes one of 'density', 'difference'")],
        "bandwidth": [
            ("wide", "bandwidth takes one of 'auto', 'leave_one_out', 'kernel'"),
            (0.0, r"bandwidth=0.0 .*\(0, inf\)"),
            (None, "bandwidth=None"),
        ],
        "n_candidates": [
            (0, f"n_candidates=0 is not allowed; n_candidates {WHOLE}"),
            (2.5, "n_candidates=2.5"),
            ({1: 2}, r"n_candidates names the classes \[1\] and y holds \[1, 2\]; give a number for each"),
            ({1: 2, 2: 0}, r"n_candidates\[2\]=0 is not allowed"),
        ],
        "helper": [
            ("knn", "helper='knn' is not allowed; helper takes one of 'parzen', 'mixture', 'naive_bayes'"),
            (None, r"helper=None is not allowed; helper takes 'parzen'.*log_densities \(a column per class\)"),
            (LinearSVC(), r"helper=LinearSVC\(\) is not allowed"),
        ],
    },
}


@pytest.mark.parametrize(
    "name, parameter, value, message",
    [
        pytest.param(name, parameter, value, message, id=f"{name}-{parameter}-{str(value)[:30]}")
        for name in WRAPPERS
        for parameter, cases in (SHARED | SPECIFIC[name]).items()
        for value, message in cases
    ],
)
def test_parameters(name, parameter, value, message):
    X, y, _ = partly_labeled_blobs()
    with pytest.raises(ValueError, match=message):
        WRAPPERS[name](**{parameter: value}).fit(X, y)


@pytest.mark.parametrize(
    "estimator, params, message",
    [
        (LinearSVC(), {}, r"LinearSVC\(\) has no predict_proba; use one that has, such as SVM\(\) or LSSVM\(\)\.$"),
        (SVM(), {"threshold": 1.0}, r"threshold=1.0 .*\[0, 1\)"),
        (SVM(), {"balance": 0.5}, r"balance=0.5 came with confidence='probability'.*use confidence='decision' or"),
    ],
    ids=["no probabilities", "threshold", "balance"],
)
def test_parameters_with_probabilities(estimator, params, message):
    X, y, _ = partly_labeled_blobs()
    with pytest.raises(ValueError, match=message):
        SelfTraining(estimator, confidence="probability", **params).fit(X, y)


# -------------------------------------------------------------------- labels, samples and weights


@both
@pytest.mark.parametrize(
    "change, message",
    [
        (lambda X, y: (X, np.full(len(y), -1)), "no labeled sample.*needed"),
        (lambda X, y: (X, np.where(y == 2, 1, -1)), "only one class, 1,.*unlabeled=None.*unlabeled=0"),
        (lambda X, y: (X, y[:-1]), "60 samples and y has 59.*one label per sample"),
        (lambda X, y: (np.where(np.arange(60)[:, None] == 3, np.nan, X), y), "NaN"),
        (lambda X, y: (X.astype(str).astype(object) + "x", y), "X holds text.*only numbers.*TfidfVectorizer"),
        (lambda X, y: (X, y, [1.0, 2.0]), r"expected \(60,\)"),
        (lambda X, y: (X, y, y == -1), "positive weight"),
        (lambda X, y: (X, y, y != 2), r"only one class, 1,.* on samples of positive weight"),
    ],
    ids=["no label", "signs", "too short", "NaN", "text", "weights", "labels of weight 0", "class of weight 0"],
)
@pytest.mark.parametrize("estimator", [None, LinearSVC()], ids=["LSSVM", "LinearSVC"])
def test_training_data(name, estimator, change, message):
    X, y, _ = partly_labeled_blobs()
    with pytest.raises(ValueError, match=f"(?s){message}"):
        WRAPPERS[name](estimator).fit(*change(X, y))


@pytest.mark.parametrize(
    "estimator",
    [
        SelfTraining(LinearDiscriminantAnalysis()),
        SelfTraining(GaussianNB(), confidence="probability"),
        HelpTraining(LinearDiscriminantAnalysis()),
        HelpTraining(SVM(kernel="precomputed")),
    ],
    ids=["SelfTraining", "GaussianNB", "HelpTraining", "precomputed"],
)
def test_sparse_samples_for_an_estimator_that_takes_none(estimator):
    X, y, _ = partly_labeled_blobs()
    with pytest.raises(TypeError, match="dense data is required"):
        estimator.fit(sparse.csr_array(rbf_kernel(X)), y)


@pytest.mark.parametrize("helper", ["mixture", GaussianMixture()], ids=str)
def test_weights_for_a_helper_that_takes_none(helper):
    X, y, _ = partly_labeled_blobs()
    with pytest.raises(ValueError, match=r"the helper \w+ takes no sample_weight; use helper='parzen' or"):
        HelpTraining(LSSVM(), helper).fit(X, y, sample_weight=np.linspace(1, 2, 60))


@both
def test_other_features_at_prediction(name):
    X, y, _ = partly_labeled_blobs()
    fitted = WRAPPERS[name]().fit(X, y)
    for method in (fitted.predict, fitted.decision_function, fitted.predict_proba):
        with pytest.raises(ValueError, match="2 features"):
            method(X[:, :2])


# -------------------------------------------------------------------- helpers and windows


@pytest.mark.parametrize("helper", ["mixture", "naive_bayes", KernelDensity()], ids=str)
def test_helpers_that_need_samples_get_no_kernel_values(helper):
    X, y, _ = partly_labeled_blobs()
    with pytest.raises(ValueError, match=r"works on the samples and X holds kernel values; use helper='parzen', or"):
        HelpTraining(SVM(kernel="precomputed"), helper).fit(rbf_kernel(X), y)


@pytest.mark.parametrize(
    "estimator, bandwidth, message",
    [
        (SVM(kernel="precomputed"), "leave_one_out", "needs the samples and X holds kernel values; use bandwidth='ker"),
        (SVM(kernel="precomputed"), 0.5, "bandwidth=0.5 needs the samples"),
        (SVM(kernel="linear"), "kernel", "'linear' has values below zero, which a window cannot have; use bandwidth="),
        (SVM(kernel="multiquadric", coef0=1.0), "kernel", "takes an estimator of this library whose kernel is a windo"),
        (LinearSVC(), "kernel", "takes an estimator of this library whose kernel is a window.*'leave_one_out' or a nu"),
    ],
    ids=["leave_one_out", "number", "linear", "multiquadric", "other"],
)
def test_bandwidths_that_do_not_exist(estimator, bandwidth, message):
    X, y, _ = partly_labeled_blobs()
    X = rbf_kernel(X) if estimator.get_params().get("kernel") == "precomputed" else X - X.mean(axis=0)
    with pytest.raises(ValueError, match=message):
        HelpTraining(estimator, bandwidth=bandwidth).fit(X, y)


@pytest.mark.parametrize("estimator", [SVM(kernel="precomputed"), SVC(kernel="precomputed")], ids=["SVM", "SVC"])
def test_negative_kernel_values_are_not_windows(estimator):
    X, y, _ = partly_labeled_blobs()
    X = X - X.mean(axis=0)
    with pytest.raises(ValueError, match="'precomputed' has values below zero"):
        HelpTraining(estimator).fit(X @ X.T, y)
