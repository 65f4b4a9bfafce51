"""SMO against libsvm, liblinear, an interior-point solver and its own conditions of optimality."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from judges import maximise_dual
from semisvm import SVM, spaces
from semisvm.kernels import KERNELS, Kernel
from semisvm.losses import Hinge, SquaredHinge
from semisvm.problem import Problem, objective
from semisvm.solvers import SMO, pairs, smo
from semisvm.solvers.dual import Dual, formulate
from semisvm.spaces import Features, Gram

COEF0 = {"inverse_multiquadric": 1.0, "poly": 1.0}


def noisy(n, d=6, seed=0, flip=0.1):
    X, y = make_classification(
        n, d, n_informative=min(d, 4), n_redundant=0, n_clusters_per_class=2, flip_y=flip, random_state=seed
    )
    return X, 2.0 * y - 1.0


def problem_of(name, X, y, loss=None, C=1.0, intercept=True):
    kernel = Kernel(name, gamma=0.2, coef0=COEF0.get(name, 0.0), degree=2, sigma=1.0)
    return Problem(Gram(kernel, X), y, np.full(len(y), C), Hinge() if loss is None else loss, intercept=intercept)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("name", KERNELS)
def test_objective_is_that_of_svc(name, C):
    """At C = 100 the single precision of libsvm's kernel shows, and only "no higher" can be asked of us."""
    X, y = noisy(120)
    problem = problem_of(name, X, y, C=C)
    solution = SMO(tol=1e-6).solve(problem)
    peer = SVC(C=C, kernel="precomputed", tol=1e-7).fit(problem.space.whole, y)
    coef = np.zeros(len(y))
    coef[peer.support_] = peer.dual_coef_[0]
    theirs = objective(problem, coef, peer.intercept_[0])
    assert solution.objective <= theirs * (1 + 1e-6)
    assert C == 100.0 or solution.objective == pytest.approx(theirs, rel=1e-6)
    assert solution.certificate.value <= 1e-6
    assert solution.objective == objective(problem, solution.coef, solution.intercept)
    assert solution.certificate.gap == pytest.approx(0.0, abs=1e-4 * solution.objective)
    assert solution.certificate.lower_bound <= theirs * (1 + 1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", ["regularised", False])
def test_other_intercepts_are_those_of_liblinear(loss, fit_intercept):
    X, y = noisy(150)
    ours = SVM(0.7, loss=loss, kernel="linear", fit_intercept=fit_intercept, tol=1e-7, unlabeled=None).fit(X, y)
    peer = LinearSVC(C=0.7, loss=loss, dual=True, fit_intercept=bool(fit_intercept), tol=1e-9, max_iter=1_000_000)
    peer.fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-5)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=2e-5)


def test_squared_hinge_agrees_with_a_ridge_on_the_kernel():
    X, y = noisy(120)
    problem = problem_of("rbf", X, y, SquaredHinge(), C=2.0)
    solution = SMO(tol=1e-8).solve(problem)
    K = problem.space.whole + np.eye(len(y)) / 4.0
    peer = SVC(C=1e8, kernel="precomputed", tol=1e-8).fit(K, y)
    coef = np.zeros(len(y))
    coef[peer.support_] = peer.dual_coef_[0]
    np.testing.assert_allclose(solution.coef, coef, atol=1e-5)
    assert solution.certificate.gap == pytest.approx(0.0, abs=1e-6)


def random_dual(seed, n=12, kinks=False, ridge=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    lo, hi = -rng.uniform(0, 1, n), rng.uniform(0, 1, n)
    extra = {"ridge": rng.uniform(0, 0.5, n)} if ridge else {}
    slope = rng.standard_normal(n)
    if kinks:
        extra |= {"mid": rng.uniform(lo, hi), "high_slope": slope - rng.uniform(0, 2, n)}
    return Dual(Gram(Kernel("rbf", 0.5), X), lo, hi, slope, **extra)


def dual_value(dual, a):
    gain = dual.slope @ a if dual.mid is None else 0.0
    if dual.mid is not None:
        gain = dual.slope @ np.minimum(a, dual.mid) + dual.high_slope @ np.maximum(a - dual.mid, 0.0)
    return gain - 0.5 * a @ dual.gram.times(a) - (0.0 if dual.ridge is None else 0.5 * dual.ridge @ a**2)


@pytest.mark.parametrize("kinks", [False, True])
@pytest.mark.parametrize("ridge", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_general_boxes_and_slopes_agree_with_an_interior_point_solver(seed, kinks, ridge):
    dual = random_dual(seed, kinks=kinks, ridge=ridge)
    point = smo.solve_dual(dual, tol=1e-9)
    _, best = maximise_dual(dual.gram.whole, dual.lo, dual.hi, dual.slope, dual.ridge, dual.mid, dual.high_slope)
    assert dual_value(dual, point.a) == pytest.approx(best, abs=1e-7)
    assert abs(point.a.sum()) < 1e-12
    assert (point.a >= dual.lo).all()
    assert (point.a <= dual.hi).all()


@pytest.mark.parametrize("kinks", [False, True])
def test_warm_start_at_the_solution_takes_no_step(kinks):
    dual = random_dual(3, n=40, kinks=kinks)
    point = smo.solve_dual(dual, tol=1e-6)
    assert smo.solve_dual(dual, point.a, tol=1e-6).n_iter == 0
    assert smo.solve_dual(dual, point, tol=1e-6).n_iter == 0
    assert point.n_iter > 0


@pytest.mark.parametrize("seed", range(4))
def test_any_start_ends_at_the_same_value(seed):
    dual = random_dual(1, n=40, kinks=True)
    rng = np.random.default_rng(seed)
    best = dual_value(dual, smo.solve_dual(dual, tol=1e-8).a)
    start = smo.feasible(rng.uniform(dual.lo, dual.hi), dual.lo, dual.hi)
    assert abs(start.sum()) < 1e-12
    assert dual_value(dual, smo.solve_dual(dual, start, tol=1e-8).a) == pytest.approx(best, abs=1e-8)
    assert dual_value(dual, smo.solve_dual(dual, 5 * rng.standard_normal(40), tol=1e-8).a) == pytest.approx(
        best, abs=1e-8
    )


def test_a_feasible_point_is_left_alone():
    lo, hi = -np.ones(4), np.ones(4)
    np.testing.assert_array_equal(smo.feasible(np.array([0.5, -0.5, 0.25, -0.25]), lo, hi), [0.5, -0.5, 0.25, -0.25])


def no_room(monkeypatch):
    """No room for the whole matrix, small active sets, a cache of few rows, few fetched at once."""
    monkeypatch.setenv("SEMISVM_MEMORY", str(400 * 100 * 8))
    monkeypatch.setattr(smo, "BLOCK_ROWS", 20)
    monkeypatch.setattr(smo, "FIRST_ROWS", 60)
    monkeypatch.setattr(smo, "ACTIVE_ROWS", 90)
    monkeypatch.setattr(smo, "FETCH_ROWS", 16)


@pytest.mark.parametrize("name", ["rbf", "linear"])
@pytest.mark.parametrize("whole", [True, False])
def test_active_sets_and_cached_rows_give_what_the_whole_matrix_gives(name, whole, monkeypatch):
    X, y = noisy(400)
    best = smo.solve_dual(formulate(problem_of(name, X, y, C=10.0)), tol=1e-6)
    no_room(monkeypatch)
    dual = formulate(problem_of(name, X, y, C=10.0))
    point = smo.solve_dual(dual, tol=1e-6, whole=whole)
    assert not dual.gram.held
    assert (dual.gram._cache is None) == whole
    assert dual_value(dual, point.a) == pytest.approx(dual_value(dual, best.a), rel=1e-8)
    assert point.violation <= 1e-6
    np.testing.assert_allclose(point.f, dual.gram.times(point.a), atol=1e-8)


@pytest.mark.parametrize("rows", [2, 3, 5])
def test_a_cache_of_very_few_rows_is_enough(rows, monkeypatch):
    X, y = noisy(120)
    best = smo.solve_dual(formulate(problem_of("rbf", X, y, C=10.0)), tol=1e-6)
    no_room(monkeypatch)
    monkeypatch.setenv("SEMISVM_MEMORY", str(rows * 120 * 8))
    dual = formulate(problem_of("rbf", X, y, C=10.0))
    dual.gram.cache.values[:] = np.nan  # what memory holds before a row is written must not matter
    point = smo.solve_dual(dual, tol=1e-6, whole=False)
    assert dual.gram.cache.capacity == rows
    assert dual_value(dual, point.a) == pytest.approx(dual_value(dual, best.a), rel=1e-8)


def test_shrinking_gives_what_no_shrinking_gives(monkeypatch):
    X, y = noisy(2500, flip=0.2)
    shrunk = []
    whole = smo.submatrix
    monkeypatch.setattr(smo, "submatrix", lambda K, rows, columns: shrunk.append(len(rows)) or whole(K, rows, columns))
    with_it = SMO(tol=1e-5).solve(problem_of("rbf", X, y))
    assert shrunk
    assert min(shrunk) < 2000
    monkeypatch.setattr(smo, "SHRINK", 0.0)
    without = SMO(tol=1e-5).solve(problem_of("rbf", X, y))
    assert with_it.objective == pytest.approx(without.objective, rel=1e-7)
    assert with_it.certificate.value <= 1e-5


def test_float32_kernel_is_close(monkeypatch):
    X, y = noisy(500)
    exact = SMO().solve(problem_of("rbf", X, y))
    monkeypatch.setattr(spaces, "EXACT_ROWS", 10)
    problem = problem_of("rbf", X, y)
    rough = SMO().solve(problem)
    assert problem.space.dtype == np.float32
    assert rough.objective == pytest.approx(exact.objective, rel=1e-4)
    assert rough.certificate.value <= 1e-3


def test_features_give_what_their_kernel_gives():
    X, y = noisy(200)
    cost = np.ones(len(y))
    gram = SMO(tol=1e-7).solve(Problem(Gram(Kernel("linear"), X), y, cost, Hinge()))
    features = SMO(tol=1e-7).solve(Problem(Features(X), y, cost, Hinge()))
    assert features.objective == pytest.approx(gram.objective, rel=1e-9)
    np.testing.assert_allclose(features.coef, X.T @ gram.coef, atol=1e-9)


def test_small_problems_are_polished_to_the_last_digit():
    X, y = noisy(60)
    solution = SMO(tol=1e-3).solve(problem_of("rbf", X, y))
    assert solution.certificate.value < 1e-12
    assert abs(solution.certificate.gap) < 1e-10


@pytest.mark.parametrize("name", ["best_partner", "add_and_find_top", "find_top", "all_slopes", "pair_steps"])
def test_compiled_equals_python(name):
    rng = np.random.default_rng(0)
    m, k = 300, 1
    A = rng.standard_normal((m + k, 4))
    G = A @ A.T
    K, V = np.ascontiguousarray(G[:m, :m]), np.ascontiguousarray(G[m:])
    a = rng.uniform(-1, 1, m + k)
    pieces = (np.full(m + k, -1.0), rng.uniform(-1, 1, m + k), np.full(m + k, 1.0), np.ones(m + k), -np.ones(m + k))
    results = []
    for function in (getattr(pairs, name), getattr(pairs, name).py_func):
        state = {"a": a.copy(), "f": G @ a, "up": np.zeros(m + k), "down": np.zeros(m + k)}
        if name != "all_slopes":
            pairs.all_slopes(state["a"], *pieces, state["up"], state["down"])
        s = state
        answer = {
            "best_partner": lambda f, s=s: f(K[3], V[:, 3], G.diagonal().copy(), s["f"], s["down"], 3, 1.5),
            "add_and_find_top": lambda f, s=s: f(K[3], K[5], V[:, 3], V[:, 5], 0.1, s["f"], s["up"]),
            "find_top": lambda f, s=s: f(s["f"], s["up"]),
            "all_slopes": lambda f, s=s: f(s["a"], *pieces, s["up"], s["down"]),
            "pair_steps": lambda f, s=s: f(
                K,
                np.arange(m),
                V,
                G.diagonal().copy(),
                np.zeros(m + k),
                pieces,
                s["a"],
                s["f"],
                s["up"],
                s["down"],
                1e-3,
                50,
            ),
        }[name](function)
        results.append((answer, state))
    (fast, after_fast), (slow, after_slow) = results
    if name != "all_slopes":
        np.testing.assert_allclose(fast, slow, rtol=1e-10)
    for key in after_fast:
        np.testing.assert_allclose(after_fast[key], after_slow[key], rtol=1e-8, atol=1e-10)


def test_max_iter_says_how_far_it_is_and_leaves_a_usable_machine():
    X, y = noisy(300)
    with pytest.warns(ConvergenceWarning, match="max_iter=5 reached, violation .* usable"):
        machine = SVM(max_iter=5, unlabeled=None).fit(X, y)
    assert not machine.converged_
    assert machine.certificate_.value > machine.tol
    assert np.isfinite(machine.decision_function(X)).all()


def test_max_time_stops_between_rounds():
    X, y = noisy(3000, flip=0.3)
    with pytest.warns(ConvergenceWarning, match="max_time=1e-09"):
        machine = SVM(max_time=1e-9, unlabeled=None).fit(X, y)
    assert np.isfinite(machine.objective_)


def test_ctrl_c_keeps_what_was_reached(monkeypatch):
    X, y = noisy(1500, flip=0.3)
    calls = []

    def interrupted(*args):
        if calls:
            raise KeyboardInterrupt
        calls.append(1)
        return pairs.pair_steps(*args)

    monkeypatch.setattr(smo, "pair_steps", interrupted)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        machine = SVM(C=100.0, unlabeled=None, tol=1e-9).fit(X, y)
    assert calls
    assert machine.score(X, y) > 0.5
    assert machine.objective_ == pytest.approx(
        objective(
            Problem(Gram(Kernel("rbf", machine.gamma_), X), y, np.full(len(y), 100.0), Hinge()),
            _dense(machine, len(y)),
            machine.intercept_[0],
        )
    )


def _dense(machine, n):
    coef = np.zeros(n)
    coef[machine.support_] = machine.dual_coef_[0]
    return coef


def test_shut_boxes_stay_shut():
    X, y = noisy(50)
    problem = problem_of("rbf", X, y)
    dual = formulate(problem)._replace(lo=np.zeros(50), hi=np.zeros(50))
    point = smo.solve_dual(dual)
    assert point.n_iter == 0
    assert not point.a.any()
