"""LSSVM, SparseLSSVM and approximations against systems solved by numpy, refits and naive loops."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from semisvm import DCLSSVM, LSSVM, BayesianLSSVM, LocalSearchRLSC, ProgressiveLSSVM, SparseLSSVM, SwitchingLSSVM
from semisvm.estimators import _base
from semisvm.kernels import Kernel
from semisvm.linalg import Dense
from semisvm.losses import Squared
from semisvm.model_selection.splits import folds_of_distinct_rows
from semisvm.problem import Problem, objective
from semisvm.solvers import Greedy, LeastSquares, Pruning
from semisvm.spaces import Features, Gram

GAMMA = 0.3
C = 2.0
INTERCEPTS = [True, False, "regularised"]
SEARCHES = [SwitchingLSSVM, LocalSearchRLSC, ProgressiveLSSVM, DCLSSVM, BayesianLSSVM]
APPROXIMATIONS = ["nystroem", "kernel_pca"]

every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=["free", "none", "regularised"])
every_class = pytest.mark.parametrize("cls", [LSSVM, *SEARCHES], ids=lambda cls: cls.__name__)
both_approximations = pytest.mark.parametrize("how", APPROXIMATIONS)


def rows(n=36, d=3, classes=2, seed=0, apart=1.2):
    """Overlapping classes named 1, 2, ... in turn."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.standard_normal((n, d)) + apart * rng.standard_normal((classes, d))[y], y + 1


def signs(y):
    return 2.0 * y - 3.0


def hidden(y, labeled=22):
    return np.where(np.arange(len(y)) < labeled, y, -1)


def rbf(A, B, gamma=GAMMA):
    return np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(axis=2))


KERNELS = {
    "rbf": rbf,
    "linear": lambda A, B: A @ B.T,
    "poly": lambda A, B: (GAMMA * (A @ B.T) + 1.0) ** 2,
}
PARAMETERS = {"rbf": {}, "linear": {}, "poly": {"coef0": 1.0, "degree": 2}}


def system(K, cost, y, intercept):
    """Alpha and b by numpy."""
    M = K + np.diag(1.0 / cost)
    if intercept is True:
        one = np.ones((len(M), 1))
        found = np.linalg.solve(np.block([[M, one], [one.T, np.zeros((1, 1))]]), np.r_[y, 0.0])
        return found[:-1], found[-1]
    alpha = np.linalg.solve(M + (intercept == "regularised"), y)
    return alpha, alpha.sum() if intercept == "regularised" else 0.0


def price(K, alpha, b, cost, y, intercept, landmarks=None):
    """The objective of the machine of some coefficients, term by term."""
    cross = K if landmarks is None else K[:, landmarks]
    corner = K if landmarks is None else K[np.ix_(landmarks, landmarks)]
    f = cross @ alpha + b
    return (
        0.5 * alpha @ corner @ alpha
        + (0.5 * b * b if intercept == "regularised" else 0.0)
        + 0.5 * cost @ ((y - f) ** 2)
    )


def assert_close(found, expected, tolerance=1e-8):
    expected = np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


# ---- the exact machine ----


@every_intercept
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_lssvm_is_the_bordered_system(kernel, intercept, weighted):
    (X, y), (new, _) = rows(), rows(11, seed=1)
    weight = np.random.default_rng(2).uniform(0.2, 3.0, len(y)) if weighted else np.ones(len(y))
    machine = LSSVM(C, kernel=kernel, gamma=GAMMA, fit_intercept=intercept, **PARAMETERS[kernel])
    machine.fit(X, y, sample_weight=weight if weighted else None)
    K, cost = KERNELS[kernel](X, X), C * weight
    alpha, b = system(K, cost, signs(y), intercept)
    assert_close(machine.dual_coef_[0], alpha)
    assert_close(machine.intercept_, [b])
    assert_close(machine.decision_function(new), KERNELS[kernel](new, X) @ alpha + b)
    smallest = price(K, alpha, b, cost, signs(y), intercept)
    assert machine.objective_ == pytest.approx(smallest, rel=1e-9)
    certificate = machine.certificate_
    assert certificate.kind == "kkt"
    assert 0.0 <= certificate.value < 1e-9
    assert 0.0 <= certificate.gap < 1e-9 * smallest
    assert certificate.lower_bound == pytest.approx(smallest, rel=1e-9)
    np.testing.assert_array_equal(machine.support_, np.arange(len(y)))


@every_intercept
def test_the_certificate_of_a_wrong_machine_says_so(intercept, monkeypatch):
    X, y = rows()
    problem = Problem(Gram(Kernel("rbf", GAMMA), X), signs(y), np.full(len(y), C), Squared(), intercept=intercept)
    right = LeastSquares().solve(problem)
    times = Dense.times
    monkeypatch.setattr(Dense, "times", lambda form, v: 1.01 * times(form, v))
    wrong = LeastSquares().solve(problem).certificate
    assert wrong.value > 1e-3
    assert wrong.gap > 1e-4
    assert wrong.lower_bound <= right.objective


@every_intercept
@pytest.mark.parametrize("table", [np.asarray, sparse.csr_array, sparse.csr_matrix], ids=["dense", "array", "matrix"])
@pytest.mark.parametrize("shape", [(40, 5), (12, 30), (20, 19), (20, 20)])
def test_the_linear_machine_is_ridge_regression(table, shape, intercept):
    X, y = rows(*shape)
    X[np.abs(X) < 0.3] = 0.0
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    machine = LSSVM(C, kernel="linear", fit_intercept=intercept).fit(table(X), y, sample_weight=weight)
    wide = np.hstack([X, np.full((len(X), int(intercept == "regularised")), 1.0)])
    ridge = Ridge(1.0 / C, fit_intercept=intercept is True, solver="svd").fit(wide, signs(y), sample_weight=weight)
    assert_close(machine.coef_[0], ridge.coef_[: X.shape[1]])
    b = ridge.coef_[-1] if intercept == "regularised" else ridge.intercept_
    assert_close(machine.intercept_, [b])
    assert_close(machine.decision_function(table(X)), ridge.predict(wide))
    by_kernel = LSSVM(C, kernel=KERNELS["linear"], fit_intercept=intercept).fit(X, y, sample_weight=weight)
    assert_close(by_kernel.decision_function(X), ridge.predict(wide))
    assert machine.objective_ == pytest.approx(by_kernel.objective_, rel=1e-9)
    assert max(machine.certificate_.value, machine.certificate_.gap) < 1e-9


# ---- held-out scores ----


def recorded(monkeypatch):
    seen = []
    fit_slope = _base.fit_slope
    monkeypatch.setattr(_base, "fit_slope", lambda *data: seen.append(data) or fit_slope(*data))
    return seen


@every_intercept
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_probabilities_rest_on_scores_of_machines_without_the_fold(kernel, intercept, monkeypatch):
    seen = recorded(monkeypatch)
    X, y = rows()
    X[7] = X[5]  # equal rows are held out together
    table = sparse.csr_array(X) if kernel == "linear" else X
    weight = np.random.default_rng(3).uniform(0.5, 2.0, len(y))
    machine = LSSVM(C, kernel=kernel, gamma=GAMMA, fit_intercept=intercept).fit(table, y, sample_weight=weight)
    assert not seen
    machine.predict_proba(X)
    folds = folds_of_distinct_rows(X, y - 1, 5)
    K, expected = KERNELS[kernel](X, X), np.zeros(len(y))
    for fold in range(5):
        kept, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        assert len(held) > 1
        alpha, b = system(K[np.ix_(kept, kept)], C * weight[kept], signs(y[kept]), intercept)
        expected[held] = K[np.ix_(held, kept)] @ alpha + b
    ((scores, truth, used),) = seen
    assert_close(scores, 0.5 * np.column_stack([-expected, expected]))
    assert np.abs(expected - machine.decision_function(X)).max() > 0.05
    np.testing.assert_array_equal(truth, y - 1)
    np.testing.assert_array_equal(used, weight)


def test_held_out_scores_of_several_classes(monkeypatch):
    X, y = rows(33, classes=3)
    folds, K = folds_of_distinct_rows(X, y - 1, 5), rbf(X, X)
    seen = recorded(monkeypatch)
    LSSVM(C, gamma=GAMMA).fit(X, y).predict_proba(X)
    LSSVM(C, gamma=GAMMA, multiclass="ovo").fit(X, y).predict_proba(X)

    def without(fold, own, sign):
        kept, held = np.flatnonzero((folds != fold) & own), np.flatnonzero((folds == fold) & own)
        alpha, b = system(K[np.ix_(kept, kept)], np.full(len(kept), C), sign[kept], True)
        return held, K[np.ix_(held, kept)] @ alpha + b

    expected = np.zeros((33, 3))
    for fold in range(5):
        for c in range(3):
            held, f = without(fold, np.ones(33, dtype=bool), np.where(y == c + 1, 1.0, -1.0))
            expected[held, c] = f
    assert_close(seen[0][0], expected)
    parts = []
    for i, j in ((1, 2), (1, 3), (2, 3)):
        own, f = (y == i) | (y == j), np.zeros(33)
        for fold in range(5):
            held, f_held = without(fold, own, np.where(y == j, 1.0, -1.0))
            f[held] = f_held
        parts.append(f[own])
    assert_close(2.0 * seen[1][0][:, 1], np.concatenate(parts))


# ---- few rows: the reduced set ----


def reduced(X, S, y, weight):
    """(R + Z'Z)[a; b] = Z'y, weighted rows."""
    Z = np.hstack([rbf(X, S), np.ones((len(X), 1))])
    R = np.zeros((len(S) + 1, len(S) + 1))
    R[:-1, :-1] = rbf(S, S) / C
    found = np.linalg.solve(R + Z.T @ (weight[:, None] * Z), Z.T @ (weight * y))
    return found[:-1], found[-1]


@pytest.mark.parametrize("landmarks", ["kmeans++", "leverage", "random", "labeled", "given"])
@pytest.mark.parametrize("kind", ["dense", "csr", "precomputed"])
def test_a_reduced_set_solves_its_own_system(landmarks, kind):
    X, y = rows(40)
    new, _ = rows(9, seed=1)
    weight = np.random.default_rng(4).uniform(0.5, 2.0, len(y))
    S = rows(7, seed=2)[0]
    table = {"dense": X, "csr": sparse.csr_array(X), "precomputed": rbf(X, X)}[kind]
    if landmarks == "given" and kind == "precomputed":
        with pytest.raises(ValueError, match="precomputed kernel cannot place"):
            SparseLSSVM(C, landmarks=S, kernel="precomputed").fit(table, y)
        return
    given = S if landmarks == "given" else landmarks
    kernel = "precomputed" if kind == "precomputed" else "rbf"
    machine = SparseLSSVM(C, n_components=7, landmarks=given, kernel=kernel, gamma=GAMMA, random_state=0)
    machine.fit(table, y, sample_weight=weight)
    if landmarks != "given":
        assert len(set(machine.support_)) == 7
        S = X[machine.support_]
    alpha, b = reduced(X, S, signs(y), weight)
    assert_close(machine.dual_coef_[0], alpha, tolerance=1e-6)
    expected = rbf(new, S) @ alpha + b
    assert_close(machine.decision_function(rbf(new, X) if kind == "precomputed" else new), expected, tolerance=1e-7)
    residual = signs(y) - rbf(X, S) @ alpha - b
    value = 0.5 * alpha @ rbf(S, S) @ alpha + 0.5 * C * weight @ residual**2
    assert machine.objective_ == pytest.approx(value, rel=1e-8)
    assert machine.n_active_ == 7
    assert machine.certificate_.kind == "kkt"
    assert max(machine.certificate_.value, machine.certificate_.gap) < 1e-9


@pytest.mark.parametrize(("method", "more"), [("reduced", {}), ("greedy", {"tol": 1e-300})])
def test_with_all_rows_it_is_lssvm(method, more):
    X, y = rows()
    new, _ = rows(9, seed=1)
    sparse_one = SparseLSSVM(C, method=method, gamma=GAMMA, **more).fit(X, hidden(y, 30))
    exact = LSSVM(C, gamma=GAMMA, fit_intercept="regularised" if method == "greedy" else True).fit(X[:30], y[:30])
    assert_close(sparse_one.decision_function(new), exact.decision_function(new))
    assert sparse_one.objective_ == pytest.approx(exact.objective_, rel=1e-9)
    assert sparse_one.n_active_ == 30


# ---- few rows: the greedy choice ----


def naive_greedy(Q, y, steps):
    """At every step the row, of all there are, with which the dual 1/2 y'Q^-1 y is largest."""
    taken, duals = [], []
    for _ in range(steps):
        best = {}
        for j in set(range(len(y))) - set(taken):
            few = [*taken, j]
            best[j] = 0.5 * y[few] @ np.linalg.solve(Q[np.ix_(few, few)], y[few])
        taken.append(max(best, key=best.get))
        duals.append(best[taken[-1]])
    return taken, duals


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_greedy_takes_the_row_that_raises_the_dual_most(seed, kernel):
    X, y = rows(24, seed=seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, 24)
    cost = C * weight
    K = KERNELS[kernel](X, X)
    taken, duals = naive_greedy(K + 1.0 + np.diag(1.0 / cost), signs(y), 10)
    knobs = {"kernel": kernel, "gamma": GAMMA}
    for count in (1, 2, 5, 10):
        machine = SparseLSSVM(C, method="greedy", n_components=count, tol=1e-300, **knobs)
        machine.fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(machine.support_, sorted(taken[:count]))
        assert_close(machine.objective_path_[:-1], duals[:count])
        alpha, b = system(
            K[np.ix_(taken[:count], taken[:count])], cost[taken[:count]], signs(y)[taken[:count]], "regularised"
        )
        assert_close(machine.decision_function(X), K[:, taken[:count]] @ alpha + b)
        assert machine.objective_ == machine.objective_path_[-1]
        value = price(K, alpha, b, cost, signs(y), "regularised", taken[:count])
        assert machine.objective_ == pytest.approx(value, rel=1e-9)
        assert machine.n_active_ == count
    few = sorted(taken)
    alone = LSSVM(C, fit_intercept="regularised", **knobs).fit(X[few], y[few], sample_weight=weight[few])
    assert_close(machine.decision_function(X), alone.decision_function(X))


def test_greedy_stops_at_a_small_gain():
    X, y = rows(24)
    _, duals = naive_greedy(rbf(X, X) + 1.0 + np.eye(24) / C, signs(y), 24)
    gains = np.diff(duals) / duals[:-1]
    tol = 0.5 * (gains[11] + gains[12])
    stop = 1 + int(np.argmax(gains <= tol))
    assert 2 < stop < 24
    assert SparseLSSVM(C, method="greedy", gamma=GAMMA, tol=tol).fit(X, y).n_active_ == stop


def test_greedy_refuses_a_free_intercept():
    X, y = rows()
    with pytest.raises(ValueError, match="fit_intercept='regularised'"):
        Greedy().solve(Problem(Gram(Kernel("rbf", GAMMA), X), signs(y), np.ones(len(y)), Squared()))


def test_greedy_looks_at_a_pool_of_many_rows(monkeypatch):
    X, y = rows()
    monkeypatch.setattr("semisvm.solvers.sparse_least_squares.POOL", 20)
    fits = [SparseLSSVM(C, method="greedy", tol=1e-300, random_state=s).fit(X, y) for s in (0, 0, 1)]
    assert all(machine.n_active_ == 20 for machine in fits)
    np.testing.assert_array_equal(fits[0].support_, fits[1].support_)
    assert set(fits[0].support_) != set(fits[2].support_)


# ---- few rows: pruning ----


def naive_pruning(K, cost, y, intercept, stop):
    """Retrain, judge by refits, drop: rows after every step, and their errors."""
    kept, history = np.arange(len(y)), []
    while True:
        alpha, b = system(K[np.ix_(kept, kept)], cost[kept], y[kept], intercept)
        f = K[:, kept] @ alpha + b
        for j in kept:
            others = kept[kept != j]
            a, bias = system(K[np.ix_(others, others)], cost[others], y[others], intercept)
            f[j] = K[j, others] @ a + bias
        error = cost @ (y * f <= 0) / cost.sum()
        history.append((kept, error))
        drop = min(max(1, int(0.05 * len(kept))), len(kept) - stop)
        if drop <= 0:
            return history
        gone = np.argsort(np.abs(alpha))[:drop]
        for sign in (-1.0, 1.0):
            if not (np.delete(y[kept], gone) == sign).any():
                gone = gone[y[kept][gone] != sign]
        kept = np.delete(kept, gone)


@every_intercept
@pytest.mark.parametrize(("n", "stop"), [(22, 5), (46, 38)])
@pytest.mark.parametrize("linear", [False, True])
def test_pruning_drops_what_a_naive_loop_drops(n, stop, intercept, linear):
    X, y = rows(n, seed=5)
    cost = C * np.random.default_rng(5).uniform(0.5, 2.0, n)
    space, K = (Features(X), X @ X.T) if linear else (Gram(Kernel("rbf", GAMMA), X), rbf(X, X))
    problem = Problem(space, signs(y), cost, Squared(), intercept=intercept)
    history = naive_pruning(K, cost, signs(y), intercept, stop)
    solution = Pruning(stop).solve(problem)
    assert [row["rows"] for row in solution.trace[:-1]] == [len(kept) for kept, _ in history]
    assert_close([row["error"] for row in solution.trace[:-1]], [error for _, error in history])
    kept = history[-1][0]
    assert len(kept) == stop
    np.testing.assert_array_equal(np.flatnonzero(solution.dual), kept)
    alpha, b = system(K[np.ix_(kept, kept)], cost[kept], signs(y)[kept], intercept)
    assert_close(solution.scores, K[:, kept] @ alpha + b)
    assert solution.objective == pytest.approx(price(K, alpha, b, cost, signs(y), intercept, kept), rel=1e-9)
    assert solution.objective == pytest.approx(objective(problem, solution.coef, solution.intercept), rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_pruning_stops_before_the_error_rises(seed):
    X, y = rows(30, seed=seed, apart=0.8)
    machine = SparseLSSVM(C, method="pruning", gamma=GAMMA).fit(X, y)
    history = naive_pruning(rbf(X, X), np.full(30, C), signs(y), True, 2)
    first = history[0][1]
    limit = first + np.sqrt(first * (1.0 - first) / 30)
    within = [error <= limit for _, error in history]
    last = within.index(False) - 1 if False in within else len(history) - 1
    np.testing.assert_array_equal(machine.support_, history[last][0])
    assert {1, 2} == set(y[machine.support_])


def test_pruning_seldom_ends_without_a_rise():
    ends = [SparseLSSVM(C, method="pruning", gamma=GAMMA).fit(*rows(30, seed=s, apart=0.8)).n_active_ for s in range(6)]
    assert min(ends) < max(ends)
    assert max(ends) > 2  # the rule above is put to use


@pytest.mark.parametrize("count", [2, 3, 9, 30, 100])
def test_pruning_respects_the_number_of_rows(count):
    X, y = rows(30)
    machine = SparseLSSVM(C, method="pruning", n_components=count, gamma=GAMMA).fit(X, y)
    assert machine.n_active_ == min(count, 30)
    assert {1, 2} == set(y[machine.support_])


@every_intercept
@pytest.mark.parametrize("seed", range(4))
def test_pruning_keeps_the_last_row_of_a_class_and_goes_on(seed, intercept):
    """However small its multiplier is, other rows can still be dropped."""
    X, _ = rows(16, seed=seed)
    y = np.where(np.arange(16) == 3, 1.0, -1.0)
    cost = np.where(y > 0, 0.02, C)  # so that it bears little
    problem = Problem(Gram(Kernel("rbf", GAMMA), X), y, cost, Squared(), intercept=intercept)
    left = np.flatnonzero(Pruning(6).solve(problem).dual)
    assert 3 in left
    assert len(left) == 6


@pytest.mark.parametrize("method", ["greedy", "pruning"])
def test_few_rows_of_several_classes_and_without_labels(method):
    X, y = rows(45, classes=3)
    machine = SparseLSSVM(C, method=method, n_components=12, gamma=GAMMA).fit(X, hidden(y, 36))
    assert machine.support_.max() < 36
    for c in range(3):
        alone = SparseLSSVM(C, method=method, n_components=12, gamma=GAMMA, unlabeled=None)
        alone.fit(X[:36], (y[:36] == c + 1).astype(int))
        assert_close(machine.decision_function(X)[:, c], alone.decision_function(X))
        assert machine.n_active_[c] == alone.n_active_ == 12


@pytest.mark.parametrize("solver", [Greedy(max_time=1e-9), Pruning(5, max_time=1e-9)], ids=["greedy", "pruning"])
def test_few_rows_in_no_time(solver):
    X, y = rows()
    problem = Problem(Gram(Kernel("rbf", GAMMA), X), signs(y), np.full(len(y), C), Squared(), intercept="regularised")
    solution = solver.solve(problem)
    assert solution.status == "max_time"
    assert np.count_nonzero(solution.dual) == (1 if isinstance(solver, Greedy) else len(y))
    assert solution.objective == pytest.approx(objective(problem, solution.coef, solution.intercept), rel=1e-9)
    seen = []
    stopped = type(solver)(4).solve(problem, callback=lambda row: seen.append(row) or len(seen) == 2)
    assert stopped.status == "stopped"
    assert len(seen) == 2


# ---- approximations ----


def costs(machine, y):
    known = y != -1
    return np.where(known, machine.C_, machine.C_ * known.sum() / max((~known).sum(), 1))


@every_class
@both_approximations
@every_intercept
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_an_approximate_machine_is_one_of_its_landmarks(cls, how, intercept, kernel):
    X, y = rows()
    new, _ = rows(9, seed=1)
    partly = y if cls is LSSVM else hidden(y)
    knobs = {"kernel": kernel, "gamma": GAMMA, "fit_intercept": intercept, "random_state": 0}
    machine = cls(C, approximation=how, n_components=8, **knobs).fit(X, partly)
    assert not hasattr(machine, "coef_")
    points, k = machine.support_vectors_, KERNELS[kernel]
    assert len(points) == (8 if how == "nystroem" else len(X))
    np.testing.assert_array_equal(points, X[machine.support_])
    a, b = machine.dual_coef_[0], machine.intercept_[0]
    assert_close(machine.decision_function(new), k(new, points) @ a + b)
    f = machine.decision_function(X)
    assert_close(f, k(X, points) @ a + b)
    labels, cost = signs(machine.transduction_), costs(machine, partly)
    value = 0.5 * a @ k(points, points) @ a + (0.5 * b * b if intercept == "regularised" else 0.0)
    value += 0.5 * cost @ (labels - f) ** 2
    assert machine.objective_ == pytest.approx(value, rel=1e-7)
    # and it is the best machine of these labels with such features
    D, U = np.linalg.eigh(k(points, points))
    D, U = (D[-8:], U[:, -8:]) if how == "kernel_pca" else (D, U)
    kept = D / D[-1] > 1e-10
    Z = k(X, points) @ U[:, kept] / np.sqrt(D[kept])
    alpha, bias = system(Z @ Z.T, cost, labels, intercept)
    assert_close(f, Z @ (Z.T @ alpha) + bias, tolerance=1e-6)


@every_class
@both_approximations
def test_with_all_landmarks_it_is_the_exact_machine(cls, how):
    X, y = rows()
    partly = y if cls is LSSVM else hidden(y)
    exact = cls(C, approximation=None, gamma=GAMMA, random_state=0).fit(X, partly)
    same = cls(C, approximation=how, n_components=len(X), gamma=GAMMA, random_state=0).fit(X, partly)
    np.testing.assert_array_equal(same.transduction_, exact.transduction_)
    assert_close(same.decision_function(X), exact.decision_function(X), tolerance=1e-6)
    assert same.objective_ == pytest.approx(exact.objective_, rel=1e-6)


@every_class
@both_approximations
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_dense_sparse_and_precomputed_rows_give_one_machine(cls, how, multiclass):
    X, y = rows(45, classes=3)
    new, _ = rows(9, seed=1)
    partly = y if cls is LSSVM else hidden(y, 30)
    knobs = {"approximation": how, "n_components": 10, "multiclass": multiclass, "random_state": 0}
    knobs["coupling"] = "pwc1"  # the others rest on folds, which a precomputed kernel makes otherwise
    dense = cls(C, gamma=GAMMA, **knobs).fit(X, partly)
    csr = cls(C, gamma=GAMMA, **knobs).fit(sparse.csr_array(X), partly)
    given = cls(C, kernel="precomputed", **knobs).fit(rbf(X, X), partly)
    for other, table in ((csr, sparse.csr_array(new)), (given, rbf(new, X))):
        np.testing.assert_array_equal(other.transduction_, dense.transduction_)
        np.testing.assert_array_equal(other.support_, dense.support_)
        assert_close(other.objective_, dense.objective_, tolerance=1e-7)
        assert_close(other.decision_function(table), dense.decision_function(new), tolerance=1e-6)
        for column in range(3):
            f, expected = (
                rbf(new, X[one.support_]) @ one.dual_coef_[column] + one.intercept_[column] for one in (other, dense)
            )
            assert_close(f, expected, tolerance=1e-6)
    known = partly != -1
    np.testing.assert_array_equal(dense.transduction_[known], y[known])
    if cls is LSSVM:
        pairs = [(1, 2), (1, 3), (2, 3)] if multiclass == "ovo" else [(None, c) for c in (1, 2, 3)]
        for column, (i, j) in enumerate(pairs):
            own = np.ones(45, dtype=bool) if i is None else (y == i) | (y == j)
            Z = rbf(X, X[dense.support_])
            f = Z @ dense.dual_coef_[column] + dense.intercept_[column]
            alpha = C * (np.where(y == j, 1.0, -1.0) - f)[own]  # sums to zero, makes w in the span of the features
            assert abs(alpha.sum()) < 1e-6
            if how == "nystroem":
                assert_close(
                    Z[own].T @ alpha, rbf(X, X)[np.ix_(dense.support_, dense.support_)] @ dense.dual_coef_[column], 1e-6
                )


@pytest.mark.parametrize("cls", SEARCHES, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("table", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_landmarks_may_be_given(cls, table):
    X, y = rows()
    points = rows(6, seed=9)[0]
    machine = cls(C, approximation="nystroem", landmarks=table(points), gamma=GAMMA, random_state=0).fit(X, hidden(y))
    assert not hasattr(machine, "support_")
    assert machine.n_active_ == 6
    f = rbf(X, points) @ machine.dual_coef_[0] + machine.intercept_[0]
    assert_close(machine.decision_function(X), f)
    D, U = np.linalg.eigh(rbf(points, points))
    Z = rbf(X, points) @ U / np.sqrt(D)
    intercept = machine.fit_intercept
    alpha, b = system(Z @ Z.T, costs(machine, hidden(y)), signs(machine.transduction_), intercept)
    assert_close(f, Z @ (Z.T @ alpha) + b, tolerance=1e-7)


@every_class
@pytest.mark.parametrize("landmarks", ["kmeans++", "leverage", "random"])
def test_landmarks_are_drawn_by_the_seed(cls, landmarks):
    X, y = rows()
    partly = y if cls is LSSVM else hidden(y)
    knobs = {"approximation": "nystroem", "n_components": 8, "landmarks": landmarks, "gamma": GAMMA}
    fits = [cls(C, random_state=seed, **knobs).fit(X, partly) for seed in (0, 0, 1, 2)]
    np.testing.assert_array_equal(fits[0].support_, fits[1].support_)
    np.testing.assert_array_equal(fits[0].decision_function(X), fits[1].decision_function(X))
    assert len({tuple(fit.support_) for fit in fits}) > 1


@pytest.mark.parametrize("cls", SEARCHES, ids=lambda cls: cls.__name__)
def test_labeled_landmarks_are_the_labeled_rows(cls):
    X, y = rows()
    machine = cls(C, approximation="nystroem", landmarks="labeled", gamma=GAMMA, random_state=0).fit(X, hidden(y))
    np.testing.assert_array_equal(machine.support_, np.arange(22))


@every_class
def test_auto_approximates_beyond_the_memory_rule(cls, monkeypatch):
    X, y = rows()
    partly = y if cls is LSSVM else hidden(y)
    exact = cls(C, gamma=GAMMA, random_state=0).fit(X, partly)
    assert len(exact.support_) == 36
    monkeypatch.setenv("SEMISVM_MEMORY", str(24 * 36 * 7))
    few = cls(C, gamma=GAMMA, random_state=0).fit(X, partly)
    assert len(few.support_) == 7
    with pytest.raises(MemoryError, match=r"approximation='nystroem' or raise SEMISVM_MEMORY\.$"):
        cls(C, gamma=GAMMA, approximation=None).fit(X, partly)
    monkeypatch.setenv("SEMISVM_MEMORY", "1e9")
    assert_close(cls(C, gamma=GAMMA, random_state=0).fit(X, partly).decision_function(X), exact.decision_function(X))


# ---- one sentence about every bad value ----


WRONG = {
    "approximation": ["rff", True, 3],
    "landmarks": ["first", 5, None, np.ones((4, 2)), np.full((4, 3), np.nan), np.ones(3), "text"],
    "n_components": [0, -1, 2.5, "ten", True],
    "method": ["prune", None],
    "safe": ["yes", 1, None],
    "balance_tol": [-0.1, 1.1, "a", np.nan],
    "n_init": [0, 1.5, "ten"],
    "rule": ["best", None],
    "search": ["largest", "random"],
    "pick": ["best", True],
    "sign": ["own", None],
    "exact": ["yes", 1, None],
    "confident": [-1.0, "a"],
    "near": [-1.0, "a"],
}


@pytest.mark.parametrize(
    ("cls", "name", "value"),
    [
        (cls, name, value)
        for cls in (LSSVM, SparseLSSVM, *SEARCHES)
        for name, values in WRONG.items()
        for value in values
        if name in cls().get_params()
    ],
)
def test_a_bad_value_is_refused_in_one_sentence(cls, name, value):
    X, y = rows()
    machine = cls(**{name: value})
    if name == "landmarks" and cls is not SparseLSSVM:
        machine.set_params(approximation="nystroem")
    with pytest.raises(ValueError) as refused:
        machine.fit(X, y if cls in (LSSVM, SparseLSSVM) else hidden(y))
    text = str(refused.value)
    assert name in text
    assert text.endswith(".")
    assert "\n" not in text
    assert ". " not in text
