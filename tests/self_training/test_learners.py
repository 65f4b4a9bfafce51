"""The classifier inside the rounds: incremental training against fits from scratch, kernel values, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from factories import SEMI_SUPERVISED, blobs
from semisvm import CCCPTSVM, DCLSSVM, LSSVM, SVM, SparseLSSVM
from semisvm._validation import Labels, TrainingSet
from semisvm.self_training.learners import (
    BaseLearner,
    IncrementalLearner,
    RefittedLearner,
    columns_for,
    fit_to_codes,
)
from semisvm.self_training.metadata import FitMetadata

N = 50
INCREMENTAL = {
    "LSSVM": (LSSVM(C=3.0), 1e-9),
    "LSSVM regularized": (LSSVM(C=3.0, fit_intercept="regularized"), 1e-9),
    "LSSVM without intercept": (LSSVM(C=3.0, fit_intercept=False), 1e-9),
    "LSSVM linear": (LSSVM(kernel="linear"), 1e-9),
    "SVM": (SVM(C=3.0, tol=1e-6), 1e-4),
    "SVM squared hinge": (SVM(C=3.0, loss="squared_hinge", tol=1e-6), 1e-4),
    "SVM regularized": (SVM(C=3.0, fit_intercept="regularized", tol=1e-6), 1e-4),
    "SVM without intercept": (SVM(C=3.0, fit_intercept=False, tol=1e-6), 1e-4),
    "SVM linear, 2 threads": (SVM(kernel="linear", tol=1e-6, n_jobs=2), 1e-4),
}


def coded_blobs(k, n_features=3):
    """Samples, the codes of all classes, and the samples in blocks; the first has three of each class."""
    X, codes = blobs(k, N, N, n_features)
    return X, codes, np.split(np.arange(N), [3 * k, 20, 21, 33])


def base_learner(estimator, X, codes, given, weights=None):
    """A classifier prepared for samples of which some have a label."""
    partly = np.full(len(codes), -1)
    partly[given] = codes[given]
    weights = np.ones(len(codes)) if weights is None else weights
    labels = Labels(np.unique(codes), partly)
    precomputed = getattr(estimator, "kernel", None) == "precomputed"
    return BaseLearner(estimator, TrainingSet(X, labels, labels, weights, np.flatnonzero(weights > 0), precomputed))


# -------------------------------------------------------------------- incremental training


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("case", INCREMENTAL)
def test_incremental_training_is_fitting_from_scratch(case, k):
    estimator, atol = INCREMENTAL[case]
    X, codes, blocks = coded_blobs(k, 60 if case == "LSSVM linear" else 3)  # with more features than samples
    weights = np.random.default_rng(1).uniform(0.5, 2.0, N)
    base = base_learner(estimator, X, codes, blocks[0], weights)
    learner = base.new_learner(np.arange(k), probability=False)
    refitted = RefittedLearner(base.estimator, X, FitMetadata(weights), np.arange(k))
    assert isinstance(learner, IncrementalLearner)
    assert learner.use_margin
    for block in blocks:
        learner.add(block, codes[block])
        refitted.add(block, codes[block])
        samples = np.random.default_rng(0).permutation(N)[:20]
        found = learner.scores(samples)
        assert found.shape == (20, 1 if k == 2 else k)
        assert_allclose(found, refitted.scores(samples), rtol=0, atol=atol)
    assert not learner.interrupted


def test_svm_is_trained_incrementally_beyond_memory(monkeypatch):
    X, codes, blocks = coded_blobs(3)
    expected = base_learner(SVM(tol=1e-6), X, codes, blocks[0]).new_learner(np.arange(3), probability=False)
    monkeypatch.setenv("SEMISVM_MEMORY", "1000")
    base = base_learner(SVM(tol=1e-6, n_jobs=2), X, codes, blocks[0])
    learner = base.new_learner(np.arange(3), probability=False)
    assert not base.problems.space.gram().fits_memory
    for block in blocks[:3]:
        learner.add(block, codes[block])
        expected.add(block, codes[block])
        assert_allclose(learner.scores(np.arange(N)), expected.scores(np.arange(N)), atol=1e-4)
    assert base_learner(LSSVM(), X, codes, blocks[0]).problems is None  # the inverse would not fit either


@pytest.mark.parametrize("k", [2, 3])
def test_leave_one_out_error_is_that_of_given_samples_left_out(k):
    X, codes, blocks = coded_blobs(k)
    estimator = LSSVM(C=5.0, gamma=0.3)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, N)
    learner = base_learner(estimator, X, codes, blocks[0], weights).new_learner(np.arange(k), probability=False)
    errors, labeled = [], np.zeros(N, dtype=bool)
    for block in blocks:
        learner.add(block, codes[block])
        labeled[block] = True
        wrong = []
        for i in blocks[0]:
            others = labeled & (np.arange(N) != i)
            fitted = LSSVM(C=5.0, gamma=0.3).fit(X[others], codes[others], sample_weight=weights[others])
            wrong.append(fitted.predict(X[[i]])[0] != codes[i])
        errors.append(np.mean(wrong))
        assert learner.details() == {"leave_one_out": pytest.approx(errors[-1])}
    assert len(set(errors)) > 1


@pytest.mark.parametrize(
    "estimator, k, n_features, incremental",
    [
        (SVM(), 3, 3, True),
        (SVM(kernel="linear"), 2, 3, True),
        (LSSVM(), 3, 3, True),
        (LSSVM(kernel="linear"), 2, 3, False),  # is solved in the features
        (LSSVM(kernel="linear"), 2, N - 1, True),
        (LSSVM(approximation="nystroem", n_components=20), 2, 3, False),
        (SVM(multiclass="ovo"), 2, 3, True),
        (SVM(multiclass="ovo"), 3, 3, False),
        (SparseLSSVM(), 2, 3, False),
        (CCCPTSVM(), 2, 3, False),
        (DCLSSVM(), 2, 3, False),
        (SVC(), 2, 3, False),
    ],
)
def test_which_estimators_are_trained_incrementally(estimator, k, n_features, incremental):
    X, codes, blocks = coded_blobs(k, n_features)
    base = base_learner(estimator, X, codes, blocks[0])
    assert isinstance(base.new_learner(np.arange(k), probability=False), IncrementalLearner) == incremental
    by_probability = base.new_learner(np.arange(k), probability=True)
    assert isinstance(by_probability, RefittedLearner)
    assert not by_probability.use_margin


# -------------------------------------------------------------------- what is left to the data


@pytest.mark.parametrize(
    "estimator", [SVM("auto"), LSSVM("auto", gamma="scale"), CCCPTSVM("auto"), DCLSSVM("auto")], ids=type
)
def test_C_and_gamma_come_from_all_samples_and_the_given_labels(estimator):
    X, codes, blocks = coded_blobs(2)
    weights = np.where(np.arange(N) % 7, 1.0, 0.0)
    X[weights == 0] *= 50.0  # not part of the fit
    params = estimator.get_params()
    base = base_learner(estimator, X, codes, blocks[0], weights)
    assert estimator.get_params() == params
    y = codes.astype(object)  # supervised estimators see the labeled samples only
    if type(estimator).__name__ in SEMI_SUPERVISED:
        y[np.concatenate(blocks[1:])] = None
    fitted = clone(estimator).fit(X, y, sample_weight=weights)
    assert base.estimator.gamma == base.kernel.gamma == pytest.approx(fitted.gamma_)
    assert pytest.approx(fitted.C_) == base.estimator.C


# -------------------------------------------------------------------- classifiers that are fitted anew


@pytest.mark.parametrize("use_margin", [True, False])
@pytest.mark.parametrize("k", [2, 3])
def test_classifier_is_refitted_to_the_labeled_samples(k, use_margin):
    X, codes, blocks = coded_blobs(k)
    classes, weights = np.array(["a", "b", "c"])[:k], np.linspace(0.5, 2.0, N)
    model = RidgeClassifier() if use_margin else GaussianNB()
    learner, so_far = RefittedLearner(model, X, FitMetadata(weights), classes, use_margin), np.zeros(0, dtype=int)
    for block in blocks:
        learner.add(block, codes[block])
        so_far = np.r_[so_far, block]
        fitted = type(model)().fit(X[so_far], classes[codes[so_far]], sample_weight=weights[so_far])
        expected = fitted.decision_function(X) if use_margin else fitted.predict_proba(X)
        assert_allclose(learner.scores(np.arange(N)), expected.reshape(N, -1), rtol=1e-12)
        assert_array_equal(learner.fitted.predict(X), fitted.predict(X))
    assert learner.details() == {}
    assert not learner.interrupted
    assert not hasattr(model, "classes_")


def test_semi_supervised_estimator_gets_the_other_samples_as_unlabeled():
    X, codes, blocks = coded_blobs(2)
    classes, partly = np.array([-1, 1]), np.full(N, -1)  # -1 is a class
    partly[blocks[0]] = codes[blocks[0]]
    fitted = fit_to_codes(CCCPTSVM(), X, FitMetadata(np.ones(N)), classes, partly)
    expected = CCCPTSVM().fit(X, [None if c < 0 else "ab"[c] for c in partly])
    assert_array_equal(fitted.decision_function(X), expected.decision_function(X))
    assert_array_equal(fitted.classes_, classes)
    assert len(fitted.transduction_) == N


def test_kernel_values_are_those_with_the_labeled_samples():
    X, codes, blocks = coded_blobs(3)
    K, labeled = rbf_kernel(X, gamma=0.3), blocks[1]
    partly = np.full(N, -1)
    partly[labeled] = codes[labeled]
    svc = SVC(kernel="precomputed")
    assert_array_equal(columns_for(svc, K[:7], partly), K[:7][:, labeled])
    assert columns_for(SVM(kernel="precomputed"), K, partly) is K
    assert columns_for(SVC(), X, partly) is X
    fitted = fit_to_codes(svc, K, FitMetadata(np.ones(N)), np.arange(3), partly)
    expected = SVC(gamma=0.3).fit(X[labeled], codes[labeled])
    assert_allclose(fitted.decision_function(K[:, labeled]), expected.decision_function(X), atol=1e-9)


# -------------------------------------------------------------------- refusals


class FixedScores(RidgeClassifier):
    """A classifier whose decision function is a given array."""

    def __init__(self, values=None):
        super().__init__()
        self.values = values

    def decision_function(self, X):
        return np.broadcast_to(self.values, (X.shape[0], *np.shape(self.values)))


@pytest.mark.parametrize("k, n_columns", [(2, 3), (3, 1), (3, 2), (4, 6)])
def test_scores_of_another_number_of_columns_are_refused(k, n_columns):
    X, codes, blocks = coded_blobs(k)
    learner = RefittedLearner(FixedScores(np.zeros(n_columns)), X, FitMetadata(np.ones(N)), np.arange(k))
    learner.add(blocks[0], codes[blocks[0]])
    with pytest.raises(ValueError, match=rf"of FixedScores has {n_columns} columns for {k} classes; use one with a co"):
        learner.scores(np.arange(N))


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_scores_that_are_not_finite_are_refused(value):
    X, codes, blocks = coded_blobs(2)
    learner = RefittedLearner(FixedScores(value), X, FitMetadata(np.ones(N)), np.arange(2))
    learner.add(blocks[0], codes[blocks[0]])
    with pytest.raises(ValueError, match=r"FixedScores returned scores that are not finite numbers; scale X or change"):
        learner.scores(np.arange(N))


@pytest.mark.parametrize("model", [make_pipeline(LinearSVC()), GridSearchCV(SVC(), {"C": [1.0]}, cv=2)], ids=type)
def test_weights_are_refused_for_a_classifier_that_takes_none(model):
    X, codes, _ = coded_blobs(2)
    with pytest.raises(ValueError, match=rf"{type(model).__name__} takes no sample_weight; leave the weights out or"):
        fit_to_codes(model, X, FitMetadata(np.linspace(1.0, 2.0, N)), np.arange(2), codes)
