"""Quadratic programs over a box against an interior-point method, and their lower bounds."""

import numpy as np
import pytest

from factories import least_squares_problem
from references import assert_close, minimize_qp
from semisvm.solvers.least_squares.box_qp import _NewtonSystem, box_lower_bound, solve_box_qp
from semisvm.solvers.least_squares.optimal_labels import convex_program
from semisvm.solvers.least_squares.system import build_system


def random_qp(seed):
    """Full rank if the seed is odd, else any rank; linear terms of many sizes; narrow and wide boxes; any start."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 25))
    B = rng.standard_normal((m, m + 3 if seed % 2 else rng.integers(0, m + 1)))
    P, q = B @ B.T, 10.0 ** rng.integers(-2, 3) * rng.standard_normal(m)
    low, high = [(-1.0, 1.0), (0.3, 0.3 + 10.0 ** rng.integers(-4, 2)), (-1e-3, 50.0)][seed % 3]
    x = rng.uniform(low, high, m) if rng.random() < 0.5 else rng.choice([low, high], m)
    return P, q, x, low, high


def value_of(P, q, x):
    return 0.5 * x @ P @ x + q @ x


def bound_at(P, q, x, low=-1.0, high=1.0):
    return box_lower_bound(value_of(P, q, x), P @ x + q, x, low, high)


@pytest.mark.parametrize("seed", range(84))
def test_minimizer_is_that_of_an_interior_point_method_and_tangents_bound_it(seed):
    P, q, x, low, high = random_qp(seed)
    given, eye, m = (P.copy(), q.copy(), x.copy()), np.eye(len(q)), len(q)
    expected = minimize_qp(P, q, below=(np.vstack([eye, -eye]), np.r_[[high] * m, [-low] * m]))[1]
    found = solve_box_qp(P, q, x, low, high)
    smallest, scale = value_of(P, q, found), max(1.0, abs(expected), np.abs(P).max(), np.abs(q).max())
    assert ((found >= low) & (found <= high)).all()
    assert smallest <= expected + 1e-7 * scale
    assert bound_at(P, q, found, low, high) == pytest.approx(smallest, abs=1e-9 * scale)
    for point in np.random.default_rng(seed).uniform(low, high, (10, m)):
        assert bound_at(P, q, point, low, high) <= expected + 1e-7 * scale
    for before, after in zip(given, (P, q, x)):
        np.testing.assert_array_equal(before, after)


def test_without_curvature_the_minimizer_is_a_corner():
    corner = solve_box_qp(np.zeros((3, 3)), np.array([1.0, -2.0, 3.0]), np.zeros(3))
    np.testing.assert_array_equal(corner, [-1.0, 1.0, -1.0])
    b, q = (np.random.default_rng(seed).standard_normal(150) for seed in (0, 1))
    P = np.outer(b, b)
    x = solve_box_qp(P, q, np.zeros(150))
    assert bound_at(P, q, x) == pytest.approx(value_of(P, q, x), abs=1e-8)


def test_a_start_outside_is_projected_and_the_optimum_stays():
    P, q = np.diag([1.0, 2.0]), np.array([-0.5, -10.0])
    assert_close(solve_box_qp(P, q, np.array([30.0, -30.0])), [0.5, 1.0])
    np.testing.assert_array_equal(solve_box_qp(P, q, np.array([0.5, 1.0])), [0.5, 1.0])


@pytest.mark.parametrize("definite", [True, False])
def test_step_without_removed_coordinates_is_that_of_the_system_of_the_others(definite):
    rng = np.random.default_rng(0)
    B = rng.standard_normal((30, 40 if definite else 29))
    P, free, ridge = B @ B.T, rng.random(30) < 0.8, 1e-6
    system = _NewtonSystem(P, free, ridge)
    for removed in ([], [3, 20], [5], [0, 1, 2, 3]):
        system.remove(np.array(removed, dtype=int))
        free[removed] = False
        gradient = rng.standard_normal(30)
        expected = np.zeros(30)
        expected[free] = -np.linalg.solve((P + ridge * np.eye(30))[np.ix_(free, free)], gradient[free])
        np.testing.assert_allclose(system.step(gradient), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_bounds_are_not_reached_one_by_one(seed, monkeypatch):
    problem = least_squares_problem(seed, 100, space="features", C_unlabeled=0.1)
    system, n_steps, newton_step = build_system(problem), [], _NewtonSystem.step
    y = problem.signs[system.samples] + np.where(problem.is_labeled[system.samples], 0.0, 1.0)
    P, q, _ = convex_program(system, y, system.searched)
    monkeypatch.setattr(_NewtonSystem, "step", lambda *given: n_steps.append(given) or newton_step(*given))
    x = solve_box_qp(P, q, np.tile([-0.5, 0.5], 50))
    assert bound_at(P, q, x) == pytest.approx(value_of(P, q, x), abs=1e-9)
    assert len(n_steps) < 10 < (np.abs(x) == 1.0).sum()
