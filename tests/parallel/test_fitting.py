"""A fit to samples in blocks is the fit in memory."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from parallel.data import N, gaussians, mapped, sparse_samples, three_classes
from semisvm import (
    CCCPTSVM,
    S3VM,
    SVM,
    AnnealingTSVM,
    ContinuationTSVM,
    GradientTSVM,
    MultiSwitchTSVM,
    SelfTraining,
    parallel,
)
from semisvm.parallel import samples as samples_module

FINITE_NEWTON = S3VM("squared_hinge", None, kernel="linear", solver="finite_newton", balance=None)


def assert_same_model(found, expected):
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=1e-9)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(found.classes_, expected.classes_)
    assert found.converged_ == expected.converged_
    assert pytest.approx(expected.C_, rel=1e-12) == found.C_


@pytest.mark.parametrize("cls", [MultiSwitchTSVM, AnnealingTSVM])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dense_file_gives_the_model_of_memory(cls, dtype, tmp_path):
    X, y = gaussians()
    X = X.astype(dtype)
    expected = cls(kernel="linear").fit(X, y)
    found = parallel.fit(cls(kernel="linear"), mapped(tmp_path, X), y)
    assert_same_model(found, expected)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(found.supervised_.predict(X), expected.supervised_.predict(X))


@pytest.mark.parametrize("cls", [MultiSwitchTSVM, AnnealingTSVM, GradientTSVM, ContinuationTSVM])
def test_sparse_blocks_give_the_model_of_memory(cls):
    X, y = sparse_samples()
    assert_same_model(parallel.fit(cls(kernel="linear"), X, y), cls(kernel="linear").fit(X, y))


@pytest.mark.parametrize("cls", [GradientTSVM, ContinuationTSVM])
def test_smooth_paths_on_a_dense_file_are_those_of_sparse_samples(cls, tmp_path):
    """In memory dense samples have compiled loops of another method; products alone have that of sparse ones."""
    X, y = gaussians()
    found = parallel.fit(cls(kernel="linear"), mapped(tmp_path, X), y)
    assert_same_model(found, cls(kernel="linear").fit(sparse.csr_array(X), y))


def test_supervised_model_weights_and_intercepts(tmp_path):
    X, y = gaussians()
    weights = np.random.default_rng(0).integers(0, 3, N).astype(float)
    weights[np.flatnonzero(y >= 0)[:30]] = 1.0
    for fit_intercept in (True, False, "regularized"):
        for model in (FINITE_NEWTON, MultiSwitchTSVM(kernel="linear")):
            model.set_params(fit_intercept=fit_intercept)
            expected = model.fit(X, y, sample_weight=weights).objective_
            assert parallel.fit(model, mapped(tmp_path, X), y, weights).objective_ == pytest.approx(expected, rel=1e-9)


def test_several_classes_with_names_share_every_pass(tmp_path):
    X, y = three_classes()
    expected = MultiSwitchTSVM(kernel="linear").fit(X, y)
    found = parallel.fit(MultiSwitchTSVM(kernel="linear"), mapped(tmp_path, X), y)
    assert_same_model(found, expected)
    assert set(found.transduction_) == {"ape", "bee", "cat"}
    assert found.share_.reached == pytest.approx(expected.share_.reached)


@pytest.mark.parametrize("landmarks", ["kmeans++", "random", "labeled", "leverage"])
def test_nystroem_landmarks_are_those_of_memory(landmarks, tmp_path):
    X, y = gaussians()
    model = MultiSwitchTSVM(approximation="nystroem", n_components=20, landmarks=landmarks, random_state=3)
    expected = pickle.loads(pickle.dumps(model)).fit(X, y)
    found = parallel.fit(model, mapped(tmp_path, X), y)
    np.testing.assert_array_equal(found.support_, expected.support_)
    assert_same_model(found, expected)
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), rtol=1e-6, atol=1e-8)


def test_samples_far_from_the_origin_are_centered_as_in_memory(tmp_path):
    X, y = gaussians()
    X = X + 1e5
    expected = MultiSwitchTSVM(kernel="linear").fit(X, y)
    found = parallel.fit(MultiSwitchTSVM(kernel="linear"), mapped(tmp_path, X), y)
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=1e-6)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))


def test_parts_of_a_file_and_arrays_in_any_order(tmp_path):
    X, y = gaussians()
    M = mapped(tmp_path, np.vstack([np.full((7, 8), 1e9), X]))[7:]
    columns = mapped(tmp_path, np.asfortranarray(X), "F.npy")
    every_other = mapped(tmp_path, np.repeat(X, 2, axis=0), "twice.npy")[::2]
    expected = MultiSwitchTSVM(kernel="linear").fit(X, y).objective_
    for table in (M, columns, every_other, X, sparse.csc_array(X)):
        found = parallel.fit(MultiSwitchTSVM(kernel="linear"), table, y)
        assert found.objective_ == pytest.approx(expected, rel=1e-9)


def test_fitted_model_holds_neither_blocks_nor_files(tmp_path):
    X, y = gaussians()
    found = parallel.fit(MultiSwitchTSVM(kernel="linear"), mapped(tmp_path, X), y)
    copy = pickle.loads(pickle.dumps(found))
    (tmp_path / "X.npy").unlink()
    np.testing.assert_array_equal(copy.predict_proba(X), found.predict_proba(X))
    assert not any(isinstance(value, samples_module.BlockedSamples) for value in vars(found).values())


def test_limits_end_a_fit_with_the_best_point(tmp_path):
    X, y = gaussians()
    with pytest.warns(ConvergenceWarning, match="max_iter=2 reached"):
        found = parallel.fit(MultiSwitchTSVM(kernel="linear", max_iter=2), mapped(tmp_path, X), y)
    assert np.isfinite(found.objective_)
    assert not found.converged_


def with_nan(X):
    X = X.copy()
    X[500, 3] = np.nan
    return X


BAD = [
    (lambda X, y: (with_nan(X), y), ValueError, "X holds NaN in its block"),
    (lambda X, y: (X.ravel(), y), ValueError, "allowed are a dask array or DataFrame"),
    (lambda X, y: ("table.csv", y), ValueError, "X is of type str"),
    (lambda X, y: (X[:0], y[:0]), ValueError, "no rows|no labeled"),
    (lambda X, y: (X, y[:-1]), ValueError, "X has 900 samples and y has 899 values"),
    (lambda X, y: (X, np.full(len(X), -1)), ValueError, "no labeled sample"),
    (lambda X, y: (X.astype(str), y), ValueError, "X holds text"),
]


@pytest.mark.parametrize("change, error, message", BAD)
def test_bad_input_is_refused_in_a_sentence(change, error, message):
    X, y = change(*gaussians())
    with pytest.raises(error, match=message):
        parallel.fit(MultiSwitchTSVM(kernel="linear"), X, y)


@pytest.mark.parametrize("model", [CCCPTSVM(kernel="linear"), SVM(), SelfTraining(SVM())])
def test_estimators_that_need_all_samples_are_refused_by_name(model):
    with pytest.raises(TypeError, match=f"{type(model).__name__}.*MultiSwitchTSVM, AnnealingTSVM"):
        parallel.fit(model, *gaussians())


def test_kernels_that_need_the_whole_matrix_are_refused():
    for params in ({"kernel": "precomputed"}, {"approximation": None}, {"approximation": "kernel_pca"}):
        with pytest.raises(ValueError, match="needs the whole kernel matrix"):
            parallel.fit(MultiSwitchTSVM(**params), *gaussians())


def test_gamma_of_all_samples_is_refused():
    with pytest.raises(ValueError, match="gamma='scale' needs the variance of all samples"):
        parallel.fit(MultiSwitchTSVM(approximation="nystroem", gamma="scale"), *gaussians())


def test_verbose_fit_says_what_it_reads(capsys):
    parallel.fit(MultiSwitchTSVM(kernel="linear", verbose=1), *gaussians())
    assert "900 samples by 8 features, in blocks" in capsys.readouterr().out


def test_vectors_that_do_not_fit_are_refused_before_the_fit(monkeypatch):
    monkeypatch.setenv("SEMISVM_MEMORY", "1e5")
    with pytest.raises(MemoryError, match="vectors over 900 samples"):
        parallel.fit(AnnealingTSVM(kernel="linear"), *gaussians())
