"""The Schur complement of the samples that are not yet part of a least-squares model, updated as they join it.

With L the labeled samples, H the bordered matrix of their system and U the others,

    C = K_UU + diag(1/c) - [K_UL, 1] H^-1 [K_LU; 1'] = diag(1/c) + Z~_U G^-1 Z~_U',     G = Z~_L'diag(c)Z~_L + R

(the second form for few features). The diagonal of C is the denominator of what a sample adds to the objective.
Eliminating sample j is a step of a pivoted Cholesky factorization, C <- C - C_j C_j' / C_jj; steps are collected in
panels and applied to the whole matrix together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.linalg import lapack

from ..._threads import blas_threads_for
from ...problem import Problem
from ...spaces import DesignMatrix, Features, submatrix
from .low_rank_form import LowRankForm


class SchurComplement(ABC):
    """C of the samples that were left when the last panel was applied."""

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """C_jj, a copy."""

    @abstractmethod
    def column(self, j: int) -> np.ndarray:
        """Column j of C."""

    @abstractmethod
    def apply_panel(self, kept: np.ndarray, eliminated: np.ndarray, panel: np.ndarray) -> None:
        """Eliminate samples.

        Parameters
        ----------
        kept, eliminated : int arrays
            Positions of the samples that stay and of those that go.
        panel : array of shape (s, u)
            The Cholesky columns of the eliminated samples, as rows.
        """


def build_complement(problem: Problem, is_dense: bool) -> SchurComplement:
    """C of the searched samples given the labeled ones, as a matrix or by the features."""
    if isinstance(problem.space, Features) and not is_dense:
        return LowRankComplement(problem, problem.space.X)
    return DenseComplement(problem)


class DenseComplement(SchurComplement):
    """C of the searched samples of a problem, as a matrix."""

    def __init__(self, problem: Problem):
        labeled, searched, cost = problem.labeled_samples, problem.searched, problem.cost
        K, m = problem.space.gram().block(np.concatenate([labeled, searched])), len(labeled)
        A = np.array(K[:m, :m], dtype=np.float64)
        B = np.array(K[:m, m:], dtype=np.float64)
        C = np.array(K[m:, m:], dtype=np.float64)
        del K
        if problem.intercept == "regularized":
            A, B, C = A + 1.0, B + 1.0, C + 1.0
        A[np.diag_indices(m)] += 1.0 / cost[labeled]
        C[np.diag_indices(len(searched))] += 1.0 / cost[searched]
        if problem.intercept is True:
            A = np.block([[A, np.ones((m, 1))], [np.ones((1, m)), np.zeros((1, 1))]])
            B = np.vstack([B, np.ones((1, len(searched)))])
        _, _, solved, failed = lapack.dsysv(A, B)  # linalg.solve would warn in its own words
        if failed or not np.isfinite(solved).all():
            raise ValueError("the kernel matrix of the labeled samples cannot be factorized; scale X or lower C.")
        with blas_threads_for(len(B) * C.size):
            C -= B.T @ solved
        self._C = C

    def diagonal(self) -> np.ndarray:
        """C_jj, a copy."""
        return self._C.diagonal().copy()

    def column(self, j: int) -> np.ndarray:
        """Column j of C."""
        return self._C[j]

    def apply_panel(self, kept: np.ndarray, eliminated: np.ndarray, panel: np.ndarray) -> None:
        """C of the samples kept, minus the product of their columns of the panel."""
        columns = panel[:, kept]
        self._C = submatrix(self._C, kept, kept)
        with blas_threads_for(len(columns) * self._C.size):
            self._C -= columns.T @ columns


class LowRankComplement(SchurComplement):
    """C = diag(1/c) + V V' with V = Z~_U L^-T, G = L L', from the features X of all samples: O(u r) memory."""

    def __init__(self, problem: Problem, X: Any):
        labeled, searched, cost = problem.labeled_samples, problem.searched, problem.cost
        self._V = LowRankForm(DesignMatrix(X[labeled]), cost[labeled], problem.intercept).whiten(X[searched])
        self._cost = cost[searched]

    def diagonal(self) -> np.ndarray:
        """C_jj, a copy."""
        return 1.0 / self._cost + np.einsum("ij,ij->i", self._V, self._V)

    def column(self, j: int) -> np.ndarray:
        """Column j of C."""
        column = self._V @ self._V[j]
        column[j] += 1.0 / self._cost[j]
        return column

    def apply_panel(self, kept: np.ndarray, eliminated: np.ndarray, panel: np.ndarray) -> None:
        """G grows by W'W, W = c^1/2 V of the samples eliminated: V <- V (I + W'W)^-1/2, in the row space of W."""
        W = np.sqrt(self._cost[eliminated])[:, None] * self._V[eliminated]
        _, singular_values, basis = np.linalg.svd(W, full_matrices=False)
        V = self._V[kept]
        V += ((V @ basis.T) * (1.0 / np.sqrt(1.0 + singular_values**2) - 1.0)) @ basis
        self._V, self._cost = V, self._cost[kept]
