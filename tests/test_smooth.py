"""Smooth machines: derivatives, smoothed losses, the convex first level, and limits."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from semisvm import ContinuationTSVM, GradientTSVM
from semisvm.balance import Free, Mean
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.losses import Gaussian, Hinge, SquaredHinge
from semisvm.problem import Problem, gradient, objective
from semisvm.solvers import Continuation, GradientPath, preconditioner
from semisvm.solvers.continuation import smoothed, smoothing, top_curvature
from semisvm.solvers.gradient import level_of
from semisvm.solvers.plane import Plane
from semisvm.solvers.trust_region import Spot, descend, lead
from semisvm.spaces import Features

BALANCES = [Mean(0.2), Free()]
INTERCEPTS = [True, False, "regularised"]


def rows(n=40, d=4, seed=0, as_sparse=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.3
    X[np.abs(X) < 0.3] = 0.0
    return sparse.csr_array(X) if as_sparse else X


def problem(labeled, balance=Mean(0.2), intercept=True, as_sparse=False, cost=1.0, star=0.7, n=40):  # noqa: B008
    signs = np.zeros(n)
    signs[:10] = np.where(np.arange(10) % 3 == 0, -1.0, 1.0)
    costs = np.where(signs != 0, cost, star) * np.linspace(0.5, 1.5, n)
    return Problem(Features(rows(n, as_sparse=as_sparse)), signs, costs, labeled, Gaussian(), balance, intercept)


def levels(stated):
    lengths = Plane(stated).row_norms()
    yield from (smoothed(stated, lengths, gamma) for gamma in (5.0, 0.3, 0.01))


def total(plane, level, theta):
    return plane.half_norm2(theta) + level.value(plane.scores(theta))


@pytest.mark.parametrize("balance", BALANCES, ids=str)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("as_sparse", [False, True])
def test_gradients_and_hessian_products_are_finite_differences(balance, intercept, as_sparse):
    rng = np.random.default_rng(1)
    hinge, squared = (problem(loss, balance, intercept, as_sparse) for loss in (Hinge(), SquaredHinge()))
    for stated, level in [(squared, level_of(squared, 0.3)), *((hinge, level) for level in levels(hinge))]:
        plane = Plane(stated)
        theta, v = 0.4 * rng.standard_normal(plane.size), rng.standard_normal(plane.size)
        f, step = plane.scores(theta), 1e-6 * v
        slope = plane.norm_slope(theta) + plane.adjoint(level.slope(f))
        ahead, behind = theta + step, theta - step
        assert slope @ v == pytest.approx(
            (total(plane, level, ahead) - total(plane, level, behind)) / 2e-6, rel=1e-6, abs=1e-7
        )
        product = plane.norm_product(v) + plane.adjoint(level.curvature(f) * plane.product(v))
        slopes = [plane.norm_slope(t) + plane.adjoint(level.slope(plane.scores(t))) for t in (ahead, behind)]
        np.testing.assert_allclose(product, (slopes[0] - slopes[1]) / 2e-6, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("gamma", [0.05, 1.0])
def test_smoothed_losses_are_means_over_a_gaussian_around_w(gamma):
    stated = problem(Hinge())
    plane, rng = Plane(stated), np.random.default_rng(2)
    theta = 0.5 * rng.standard_normal(plane.size)
    level = smoothed(stated, plane.row_norms(), gamma)
    known = stated.is_labeled
    around = theta + np.sqrt(gamma / 2.0) * rng.standard_normal((200_000, plane.size))
    f = np.array([plane.scores(theta)]) + (around - theta) @ (stated.space.X - plane.mean).T
    hinge = np.maximum(1.0 - stated.signs[known] * f[:, known], 0.0).mean(axis=0)
    bell = np.exp(-3.0 * f[:, ~known] ** 2).mean(axis=0)
    expected = stated.cost[known] @ hinge + stated.cost[~known] @ bell
    assert level.value(plane.scores(theta)) == pytest.approx(expected, rel=3e-3)


@pytest.mark.parametrize("star", [0.05, 0.7, 20.0])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_the_first_level_is_convex_and_a_much_sharper_one_is_not(star, as_sparse):
    stated = problem(Hinge(), star=star, as_sparse=as_sparse)
    plane = Plane(stated)
    lengths = plane.row_norms()
    gammas = smoothing(stated, lengths)
    assert len(gammas) == 11
    assert gammas == sorted(gammas, reverse=True)
    assert gammas[-1] == pytest.approx(1.0 / (30.0 * lengths[~stated.is_labeled].max() ** 2))
    A = rows() - plane.mean
    lowest = []
    for gamma in (gammas[0], gammas[-1]):
        level, worst = smoothed(stated, lengths, gamma), np.inf
        for theta in 0.5 * np.random.default_rng(3).standard_normal((50, plane.size)):
            H = np.eye(plane.size) + (A.T * level.curvature(plane.scores(theta))) @ A
            worst = min(worst, np.linalg.eigvalsh(H)[0])
        flat = np.eye(plane.size) + (A.T * level.curvature(plane.scores(0.0 * theta) * 0.0)) @ A  # f = 0 at all rows
        lowest.append(min(worst, np.linalg.eigvalsh(flat)[0]))
    assert lowest[0] > 0
    if star == 20.0:
        assert lowest[1] < 0


def test_the_top_curvature_is_an_eigenvalue():
    stated = problem(Hinge())
    plane = Plane(stated)
    A, lengths, rest = rows() - plane.mean, plane.row_norms(), ~stated.is_labeled
    np.testing.assert_allclose(lengths, np.linalg.norm(A, axis=1))
    matrix = (A[rest].T * (stated.cost[rest] / lengths[rest] ** 3)) @ A[rest]
    assert top_curvature(stated, lengths) == pytest.approx(np.linalg.eigvalsh(matrix)[-1], rel=2e-3)


@pytest.mark.parametrize("balance", BALANCES, ids=str)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_the_last_levels_are_the_objective(balance, intercept):
    rng = np.random.default_rng(4)
    for loss in (Hinge(), SquaredHinge()):
        stated = problem(loss, balance, intercept)
        plane = Plane(stated)
        theta = rng.standard_normal(plane.size)
        sharp = smoothed(stated, plane.row_norms(), 1e-12) if isinstance(loss, Hinge) else level_of(stated, 1.0)
        assert total(plane, sharp, theta) == pytest.approx(objective(stated, *plane.split(theta)), rel=1e-5)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_newton_steps_end_where_another_method_does(intercept):
    stated = problem(SquaredHinge(), Free(), intercept, star=0.01)  # so little that the whole is convex
    plane, level = Plane(stated), level_of(stated, 1.0)
    start = Spot(np.zeros(plane.size), plane.scores(np.zeros(plane.size)))
    (((theta, f), violation, done),) = lead(plane.table, [descend(plane, level, start, 1e-10, 200, lambda: False)])
    np.testing.assert_allclose(f, plane.scores(theta), atol=1e-9)
    assert done
    assert violation <= 1e-10
    found = minimize(lambda t: total(plane, level, t), np.zeros(plane.size), tol=1e-12)
    np.testing.assert_allclose(theta, found.x, atol=1e-4)
    assert total(plane, level, theta) <= found.fun + 1e-10


@pytest.mark.parametrize("solver", [GradientPath(tol=1e-6), Continuation(tol=1e-6)], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("m", [-0.4, 0.2])
def test_the_path_keeps_the_mean_and_ends_at_a_stationary_point(solver, m):
    stated = problem(Hinge() if isinstance(solver, Continuation) else SquaredHinge(), Mean(m))
    solution = solver.solve(stated)
    rest = ~stated.is_labeled
    assert solution.scores[rest].mean() == pytest.approx(m, abs=1e-10)
    assert solution.objective == pytest.approx(objective(stated, solution.coef, solution.intercept), rel=1e-12)
    assert len(solution.trace) == 11
    assert {"objective", "level", "changed"} <= set(solution.trace[0])
    assert solution.certificate.value < 1e-6
    if isinstance(solver, GradientPath):
        plane = Plane(stated)
        by_w, by_b = gradient(stated, solution.coef, solution.intercept)
        np.testing.assert_allclose(by_w - by_b * plane.mean, 0.0, atol=1e-5)


@pytest.mark.parametrize("cls", [GradientTSVM, ContinuationTSVM])
def test_sparse_is_dense_and_linear_features_are_the_linear_kernel(cls):
    X, y = make_two_gaussians(80, 6, 0.7, random_state=0)
    X[np.abs(X) < 0.4] = 0.0
    partly = hide_labels(y, 12, random_state=0)
    dense = cls(1.0, C_unlabeled=0.1, kernel="linear", tol=1e-6).fit(X, partly)
    thin = cls(1.0, C_unlabeled=0.1, kernel="linear", tol=1e-6).fit(sparse.csr_array(X), partly)
    kernel = cls(1.0, C_unlabeled=0.1, kernel="precomputed", tol=1e-6).fit(X @ X.T, partly)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-6)
    np.testing.assert_allclose(kernel.decision_function(X @ X.T), dense.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("cls", [GradientTSVM, ContinuationTSVM])
def test_all_landmarks_are_the_exact_kernel(cls):
    X, y = make_two_gaussians(80, 6, 0.7, random_state=0)
    partly = hide_labels(y, 12, random_state=0)
    f = [
        cls(1.0, C_unlabeled=0.1, gamma=0.1, approximation=how, tol=1e-6).fit(X, partly).decision_function(X)
        for how in (None, "nystroem", "kernel_pca", "auto")
    ]
    for other in f[1:]:
        np.testing.assert_allclose(other, f[0], atol=1e-4)


def test_a_limit_of_time_keeps_what_was_reached():
    stated = problem(SquaredHinge())
    solution = GradientPath(max_time=1e-9).solve(stated)
    assert solution.status == "max_time"
    assert np.isfinite(solution.objective)
    stopped = GradientPath().solve(stated, callback=lambda row: row["step"] == 3)
    assert stopped.status == "stopped"
    assert len(stopped.trace) == 4


@pytest.mark.parametrize("balance", BALANCES, ids=str)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("most", [0, 1000])
def test_the_preconditioner_is_the_inverse_of_what_it_says(balance, intercept, most, monkeypatch):
    monkeypatch.setattr(preconditioner, "ROWS", most)
    stated = problem(SquaredHinge(), balance, intercept)
    plane, rng = Plane(stated), np.random.default_rng(6)
    weights = rng.uniform(0.5, 2.0, len(stated.signs))
    heavy = preconditioner.heavy_rows(plane, weights, stated.is_labeled)
    assert len(heavy) == (np.count_nonzero(stated.is_labeled) if most else 0)
    rest = weights.copy()
    rest[heavy] = 0.0
    M = preconditioner.Preconditioner(plane, weights, heavy, plane.table.squares(rest))
    A = np.column_stack([plane.product(unit) for unit in np.eye(plane.size)])
    matrix = np.diag(M.diagonal) + (A[heavy].T * weights[heavy]) @ A[heavy]
    v = rng.standard_normal(plane.size)
    np.testing.assert_allclose(matrix @ M.solve(v), v, atol=1e-10)
    assert M.norm(v) == pytest.approx(np.sqrt(v @ matrix @ v), rel=1e-12)
    np.testing.assert_allclose(M.diagonal[: plane.table.d], 1.0 + (rows() ** 2).T @ rest, rtol=1e-12)
