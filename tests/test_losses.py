"""The pieces of every loss against finite differences, identities between losses, and brute force."""

import numpy as np
import pytest

from semisvm import losses
from semisvm._jit import jit
from semisvm.losses import (
    LABELED,
    PIECES,
    UNLABELED,
    Gaussian,
    Hinge,
    Ramp,
    SmoothedHinge,
    Squared,
    SquaredHinge,
    SymmetricRamp,
)

OTHER_PARAMETERS = [Ramp(-0.5), Ramp(0.0), SymmetricRamp(-0.6), SymmetricRamp(0.0), Gaussian(1.0)]
EVERY = [cls() for cls in PIECES] + OTHER_PARAMETERS
DISTANCES = [loss for loss in EVERY if not isinstance(loss, (Gaussian, SmoothedHinge))]
SYMMETRIC = [loss for loss in EVERY if type(loss) in UNLABELED.values()]
CONVEX = (Hinge, SquaredHinge, Squared)
CUTS = (-1.0, -0.7, -0.3, 0.0)

GRID = np.arange(-1000, 1001) / 100  # holds every kink, exactly as its number is written
SMOOTH = np.arange(-60, 60) * 0.05 + 0.037  # kinks are at multiples of 0.05
STEP = 1e-5

every_loss = pytest.mark.parametrize("loss", EVERY, ids=repr)


def difference(function, t, step=STEP):
    return (function(t + step) - function(t - step)) / (2.0 * step)


def test_both_registries_hold_every_loss_once():
    assert {*LABELED.values(), *UNLABELED.values(), SmoothedHinge} == set(PIECES)
    assert not set(LABELED.values()) & set(UNLABELED.values())


@every_loss
def test_slope_is_the_derivative_of_the_value(loss):
    expected = difference(lambda t: losses.value(loss, t), SMOOTH)
    np.testing.assert_allclose(losses.slope(loss, SMOOTH), expected, atol=1e-8)


@every_loss
def test_curvature_is_the_derivative_of_the_slope(loss):
    expected = difference(lambda t: losses.slope(loss, t), SMOOTH)
    np.testing.assert_allclose(losses.curvature(loss, SMOOTH), expected, atol=1e-7)


@every_loss
def test_slope_is_the_right_hand_one_everywhere(loss):
    ahead = (losses.value(loss, GRID + STEP) - losses.value(loss, GRID)) / STEP
    error = 0.5 * STEP * np.abs(losses.curvature(loss, GRID + STEP)).max()
    np.testing.assert_allclose(losses.slope(loss, GRID), ahead, atol=error + 1e-8)


@every_loss
def test_loss_without_its_concave_part_is_convex(loss):
    """Both slopes are monotone on a grid that holds every kink; the difference is that of the convex part."""
    concave = losses.concave_slope(loss, GRID)
    assert np.diff(concave).max() <= 1e-12
    assert np.diff(losses.slope(loss, GRID) - concave).min() >= -1e-12


@pytest.mark.parametrize("loss", [loss for loss in EVERY if type(loss) in CONVEX], ids=repr)
def test_convex_losses_have_no_concave_part(loss):
    np.testing.assert_array_equal(losses.concave_slope(loss, GRID), 0.0)


@pytest.mark.parametrize("loss", SYMMETRIC, ids=repr)
def test_unlabeled_losses_ignore_the_sign_of_the_score(loss):
    np.testing.assert_array_equal(losses.value(loss, GRID), losses.value(loss, -GRID))


@pytest.mark.parametrize("s", CUTS)
def test_ramp_is_a_hinge_at_one_minus_a_hinge_at_s(s):
    expected = np.maximum(1.0 - GRID, 0.0) - np.maximum(s - GRID, 0.0)
    np.testing.assert_allclose(losses.value(Ramp(s), GRID), expected, atol=1e-13)


@pytest.mark.parametrize("s", CUTS[1:])
def test_two_ramps_make_a_symmetric_ramp(s):
    both = losses.value(Ramp(s), GRID) + losses.value(Ramp(s), -GRID) - (1.0 - s)
    np.testing.assert_allclose(losses.value(SymmetricRamp(s), GRID), both, atol=1e-13)


@pytest.mark.parametrize(
    ("symmetric", "labeled"),
    [(symmetric(), labeled()) for labeled, symmetric in losses.SYMMETRIC_FORMS.items()],
)
def test_symmetric_loss_is_the_labeled_one_at_its_best_label(symmetric, labeled):
    smaller = np.minimum(losses.value(labeled, GRID), losses.value(labeled, -GRID))
    np.testing.assert_allclose(losses.value(symmetric, GRID), smaller, atol=1e-14)


def attained_multipliers(loss):
    """Multipliers m such that -m is a slope somewhere in [-3, 3], with the ends and zero."""
    slopes = losses.slope(loss, GRID[np.abs(GRID) <= 3.0])
    spread = np.linspace(-slopes.max(), -slopes.min(), 9)
    return np.union1d(spread, [0.0]) if spread[0] <= 0.0 <= spread[-1] else spread


def distance_by_brute_force(loss, m, t):
    """From t to the nearest grid point where -m lies between left and right slope, or cell that passes -m inside."""
    left, right = losses.slope(loss, GRID - 1e-9), losses.slope(loss, GRID)
    at_point = (left - 1e-7 <= -m) & (-m <= right + 1e-7)
    low, high = np.minimum(right[:-1], left[1:]), np.maximum(right[:-1], left[1:])
    in_cell = (low - 1e-7 <= -m) & (-m <= high + 1e-7)
    to_points = np.abs(t - GRID[at_point]).min(initial=np.inf)
    to_cells = np.maximum(np.maximum(GRID[:-1] - t, t - GRID[1:]), 0.0)[in_cell].min(initial=np.inf)
    return min(to_points, to_cells)


@pytest.mark.parametrize("loss", DISTANCES, ids=repr)
def test_stationarity_is_the_distance_to_the_nearest_argument_with_that_slope(loss):
    at = GRID[(np.abs(GRID) <= 2.5)][::7]
    for m in attained_multipliers(loss):
        expected = [distance_by_brute_force(loss, m, t) for t in at]
        found = losses.stationarity(loss, m, at)
        np.testing.assert_allclose(found, expected, atol=0.011, err_msg=f"multiplier {m}")


@every_loss
def test_stationarity_is_zero_at_its_own_slope(loss):
    distance = losses.stationarity(loss, -losses.slope(loss, GRID), GRID)
    np.testing.assert_allclose(distance, 0.0, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_stationarity_of_the_gaussian_is_the_difference_of_slopes(scale):
    loss, m = Gaussian(scale), 0.4
    np.testing.assert_allclose(losses.stationarity(loss, m, GRID), np.abs(m + losses.slope(loss, GRID)), atol=1e-14)


@jit()
def compiled_pieces(loss, t, out):
    for i in range(t.size):
        out[0, i] = losses.value(loss, t[i])
        out[1, i] = losses.slope(loss, t[i])
        out[2, i] = losses.curvature(loss, t[i])


@pytest.mark.parametrize("cls", PIECES, ids=lambda cls: cls.__name__)
def test_compiled_pieces_equal_the_python_ones(cls):
    for loss in (loss for loss in EVERY if type(loss) is cls):
        out = np.empty((3, len(GRID)))
        compiled_pieces(loss, GRID, out)
        expected = [piece(loss, GRID) for piece in (losses.value, losses.slope, losses.curvature)]
        np.testing.assert_allclose(out, np.array(expected, dtype=float), rtol=1e-13, atol=1e-13)


@every_loss
def test_a_number_gives_what_an_array_gives(loss):
    for name, piece in PIECES[type(loss)]._asdict().items():
        arguments = (0.3,) if name == "stationarity" else ()
        one_by_one = [float(piece(loss, *arguments, t)) for t in GRID[::50].tolist()]
        np.testing.assert_allclose(piece(loss, *arguments, GRID[::50]), one_by_one, rtol=1e-13, err_msg=name)
