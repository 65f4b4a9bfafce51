"""Criteria against brute-force refits, and what a held-out sample may not tell."""

import numpy as np
import pytest
from sklearn.base import clone

from factories import INTERCEPTS, blobs, two_gaussians
from semisvm import CCCPTSVM, DCLSSVM, LSSVM, SVM, BayesianLSSVM, SparseLSSVM, SwitchingLSSVM
from semisvm.model_selection import (
    GCV,
    OCV,
    PRESS,
    EmpiricalError,
    Evidence,
    LabeledKFold,
    LabeledShuffleSplit,
    LeaveOneOutError,
)
from semisvm.model_selection.criteria import ModelFamily
from semisvm.model_selection.criteria.cv_splits import make_splits
from semisvm.model_selection.criteria.held_out_scores import by_splits


def labeled_set(n=30, seed=0):
    X, y = two_gaussians(n=n, n_labeled=n, n_features=3, shift=0.7, seed=seed)
    return X, y, np.random.default_rng(seed).uniform(0.5, 2.0, n)


def refitted_scores(model, X, y, weights, splits):
    """Scores of held-out samples by estimators that were really fitted without them, and these samples."""
    scores, samples = [], []
    for train, test in splits:
        one = clone(model).fit(X[train], y[train], sample_weight=weights[train])
        scores.append(one.decision_function(X[test]).reshape(len(test), -1))
        samples.append(test)
    return np.vstack(scores), np.concatenate(samples)


def signs(y, classes=(1, 2)):
    return np.column_stack([np.where(y == one, 1.0, -1.0) for one in (classes[1:] if len(classes) == 2 else classes)])


def leave_one_out_splits(y):
    return [(np.delete(np.arange(len(y)), i), np.array([i])) for i in np.flatnonzero(y >= 0)]


def expected_values(f, y, w):
    """PRESS, OCV and the empirical error, by hand."""
    press = w @ ((y - f) ** 2).mean(axis=1)
    error = 1.0 / (1.0 + np.exp(y * (3.0 * f + 0.2)))
    return press, press / w.sum(), w @ error.mean(axis=1) / w.sum()


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_leave_one_out_of_the_ls_svm_is_that_of_refits(intercept):
    X, y, w = labeled_set()
    model = LSSVM(3.0, gamma=0.4, fit_intercept=intercept)
    f, samples = refitted_scores(model, X, y, w, leave_one_out_splits(y))
    press, ocv, empirical = expected_values(f, signs(y)[samples], w[samples])
    assert PRESS().value(model, X, y, w) == pytest.approx(press)
    assert OCV().value(model, X, y, w) == pytest.approx(ocv)
    assert EmpiricalError(offset=0.2).value(model, X, y, w) == pytest.approx(empirical)
    wrong = (f[:, 0] > 0) != (y[samples] == 2)
    assert LeaveOneOutError().value(model, X, y, w) == pytest.approx(w[samples] @ wrong / w.sum())


def test_leave_one_out_of_several_classes_is_that_of_refits():
    X, y = blobs(n_classes=3, n=30, n_labeled=24, first_class=1)
    model = LSSVM(3.0, gamma=0.3)
    w = np.ones(len(y))
    f, samples = refitted_scores(model, X, y, w, leave_one_out_splits(y))
    press, _, empirical = expected_values(f, signs(y, (1, 2, 3))[samples], w[samples])
    assert PRESS().value(model, X, y) == pytest.approx(press)
    assert EmpiricalError(offset=0.2).value(model, X, y) == pytest.approx(empirical)
    assert LeaveOneOutError().value(model, X, y) == pytest.approx(np.mean(f.argmax(axis=1) + 1 != y[samples]))


MODELS = {
    "SVM": SVM(2.0, gamma=0.4, tol=1e-6),
    "squared hinge": SVM(2.0, gamma=0.4, loss="squared_hinge", tol=1e-6),
    "LSSVM": LSSVM(2.0, gamma=0.4),
    "linear": SVM(2.0, kernel="linear", tol=1e-6),
    "DCLSSVM": DCLSSVM(2.0, gamma=0.4, balance="labeled", balance_tol=0.0),
    "no intercept": DCLSSVM(2.0, gamma=0.4, C_unlabeled=0.3, balance=None, fit_intercept=False),
}
SPLITS = {"folds": LabeledKFold(3), "validation": LabeledShuffleSplit(2, test_size=4, train_size=12, random_state=0)}


@pytest.mark.parametrize("splitter", SPLITS.values(), ids=SPLITS)
@pytest.mark.parametrize("name", MODELS)
def test_held_out_criteria_of_splits_are_those_of_refits(name, splitter):
    X, y = two_gaussians(n=40, n_labeled=20, n_features=3, shift=0.7)
    w = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = MODELS[name]
    f, samples = refitted_scores(model, X, y, w, splitter.split(X, y))
    _, ocv, empirical = expected_values(f, signs(y)[samples], w[samples])
    assert OCV(splitter).value(model, X, y, w) == pytest.approx(ocv, rel=1e-5)
    assert EmpiricalError(splitter, offset=0.2).value(model, X, y, w) == pytest.approx(empirical, rel=1e-5)
    wrong = (f[:, 0] > 0) != (y[samples] == 2)
    assert LeaveOneOutError(splitter).value(model, X, y, w) == pytest.approx(w[samples] @ wrong / w[samples].sum())


def test_leave_one_out_of_the_svm_is_a_fit_for_each_sample():
    X, y = two_gaussians(n=30, n_labeled=14, n_features=3)
    model = MODELS["SVM"]
    f, samples = refitted_scores(model, X, y, np.ones(len(y)), leave_one_out_splits(y))
    assert OCV("loo").value(model, X, y) == pytest.approx(np.mean((signs(y)[samples] - f) ** 2), rel=1e-5)


def test_five_folds_or_fewer_where_there_is_no_closed_form():
    X, y = two_gaussians(n=40, n_labeled=20, n_features=3)
    for name in ("SVM", "DCLSSVM"):
        auto, five = (EmpiricalError(cv).value(MODELS[name], X, y) for cv in ("auto", 5))
        assert auto == five
    y[np.flatnonzero(y == 1)[3:]] = -1
    auto, three = (EmpiricalError(cv).value(MODELS["SVM"], X, y) for cv in ("auto", 3))
    assert auto == three


def frozen(model, X, y, weights=None):
    """All samples with the labels that a semi-supervised model found, and their costs relative to C."""
    fitted = clone(model).fit(X, y, sample_weight=weights)
    relative = np.where(y > 0, 1.0, fitted.C_unlabeled / fitted.C_)
    return fitted.transduction_, relative if weights is None else relative * weights


def test_ocv_of_tls_svm_is_leave_one_out_at_the_labels_found():
    X, y = two_gaussians(n=30, n_labeled=12, n_features=2)
    model = DCLSSVM(5.0, C_unlabeled=0.8, gamma=0.4)
    labels, weights = frozen(model, X, y)
    f, samples = refitted_scores(LSSVM(5.0, gamma=0.4), X, labels, weights, leave_one_out_splits(y))
    assert OCV().value(model, X, y) == pytest.approx(np.mean((signs(y)[samples] - f) ** 2))


def bordered_inverse(X, c, gamma):
    K = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))
    H = np.ones((len(X) + 1, len(X) + 1))
    H[:-1, :-1], H[-1, -1] = K + np.diag(1.0 / c), 0.0
    return K, np.linalg.inv(H)


@pytest.mark.parametrize("weighted", [False, True])
def test_gcv_of_tls_svm_is_its_formula(weighted):
    X, y = two_gaussians(n=30, n_labeled=12, n_features=2)
    model = DCLSSVM(5.0, C_unlabeled=0.8, gamma=0.4)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    labels, costs = frozen(model, X, y, weights)
    K, inverse = bordered_inverse(X, 5.0 * costs, 0.4)
    hat = np.c_[K, np.ones(len(X))] @ inverse[:, :-1]
    target, known = signs(labels)[:, 0], y > 0
    residual, w = (target - hat @ target)[known], weights[known]
    expected = w.sum() * (w @ residual**2) / (w @ (1.0 - hat.diagonal()[known])) ** 2
    assert GCV().value(model, X, y, weights) == pytest.approx(expected)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_evidence_is_that_of_the_bayesian_estimator(intercept):
    X, y = two_gaussians(n=20, n_labeled=8, n_features=2)
    model = BayesianLSSVM(3.0, gamma=0.4, fit_intercept=intercept, random_state=0)
    assert Evidence().value(model, X, y) == pytest.approx(-model.fit(X, y).evidence_)


@pytest.mark.parametrize("model", [SVM(2.0, gamma=0.4), DCLSSVM(), SwitchingLSSVM(random_state=0)], ids=str)
def test_a_fold_does_not_know_the_labels_that_it_holds_out(model):
    X, y = two_gaussians(n=50, n_labeled=20, n_features=3, shift=1.0)
    splits = list(LabeledKFold(3).split(X, y))
    test = splits[0][1]
    other = y.copy()
    other[test] = 3 - y[test]

    def scores(labels):
        family = ModelFamily(model, X, labels)
        member = family.at(family.start)
        held = by_splits(member, make_splits(splits[:1], family, X, labels))
        return held.scores

    np.testing.assert_array_equal(scores(y), scores(other))
    assert not np.array_equal(*(EmpiricalError(splits[1:]).value(model, X, one) for one in (y, other)))


def test_models_depend_on_the_hyperparameters_alone():
    X, y = two_gaussians(n=100, n_labeled=4, shift=0.1)
    search = {"n_init": 3, "exact": False, "random_state": np.random.RandomState(0)}
    family = ModelFamily(BayesianLSSVM(100.0, C_unlabeled=100.0, gamma=0.3, **search), X, y)
    found = [family.at(family.start).solve()[0].solution.labels for _ in range(4)]
    assert len({tuple(labels) for labels in found}) == 1


REFUSED = {
    "another method": (CCCPTSVM(), PRESS(), "CCCPTSVM as it is set is not allowed; criteria with gradients take"),
    "sparse": (SparseLSSVM(), PRESS(), "SparseLSSVM as it is set"),
    "safe": (DCLSSVM(safe=True), PRESS(), "DCLSSVM as it is set"),
    "approximation": (LSSVM(approximation="nystroem"), PRESS(), "LSSVM as it is set"),
    "no estimator of ours": (object(), PRESS(), "object is not allowed; criteria"),
    "no least squares": (SVM(), GCV(), "GCV is a criterion of least-squares models; use EmpiricalError"),
    "cv": (SVM(), PRESS("folds"), "cv='folds' is not allowed; cv takes one of 'auto', 'loo' or a whole number"),
    "leaking": (SVM(), PRESS([([0, 1, 2, 3, 4, 5], [0])]), "split 0 of cv=.* trains on samples that it holds out"),
    "class left out": (SVM(), PRESS([([0, 2], [1])]), "leaves a class without a labeled sample to train on"),
    "slope": (SVM(), EmpiricalError(2, slope=0.0), "slope=0.0 is not allowed"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_criterion_is_refused(name):
    model, criterion, message = REFUSED[name]
    X, y = np.arange(8.0).reshape(-1, 1), np.array([1, 2, 1, 2, 1, 2, -1, -1])
    with pytest.raises(ValueError, match=message):
        criterion.value(model, X, y)


def test_pairs_of_several_classes_are_refused():
    X, y = blobs()
    with pytest.raises(ValueError, match="pass multiclass='ovr'"):
        PRESS().value(LSSVM(multiclass="ovo"), X, y)
