r"""The form of a kernel matrix: a Cholesky factor of M, and S itself once a search needs its entries.

A free intercept is projected out: S is unchanged if K is replaced by J K J, J = I - 11'/n, because alpha sums to zero.
That also covers kernels that are positive definite on such alpha only. M = J K J + diag(1/c) is factored once; then,
with h = M^-1 1,

    S = M^-1 - h h' / (1'h),     b = h'y / (1'h) - (mean row of K)'alpha
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
from scipy.linalg import blas, lapack

from ..._jit import jit
from ..._threads import blas_threads_for
from ..base import StoppingRule
from .blocked import block_size, factorize, invert
from .quadratic_form import QuadraticForm


class DenseForm(QuadraticForm):
    """The form of a kernel matrix.

    Parameters
    ----------
    K : array of shape (n, n)
        Kernel values.
    cost : array of shape (n,)
        c, above zero.
    intercept : {True, False, "regularized"}
        A free intercept, none, or one that is part of the norm (which adds 1 to every kernel value).
    overwrite : bool
        Whether K may be overwritten.
    stop : StoppingRule or None
        Its deadline is checked while M is factored.
    """

    def __init__(
        self,
        K: np.ndarray,
        cost: np.ndarray,
        intercept: bool | str = True,
        overwrite: bool = False,
        stop: StoppingRule | None = None,
    ):
        self.n = len(cost)
        self.cost = cost
        self.intercept = intercept
        self._lock = threading.Lock()
        M = (np.asarray if overwrite else np.array)(K, dtype=np.float64, order="C")
        self._mean_row: np.ndarray | None = None
        if intercept is True:
            self._mean_row = M.mean(axis=0)
            M -= self._mean_row
            M -= self._mean_row[:, None]
            M += self._mean_row.mean()
        elif intercept == "regularized":
            M += 1.0
        M[np.diag_indices(self.n)] += 1.0 / cost
        self._factor = M.T
        if not factorize(self._factor, stop):
            raise ValueError(
                "the kernel matrix with 1/C on its diagonal is not positive definite; use another kernel or a smaller "
                "C, or check the precomputed matrix."
            )
        self._S: np.ndarray | None = None
        self._steps: Iterator[None] | None = None  # of the inversion that overwrites the factor
        self._h: np.ndarray | None = None
        self.log_det = 2.0 * float(np.log(np.diag(self._factor)).sum())
        if intercept is True:
            self._h = lapack.dpotrs(self._factor, np.ones(self.n), lower=0)[0]
            self._h_sum = float(self._h.sum())
            self.log_det += float(np.log(self._h_sum))  # a bordered determinant ignores what is added along 1

    def product(self, y: np.ndarray) -> np.ndarray:
        """S y, for one column or several; by S if it has been computed, else by the factor."""
        with self._lock:  # to the end of the solve: S overwrites the factor
            if self._steps is not None:
                return self._invert(None) @ y
            alpha = lapack.dpotrs(self._factor, y, lower=0)[0]
        if self._h is not None:
            alpha = alpha - (np.multiply.outer(self._h, self._h @ y) / self._h_sum)
        return alpha

    def sparse_product(self, y: np.ndarray) -> np.ndarray:
        """S y for a y that is mostly zero, by rows of S."""
        support = np.flatnonzero(y)
        return y[support] @ self.compute_S()[support]

    def intercept_for(self, y: np.ndarray, alpha: np.ndarray) -> float:
        """b for labels y with alpha = S y."""
        if self._h is not None and self._mean_row is not None:
            return float(self._h @ y / self._h_sum - self._mean_row @ alpha)
        return float(alpha.sum()) if self.intercept == "regularized" else 0.0

    def compute_S(self, stop: StoppingRule | None = None) -> np.ndarray:
        """S, computed at the first call in place of the factor; threads that call together compute it once.

        A call that the deadline of ``stop`` ends leaves the rest to the next one.
        """
        with self._lock:
            return self._invert(stop)

    def _invert(self, stop: StoppingRule | None) -> np.ndarray:
        if self.is_lost:
            raise KeyboardInterrupt
        if self._S is None:
            S = self._factor
            self._steps = self._steps or invert(S, block_size(self.n, stop))
            try:
                with blas_threads_for(self.n**3 / 3):
                    for _ in self._steps:
                        if stop is not None:
                            stop.check_time()
            except KeyboardInterrupt:
                self.is_lost = True  # neither factor nor inverse
                raise
            if self._h is not None:
                S = blas.dsyr(-1.0 / self._h_sum, self._h, lower=0, a=S, overwrite_a=1)
            self._S = S.T  # C order, lower triangle filled
            _mirror(self._S)
            del self._factor
        return self._S

    def prepare_entries(self, stop: StoppingRule) -> None:
        """Compute S."""
        self.compute_S(stop)

    def diagonal(self) -> np.ndarray:
        """S_jj."""
        return self.compute_S().diagonal().copy()

    def block(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """S at some rows and columns."""
        return self.compute_S()[np.ix_(rows, rows if columns is None else columns)]


@jit()
def _mirror(S):
    """Copy the lower triangle onto the upper one, tile by tile."""
    n, tile = len(S), 64
    for i in range(0, n, tile):
        for j in range(0, i + 1, tile):
            for p in range(i, min(i + tile, n)):
                for q in range(j, min(j + tile, p)):
                    S[q, p] = S[p, q]
