r"""Least squares at one point of a family: what leave-one-out criteria, GCV and the evidence are functions of.

With M = K + diag(1/c) and S as in :mod:`semisvm.solvers.least_squares.quadratic_form`, these are alpha = S y, the
diagonal of S and log det H, the determinant of M bordered by ones where the intercept is free. In every case

.. math:: dS = -S\,dM\,S, \quad d\alpha = -S\,dM\,\alpha, \quad d \log|\det H| = \operatorname{tr}(S\,dM)

so that a criterion with derivatives g in alpha, s in the diagonal and t in log det has the derivative
:math:`-(Sg)\alpha' - S \operatorname{diag}(s) S + t S` in M, whatever the number of hyperparameters.

References
----------
.. [1] G. C. Cawley, "Leave-one-out cross-validation based model selection criteria for weighted LS-SVMs", IJCNN, 2006.
   https://doi.org/10.1109/IJCNN.2006.246634
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ...solvers.least_squares.system import build_system
from .model_family import Member


@dataclass(frozen=True)
class Slopes:
    """Derivatives of a criterion in alpha (m, k), the diagonal of S (m,), log det H and the logarithms of c (m,)."""

    alpha: np.ndarray
    diagonal: np.ndarray
    log_det: float
    cost: np.ndarray


@dataclass(frozen=True)
class LeastSquaresModels(ABC):
    """The least-squares models of k binary problems on m samples.

    Attributes
    ----------
    y, alpha : arrays of shape (m, k)
        Labels, given or found, and multipliers.
    diagonal : array of shape (m,)
        S_ii.
    log_det : float
        log |det H|.
    cost : array of shape (m,)
        c.
    samples : int array of shape (m,)
        The samples, by their positions among those of the fit.
    labeled : int array
        Positions in ``samples`` of those whose label was given.
    degrees : int
        Degrees of freedom: m, less one if the intercept is free.
    """

    y: np.ndarray
    alpha: np.ndarray
    diagonal: np.ndarray
    log_det: float
    cost: np.ndarray
    samples: np.ndarray
    labeled: np.ndarray
    degrees: int

    @abstractmethod
    def gradient(self, slopes: Slopes) -> np.ndarray:
        """The gradient in the logarithms of the hyperparameters."""


@dataclass(frozen=True)
class DenseModels(LeastSquaresModels):
    """Models by the inverse S."""

    S: np.ndarray
    member: Member

    def gradient(self, slopes: Slopes) -> np.ndarray:
        """By the derivative in M, one product of two matrices."""
        in_M = slopes.log_det * self.S - (self.S @ slopes.alpha) @ self.alpha.T
        if slopes.diagonal.any():
            in_M -= (self.S * slopes.diagonal) @ self.S
        in_cost = slopes.cost - in_M.diagonal() / self.cost  # of 1/c on the diagonal of M
        n = len(self.member.family.codes)
        in_kernel = in_M
        if len(self.samples) < n or (self.samples != np.arange(n)).any():
            in_kernel = np.zeros((n, n))
            in_kernel[np.ix_(self.samples, self.samples)] = in_M
        labeled = in_cost[self.labeled].sum()
        return self.member.gradient(in_kernel, labeled, in_cost.sum() - labeled)


def dense_models(member: Member) -> DenseModels:
    """The models at a point; unlabeled samples have the labels that the estimator's search finds there."""
    solved = member.solve()
    system = build_system(solved[0].problem)  # the same for one class against the rest and another
    samples = system.samples
    m = len(samples)
    return DenseModels(
        y=np.column_stack([np.where(p.is_labeled, p.signs, s.labels)[samples] for p, s in solved]),
        alpha=np.column_stack([s.multipliers[samples] for _, s in solved]),
        diagonal=system.form.diagonal(),
        log_det=system.form.log_det,
        cost=solved[0].problem.cost[samples],
        samples=samples,
        labeled=system.labeled,
        degrees=m - 1 if member.family.intercept is True else m,
        S=system.form.block(np.arange(m)),
        member=member,
    )
