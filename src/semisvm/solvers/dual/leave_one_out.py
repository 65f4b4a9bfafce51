r"""Scores of samples by the SVM without them, from the solution with them: no model is trained again.

As long as no other sample changes between free, bounded and zero, leaving out a sample of multiplier :math:`a_i` moves
its score to

.. math:: f_i - a_i S_i^2, \qquad S_i^2 = \frac{1}{(H^{-1})_{ii}} - D_{ii} \text{ if it is free}, \quad
   k_{ii} - v'H^{-1}v \text{ if it is not}, \qquad
   H = \begin{pmatrix} K_{FF} + D & 1 \\ 1' & 0 \end{pmatrix}, \quad v = \begin{pmatrix} k_{Fi} \\ 1 \end{pmatrix}

with F the free samples and D the ridge of the squared hinge, 1/(2c); S is the span of [1]_. Without a free intercept
there is no border, and the kernel of a regularized one is K + 1. Samples without a multiplier keep their score. Equal
samples are left out together: they are one sample, whose multiplier is the sum of theirs.

References
----------
.. [1] V. Vapnik and O. Chapelle, "Bounds on error expectation for support vector machines", Neural Computation 12,
   2000. https://doi.org/10.1162/089976600300015042
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._threads import single_blas_thread
from ...losses import Hinge, SquaredHinge
from ...problem import Problem
from ...solution import Solution

AT_BOUND = 1e-9  # of its bound: a multiplier this close is there
LIMIT = 2000  # free samples up to which their system is inverted
RIDGE = 1e-12  # of the largest element: what makes a system of dependent samples solvable


class ActiveSamples(NamedTuple):
    """Free samples with their ridge D (zero for a hinge), and samples at their bound."""

    free: np.ndarray
    bounded: np.ndarray
    ridge: np.ndarray


def active_samples(problem: Problem, multipliers: np.ndarray) -> ActiveSamples:
    """The samples of a hinge or squared hinge that have a multiplier."""
    size, c = np.abs(multipliers), problem.cost
    if isinstance(problem.labeled, SquaredHinge):
        free = np.flatnonzero(size > 0)
        return ActiveSamples(free, np.zeros(0, dtype=int), 0.5 / c[free])
    free = np.flatnonzero((size > AT_BOUND * c) & (size < (1.0 - AT_BOUND) * c))
    return ActiveSamples(free, np.flatnonzero((size >= (1.0 - AT_BOUND) * c) & (c > 0)), np.zeros(len(free)))


def can_leave_one_out(problem: Problem) -> bool:
    """Whether it is a supervised problem of one of the two losses, whatever solves it."""
    is_hinge = isinstance(problem.labeled, (Hinge, SquaredHinge)) and problem.norm == 2
    return is_hinge and not len(problem.searched) and problem.fixed_mean is None


def leave_one_out_scores(problem: Problem, solution: Solution, equal: np.ndarray) -> np.ndarray | None:
    """Scores of the labeled samples, each by the model without it; None if more than ``LIMIT`` samples are free.

    Parameters
    ----------
    problem, solution : Problem, Solution
        A supervised problem with hinge or squared hinge, and its solution.
    equal : int array of shape (n,)
        A number for each sample, the same for equal ones.
    """
    part, active = problem.labeled_samples, active_samples(problem, solution.multipliers)
    numbers, first, group = np.unique(equal[part], return_index=True, return_inverse=True)
    total = np.bincount(group, solution.multipliers[part], len(numbers))
    stiffness = np.zeros(len(numbers))  # 1/ridge, which equal samples have in sum
    position = np.searchsorted(numbers, equal[active.free])
    with np.errstate(divide="ignore"):
        np.add.at(stiffness, position, 1.0 / active.ridge)
    free, others = np.flatnonzero(stiffness), np.flatnonzero((stiffness == 0) & (total != 0))
    if len(free) > LIMIT:
        return None
    span = np.zeros(len(numbers))
    span[free], span[others] = _spans(problem, part[first[free]], 1.0 / stiffness[free], part[first[others]])
    held_out = solution.scores.copy()
    held_out[part] -= (total * span)[group]
    return held_out


def _spans(problem: Problem, free: np.ndarray, ridge: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S^2 of free samples and of others; k(x, x) where nothing but the sample itself fixes b, which then stays."""
    gram, n_free = problem.space.gram(), len(free)
    shift = 1.0 if problem.intercept == "regularized" else 0.0
    diagonal = gram.diagonal() + shift
    if not n_free:
        return diagonal[free], diagonal[others]
    border = problem.intercept is True
    H = np.ones((n_free + border, n_free + border))
    H[:n_free, :n_free] = gram.block(free) + shift
    H[np.arange(n_free), np.arange(n_free)] += ridge + RIDGE * np.abs(diagonal[free]).max()
    H[n_free:, n_free:] = 0.0
    columns = np.ones((n_free + border, len(others)))
    columns[:n_free] = gram.cross_block(free, others) + shift
    with single_blas_thread:
        inverse = np.linalg.inv(H)
        projected = np.einsum("ij,ij->j", columns, inverse @ columns)
    of_free = inverse.diagonal()[:n_free]
    is_fixed = of_free * diagonal[free] > RIDGE
    span = np.where(is_fixed, 1.0 / np.where(is_fixed, of_free, 1.0) - ridge, diagonal[free])
    return np.maximum(span, 0.0), np.maximum(diagonal[others] - projected, 0.0)
