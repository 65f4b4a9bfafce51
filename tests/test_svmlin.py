"""Finite Newton and the two searches of SVMlin, against interior points, brute force and their own promises."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logit
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from judges import minimise_qp
from semisvm import SVM, AnnealingTSVM, ContinuationTSVM, GradientTSVM, MultiSwitchTSVM
from semisvm.balance import Count, Free, Mean
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.kernels import Kernel
from semisvm.losses import Gaussian, SquaredHinge, SymmetricSquaredHinge
from semisvm.problem import Problem, imbalance, objective
from semisvm.solvers import SMO, Annealing, FiniteNewton, GradientPath, MultiSwitch, newton
from semisvm.solvers import together as side_by_side
from semisvm.solvers.annealing import Cooling, divergence, entropy, soft_labels
from semisvm.solvers.label_search import labels_by_score, labels_in_band, limits_of
from semisvm.solvers.multi_switch import Switching
from semisvm.solvers.newton import Costs, Point, exact_step, minimise, slopes_of
from semisvm.solvers.plane import Plane
from semisvm.spaces import Features, Gram

INTERCEPTS = [True, False, "regularised"]
MODES = [(Free(), True), (Free(), False), (Free(), "regularised"), (Mean(0.2), True), (Mean(-0.4), "regularised")]
SEARCHES = [MultiSwitch, Annealing]
SOLVERS = [FiniteNewton, MultiSwitch, Annealing]
MACHINES = [MultiSwitchTSVM, AnnealingTSVM]
KEYS = {"step", "objective", "level", "changed", "violation"}

every_mode = pytest.mark.parametrize("balance, intercept", MODES, ids=str)
every_search = pytest.mark.parametrize("search", SEARCHES)
every_solver = pytest.mark.parametrize("solver", SOLVERS)
every_machine = pytest.mark.parametrize("cls", MACHINES)
thin_or_not = pytest.mark.parametrize("thin", [False, True], ids=["dense", "csr"])


# ------------------------------------------------------------------------------------------- problems and judges


def rows(n=40, d=4, seed=0, thin=False):
    X = np.random.default_rng(seed).standard_normal((n, d)) + 0.3
    X[np.abs(X) < 0.3] = 0.0
    return sparse.csr_array(X) if thin else X


def dense(problem):
    X = problem.space.X
    return X.toarray() if sparse.issparse(X) else X


def partly(seed=0, n=40, balance=Free(), intercept=True, thin=False, cost=1.0, star=0.5, few=10, **other):  # noqa: B008
    """A problem with unlabeled rows, whose costs differ from row to row."""
    rng = np.random.default_rng(seed)
    X = rows(n, seed=seed, thin=thin)
    signs = np.zeros(n)
    signs[:few] = np.where(np.arange(few) % 3 == 0, -1.0, 1.0) * rng.choice([-1.0, 1.0])
    costs = np.where(signs != 0, cost, star) * rng.uniform(0.5, 1.5, n)
    return Problem(Features(X), signs, costs, SquaredHinge(), SymmetricSquaredHinge(), balance, intercept, **other)


def even(seed=0, n=40, balance=Count(0.4), cost=1.0, star=0.5, **other):  # noqa: B008
    """The same with one cost for all unlabeled rows, as an estimator states it."""
    problem = partly(seed, n, balance, **other)
    return problem._replace(cost=np.where(problem.is_labeled, cost, star))


def apart(u=8, seed=0, balance=Count(0.5)):  # noqa: B008
    """Two clusters with a wide gap, and a label in each; u rows without."""
    rng = np.random.default_rng(seed)
    signs = np.r_[1.0, -1.0, np.zeros(u)]
    truth = np.r_[1.0, -1.0, np.where(np.arange(u) < u // 2, 1.0, -1.0)]
    X = np.column_stack([2.0 * truth, np.zeros(u + 2)]) + 0.3 * rng.standard_normal((u + 2, 2))
    cost = np.where(signs != 0, 1.0, 0.5)
    return Problem(Features(X), signs, cost, SquaredHinge(), SymmetricSquaredHinge(), balance), truth


def soft_costs(n, k, seed=0):
    """Costs of both sides at most rows, of one or none at the others."""
    rng = np.random.default_rng(seed)
    up, down = rng.uniform(0.05, 1.5, (n, k)), rng.uniform(0.05, 1.5, (n, k))
    up[rng.random((n, k)) < 0.3] = 0.0
    down[rng.random((n, k)) < 0.3] = 0.0
    return Costs(up, down)


def hinges(f, up, down):
    return up @ np.maximum(1.0 - f, 0.0) ** 2 + down @ np.maximum(1.0 + f, 0.0) ** 2


def value_at(X, up, down, w, b, intercept):
    return 0.5 * w @ w + (0.5 * b * b if intercept == "regularised" else 0.0) + hinges(X @ w + b, up, down)


def interior_point(problem, up, down):
    """w and b of the smallest value, by a method that shares nothing with the solvers."""
    X = dense(problem)
    d, sides = X.shape[1], np.r_[np.ones((up > 0).sum()), -np.ones((down > 0).sum())]
    A = sides[:, None] * np.hstack([np.vstack([X[up > 0], X[down > 0]]), np.ones((len(sides), 1))])
    norm = np.r_[np.ones(d), 1.0 if problem.intercept == "regularised" else 0.0]
    P = np.diag(np.r_[norm, 2.0 * up[up > 0], 2.0 * down[down > 0]])
    below = (np.hstack([-A, -np.eye(len(sides))]), -np.ones(len(sides)))
    equal = None
    if isinstance(problem.balance, Mean):
        equal = (np.r_[problem.shares() @ X, 1.0, np.zeros(len(sides))], problem.balance.m)
    elif problem.intercept is False:
        equal = (np.r_[np.zeros(d), 1.0, np.zeros(len(sides))], 0.0)
    x, _ = minimise_qp(P, np.zeros(len(P)), equal, below)
    return x[:d], x[d]


def zero(plane, k):
    theta = np.zeros((plane.size, k))
    return Point(theta, np.broadcast_to(plane.split(theta)[1], (plane.table.n, k)).copy(), None)


def minimised(problems, costs, tol=1e-10):
    plane = Plane(problems)
    k = len(problems)
    return plane, minimise(plane, costs, zero(plane, k), np.full(k, tol), lambda: False)


def gradient_at(problem, up, down, w, b):
    """The gradient by what is free to move: w and b, w alone, or w with b such that the mean stays."""
    X = dense(problem)
    f = X @ w + b
    pull = 2.0 * (down * np.maximum(1.0 + f, 0.0) - up * np.maximum(1.0 - f, 0.0))
    by_w, by_b = w + X.T @ pull, pull.sum() + (b if problem.intercept == "regularised" else 0.0)
    if isinstance(problem.balance, Mean):
        return by_w - problem.shares() @ X * by_b
    return by_w if problem.intercept is False else np.append(by_w, by_b)


def violation_at(problem, up, down, w, b):
    """The size of that gradient, beside that of the losses at w = 0 and of the point itself."""
    start = problem.balance.m if isinstance(problem.balance, Mean) else 0.0
    plain = problem._replace(intercept=problem.intercept and True)  # the losses alone
    at_zero = np.linalg.norm(gradient_at(plain, up, down, 0.0 * w, start))
    extra = problem.intercept is not False and not isinstance(problem.balance, Mean)
    point = np.append(w, b) if extra else w
    return np.linalg.norm(gradient_at(problem, up, down, w, b)) / (at_zero + np.linalg.norm(point))


def labelings(problem):
    """All labels of the unlabeled rows that keep the balance."""
    free = np.flatnonzero(~problem.is_labeled)
    low, high = limits_of(problem.balance, np.ones(len(free)))
    for signs in itertools.product((-1.0, 1.0), repeat=len(free)):
        if low <= signs.count(1.0) <= high:
            y = problem.signs.copy()
            y[free] = signs
            yield y


def enumerated(problem):
    """Objective and labels of the best labeling."""
    every = list(labelings(problem))
    fixed = [problem._replace(signs=y, unlabeled=None, balance=Free()) for y in every]
    values = [solution.objective for solution in FiniteNewton().solve_all(fixed, [None] * len(fixed))]
    return min(values), every[int(np.argmin(values))]


def cheapest(problem, f):
    """The least that unlabeled rows can pay at f with labels that keep the balance."""
    free = ~problem.is_labeled
    return min(problem.cost[free] @ np.maximum(1.0 - y[free] * f[free], 0.0) ** 2 for y in labelings(problem))


def paid(problem, f, y):
    free = ~problem.is_labeled
    return problem.cost[free] @ np.maximum(1.0 - y[free] * f[free], 0.0) ** 2


def left_by_a_pair(problem, f, y):
    """How much lower the losses would be if a positive and a negative unlabeled row changed places."""
    free = ~problem.is_labeled
    f, y, cost = f[free], y[free], problem.cost[free]
    gain = cost * (np.maximum(1.0 - y * f, 0.0) ** 2 - np.maximum(1.0 + y * f, 0.0) ** 2)
    return gain[y > 0].max(initial=-np.inf) + gain[y < 0].max(initial=-np.inf)


def positives(problem, labels):
    return int((labels[~problem.is_labeled] > 0).sum())


class Told:
    """What a search was told and what it made of it, solve by solve."""

    def __init__(self, search, ask, level, before, b, norm2, f):
        self.ask, self.level, self.b, self.norm2, self.f = ask, level, b, norm2, f.copy()
        self.before, self.labels, self.after = before, search.labels.copy(), search.level
        self.p = search.p.copy() if isinstance(search, Cooling) and len(search.free) else None
        self.hard = getattr(search, "hard", False)
        self.next = search.ask

    def value(self, problem, costs):
        half = 0.5 * self.norm2 + (0.5 * self.b**2 if problem.intercept == "regularised" else 0.0)
        return half + hinges(self.f, costs.up[:, 0], costs.down[:, 0])


@pytest.fixture
def watch(monkeypatch):
    """Solve a problem and return the solution with the steps of its search."""

    def go(solver, problem):
        seen = []
        original = side_by_side.Search.told

        def told(self, theta, b, norm2, f, violation):
            ask, level, before = self.ask, self.level, self.labels.copy()
            original(self, theta, b, norm2, f, violation)
            seen.append(Told(self, ask, level, before, b, norm2, f))

        with monkeypatch.context() as patch:
            patch.setattr(side_by_side.Search, "told", told)
            solution = solver.solve(problem)
        return solution, seen

    return go


# ------------------------------------------------------------------------------------------- derivatives


@every_mode
@thin_or_not
def test_hessian_products_and_their_diagonal_are_those_of_the_explicit_matrix(balance, intercept, thin):
    balances = [balance._replace(m=m) if balance else balance for m in (0.2, -0.3, 0.0, 0.5, 0.1)]
    problems = [partly(0, 40, own, intercept, thin) for own in balances]
    problems[1] = problems[1]._replace(weights=np.linspace(0.0, 2.0, 40))
    problems[2] = problems[2]._replace(signs=np.roll(problems[2].signs, 7))
    plane, rng = Plane(problems), np.random.default_rng(1)
    v, bend = rng.standard_normal((plane.size, 5)), rng.uniform(0.0, 2.0, (40, 5)) * (rng.random((40, 5)) < 0.6)
    bend[:, 3] *= 1e-3
    pull = rng.standard_normal((40, 5))
    for k, problem in enumerate(problems):
        X, mean = dense(problem), problem.shares() @ dense(problem)
        if balance:
            A, N = X - mean, np.eye(4) + (np.outer(mean, mean) if intercept == "regularised" else 0.0)
        else:
            A = X if intercept is False else np.hstack([X, np.ones((40, 1))])
            N = np.diag(np.r_[np.ones(4), [] if intercept is False else float(intercept == "regularised")])
        H = N + (A.T * bend[:, k]) @ A
        np.testing.assert_allclose(plane.curved(v, bend)[:, k], H @ v[:, k], rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(plane.diagonal(bend)[:, k], np.diag(H), rtol=1e-11)
        np.testing.assert_allclose(plane.product(v)[:, k], A @ v[:, k], atol=1e-12)
        np.testing.assert_allclose(plane.adjoint(pull)[:, k], A.T @ pull[:, k], atol=1e-12)
        offset = problem.balance.m if balance else 0.0
        np.testing.assert_allclose(plane.scores(v)[:, k], A @ v[:, k] + offset, atol=1e-12)
        alone = Plane(problem)
        np.testing.assert_allclose(alone.curved(v[:, k], bend[:, k]), H @ v[:, k], rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(alone.diagonal(bend[:, k]), np.diag(H), rtol=1e-11)
    some = plane.take(np.array([3, 1]))
    np.testing.assert_allclose(some.curved(v[:, [3, 1]], bend[:, [3, 1]]), plane.curved(v, bend)[:, [3, 1]], rtol=1e-12)
    np.testing.assert_allclose(some.scores(v[:, [3, 1]]), plane.scores(v)[:, [3, 1]], rtol=1e-12)


@every_mode
def test_slopes_are_finite_differences(balance, intercept):
    problems = [partly(0, 40, balance._replace(m=m) if balance else balance, intercept) for m in (0.2, -0.3)]
    plane, costs, rng = Plane(problems), soft_costs(40, 2), np.random.default_rng(2)
    theta, step = 0.6 * rng.standard_normal((plane.size, 2)), 1e-6

    def value(theta):
        f = plane.scores(theta)
        losses = costs.up * np.maximum(1.0 - f, 0.0) ** 2 + costs.down * np.maximum(1.0 + f, 0.0) ** 2
        return plane.half_norm2(theta) + losses.sum(axis=0)

    def slope(theta):
        return plane.norm_slope(theta) + plane.adjoint(slopes_of(plane.scores(theta), costs)[0])

    for k, problem in enumerate(problems):
        w, b = plane.split(theta)
        b = b[k] if np.ndim(b) else b
        expected = value_at(dense(problem), costs.up[:, k], costs.down[:, k], w[:, k], b, intercept)
        assert value(theta)[k] == pytest.approx(expected, rel=1e-12)
    for v in rng.standard_normal((5, plane.size, 2)):
        by_value = (value(theta + step * v) - value(theta - step * v)) / (2 * step)
        np.testing.assert_allclose((slope(theta) * v).sum(axis=0), by_value, rtol=1e-6, atol=1e-6)
        by_slope = (slope(theta + step * v) - slope(theta - step * v)) / (2 * step)
        product = plane.curved(v, slopes_of(plane.scores(theta), costs)[1])
        np.testing.assert_allclose(product, by_slope, rtol=1e-5, atol=1e-5)


def test_slopes_of_losses_are_those_of_the_formula():
    f = np.array([[-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0]]).T
    costs = Costs(np.full_like(f, 2.0), np.full_like(f, 3.0))
    slope, bend = (part[:, 0] for part in slopes_of(f, costs))
    np.testing.assert_allclose(slope, [-16.0, -8.0, -3.0, 2.0, 7.0, 12.0, 24.0])
    np.testing.assert_allclose(bend, [4.0, 4.0, 10.0, 10.0, 10.0, 6.0, 6.0])


# ------------------------------------------------------------------------------------------- the step


def root_by_pieces(f, z, up, down, start, rise):
    """The zero of the slope, found on its piece; and the number of corners before it."""

    def slope(t):
        g = f + t * z
        return start + rise * t + 2.0 * z @ (down * np.maximum(1.0 + g, 0.0) - up * np.maximum(1.0 - g, 0.0))

    with np.errstate(divide="ignore", invalid="ignore"):
        corners = np.concatenate([(1.0 - f) / z, (-1.0 - f) / z])
    corners = np.r_[0.0, np.sort(corners[np.isfinite(corners) & (corners > 0)])]
    before = int(np.searchsorted([slope(t) >= 0 for t in corners], True)) - 1
    low = corners[before]
    high = corners[before + 1] if before + 1 < len(corners) else low + 1.0
    return low + (high - low) * -slope(low) / (slope(high) - slope(low)), before


def test_the_step_goes_where_the_slope_is_zero_however_many_corners_lie_before():
    rng, before, sizes = np.random.default_rng(3), [], []
    for case in range(600):
        n = int(rng.integers(1, 25))
        f, z = 2.0 * rng.standard_normal(n), rng.standard_normal(n) * 10.0 ** rng.uniform(-1.5, 1.5)
        z[rng.random(n) < 0.2] = 0.0
        up, down = soft_costs(n, 1, seed=case)
        up, down = up[:, 0], down[:, 0]
        rise = 10.0 ** rng.uniform(-2, 2)
        first = 2.0 * z @ (down * np.maximum(1.0 + f, 0.0) - up * np.maximum(1.0 - f, 0.0))
        start = -first - 10.0 ** rng.uniform(-1, 3)  # so that the way leads down
        wanted, corners = root_by_pieces(f, z, up, down, start, rise)
        assert exact_step(f, z, up, down, start, rise) == pytest.approx(wanted, rel=1e-9)
        before.append(corners)
        sizes.append(wanted)
    assert np.sum(np.array(before) >= 4) > 50
    assert min(before) == 0
    assert np.sum(np.array(sizes) > 3.0) > 50
    assert np.sum(np.array(sizes) < 0.3) > 50


def test_the_step_crosses_a_stretch_without_curvature():
    f, z, up, down = np.array([-10.0]), np.array([0.1]), np.array([0.0]), np.array([1.0])
    assert exact_step(f, z, up, down, -0.01, 0.0) == pytest.approx(90.5, rel=1e-12)
    assert exact_step(f, np.array([1e6]), up, down, -0.01, 0.0) == pytest.approx(9e-6, rel=1e-6)


def test_the_step_is_the_minimum_of_the_objective_along_a_direction():
    problem, costs, rng = partly(), soft_costs(40, 1), np.random.default_rng(4)
    plane = Plane(problem)
    for _ in range(20):
        theta, step = rng.standard_normal((2, plane.size))
        f, z = plane.scores(theta), plane.product(step)
        along = plane.norm_slope(theta) + plane.adjoint(slopes_of(f[:, None], costs)[0][:, 0])
        step *= -np.sign(along @ step)
        z = plane.product(step)
        t = exact_step(
            f, z, costs.up[:, 0], costs.down[:, 0], step @ plane.norm_slope(theta), step @ plane.norm_product(step)
        )

        def value(t, theta=theta, step=step):
            w, b = plane.split(theta + t * step)
            return value_at(dense(problem), costs.up[:, 0], costs.down[:, 0], w, b, True)

        assert value(t) <= min(value(s) for s in np.linspace(0.0, 3.0 * t, 301)) + 1e-12


# ------------------------------------------------------------------------------------------- a solve


@every_mode
@thin_or_not
def test_soft_labels_end_where_an_interior_point_does(balance, intercept, thin):
    problems = [partly(seed, 40, balance, intercept, thin) for seed in (0,) * 5]
    costs = soft_costs(40, 5)
    plane, point = minimised(problems, costs)
    w, b = plane.split(point.theta)
    b = np.broadcast_to(b, 5)
    for k, problem in enumerate(problems):
        up, down = costs.up[:, k], costs.down[:, k]
        x, c = interior_point(problem, up, down)
        np.testing.assert_allclose(w[:, k], x, atol=1e-6)
        assert b[k] == pytest.approx(c, abs=1e-6)
        X = dense(problem)
        found, wanted = (value_at(X, up, down, *at, intercept) for at in ((w[:, k], b[k]), (x, c)))
        assert found <= wanted + 1e-9
        assert violation_at(problem, up, down, w[:, k], b[k]) <= 2e-10
        np.testing.assert_allclose(point.f[:, k], X @ w[:, k] + b[k], atol=1e-10)


@every_mode
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-4])
def test_a_solve_ends_at_the_violation_that_was_asked_for_and_tells_it(balance, intercept, tol):
    problem, costs = partly(1, 40, balance, intercept), soft_costs(40, 1, seed=5)
    plane, point = minimised([problem], costs, tol)
    w, b = plane.split(point.theta)
    b = b[0] if np.ndim(b) else b
    measured = violation_at(problem, costs.up[:, 0], costs.down[:, 0], w[:, 0], b)
    assert measured <= tol * (1 + 1e-9)
    assert point.violation[0] == pytest.approx(measured, rel=1e-5, abs=1e-13)
    if tol == 0.3:  # as far as was asked, no farther
        assert measured > 1e-8


def test_a_hard_solve_is_that_of_quasi_newton_steps():
    problem, costs = partly(2), soft_costs(40, 1, seed=2)
    up, down = costs.up[:, 0], costs.down[:, 0]
    _, point = minimised([problem], costs)

    def value(x):
        return value_at(dense(problem), up, down, x[:-1], x[-1], True)

    found = minimize(value, np.zeros(5), jac=lambda x: gradient_at(problem, up, down, x[:-1], x[-1]), tol=1e-12)
    np.testing.assert_allclose(point.theta[:, 0], found.x, atol=1e-6)


def test_no_step_is_made_when_time_is_over():
    problem, costs = partly(2), soft_costs(40, 1, seed=2)
    plane = Plane([problem])
    for steps in (0, 1, 2):
        answers = iter([False] * steps + [True])
        point = minimise(plane, costs, zero(plane, 1), np.array([1e-12]), lambda answers=answers: next(answers))
        assert next(answers, "asked no more") == "asked no more"
        w, b = point.theta[:-1, 0], point.theta[-1, 0]
        measured = violation_at(problem, costs.up[:, 0], costs.down[:, 0], w, b)
        assert point.violation[0] == pytest.approx(measured, rel=1e-6)
        assert point.theta.any() == (steps > 0)


def test_few_steps_of_conjugate_gradients_end_at_the_same_place(monkeypatch):
    problems, costs = [partly(2), partly(2)], soft_costs(40, 2, seed=2)
    _, wanted = minimised(problems, costs)
    monkeypatch.setattr(newton, "CG_STEPS", 2)
    _, found = minimised(problems, costs)
    np.testing.assert_allclose(found.theta, wanted.theta, atol=1e-7)


def test_columns_without_correlation_take_one_step_of_conjugate_gradients(monkeypatch):
    X = np.repeat(np.diag([1e-3, 1.0, 50.0, 2e3]), 2, axis=0)
    problem = Problem(Features(X), np.tile([1.0, -1.0], 4), np.ones(8), SquaredHinge(), None, Free(), False)
    costs = soft_costs(8, 2, seed=1)
    monkeypatch.setattr(newton, "CG_STEPS", 1)
    monkeypatch.setattr(newton, "NEWTON_STEPS", 20)
    _, point = minimised([problem] * 2, costs)
    for k in range(2):
        w, _ = interior_point(problem, costs.up[:, k], costs.down[:, k])
        np.testing.assert_allclose(X @ point.theta[:, k], X @ w, atol=1e-6)
    assert (point.violation <= 1e-10).all()


def test_a_solve_may_begin_where_no_row_has_a_loss():
    X = np.array([[2.0, 0.3], [1.0, -0.2], [-1.0, 0.1], [-1.5, 0.4]])
    problem = Problem(Features(X), np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4), SquaredHinge())
    plane, costs = Plane([problem]), Costs(np.eye(2)[[0, 0, 1, 1]][:, :1], np.eye(2)[[0, 0, 1, 1]][:, 1:])
    theta = np.array([[30.0], [0.0], [0.0]])
    point = minimise(plane, costs, Point(theta, plane.scores(theta), None), np.array([1e-10]), lambda: False)
    w, b = interior_point(problem, costs.up[:, 0], costs.down[:, 0])
    np.testing.assert_allclose(point.theta[:, 0], [*w, b], atol=1e-7)


def test_a_pull_that_is_but_rounding_is_no_reason_to_go_on():
    rng = np.random.default_rng(0)
    X = rng.permutation(np.repeat(rng.standard_normal((30, 4)), 2, axis=0))
    signs = np.zeros(60)
    for row in X:  # of two rows alike one is positive and one negative
        signs[np.flatnonzero((row == X).all(axis=1))] = [1.0, -1.0]
    problem = Problem(Features(sparse.csr_array(X)), signs, np.ones(60), SquaredHinge(), None, Free(), False)
    assert 0.0 < np.abs(Plane(problem).adjoint(2.0 * signs)).max() < 1e-13
    solution = FiniteNewton().solve(problem)
    np.testing.assert_allclose(solution.coef, 0.0, atol=1e-14)
    assert solution.status == "converged"
    assert solution.trace[0]["violation"] <= 1e-3


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_liblinear_finds_the_same_machine(C):
    X, y = make_two_gaussians(60, 5, 0.7, random_state=0)
    signs = 2.0 * y - 3.0
    for intercept in (False, "regularised"):
        problem = Problem(Features(X), signs, np.full(60, C), SquaredHinge(), None, Free(), intercept)
        solution = FiniteNewton().solve(problem)
        other = LinearSVC(
            C=C, loss="squared_hinge", dual=False, tol=1e-10, max_iter=10_000, fit_intercept=bool(intercept)
        )
        other.fit(X, y)
        np.testing.assert_allclose(solution.coef, other.coef_[0], atol=1e-5)
        assert solution.intercept == pytest.approx(np.ravel(other.intercept_)[0] if intercept else 0.0, abs=1e-5)


@every_mode
@thin_or_not
def test_the_supervised_machine_is_that_of_smo_and_of_its_dual(balance, intercept, thin):
    problem = partly(3, 40, balance, intercept, thin)._replace(unlabeled=None)
    solution, other = FiniteNewton().solve(problem), SMO(1e-10).solve(problem)
    np.testing.assert_allclose(solution.coef, other.coef, atol=1e-7)
    assert solution.intercept == pytest.approx(other.intercept, abs=1e-7)
    assert solution.objective == pytest.approx(objective(problem, solution.coef, solution.intercept), rel=1e-12)
    np.testing.assert_allclose(solution.coef, dense(problem).T @ solution.dual, atol=1e-9)
    np.testing.assert_allclose(solution.multipliers, other.multipliers, atol=1e-6)
    np.testing.assert_allclose(solution.scores, dense(problem) @ solution.coef + solution.intercept, atol=1e-12)
    assert solution.certificate.kind == "kkt"
    assert solution.certificate.value <= 1e-9
    assert solution.status == "converged"
    if balance:
        assert problem.shares() @ solution.scores == pytest.approx(balance.m, abs=1e-10)


def test_a_mean_and_a_regularised_intercept_agree_in_the_dual_of_the_smooth_path_too():
    problem = partly(3, 40, Mean(0.2), "regularised")
    solution = GradientPath(1e-8).solve(problem._replace(unlabeled=Gaussian()))
    np.testing.assert_allclose(solution.coef, dense(problem).T @ solution.dual, atol=1e-6)


def test_a_mean_of_weighted_rows_is_that_of_an_interior_point():
    problem = partly(4, 40, Mean(0.3), weights=np.linspace(0.0, 2.0, 40))._replace(unlabeled=None)
    solution = FiniteNewton().solve(problem)
    assert problem.shares() @ solution.scores == pytest.approx(0.3, abs=1e-12)
    up, down = (np.where(problem.signs == side, problem.cost, 0.0) for side in (1.0, -1.0))
    x, c = interior_point(problem, up, down)
    np.testing.assert_allclose(np.append(solution.coef, solution.intercept), np.append(x, c), atol=1e-6)


def test_a_mean_of_no_rows_asks_for_nothing():
    problem = partly(4, 40, Mean(0.3), few=40)._replace(unlabeled=None)
    solution, other = (FiniteNewton().solve(problem._replace(balance=balance)) for balance in (Mean(0.3), Free()))
    np.testing.assert_array_equal(solution.coef, other.coef)
    assert solution.intercept == other.intercept


@thin_or_not
def test_a_mean_is_a_table_that_was_centred_before(thin):
    problem = partly(5, 40, Mean(0.0), thin=thin)._replace(unlabeled=None)
    solution = FiniteNewton().solve(problem)
    centred = dense(problem) - problem.shares() @ dense(problem)
    other = FiniteNewton().solve(problem._replace(space=Features(centred), balance=Free(), intercept=False))
    np.testing.assert_allclose(solution.coef, other.coef, atol=1e-8)
    np.testing.assert_allclose(solution.scores, other.scores, atol=1e-8)


@every_solver
def test_a_sparse_table_is_never_made_dense(solver, monkeypatch):
    balance = Mean(0.1) if solver is FiniteNewton else Count(0.4)
    unlabeled = None if solver is FiniteNewton else SymmetricSquaredHinge()
    thin, full = (partly(6, 40, balance, thin=thin)._replace(unlabeled=unlabeled) for thin in (True, False))
    wanted = solver().solve(full)

    def refuse(*args, **kwargs):
        raise AssertionError("made dense")

    for name in ("toarray", "todense"):
        monkeypatch.setattr(sparse.csr_array, name, refuse)
    found = solver().solve(thin)
    np.testing.assert_allclose(found.coef, wanted.coef, atol=1e-7)
    np.testing.assert_array_equal(found.labels, wanted.labels)


def test_single_precision_rows_make_the_same_machine():
    for thin in (False, True):
        problem = partly(7, thin=thin)._replace(unlabeled=None)
        X = problem.space.X.astype(np.float32)
        short = FiniteNewton().solve(problem._replace(space=Features(X)))
        long = FiniteNewton().solve(problem._replace(space=Features(X.astype(np.float64))))
        np.testing.assert_allclose(short.coef, long.coef, atol=1e-9)
        assert short.coef.dtype == np.float64


def test_a_kernel_goes_to_smo():
    problem = partly(8)._replace(unlabeled=None)
    kernel = FiniteNewton(1e-8).solve(problem._replace(space=Gram(Kernel("linear"), dense(problem))))
    np.testing.assert_allclose(kernel.scores, FiniteNewton().solve(problem).scores, atol=1e-6)
    for search in (MultiSwitch(1e-8), Annealing(1e-8)):
        full = problem._replace(space=Gram(Kernel("linear"), dense(problem)), unlabeled=SymmetricSquaredHinge())
        full = full._replace(cost=np.where(problem.is_labeled, problem.cost, 0.0))
        np.testing.assert_allclose(search.solve(full).scores, kernel.scores, atol=1e-6)


# ------------------------------------------------------------------------------------------- side by side


@every_mode
@thin_or_not
def test_columns_together_are_columns_alone(balance, intercept, thin):
    balances = [balance._replace(m=m) if balance else balance for m in (0.2, -0.3, 0.0, 0.5, 0.1)]
    problems = [partly(0, 40, own, intercept, thin) for own in balances]
    problems[1] = problems[1]._replace(weights=np.linspace(0.0, 2.0, 40))
    up, down = soft_costs(40, 5)
    for part in (up, down):
        part[5:15, 1] = 0.0
        part *= np.array([1.0, 0.1, 100.0, 1e-3, 3.0])
        part[:, 4] = 0.0
    tol = np.array([1e-10, 1e-2, 1e-9, 1e-6, 1e-8])
    plane = Plane(problems)
    all_ = minimise(plane, Costs(up, down), zero(plane, 5), tol, lambda: False)
    assert (all_.violation <= tol).all()
    for k, problem in enumerate(problems):
        own = Plane([problem])
        costs = Costs(up[:, [k]].copy(), down[:, [k]].copy())
        one = minimise(own, costs, zero(own, 1), tol[[k]], lambda: False)
        np.testing.assert_allclose(all_.theta[:, k], one.theta[:, 0], rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(all_.f[:, k], one.f[:, 0], rtol=1e-7, atol=1e-8)
    if not balance:
        assert not all_.theta[:, 4].any()  # nothing pulls


def apart_from_each_other(solver, thin=False, intercept=True):
    """Five problems on one table: other signs, costs, balances, and rows that take no part."""
    base = partly(0, 40, thin=thin, intercept=intercept)
    problems = []
    for k, r in enumerate((0.3, 0.5, 0.42, 0.7, 0.6)):
        rng = np.random.default_rng(10 + k)
        signs = np.zeros(40)
        known = rng.permutation(40)[: 6 + k]
        signs[known] = np.where(np.arange(6 + k) % 2 == 0, 1.0, -1.0)
        weights = np.ones(40)
        if k in (1, 3):
            gone = rng.permutation(40)[:9]
            signs[gone], weights[gone] = 0.0, 0.0
        cost = weights * np.where(signs != 0, 10.0 ** (k - 2), 0.3)
        if solver is FiniteNewton:
            problem = base._replace(unlabeled=None, balance=Mean(2 * r - 1))
        else:
            problem = base._replace(balance=Count(r))
        problems.append(problem._replace(signs=signs, cost=cost, weights=weights))
    return problems


@every_solver
@thin_or_not
def test_problems_together_are_problems_alone(solver, thin):
    problems = apart_from_each_other(solver, thin, "regularised" if thin else True)
    for problem, one in zip(problems, solver().solve_all(problems, [None] * 5)):
        alone = solver().solve(problem)
        np.testing.assert_array_equal(one.labels, alone.labels)
        np.testing.assert_allclose(one.coef, alone.coef, atol=1e-7)
        np.testing.assert_allclose(one.dual, alone.dual, atol=1e-6)
        assert one.intercept == pytest.approx(alone.intercept, abs=1e-7)
        assert one.objective == pytest.approx(alone.objective, rel=1e-9)
        assert one.status == alone.status == "converged"
        assert [row["level"] for row in one.trace] == [row["level"] for row in alone.trace]
        assert [row["changed"] for row in one.trace] == [row["changed"] for row in alone.trace]
        paths = ([row["objective"] for row in found.trace] for found in (one, alone))
        np.testing.assert_allclose(*paths, rtol=1e-6)


@every_solver
def test_rows_that_take_no_part_might_as_well_be_absent(solver):
    for problem in apart_from_each_other(solver):
        part = problem.weights > 0
        less = problem._replace(
            space=Features(dense(problem)[part]), signs=problem.signs[part], cost=problem.cost[part], weights=None
        )
        whole, alone = solver().solve(problem), solver().solve(less)
        np.testing.assert_allclose(whole.coef, alone.coef, atol=1e-7)
        np.testing.assert_array_equal(whole.labels[part], alone.labels)
        np.testing.assert_array_equal(whole.labels[~part], np.where(whole.scores[~part] > 0, 1.0, -1.0))
        assert whole.objective == pytest.approx(alone.objective, rel=1e-9)


@every_search
def test_a_search_without_rows_to_search_is_one_solve(search):
    problem = even(0)
    problem = problem._replace(cost=np.where(problem.is_labeled, 1.0, 0.0))
    wanted, found = FiniteNewton().solve(problem), search().solve(problem)
    np.testing.assert_allclose(found.coef, wanted.coef, atol=1e-12)
    assert [row["violation"] for row in found.trace] == [row["violation"] for row in wanted.trace]
    assert found.certificate.kind == "kkt"


def test_problems_of_different_kinds_are_not_solved_side_by_side():
    free = partly(0)._replace(unlabeled=None)
    for other in (free._replace(balance=Mean(0.1)), free._replace(intercept=False)):
        for pair in ([free, other], [other, free]):
            with pytest.raises(ValueError, match="one kind of balance and of intercept"):
                FiniteNewton().solve_all(pair, [None, None])


# ------------------------------------------------------------------------------------------- soft labels


def energy(p, g, temperature, weight):
    inside = np.clip(p, 1e-300, 1.0 - 1e-16)
    return weight @ (p * g + temperature * (p * np.log(inside) + (1.0 - p) * np.log1p(-inside)))


@pytest.mark.parametrize("temperature", [10.0, 1.0, 1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3, 1e7])
def test_soft_labels_have_the_wanted_mean_and_one_price(temperature, size):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        g = size * rng.standard_normal(int(rng.integers(1, 14)))
        if seed % 3 == 0:
            g = np.r_[g, -g, g[:1], 0.0]
        weight = np.ones(len(g)) if seed % 2 else rng.uniform(0.2, 3.0, len(g))
        share = 0.5 if seed % 5 == 0 else rng.uniform(0.02, 0.98)
        p = soft_labels(g, temperature, share, weight)
        assert ((p >= 0) & (p <= 1)).all()
        assert weight @ p / weight.sum() == pytest.approx(share, abs=1e-9)
        order = np.argsort(g)
        assert (np.diff(p[order]) <= 1e-12).all()
        inside = (p > 1e-6) & (p < 1 - 1e-6)
        price = g[inside] + temperature * logit(p[inside])  # the same for every row at the minimum
        if inside.any():
            assert np.ptp(price) <= 1e-8 * temperature + 1e-15 * np.abs(g).max()
            nu = price.mean()
            assert (g[p <= 1e-6] >= nu + 10 * temperature).all()
            assert (g[p >= 1 - 1e-6] <= nu - 10 * temperature).all()


@pytest.mark.parametrize("temperature", [3.0, 0.5, 0.05])
@pytest.mark.parametrize("share", [None, 0.2, 0.65])
def test_soft_labels_are_the_minimum_that_a_general_method_finds(temperature, share):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        g, weight = rng.standard_normal(5), rng.uniform(0.3, 2.0, 5)
        p = soft_labels(g, temperature, share, weight)
        equal = () if share is None else {"type": "eq", "fun": lambda q, own=weight: own @ q / own.sum() - share}
        found = minimize(
            energy,
            np.full(5, share or 0.5),
            (g, temperature, weight),
            method="SLSQP",
            bounds=[(0.0, 1.0)] * 5,
            constraints=equal,
            options={"ftol": 1e-13, "maxiter": 500},
        )
        assert energy(p, g, temperature, weight) <= found.fun + 1e-9
        np.testing.assert_allclose(p, found.x, atol=2e-3)


def test_soft_labels_at_the_limits():
    g, weight = np.array([3.0, -1.0, 0.5]), np.array([1.0, 2.0, 0.5])
    np.testing.assert_allclose(soft_labels(g, 0.7, None, weight), 1.0 / (1.0 + np.exp(g / 0.7)), rtol=1e-13)
    np.testing.assert_array_equal(soft_labels(g, 0.7, 0.0, weight), np.zeros(3))
    np.testing.assert_array_equal(soft_labels(g, 0.7, 1.0, weight), np.ones(3))
    for alike in (0.0, 2.5, -1e9):
        np.testing.assert_allclose(soft_labels(np.full(3, alike), 1e-5, 0.3, weight), 0.3, rtol=1e-9)
    np.testing.assert_allclose(soft_labels(np.array([4.0]), 0.1, 0.3, np.ones(1)), 0.3, rtol=1e-9)
    np.testing.assert_allclose(soft_labels(np.array([1e12, -1e12]), 1e-5, 0.1, np.ones(2)), [0.0, 0.2], atol=1e-9)
    cold = soft_labels(np.arange(10.0), 1e-5, 0.4, np.ones(10))
    np.testing.assert_allclose(cold, np.arange(10) < 4, atol=1e-9)


def test_divergence_and_entropy_are_their_formulas():
    rng = np.random.default_rng(6)
    p, q, weight = rng.uniform(0.01, 0.99, 7), rng.uniform(0.01, 0.99, 7), rng.uniform(0.2, 2.0, 7)
    kl = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
    bits = -p * np.log2(p) - (1 - p) * np.log2(1 - p)
    assert divergence(p, q, weight) == pytest.approx(weight @ kl / weight.sum(), rel=1e-12)
    assert divergence(p, p, weight) == pytest.approx(0.0, abs=1e-15)
    assert entropy(p, weight) == pytest.approx(weight @ bits / weight.sum(), rel=1e-12)
    assert entropy(np.full(3, 0.5), np.ones(3)) == pytest.approx(1.0)
    hard = np.array([0.0, 1.0, 1.0])
    assert entropy(hard, np.ones(3)) == 0.0
    assert divergence(hard, hard, np.ones(3)) == pytest.approx(0.0, abs=1e-14)
    assert 1.0 < divergence(hard, 1.0 - hard, np.ones(3)) < np.inf


# ------------------------------------------------------------------------------------------- switching


def check_switches(problem, max_switches, solution, seen):
    """Every promise of the method, step by step; returns how many labels changed between two solves at most."""
    free, few = ~problem.is_labeled, 1e-9 * (1.0 + problem.cost.max())
    low, high = limits_of(problem.balance, np.ones(free.sum()))
    most = 0
    assert solution.status == "converged"
    assert seen[-1].level == 1.0
    for now, then in itertools.pairwise(seen):
        assert low <= positives(problem, now.labels) <= high
        turned = np.flatnonzero(now.labels != np.where(free, now.before, problem.signs)) if now.level > 0 else []
        most = max(most, len(turned))
        assert len(turned) <= 2 * max_switches
        if then.level == now.level:
            assert then.value(problem, then.ask.costs) <= now.value(problem, now.ask.costs) * (1 + 1e-12)
        if len(turned):
            assert then.level == now.level
            assert now.value(problem, then.ask.costs) < now.value(problem, now.ask.costs)
        elif now.level > 0:  # a level is left when nothing is to gain
            assert left_by_a_pair(problem, now.f, now.labels) <= few
            assert then.level == pytest.approx(min(1.5 * now.level, 1.0))
        held = then.ask.costs  # labels held: the whole cost of a row is on its side
        np.testing.assert_allclose(held.up[free, 0], then.level * problem.cost[free] * (now.labels[free] > 0))
        np.testing.assert_allclose(held.down[free, 0], then.level * problem.cost[free] * (now.labels[free] < 0))
        np.testing.assert_array_equal(held.up[~free, 0], problem.cost[~free] * (problem.signs[~free] > 0))
    assert left_by_a_pair(problem, solution.scores, solution.labels) <= few
    np.testing.assert_array_equal(solution.labels[~free], problem.signs[~free])
    value = objective(problem, solution.coef, solution.intercept, solution.labels)
    assert solution.objective == pytest.approx(value, rel=1e-12)
    if problem.balance == Free():
        np.testing.assert_array_equal(solution.labels[free], np.where(solution.scores[free] > 0, 1.0, -1.0))
    return most


@pytest.mark.parametrize("max_switches", [1, 10_000])
@pytest.mark.parametrize("balance", [Count(0.4), Count(0.31), Count(0.3, 0.1), Free()], ids=str)
def test_a_level_never_rises_and_the_number_of_positive_rows_stays(balance, max_switches, watch):
    most = 0
    for seed in range(6):
        problem = even(seed, 30, balance, cost=10.0 ** (seed % 3 - 1), star=10.0 ** (seed % 4 - 2), few=5)
        solution, seen = watch(MultiSwitch(max_switches=max_switches), problem)
        most = max(most, check_switches(problem, max_switches, solution, seen))
        assert [told.level for told in seen[:2]] == [0.0, 1e-5]
        assert {told.ask.tol for told in seen if 0.0 < told.level < 1.0} == {1e-2}  # loose on the way
        if balance == Count(0.4):
            assert {positives(problem, told.labels) for told in seen} == {10}
    assert most > 0


class FromRandomLabels(MultiSwitch):
    """Begins at the whole cost with labels that were drawn."""

    def solve_all(self, problems, callbacks):
        (problem,) = problems
        search = Switching(problem, self.tol, self.max_switches)
        u = len(search.free)
        low, high = limits_of(problem.balance, np.ones(u))
        count = int(np.clip(np.ceil(0.4 * u), low, high))
        search.labels[search.free] = np.where(np.random.default_rng(0).permutation(u) < count, 1.0, -1.0)
        search.ask = search._at(1.0)
        return side_by_side.together(problems, [search], self, callbacks)


@pytest.mark.parametrize("max_switches", [1, 3, 10_000])
@pytest.mark.parametrize("balance", [Count(0.4), Count(0.31), Count(0.5, 0.2), Free()], ids=str)
def test_many_rows_change_places_where_the_first_labels_are_bad(balance, max_switches, watch):
    most = 0
    for seed in range(5):
        problem = even(seed, 40, balance, few=8)
        solution, seen = watch(FromRandomLabels(max_switches=max_switches), problem)
        most = max(most, check_switches(problem, max_switches, solution, seen))
    assert most == 2 * max_switches or (max_switches > 3 and most > 8)


def test_few_switches_are_those_that_gain_most():
    problem = even(0, 30, Count(0.4), few=5)
    free = np.flatnonzero(~problem.is_labeled)
    f = np.random.default_rng(0).permutation(np.linspace(-2.0, 2.0, 25))
    search = Switching(problem, 1e-3, 3)
    search.labels = problem.signs.copy()
    search.labels[free] = np.where(np.argsort(np.argsort(f)) < 10, 1.0, -1.0)  # the lowest are called positive
    before = search.labels.copy()
    assert search._switched(f)
    turned = np.flatnonzero(search.labels[free] != before[free])
    np.testing.assert_array_equal(np.sort(f[turned]), np.sort(np.r_[np.sort(f)[:3], np.sort(f)[-3:]]))
    assert positives(problem, search.labels) == 10


@pytest.mark.parametrize("tol, seed", [(0.9, 12), (0.9, 14), (0.5, 1), (0.5, 6), (0.2, 35)])
def test_the_last_switches_are_sought_at_an_exact_machine(tol, seed):
    problem = even(seed, 40, Count(0.4), few=5)
    solution = MultiSwitch(tol).solve(problem)
    assert left_by_a_pair(problem, solution.scores, solution.labels) <= 1e-9


@pytest.mark.parametrize("seed", [2, 8, 10, 11])
def test_a_level_of_weighted_rows_never_rises(seed, watch):
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, 30)
    problem = even(seed, 30, Count(0.4), few=5, weights=weights)
    problem = problem._replace(cost=problem.cost * weights)
    _, seen = watch(MultiSwitch(), problem)
    for now, then in itertools.pairwise(seen):
        if then.level == now.level:
            assert then.value(problem, then.ask.costs) <= now.value(problem, now.ask.costs) * (1 + 1e-12)


def test_labels_by_score_of_an_odd_number_of_rows_go_with_the_signs():
    f = np.array([-0.1, 3.0, 0.5, 2.0, 1.0])
    np.testing.assert_array_equal(labels_by_score(f, np.ones(5), Count(0.5)), [-1.0, 1.0, -1.0, 1.0, 1.0])
    np.testing.assert_array_equal(labels_by_score(-f, np.ones(5), Count(0.5)), [1.0, -1.0, 1.0, -1.0, -1.0])
    np.testing.assert_array_equal(labels_by_score(f, np.ones(5), Count(0.6)), [-1.0, 1.0, -1.0, 1.0, 1.0])
    np.testing.assert_array_equal(labels_by_score(f, np.ones(5), Free()), [-1.0, 1.0, 1.0, 1.0, 1.0])


@pytest.mark.parametrize("balance", [Count(0.5), Count(0.37), Count(0.4, 0.15), Free()], ids=str)
@pytest.mark.parametrize("max_switches", [1, 10_000])
def test_no_labels_that_keep_the_balance_are_cheaper_at_the_end(balance, max_switches):
    for seed in range(6):
        problem = even(seed, 14, balance, star=10.0 ** (seed % 3 - 1), few=5)
        solution = MultiSwitch(max_switches=max_switches).solve(problem)
        f = solution.scores
        assert paid(problem, f, solution.labels) <= cheapest(problem, f) + 1e-9
        up, down = (problem.cost * (solution.labels == side) for side in (1.0, -1.0))
        assert violation_at(problem, up, down, solution.coef, solution.intercept) < 1e-9  # f is best for the labels
        assert solution.certificate.kind == "stationary"
        assert solution.certificate.value < 1e-6


def test_a_slack_is_used_where_it_pays():
    problem, truth = apart(10)  # five and five
    for r, slack, wanted in [(0.3, 0.2, 5), (0.3, 0.1, 4), (0.3, 0.0, 3), (0.8, 0.1, 7), (0.8, 0.3, 5)]:
        solution = MultiSwitch().solve(problem._replace(balance=Count(r, slack)))
        assert positives(problem, solution.labels) == wanted
    np.testing.assert_array_equal(solution.labels, truth)


@every_search
@pytest.mark.parametrize("balance", [Count(0.5), Count(0.25), Free()], ids=str)
def test_no_search_is_below_the_best_labeling(search, balance):
    reached = 0
    for seed in range(4):
        problem = even(seed, 13, balance, star=10.0 ** (seed % 3 - 1), few=5)
        best, _ = enumerated(problem)
        solution = search().solve(problem)
        found = objective(problem, solution.coef, solution.intercept, solution.labels)
        assert found >= best - 1e-8
        reached += found <= best + 1e-6
        assert low_to_high(problem, solution)
    assert reached >= 2


def low_to_high(problem, solution):
    low, high = limits_of(problem.balance, np.ones(np.count_nonzero(~problem.is_labeled)))
    return low <= positives(problem, solution.labels) <= high


@every_search
def test_the_best_labeling_is_found_where_rows_lie_apart(search):
    for seed in range(3):
        problem, truth = apart(8, seed)
        best, labels = enumerated(problem)
        solution = search().solve(problem)
        np.testing.assert_array_equal(labels, truth)
        np.testing.assert_array_equal(solution.labels, truth)
        assert solution.objective == pytest.approx(best, rel=1e-8)


def test_weighted_rows_keep_their_share_as_near_as_their_weights_let_them():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        weights = rng.uniform(0.5, 2.0, 30)
        problem = even(seed, 30, Count(0.4), few=5, weights=weights)
        problem = problem._replace(cost=problem.cost * weights)
        free = ~problem.is_labeled
        for search in SEARCHES:
            solution = search().solve(problem)
            off = abs(problem.shares()[free] @ (solution.labels[free] > 0) - 0.4)
            assert off <= 0.5 * problem.shares().max() + 1e-12
            assert solution.status == "converged"


def test_weighted_rows_stay_within_the_slack(watch):
    for seed in range(5):
        weights = np.random.default_rng(seed).uniform(0.5, 2.0, 30)
        problem = even(seed, 30, Count((0.3, 0.7)[seed % 2], 0.1), few=5, weights=weights)
        problem = problem._replace(cost=problem.cost * weights)
        _, seen = watch(MultiSwitch(), problem)
        for told in seen:
            assert imbalance(problem, told.f, told.labels) <= 1e-9


def test_labels_in_a_band_are_the_cheapest_there():
    rng = np.random.default_rng(0)
    for case in range(300):
        u = int(rng.integers(1, 8))
        f, weight = rng.standard_normal(u) + rng.standard_normal(), rng.uniform(0.5, 2.0, u)
        weight = np.ones(u) if case % 2 else weight
        balance = Count(rng.uniform(0.0, 1.0), rng.choice([0.0, 0.1, 0.3]))
        low, high = limits_of(balance, weight)
        y = labels_in_band(f, weight, balance)
        assert f[y > 0].min(initial=np.inf) >= f[y < 0].max(initial=-np.inf)
        by_rank = [np.where(np.argsort(np.argsort(-f)) < k, 1.0, -1.0) for k in range(u + 1)]
        inside = [own for own in by_rank if low <= weight @ (own > 0) <= high]
        if inside:
            assert low <= weight @ (y > 0) <= high
            paid = [weight @ np.maximum(1.0 - own * f, 0.0) ** 2 for own in (y, *inside)]
            assert paid[0] == pytest.approx(min(paid), abs=1e-12)
        else:
            np.testing.assert_array_equal(y, labels_by_score(f, weight, balance))
    np.testing.assert_array_equal(labels_in_band(f, weight, Free()), np.where(f > 0, 1.0, -1.0))


# ------------------------------------------------------------------------------------------- annealing


@pytest.mark.parametrize("balance", [Count(0.4), Count(0.31), Count(0.0), Count(1.0), Free()], ids=str)
def test_probabilities_keep_their_mean_while_the_temperature_falls(balance, watch):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        weights = np.ones(30) if seed % 2 else rng.uniform(0.5, 2.0, 30)
        problem = even(seed, 30, balance, star=10.0 ** (seed % 3 - 1), few=5, weights=weights)
        problem = problem._replace(cost=problem.cost * weights)
        free = ~problem.is_labeled
        weight, cost = weights[free], problem.cost[free]
        solution, seen = watch(Annealing(), problem)
        assert solution.status == "converged"
        assert seen[0].level == 10.0
        np.testing.assert_allclose(seen[0].ask.costs.up[free, 0], cost * getattr(balance, "r", 0.5), rtol=1e-12)
        lowest = []
        for now, then in itertools.pairwise(seen):
            if now.hard:
                up, down = (problem.cost * (solution.labels == side) for side in (1.0, -1.0))
                np.testing.assert_array_equal(np.hstack(then.ask.costs), np.column_stack([up, down]))
                continue
            p = now.p
            if balance != Free():
                assert weight @ p / weight.sum() == pytest.approx(balance.r, abs=1e-9)
            g = np.maximum(1.0 - now.f[free], 0.0) ** 2 - np.maximum(1.0 + now.f[free], 0.0) ** 2
            np.testing.assert_allclose(p, soft_labels(g, now.level, getattr(balance, "r", None), weight), atol=1e-9)
            before = now.ask.costs.up[free, 0] / cost
            rests = divergence(p, before, weight) <= 1e-6
            assert then.level == pytest.approx(now.level / 1.5 if rests else now.level)
            np.testing.assert_allclose(then.ask.costs.up[free, 0], cost * p, rtol=1e-12)
            np.testing.assert_allclose(then.ask.costs.down[free, 0], cost * (1.0 - p), rtol=1e-12)
            if not rests:  # at one temperature neither half of a step raises the free energy
                values = [free_energy(problem, told, told.ask.costs, now.level) for told in (now, then)]
                middle = free_energy(problem, now, then.ask.costs, now.level)
                assert middle <= values[0] + 1e-9 * abs(values[0])
                assert values[1] <= middle + 1e-9 * abs(middle)
            lowest.append((objective_at(problem, now), now.labels))
        soft = [told for told in seen if not told.hard]
        ended = next(told for told in seen if told.hard)
        lowest.append((objective_at(problem, ended, chosen_by_score(problem, ended)), chosen_by_score(problem, ended)))
        assert entropy(ended.p, weight) <= 1e-6 or ended.level / 1.5 < 10.0 / 1.5**30 * (1 + 1e-9)
        assert all(
            entropy(told.p, weight) > 1e-6 or told.after == told.level for told in soft
        )  # in doubt, or not at rest
        np.testing.assert_array_equal(solution.labels, min(lowest, key=lambda pair: pair[0])[1])
        assert seen[-1].level == seen[-2].level == 0.0
        assert [told.ask.polish for told in seen[-2:]] == [False, True]


def free_energy(problem, told, costs, temperature):
    free = ~problem.is_labeled
    cost, p = problem.cost[free], costs.up[free, 0] / problem.cost[free]
    return told.value(problem, costs) - temperature * cost.sum() * entropy(p, cost) * np.log(2.0)


def chosen_by_score(problem, told):
    free, labels = ~problem.is_labeled, problem.signs.copy()
    labels[free] = labels_by_score(told.f[free], problem.weights[free], problem.balance)
    return labels


def objective_at(problem, told, labels=None):
    labels = told.labels if labels is None else labels
    return told.value(problem, Costs(*((problem.cost * (labels == side))[:, None] for side in (1.0, -1.0))))


def test_the_best_labels_on_the_way_are_kept(watch):
    problem = even(0, 30, Count(0.3), few=8, weights=np.ones(30))
    solution, seen = watch(Annealing(), problem)
    ended = next(told for told in seen if told.hard)
    last = chosen_by_score(problem, ended)
    assert (last != solution.labels).any()  # those of the last soft machine are not the best
    soft = [told for told in seen if not told.hard]
    best = min(soft, key=lambda told: objective_at(problem, told))
    assert objective_at(problem, best) < objective_at(problem, ended, last)
    np.testing.assert_array_equal(solution.labels, best.labels)


def test_a_search_that_is_stopped_returns_the_best_point_and_not_the_last():
    problem = even(1, 30, Count(0.3), star=0.05, few=2)
    path = [row["objective"] for row in Annealing().solve(problem).trace]
    assert path[30] > min(path[:30]) * (1 + 1e-6)
    solution = Annealing().solve(problem, callback=lambda row: row["step"] == 30)
    assert solution.status == "stopped"
    assert solution.objective == pytest.approx(min(path[:31]), rel=1e-9)


@pytest.mark.parametrize("r", [0.0, 0.31, 0.5, 1.0])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_annealed_labels_have_the_wanted_number_and_the_objective_is_the_problem_s(r, intercept):
    for seed in range(2):
        problem = even(seed, 33, Count(r), intercept=intercept, few=5)
        solution = Annealing().solve(problem)
        assert abs(positives(problem, solution.labels) - r * 28) <= 0.5
        assert solution.objective == pytest.approx(objective(problem, solution.coef, solution.intercept), rel=1e-12)
        assert solution.objective <= objective(problem, solution.coef, solution.intercept, solution.labels) + 1e-12
        temperature = [row["level"] for row in solution.trace]
        assert temperature == sorted(temperature, reverse=True)
        assert temperature[-1] == 0.0
        up, down = (problem.cost * (solution.labels == side) for side in (1.0, -1.0))
        assert violation_at(problem, up, down, solution.coef, solution.intercept) < 1e-9


# ------------------------------------------------------------------------------------------- traces and limits


@every_solver
def test_the_trace_tells_every_solve(solver):
    problem = even(0) if solver is not FiniteNewton else even(0, balance=Free())._replace(unlabeled=None)
    rows_seen = []
    solution = solver().solve(problem, callback=lambda row: rows_seen.append(dict(row)))
    assert rows_seen == solution.trace
    assert all(set(row) == KEYS for row in solution.trace)
    assert [row["step"] for row in solution.trace] == list(range(len(solution.trace)))
    assert solution.n_iter == len(solution.trace)
    assert solution.trace[-1]["objective"] == pytest.approx(solution.objective, rel=1e-9)
    assert solution.trace[-1]["violation"] == solution.certificate.value
    assert solution.trace[-1]["changed"] == 0
    assert all(row["violation"] <= 1e-2 for row in solution.trace)
    if solver is not FiniteNewton:
        assert solution.trace[0]["changed"] == 30  # all were without a label
    else:
        assert len(solution.trace) == 2


@every_search
def test_a_trace_counts_the_labels_that_changed(search, watch):
    for seed in range(3):
        problem = even(seed, star=3.0, intercept=INTERCEPTS[seed])
        solution, seen = watch(search(), problem)
        labels = [problem.signs, *(told.labels for told in seen)]
        changed = [int((then != now).sum()) for now, then in itertools.pairwise(labels)]
        assert [row["changed"] for row in solution.trace] == changed
        for row, told in zip(solution.trace, seen):
            at = told.labels if search is MultiSwitch else np.where(told.f > 0, 1.0, -1.0)
            at = np.where(problem.is_labeled, problem.signs, at)
            assert row["objective"] == pytest.approx(objective_at(problem, told, at), rel=1e-9)
            assert row["level"] == told.after


def usable(solver, problem, solution, status):
    assert solution.status == status
    assert np.isfinite(solution.coef).all()
    assert np.isfinite(solution.objective)
    assert np.isfinite(solution.certificate.value)
    assert set(solution.labels) <= {-1.0, 1.0}
    np.testing.assert_array_equal(solution.labels[problem.is_labeled], problem.signs[problem.is_labeled])
    np.testing.assert_allclose(solution.scores, dense(problem) @ solution.coef + solution.intercept, atol=1e-9)
    counted = solution.labels if solver is MultiSwitch else None
    value = objective(problem, solution.coef, solution.intercept, counted)
    assert solution.objective == pytest.approx(value, rel=1e-9)


@pytest.fixture
def judged(solver):
    unlabeled, balance = (None, Free()) if solver is FiniteNewton else (SymmetricSquaredHinge(), Count(0.4))
    return even(0, balance=balance)._replace(unlabeled=unlabeled)


def interrupting(at):
    def callback(row):
        if row["step"] == at:
            raise KeyboardInterrupt

    return callback


@every_solver
def test_a_limit_of_time_keeps_what_was_reached(solver, judged):
    solution = solver(max_time=1e-9).solve(judged)
    usable(solver, judged, solution, "max_time")
    assert solution.n_iter == 1


@every_solver
def test_a_limit_of_solves_keeps_what_was_reached(solver, judged):
    solution = solver(max_iter=1).solve(judged)
    usable(solver, judged, solution, "max_iter")
    assert solution.n_iter == 1
    if solver is not FiniteNewton:
        longer = solver(max_iter=7).solve(judged)
        usable(solver, judged, longer, "max_iter")
        assert longer.n_iter == 7
        assert solver(max_iter=solver().solve(judged).n_iter).solve(judged).status == "converged"


@every_solver
@pytest.mark.parametrize("at", [0, 1, 4])
def test_a_callback_stops_a_search(solver, judged, at):
    solution = solver().solve(judged, callback=lambda row: row["step"] == at)
    if solver is FiniteNewton and at > 0:  # at its end already
        usable(solver, judged, solution, "converged")
        return
    usable(solver, judged, solution, "stopped")
    assert len(solution.trace) == at + 1
    assert solution.objective == pytest.approx(min(row["objective"] for row in solution.trace), rel=1e-9)


@every_solver
@pytest.mark.parametrize("at", [0, 1, 4])
def test_an_interrupt_keeps_what_was_reached(solver, judged, at):
    solution = solver().solve(judged, callback=interrupting(at))
    if solver is FiniteNewton and at > 1:
        usable(solver, judged, solution, "converged")
        return
    usable(solver, judged, solution, "interrupted")
    assert len(solution.trace) == at + 1


@every_solver
def test_an_interrupt_before_the_first_solve_ends_leaves_a_usable_zero(solver, judged, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(side_by_side, "minimise", interrupted)
    solution = solver().solve(judged)
    usable(solver, judged, solution, "interrupted")
    assert not solution.coef.any()
    assert solution.n_iter == 1
    assert solution.certificate.value == np.finfo(float).max


@every_solver
def test_a_callback_stops_its_own_problem_alone(solver):
    problems = apart_from_each_other(solver)
    alone = [solver().solve(problem) for problem in problems]
    together = solver().solve_all(problems, [None, lambda row: row["step"] == 0, None, lambda row: False, None])
    assert [solution.status for solution in together] == ["converged", "stopped"] + ["converged"] * 3
    assert together[1].n_iter == 1
    for k in (0, 2, 3, 4):
        np.testing.assert_array_equal(together[k].labels, alone[k].labels)
        np.testing.assert_allclose(together[k].coef, alone[k].coef, atol=1e-7)


def test_an_interrupt_stops_all_that_are_not_at_their_end():
    problems = [problem._replace(balance=Free()) for problem in apart_from_each_other(FiniteNewton)]
    last = FiniteNewton().solve_all(problems, [None, None, interrupting(1), None, None])
    assert [solution.status for solution in last] == ["converged"] * 2 + ["interrupted"] * 3
    first = MultiSwitch().solve_all(apart_from_each_other(MultiSwitch), [None, interrupting(3), None, None, None])
    assert {solution.status for solution in first} == {"interrupted"}
    assert [solution.n_iter for solution in first] == [4, 4, 3, 3, 3]


def test_a_solve_that_may_not_go_on_says_so(monkeypatch):
    monkeypatch.setattr(newton, "NEWTON_STEPS", 1)
    for solver in SOLVERS:
        balance = Free() if solver is FiniteNewton else Count(0.4)
        problem = even(0, balance=balance)._replace(
            unlabeled=None if solver is FiniteNewton else SymmetricSquaredHinge()
        )
        solution = solver(tol=1e-9).solve(problem)
        assert solution.status == "max_iter"
        assert np.isfinite(solution.objective)


# ------------------------------------------------------------------------------------------- machines at the limits


def gaussians(n=60, d=5, known=14, seed=0):
    X, y = make_two_gaussians(n, d, 0.8, random_state=seed)
    return X, y, hide_labels(y, known, random_state=seed)


@every_machine
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_without_unlabeled_rows_or_their_cost_the_machine_is_supervised(cls, kernel, intercept):
    X, _, partly_y = gaussians()
    known = partly_y >= 0
    common = {"kernel": kernel, "gamma": 0.2, "fit_intercept": intercept}
    f = SVM(2.0, loss="squared_hinge", tol=1e-10, **common).fit(X[known], partly_y[known]).decision_function(X)
    free = cls(2.0, C_unlabeled=0.0, tol=1e-8, **common).fit(X, partly_y)
    np.testing.assert_allclose(free.decision_function(X), f, atol=1e-6)
    all_known = cls(2.0, tol=1e-8, **common).fit(X[known], partly_y[known])
    np.testing.assert_allclose(all_known.decision_function(X), f, atol=1e-6)
    searched = cls(2.0, tol=1e-8, **common).fit(X, partly_y)
    assert np.abs(searched.decision_function(X) - f).max() > 1e-2
    np.testing.assert_allclose(searched.supervised_.decision_function(X), f, atol=1e-6)


@every_machine
def test_linear_features_are_the_linear_kernel(cls):
    X, _, partly_y = gaussians()
    linear = cls(1.0, kernel="linear", tol=1e-6).fit(X, partly_y)
    kernel = cls(1.0, kernel="precomputed", tol=1e-6).fit(X @ X.T, partly_y)
    np.testing.assert_allclose(kernel.decision_function(X @ X.T), linear.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(kernel.transduction_, linear.transduction_)
    assert kernel.objective_ == pytest.approx(linear.objective_, rel=1e-8)


@every_machine
def test_unlabeled_rows_that_are_all_alike(cls):
    X, _, partly_y = gaussians()
    X[partly_y < 0] = X[partly_y < 0][0]
    for balance in ("labeled", 0.3, None):
        machine = cls(1.0, kernel="linear", balance=balance).fit(X, partly_y)
        assert machine.converged_
        assert np.isfinite(machine.decision_function(X)).all()
        if balance == 0.3:
            assert (machine.transduction_[partly_y < 0] == 2).sum() == round(0.3 * 46)


@every_machine
def test_a_column_without_variation_is_left_alone(cls):
    X, _, partly_y = gaussians()
    plain = cls(1.0, kernel="linear").fit(X, partly_y)
    zero_column = cls(1.0, kernel="linear").fit(np.column_stack([X, np.zeros(60)]), partly_y)
    np.testing.assert_allclose(zero_column.coef_[0], np.r_[plain.coef_[0], 0.0], atol=1e-7)
    constant = cls(1.0, kernel="linear").fit(np.column_stack([X, np.full(60, 3.0)]), partly_y)
    np.testing.assert_allclose(
        constant.decision_function(np.c_[X, np.full(60, 3.0)]), plain.decision_function(X), atol=1e-6
    )
    assert abs(constant.coef_[0, -1]) < 1e-6  # a free intercept costs nothing


@every_solver
def test_rows_twice_at_half_the_cost_are_rows_once(solver):
    problem = even(2) if solver is not FiniteNewton else even(2, balance=Mean(0.3))._replace(unlabeled=None)
    twice = problem._replace(
        space=Features(np.repeat(dense(problem), 2, axis=0)),
        signs=np.repeat(problem.signs, 2),
        cost=np.repeat(problem.cost, 2) / 2.0,
    )
    once, double = solver().solve(problem), solver().solve(twice)
    np.testing.assert_allclose(double.coef, once.coef, atol=1e-7)
    np.testing.assert_array_equal(double.labels, np.repeat(once.labels, 2))
    assert double.objective == pytest.approx(once.objective, rel=1e-9)


@every_machine
def test_weights_are_factors_on_costs_and_rows_without_weight_are_left_out(cls):
    X, _, partly_y = gaussians()
    weight = np.random.default_rng(0).integers(0, 3, 60).astype(float)
    weight[:2] = 1.0
    machine = cls(1.0, C_unlabeled=0.4, kernel="linear").fit(X, partly_y, sample_weight=2.0 * weight)
    other = cls(2.0, C_unlabeled=0.8, kernel="linear").fit(X[weight > 0], partly_y[weight > 0], weight[weight > 0])
    np.testing.assert_allclose(machine.coef_, other.coef_, atol=1e-7)


@every_machine
@pytest.mark.parametrize("u", [1, 2, 30])
def test_one_label_of_each_class_is_enough(cls, u):
    X, y, _ = gaussians()
    order = np.r_[np.flatnonzero(y == 1)[0], np.flatnonzero(y == 2)[0], np.arange(5, 5 + u)]
    partly_y = np.r_[1, 2, np.full(u, -1)]
    machine = cls(1.0, kernel="linear").fit(X[order], partly_y)
    assert machine.converged_
    assert np.isfinite(machine.objective_)
    if u > 1:
        assert (machine.transduction_[2:] == 2).sum() == u // 2
    rbf = cls().fit(X[order], partly_y)
    assert np.isfinite(rbf.decision_function(X)).all()


@every_machine
@pytest.mark.parametrize("C", [1e-6, 1e6])
@pytest.mark.parametrize("star", [1e-6, 1.0, 1e6])
def test_extreme_costs_end_well(cls, C, star):
    X, _, partly_y = gaussians()
    for intercept in INTERCEPTS:
        machine = cls(C, C_unlabeled=star, kernel="linear", fit_intercept=intercept).fit(X, partly_y)
        assert machine.converged_
        assert np.isfinite(machine.decision_function(X)).all()
        assert machine.certificate_.value <= 1e-3


@every_machine
@pytest.mark.parametrize("factor", [1e-4, 1e3])
def test_the_unit_of_the_columns_does_not_matter(cls, factor):
    X, _, partly_y = gaussians()
    for kernel in ("linear", "rbf"):
        one = cls(kernel=kernel).fit(X, partly_y)
        other = cls(kernel=kernel).fit(factor * X, partly_y)
        np.testing.assert_allclose(other.decision_function(factor * X), one.decision_function(X), atol=1e-5)
        np.testing.assert_array_equal(other.transduction_, one.transduction_)


@every_machine
def test_the_default_cost_falls_with_the_number_of_labels(cls):
    X, y, _ = gaussians(150)
    spread = X.var(axis=0).sum()
    for known, wanted in [(12, 10.0), (20, 10.0), (50, 1.0), (100, 1.0)]:
        machine = cls(kernel="linear").fit(X, hide_labels(y, known, random_state=0))
        assert machine.C_ * spread == pytest.approx(wanted, rel=1e-9)


@every_machine
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_three_classes_are_the_same_in_csr_and_dense_and_better_than_chance(cls, multiclass):
    X, y = make_blobs(90, 4, centers=3, cluster_std=2.5, random_state=3)
    X[np.abs(X) < 1.0] = 0.0
    partly_y = hide_labels(y, 15, random_state=0)
    full = cls(1.0, kernel="linear", multiclass=multiclass, coupling="pwc1").fit(X, partly_y)
    thin = cls(1.0, kernel="linear", multiclass=multiclass, coupling="pwc1").fit(sparse.csr_array(X), partly_y)
    np.testing.assert_allclose(thin.coef_, full.coef_, atol=1e-6)
    np.testing.assert_array_equal(thin.transduction_, full.transduction_)
    np.testing.assert_array_equal(thin.predict(sparse.csr_array(X)), full.predict(X))
    assert (full.transduction_ == y).mean() > 0.8
    assert len(full.objective_) == 3
    assert all(set(row) == KEYS for task in full.trace_ for row in task)


@every_machine
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_other_names_of_the_classes_change_the_sign_of_f(cls, kernel):
    X, _, partly_y = gaussians()
    swapped = np.where(partly_y < 0, -1, 3 - partly_y)
    for balance in ("labeled", None, 0.3):
        other = 0.7 if balance == 0.3 else balance
        one = cls(1.0, kernel=kernel, gamma=0.2, balance=balance).fit(X, partly_y)
        two = cls(1.0, kernel=kernel, gamma=0.2, balance=other).fit(X, swapped)
        np.testing.assert_allclose(two.decision_function(X), -one.decision_function(X), atol=1e-6)
        np.testing.assert_array_equal(two.transduction_, 3 - one.transduction_)


@every_machine
def test_an_unfinished_fit_warns_and_is_usable(cls):
    X, _, partly_y = gaussians()
    for limit, word in [({"max_iter": 2}, "max_iter=2"), ({"max_time": 1e-9}, "max_time")]:
        with pytest.warns(ConvergenceWarning, match=word):
            machine = cls(kernel="linear", **limit).fit(X, partly_y)
        assert not machine.converged_
        assert np.isfinite(machine.decision_function(X)).all()


def test_parameters_reach_the_solver():
    machine = MultiSwitchTSVM(tol=0.1, max_iter=7, max_time=8.0, max_switches=9)
    assert machine._method().solver == MultiSwitch(0.1, 7, 8.0, 9)
    assert AnnealingTSVM(tol=0.1, max_iter=7, max_time=8.0)._method().solver == Annealing(0.1, 7, 8.0)
    X, _, partly_y = gaussians()
    for wrong in (0, -1, 1.5, "many"):
        with pytest.raises(ValueError, match="max_switches"):
            MultiSwitchTSVM(max_switches=wrong).fit(X, partly_y)


def test_a_slack_reaches_the_problem():
    X, _, partly_y = gaussians()
    hidden = partly_y < 0
    near, far = (MultiSwitchTSVM(kernel="linear", balance=0.1, balance_tol=tol).fit(X, partly_y) for tol in (0.0, 0.4))
    assert (near.transduction_[hidden] == 2).sum() == 5
    assert 5 < (far.transduction_[hidden] == 2).sum() <= 23


@pytest.mark.parametrize("cls", [MultiSwitchTSVM, AnnealingTSVM, GradientTSVM, ContinuationTSVM])
def test_the_linear_kernel_takes_the_columns_however_many_rows_there_are(cls, monkeypatch):
    X, _, partly_known = gaussians()
    expected = cls(1.0, kernel="linear").fit(X, partly_known)
    monkeypatch.setenv("SEMISVM_MEMORY", "1000")  # no kernel matrix fits
    fitted = cls(1.0, kernel="linear").fit(X, partly_known)
    np.testing.assert_array_equal(fitted.coef_, expected.coef_)
