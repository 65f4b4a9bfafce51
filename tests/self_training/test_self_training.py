"""Self-training: scikit-learn's checks and its own self-training, rounds by hand, thresholds, any classifier inside."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from factories import PATHS, SEMI_SUPERVISED, few_unlabeled, make_estimator
from rounds_reference import assert_rounds_add_up, assert_rounds_are, label_by_hand, partly_labeled_blobs
from semisvm import LSSVM, SVM, HelpTraining, SelfTraining
from semisvm.estimators import ESTIMATORS

EXPECTED = {
    "check_classifiers_classes": "it trains on y of -1 and 1 without saying that -1 is a class; -1 marks unlabeled "
    "samples, as in scikit-learn's own semi-supervised estimators"
}


@parametrize_with_checks(
    [SelfTraining(), HelpTraining()],
    expected_failed_checks=lambda _: EXPECTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        HelpTraining(helper="naive_bayes"),
        SelfTraining(LogisticRegression(max_iter=1000), 0.75, confidence="probability"),
    ],
    expected_failed_checks=lambda _: EXPECTED,
)
def test_scikit_learn_checks_of_other_models(estimator, check):
    check(estimator)


# -------------------------------------------------------------------- the rounds


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("max_iter", [None, 2])
@pytest.mark.parametrize("k_best", [None, 15])
@pytest.mark.parametrize("model", [GaussianNB(), LogisticRegression()], ids=type)
def test_probabilities_give_the_rounds_of_scikit_learn(model, k, max_iter, k_best):
    X, y, _ = partly_labeled_blobs(k, 80, 6 * k, distance=0.7)
    rule = {"threshold": 0.75} if k_best is None else {"criterion": "k_best", "k_best": k_best}
    theirs = SelfTrainingClassifier(model, max_iter=max_iter, **rule).fit(X, y)
    threshold = 0.75 if k_best is None else 0.0
    ours = SelfTraining(model, threshold, confidence="probability", max_iter=max_iter, k_best=k_best).fit(X, y)
    labeled = theirs.labeled_iter_ >= 0
    assert_array_equal(ours.labeled_iter_, theirs.labeled_iter_)
    assert_array_equal(ours.transduction_[labeled], theirs.transduction_[labeled])
    assert_array_equal(ours.transduction_[~labeled], theirs.predict(X)[~labeled])
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_array_equal(ours.estimator_.predict_proba(X), theirs.predict_proba(X))
    assert ours.termination_condition_ == theirs.termination_condition_
    without_labels = theirs.termination_condition_ == "no_change"  # their last round, which is not counted here
    assert ours.n_iter_ == theirs.n_iter_ + 1 - without_labels
    assert theirs.n_iter_ >= (max_iter or 2)


@pytest.mark.parametrize("k, model", [(2, SVC(C=2.0, gamma=0.2)), (3, RidgeClassifier()), (2, LSSVM(2.0, gamma=0.3))])
@pytest.mark.parametrize("decay, k_best", [(None, None), (None, 5), (0.7, None), (0.7, 5)])
@pytest.mark.filterwarnings("error")  # an end after some labels needs no warning
def test_rounds_go_as_by_hand(k, model, decay, k_best):
    X, y, _ = partly_labeled_blobs(k, 80, 16)
    fitted = SelfTraining(model, 0.4, threshold_decay=decay, k_best=k_best).fit(X, y)
    labels, iteration, confidence = label_by_hand(model, X, y, 0.4, decay, k_best)
    assert_rounds_are(fitted, labels, iteration, confidence)
    assert fitted.n_iter_ == iteration.max() + 1 > 2
    assert fitted.termination_condition_ == ("no_change" if decay is None else "all_labeled")
    assert (iteration >= 0).all() == (decay is not None)


def test_threshold_above_all_samples_leaves_the_supervised_model_and_warns():
    X, y, _ = partly_labeled_blobs()
    with pytest.warns(UserWarning, match=r"no unlabeled sample was above threshold=50.*Lower threshold, or pass"):
        fitted = SelfTraining(SVM(2.0, gamma=0.3), 50.0).fit(X, y)
    assert (fitted.termination_condition_, fitted.n_iter_, fitted.trace_) == ("no_change", 1, [])
    supervised = SVM(2.0, gamma=0.3).fit(X, y)
    assert_array_equal(fitted.decision_function(X), supervised.decision_function(X))
    assert_array_equal(fitted.supervised_.decision_function(X), supervised.decision_function(X))
    assert_array_equal(fitted.transduction_, supervised.transduction_)
    assert_array_equal(fitted.labeled_iter_, np.where(y == -1, -1, 0))


def test_one_run_per_class_by_probabilities():
    X, y, truth = partly_labeled_blobs(3)
    fitted = SelfTraining(GaussianNB(), 0.8, confidence="probability", multiclass="ovr").fit(X, y)
    probabilities = np.column_stack([model.predict_proba(X)[:, 1] for model in fitted.estimators_])
    assert_array_equal(fitted.predict(X), probabilities.argmax(axis=1) + 1)
    for c, model in enumerate(fitted.estimators_):
        iteration = fitted.labeled_iter_[:, c]
        assert (fitted.confidence_[iteration >= 1, c] > 0.8).all()
        assert model.class_count_.sum() == np.count_nonzero(iteration >= 0)
    assert_array_equal(fitted.predict_proba(X).argmax(axis=1) + 1, fitted.predict(X))
    assert not hasattr(fitted, "decision_function")
    assert fitted.score(X, truth) > 0.8


# -------------------------------------------------------------------- what is inside


SAME_PATHS = [pytest.param(name, marks=pytest.mark.slow) for name in ESTIMATORS if name not in PATHS]


@pytest.mark.parametrize("name", [*PATHS, *SAME_PATHS])
def test_every_estimator_of_the_library_is_trained_in_rounds(name):
    """Slow for estimators that are fitted like one of the others."""
    X, y, truth = partly_labeled_blobs(n=40, n_labeled=12, distance=2.0)
    truth, _ = few_unlabeled(name, truth, y)
    X, y = few_unlabeled(name, X, y)
    model = make_estimator(name, gamma="median", random_state=0)
    fitted = SelfTraining(model, k_best=3, threshold_decay=0.5, max_iter=2).fit(X, y)
    assert_rounds_add_up(fitted, y)
    assert fitted.n_iter_ == 3
    unlabeled = fitted.labeled_iter_ == -1
    assert unlabeled.any()
    used = fitted.estimator_
    again = clone(used).set_params(C=used.C_, gamma=used.gamma_).fit(X, np.where(unlabeled, None, fitted.transduction_))
    assert_allclose(fitted.decision_function(X), again.decision_function(X), atol=1e-8)
    if name in SEMI_SUPERVISED:  # the samples without a label are part of the last fit
        assert_array_equal(used.transduction_, again.transduction_)
    assert fitted.score(X, truth) > 0.7


OTHERS = {
    "LinearSVC": LinearSVC(random_state=0),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
}


@pytest.mark.parametrize("case", OTHERS)
@pytest.mark.parametrize("method", [SelfTraining, HelpTraining])
def test_any_classifier_is_trained_in_rounds(method, case):
    model = OTHERS[case]
    X, y, truth = partly_labeled_blobs(3, 80, 16, distance=2.0)
    X[:, 0] *= 20.0 if case == "pipeline" else 1.0
    options = {"n_candidates": 10} if method is HelpTraining else {"k_best": 20, "threshold_decay": 0.5}
    fitted = method(model, **options).fit(X, y)
    assert_rounds_add_up(fitted, y)
    assert fitted.termination_condition_ == "all_labeled"
    again, labeled = clone(model).fit(X, fitted.transduction_), y != -1
    assert_array_equal(fitted.decision_function(X), again.decision_function(X))
    supervised = clone(model).fit(X[labeled], y[labeled])
    assert_array_equal(fitted.supervised_.decision_function(X), supervised.decision_function(X))
    assert_array_equal(fitted.classes_[fitted.predict_proba(X).argmax(axis=1)], fitted.predict(X))
    assert fitted.score(X, truth) > 0.8
