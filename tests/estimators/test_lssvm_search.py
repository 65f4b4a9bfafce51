"""Semi-supervised least-squares SVMs: shares, limit cases, published formulas, approximations, and unfinished fits."""

import itertools
import warnings

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.exceptions import ConvergenceWarning

from factories import CONTAINERS, INTERCEPTS, blobs, formulation_of, make_estimator
from references import assert_close, kernel_matrix, least_squares_matrix, least_squares_svm
from semisvm import LSSVM, BayesianLSSVM, LocalSearchRLSC, SwitchingLSSVM
from semisvm.balance import Free
from semisvm.estimators import ESTIMATORS
from semisvm.losses import Squared, SymmetricSquared
from semisvm.problem import Problem
from semisvm.solvers import DifferenceConvex, IntegerQuadratic, LabelSearch, Progressive, SafeProjection
from semisvm.solvers.least_squares import difference_convex, progressive
from semisvm.solvers.least_squares.labelings import DenseLabelings
from semisvm.spaces import Features, Gram, Kernel

C, GAMMA = 2.0, 0.4
SEARCHES = ["SwitchingLSSVM", "LocalSearchRLSC", "ProgressiveLSSVM", "DCLSSVM", "BayesianLSSVM"]
KERNELS = {"rbf": Kernel("rbf", GAMMA), "linear": Kernel("linear")}
every_search = pytest.mark.parametrize("name", SEARCHES)
every_class = pytest.mark.parametrize("name", ["LSSVM", *SEARCHES])
every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
both_kernels = pytest.mark.parametrize("kernel", KERNELS)
both_approximations = pytest.mark.parametrize("method", ["nystroem", "kernel_pca"])
NEW = blobs(2, 9, 9, 3, seed=1)[0]


def data(n_unlabeled=31, seed=0):
    """14 labeled samples of classes 1 and 2, then unlabeled ones."""
    X, y = blobs(2, 14 + n_unlabeled, 14 + n_unlabeled, 3, seed=seed, first_class=1)
    return X, np.where(np.arange(len(y)) < 14, y, -1)


def model(name, **params):
    """With labels that are searched, not enumerated."""
    return make_estimator(name, **({"C": C, "gamma": GAMMA, "exact": False, "random_state": 0} | params))


def costs(y, C_unlabeled=None):
    n_unlabeled = np.count_nonzero(y == -1)
    return np.where(y == -1, C * (len(y) / n_unlabeled - 1.0) if C_unlabeled is None else C_unlabeled, C)


def signs_of(fitted):
    return 2.0 * fitted.transduction_ - 3.0


@every_search
@pytest.mark.parametrize(
    ("balance", "tol", "allowed"),
    [
        (0.3, 0.0, {9}),  # 9.3
        (0.5, 0.0, {15, 16}),  # 15.5
        (0.0, 0.0, {0}),
        (1.0, 0.0, {31}),
        ("labeled", 0.0, {15, 16}),
        ({1: 3.0, 2: 1.0}, 0.0, {8}),  # 7.75
        (0.3, 0.1, {7, 8, 9, 10, 11, 12}),  # 6.2 to 12.4
        (0.3, 0.01, {9}),  # 8.99 to 9.61
    ],
)
def test_number_of_positive_labels_is_what_the_balance_says(name, balance, tol, allowed):
    X, y = data()
    fitted = model(name, balance=balance, balance_tol=tol).fit(X, y)
    assert (fitted.transduction_[y == -1] == 2).sum() in allowed


@pytest.mark.parametrize("name", [name for name in SEARCHES if name != "DCLSSVM"])
@pytest.mark.parametrize("tol", [0.0, 0.1])
def test_shares_are_of_weight(name, tol):
    X, y = data()
    hidden = y == -1
    for seed in range(5):
        weights = np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
        fitted = model(name, balance=0.3, balance_tol=tol, label_order="objective").fit(X, y, weights)
        off = abs(weights[hidden] @ (fitted.transduction_[hidden] == 2) - 0.3 * weights[hidden].sum())
        assert off <= max(tol * weights[hidden].sum(), 0.5 * weights[hidden].max()) + 1e-9


def test_equal_weights_count_samples():
    X, y = data()
    plain = SwitchingLSSVM(2.0, gamma=GAMMA, balance=0.3).fit(X, y)
    weighted = SwitchingLSSVM(1.0, gamma=GAMMA, balance=0.3).fit(X, y, np.full(len(y), 2.0))
    np.testing.assert_array_equal(weighted.transduction_, plain.transduction_)
    assert weighted.objective_ == pytest.approx(plain.objective_, rel=1e-9)


def test_parameters_reach_the_solver():
    limits = {"max_iter": 7, "max_time": 8.0}
    expected = [
        ("SwitchingLSSVM", limits, LabelSearch("steepest", 1, **limits)),
        ("SwitchingLSSVM", {"rule": "paper"}, LabelSearch("largest")),
        ("LocalSearchRLSC", {"n_init": 3, **limits}, LabelSearch("round_robin", 3, **limits)),
        ("LocalSearchRLSC", {"search": "steepest"}, LabelSearch("steepest", 10)),
        (
            "ProgressiveLSSVM",
            {"selection": "alpha", "label_order": "objective", "max_time": 8.0},
            Progressive("alpha", "objective", max_time=8.0),
        ),
        ("ProgressiveLSSVM", {}, Progressive("growth")),
        ("DCLSSVM", limits, DifferenceConvex(**limits)),
        (
            "BayesianLSSVM",
            {"exact": False, "confidence_threshold": 0.5, "max_distance": 2.0, "n_init": 3, **limits},
            IntegerQuadratic(False, 0.5, 2.0, 3, **limits),
        ),
    ]
    for name, params, solver in expected:
        estimator = ESTIMATORS[name](**params)
        assert formulation_of(estimator).solver == solver
        assert formulation_of(estimator.set_params(safe=True, max_time=2.0)).solver == SafeProjection(max_time=2.0)


# ---- limit cases and published formulas ----


@every_search
@every_intercept
@both_kernels
@pytest.mark.parametrize("safe", [False, True])
def test_unlabeled_samples_without_cost_give_the_lssvm(name, intercept, kernel, safe):
    X, y = data(10)
    options = {"kernel": kernel, "gamma": GAMMA, "fit_intercept": intercept}
    supervised = LSSVM(C, **options).fit(X[:14], y[:14])
    f = supervised.decision_function(X)
    fitted = model(name, C_unlabeled=0.0, balance=None, safe=safe, **options).fit(X, y)
    assert_close(fitted.decision_function(X), f, 1e-8)
    assert_close(fitted.supervised_.decision_function(X), f, 1e-8)
    assert fitted.objective_ == pytest.approx(supervised.objective_, rel=1e-9)
    np.testing.assert_array_equal(fitted.transduction_[14:], fitted.predict(X[14:]))
    small = model(name, C_unlabeled=1e-7, balance=None, safe=safe, **options).fit(X, y)
    assert_close(small.decision_function(X), f, 1e-4)
    complete = np.where(y == -1, 1 + np.arange(24) % 2, y)
    everyone = LSSVM(C, **options).fit(X, complete)
    fitted = model(name, balance=None, safe=safe, **options).fit(X, complete)
    assert_close(fitted.decision_function(X), everyone.decision_function(X), 1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_local_search_is_that_of_the_article(seed):
    """Gieseke et al. 2011: objective 2 lambda times ours, labels flipped in turn until all in a row are rejected."""
    X, y = data(20, seed)
    lam, other, known = 0.05, 0.7, y != -1
    fitted = LocalSearchRLSC(1.0 / (lam * 14), C_unlabeled=other / (lam * 20), gamma=GAMMA, balance=None, n_init=1)
    fitted.fit(X, y)
    K, scale = kernel_matrix(KERNELS["rbf"], X), np.where(known, np.sqrt(1.0 / 14), np.sqrt(other / 20))
    G = np.linalg.inv(scale[:, None] * K * scale + lam * np.eye(34))
    f = least_squares_svm(K, np.full(34, 1.0 / (lam * 14)), 2.0 * y - 3.0, False, np.flatnonzero(known))[2]
    labels = np.where(known, 2.0 * y - 3.0, np.where(f > 0, 1.0, -1.0))

    def value(labels):
        return lam * (labels * scale) @ G @ (labels * scale)

    F, n_rejected = value(labels), 0
    order = np.flatnonzero(~known)[np.argsort(np.abs(f[~known]))]
    assert fitted.objective_path_[0] == pytest.approx(F / (2.0 * lam), rel=1e-9)
    for j in itertools.cycle(order):
        change = -4.0 * labels[j] * scale[j] * lam * (G @ (scale * labels))[j] + 4.0 * scale[j] ** 2 * lam * G[j, j]
        if change < -1e-12:
            labels[j] *= -1.0
            assert value(labels) == pytest.approx(F + change, rel=1e-9)
            F, n_rejected = F + change, 0
        else:
            n_rejected += 1
        if n_rejected == 20:
            break
    np.testing.assert_array_equal(signs_of(fitted), labels)
    assert fitted.objective_ == pytest.approx(F / (2.0 * lam), rel=1e-9)
    assert fitted.intercept_ == 0.0


@pytest.mark.parametrize("ratio", [1.0, 0.3])
@every_intercept
def test_evidence_is_that_of_a_gaussian_process(intercept, ratio):
    X, y = data(9)
    fitted = BayesianLSSVM(C, C_unlabeled=C * ratio, gamma=GAMMA, fit_intercept=intercept).fit(X, y)
    n, labels = len(y), signs_of(fitted)
    M = least_squares_matrix(kernel_matrix(KERNELS["rbf"], X), costs(y, C * ratio), intercept)[:n, :n]
    flat = 0.0
    if intercept is True:  # a flat prior on b leaves what is orthogonal to 1
        basis = np.linalg.svd(np.ones((1, n)))[2][1:]
        labels, M, flat = basis @ labels, basis @ M @ basis.T, -0.5 * np.log(n)
    mu = len(labels) / (labels @ np.linalg.solve(M, labels))
    assert fitted.evidence_ == pytest.approx(stats.multivariate_normal(None, M / mu).logpdf(labels) + flat, rel=1e-9)
    assert fitted.mu_ == pytest.approx(mu, rel=1e-9)
    assert fitted.beta_ == pytest.approx(C * mu, rel=1e-9)


def test_each_class_has_its_evidence_and_the_safe_projection_has_none():
    X, y = blobs(3, 23, 14, 3)
    fitted = BayesianLSSVM(C, gamma=GAMMA).fit(X, y)
    assert fitted.evidence_.shape == fitted.mu_.shape == fitted.beta_.shape == (3,)
    assert not hasattr(fitted.set_params(safe=True).fit(X, y), "evidence_")


@every_intercept
@both_kernels
def test_all_classes_have_the_same_safe_projection(intercept, kernel):
    X, y = data(8)
    space = Features(X) if kernel == "linear" else Gram(KERNELS["rbf"], X)
    signs = np.where(y == -1, 0.0, 2.0 * y - 3.0)
    problem = Problem(space, signs, costs(y, 3.0), Squared(), SymmetricSquared(), Free(), intercept)
    expected = SafeProjection().solve(problem)
    for name in SEARCHES:
        fitted = model(name, C_unlabeled=3.0, safe=True, kernel=kernel, fit_intercept=intercept).fit(X, y)
        assert_close(fitted.decision_function(X), expected.scores, 1e-8)
        np.testing.assert_array_equal(fitted.transduction_[14:], fitted.predict(X[14:]))
        assert fitted.converged_


# ---- approximations ----


@every_class
@both_approximations
@every_intercept
@both_kernels
def test_approximate_model_is_the_lssvm_of_its_features(name, method, intercept, kernel):
    X, y = data(22)
    y = y if name != "LSSVM" else 1 + np.arange(36) % 2
    options = {"approximation": method, "n_components": 8, "kernel": kernel, "fit_intercept": intercept}
    fitted, k = model(name, **options).fit(X, y), KERNELS[kernel]
    landmarks = fitted.support_vectors_
    assert not hasattr(fitted, "coef_")
    assert len(landmarks) == (8 if method == "nystroem" else 36)
    np.testing.assert_array_equal(landmarks, X[fitted.support_])
    a, b = fitted.dual_coef_[0], fitted.intercept_[0]
    assert_close(fitted.decision_function(NEW), kernel_matrix(k, NEW, landmarks) @ a + b, 1e-8)
    f = fitted.decision_function(X)
    cost, labels = np.full(36, C) if name == "LSSVM" else costs(y), signs_of(fitted)
    value = 0.5 * a @ kernel_matrix(k, landmarks) @ a + 0.5 * cost @ (labels - f) ** 2
    value += 0.5 * b * b if intercept == "regularized" else 0.0
    assert fitted.objective_ == pytest.approx(value, rel=1e-7)
    D, U = np.linalg.eigh(kernel_matrix(k, landmarks))
    D, U = (D[-8:], U[:, -8:]) if method == "kernel_pca" else (D, U)
    kept = D / D[-1] > 1e-10
    Z = kernel_matrix(k, X, landmarks) @ U[:, kept] / np.sqrt(D[kept])
    assert_close(f, least_squares_svm(Z @ Z.T, cost, labels, intercept)[2], 1e-6)


@every_class
@both_approximations
def test_all_landmarks_are_the_exact_kernel(name, method):
    X, y = data(22)
    exact, fitted = (model(name, approximation=how, n_components=36).fit(X, y) for how in (None, method))
    np.testing.assert_array_equal(fitted.transduction_, exact.transduction_)
    assert_close(fitted.decision_function(NEW), exact.decision_function(NEW), 1e-6)
    assert fitted.objective_ == pytest.approx(exact.objective_, rel=1e-6)


@every_class
@both_approximations
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_dense_sparse_and_precomputed_samples_give_the_same_model(name, method, multiclass):
    X, y = blobs(3, 45, 30, 3)
    options = {"approximation": method, "n_components": 10, "multiclass": multiclass}
    options["coupling"] = "pwc1"  # the others depend on folds, which differ for a precomputed kernel
    dense = model(name, **options).fit(X, y)
    expected = dense.decision_function(NEW)
    k = KERNELS["rbf"]
    others = [(sparse.csr_array(X), sparse.csr_array(NEW), {})]
    others.append((kernel_matrix(k, X), kernel_matrix(k, NEW, X), {"kernel": "precomputed"}))
    for table, new, extra in others:
        fitted = model(name, **options, **extra).fit(table, y)
        np.testing.assert_array_equal(fitted.transduction_, dense.transduction_)
        np.testing.assert_array_equal(fitted.support_, dense.support_)
        assert_close(fitted.objective_, dense.objective_, 1e-7)
        assert_close(fitted.decision_function(new), expected, 1e-6)


@every_search
@pytest.mark.parametrize("container", CONTAINERS)
def test_given_landmarks(name, container):
    X, y = data(22)
    landmarks = blobs(2, 6, 6, 3, seed=9)[0]
    fitted = model(name, approximation="nystroem", landmarks=CONTAINERS[container](landmarks)).fit(X, y)
    assert not hasattr(fitted, "support_")
    assert fitted.n_active_ == 6
    K = kernel_matrix(KERNELS["rbf"], X, landmarks)
    f = K @ fitted.dual_coef_[0] + fitted.intercept_[0]
    assert_close(fitted.decision_function(X), f, 1e-8)
    D, U = np.linalg.eigh(kernel_matrix(KERNELS["rbf"], landmarks))
    Z = K @ U / np.sqrt(D)
    assert_close(f, least_squares_svm(Z @ Z.T, costs(y), signs_of(fitted), fitted.fit_intercept)[2], 1e-7)


@pytest.mark.parametrize("landmarks", ["kmeans++", "leverage", "random", "labeled"])
def test_landmarks_are_drawn_by_the_seed_or_labeled(landmarks):
    X, y = data(22)
    n_components = None if landmarks == "labeled" else 8
    options = {"approximation": "nystroem", "n_components": n_components, "landmarks": landmarks}
    fits = [model("SwitchingLSSVM", random_state=seed, **options).fit(X, y) for seed in (0, 0, 1, 2)]
    np.testing.assert_array_equal(fits[0].decision_function(X), fits[1].decision_function(X))
    if landmarks == "labeled":
        np.testing.assert_array_equal(fits[0].support_, np.arange(14))
    else:
        np.testing.assert_array_equal(fits[0].support_, fits[1].support_)
        assert len({tuple(fit.support_) for fit in fits}) > 1


@every_class
def test_auto_approximates_above_the_memory_limit(name, monkeypatch):
    X, y = data(22)
    y = y if name != "LSSVM" else 1 + np.arange(36) % 2
    exact = model(name).fit(X, y)
    assert len(exact.support_) == 36
    monkeypatch.setenv("SEMISVM_MEMORY", str(24 * 36 * 7))
    assert len(model(name).fit(X, y).support_) == 7
    monkeypatch.setenv("SEMISVM_MEMORY", "1e9")
    assert_close(model(name).fit(X, y).decision_function(X), exact.decision_function(X), 1e-8)


BAD_VALUES = {
    "approximation": ["rff", True, 3],
    "landmarks": ["first", 5, None, np.ones((4, 2)), np.full((4, 3), np.nan), np.ones(3)],
    "n_components": [0, -1, 2.5, "ten", True],
    "method": ["prune", None],
    "safe": ["yes", 1, None],
    "balance_tol": [-0.1, 1.1, "a", np.nan],
    "n_init": [0, 1.5, "ten"],
    "rule": ["best", None],
    "search": ["largest", "random"],
    "selection": ["best", True],
    "label_order": ["own", None],
    "exact": ["yes", 1, None],
    "confidence_threshold": [-1.0, "a"],
    "max_distance": [-1.0, "a"],
}


@pytest.mark.parametrize("name", ["LSSVM", "SparseLSSVM", *SEARCHES])
def test_bad_values_are_refused_in_one_sentence(name):
    X, y = data(10)
    known = ESTIMATORS[name]().get_params()
    cases = [(parameter, value) for parameter in BAD_VALUES if parameter in known for value in BAD_VALUES[parameter]]
    for parameter, value in cases:
        estimator = ESTIMATORS[name](**{parameter: value})
        if parameter == "landmarks" and name != "SparseLSSVM":
            estimator.set_params(approximation="nystroem")
        with pytest.raises(ValueError, match=parameter) as refused:
            estimator.fit(X, y)
        text = str(refused.value)
        assert text.endswith(".")
        assert "\n" not in text
        assert ". " not in text


# ---- unfinished fits ----


STEPS = {
    "SwitchingLSSVM": (DenseLabelings, "swap", 1),
    "LocalSearchRLSC": (DenseLabelings, "sweep", 2),
    "ProgressiveLSSVM": (progressive._RemainingSamples, "label_next", 2),
    "DCLSSVM": (difference_convex, "nearest_labels", 1),
    "BayesianLSSVM": (DenseLabelings, "sweep", 2),
}


def assert_usable(fitted, X, y):
    """The model is that of its labels, whatever they are."""
    assert not fitted.converged_
    np.testing.assert_array_equal(fitted.transduction_[y != -1], y[y != -1])
    labels = signs_of(fitted)
    alpha, _, f = least_squares_svm(kernel_matrix(KERNELS["rbf"], X), 0.1 / C * costs(y), labels, fitted.fit_intercept)
    assert_close(fitted.decision_function(X), f, 1e-8)
    assert fitted.objective_ == pytest.approx(0.5 * labels @ alpha, rel=1e-9)


@every_search
def test_ctrl_c_leaves_a_model_of_its_labels(name, monkeypatch):
    X, y = data(seed=1)
    where, step, last = STEPS[name]
    original, calls = getattr(where, step), []

    def interrupted(*given, **options):
        calls.append(1)
        if len(calls) == last:
            raise KeyboardInterrupt
        return original(*given, **options)

    monkeypatch.setattr(where, step, interrupted)
    with pytest.warns(ConvergenceWarning, match="the fit was interrupted"):
        fitted = model(name, C=0.1).fit(X, y)
    assert_usable(fitted, X, y)


@every_search
def test_max_time_leaves_a_model_of_its_labels_and_keeps_the_balance(name, monkeypatch):
    X, y = data(seed=1)
    monkeypatch.setattr(progressive, "PANEL", 3)
    balance = None if name == "DCLSSVM" else "auto"  # with one it has converged after its first step
    with pytest.warns(ConvergenceWarning, match="max_time=1e-09 reached"):
        fitted = model(name, C=0.1, max_time=1e-9, balance=balance).fit(X, y)
    assert_usable(fitted, X, y)
    for share, expected in ((0.3, 9), (0.9, 28)):
        with warnings.catch_warnings(action="ignore"):
            fitted = model(name, C=0.1, max_time=1e-9, balance=share, balance_tol=0.0).fit(X, y)
        assert (fitted.transduction_[y == -1] == 2).sum() == expected
