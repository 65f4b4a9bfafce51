"""Estimators by mathematical programs: MixedIntegerTSVM and ConcaveLPTSVM."""

import importlib.util

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from factories import binary_problems, blobs, two_gaussians
from references import linear_svm_value
from semisvm import S3VM, SVM, ConcaveLPTSVM, MixedIntegerTSVM
from semisvm.solvers import ConcaveLP

NO_SCIP = pytest.mark.skipif(importlib.util.find_spec("pyscipopt") is None, reason="norm 2 needs the package pyscipopt")
every_norm = pytest.mark.parametrize("norm", [1, pytest.param(2, marks=NO_SCIP)])


def sparse_blobs(n_classes=2, n=90, n_labeled=30):
    """Classes 1, 2, ... of six features, many of them zero."""
    X, y = blobs(n_classes, n, n_labeled, 6, distance=0.8)
    return np.where(np.abs(X) < 0.3, 0.0, X), np.where(y == -1, -1, y + 1)


# ------------------------------------------------------------------------------------------- MixedIntegerTSVM


@every_norm
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_mixed_integer_proves_its_labels(norm, kernel):
    X, y = sparse_blobs(n=38)
    fitted = MixedIntegerTSVM(norm=norm, kernel=kernel).fit(X, y)
    assert fitted.converged_
    assert fitted.certificate_.gap <= 1e-5 * fitted.objective_
    known = y != -1
    wanted = np.mean(y[known] == 2) * (~known).sum()
    assert abs(np.count_nonzero(fitted.transduction_[~known] == 2) - wanted) <= 0.5
    np.testing.assert_array_equal(fitted.transduction_[known], y[known])
    assert fitted.supervised_.predict_proba(X).shape == (len(y), 2)
    if norm == 2:
        expected = SVM(fitted.C_, kernel=kernel, gamma=fitted.gamma_, tol=1e-8).fit(X[known], y[known])
        np.testing.assert_allclose(fitted.supervised_.decision_function(X), expected.decision_function(X), atol=1e-6)
    if kernel == "linear":
        assert fitted.C_ * X.var(axis=0).sum() ** (0.5 * norm) == pytest.approx(10.0)
        from_sparse = MixedIntegerTSVM(norm=norm).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(from_sparse.coef_, fitted.coef_, atol=1e-7)
        labels, cost = np.where(fitted.transduction_ == 2, 1.0, -1.0), np.full(len(y), fitted.C_)
        value = linear_svm_value(X, labels, cost, fitted.coef_[0], fitted.intercept_[0], True, norm)
        assert fitted.objective_ == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "estimator",
    [MixedIntegerTSVM(C_unlabeled=0.0, balance=None, norm=norm) for norm in (1, 2)]
    + [ConcaveLPTSVM(C_unlabeled=0.0, balance=None)],
    ids=str,
)
def test_without_a_cost_of_unlabeled_samples_it_is_the_supervised_svm(estimator):
    X, y = sparse_blobs(n=38)
    fitted = clone(estimator).fit(X, y)
    np.testing.assert_allclose(fitted.decision_function(X), fitted.supervised_.decision_function(X), atol=1e-7)
    np.testing.assert_array_equal(fitted.transduction_[y == -1], fitted.predict(X)[y == -1])


def test_mixed_integer_of_three_classes_is_three_binary_fits():
    X, y = sparse_blobs(3, n=16, n_labeled=12)
    fitted = MixedIntegerTSVM(1.0).fit(X, y)
    assert fitted.coef_.shape == (3, 6)
    assert [c.kind for c in fitted.certificate_] == ["gap"] * 3
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0)
    for k in (1, 2, 3):
        share, against_others = np.mean(y[y > 0] == k), np.where(y == -1, -1, np.where(y == k, 2, 1))
        binary = MixedIntegerTSVM(1.0, balance=share).fit(X, against_others)
        np.testing.assert_allclose(fitted.coef_[k - 1], binary.coef_[0], atol=1e-7)


@pytest.mark.parametrize("cls, limit", [(MixedIntegerTSVM, {"max_time": 0.2}), (ConcaveLPTSVM, {"max_iter": 1})])
def test_limit_warns_with_the_gap_and_the_model_is_usable(cls, limit):
    X, y = two_gaussians(80, 10, shift=0.4)
    ((name, value),) = limit.items()
    with pytest.warns(ConvergenceWarning, match=rf"{name}={value} reached, the best objective is at most .* lower"):
        fitted = cls(**limit).fit(X, y)
    assert 0.0 <= fitted.certificate_.lower_bound < fitted.objective_
    assert np.isfinite(fitted.decision_function(X)).all()


# ------------------------------------------------------------------------------------------- ConcaveLPTSVM


@pytest.mark.parametrize("balance", [None, "labeled", {1: 2, 2: 1}])
def test_concave_lp_reports_its_objective_and_keeps_the_mean(balance):
    X, y = sparse_blobs()
    fitted = ConcaveLPTSVM(balance=balance).fit(X, y)
    assert fitted.C_ * np.sqrt(X.var(axis=0).sum()) == pytest.approx(10.0)
    f = X @ fitted.coef_[0] + fitted.intercept_[0]
    labels = np.where(y == -1, np.where(f > 0, 1.0, -1.0), 2.0 * y - 3.0)
    value = linear_svm_value(X, labels, np.full(len(y), fitted.C_), fitted.coef_[0], fitted.intercept_[0])
    assert fitted.objective_ == pytest.approx(value, rel=1e-12)
    if balance is not None:
        share = np.mean(y[y > 0] == 2) if balance == "labeled" else 1 / 3
        assert f[y == -1].mean() == pytest.approx(2.0 * share - 1.0, abs=1e-9)
    (problem,), _ = binary_problems(fitted, X, y)
    assert fitted.n_active_ == np.count_nonzero(ConcaveLP().solve(problem).multipliers)


def test_concave_lp_is_a_composition_that_leaves_features_out():
    X, y = sparse_blobs()
    fitted = ConcaveLPTSVM().fit(X, y)
    from_sparse = ConcaveLPTSVM().fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(from_sparse.coef_, fitted.coef_, atol=1e-8)
    pieces = {"kernel": "linear", "solver": "concave_lp"}
    composed = S3VM("hinge", "symmetric_hinge", norm=1, C_unlabeled=fitted.C_, C=fitted.C_, **pieces)
    np.testing.assert_array_equal(composed.fit(X, y).coef_, fitted.coef_)
    assert np.count_nonzero(ConcaveLPTSVM(0.02).fit(X, y).coef_) < 4
    with pytest.raises(ValueError, match=r"ConcaveLP does not take the 2-norm of w\. Solvers that do"):
        S3VM("hinge", "symmetric_hinge", **pieces).fit(X, y)
    with pytest.raises(ValueError, match=r"CCCP does not take the 1-norm of w"):
        S3VM(norm=1).fit(X, y)


def test_kernel_has_features_for_the_labeled_samples_alone_too():
    X, y = sparse_blobs()
    known = y != -1
    fitted = ConcaveLPTSVM(kernel="rbf").fit(X, y)
    alone = ConcaveLPTSVM(fitted.C_, kernel="rbf", gamma=fitted.gamma_).fit(X[known], y[known])
    np.testing.assert_array_equal(fitted.supervised_.decision_function(X), alone.decision_function(X))
    np.testing.assert_array_equal(fitted.supervised_.support_, np.flatnonzero(known))
