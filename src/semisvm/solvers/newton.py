"""Finite Newton (Keerthi and DeCoste; SVMlin): squared hinges in the primal, for several problems at once.

minimise  1/2 ||w||^2 + sum c+ (1 - f)_+^2 + c- (1 + f)_+^2

piece by piece quadratic and convex. A label y of cost c is c+ or c- alone; a row that is positive with probability p
has both. A Newton step solves the piece at hand by preconditioned conjugate gradients, and an exact search along it
finds where the slope, a broken line, crosses zero. Problems over one table are solved side by side: a pass over the
table serves all that are not finished.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._jit import jit
from .plane import Plane

NEWTON_STEPS = 200
CG_STEPS = 1000


class Costs(NamedTuple):
    """What (1 - f)_+^2 and (1 + f)_+^2 cost at every row, in columns."""

    up: np.ndarray
    down: np.ndarray

    def take(self, columns: np.ndarray) -> Costs:
        """Some of the columns."""
        return Costs(np.ascontiguousarray(self.up[:, columns]), np.ascontiguousarray(self.down[:, columns]))


class Point(NamedTuple):
    """Where a solve ended, in columns: theta, f, and the gradient relative to the pull of the losses at w = 0."""

    theta: np.ndarray
    f: np.ndarray
    violation: np.ndarray


@jit()
def _slopes(f, up, down, slope, bend):
    """First and second derivative of the losses by f."""
    for i in range(f.shape[0]):
        for k in range(f.shape[1]):
            below, above = max(1.0 - f[i, k], 0.0), max(1.0 + f[i, k], 0.0)
            slope[i, k] = 2.0 * (down[i, k] * above - up[i, k] * below)
            bend[i, k] = 2.0 * (down[i, k] * (above > 0.0) + up[i, k] * (below > 0.0))


@jit()
def _along(f, z, up, down, t):
    """First and second derivative of the losses by t at f + t z."""
    slope, bend = 0.0, 0.0
    for i in range(len(f)):
        g = f[i] + t * z[i]
        below, above = max(1.0 - g, 0.0), max(1.0 + g, 0.0)
        slope += 2.0 * z[i] * (down[i] * above - up[i] * below)
        bend += 2.0 * z[i] * z[i] * (down[i] * (above > 0.0) + up[i] * (below > 0.0))
    return slope, bend


@jit()
def exact_step(f, z, up, down, start, rise):
    """The t at which the slope start + rise t + (that of the losses at f + t z) is zero.

    Newton's method between bounds: the slope grows and is a broken line, so that it ends on the piece with the root.
    """
    low, high, t = 0.0, np.inf, 1.0
    first, _ = _along(f, z, up, down, 0.0)
    goal = 1e-13 * abs(start + first)
    for _ in range(200):
        slope, bend = _along(f, z, up, down, t)
        slope, bend = slope + start + rise * t, bend + rise
        if abs(slope) <= goal:
            break
        if slope < 0.0:
            low = t
        else:
            high = t
        new = t - slope / bend if bend > 0.0 else np.inf
        if not low < new < high:
            new = 0.5 * (low + high) if high < np.inf else 2.0 * t
        if new == t or t > 1e100:
            break
        t = new
    return t


def slopes_of(f: np.ndarray, costs: Costs) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivative of the losses by f."""
    slope, bend = np.empty_like(f), np.empty_like(f)
    _slopes(f, costs.up, costs.down, slope, bend)
    return slope, bend


def minimise(plane: Plane, costs: Costs, start: Point, tol: np.ndarray, late: Callable[[], bool]) -> Point:
    """Solve all columns from ``start``, each to its own ``tol``.

    Parameters
    ----------
    plane : Plane
        Of as many problems as there are columns.
    costs : Costs
        Of the losses.
    start : Point
        Where to begin.
    tol : array of shape (k,)
        The violation at which a column is done.
    late : callable
        Asked before every step whether time is over.
    """
    theta, f, violation = start.theta.copy(), start.f.copy(), np.zeros(len(tol))
    live = np.arange(len(tol))
    pull = _pull_at_zero(plane, costs, theta)
    for _ in range(NEWTON_STEPS):
        own, part, now = plane.take(live), costs.take(live), np.ascontiguousarray(f[:, live])
        slope, bend = slopes_of(now, part)
        gradient = own.norm_slope(theta[:, live]) + own.adjoint(slope)
        size = np.linalg.norm(gradient, axis=0)
        measure = np.maximum(pull[live] + np.linalg.norm(theta[:, live], axis=0), np.finfo(float).tiny)
        violation[live] = size / measure
        open_ = violation[live] > tol[live]
        if not open_.any() or late():
            break
        if not open_.all():
            own, part, now = own.take(open_), part.take(open_), np.ascontiguousarray(now[:, open_])
            bend, gradient, size, live = (
                np.ascontiguousarray(bend[:, open_]),
                gradient[:, open_],
                size[open_],
                live[open_],
            )
        enough = np.maximum(np.minimum(0.1, np.sqrt(violation[live])) * size, 0.5 * tol[live] * measure[open_])
        step = _newton_step(own, bend, gradient, enough)
        z = own.product(step)
        rise = (step * own.norm_product(step)).sum(axis=0)
        first = (step * own.norm_slope(theta[:, live])).sum(axis=0)
        t = np.array(
            [
                exact_step(now[:, k], z[:, k], part.up[:, k], part.down[:, k], first[k], rise[k])
                for k in range(len(live))
            ]
        )
        theta[:, live] += t * step
        f[:, live] += t * z
    return Point(theta, f, violation)


def _pull_at_zero(plane: Plane, costs: Costs, theta: np.ndarray) -> np.ndarray:
    """The gradient of the losses at theta = 0, or what rounding may leave of it where the rows cancel."""
    _, b = plane.split(np.zeros_like(theta))
    slope, _ = slopes_of(np.ascontiguousarray(np.broadcast_to(b, costs.up.shape)), costs)
    return np.maximum(np.linalg.norm(plane.adjoint(slope), axis=0), plane.rounding(slope))


def _newton_step(plane: Plane, bend: np.ndarray, gradient: np.ndarray, tol: np.ndarray) -> np.ndarray:
    """-H^-1 gradient for every column, by conjugate gradients with the diagonal of H as preconditioner."""
    scale = plane.diagonal(bend)
    scale[scale <= 0.0] = 1.0
    step = np.zeros_like(gradient)
    live = np.arange(len(tol))
    x, r = step.copy(), -gradient
    z = r / scale
    p, rz = z, (r * z).sum(axis=0)
    for _ in range(CG_STEPS):
        q = plane.curved(p, bend)
        curve = (p * q).sum(axis=0)
        a = np.where(curve > 0.0, rz / np.where(curve > 0.0, curve, 1.0), 0.0)
        x, r = x + a * p, r - a * q
        done = (np.linalg.norm(r, axis=0) <= tol[live]) | (curve <= 0.0)
        if done.any():
            step[:, live[done]] = x[:, done]
            if done.all():
                return step
            keep = ~done
            plane, bend, live = plane.take(keep), np.ascontiguousarray(bend[:, keep]), live[keep]
            x, r, p, rz, scale = x[:, keep], r[:, keep], p[:, keep], rz[keep], scale[:, keep]
        z = r / scale
        new = (r * z).sum(axis=0)
        p, rz = z + new / rz * p, new
    step[:, live] = x
    return step
