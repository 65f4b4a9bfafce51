"""``LSSVM`` and ``SparseLSSVM`` against systems solved by numpy, ridge regression and fits to fewer samples."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from factories import CONTAINERS, INTERCEPTS, blobs, formulation_of, random_costs
from references import assert_close, kernel_matrix, least_squares_svm
from semisvm import LSSVM, SparseLSSVM
from semisvm.estimators import _calibration
from semisvm.losses import Squared
from semisvm.model_selection.splits import folds_of_distinct_samples
from semisvm.multiclass import fit_slope
from semisvm.solvers import Greedy, LeastSquares, Pruning
from semisvm.spaces import Kernel

C, GAMMA = 2.0, 0.3
KERNELS = {
    "rbf": Kernel("rbf", GAMMA),
    "linear": Kernel("linear"),
    "poly": Kernel("poly", GAMMA, 1.0, 2),
}
every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
NEW = blobs(2, 11, 11, 3, seed=1)[0]


def rbf(A, B=None):
    return kernel_matrix(KERNELS["rbf"], A, B)


def labeled(n=36, n_features=3, n_classes=2, seed=0):
    """Samples of classes 0, 1, ... with all their labels."""
    return blobs(n_classes, n, n, n_features, seed=seed)


@every_intercept
@pytest.mark.parametrize("kernel", KERNELS)
def test_model_is_the_solution_of_the_bordered_system(kernel, intercept):
    X, y = labeled()
    weights = random_costs(36)
    fitted = LSSVM(C, kernel=kernel, gamma=GAMMA, coef0=1.0, degree=2, fit_intercept=intercept).fit(X, y, weights)
    K, signs, cost = kernel_matrix(KERNELS[kernel], X), 2.0 * y - 1.0, C * weights
    alpha, b, _ = least_squares_svm(K, cost, signs, intercept)
    assert_close(fitted.dual_coef_[0], alpha, 1e-8)
    assert_close(fitted.intercept_, [b], 1e-8)
    assert_close(fitted.decision_function(NEW), kernel_matrix(KERNELS[kernel], NEW, X) @ alpha + b, 1e-8)
    smallest = 0.5 * signs @ alpha
    assert fitted.objective_ == pytest.approx(smallest, rel=1e-9)
    assert fitted.certificate_.kind == "kkt"
    assert fitted.certificate_.lower_bound == pytest.approx(smallest, rel=1e-9)
    assert max(fitted.certificate_.value, fitted.certificate_.gap / smallest) < 1e-9
    np.testing.assert_array_equal(fitted.support_, np.arange(36))


@every_intercept
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("shape", [(40, 5), (12, 30), (20, 19), (20, 20)])
def test_linear_model_is_ridge_regression(container, shape, intercept):
    X, y = labeled(*shape)
    X[np.abs(X) < 0.3] = 0.0
    weights, table = random_costs(len(y)), CONTAINERS[container](X)
    fitted = LSSVM(C, kernel="linear", fit_intercept=intercept).fit(table, y, weights)
    wide = np.hstack([X, np.ones((len(X), int(intercept == "regularized")))])
    ridge = Ridge(1.0 / C, fit_intercept=intercept is True, solver="svd").fit(wide, 2.0 * y - 1.0, weights)
    assert_close(fitted.coef_[0], ridge.coef_[: X.shape[1]], 1e-8)
    assert_close(fitted.intercept_, [ridge.coef_[-1] if intercept == "regularized" else ridge.intercept_], 1e-8)
    assert_close(fitted.decision_function(table), ridge.predict(wide), 1e-8)
    assert max(fitted.certificate_.value, fitted.certificate_.gap) < 1e-9


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
@pytest.mark.parametrize(("kernel", "intercept"), [("rbf", True), ("linear", "regularized"), ("linear", False)])
def test_probabilities_are_fitted_to_scores_of_models_without_the_fold(kernel, intercept, multiclass, monkeypatch):
    X, y = labeled(33, n_classes=3)
    X[7] = X[1]  # equal samples are held out together
    y[7] = y[1]
    calls, weights, K = [], random_costs(33), kernel_matrix(KERNELS[kernel], X)
    monkeypatch.setattr(_calibration, "fit_slope", lambda *given: calls.append(given) or fit_slope(*given))
    options = {"kernel": kernel, "gamma": GAMMA, "fit_intercept": intercept, "multiclass": multiclass}
    fitted = LSSVM(C, **options).fit(sparse.csr_array(X) if kernel == "linear" else X, y, weights)
    fitted.predict_proba(X)
    folds, pairs = folds_of_distinct_samples(X, y, 5), [(0, 1), (0, 2), (1, 2)]
    tasks = [np.isin(y, pair) for pair in pairs] if multiclass == "ovo" else [np.ones(33, dtype=bool)] * 3
    expected = []
    for column, own in enumerate(tasks):
        signs = np.where(y == (pairs[column][1] if multiclass == "ovo" else column), 1.0, -1.0)
        f = np.zeros(33)
        for fold in range(5):
            kept, held = np.flatnonzero(own & (folds != fold)), own & (folds == fold)
            f[held] = least_squares_svm(K, C * weights, signs, intercept, kept)[2][held]
        expected.append(f[own])
    scores, codes, used = calls[0]
    if multiclass == "ovo":
        assert_close(2.0 * scores[:, 1], np.concatenate(expected), 1e-8)
    else:
        assert_close(scores, np.column_stack(expected), 1e-8)
        np.testing.assert_array_equal(codes, y)
        np.testing.assert_array_equal(used, weights)


# ---- few support vectors ----


@pytest.mark.parametrize("landmarks", ["kmeans++", "leverage", "random", "labeled", "given"])
@pytest.mark.parametrize("kind", ["dense", "csr", "precomputed"])
def test_reduced_set_solves_its_own_system(landmarks, kind):
    """(K_SS / C + Z'WZ) a = Z'Wy, with a column of ones for the intercept."""
    X, y = labeled(40)
    weights, given = random_costs(40), labeled(7, seed=2)[0]
    table = {"dense": X, "csr": sparse.csr_array(X), "precomputed": rbf(X)}[kind]
    kernel = "precomputed" if kind == "precomputed" else "rbf"
    model = SparseLSSVM(C, n_components=7, landmarks=landmarks, kernel=kernel, gamma=GAMMA, random_state=0)
    if landmarks == "given":
        model.set_params(landmarks=given)
        if kind == "precomputed":
            with pytest.raises(ValueError, match="a precomputed kernel has none"):
                model.fit(table, y)
            return
    model.fit(table, y, weights)
    S = given if landmarks == "given" else X[model.support_]
    Z, R = np.hstack([rbf(X, S), np.ones((40, 1))]), np.zeros((8, 8))
    R[:-1, :-1] = rbf(S) / C
    signs = 2.0 * y - 1.0
    solved = np.linalg.solve(R + Z.T @ (weights[:, None] * Z), Z.T @ (weights * signs))
    assert_close(model.dual_coef_[0], solved[:-1], 1e-6)
    f = rbf(NEW, S) @ solved[:-1] + solved[-1]
    assert_close(model.decision_function(rbf(NEW, X) if kind == "precomputed" else NEW), f, 1e-7)
    value = 0.5 * solved[:-1] @ rbf(S) @ solved[:-1] + 0.5 * C * weights @ (signs - Z @ solved) ** 2
    assert model.objective_ == pytest.approx(value, rel=1e-8)
    assert model.n_active_ == len(S) == 7
    assert model.certificate_.kind == "kkt"
    assert max(model.certificate_.value, model.certificate_.gap) < 1e-9


@pytest.mark.parametrize(("method", "options"), [("reduced", {}), ("greedy", {"tol": 1e-300})])
def test_all_samples_are_the_lssvm(method, options):
    X, y = labeled()
    partial = np.where(np.arange(36) < 30, y, -1)
    fewer = SparseLSSVM(C, method=method, gamma=GAMMA, **options).fit(X, partial)
    expected = LSSVM(C, gamma=GAMMA, fit_intercept="regularized" if method == "greedy" else True).fit(X[:30], y[:30])
    assert_close(fewer.decision_function(NEW), expected.decision_function(NEW), 1e-8)
    assert fewer.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    assert fewer.n_active_ == 30


@pytest.mark.parametrize("method", ["greedy", "pruning"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_model_is_the_lssvm_of_its_samples(method, kernel):
    X, y = labeled(30)
    weights = random_costs(30)
    options = {"kernel": kernel, "gamma": GAMMA}
    fewer = SparseLSSVM(C, method=method, n_components=9, tol=1e-300, **options).fit(X, y, weights)
    kept = fewer.support_
    assert len(kept) == fewer.n_active_ == 9
    assert set(y[kept]) == {0, 1}
    alone = LSSVM(C, fit_intercept="regularized" if method == "greedy" else True, **options)
    alone.fit(X[kept], y[kept], weights[kept])
    assert_close(fewer.decision_function(NEW), alone.decision_function(NEW), 1e-8)
    if method == "greedy":  # samples are added one by one, the same whatever comes later
        supports = [
            set(SparseLSSVM(C, method="greedy", n_components=k, tol=1e-300, **options).fit(X, y, weights).support_)
            for k in range(1, 10)
        ]
        assert all(a < b for a, b in itertools.pairwise(supports))


def test_parameters_reach_the_solver():
    assert formulation_of(LSSVM()) == (Squared(), None, LeastSquares(), 2)
    assert formulation_of(SparseLSSVM()).solver == LeastSquares()
    greedy = SparseLSSVM(method="greedy", n_components=7, tol=1e-3, max_time=8.0)
    assert formulation_of(greedy).solver == Greedy(7, 1e-3, max_time=8.0)
    assert formulation_of(greedy.set_params(method="pruning")).solver == Pruning(7, max_time=8.0)
