"""Joint steps of the free coordinates against the conditions that they solve."""

import numpy as np
import pytest

from semisvm.solvers.dual import joint_steps, solve_dual
from semisvm.solvers.dual.dual_problem import Dual
from semisvm.solvers.dual.iterate import Iterate
from semisvm.spaces import Gram, Kernel


def slopes_at(iterate):
    return iterate.slopes()[0] - iterate.f


def inner_point(make_dual, width, seed):
    """A feasible point inside the linear pieces, and the matrix of its dual."""
    dual, H = make_dual(seed, width=width)
    point = Iterate(dual, 0.5 * (np.where(dual.kink > 0, dual.lower, dual.upper) + dual.kink))
    point.project()
    return point, H


@pytest.mark.parametrize("seed", range(3))
def test_steps_within_wide_pieces_solve_the_system_of_all_coordinates(make_dual, seed):
    point, H = inner_point(make_dual, 1e3, seed)
    assert len(point.free()) == len(point.a)
    joint_steps.joint_steps(point)
    assert np.ptp(slopes_at(point)[point.free()]) < 1e-6  # the ridge of the system times a
    assert abs(point.a.sum()) < 1e-9
    np.testing.assert_allclose(point.f, H @ point.a, atol=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_steps_end_at_the_first_bound_or_kink_and_go_on_with_the_others(make_dual, seed):
    point, H = inner_point(make_dual, 1.0, seed)
    dual, before, value = point.dual, point.a[:12].copy(), point.value()
    joint_steps.joint_steps(point)
    a = point.a[:12]
    assert point.value() > value
    assert (dual.lower <= a).all()
    assert (a <= dual.upper).all()
    assert not (np.sign(a - dual.kink) * np.sign(before - dual.kink) < 0).any()
    assert len(point.free()) < 14
    assert np.ptp(slopes_at(point)[point.free()]) < 1e-8
    assert abs(point.a.sum()) < 1e-12
    np.testing.assert_allclose(point.f, H @ point.a, atol=1e-10)


def test_free_coordinates_are_solved_if_that_makes_the_violation_smaller(make_dual):
    solved = 0
    for seed in range(30):
        dual, H = make_dual(seed)
        rough = solve_dual(dual, tol=0.05, polish=False)
        point = Iterate(dual, rough.a)
        joint_steps.solve_free(point)
        violation = np.subtract(*point.extremes())
        if np.array_equal(point.a, rough.a):
            assert violation == pytest.approx(rough.violation, abs=1e-12)
            continue
        solved += 1
        assert violation < rough.violation
        assert np.ptp(slopes_at(point)[point.free()]) < 1e-9
        assert abs(point.a.sum()) < 1e-12
        assert (dual.lower <= point.a[:12]).all()
        assert (point.a[:12] <= dual.upper).all()
        np.testing.assert_allclose(point.f, H @ point.a, atol=1e-10)
    assert solved > 10


def test_a_singular_system_has_the_solution_of_smallest_norm():
    H, right = np.array([[2.0, 2.0, 1.0], [2.0, 2.0, 1.0], [1.0, 1.0, 0.0]]), np.array([5.0, 5.0, 2.0])
    np.testing.assert_allclose(joint_steps._solve_symmetric(H, right), [1.0, 1.0, 1.0])
    regular = H + np.diag([1.0, 3.0, 0.0])
    np.testing.assert_allclose(regular @ joint_steps._solve_symmetric(regular, right), right, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_system_that_is_singular_but_for_rounding_is_solved_by_least_squares(seed):
    """More samples than features: elimination ends without an error, with values of 1e14."""
    rng = np.random.default_rng(seed)
    Z, right = rng.standard_normal((12, 3)), rng.standard_normal(13)
    H = np.block([[Z @ Z.T, np.ones((12, 1))], [np.ones((1, 12)), np.zeros((1, 1))]])
    np.testing.assert_allclose(joint_steps._solve_symmetric(H, right), np.linalg.pinv(H) @ right, atol=1e-9)


def test_equal_samples_of_different_slopes_move_apart_to_a_bound():
    """Their difference has no curvature, so that nothing but a bound ends the step."""
    dual = Dual(Gram(Kernel("linear"), np.ones((2, 1))), np.full(2, -3.0), np.full(2, 2.0), np.array([1.0, -1.0]))
    point = Iterate(dual, np.zeros(2))
    joint_steps.joint_steps(point)
    np.testing.assert_allclose(point.a, [2.0, -2.0])
