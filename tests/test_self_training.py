"""Self-training, and what it shares with Help-Training: labels that come in rounds, and the machine kept in the end."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from semisvm import LSSVM, SVM, HelpTraining, SelfTraining
from semisvm.datasets import hide_labels
from semisvm.estimators import ESTIMATORS, WRAPPERS, _learners, _self_labeler

EXPECTED = {
    "check_classifiers_classes": "it trains on y of -1 and 1 without saying that -1 is a class; -1 marks unlabeled "
    "rows, as in scikit-learn's own semi-supervised estimators"
}
BOTH = pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS)
CLASSES = pytest.mark.parametrize("classes", [2, 3])
CENTRES = np.array([[0, 0, 0], [3, 0, 1], [0, 3, -1], [3, 3, 0]])
LONG = ("GeneticTSVM", "BranchBoundTSVM")


@parametrize_with_checks(
    [
        SelfTraining(),
        HelpTraining(),
        SelfTraining(SVM()),
        HelpTraining(SVM()),
        SelfTraining(LogisticRegression(max_iter=1000), 0.75, confidence="probability"),
        HelpTraining(helper="naive_bayes"),
    ],
    expected_failed_checks=lambda _: EXPECTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def data(classes=2, n=80, n_labeled=16, seed=0, spread=1.2):
    """Rows, their true classes, and labels for a few."""
    X, y = make_blobs(n, centers=CENTRES[:classes], cluster_std=spread, random_state=seed)
    return X, y + 1, hide_labels(y + 1, n_labeled, random_state=seed)


def cold(fitted, X, y):
    """The machine inside, with the C and gamma that were settled, fitted to the labels of the rounds."""
    inner = fitted.estimator_
    return clone(inner).set_params(C=inner.C_, gamma=inner.gamma_).fit(X, y)


# ---------------------------------------------------------------- rounds


@CLASSES
@pytest.mark.parametrize(
    "inner",
    [LogisticRegression(), GaussianNB(), CalibratedClassifierCV(SVC(), ensemble=False, cv=3)],
    ids=lambda inner: type(inner).__name__,
)
@pytest.mark.parametrize("max_iter", [None, 2])
@pytest.mark.parametrize("k_best", [None, 15])
def test_probabilities_give_what_scikit_learn_s_self_training_gives(classes, inner, max_iter, k_best):
    X, _, y = data(classes, n_labeled=6 * classes)
    rule = {"threshold": 0.75} if k_best is None else {"criterion": "k_best", "k_best": k_best}
    theirs = SelfTrainingClassifier(inner, max_iter=max_iter, **rule).fit(X, y)
    threshold = 0.75 if k_best is None else 0.0
    ours = SelfTraining(inner, threshold, confidence="probability", max_iter=max_iter, k_best=k_best).fit(X, y)
    found = theirs.labeled_iter_ >= 0
    np.testing.assert_array_equal(ours.labeled_iter_, theirs.labeled_iter_)
    np.testing.assert_array_equal(ours.transduction_[found], theirs.transduction_[found])
    np.testing.assert_array_equal(ours.transduction_[~found], theirs.predict(X)[~found])
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    assert ours.termination_condition_ == theirs.termination_condition_
    barren = theirs.termination_condition_ == "no_change"  # a round of theirs that labeled nobody
    assert ours.n_iter_ == theirs.n_iter_ + 1 - barren
    assert theirs.n_iter_ >= (max_iter or 2)


def by_hand(inner, X, y, threshold, decay=None, most=None):
    """The rounds as the docstring tells them; labels, rounds and confidences of all rows."""
    y, step, sure = y.copy(), np.where(y == -1, -1, 0), np.full(len(y), np.nan)
    while (y == -1).any():
        fitted = clone(inner).fit(X[y != -1], y[y != -1])
        rest = np.flatnonzero(y == -1)
        f = fitted.decision_function(X[rest])
        columns = np.sort(np.column_stack([-f, f]) if f.ndim == 1 else f, axis=1)
        lead = (columns[:, -1] - columns[:, -2]) / 2
        while decay is not None and lead.max() < threshold:
            threshold *= decay
        taken = np.flatnonzero(lead > threshold if decay is None else lead >= threshold)
        taken = sorted(taken, key=lambda i: -lead[i])[:most]
        if not len(taken):
            break
        y[rest[taken]], step[rest[taken]] = fitted.predict(X[rest[taken]]), step.max() + 1
        sure[rest[taken]] = lead[taken]
    return y, step, sure


@pytest.mark.parametrize(
    "classes, inner",
    [(2, SVC(C=2.0, gamma=0.2)), (2, RidgeClassifier()), (3, RidgeClassifier()), (4, LinearSVC(random_state=0))],
    ids=["SVC", "Ridge", "Ridge of three", "LinearSVC of four"],
)
@pytest.mark.parametrize("decay, most", [(None, None), (None, 5), (0.7, None), (0.7, 5)])
def test_decisions_are_followed_as_by_hand(classes, inner, decay, most):
    X, _, y = data(classes, spread=1.0)
    fitted = SelfTraining(inner, 0.4, threshold_decay=decay, k_best=most).fit(X, y)
    labels, step, sure = by_hand(inner, X, y, 0.4, decay, most)
    np.testing.assert_array_equal(fitted.labeled_iter_, step)
    np.testing.assert_array_equal(fitted.transduction_[step >= 0], labels[step >= 0])
    np.testing.assert_allclose(fitted.confidence_, sure, rtol=1e-12)
    assert fitted.n_iter_ == step.max() + 1 > 2
    assert fitted.termination_condition_ == ("all_labeled" if (step >= 0).all() else "no_change")
    assert (step >= 0).all() == (decay is not None)


def check_rounds(fitted, y):
    """Every row has its label from one place, and the trace adds up to the rows."""
    step, sure, given = fitted.labeled_iter_, fitted.confidence_, y != -1
    assert (step[given] == 0).all()
    assert (step[~given] != 0).all()
    np.testing.assert_array_equal(fitted.transduction_[given], y[given])
    np.testing.assert_array_equal(np.isnan(sure), step < 1)
    assert [row["step"] for row in fitted.trace_] == list(range(1, fitted.n_iter_))
    left = np.count_nonzero(~given)
    for row in fitted.trace_:
        here = step == row["step"]
        left -= row["labeled"]
        assert (row["labeled"], row["left"]) == (np.count_nonzero(here), left)
        assert row["confidence"] == pytest.approx(sure[here].mean())
        assert row["labeled"] > 0
    assert left == np.count_nonzero(step == -1)
    assert (fitted.termination_condition_ == "all_labeled") == (left == 0)


@CLASSES
@pytest.mark.parametrize("inner", [LSSVM(), SVM(tol=1e-7)], ids=["LSSVM", "SVM"])
@pytest.mark.parametrize("max_iter", [None, 2])
@BOTH
def test_every_row_is_labeled_once_and_the_machine_is_that_of_all_labels(wrapper, classes, inner, max_iter):
    X, truth, y = data(classes, spread=1.0)
    fitted = wrapper(inner, max_iter=max_iter).fit(X, y)
    check_rounds(fitted, y)
    found = fitted.labeled_iter_ >= 0
    if max_iter is None and wrapper is HelpTraining:
        assert found.all()
    if max_iter is not None:
        assert fitted.n_iter_ == 3
        assert fitted.termination_condition_ == "max_iter"
    everywhere = type(inner)().fit(X, np.where(np.arange(len(y)) < 40, 1, 2))
    assert fitted.estimator_.gamma_ == pytest.approx(everywhere.gamma_)
    again = cold(fitted, X, np.where(found, fitted.transduction_, None))
    np.testing.assert_array_equal(fitted.transduction_, np.where(found, fitted.transduction_, again.predict(X)))
    atol = 1e-9 if isinstance(inner, LSSVM) else 1e-6
    np.testing.assert_allclose(fitted.decision_function(X), again.decision_function(X), rtol=0, atol=atol)
    np.testing.assert_array_equal(fitted.predict(X), fitted.estimator_.predict(X))
    np.testing.assert_array_equal(fitted.predict_proba(X), fitted.estimator_.predict_proba(X))
    assert fitted.score(X, truth) > 0.8


GROWN = {
    "LSSVM": (LSSVM(C=3.0), 1e-9),
    "LSSVM regularised": (LSSVM(C=3.0, fit_intercept="regularised"), 1e-9),
    "LSSVM without": (LSSVM(C=3.0, fit_intercept=False), 1e-9),
    "LSSVM linear": (LSSVM(kernel="linear"), 1e-9),
    "SVM": (SVM(C=3.0, tol=1e-6), 1e-4),
    "SVM squared": (SVM(C=3.0, loss="squared_hinge", tol=1e-6), 1e-4),
    "SVM regularised": (SVM(C=3.0, fit_intercept="regularised", tol=1e-6), 1e-4),
    "SVM without": (SVM(C=3.0, fit_intercept=False, tol=1e-6), 1e-4),
    "SVM linear": (SVM(kernel="linear", tol=1e-6), 1e-4),
}


@CLASSES
@pytest.mark.parametrize("case", GROWN)
@pytest.mark.parametrize("weighted", [False, True], ids=["ones", "weights"])
@BOTH
def test_going_on_from_the_last_machine_is_fitting_anew(monkeypatch, wrapper, classes, case, weighted):
    inner, atol = GROWN[case]
    X, _, y = data(classes, n=60, n_labeled=12)
    if case == "LSSVM linear":  # goes on where there are more columns than rows
        X = np.hstack([X, 0.1 * np.random.default_rng(0).standard_normal((60, 60))])
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 60) if weighted else None
    given = {"n_candidates": 3} if wrapper is HelpTraining else {"threshold": 0.3, "k_best": 6, "threshold_decay": 0.8}
    used = []
    monkeypatch.setattr(_self_labeler, "Grown", lambda *args: used.append(args) or _learners.Grown(*args))
    quick = wrapper(inner, **given).fit(X, y, sample_weight=weight)
    assert len(used) == 1
    monkeypatch.setattr(_self_labeler, "space_to_grow", lambda *args: None)
    slow = wrapper(inner, **given).fit(X, y, sample_weight=weight)
    assert len(used) == 1
    assert quick.n_iter_ > 5
    np.testing.assert_array_equal(quick.labeled_iter_, slow.labeled_iter_)
    np.testing.assert_array_equal(quick.transduction_, slow.transduction_)
    np.testing.assert_allclose(quick.confidence_, slow.confidence_, atol=atol)
    np.testing.assert_allclose(quick.decision_function(X), slow.decision_function(X), atol=atol)


@CLASSES
def test_the_trace_of_least_squares_tells_what_leaving_given_rows_out_says(classes):
    X, _, y = data(classes, n=50, n_labeled=12, spread=2.0)
    fitted = HelpTraining(LSSVM(C=5.0, gamma=0.3), n_candidates=3, eps=0.02).fit(X, y)
    given, shares = np.flatnonzero(y != -1), []
    for row in fitted.trace_:
        known = (fitted.labeled_iter_ >= 0) & (fitted.labeled_iter_ < row["step"])
        wrong = 0
        for i in given:
            rest = known & (np.arange(len(y)) != i)
            alone = LSSVM(C=5.0, gamma=0.3).fit(X[rest], fitted.transduction_[rest])
            wrong += alone.predict(X[[i]])[0] != y[i]
        shares.append(wrong / len(given))
    np.testing.assert_allclose([row["leave_one_out"] for row in fitted.trace_], shares)
    assert len(set(shares)) > 1


@pytest.mark.parametrize("inner", [LSSVM(), SVM(), LogisticRegression()], ids=lambda inner: type(inner).__name__)
@CLASSES
@BOTH
def test_without_unlabeled_rows_it_is_the_supervised_machine(wrapper, classes, inner):
    X, truth, _ = data(classes)
    fitted, alone = wrapper(inner).fit(X, truth), clone(inner).fit(X, truth)
    np.testing.assert_array_equal(fitted.decision_function(X), alone.decision_function(X))
    np.testing.assert_array_equal(fitted.predict(X), alone.predict(X))
    np.testing.assert_array_equal(fitted.predict_proba(X), alone.predict_proba(X))
    np.testing.assert_array_equal(fitted.transduction_, truth)
    assert (fitted.labeled_iter_ == 0).all()
    assert (fitted.termination_condition_, fitted.n_iter_, fitted.trace_) == ("all_labeled", 1, [])


def test_a_threshold_that_nobody_reaches_leaves_the_supervised_machine_and_says_so():
    X, _, y = data()
    with pytest.warns(UserWarning, match=r"no unlabeled row was above threshold=50.*Lower threshold, or pass"):
        fitted = SelfTraining(SVM(2.0, gamma=0.3), 50.0).fit(X, y)
    assert (fitted.termination_condition_, fitted.n_iter_) == ("no_change", 1)
    alone = SVM(2.0, gamma=0.3).fit(X, y)
    np.testing.assert_array_equal(fitted.decision_function(X), alone.decision_function(X))
    np.testing.assert_array_equal(fitted.supervised_.decision_function(X), alone.decision_function(X))
    np.testing.assert_array_equal(fitted.transduction_, alone.transduction_)
    np.testing.assert_array_equal(fitted.labeled_iter_, np.where(y == -1, -1, 0))


def test_a_threshold_that_falls_is_met_by_somebody_every_round():
    X, _, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SelfTraining(SVM(2.0, gamma=0.3), 0.9).fit(X, y)  # rounds that came to something are not warned of
        fitted = SelfTraining(SVM(2.0, gamma=0.3), 50.0, threshold_decay=0.9).fit(X, y)
    check_rounds(fitted, y)
    assert fitted.termination_condition_ == "all_labeled"
    thresholds = np.array([row["threshold"] for row in fitted.trace_])
    powers = np.log(thresholds / 50.0) / np.log(0.9)
    np.testing.assert_allclose(powers, powers.round(), atol=1e-6)
    assert (np.diff(thresholds) <= 0).all()
    lowest = [fitted.confidence_[fitted.labeled_iter_ == row["step"]].min() for row in fitted.trace_]
    assert (lowest >= thresholds).all()


# ---------------------------------------------------------------- what is inside


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in ESTIMATORS]
)
@BOTH
def test_any_machine_of_the_library_is_trained_in_rounds(wrapper, name):
    X, truth, y = data(n=40, n_labeled=12, spread=0.8)
    seed = {"random_state": 0} if "random_state" in ESTIMATORS[name]().get_params() else {}
    given = {"n_candidates": 2} if wrapper is HelpTraining else {"k_best": 3, "threshold_decay": 0.5}
    fitted = wrapper(ESTIMATORS[name](gamma="median", **seed), max_iter=2, **given).fit(X, y)
    check_rounds(fitted, y)
    assert fitted.n_iter_ == 3
    assert isinstance(fitted.estimator_, ESTIMATORS[name])
    open_rows = fitted.labeled_iter_ == -1
    assert open_rows.any()
    again = cold(fitted, X, np.where(open_rows, None, fitted.transduction_))
    np.testing.assert_allclose(fitted.decision_function(X), again.decision_function(X), atol=1e-8)
    if ESTIMATORS[name]._semi_supervised:  # rows still open are told to those that use them
        np.testing.assert_array_equal(fitted.estimator_.transduction_, again.transduction_)
        assert len(fitted.estimator_.transduction_) == len(y)
    assert fitted.score(X, truth) > 0.7


OTHERS = {
    "SVC": SVC(),
    "LinearSVC": LinearSVC(random_state=0),
    "LogisticRegression": LogisticRegression(),
    "RidgeClassifier": RidgeClassifier(),
    "SGDClassifier": SGDClassifier(random_state=0),
    "Pipeline": make_pipeline(StandardScaler(), SVC()),
    "LSSVM of pairs": LSSVM(gamma=0.3, multiclass="ovo"),
}


@pytest.mark.parametrize("other", OTHERS)
@CLASSES
@BOTH
def test_other_classifiers_are_trained_in_rounds(wrapper, classes, other):
    X, truth, y = data(classes, spread=0.9)
    X[:, 0] *= 20.0 if other == "Pipeline" else 1.0
    given = {"n_candidates": 10} if wrapper is HelpTraining else {"k_best": 20, "threshold_decay": 0.5}
    fitted = wrapper(OTHERS[other], **given).fit(X, y)
    check_rounds(fitted, y)
    assert fitted.termination_condition_ == "all_labeled"
    again = clone(OTHERS[other]).fit(X, fitted.transduction_)
    np.testing.assert_array_equal(fitted.decision_function(X), again.decision_function(X))
    known = y != -1
    alone = clone(OTHERS[other]).fit(X[known], y[known])
    np.testing.assert_array_equal(fitted.supervised_.decision_function(X), alone.decision_function(X))
    assert hasattr(fitted, "predict_proba") == hasattr(OTHERS[other], "predict_proba")
    assert fitted.score(X, truth) > 0.8


@pytest.mark.parametrize("classes", [3, 4])
@BOTH
def test_scores_of_pairs_of_classes_are_not_taken_for_scores_of_classes(wrapper, classes):
    X, truth, y = data(classes, spread=0.7)
    inner = SVC(decision_function_shape="ovo")
    try:
        fitted = wrapper(inner).fit(X, y)
    except ValueError as error:
        assert "decision_function" in str(error)  # noqa: PT017
    else:
        assert np.mean(fitted.transduction_ == truth) > 0.9


# ---------------------------------------------------------------- labels, tables and weights as they come


@pytest.mark.parametrize(
    ("labels", "params"),
    [
        (lambda y: np.where(y == -1, np.nan, y), {}),
        (lambda y: [None if v == -1 else int(v) for v in y], {}),
        (lambda y: [None if v == -1 else f"class {v}" for v in y], {}),
        (lambda y: pd.Series([None if v == -1 else f"class {v}" for v in y]), {}),
        (lambda y: pd.Series([None if v == -1 else f"class {v}" for v in y], dtype="category"), {}),
        (lambda y: pd.Series(pd.array([None if v == -1 else int(v) for v in y], dtype="Int64")), {}),
        (lambda y: pl.Series([None if v == -1 else f"class {v}" for v in y]), {}),
        (lambda y: ["?" if v == -1 else f"class {v}" for v in y], {"unlabeled": "?"}),
        (lambda y: np.where(y == -1, 0, np.where(y == 1, -1, 1)), {"unlabeled": 0}),
        (lambda y: np.where(y == -1, np.nan, np.where(y == 1, -1, 1)), {"unlabeled": None}),
    ],
    ids=["NaN", "None", "text", "pandas", "category", "Int64", "polars", "?", "zero", "signs"],
)
@pytest.mark.parametrize(
    "inner", [LSSVM(), SVM(), SVC(), ESTIMATORS["CCCPTSVM"]()], ids=["LSSVM", "SVM", "SVC", "CCCP"]
)
@BOTH
def test_labels_as_they_come(wrapper, inner, labels, params):
    X, _, y = data(n=50)
    expected = wrapper(inner, max_iter=5).fit(X, y)
    fitted = wrapper(inner, max_iter=5, **params).fit(X, labels(y))
    np.testing.assert_array_equal(fitted.labeled_iter_, expected.labeled_iter_)
    np.testing.assert_array_equal(fitted.transduction_ == fitted.classes_[1], expected.transduction_ == 2)
    np.testing.assert_allclose(fitted.decision_function(X), expected.decision_function(X))
    np.testing.assert_array_equal(fitted.predict(X) == fitted.classes_[1], expected.predict(X) == 2)
    assert set(fitted.transduction_.tolist()) == set(fitted.classes_.tolist())
    supervised = fitted.supervised_
    np.testing.assert_allclose(supervised.decision_function(X), expected.supervised_.decision_function(X))
    np.testing.assert_array_equal(supervised.classes_, fitted.classes_)


@pytest.mark.parametrize(
    "rows",
    [
        lambda X: pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]),
        lambda X: pl.DataFrame({f"c{i}": X[:, i] for i in range(X.shape[1])}),
        lambda X: X.tolist(),
        lambda X: sparse.csr_array(X),
        lambda X: sparse.csc_matrix(X),
    ],
    ids=["pandas", "polars", "list", "csr_array", "csc_matrix"],
)
@pytest.mark.parametrize(
    "inner",
    [LSSVM(), SVM(kernel="linear"), SVC(), make_pipeline(StandardScaler(with_mean=False), RidgeClassifier())],
    ids=["LSSVM", "SVM", "SVC", "Pipeline"],
)
@BOTH
def test_tables_as_they_come(wrapper, inner, rows):
    X, _, y = data(n=50)
    X = np.where(np.abs(X) < 0.4, 0.0, X)
    expected = wrapper(inner, max_iter=8).fit(X, y)
    fitted = wrapper(inner, max_iter=8).fit(rows(X), y)
    np.testing.assert_array_equal(fitted.labeled_iter_, expected.labeled_iter_)
    atol = 1e-2 if isinstance(inner, SVC | SVM) else 1e-5  # of their tolerance
    np.testing.assert_allclose(fitted.decision_function(rows(X)), expected.decision_function(X), atol=atol)
    np.testing.assert_array_equal(fitted.supervised_.predict(rows(X)), expected.supervised_.predict(X))
    if hasattr(rows(X), "columns"):
        np.testing.assert_array_equal(fitted.feature_names_in_, ["c0", "c1", "c2"])


@BOTH
def test_single_precision_is_enough(wrapper):
    X, _, y = data()
    expected, fitted = wrapper().fit(X, y), wrapper().fit(X.astype(np.float32), y)
    np.testing.assert_array_equal(fitted.transduction_, expected.transduction_)
    np.testing.assert_allclose(fitted.decision_function(X), expected.decision_function(X), atol=1e-3)


@pytest.mark.parametrize(
    "inner", [LSSVM(3.0, gamma="median"), SVM(3.0, tol=1e-7), RidgeClassifier()], ids=["LSSVM", "SVM", "Ridge"]
)
@CLASSES
@BOTH
def test_a_row_of_no_weight_is_not_there(wrapper, classes, inner):
    X, _, y = data(classes)
    there = np.arange(len(y)) % 5 > 0
    X[~there] += 30.0
    assert (y[~there] == -1).any()
    assert (y[~there] != -1).any()
    fitted, expected = wrapper(inner).fit(X, y, sample_weight=there), wrapper(inner).fit(X[there], y[there])
    np.testing.assert_array_equal(fitted.labeled_iter_[there], expected.labeled_iter_)
    np.testing.assert_array_equal(fitted.transduction_[there], expected.transduction_)
    assert (fitted.labeled_iter_[~there] == -1).all()
    np.testing.assert_allclose(fitted.decision_function(X), expected.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(fitted.transduction_[~there], expected.predict(X[~there]))
    np.testing.assert_allclose(
        fitted.supervised_.decision_function(X), expected.supervised_.decision_function(X), atol=1e-6
    )


@pytest.mark.parametrize("kind", [LSSVM, SVM, LinearSVC])
@BOTH
def test_weights_are_costs(wrapper, kind):
    X, _, y = data()
    tol = {"tol": 1e-8} if kind is not LSSVM else {}
    tol |= {"dual": False} if kind is LinearSVC else {}
    fitted = wrapper(kind(C=1.5, **tol)).fit(X, y, sample_weight=np.full(len(y), 2.0))
    expected = wrapper(kind(C=3.0, **tol)).fit(X, y)
    np.testing.assert_array_equal(fitted.labeled_iter_, expected.labeled_iter_)
    np.testing.assert_allclose(fitted.decision_function(X), expected.decision_function(X), atol=1e-5)
    uneven = np.where(np.arange(len(y)) % 2, 3.0, 1.0)
    fitted = wrapper(kind(C=1.5, **tol)).fit(X, y, sample_weight=uneven)
    found = fitted.labeled_iter_ >= 0
    again = clone(fitted.estimator_).fit(X[found], fitted.transduction_[found], sample_weight=uneven[found])
    np.testing.assert_allclose(fitted.decision_function(X), again.decision_function(X), atol=1e-5)
    assert not np.allclose(fitted.decision_function(X), expected.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("inner", [make_pipeline(LinearSVC()), GridSearchCV(SVC(), {"C": [1.0]}, cv=2)], ids=type)
@BOTH
def test_weights_are_refused_for_who_takes_none(wrapper, inner):
    X, _, y = data()
    with pytest.raises(ValueError, match=rf"{type(inner).__name__} takes no sample_weight; leave the weights out or"):
        wrapper(inner).fit(X, y, sample_weight=np.linspace(1, 2, len(y)))
