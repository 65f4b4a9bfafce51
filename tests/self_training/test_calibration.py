"""Probabilities of self-training: from given labels that are held out, by rounds that never see them."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from rounds_reference import in_short_rounds, partly_labeled_blobs
from semisvm import LSSVM, SVM, HelpTraining, SelfTraining
from semisvm._validation import check_training_set
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.model_selection.splits import folds_of_distinct_samples
from semisvm.multiclass import fit_slope
from semisvm.self_training import WRAPPERS
from semisvm.self_training.calibration import class_scores, held_out_scores

both = pytest.mark.parametrize("name", WRAPPERS)


def thirds(y):
    """The labeled samples of each class in three groups."""
    number = np.zeros(len(y), dtype=int)
    for c in np.unique(y[y != -1]):
        number[y == c] = np.arange(np.count_nonzero(y == c)) % 3
    return [np.flatnonzero((y != -1) & (number == fold)) for fold in range(3)]


def scores_without(method, X, y, groups, precomputed=False):
    """What the method computes for the groups."""
    return held_out_scores(method, check_training_set(method, X, y, None, precomputed), groups)


# -------------------------------------------------------------------- held-out scores


@both
@pytest.mark.parametrize(
    "k, model, options",
    [
        (2, LSSVM(3.0, gamma=0.4), {}),
        (3, SVM(3.0, gamma=0.4, tol=1e-7), {"max_iter": 2}),
        (3, LSSVM(3.0, gamma=0.4), {"multiclass": "ovr"}),
        (2, LSSVM(3.0, gamma=0.4), {"balance": "labeled"}),
        (3, RidgeClassifier(), {"max_iter": 2}),
    ],
    ids=["two classes", "three classes", "one-vs-rest", "balance", "any classifier"],
)
def test_group_is_scored_by_a_fit_without_it(name, k, model, options):
    X, y, _ = partly_labeled_blobs(k, 70, 18)
    method, groups = in_short_rounds(name, model, **({"bandwidth": 0.4} | options)), thirds(y)
    expected = []
    for group in groups:
        rest = np.setdiff1d(np.arange(70), group)
        expected.append(method.fit(X[rest], y[rest]).decision_function(X[group]).reshape(len(group), -1))
    assert_allclose(scores_without(method, X, y, groups), np.concatenate(expected), atol=1e-6)


@pytest.mark.parametrize("cls", [LSSVM, SVM, SVC])
def test_kernel_values_give_the_scores_of_their_samples(cls):
    X, y, _ = partly_labeled_blobs(2, 50)
    samples, values = (SelfTraining(cls(**kernel), 0.5) for kernel in ({"gamma": 0.3}, {"kernel": "precomputed"}))
    scores = scores_without(samples, X, y, thirds(y))
    assert_allclose(scores_without(values, rbf_kernel(X, gamma=0.3), y, thirds(y), True), scores, atol=1e-3)


@both
@pytest.mark.parametrize("balance", [None, "labeled"])
@pytest.mark.parametrize("model", [LSSVM(C="auto"), SVM(C="auto"), RidgeClassifier()], ids=lambda m: type(m).__name__)
def test_labels_of_a_group_do_not_change_its_scores(name, model, balance):
    X, y, _ = partly_labeled_blobs(3, 70, 24)
    method, groups = in_short_rounds(name, model, balance=balance), thirds(y)
    scores, flipped = scores_without(method, X, y, groups), y.copy()
    flipped[groups[0]] = 1 + flipped[groups[0]] % 3
    n_first, changed = len(groups[0]), scores_without(method, X, flipped, groups)
    assert_array_equal(changed[:n_first], scores[:n_first])
    assert (changed[n_first:] != scores[n_first:]).any()


# -------------------------------------------------------------------- the slope


@pytest.mark.parametrize("k, model, confidence", [(2, SVM(), "decision"), (3, GaussianNB(), "probability")])
def test_probabilities_are_a_softmax_of_scores_times_the_slope(k, model, confidence):
    X, y, _ = partly_labeled_blobs(k, n_labeled=18)
    fitted = SelfTraining(model, 0.6, confidence=confidence).fit(X, y)
    slope = fitted._slope_.compute()
    if k == 2:
        expected = 1.0 / (1.0 + np.exp(-slope * fitted.decision_function(X)))
    else:  # powers of the probabilities
        expected = fitted.estimator_.predict_proba(X)[:, 1] ** slope
        expected /= (fitted.estimator_.predict_proba(X) ** slope).sum(axis=1)
    assert_allclose(fitted.predict_proba(X)[:, 1], expected, rtol=1e-9)


def test_slope_fits_the_labels_held_out():
    X, y, _ = partly_labeled_blobs(n_labeled=20, distance=1.0)
    method = HelpTraining(LSSVM(3.0, gamma=0.4))
    folds = folds_of_distinct_samples(X, np.where(y == -1, -1, y - 1), 5)
    groups = [np.flatnonzero(folds == fold) for fold in range(5)]
    truth = y[np.concatenate(groups)] - 1
    expected = fit_slope(class_scores(scores_without(method, X, y, groups), False), truth, np.ones(20))
    assert method.fit(X, y)._slope_.compute() == pytest.approx(expected)
    assert expected < 0.7 * method.estimator_._slope_.compute()  # of its own labels


def test_class_with_one_label_is_not_calibrated_and_warns():
    X, y, _ = partly_labeled_blobs()
    y[np.flatnonzero(y == 2)[1:]] = -1
    fitted = SelfTraining(SVM()).fit(X, y)
    with pytest.warns(UserWarning, match=r"SelfTraining: a class has one labeled sample .* 1/\(1 \+ exp\(-f\)\)"):
        found = fitted.predict_proba(X)
    assert_allclose(found[:, 1], 1.0 / (1.0 + np.exp(-fitted.decision_function(X))))


@both
def test_slope_is_computed_at_first_use_from_what_fit_was_given(name):
    X, y, _ = partly_labeled_blobs()
    expected, given = in_short_rounds(name, SVM()).fit(X, y).predict_proba(X), X.copy()
    fitted = in_short_rounds(name, SVM()).fit(given, y)
    assert fitted._slope_._value is None
    given[:] = 0.0
    fitted.set_params(estimator__C=1e-3, balance="labeled")
    assert_array_equal(fitted.predict_proba(X), expected)
    assert len(pickle.dumps(fitted)) > 0
    assert fitted._slope_._compute is None


@pytest.mark.parametrize("method", [SelfTraining(SVM(10.0), 0.5), HelpTraining()], ids=lambda m: type(m).__name__)
def test_probabilities_are_calibrated(method):
    """Two overlapping Gaussians: about as good as those of an SVC, where those of its own labels are far too sure."""
    losses = []
    for seed in range(4):
        X, truth = make_two_gaussians(700, 10, 0.4, random_state=seed)
        y, new = hide_labels(truth[:300], 60, random_state=seed), slice(300, None)
        fitted = method.fit(X[:300], y)
        labeled = y != -1
        svc = CalibratedClassifierCV(SVC(C=10.0, gamma=fitted.estimator_.gamma_), ensemble=False)
        models = (fitted, fitted.estimator_, svc.fit(X[:300][labeled], y[labeled]))
        losses.append([log_loss(truth[new], model.predict_proba(X[new])) for model in models])
    held_out, own_labels, supervised = np.mean(losses, axis=0)
    assert held_out < supervised + 0.03
    assert own_labels > held_out + 0.05
