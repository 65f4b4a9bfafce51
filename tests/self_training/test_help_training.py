"""Help-Training: rounds by hand, one run per class, the balance, helpers; far samples do not mislead it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KernelDensity

from factories import make_estimator
from rounds_reference import (
    assert_rounds_are,
    assert_same_rounds,
    densest_samples,
    label_by_hand,
    partly_labeled_blobs,
)
from semisvm import CCCPTSVM, LSSVM, SVM, HelpTraining, SelfTraining
from semisvm.datasets import hide_labels
from semisvm.self_training import WRAPPERS
from semisvm.spaces.bandwidth import parzen_gamma

both = pytest.mark.parametrize("name", WRAPPERS)


def two_strips(seed, n=60):
    """Two long strips, one above the other, of which only the ends that face each other are labeled.

    A linear model of the labeled samples alone separates left from right rather than above from below.
    """
    rng = np.random.default_rng(seed)
    upper = np.c_[rng.uniform(-2, 10, n), 1 + 0.15 * rng.standard_normal(n)]
    lower = np.c_[rng.uniform(-10, 2, n), -1 + 0.15 * rng.standard_normal(n)]
    X = np.vstack([[[-1.5, 1.0], [-1.0, 1.1], [1.5, -1.0], [1.0, -1.1]], upper, lower])
    truth = np.r_[2, 2, 1, 1, np.repeat([2, 1], n)]
    return X, np.where(np.arange(len(truth)) < 4, truth, -1), truth


@pytest.mark.parametrize("seed", range(2))
def test_far_samples_mislead_self_training_but_not_help_training(seed):
    X, y, truth = two_strips(seed)
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


# -------------------------------------------------------------------- the rounds


@pytest.mark.parametrize(
    "k, n_candidates, counts, eps, decay, rank",
    [
        (2, None, [1, 1], 0.1, 0.9, "density"),
        (3, None, [1, 1, 1], 5.0, 0.5, "difference"),
        (2, 3, [3, 3], 5.0, 0.5, "density"),
        (3, 3, [3, 3, 3], 0.1, 0.9, "density"),
        (2, {1: 4, 2: 1}, [4, 1], 0.0, 0.9, "difference"),
        (3, {1: 4, 2: 1, 3: 2}, [4, 1, 2], 0.1, 0.9, "difference"),
    ],
)
@pytest.mark.parametrize("model", [RidgeClassifier(), LSSVM(2.0, gamma=0.4)], ids=["Ridge", "LSSVM"])
def test_rounds_go_as_by_hand(model, k, n_candidates, counts, eps, decay, rank):
    X, y, _ = partly_labeled_blobs(k, 50, 12, distance=1.0)
    options = {"n_candidates": n_candidates, "eps": eps, "eps_decay": decay, "rank": rank, "bandwidth": 0.4}
    fitted = HelpTraining(model, **options).fit(X, y)
    candidates = densest_samples(X, 0.4, counts, rank)
    assert_rounds_are(fitted, *label_by_hand(model, X, y, eps, decay, candidates=candidates))
    assert fitted.termination_condition_ == "all_labeled"


@pytest.mark.parametrize("cls", [LSSVM, SVM])
def test_rounds_of_one_vs_one_models_go_as_by_hand(cls):
    X, y, _ = partly_labeled_blobs(3, 50, 12)
    model = cls(2.0, gamma=0.4, multiclass="ovo", coupling="pwc1")
    fitted = HelpTraining(model, n_candidates=4, eps=0.2, bandwidth=0.4).fit(X, y)
    expected = label_by_hand(model, X, y, 0.2, 0.9, candidates=densest_samples(X, 0.4, [4] * 3))
    assert_rounds_are(fitted, *expected)


@pytest.mark.parametrize("labels, counts", [([20, 20], [12, 12]), ([30, 10], [17, 7]), ([4, 2, 34], [4, 3, 17])])
def test_a_twentieth_of_the_samples_are_candidates_divided_almost_like_the_labels(labels, counts):
    k = len(labels)
    X, _, truth = partly_labeled_blobs(k, 520, distance=3.0)
    y = np.full(520, -1)
    for c, count in enumerate(labels, start=1):
        y[np.flatnonzero(truth == c)[:count]] = c
    given = dict(enumerate(counts, start=1))
    by_default, by_hand = (HelpTraining(n_candidates=n, max_iter=2).fit(X, y) for n in (None, given))
    assert_same_rounds(by_default, by_hand)
    assert sum(counts) == 480 // 20


# -------------------------------------------------------------------- one run per class


@both
@pytest.mark.parametrize(
    "model, balance", [(LSSVM(), None), (SVM(tol=1e-6), {1: 0.2, 2: 0.3, 3: 0.5})], ids=["free", "balance"]
)
def test_one_run_per_class_is_a_binary_estimator_for_each(name, model, balance):
    X, y, _ = partly_labeled_blobs(3, 70)
    counts = {1: 1, 2: 3, 3: 2}
    shared = {"estimator": model, "threshold": 0.4, "threshold_decay": 0.8, "k_best": 8}
    options = shared | {"n_candidates": counts, "balance": balance}
    fitted = make_estimator(name, multiclass="ovr", **options).fit(X, y)
    assert len(fitted.estimators_) == len(fitted.trace_) == len(fitted.termination_condition_) == 3
    assert fitted.labeled_iter_.shape == fitted.confidence_.shape == (70, 3)
    for c in (1, 2, 3):
        share = None if balance is None else balance[c]
        options = shared | {"n_candidates": {False: 6 - counts[c], True: counts[c]}, "balance": share}
        binary = make_estimator(name, **options).fit(X, [None if v == -1 else v == c for v in y])
        assert_array_equal(fitted.labeled_iter_[:, c - 1], binary.labeled_iter_)
        assert_allclose(fitted.confidence_[:, c - 1], binary.confidence_, rtol=1e-5, atol=1e-8)
        assert_allclose(fitted.decision_function(X)[:, c - 1], binary.decision_function(X), atol=1e-5)
        assert_array_equal(fitted.estimators_[c - 1].predict(X), binary.predict(X))
        assert fitted.n_iter_[c - 1] == binary.n_iter_
        assert fitted.termination_condition_[c - 1] == binary.termination_condition_
    assert_array_equal(fitted.predict(X), fitted.decision_function(X).argmax(axis=1) + 1)
    assert_array_equal(fitted.transduction_[y != -1], y[y != -1])
    if balance is None:
        assert_array_equal(fitted.transduction_, np.where(y == -1, fitted.predict(X), y))
    else:  # the classes of largest scores that keep the shares
        counts_found = np.bincount(fitted.transduction_[y == -1])[1:]
        assert_allclose(counts_found, [share * (y == -1).sum() for share in balance.values()], atol=1.0)
    assert_array_equal(fitted.predict_proba(X).argmax(axis=1) + 1, fitted.predict(X))
    assert not hasattr(fitted, "estimator_")


def test_two_classes_are_one_run():
    X, y, _ = partly_labeled_blobs()
    one, other = (HelpTraining(multiclass=multiclass).fit(X, y) for multiclass in ("ovr", "joint"))
    assert_same_rounds(one, other)
    assert one.labeled_iter_.shape == (60,)
    assert_array_equal(one.predict_proba(X), other.predict_proba(X))


# -------------------------------------------------------------------- the balance


def labels_of_first_class_mostly(truth):
    """Labels for 12 samples of the first class and a few of the others."""
    y = np.full(len(truth), -1)
    for c, count in enumerate([12, 4] if truth.max() == 2 else [12, 2, 2], start=1):
        y[np.flatnonzero(truth == c)[:count]] = c
    return y


@both
@pytest.mark.parametrize(
    "k, balance, counts",
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
def test_balance_gives_the_counts_of_the_classes(name, k, balance, counts):
    X, _, truth = partly_labeled_blobs(k, 80)
    y = labels_of_first_class_mostly(truth)
    for model in (LSSVM(), SVM()):
        fitted = make_estimator(name, estimator=model, balance=balance, threshold_decay=0.7, k_best=9).fit(X, y)
        assert (fitted.labeled_iter_ >= 0).all()
        assert_array_equal(np.bincount(fitted.transduction_[y == -1] - 1, minlength=k), counts)


@pytest.mark.parametrize(
    "k, quota, eps, count",
    [
        (2, [20, 28], 0.05, 4),
        (2, [20, 28], 2.0, 4),
        (2, [48, 0], 0.05, 4),
        (3, [30, 9, 9], 2.0, 4),
        (3, [24, 0, 24], 0.05, 4),
        (3, [12, 16, 20], 0.0, 48),
    ],
)
def test_rounds_with_a_balance_go_as_by_hand(k, quota, eps, count):
    X, y, _ = partly_labeled_blobs(k, 60, 12)
    balance = {c: float(n) for c, n in enumerate(quota, start=1)}
    fitted = HelpTraining(RidgeClassifier(), balance=balance, n_candidates=count, eps=eps, bandwidth=0.4).fit(X, y)
    candidates = densest_samples(X, 0.4, [count] * k)
    assert_rounds_are(fitted, *label_by_hand(RidgeClassifier(), X, y, eps, 0.9, candidates=candidates, quota=quota))


@both
def test_balance_corrects_a_model_of_labels_that_are_mostly_of_one_class(name):
    X, _, truth = partly_labeled_blobs(n=120, distance=3.0)
    y = np.full(120, -1)
    y[np.flatnonzero(truth == 1)[:28]] = 1
    y[np.flatnonzero(truth == 2)[:2]] = 2
    biased, balanced = (
        make_estimator(name, estimator=LSSVM(0.02, gamma=0.1), balance=share, threshold_decay=0.7).fit(X, y)
        for share in (None, 58 / 90)
    )
    hidden = y == -1
    assert np.mean(biased.transduction_[hidden] == truth[hidden]) < 0.6
    assert np.mean(balanced.transduction_[hidden] == truth[hidden]) > 0.95


# -------------------------------------------------------------------- helpers


def test_bandwidth_of_the_windows():
    X, y, _ = partly_labeled_blobs()
    fits = {b: HelpTraining(SVM(gamma=0.7), bandwidth=b).fit(X, y) for b in ("auto", "leave_one_out", "kernel")}
    assert_same_rounds(fits["auto"], fits["kernel"])
    assert_same_rounds(fits["leave_one_out"], HelpTraining(SVM(gamma=0.7), bandwidth=parzen_gamma(X)).fit(X, y))
    assert_same_rounds(fits["kernel"], HelpTraining(SVM(gamma=0.7), bandwidth=0.7).fit(X, y))
    assert (fits["leave_one_out"].labeled_iter_ != fits["kernel"].labeled_iter_).any()
    for model in (SVM(kernel="linear"), RidgeClassifier()):  # without a kernel that is a window
        by_default, own_windows = (HelpTraining(model, bandwidth=b).fit(X, y) for b in ("auto", "leave_one_out"))
        assert_same_rounds(by_default, own_windows)
    median = HelpTraining(LSSVM(gamma="median"), bandwidth="kernel").fit(X, y)
    same_gamma = HelpTraining(LSSVM(gamma="median"), bandwidth=median.estimator_.gamma_).fit(X, y)
    assert_same_rounds(median, same_gamma)
    function = HelpTraining(SVM(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.7)), bandwidth="kernel").fit(X, y)
    assert_same_rounds(function, fits["kernel"], 1e-2)
    semi_supervised = [
        HelpTraining(CCCPTSVM(gamma=0.7), bandwidth=b, max_iter=2, n_candidates=9).fit(X, y) for b in ("kernel", 0.7)
    ]
    assert_same_rounds(*semi_supervised)


@pytest.mark.parametrize("kernel", ["laplacian", "inverse_multiquadric", "kmod", "poly"])
def test_kernels_without_negative_values_are_windows(kernel):
    X, y, truth = partly_labeled_blobs(distance=2.0)
    X = np.abs(X - X.min(axis=0))
    fitted = HelpTraining(SVM(kernel=kernel, coef0=1.0, gamma=0.1), bandwidth="kernel").fit(X, y)
    assert fitted.termination_condition_ == "all_labeled"
    assert fitted.score(X, truth) > 0.8


class DistanceDensity:
    """Densities that decrease with the distance from the mean of a class, without scikit-learn's base class."""

    def fit(self, X, y):
        self.means = np.array([X[y == c].mean(axis=0) for c in range(y.max() + 1)])
        return self

    def log_densities(self, X):
        return -((X[:, None, :] - self.means) ** 2).sum(axis=2)


class OneClassDistanceDensity:
    """The same density of one class."""

    def fit(self, X):
        self.mean = X.mean(axis=0)
        return self

    def score_samples(self, X):
        return -((X - self.mean) ** 2).sum(axis=1)


@pytest.mark.parametrize(
    "helper",
    ["mixture", "naive_bayes", GaussianMixture(3, random_state=0), KernelDensity(), DistanceDensity()],
    ids=["mixture", "naive_bayes", "GaussianMixture", "KernelDensity", "log_densities"],
)
@pytest.mark.parametrize("k, n_labeled", [(2, 2), (3, 16)])
def test_helpers_label_all_samples(helper, k, n_labeled):
    X, y, truth = partly_labeled_blobs(k, 80, n_labeled, distance=3.0)
    fitted, again = (HelpTraining(LSSVM(), helper, n_candidates=8, random_state=0).fit(X, y) for _ in range(2))
    assert fitted.termination_condition_ == "all_labeled"
    assert fitted.score(X, truth) > 0.85
    assert_same_rounds(fitted, again)


def test_helpers_with_the_same_densities_are_the_same():
    X, y, _ = partly_labeled_blobs(3)
    windows = HelpTraining(LSSVM(), bandwidth=0.5, n_candidates=4, eps=0.02).fit(X, y)
    kernel_density = HelpTraining(LSSVM(), KernelDensity(bandwidth=1.0), n_candidates=4, eps=0.02).fit(X, y)
    assert_same_rounds(windows, kernel_density)
    distances = HelpTraining(LSSVM(), DistanceDensity()).fit(X, y)
    assert_same_rounds(distances, HelpTraining(LSSVM(), OneClassDistanceDensity()).fit(X, y))
    assert (windows.labeled_iter_ != distances.labeled_iter_).any()


def test_number_of_labels_of_a_class_does_not_matter_to_a_helper():
    X, _, truth = partly_labeled_blobs(n=120)
    y = labels_of_first_class_mostly(truth)
    estimated, even = (
        HelpTraining(LSSVM(), GaussianNB(priors=priors), rank="difference", n_candidates=5).fit(X, y)
        for priors in (None, [0.5, 0.5])
    )
    assert_same_rounds(estimated, even)


def test_naive_bayes_is_gaussian_on_dense_samples_and_multinomial_on_sparse_ones():
    rng, truth = np.random.default_rng(0), np.repeat([1, 2], 40)
    rates = np.where(truth[:, None] == 1, np.linspace(1, 3, 12), np.linspace(3, 1, 12))
    X, y = rng.poisson(rates).astype(float), hide_labels(truth, 16, random_state=0)
    dense = HelpTraining(LSSVM(), "naive_bayes", n_candidates=4).fit(X, y)
    assert_same_rounds(dense, HelpTraining(LSSVM(), GaussianNB(var_smoothing=0.05), n_candidates=4).fit(X, y))
    counts = HelpTraining(LSSVM(), "naive_bayes", n_candidates=4).fit(sparse.csr_array(X), y)
    assert_same_rounds(counts, HelpTraining(LSSVM(), MultinomialNB(), n_candidates=4).fit(X, y))
    assert (counts.labeled_iter_ != dense.labeled_iter_).any()
    assert counts.score(sparse.csr_array(X), truth) > 0.8


@pytest.mark.parametrize("helper", ["parzen", "mixture", "naive_bayes"])
def test_sample_of_weight_zero_does_not_help(helper):
    X, y, _ = partly_labeled_blobs(n=80, n_labeled=24)
    present = np.arange(80) % 8 > 0
    X[~present] *= 40.0
    fitted = HelpTraining(LSSVM(), helper, n_candidates=5, random_state=0).fit(X, y, sample_weight=present)
    expected = HelpTraining(LSSVM(), helper, n_candidates=5, random_state=0).fit(X[present], y[present])
    assert_array_equal(fitted.labeled_iter_[present], expected.labeled_iter_)
    assert_array_equal(fitted.transduction_[present], expected.transduction_)


@pytest.mark.parametrize("helper", ["parzen", "naive_bayes"])
def test_weights_count_like_copies_of_a_sample(helper):
    X, y, _ = partly_labeled_blobs(n=80, n_labeled=24)
    weights = np.where((y != -1) & (np.cumsum(y != -1) % 3 == 0), 50, 1)  # every third labeled sample
    plain, weighted = (HelpTraining(LSSVM(), helper, max_iter=3).fit(X, y, sample_weight=w) for w in (None, weights))
    copies = HelpTraining(LSSVM(), helper, max_iter=3).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_array_equal(weighted.labeled_iter_, copies.labeled_iter_[np.cumsum(weights) - 1])
    assert (weighted.labeled_iter_ != plain.labeled_iter_).any()


@pytest.mark.parametrize("rank", ["density", "difference"])
def test_densities_of_zero_are_no_error(rank):
    X, y, truth = partly_labeled_blobs(distance=2.0)
    X[np.flatnonzero(y == -1)[0]] = 1e4
    fitted = HelpTraining(SVM(gamma=0.3), bandwidth=50.0, rank=rank).fit(X, y)
    assert fitted.termination_condition_ == "all_labeled"
    assert fitted.score(X, truth) > 0.8
