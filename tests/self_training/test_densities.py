"""Densities of classes: against direct sums, scikit-learn's estimators fitted by hand, and scipy's distributions."""

import re
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KernelDensity

from factories import blobs, make_space
from semisvm.self_training.densities import (
    ClasswiseDensity,
    ParzenWindows,
    mixture_density,
    naive_bayes_density,
    user_density,
)
from semisvm.self_training.metadata import FitMetadata
from semisvm.spaces import Gram, Kernel

N, K = 60, 3
ALL = np.arange(N)

weighted_or_not = pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])


def classes():
    """Samples of three classes, and their codes."""
    return blobs(K, N, N, 2)


def sample_weights(weighted=True):
    return np.random.default_rng(1).uniform(0.2, 3.0, N) if weighted else np.ones(N)


def log_mean_window(X, codes, weights, samples, gamma):
    """log of the weighted mean window of each class at all of X, sample by sample."""
    out = np.empty((len(X), K))
    for i, c in np.ndindex(out.shape):
        of_class = samples[codes[samples] == c]
        windows = np.exp(-gamma * ((X[of_class] - X[i]) ** 2).sum(axis=1))
        out[i, c] = np.log((weights[of_class] * windows).sum() / weights[of_class].sum())
    return out


# -------------------------------------------------------------------- Parzen windows


@weighted_or_not
@pytest.mark.parametrize("fits", [True, False], ids=["in memory", "too large"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_parzen_windows_are_direct_sums(weighted, fits, kind, monkeypatch):
    monkeypatch.setenv("SEMISVM_MEMORY", "1e9" if fits else "1000")
    X, codes = classes()
    weights, order = sample_weights(weighted), np.r_[np.arange(3), 3 + np.random.default_rng(2).permutation(N - 8)]
    gram = make_space(kind(X))
    densities, so_far = ParzenWindows(gram, weights, K), np.zeros(0, dtype=int)
    for block in np.split(order, [3, 12, 13, 18]):
        densities.add(block, codes[block])
        so_far = np.r_[so_far, block]
        expected = log_mean_window(X, codes, weights, so_far, gamma=0.3)
        assert_allclose(densities.log_densities(ALL), expected, rtol=0, atol=1e-11)
    assert_array_equal(densities.log_densities(np.array([7, 0, 7])), densities.log_densities(ALL)[[7, 0, 7]])
    assert gram.is_computed == fits


@pytest.mark.parametrize("kernel", [Kernel("laplacian", 0.5), Kernel("precomputed")], ids=lambda kernel: kernel.name)
def test_any_kernel_without_negative_values_is_a_window(kernel):
    X, codes = classes()
    values = np.exp(-0.5 * np.linalg.norm(X[:, None] - X, axis=2))
    densities = ParzenWindows(Gram(kernel, values if kernel.name == "precomputed" else X), np.ones(N), K)
    densities.add(ALL, codes)
    expected = np.log(np.column_stack([values[:, codes == c].mean(axis=1) for c in range(K)]))
    assert_allclose(densities.log_densities(ALL), expected, atol=1e-10)


def test_density_far_from_all_windows_is_zero():
    densities = ParzenWindows(make_space(np.array([[0.0], [1.0], [100.0]]), gamma=1.0), np.ones(3), 2)
    densities.add(np.array([0, 1]), np.array([0, 1]))
    assert_allclose(densities.log_densities(np.arange(3)), [[0, -1], [-1, 0], [-np.inf, -np.inf]], atol=1e-12)


# -------------------------------------------------------------------- one estimator per class


@pytest.mark.parametrize(
    "model", [GaussianMixture(2, random_state=0, reg_covar=0.1), KernelDensity(kernel="exponential")], ids=type
)
def test_classwise_density_fits_one_estimator_per_class(model):
    X, codes = classes()
    densities, so_far = ClasswiseDensity(X, FitMetadata(np.ones(N)), K, model), np.zeros(0, dtype=int)
    for block in (np.arange(12), np.arange(20, 45)):
        densities.add(block, codes[block])
        so_far = np.r_[so_far, block]
        fits = [type(model)(**model.get_params()).fit(X[so_far[codes[so_far] == c]]) for c in range(K)]
        expected = np.column_stack([fit.score_samples(X) for fit in fits])
        assert_allclose(densities.log_densities(ALL), expected, rtol=1e-10)
        assert_allclose(densities.log_densities(np.array([50, 3])), expected[[50, 3]])
    assert not any(name.endswith("_") for name in vars(model))


def test_kernel_densities_take_the_weights_of_their_class():
    X, codes = classes()
    weights = sample_weights()
    densities = user_density(X, FitMetadata(weights), K, KernelDensity(bandwidth=0.8))
    densities.add(ALL, codes)
    fits = [KernelDensity(bandwidth=0.8).fit(X[codes == c], None, weights[codes == c]) for c in range(K)]
    assert_allclose(densities.log_densities(ALL), np.column_stack([fit.score_samples(X) for fit in fits]), rtol=1e-12)


def test_class_of_fewer_samples_than_components_has_as_many_components():
    X, codes = classes()
    params = {"covariance_type": "diag", "random_state": 0, "reg_covar": 0.1}
    model = GaussianMixture(5, **params)
    densities = ClasswiseDensity(X, FitMetadata(np.ones(N)), 2, model)
    two, fifteen = np.flatnonzero(codes == 0)[:2], np.flatnonzero(codes == 1)[:15]
    densities.add(np.r_[two, fifteen], codes[np.r_[two, fifteen]])
    found = densities.log_densities(ALL)
    assert_allclose(found[:, 0], GaussianMixture(2, **params).fit(X[two]).score_samples(X))
    assert_allclose(found[:, 1], GaussianMixture(5, **params).fit(X[fifteen]).score_samples(X))
    assert model.n_components == 5


def test_mixture_of_a_class_with_a_single_sample_is_centered_at_it():
    X, codes = classes()
    densities = mixture_density(X, np.ones(N), K, 0)
    densities.add(np.arange(3), codes[:3])
    found = densities.log_densities(ALL)
    assert np.isfinite(found).all()
    assert_array_equal(found.argmax(axis=0), np.arange(3))


def test_mixture_has_two_diagonal_gaussians_widened_by_a_twentieth_of_the_variance():
    X, codes = classes()
    weights = (ALL < 55).astype(float)
    densities = mixture_density(X, weights, K, 7)
    densities.add(np.arange(50), codes[:50])
    width = 0.05 * X[:55].var(axis=0).mean()
    model = GaussianMixture(2, covariance_type="diag", reg_covar=width, random_state=7)
    expected = [model.fit(X[:50][codes[:50] == c]).score_samples(X) for c in range(K)]
    assert_allclose(densities.log_densities(ALL), np.column_stack(expected), rtol=1e-10)


def test_mixture_of_equal_samples_has_a_density():
    densities = mixture_density(np.ones((8, 2)), np.ones(8), 2, 0)
    densities.add(np.arange(2), np.arange(2))
    found = densities.log_densities(np.arange(8))
    assert_allclose(found, np.full((8, 2), -np.log(2.0 * np.pi * 1e-6)), rtol=1e-6)  # two features of variance 1e-6


# -------------------------------------------------------------------- classifiers


@weighted_or_not
def test_naive_bayes_is_a_sum_of_normal_densities(weighted):
    X, codes = classes()
    weights, labeled = sample_weights(weighted), np.arange(45)
    densities = naive_bayes_density(X, weights, K)
    for block in (labeled[:20], labeled[20:]):
        densities.add(block, codes[block])
        densities.log_densities(ALL)
    expected = []
    for c in range(K):
        of_class = labeled[codes[labeled] == c]
        mean = np.average(X[of_class], axis=0, weights=weights[of_class])
        variance = np.average((X[of_class] - mean) ** 2, axis=0, weights=weights[of_class])
        variance += 0.05 * X[labeled].var(axis=0).max()
        expected.append(stats.norm.logpdf(X, mean, np.sqrt(variance)).sum(axis=1))
    assert_allclose(densities.log_densities(ALL), np.column_stack(expected), rtol=1e-9)


@weighted_or_not
def test_naive_bayes_of_counts_is_multinomial(weighted):
    rng, codes = np.random.default_rng(3), classes()[1]
    counts = rng.poisson(rng.uniform(0.1, 2.0, (K, 8))[codes])
    weights, labeled = sample_weights(weighted), np.arange(45)
    densities = naive_bayes_density(sparse.csr_array(counts.astype(float)), weights, K)
    densities.add(labeled, codes[labeled])
    expected = []
    for c in range(K):
        of_class = labeled[codes[labeled] == c]
        smoothed = 1.0 + weights[of_class] @ counts[of_class]
        expected.append(counts @ np.log(smoothed / smoothed.sum()))
    assert_allclose(densities.log_densities(ALL), np.column_stack(expected), rtol=1e-9)


@pytest.mark.parametrize("prior", [None, [0.9, 0.05, 0.05]], ids=["estimated", "given"])
def test_prior_of_a_classifier_is_divided_out(prior):
    X, codes = classes()
    densities = user_density(X, FitMetadata(np.ones(N)), K, GaussianNB(priors=prior))
    densities.add(ALL, codes)
    variance = 1e-9 * X.var(axis=0).max() + np.array([X[codes == c].var(axis=0) for c in range(K)])
    expected = [stats.norm.logpdf(X, X[codes == c].mean(axis=0), np.sqrt(variance[c])).sum(axis=1) for c in range(K)]
    assert_allclose(densities.log_densities(ALL), np.column_stack(expected), rtol=1e-9)
    flags = (X > 1).astype(float)
    densities = user_density(flags, FitMetadata(np.ones(N)), K, BernoulliNB(class_prior=prior))
    densities.add(ALL, codes)
    share = np.array([(1.0 + flags[codes == c].sum(axis=0)) / (2.0 + (codes == c).sum()) for c in range(K)])
    expected = flags @ np.log(share.T) + (1.0 - flags) @ np.log(1.0 - share.T)
    assert_allclose(densities.log_densities(ALL), expected, rtol=1e-9)


class DistanceDensity:
    """An object of the user without parameters; its ``log_densities`` comes before methods of other kinds."""

    fitted_to: ClassVar[list[int]] = []  # samples of every fit, of copies too

    def fit(self, X, y):
        self.fitted_to.append(len(X))
        self.means = [X[y == c].mean(axis=0) for c in range(K)]
        return self

    def log_densities(self, X):
        return np.column_stack([-((X - mean) ** 2).sum(axis=1) for mean in self.means])

    def predict_joint_log_proba(self, X):
        raise AssertionError

    score_samples = predict_joint_log_proba


def test_object_of_the_user_is_copied_and_fitted_only_after_samples_were_added():
    X, codes = classes()
    given = DistanceDensity()
    densities = user_density(X, FitMetadata(np.ones(N)), K, given)
    expected = DistanceDensity().fit(X[:40], codes[:40]).log_densities(X)
    DistanceDensity.fitted_to.clear()
    densities.add(np.arange(20), codes[:20])
    densities.add(np.arange(20, 40), codes[20:40])
    assert_array_equal(densities.log_densities(ALL), expected)
    assert_array_equal(densities.log_densities(ALL[5:9]), expected[5:9])
    densities.add(np.arange(40, 50), codes[40:50])
    densities.log_densities(ALL)
    assert DistanceDensity.fitted_to == [40, 50]
    assert not hasattr(given, "means")


# -------------------------------------------------------------------- refusals


class FixedDensity:
    """Log densities that are given."""

    def __init__(self, values):
        self.values = values

    def fit(self, X, y):
        return self

    def log_densities(self, X):
        return self.values


def test_log_densities_of_minus_infinity_are_allowed():
    values = np.array([[0.0, -np.inf], [-np.inf, -np.inf]])
    densities = user_density(np.zeros((4, 2)), FitMetadata(np.ones(4)), 2, FixedDensity(values))
    assert_array_equal(densities.log_densities(np.array([0, 3])), values)


@pytest.mark.parametrize(
    "values, message",
    [
        (np.zeros(2), r"the shape \(2,\); they must be one number \(or -inf\) for each of 2 samples and 3 classes"),
        (np.zeros((2, 2)), r"the shape \(2, 2\); they must be one number"),
        (np.zeros((3, 3)), r"the shape \(3, 3\); they must be"),
        ([[0.0, 1.0, np.nan], [0.0, 0.0, 0.0]], r"the shape \(2, 3\) and hold NaN or infinity; they must be"),
        ([[0.0, 1.0, np.inf], [0.0, 0.0, 0.0]], r"the shape \(2, 3\) and hold NaN or infinity; they must be"),
        (np.full((2, 1), np.nan), r"the shape \(2, 1\) and hold NaN or infinity; they must be"),
    ],
)
def test_log_densities_that_are_not_densities_are_refused(values, message):
    densities = user_density(np.zeros((4, 2)), FitMetadata(np.ones(4)), 3, FixedDensity(values))
    with pytest.raises(ValueError, match="the helper's log densities have " + message):
        densities.log_densities(np.array([0, 3]))


def test_classifier_without_samples_of_a_class_is_refused():
    X, codes = classes()
    densities = naive_bayes_density(X, np.ones(N), K)
    densities.add(np.arange(2), codes[:2])
    with pytest.raises(ValueError, match=r"the shape \(60, 2\); they must be one number .* 60 samples and 3 classes"):
        densities.log_densities(ALL)


def test_mixture_of_sparse_samples_is_refused():
    with pytest.raises(ValueError, match="takes dense samples and X is sparse; use helper='parzen' or 'naive_bayes'"):
        mixture_density(sparse.csr_array(classes()[0]), np.ones(N), K, 0)


def test_negative_counts_are_refused():
    counts = np.abs(classes()[0])
    naive_bayes_density(sparse.csr_array(counts), np.ones(N), K)
    naive_bayes_density(sparse.csr_array(0.0 * counts), np.ones(N), K)
    with pytest.raises(ValueError, match="multinomial and X holds numbers below zero; use helper='parzen'"):
        naive_bayes_density(sparse.csr_array(-counts), np.ones(N), K)


@pytest.mark.parametrize("model", ["kde", None, object(), GaussianNB, KernelDensity])
def test_object_without_densities_is_refused(model):
    message = re.escape(f"helper={model!r} is not allowed; helper takes 'parzen', 'mixture', 'naive_bayes', or an obj")
    with pytest.raises(ValueError, match=message + ".*score_samples.*predict_joint_log_proba, log_densities"):
        user_density(classes()[0], FitMetadata(np.ones(N)), K, model)


@pytest.mark.parametrize("model", [GaussianMixture(1), DistanceDensity()], ids=type)
def test_weights_that_a_helper_does_not_take_are_refused(model):
    X, codes = classes()
    weights = np.where(ALL == 50, 2.0, 1.0)
    densities = user_density(X, FitMetadata(weights), K, model)
    densities.add(np.arange(40), codes[:40])
    assert densities.log_densities(ALL).shape == (N, K)  # weights of one are not passed
    densities.add(np.arange(40, N), codes[40:])
    with pytest.raises(ValueError, match=f"the helper {type(model).__name__} takes no sample_weight; use helper='parz"):
        densities.log_densities(ALL)
