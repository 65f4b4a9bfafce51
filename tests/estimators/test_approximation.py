"""Features in place of a kernel, as the estimators on features choose them."""

import warnings

import numpy as np
import pytest

from factories import two_gaussians
from references import kernel_matrix
from semisvm import AnnealingTSVM, ContinuationTSVM, GradientTSVM, MultiSwitchTSVM
from semisvm.estimators import _spaces
from semisvm.spaces import Kernel, kernel_pca, nystroem

every_class = pytest.mark.parametrize("cls", [MultiSwitchTSVM, AnnealingTSVM, GradientTSVM, ContinuationTSVM])
X, y = two_gaussians(80, 12, 6, 0.7)
NEW = two_gaussians(20, 12, 6, 0.7, seed=1)[0]


def make(cls, **params):
    """An estimator with the share of the labels: an estimated one depends on X, whatever the kernel makes of it."""
    defaults = {"C_unlabeled": 0.1, "gamma": 0.1, "balance": "labeled", "tol": 1e-6, "random_state": 0}
    return cls(1.0, **(defaults | params))


@every_class
def test_all_landmarks_are_the_exact_kernel(cls):
    exact = make(cls, approximation=None).fit(X, y).decision_function(NEW)
    for method in ("nystroem", "kernel_pca", "auto"):
        found = make(cls, approximation=method).fit(X, y).decision_function(NEW)
        np.testing.assert_allclose(found, exact, atol=1e-4)


@every_class
def test_linear_kernel_works_on_the_features_whatever_the_memory_limit(cls, monkeypatch):
    linear = make(cls, kernel="linear").fit(X, y)
    behind_kernel = make(cls, kernel="precomputed").fit(X @ X.T, y)
    np.testing.assert_allclose(behind_kernel.decision_function(NEW @ X.T), linear.decision_function(NEW), atol=1e-5)
    np.testing.assert_array_equal(behind_kernel.transduction_, linear.transduction_)
    assert behind_kernel.objective_ == pytest.approx(linear.objective_, rel=1e-8)
    monkeypatch.setenv("SEMISVM_MEMORY", "1000")  # no kernel matrix fits
    np.testing.assert_array_equal(make(cls, kernel="linear").fit(X, y).coef_, linear.coef_)


@every_class
@pytest.mark.parametrize("method", ["nystroem", "kernel_pca"])
def test_approximate_model_is_one_of_its_landmarks_and_of_features(cls, method):
    fitted = make(cls, approximation=method, n_components=8).fit(X, y)
    assert len(fitted.support_) == (8 if method == "nystroem" else 80)
    kernel, landmarks = Kernel("rbf", 0.1), X[fitted.support_]
    f = kernel_matrix(kernel, NEW, landmarks) @ fitted.dual_coef_[0] + fitted.intercept_[0]
    np.testing.assert_allclose(fitted.decision_function(NEW), f, atol=1e-9)
    space = kernel_pca(kernel, X, 8) if method == "kernel_pca" else nystroem(kernel, X, landmarks=landmarks)
    Z, new = space.X, kernel_matrix(kernel, NEW, landmarks) @ space.transform
    on_features = make(cls, kernel="linear").fit(Z, y)
    np.testing.assert_allclose(on_features.decision_function(new), fitted.decision_function(NEW), atol=1e-5)


def test_landmarks_are_labeled_samples_given_ones_or_drawn_by_the_seed():
    def fit(**params):
        return make(GradientTSVM, approximation="nystroem", **params).fit(X, y)

    np.testing.assert_array_equal(fit(landmarks="labeled").support_, np.flatnonzero(y != -1))
    given = fit(landmarks=NEW)
    f = kernel_matrix(Kernel("rbf", 0.1), X, NEW) @ given.dual_coef_[0] + given.intercept_[0]
    np.testing.assert_allclose(given.decision_function(X), f, atol=1e-9)
    supports = [tuple(fit(n_components=8, random_state=seed).support_) for seed in (0, 0, 1)]
    assert supports[0] == supports[1] != supports[2]
    for refused in (5, None, np.ones((4, 2)), np.full((4, 6), np.nan), np.ones(6), np.empty((0, 6))):
        with pytest.raises(
            ValueError, match=r"landmarks takes one of 'kmeans.*or an array of finite numbers with 6 feat"
        ):
            fit(landmarks=refused)


def test_auto_is_exact_or_kernel_pca_for_few_samples_and_nystroem_for_many_or_little_memory(monkeypatch):
    def n_landmarks():
        return len(make(GradientTSVM, n_components=8).fit(X, y).support_)

    assert n_landmarks() == 80
    monkeypatch.setenv("SEMISVM_MEMORY", "1000")
    assert n_landmarks() == 8
    monkeypatch.delenv("SEMISVM_MEMORY")
    monkeypatch.setattr(_spaces, "EXACT_SAMPLES", 79)
    assert n_landmarks() == 8


def test_objective_of_auto_is_the_exact_one():
    """No component is left out: the same minimum as with all landmarks, reached in other coordinates."""
    found = {method: make(GradientTSVM, approximation=method).fit(X, y) for method in ("auto", None, "kernel_pca")}
    assert found["auto"].objective_ == found[None].objective_
    assert found["auto"].objective_ == pytest.approx(found["kernel_pca"].objective_, rel=1e-8)


@every_class
def test_short_time_allows_fewer_components(cls, monkeypatch):
    """At a speed of 1,000 multiplications per second; the decomposition of 80 samples is said to take 100,000."""
    monkeypatch.setattr(_spaces, "SPEED", 1000.0)
    monkeypatch.setattr(_spaces, "SPEEDUP", {"cholesky": 5.0, "kernel_pca": 5.0})

    def n_landmarks(max_time, **params):
        return len(make(cls, max_time=max_time, **params).fit(X, y).support_)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert n_landmarks(1e4) == n_landmarks(None) == 80
        assert n_landmarks(20.0) == np.floor(np.sqrt(20_000 / 80)) == 15
        assert n_landmarks(1e-9) == 1
        assert n_landmarks(20.0, n_components=7) == 7
        assert n_landmarks(20.0, landmarks="labeled") == 12
        assert n_landmarks(20.0, approximation="kernel_pca") == 80


@every_class
def test_features_that_a_short_time_leaves_out_are_told(cls, monkeypatch):
    monkeypatch.setattr(_spaces, "SPEED", 1000.0)
    monkeypatch.setattr(_spaces, "SPEEDUP", {"cholesky": 5.0, "kernel_pca": 5.0})
    with pytest.warns(UserWarning, match="max_time=20 is taken as too short .* 'nystroem' with n_components=15"):
        make(cls, max_time=20.0).fit(X, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for params in ({"max_time": 1e4}, {"max_time": 1e-9, "approximation": "kernel_pca"}, {}):
            make(cls, **params).fit(X, y)
    assert not any("too short" in str(w.message) for w in caught)
