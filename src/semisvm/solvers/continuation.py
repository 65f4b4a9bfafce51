"""Continuation S3VM (Chapelle, Chi and Zien): the objective is smoothed until it is convex, then sharpened.

The objective is convolved with a Gaussian of variance gamma/2 in every coordinate of w. Both losses depend on w through
f alone, so a row of length |x| sees its loss smoothed by a Gaussian of variance gamma |x|^2 / 2. With e = (y f - 1) /
(gamma^1/2 |x|) and a = 1 + gamma s |x|^2,

    hinge      gamma^1/2 |x| / 2 [exp(-e^2)/pi^1/2 - e erfc(e)]       slope -erfc(e)/2 by y f
    gaussian   a^-1/2 exp(-s f^2/a)

and a constant. At gamma_0 = (2 s lam)^(2/3) / s, lam the top eigenvalue of sum c x x'/|x|^3 over the unlabeled rows,
the whole is convex; eleven levels lead by a constant factor to gamma_end = 1/(10 s max |x|^2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.special import erfc

from ..balance import Free, Mean
from ..losses import Gaussian, Hinge
from ..problem import Problem
from ..solution import Solution
from .gradient import LEVELS, solve_paths
from .plane import Plane
from .trust_region import Level, joined


@dataclass(frozen=True)
class Continuation:
    """Eleven levels of smoothing, the first convex; Newton steps in a trust region at each.

    Parameters
    ----------
    tol : float
        Gradient at which a level is solved, relative to that of the losses at w = 0.
    max_iter : int
        Largest number of Newton steps a level.
    max_time : float or None
        Seconds after which the best so far is returned.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float | None = None

    losses = (Hinge,)
    unlabeled_losses = (type(None), Gaussian)
    balances = (Free, Mean)
    on_features = True

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Follow the path from w = 0."""
        return self.solve_all([problem], [callback])[0]

    def solve_all(self, problems: list[Problem], callbacks: list) -> list[Solution]:
        """Follow the paths of several problems in one space side by side."""
        return solve_paths(problems, levels_of, self, callbacks)


def levels_of(problem: Problem) -> list[tuple[float, Level]]:
    """The levels of a problem: gamma, and the smoothed losses."""
    lengths = Plane(problem).row_norms()
    return [(gamma, smoothed(problem, lengths, gamma)) for gamma in smoothing(problem, lengths)]


def smoothing(problem: Problem, lengths: np.ndarray) -> list[float]:
    """Gamma of the levels."""
    rest = ~problem.is_labeled & (problem.cost > 0)
    scale, longest = problem.unlabeled.scale, float(lengths[rest].max())
    end = 1.0 / (10.0 * scale * max(longest**2, 1e-300))
    first = (2.0 * scale * top_curvature(problem, lengths)) ** (2.0 / 3.0) / scale
    return [float(gamma) for gamma in np.geomspace(max(first, 10.0 * end), end, LEVELS)]


def top_curvature(problem: Problem, lengths: np.ndarray) -> float:
    """Top eigenvalue of the sum over unlabeled rows of c x x'/|x|^3; rows of no length are left out."""
    plane = Plane(problem)
    weights = np.zeros(len(lengths))
    used = ~problem.is_labeled & (lengths > 0)
    weights[used] = problem.cost[used] / lengths[used] ** 3
    size = plane.table.d

    def product(v: np.ndarray) -> np.ndarray:
        full = np.append(v, 0.0) if plane.extra else v
        return plane.adjoint(weights * plane.product(full))[:size]

    if size <= 2:
        return float(np.linalg.eigvalsh(np.column_stack([product(unit) for unit in np.eye(size)]))[-1])
    operator = LinearOperator((size, size), matvec=lambda v: product(np.asarray(v).ravel()), dtype=np.float64)
    if not weights.any():
        return 0.0
    start = np.full(size, size**-0.5)
    top = eigsh(operator, 1, which="LA", v0=start, tol=1e-4, return_eigenvectors=False)[0]
    return 1.001 * float(top)  # a little above, so that Lanczos' tolerance leaves the first level convex


def smoothed(problem: Problem, lengths: np.ndarray, gamma: float) -> Level:
    """The losses of a problem, smoothed."""
    known = problem.is_labeled
    signs, cost = problem.signs[known], problem.cost[known]
    width = np.sqrt(gamma) * np.maximum(lengths[known], np.finfo(float).tiny)
    s, rest = problem.unlabeled.scale, problem.cost[~known]
    a = 1.0 + gamma * s * lengths[~known] ** 2

    def bell(f):
        return rest * np.exp(-s * f[~known] ** 2 / a)

    def distance(f):
        return np.clip((signs * f[known] - 1.0) / width, -1e8, 1e8)

    def value(f):
        e = distance(f)
        own = cost @ (0.5 * width * (np.exp(-e * e) / np.sqrt(np.pi) - e * erfc(e)))
        return float(own + (bell(f) / np.sqrt(a)).sum())

    def slope(f):
        own = -0.5 * cost * signs * erfc(distance(f))
        return joined(known, own, -2.0 * s * f[~known] / a**1.5 * bell(f))

    def curvature(f):
        e = distance(f)
        own = cost * np.exp(-e * e) / (np.sqrt(np.pi) * width)
        return joined(known, own, 2.0 * s / a**1.5 * bell(f) * (2.0 * s * f[~known] ** 2 / a - 1.0))

    return Level(value, slope, curvature, known)
