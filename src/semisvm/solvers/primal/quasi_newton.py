"""L-BFGS for smooth objectives on dense features, compiled.

minimize  1/2 ||w||^2 + 1/2 rho b^2 + sum of losses of f = X w + b,      b = offset + beta'theta

over theta, which is w, or w and the intercept in units of its own (see ``operator``): beta is minus the mean of the
unlabeled samples where the mean of f is fixed, the unit of the intercept at its place where it is free, and zero where
there is none. rho is 1 where the intercept is part of the norm.

A direction is that of the last pairs of steps and changes of the gradient, around a preconditioner in place of a
multiple of the identity. Along it f is linear, so that a line search needs no product with X; the full step, which is
almost always taken, costs one pass over X, with its gradient.

References
----------
.. [1] D. C. Liu and J. Nocedal, "On the limited memory BFGS method for large scale optimization", Mathematical
   Programming 45, 1989. https://doi.org/10.1007/BF01589116
.. [2] W. W. Hager and H. Zhang, "A new conjugate gradient method with guaranteed descent and an efficient line
   search", SIAM Journal on Optimization 16, 2005. https://doi.org/10.1137/030601880
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import jit
from ..base import SPEED, StoppingRule
from .batch import POLISH
from .dense_pass import add_adjoint, add_row, add_two_adjoints, dot, full_step, losses_along, total_of
from .dense_woodbury import affine_map, build_metric, precondition
from .operator import Iterate, PrimalOperator, relative_norm
from .smooth_objective import SmoothObjective, loss_of_sample

MEMORY = 10  # pairs that are kept
DECREASE, CURVATURE = 1e-4, 0.9  # Wolfe's conditions
ROUNDING = 1e-13  # of the value: a decrease below it is lost, and the derivative alone decides
MAX_TRIALS = 60  # of a line search
SECONDS = 0.2  # that a compiled call takes at most, about: then the deadline is looked at


class State(NamedTuple):
    """Where the iterations are; the arrays are changed in place.

    Attributes
    ----------
    theta, f, gradient : arrays
        The point, its scores, and the gradient of the objective by theta.
    steps, changes : arrays of shape (MEMORY, size)
        The last steps, and the changes of the gradient, in a ring.
    products : array of shape (MEMORY,)
        step'change of the pairs.
    counts : int array of shape (2,)
        Number of pairs so far, and of passes over X.
    """

    theta: np.ndarray
    f: np.ndarray
    gradient: np.ndarray
    steps: np.ndarray
    changes: np.ndarray
    products: np.ndarray
    counts: np.ndarray


@jit()
def _descent_direction(state, root, V, out):
    """Minus the approximate inverse Hessian times the gradient, by the two loops over the pairs."""
    n_pairs = state.counts[0]
    first = max(0, n_pairs - MEMORY)
    q, a = np.zeros(len(out)), np.empty(MEMORY)
    add_row(state.gradient, 1.0, q)
    for k in range(n_pairs - 1, first - 1, -1):
        at = k % MEMORY
        a[at] = dot(state.steps[at], q) / state.products[at]
        add_row(state.changes[at], -a[at], q)
    precondition(root, V, q, out)
    scale = -1.0
    if n_pairs:
        last = (n_pairs - 1) % MEMORY
        precondition(root, V, state.changes[last], q)
        size = dot(state.changes[last], q)
        scale = -state.products[last] / size if size > 0.0 else -1.0  # the change may be too small to be squared
    for j in range(len(out)):
        out[j] *= scale
    for k in range(first, n_pairs):
        at = k % MEMORY
        b = dot(state.changes[at], out) / state.products[at]
        add_row(state.steps[at], -a[at] - b, out)


@jit()
def _norm_gradient(affine, theta, out):
    """Gradient of half the squared norm."""
    d = affine.X.shape[1]
    for j in range(len(theta)):
        out[j] = theta[j] if j < d else 0.0
    if affine.rho > 0.0:
        add_row(affine.beta, affine.rho * (affine.offset + dot(affine.beta, theta)), out)


@jit()
def _next_trial(before, slope_before, t, slope, low, high):
    """The next step to try between low and high: where the derivative would be zero if it were linear.

    It is known at t and at a step before, one of which is low or high.
    """
    new = t - slope * (t - before) / (slope - slope_before) if slope > slope_before else np.inf
    if high == np.inf:
        return min(max(new, 2.0 * t), 10.0 * t)
    margin = 0.1 * (high - low)
    return new if low + margin <= new <= high - margin else 0.5 * (low + high)


@jit()
def _search(objective, state, z, line, t, value, along, slopes):
    """A step that meets Wolfe's conditions, 0 if none is found; ``slopes`` are those there.

    ``line`` is the value at 0, the first and second derivative of half the squared norm, and the derivative at 0;
    ``value`` and ``along`` are the losses and their derivative at t.
    """
    start, first, second, slope_at_zero = line
    low, slope_low, high = 0.0, slope_at_zero, np.inf
    for _ in range(MAX_TRIALS):
        change = t * first + 0.5 * t * t * second + value - start
        slope = first + t * second + along
        decreased = change <= DECREASE * t * slope_at_zero or (
            change <= ROUNDING * abs(start) and slope <= (2.0 * DECREASE - 1.0) * slope_at_zero
        )
        if decreased and abs(slope) <= -CURVATURE * slope_at_zero:
            return t
        before, slope_before = low, slope_low
        if decreased and slope < 0.0:
            low, slope_low = t, slope
        else:
            high = t
        t = _next_trial(before, slope_before, t, slope, low, high)
        if not low < t < high:
            break
        value, along = losses_along(objective, state.f, z, t, slopes)
    return 0.0


@jit()
def lbfgs(affine, objective, root, V, state, goal, scale, max_steps):
    """Make steps until the norm of the gradient is ``goal`` times (scale + ||theta||), or none decreases the value.

    Returns the number of steps that were made, less than ``max_steps`` where the iterations have ended.
    """
    X, (n, d), size = affine.X, affine.X.shape, len(state.theta)
    z, slopes, by_w = np.empty(n), np.empty(n), np.empty(d)
    direction, new_gradient, norm_gradient = np.empty(size), np.empty(size), np.empty(size)
    value, _ = losses_along(objective, state.f, state.f, 0.0, slopes)
    for n_steps in range(max_steps):
        if np.sqrt(dot(state.gradient, state.gradient)) <= goal * (scale + np.sqrt(dot(state.theta, state.theta))):
            return n_steps
        _descent_direction(state, root, V, direction)
        slope = dot(direction, state.gradient)
        if not slope < 0.0:
            return n_steps
        _norm_gradient(affine, state.theta, norm_gradient)
        shift = dot(affine.beta, direction)
        first = dot(norm_gradient, direction)
        second = dot(direction[:d], direction[:d]) + affine.rho * shift * shift
        new_value, along = full_step(X, affine.ends, objective, state.f, direction[:d], shift, z, slopes, by_w)
        state.counts[1] += 1
        # differences are of the whole objective: the norm counts in what is lost by rounding
        t = _search(objective, state, z, (value, first, second, slope), 1.0, new_value, along, slopes)
        if t == 0.0:
            return n_steps
        if t != 1.0:
            for j in range(d):
                by_w[j] = 0.0
            add_adjoint(X, affine.ends, slopes, by_w)
            state.counts[1] += 1
            new_value, _ = losses_along(objective, state.f, z, t, slopes)
        value = new_value
        for j in range(size):
            direction[j] *= t
        add_row(direction, 1.0, state.theta)
        add_row(z, t, state.f)
        _norm_gradient(affine, state.theta, new_gradient)
        add_row(by_w, 1.0, new_gradient)
        add_row(affine.beta, total_of(slopes), new_gradient)
        _remember(state, direction, new_gradient)
    return max_steps


@jit()
def _remember(state, step, new_gradient):
    """Move to a new gradient, and keep the pair in place of the oldest one if the curvature along it is positive.

    ``new_gradient`` holds the change afterwards.
    """
    for j in range(len(step)):
        change = new_gradient[j] - state.gradient[j]
        state.gradient[j] = new_gradient[j]
        new_gradient[j] = change
    product = dot(step, new_gradient)
    if not product > 1e-14 * np.sqrt(dot(step, step) * dot(new_gradient, new_gradient)):
        return
    at = state.counts[0] % MEMORY
    state.products[at] = product
    for j in range(len(step)):
        state.steps[at, j] = step[j]
        state.changes[at, j] = new_gradient[j]
    state.counts[0] += 1


@jit()
def begin(affine, objective, state):
    """Gradient at the start; returns the norm of the gradient of the losses at theta = 0, and their sum of sizes."""
    n, d = affine.X.shape
    slopes, slopes_at_zero, at_zero, sizes = np.empty(n), np.empty(n), np.zeros(len(state.theta)), 0.0
    for i in range(n):
        slopes_at_zero[i] = loss_of_sample(objective, i, affine.offset)[1]
        sizes += abs(slopes_at_zero[i])
    losses_along(objective, state.f, state.f, 0.0, slopes)
    _norm_gradient(affine, state.theta, state.gradient)
    add_two_adjoints(affine.X, affine.ends, slopes_at_zero, at_zero[:d], slopes, state.gradient[:d])
    add_row(affine.beta, total_of(slopes_at_zero), at_zero)
    add_row(affine.beta, total_of(slopes), state.gradient)
    return np.sqrt(dot(at_zero, at_zero)), sizes


def minimize(
    operator: PrimalOperator,
    objective: SmoothObjective,
    start: Iterate,
    tol: float,
    max_steps: int,
    stop: StoppingRule,
    n_polish: int = 0,
) -> Iterate:
    """Minimize 1/2 ||w||^2 + objective(f) on dense features; parameters as in ``trust_region.minimize``."""
    affine = affine_map(operator)
    steps, changes = np.empty((2, MEMORY, operator.size))
    counts = np.zeros(2, dtype=np.int64)
    state = State(start.theta.copy(), start.f.copy(), np.empty(operator.size), steps, changes, np.empty(MEMORY), counts)
    scale = operator.scale_above_rounding(*begin(affine, objective, state))
    root, V = build_metric(affine, objective, state.f)
    at_once = max(1, int(SECONDS * SPEED / (2.0 * affine.X.size)))

    def make_steps(goal: float, n_left: int) -> int:
        """Make steps until the goal is reached or none is left; returns how many are left."""
        while n_left > 0 and not stop.time_is_over:
            n_steps = min(at_once, n_left)
            n_made = lbfgs(affine, objective, root, V, state, goal, scale, n_steps)
            n_left -= n_made
            if n_made < n_steps:
                break
        return n_left

    n_left = make_steps(tol, max_steps)
    if n_polish and relative_norm(state.gradient, scale, state.theta) <= tol:
        make_steps(POLISH * tol, n_polish)
        make_steps(tol, n_left)  # the value decreases with every step, the norm of the gradient may increase
    return Iterate(state.theta, state.f, relative_norm(state.gradient, scale, state.theta))
