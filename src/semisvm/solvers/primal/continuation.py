"""Continuation S3VM: the objective is smoothed until it is convex, then the smoothing decreases.

The objective is convolved with a Gaussian of variance gamma/2 in every coordinate of w. Both losses depend on w through
f alone, so the loss of a sample of norm |x| is smoothed by a Gaussian of variance gamma |x|^2 / 2. With
e = (y f - 1) / (gamma^1/2 |x|) and a = 1 + gamma s |x|^2,

    hinge      gamma^1/2 |x| / 2 [exp(-e^2)/pi^1/2 - e erfc(e)]       derivative -erfc(e)/2 by y f
    gaussian   a^-1/2 exp(-s f^2/a)

and a constant. At gamma_0 = (2 s lam)^(2/3) / s, lam the largest eigenvalue of sum c x x'/|x|^3 over the unlabeled
samples, the whole is convex; eleven levels lead by a constant factor to gamma_end = 1/(10 s max |x|^2). The maximum is
over the unlabeled samples, but at least half of that over the labeled ones: unlabeled samples that coincide have norm 0
after centering, and the hinge has to be sharp at the end all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from ...balance import Free, Mean
from ...losses import Gaussian, Hinge, SmoothedHinge
from ...problem import Problem
from ..base import Accepts
from .batch import run_batched
from .lanczos import largest_by_lanczos
from .operator import PrimalOperator
from .smooth_objective import SmoothObjective
from .smooth_path import SmoothPath

EIGENVALUE_TOL = 1e-4
NARROW = 1e-150  # width of the smoothing at a sample of norm 0: margins divided by it do not overflow


@dataclass(frozen=True)
class Continuation(SmoothPath):
    """Eleven levels of smoothing, the first convex; each is minimized from the end of the one before.

    Parameters
    ----------
    tol : float
        Norm of the gradient at which a level is solved, relative to that of the losses at w = 0.
    max_iter : int
        Largest number of steps at a level.
    n_levels : int
        Number of levels.
    max_time : float or None
        Seconds after which the best solution so far is returned.

    References
    ----------
    O. Chapelle, M. Chi and A. Zien, "A continuation method for semi-supervised SVMs", ICML, 2006.
    https://doi.org/10.1145/1143844.1143868
    """

    accepts: ClassVar[Accepts] = Accepts((Hinge,), (Gaussian,), (Free, Mean), space="features", batch=True)

    def levels(self, problem: Problem) -> list[tuple[float, SmoothObjective]]:
        """gamma, and the smoothed losses."""
        norms = PrimalOperator(problem).sample_norms()
        return [(gamma, smoothed_losses(problem, norms, gamma)) for gamma in smoothing(problem, norms, self.n_levels)]


def _gaussian_scale(problem: Problem) -> float:
    assert isinstance(problem.unlabeled, Gaussian), "continuation smooths the Gaussian loss"
    return problem.unlabeled.scale


def smoothing(problem: Problem, norms: np.ndarray, n_levels: int) -> list[float]:
    """gamma of the levels."""
    scale = _gaussian_scale(problem)
    largest = float(max(norms[problem.searched].max(), 0.5 * norms[problem.labeled_samples].max(initial=0.0)))
    last = 1.0 / (10.0 * scale * max(largest**2, 1e-300))
    first = (2.0 * scale * largest_eigenvalue(problem, norms)) ** (2.0 / 3.0) / scale
    return [float(gamma) for gamma in np.geomspace(max(first, 10.0 * last), last, n_levels)]


def largest_eigenvalue(problem: Problem, norms: np.ndarray) -> float:
    """Largest eigenvalue of the sum over unlabeled samples of c x x'/|x|^3; samples of norm 0 are left out."""
    operator = PrimalOperator(problem)
    weights = np.zeros(len(norms))
    used = ~problem.is_labeled & (norms > 0)
    weights[used] = problem.cost[used] / norms[used] ** 3
    size = operator.design.d
    if not weights.any():
        return 0.0
    start = np.random.default_rng(0).normal(size=size)  # a fixed direction may be orthogonal to all samples
    if operator.design.has_rows:
        mean = np.zeros(size) if operator.mean is None else operator.mean
        return 1.001 * largest_by_lanczos(operator.design, mean, weights, start, EIGENVALUE_TOL)

    def product(v: np.ndarray) -> np.ndarray:
        full = np.append(v, 0.0) if operator.has_b else v
        (image,) = run_batched(operator.design, [operator.product(full)])
        (out,) = run_batched(operator.design, [operator.adjoint(weights * image)])
        return out[:size]

    if size <= 2:
        return float(np.linalg.eigvalsh(np.column_stack([product(unit) for unit in np.eye(size)]))[-1])
    matrix = LinearOperator((size, size), matvec=lambda v: product(np.asarray(v).ravel()), dtype=np.float64)
    largest = eigsh(matrix, 1, which="LA", v0=start, tol=EIGENVALUE_TOL, return_eigenvectors=False)[0]
    return 1.001 * float(largest)  # a little above, so that the first level is convex in spite of Lanczos' tolerance


def smoothed_losses(problem: Problem, norms: np.ndarray, gamma: float) -> SmoothObjective:
    """The losses of a problem, smoothed: a Gaussian is one of another scale and cost."""
    width = np.maximum(np.sqrt(gamma) * norms, NARROW)
    counts = ~problem.is_labeled & (problem.cost > 0.0)  # others may be larger than gamma allows for
    a = 1.0 + gamma * _gaussian_scale(problem) * np.where(counts, norms, 0.0) ** 2
    unlabeled = Gaussian(_gaussian_scale(problem) / a)
    return SmoothObjective(SmoothedHinge(width), unlabeled, problem.signs, problem.cost / np.sqrt(a))
