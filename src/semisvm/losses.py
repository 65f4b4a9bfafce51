"""The losses, as small immutable tuples that numba can read.

A labeled loss is a function of the margin t = y f, an unlabeled one of the score t = f. Each has five pieces:

``value``
    the loss itself.
``slope``, ``curvature``
    first and second derivative; at a kink those of the right-hand side.
``concave_slope``
    derivative of the concave part: the loss without it is convex, which is what the concave-convex procedure needs.
``stationarity``
    distance from t to the nearest argument at which -m is a (sub)derivative of the loss, where m is a multiplier
    divided by its cost. It is a distance in units of the margin; only the Gaussian and the smoothed hinge, which
    have no such argument for every m, return the difference of the derivatives. It is zero at all samples exactly at
    a stationary point, whatever the solver was.

Every piece is one expression on numbers or arrays. Python calls it as it stands; inside compiled code the same
function is found by the type of the tuple. The parameter of a loss may be an array with a number per sample;
``of_sample`` is the loss of one of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import types
from numba.extending import overload, register_jitable
from scipy import special


class Hinge(NamedTuple):
    """(1 - t)_+"""


class SmoothedHinge(NamedTuple):
    """The hinge convolved with a Gaussian of variance width^2 / 2; the path of a method, not the loss of a problem."""

    width: Array = 1.0


class SquaredHinge(NamedTuple):
    """(1 - t)_+^2"""


class Squared(NamedTuple):
    """1/2 (1 - t)^2"""


class Ramp(NamedTuple):
    """min(1 - s, (1 - t)_+): a hinge that stops growing at t = s."""

    s: float = -1.0


class SymmetricHinge(NamedTuple):
    """(1 - |f|)_+: the hinge at the better of both labels."""


class SymmetricSquaredHinge(NamedTuple):
    """(1 - |f|)_+^2"""


class SymmetricSquared(NamedTuple):
    """1/2 (1 - |f|)^2"""


class SymmetricRamp(NamedTuple):
    """min(1 + s, (1 - |f|)_+): constant for |f| <= -s, where a sample has no influence; -1 < s <= 0."""

    s: float = -0.3


class Gaussian(NamedTuple):
    """exp(-scale f^2)"""

    scale: Array = 3.0


Loss: TypeAlias = tuple[Any, ...]  # one of the classes above
Array: TypeAlias = Any  # a number or an array of them


class Pieces(NamedTuple):
    """The functions of one loss, each called as ``piece(loss, t)`` (``stationarity(loss, m, t)``)."""

    value: Callable
    slope: Callable
    curvature: Callable
    concave_slope: Callable
    stationarity: Callable


def _hinge_stationarity(m: Array, t: Array, floor: float) -> Array:
    """Distance from t to where the slope of a hinge at 1, cut at ``floor``, is -m."""
    to_flat_part = np.minimum(np.maximum(1.0 - t, 0.0), np.maximum(t - floor, 0.0))
    to_linear_part = np.maximum(np.maximum(t - 1.0, floor - t), 0.0)
    return np.where(m <= 0.0, to_flat_part, np.where(m >= 1.0, to_linear_part, np.abs(1.0 - t)))


def _symmetric_stationarity(m: Array, f: Array, s: float) -> Array:
    """The same for the symmetric ramp: a hinge of f where m > 0, of -f where m < 0; m = 0 at |f| >= 1 or |f| <= -s."""
    size = np.abs(f)
    to_top = np.maximum(size + s, 0.0) if s < 0 else np.inf  # without a flat top f = 0 is not stationary
    to_flat_part = np.minimum(np.maximum(1.0 - size, 0.0), to_top)
    return np.where(m == 0.0, to_flat_part, _hinge_stationarity(np.abs(m), np.sign(m) * f, -s))


ROOT_PI = math.sqrt(math.pi)


def _erfc(t: Array) -> Array:
    """The complementary error function, in Python and in compiled code."""
    return special.erfc(t)


overload(_erfc)(lambda t: lambda t: math.erfc(t))


@register_jitable
def _scaled_margin(loss: SmoothedHinge, t: Array) -> Array:
    """(t - 1) / width, far from overflow."""
    return np.minimum(np.maximum((t - 1.0) / loss.width, -1e8), 1e8)


@register_jitable
def _smoothed_hinge(loss: SmoothedHinge, t: Array) -> Array:
    """The mean of (1 - t)_+ under the Gaussian."""
    e = _scaled_margin(loss, t)
    return 0.5 * loss.width * (np.exp(-e * e) / ROOT_PI - e * _erfc(e))


PIECES: dict[Any, Pieces] = {
    Hinge: Pieces(
        value=lambda loss, t: np.maximum(1.0 - t, 0.0),
        slope=lambda loss, t: -1.0 * (t < 1.0),
        curvature=lambda loss, t: 0.0 * t,
        concave_slope=lambda loss, t: 0.0 * t,
        stationarity=lambda loss, m, t: _hinge_stationarity(m, t, -np.inf),
    ),
    SmoothedHinge: Pieces(
        value=lambda loss, t: _smoothed_hinge(loss, t),
        slope=lambda loss, t: -0.5 * _erfc(_scaled_margin(loss, t)),
        curvature=lambda loss, t: np.exp(-(_scaled_margin(loss, t) ** 2)) / (ROOT_PI * loss.width),
        concave_slope=lambda loss, t: 0.0 * t,
        stationarity=lambda loss, m, t: np.abs(m - 0.5 * _erfc(_scaled_margin(loss, t))),
    ),
    SquaredHinge: Pieces(
        value=lambda loss, t: np.maximum(1.0 - t, 0.0) ** 2,
        slope=lambda loss, t: -2.0 * np.maximum(1.0 - t, 0.0),
        curvature=lambda loss, t: 2.0 * (t < 1.0),
        concave_slope=lambda loss, t: 0.0 * t,
        stationarity=lambda loss, m, t: np.where(m > 0.0, np.abs(1.0 - 0.5 * m - t), np.maximum(1.0 - t, 0.0)),
    ),
    Squared: Pieces(
        value=lambda loss, t: 0.5 * (1.0 - t) ** 2,
        slope=lambda loss, t: t - 1.0,
        curvature=lambda loss, t: 0.0 * t + 1.0,
        concave_slope=lambda loss, t: 0.0 * t,
        stationarity=lambda loss, m, t: np.abs(1.0 - m - t),
    ),
    Ramp: Pieces(
        value=lambda loss, t: np.minimum(1.0 - loss.s, np.maximum(1.0 - t, 0.0)),
        slope=lambda loss, t: -1.0 * (t < 1.0) * (t >= loss.s),
        curvature=lambda loss, t: 0.0 * t,
        concave_slope=lambda loss, t: 1.0 * (t < loss.s),
        stationarity=lambda loss, m, t: _hinge_stationarity(m, t, loss.s),
    ),
    SymmetricHinge: Pieces(
        value=lambda loss, t: np.maximum(1.0 - np.abs(t), 0.0),
        slope=lambda loss, t: 1.0 * (t < 0.0) * (t >= -1.0) - 1.0 * (t >= 0.0) * (t < 1.0),
        curvature=lambda loss, t: 0.0 * t,
        concave_slope=lambda loss, t: 1.0 * (t < 0.0) - 1.0 * (t >= 0.0),
        stationarity=lambda loss, m, t: _symmetric_stationarity(m, t, 0.0),
    ),
    SymmetricSquaredHinge: Pieces(
        value=lambda loss, t: np.maximum(1.0 - np.abs(t), 0.0) ** 2,
        slope=lambda loss, t: -2.0 * np.maximum(1.0 - np.abs(t), 0.0) * (1.0 * (t >= 0.0) - 1.0 * (t < 0.0)),
        curvature=lambda loss, t: 2.0 * (np.abs(t) < 1.0),
        concave_slope=lambda loss, t: 2.0 * (t < 0.0) - 2.0 * (t >= 0.0),
        stationarity=lambda loss, m, t: np.where(
            m == 0.0, np.maximum(1.0 - np.abs(t), 0.0), np.abs(np.sign(m) * (1.0 - 0.5 * np.abs(m)) - t)
        ),
    ),
    SymmetricSquared: Pieces(
        value=lambda loss, t: 0.5 * (1.0 - np.abs(t)) ** 2,
        slope=lambda loss, t: t + 1.0 * (t < 0.0) - 1.0 * (t >= 0.0),
        curvature=lambda loss, t: 0.0 * t + 1.0,
        concave_slope=lambda loss, t: 1.0 * (t < 0.0) - 1.0 * (t >= 0.0),
        stationarity=lambda loss, m, t: np.minimum(
            np.where(m <= 1.0, np.abs(1.0 - m - t), np.inf), np.where(m >= -1.0, np.abs(1.0 + m + t), np.inf)
        ),
    ),
    SymmetricRamp: Pieces(
        value=lambda loss, t: np.minimum(1.0 + loss.s, np.maximum(1.0 - np.abs(t), 0.0)),
        slope=lambda loss, t: 1.0 * (t < loss.s) * (t >= -1.0) - 1.0 * (t >= -loss.s) * (t < 1.0),
        curvature=lambda loss, t: 0.0 * t,
        concave_slope=lambda loss, t: 1.0 * (t < loss.s) - 1.0 * (t >= -loss.s),
        stationarity=lambda loss, m, t: _symmetric_stationarity(m, t, loss.s),
    ),
    Gaussian: Pieces(
        value=lambda loss, t: np.exp(-loss.scale * t**2),
        slope=lambda loss, t: -2.0 * loss.scale * t * np.exp(-loss.scale * t**2),
        curvature=lambda loss, t: 2.0 * loss.scale * (2.0 * loss.scale * t**2 - 1.0) * np.exp(-loss.scale * t**2),
        concave_slope=lambda loss, t: -2.0 * loss.scale * t,
        stationarity=lambda loss, m, t: np.abs(m - 2.0 * loss.scale * t * np.exp(-loss.scale * t**2)),
    ),
}

LABELED: dict[str, type] = {"hinge": Hinge, "squared_hinge": SquaredHinge, "squared": Squared, "ramp": Ramp}
UNLABELED: dict[str, type] = {
    "symmetric_hinge": SymmetricHinge,
    "symmetric_squared_hinge": SymmetricSquaredHinge,
    "symmetric_squared": SymmetricSquared,
    "symmetric_ramp": SymmetricRamp,
    "gaussian": Gaussian,
}


SYMMETRIC_FORMS: dict[type, type] = {  # the labeled loss at the better of both labels
    Hinge: SymmetricHinge,
    SquaredHinge: SymmetricSquaredHinge,
    Squared: SymmetricSquared,
}


def value(loss: Loss, t: Array) -> Array:
    """The loss at t, a number or an array."""
    return PIECES[type(loss)].value(loss, t)


def slope(loss: Loss, t: Array) -> Array:
    """The derivative at t; the right-hand one at a kink."""
    return PIECES[type(loss)].slope(loss, t)


def curvature(loss: Loss, t: Array) -> Array:
    """The second derivative at t; that of the right-hand side at a kink."""
    return PIECES[type(loss)].curvature(loss, t)


def concave_slope(loss: Loss, t: Array) -> Array:
    """The derivative of the concave part at t."""
    return PIECES[type(loss)].concave_slope(loss, t)


def stationarity(loss: Loss, m: Array, t: Array) -> Array:
    """Distance from t to the nearest argument where -m is a (sub)derivative of the loss."""
    return PIECES[type(loss)].stationarity(loss, m, t)


def of_sample(loss: Loss, i: Any) -> Loss:
    """The loss of sample i, or of the samples i, where a parameter has a number per sample."""
    return type(loss)(*(parameter[i] if isinstance(parameter, np.ndarray) else parameter for parameter in loss))


def _overload_of_sample(loss: Any, i: Any) -> Callable:
    if not any(isinstance(kind, types.Array) for kind in loss.types):
        return lambda loss, i: loss
    cls = loss.instance_class
    return lambda loss, i: cls(loss[0][i])


overload(of_sample, strict=False)(_overload_of_sample)


def _overload(generic: Callable) -> None:
    """Let compiled code call a piece by the type of the loss tuple."""

    def implementation(loss: Any, t: Any) -> Callable | None:
        pieces = PIECES.get(getattr(loss, "instance_class", None))
        return None if pieces is None else getattr(pieces, generic.__name__)

    overload(generic, strict=False)(implementation)  # the annotations differ from those of the pieces


for _generic in (value, slope, curvature):
    _overload(_generic)
