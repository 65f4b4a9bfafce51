"""Help-Training: the helpers, the balance, one run per class, and why the far rows are not the first to ask."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_blobs
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KernelDensity
from sklearn.svm import LinearSVC

from semisvm import CCCPTSVM, LSSVM, SVM, HelpTraining, SelfTraining
from semisvm.datasets import hide_labels
from semisvm.estimators import WRAPPERS
from semisvm.scale import window

BOTH = pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS)
CLASSES = pytest.mark.parametrize("classes", [2, 3])
CENTRES = np.array([[0, 0, 0], [3, 0, 1], [0, 3, -1]])


def data(classes=2, n=80, n_labeled=16, seed=0, spread=1.2):
    """Rows, their true classes, and labels for a few."""
    X, y = make_blobs(n, centers=CENTRES[:classes], cluster_std=spread, random_state=seed)
    return X, y + 1, hide_labels(y + 1, n_labeled, random_state=seed)


def same_rounds(one, other, rtol=1e-7):
    np.testing.assert_array_equal(one.labeled_iter_, other.labeled_iter_)
    np.testing.assert_array_equal(one.transduction_, other.transduction_)
    np.testing.assert_allclose(one.confidence_, other.confidence_, rtol=rtol, atol=rtol)


# ---------------------------------------------------------------- the point of it


def strips(seed, n=80):
    """Two long strips, one above the other, whose labeled ends make a machine look along them."""
    rng = np.random.default_rng(seed)
    upper = np.c_[rng.uniform(-2, 10, n), 1 + 0.15 * rng.standard_normal(n)]
    lower = np.c_[rng.uniform(-10, 2, n), -1 + 0.15 * rng.standard_normal(n)]
    X = np.vstack([[[-1.5, 1.0], [-1.0, 1.1], [1.5, -1.0], [1.0, -1.1]], upper, lower])
    y = np.r_[2, 2, 1, 1, np.repeat([2, 1], n)]
    return X, y, np.where(np.arange(len(y)) < 4, y, -1)


@pytest.mark.parametrize("seed", range(4))
def test_far_rows_mislead_a_machine_that_nobody_helps(seed):
    X, truth, y = strips(seed)
    alone = SelfTraining(SVM(10.0, kernel="linear"), k_best=2, threshold_decay=0.5).fit(X, y)
    first = (alone.labeled_iter_ >= 1) & (alone.labeled_iter_ <= 10)
    assert alone.termination_condition_ == "all_labeled"
    assert (alone.transduction_[first] != truth[first]).all()
    assert np.abs(X[first, 0]).min() > 6.0
    assert alone.score(X, truth) < 0.5
    helped = HelpTraining(SVM(10.0, kernel="linear")).fit(X, y)
    first = (helped.labeled_iter_ >= 1) & (helped.labeled_iter_ <= 5)
    assert np.abs(X[first, 0]).max() < 3.0
    assert helped.score(X, truth) > 0.99
    assert np.mean(helped.transduction_ == truth) > 0.99
    assert helped.supervised_.score(X, truth) < 0.5


# ---------------------------------------------------------------- the rounds


def by_hand(inner, X, y, gamma, counts, eps, decay, rank="density", left=None):
    """The rounds as the docstring tells them; labels, rounds and confidences of all rows."""
    y, step, sure = y.copy(), np.where(y == -1, -1, 0), np.full(len(y), np.nan)
    G, classes = rbf_kernel(X, gamma=gamma), np.unique(y[y != -1])
    while (y == -1).any():
        rest = np.flatnonzero(y == -1)
        f = clone(inner).fit(X[y != -1], y[y != -1]).decision_function(X[rest])
        F = np.column_stack([-f, f]) if f.ndim == 1 else f.copy()
        dense = np.column_stack([G[rest][:, y == c].mean(axis=1) for c in classes])
        if rank == "lead":
            dense = np.column_stack([dense[:, c] - np.delete(dense, c, 1).max(axis=1) for c in range(len(classes))])
        looked = {int(i) for c, count in enumerate(counts) for i in np.argsort(-dense[:, c], kind="stable")[:count]}
        if left is not None and np.count_nonzero(left) == 1:
            y[rest], step[rest], sure[rest] = classes[np.argmax(left)], step.max() + 1, F[:, np.argmax(left)]
            break
        if left is not None:
            for c, room in enumerate(left):
                order = np.sort(F[:, c])[::-1]
                F[:, c] -= (order[room - 1] + order[room]) / 2 if 0 < room < len(rest) else np.inf
        two = np.sort(F, axis=1)[:, -2:]
        lead = (two[:, 1] - two[:, 0]) / 2
        while max(lead[i] for i in looked) < eps:
            eps *= decay
        taken = sorted((i for i in looked if lead[i] >= eps), key=lambda i: -lead[i])
        step[rest[taken]] = step.max() + 1
        for i in taken:
            c = F[i].argmax()
            if left is None or left[c]:
                y[rest[i]], sure[rest[i]] = classes[c], lead[i]
                left = None if left is None else left - (np.arange(len(left)) == c)
            else:
                step[rest[i]] = -1
    return y, step, sure


@pytest.mark.parametrize("rank", ["density", "lead"])
@pytest.mark.parametrize("eps, decay", [(0.1, 0.9), (5.0, 0.5), (0.0, 0.9)])
@pytest.mark.parametrize("n_candidates", [None, 3, {1: 4, 2: 1, 3: 2}], ids=["default", "three", "mapping"])
@CLASSES
def test_rounds_go_as_by_hand(classes, n_candidates, eps, decay, rank):
    X, _, y = data(classes, n=50, n_labeled=12, spread=1.6)
    if isinstance(n_candidates, dict):
        n_candidates = {c: n_candidates[c] for c in range(1, classes + 1)}
    counts = {type(None): [1] * 3, int: [n_candidates] * 3, dict: [4, 1, 2]}[type(n_candidates)][:classes]
    given = {"n_candidates": n_candidates, "eps": eps, "eps_decay": decay, "rank": rank, "bandwidth": 0.4}
    fitted = HelpTraining(RidgeClassifier(), **given).fit(X, y)
    labels, step, sure = by_hand(RidgeClassifier(), X, y, 0.4, counts, eps, decay, rank)
    np.testing.assert_array_equal(fitted.labeled_iter_, step)
    np.testing.assert_array_equal(fitted.transduction_, labels)
    np.testing.assert_allclose(fitted.confidence_, sure, rtol=1e-12)
    assert fitted.termination_condition_ == "all_labeled"
    quick = HelpTraining(LSSVM(2.0, gamma=0.4), **given).fit(X, y)
    labels, step, sure = by_hand(LSSVM(2.0, gamma=0.4), X, y, 0.4, counts, eps, decay, rank)
    np.testing.assert_array_equal(quick.labeled_iter_, step)
    np.testing.assert_array_equal(quick.transduction_, labels)
    np.testing.assert_allclose(quick.confidence_, sure, rtol=1e-7)


@pytest.mark.parametrize("kind", [LSSVM, SVM])
def test_machines_of_pairs_of_classes_go_as_by_hand(kind):
    X, _, y = data(3, n=50, n_labeled=12)
    inner = kind(2.0, gamma=0.4, multiclass="ovo", coupling="pwc1")
    fitted = HelpTraining(inner, n_candidates=4, eps=0.2, bandwidth=0.4).fit(X, y)
    labels, step, sure = by_hand(inner, X, y, 0.4, [4] * 3, 0.2, 0.9)
    np.testing.assert_array_equal(fitted.labeled_iter_, step)
    np.testing.assert_array_equal(fitted.transduction_, labels)
    np.testing.assert_allclose(fitted.confidence_, sure, atol=1e-9)


def test_about_a_hundredth_of_the_rows_is_looked_at_if_nobody_says_how_many():
    X, _, y = data(n=560, n_labeled=40)
    assert HelpTraining(max_iter=1, eps=0.0).fit(X, y).trace_[0]["labeled"] == 6
    X, _, y = data(3, n=300, n_labeled=20)
    assert HelpTraining(max_iter=1, eps=0.0).fit(X, y).trace_[0]["labeled"] == 3


def test_eps_falls_until_somebody_has_it():
    X, _, y = data()
    fitted = HelpTraining(eps=100.0, eps_decay=0.8).fit(X, y)
    heights = np.array([row["threshold"] for row in fitted.trace_])
    powers = np.log(heights / 100.0) / np.log(0.8)
    np.testing.assert_allclose(powers, powers.round(), atol=1e-6)
    assert (np.diff(heights) <= 0).all()
    assert heights[0] < 2.0


# ---------------------------------------------------------------- one run per class


@pytest.mark.parametrize(
    "inner", [LSSVM(), SVM(tol=1e-6), LinearSVC(random_state=0)], ids=["LSSVM", "SVM", "LinearSVC"]
)
@pytest.mark.parametrize("share", [None, {1: 0.2, 2: 0.3, 3: 0.5}], ids=["free", "balance"])
@BOTH
def test_one_run_per_class_is_a_two_class_machine_of_its_own(wrapper, inner, share):
    X, _, y = data(3, n=70, n_labeled=15)
    helped = wrapper is HelpTraining
    given = {"n_candidates": {1: 1, 2: 3, 3: 2}} if helped else {"threshold": 0.4, "threshold_decay": 0.8, "k_best": 8}
    fitted = wrapper(inner, multiclass="ovr", balance=share, **given).fit(X, y)
    joint = wrapper(inner, balance=share, **given).fit(X, y)
    assert len(fitted.estimators_) == len(fitted.trace_) == len(fitted.termination_condition_) == 3
    assert fitted.labeled_iter_.shape == fitted.confidence_.shape == (70, 3)
    assert joint.labeled_iter_.shape == joint.confidence_.shape == (70,)
    assert fitted.n_iter_.shape == (3,)
    for c, kept in zip((1, 2, 3), fitted.estimators_):
        if helped:
            own = given["n_candidates"][c]
            given = given | {"n_candidates": {False: 6 - own, True: own}}
        if share is not None:
            given["balance"] = share[c]
        alone = wrapper(inner, **given).fit(X, [None if v == -1 else v == c for v in y])
        np.testing.assert_array_equal(fitted.labeled_iter_[:, c - 1], alone.labeled_iter_)
        np.testing.assert_allclose(fitted.confidence_[:, c - 1], alone.confidence_, rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(fitted.decision_function(X)[:, c - 1], alone.decision_function(X), atol=1e-5)
        np.testing.assert_array_equal(kept.predict(X), alone.predict(X))
        assert fitted.n_iter_[c - 1] == alone.n_iter_
        assert fitted.termination_condition_[c - 1] == alone.termination_condition_
        given = {"n_candidates": {1: 1, 2: 3, 3: 2}} if helped else given
    np.testing.assert_array_equal(fitted.predict(X), fitted.decision_function(X).argmax(axis=1) + 1)
    np.testing.assert_array_equal(fitted.transduction_, np.where(y == -1, fitted.predict(X), y))
    assert not hasattr(fitted, "predict_proba")
    assert not hasattr(fitted, "estimator_")
    assert hasattr(joint, "predict_proba") == hasattr(inner, "predict_proba")


def test_two_classes_are_one_run_whatever_is_asked_for():
    X, _, y = data()
    fitted, joint = (HelpTraining(multiclass=how).fit(X, y) for how in ("ovr", "joint"))
    same_rounds(fitted, joint)
    assert fitted.labeled_iter_.shape == (80,)
    np.testing.assert_array_equal(fitted.predict_proba(X), joint.predict_proba(X))


def test_one_run_per_class_by_probabilities():
    X, truth, y = data(3)
    fitted = SelfTraining(GaussianNB(), 0.8, confidence="probability", multiclass="ovr").fit(X, y)
    chances = np.column_stack([kept.predict_proba(X)[:, 1] for kept in fitted.estimators_])
    np.testing.assert_array_equal(fitted.predict(X), chances.argmax(axis=1) + 1)
    for c, kept in enumerate(fitted.estimators_):
        found = fitted.labeled_iter_[:, c] >= 0
        assert (fitted.confidence_[fitted.labeled_iter_[:, c] >= 1, c] > 0.8).all()
        assert kept.class_count_.sum() == np.count_nonzero(found)
    assert not hasattr(fitted, "decision_function")
    assert fitted.score(X, truth) > 0.8


# ---------------------------------------------------------------- the balance


@pytest.mark.parametrize(
    "classes, balance, counts",
    [
        (2, 0.3, [45, 19]),
        (2, {1: 1.0, 2: 3.0}, [16, 48]),
        (2, "labeled", [48, 16]),
        (2, 0.0, [64, 0]),
        (3, {1: 0.2, 2: 0.3, 3: 0.5}, [13, 19, 32]),
        (3, {1: 1.0, 2: 0.0, 3: 1.0}, [32, 0, 32]),
        (3, "labeled", [48, 8, 8]),
    ],
)
@pytest.mark.parametrize("inner", [LSSVM(), SVM(), RidgeClassifier()], ids=["LSSVM", "SVM", "Ridge"])
@BOTH
def test_the_rounds_keep_the_shares_to_a_row(wrapper, inner, classes, balance, counts):
    X, truth, _ = data(classes)
    known = [12, 4] if classes == 2 else [12, 2, 2]
    y = np.full(80, -1)
    for c, count in enumerate(known, start=1):
        y[np.flatnonzero(truth == c)[:count]] = c
    given = {} if wrapper is HelpTraining else {"threshold_decay": 0.7, "k_best": 9}
    fitted = wrapper(inner, balance=balance, **given).fit(X, y)
    assert (fitted.labeled_iter_ >= 0).all()
    np.testing.assert_array_equal(np.bincount(fitted.transduction_[y == -1] - 1, minlength=classes), counts)


@pytest.mark.parametrize(
    "classes, left", [(2, [20, 28]), (2, [48, 0]), (3, [12, 16, 20]), (3, [30, 9, 9]), (3, [24, 0, 24])]
)
@pytest.mark.parametrize("eps, count", [(0.05, 4), (2.0, 4), (0.0, 48)])
def test_rounds_with_a_balance_go_as_by_hand(classes, left, eps, count):
    X, _, y = data(classes, n=60, n_labeled=12)
    given = {"n_candidates": count, "eps": eps, "bandwidth": 0.4}
    fitted = HelpTraining(RidgeClassifier(), balance=dict(zip((1, 2, 3), left)), **given).fit(X, y)
    labels, step, sure = by_hand(RidgeClassifier(), X, y, 0.4, [count] * classes, eps, 0.9, left=np.array(left))
    np.testing.assert_array_equal(fitted.labeled_iter_, step)
    np.testing.assert_array_equal(fitted.transduction_, labels)
    np.testing.assert_allclose(fitted.confidence_, sure, rtol=1e-9)


@BOTH
def test_a_balance_rescues_a_machine_of_labels_that_are_mostly_one_class(wrapper):
    X, truth, _ = data(n=120, spread=0.8)
    y = np.full(120, -1)
    y[np.flatnonzero(truth == 1)[:28]] = 1
    y[np.flatnonzero(truth == 2)[:2]] = 2
    given = {} if wrapper is HelpTraining else {"threshold_decay": 0.7}
    inner = LSSVM(0.02, gamma=0.3)
    biased, held = (wrapper(inner, balance=share, **given).fit(X, y) for share in (None, 58 / 90))
    hidden = y == -1
    assert np.mean(biased.transduction_[hidden] == truth[hidden]) < 0.6
    assert np.mean(held.transduction_[hidden] == truth[hidden]) > 0.95


# ---------------------------------------------------------------- helpers


def test_windows_are_as_wide_as_left_out_rows_find_likely_or_as_the_kernel_or_as_it_is_said():
    X, _, y = data()
    fits = {how: HelpTraining(SVM(gamma=0.7), bandwidth=how).fit(X, y) for how in ("auto", "leave_one_out", "kernel")}
    same_rounds(fits["auto"], fits["leave_one_out"])
    same_rounds(fits["auto"], HelpTraining(SVM(gamma=0.7), bandwidth=window(X)).fit(X, y))
    same_rounds(fits["kernel"], HelpTraining(SVM(gamma=0.7), bandwidth=0.7).fit(X, y))
    assert (fits["auto"].labeled_iter_ != fits["kernel"].labeled_iter_).any()
    median = HelpTraining(LSSVM(gamma="median"), bandwidth="kernel").fit(X, y)
    same_rounds(median, HelpTraining(LSSVM(gamma="median"), bandwidth=median.estimator_.gamma_).fit(X, y))
    called = HelpTraining(SVM(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.7)), bandwidth="kernel").fit(X, y)
    same_rounds(called, fits["kernel"], 1e-2)
    semi = HelpTraining(CCCPTSVM(gamma=0.7), bandwidth="kernel", max_iter=2, n_candidates=9).fit(X, y)
    same_rounds(semi, HelpTraining(CCCPTSVM(gamma=0.7), bandwidth=0.7, max_iter=2, n_candidates=9).fit(X, y))


@pytest.mark.parametrize("kernel", ["laplacian", "inverse_multiquadric", "kmod", "poly"])
def test_other_kernels_are_windows_where_they_are_not_below_zero(kernel):
    X, truth, y = data(spread=0.7)
    fitted = HelpTraining(SVM(kernel=kernel, coef0=1.0, gamma=0.1), bandwidth="kernel").fit(np.abs(X), y)
    assert fitted.termination_condition_ == "all_labeled"
    assert fitted.score(np.abs(X), truth) > 0.8


class Spheres(BaseEstimator):
    """Densities that fall with the distance from the mean of a class."""

    def fit(self, X, y):
        self.means_ = np.array([X[y == c].mean(axis=0) for c in range(y.max() + 1)])
        return self

    def log_densities(self, X):
        return -((X[:, None, :] - self.means_) ** 2).sum(axis=2)


class Plain:
    """One density, and nothing of scikit-learn's."""

    def fit(self, X):
        self.mean = X.mean(axis=0)
        return self

    def score_samples(self, X):
        return -((X - self.mean) ** 2).sum(axis=1)


class Table:
    """Both at once, and nothing of scikit-learn's."""

    fit, log_densities = Spheres.fit, Spheres.log_densities


HELPED = {
    "mixture": "mixture",
    "naive_bayes": "naive_bayes",
    "KernelDensity": KernelDensity(bandwidth=0.8),
    "GaussianMixture": GaussianMixture(3, covariance_type="spherical", random_state=0),
    "GaussianNB": GaussianNB(),
    "log_densities": Spheres(),
    "score_samples alone": Plain(),
    "log_densities alone": Table(),
}


@pytest.mark.parametrize("helper", HELPED)
@CLASSES
def test_helpers(classes, helper):
    X, truth, y = data(classes, spread=0.9)
    fitted = HelpTraining(LSSVM(), HELPED[helper], n_candidates=8, random_state=0).fit(X, y)
    assert fitted.termination_condition_ == "all_labeled"
    assert (fitted.labeled_iter_[y == -1] >= 1).all()
    assert fitted.score(X, truth) > 0.85
    same_rounds(fitted, HelpTraining(LSSVM(), HELPED[helper], n_candidates=8, random_state=0).fit(X, y))


def test_a_helper_of_densities_is_one_of_windows_by_another_name():
    X, _, y = data(3)
    windows = HelpTraining(LSSVM(), bandwidth=0.5, n_candidates=4, eps=0.02).fit(X, y)
    same_rounds(windows, HelpTraining(LSSVM(), KernelDensity(bandwidth=1.0), n_candidates=4, eps=0.02).fit(X, y))
    spheres = HelpTraining(LSSVM(), Spheres()).fit(X, y)
    same_rounds(spheres, HelpTraining(LSSVM(), Plain()).fit(X, y))
    assert (windows.labeled_iter_ != spheres.labeled_iter_).any()


def test_a_helper_does_not_know_how_many_rows_a_class_has():
    X, truth, _ = data(n=120)
    y = np.full(120, -1)
    y[np.flatnonzero(truth == 1)[:16]], y[np.flatnonzero(truth == 2)[:4]] = 1, 2
    own, even = GaussianNB(), GaussianNB(priors=[0.5, 0.5])
    given = {"rank": "lead", "n_candidates": 5}
    same_rounds(HelpTraining(LSSVM(), own, **given).fit(X, y), HelpTraining(LSSVM(), even, **given).fit(X, y))


def test_naive_bayes_is_gaussian_on_dense_rows_and_multinomial_on_sparse_ones():
    rng = np.random.default_rng(0)
    truth = np.repeat([1, 2], 40)
    chances = np.where(truth[:, None] == 1, np.linspace(1, 3, 12), np.linspace(3, 1, 12))
    X, y = rng.poisson(chances).astype(float), hide_labels(truth, 16, random_state=0)
    X[0, 0] = 1.0
    dense = HelpTraining(LSSVM(), "naive_bayes").fit(X, y)
    same_rounds(dense, HelpTraining(LSSVM(), GaussianNB(var_smoothing=0.05)).fit(X, y))
    few = HelpTraining(LSSVM(), "naive_bayes").fit(sparse.csr_array(X), y)
    same_rounds(few, HelpTraining(LSSVM(), MultinomialNB()).fit(X, y))
    assert (few.labeled_iter_ != dense.labeled_iter_).any()
    assert few.score(sparse.csr_array(X), truth) > 0.8
    with pytest.raises(ValueError, match=r"multinomial and X holds numbers below zero; use helper='parzen'"):
        HelpTraining(helper="naive_bayes").fit(sparse.csr_array(X - 1.0), y)
    with pytest.raises(ValueError, match=r"'mixture' takes a dense table and X is sparse; use helper="):
        HelpTraining(helper="mixture").fit(sparse.csr_array(X), y)


@pytest.mark.parametrize("helper", ["parzen", "mixture", "naive_bayes", KernelDensity(), Spheres()], ids=str)
def test_one_labeled_row_of_a_class_is_enough_for_a_helper(helper):
    X, truth, _ = data(spread=0.7)
    y = hide_labels(truth, 2, random_state=1)
    assert HelpTraining(LSSVM(), helper, random_state=0).fit(X, y).termination_condition_ == "all_labeled"


@pytest.mark.parametrize("helper", ["parzen", "mixture", "naive_bayes", KernelDensity()], ids=str)
def test_a_row_of_no_weight_does_not_help(helper):
    X, _, y = data(n_labeled=24)
    there = np.arange(80) % 8 > 0
    X[~there] *= 40.0
    fitted = HelpTraining(LSSVM(), helper, n_candidates=5, random_state=0).fit(X, y, sample_weight=there)
    expected = HelpTraining(LSSVM(), helper, n_candidates=5, random_state=0).fit(X[there], y[there])
    np.testing.assert_array_equal(fitted.labeled_iter_[there], expected.labeled_iter_)
    np.testing.assert_array_equal(fitted.transduction_[there], expected.transduction_)


@pytest.mark.parametrize("helper", ["parzen", "naive_bayes", KernelDensity(), GaussianNB()], ids=str)
def test_weights_are_told_to_helpers(helper):
    X, _, y = data(n_labeled=24)
    weight = np.where((y != -1) & (X[:, 1] > 0), 50.0, 1.0)
    plain, weighted = (HelpTraining(LSSVM(), helper, max_iter=3).fit(X, y, sample_weight=w) for w in (None, weight))
    twice = HelpTraining(LSSVM(), helper, max_iter=3).fit(
        np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int))
    )
    first = np.cumsum(weight.astype(int)) - 1
    np.testing.assert_array_equal(weighted.labeled_iter_, twice.labeled_iter_[first])
    assert (weighted.labeled_iter_ != plain.labeled_iter_).any()


@pytest.mark.parametrize("helper", ["mixture", Spheres()], ids=str)
def test_weights_are_refused_for_helpers_that_take_none(helper):
    X, _, y = data()
    with pytest.raises(ValueError, match=r"the helper \w+ takes no sample_weight; use helper='parzen' or"):
        HelpTraining(LSSVM(), helper).fit(X, y, sample_weight=np.linspace(1, 2, 80))


@pytest.mark.parametrize(
    "helper, message",
    [
        ("knn", "helper='knn' is not allowed; helper takes one of 'parzen', 'mixture', 'naive_bayes'"),
        (None, r"helper=None is not allowed; helper takes 'parzen'.*log_densities \(a column per class\)"),
        (3, "helper=3 is not allowed"),
        (LinearSVC(), r"helper=LinearSVC\(\) is not allowed"),
        (GaussianNB, r"helper=.*GaussianNB.* is not allowed"),
        (KernelDensity, r"helper=.*KernelDensity.* is not allowed"),
    ],
    ids=str,
)
def test_helpers_that_are_none(helper, message):
    X, _, y = data()
    with pytest.raises(ValueError, match=message):
        HelpTraining(helper=helper).fit(X, y)


@pytest.mark.parametrize(
    "found, message",
    [
        (lambda X: np.zeros((len(X), 3)), r"shape \(\d+, 3\); they must be one number .* rows and 2 classes"),
        (lambda X: np.zeros(len(X)), r"shape \(\d+,\)"),
        (lambda X: np.full((len(X), 2), np.nan), "hold NaN"),
    ],
    ids=["columns", "flat", "NaN"],
)
def test_densities_that_are_none(monkeypatch, found, message):
    X, _, y = data()
    monkeypatch.setattr(Spheres, "log_densities", lambda self, X: found(X))
    with pytest.raises(ValueError, match=f"the helper's log densities .*{message}"):
        HelpTraining(helper=Spheres()).fit(X, y)


def test_densities_of_nothing_are_no_mistake():
    X, truth, y = data(spread=0.7)
    X[5] = 1e4
    fitted = HelpTraining(SVM(gamma=0.3), bandwidth=50.0).fit(X, y)
    assert fitted.termination_condition_ == "all_labeled"
    fitted = HelpTraining(SVM(gamma=0.3), bandwidth=50.0, rank="lead").fit(X, y)
    assert fitted.termination_condition_ == "all_labeled"
    assert fitted.score(X, truth) > 0.85
