"""The point of a run of SMO against the explicit matrix, with kinks, ridges and virtual samples."""

import numpy as np
import pytest

from semisvm.solvers.dual.iterate import Iterate

N = 12


def start(make_dual, seed=0):
    """A point within the bounds whose sum is not zero."""
    dual, H = make_dual(seed, N)
    rng = np.random.default_rng(seed + 100)
    return Iterate(dual, np.r_[rng.uniform(dual.lower, dual.upper), rng.standard_normal(2)]), H


def dual_value(dual, H, a):
    real, virtual = a[:N], a[N:]
    below, above = np.minimum(real, dual.kink), np.maximum(real - dual.kink, 0.0)
    return dual.slope @ below + dual.slope_above @ above + dual.virtual_slope @ virtual - 0.5 * a @ H @ a


def test_f_is_the_matrix_times_a_wherever_the_point_moves(make_dual):
    point, H = start(make_dual)
    np.testing.assert_allclose(point.f, H @ point.a, atol=1e-12)
    np.testing.assert_allclose(point.diagonal, H.diagonal(), rtol=1e-12)
    point.move_to(point.a[::-1].copy())
    np.testing.assert_allclose(point.f, H @ point.a, atol=1e-12)
    change, some = np.random.default_rng(1).standard_normal(N + 2), np.array([1, 7, N - 1])
    before = point.f.copy()
    point.update_f(change, some)
    np.testing.assert_allclose(point.f[some], (before + H @ change)[some], atol=1e-12)
    np.testing.assert_array_equal(np.delete(point.f, some), np.delete(before, some))
    without_ridge = Iterate(point.dual._replace(ridge=None), point.a)
    np.testing.assert_allclose(without_ridge.f[:N], (H @ point.a)[:N] - point.dual.ridge * point.a[:N], atol=1e-12)


def test_another_point_of_the_dual_has_its_own_f_and_leaves_the_first_one_alone(make_dual):
    point, H = start(make_dual)
    a, f = point.a.copy(), point.f.copy()
    point.f += 1.0  # as after many steps with rounding errors: f is computed anew, not copied
    same, other = point.at(point.a), point.at(a[::-1].copy())
    np.testing.assert_array_equal(same.f, f)
    np.testing.assert_allclose(other.f, H @ a[::-1], atol=1e-12)
    point.move_to(a[::-1].copy())
    np.testing.assert_array_equal(same.a, a)
    np.testing.assert_array_equal(same.f, f)


def test_value_is_the_dual_objective_up_to_a_constant(make_dual):
    (point, H), (other, _) = start(make_dual), start(make_dual)
    other.move_to(np.random.default_rng(5).permutation(point.a))
    expected = dual_value(point.dual, H, point.a) - dual_value(point.dual, H, other.a)
    assert abs(expected) > 0.1
    assert point.value() - other.value() == pytest.approx(expected, rel=1e-10)


def test_free_coordinates_are_strictly_inside_a_linear_piece(make_dual):
    point, _ = start(make_dual)
    dual = point.dual
    point.a[:3] = dual.lower[0], dual.upper[1], dual.kink[2]
    np.testing.assert_array_equal(point.free(), np.arange(3, N + 2))


def test_projection_keeps_bounds_and_sum_and_leaves_a_feasible_point(make_dual):
    point, H = start(make_dual)
    dual = point.dual
    within = point.a.copy()
    point.project()  # a virtual sample takes the sum
    assert abs(point.a.sum()) < 1e-12
    np.testing.assert_array_equal(point.a[:N], within[:N])
    feasible = point.a.copy()
    point.project()
    np.testing.assert_array_equal(point.a, feasible)
    outside = feasible + np.where(np.arange(N + 2) < 2, [5.0, -5.0] * 7, 0.0)  # the sum stays zero
    point.move_to(outside)
    point.project()
    np.testing.assert_allclose(point.a[:2], [dual.upper[0], dual.lower[1]])
    assert abs(point.a.sum()) < 1e-12
    np.testing.assert_allclose(point.f, H @ point.a, atol=1e-10)
