r"""A least-squares SVM to which labeled samples are added; the inverse of its system grows by a block each time.

The system of the samples so far is

    [0  1'              ] [b    ]   [0]
    [1  K + diag(1/c)   ] [alpha] = [Y]

without its first row and column where there is no free intercept, and with K + 1 for K where the intercept is
regularized. With a free intercept K may be centered by the mean of all samples, which keeps it well conditioned and
makes a conditionally positive definite kernel a positive definite one.
"""

from __future__ import annotations

import numpy as np

from ..._threads import single_blas_thread
from ...spaces import Gram, submatrix
from .growing_inverse import GrowingInverse
from .system import check_memory

CHECK_PERIOD = 32  # additions between two strict checks of the residual
N_CHECKED = 64  # samples whose residual is checked
STRICT_TOL, LOOSE_TOL = 1e-9, 1e-4  # residuals, in units of labels, above which the system is inverted again


class IncrementalLSSVM:
    """The least-squares SVM of the samples added so far, for several columns of labels at once.

    Parameters
    ----------
    gram : Gram
        Kernel values of all samples; the matrix is computed.
    cost : array of shape (n,)
        Cost of a unit of loss at each sample; above zero where a sample may be added.
    intercept : {True, False, "regularized"}
        As in ``Problem``.
    n_outputs : int
        Columns of labels.

    Attributes
    ----------
    samples : int array of shape (m,)
        The samples so far, in the order in which they were added.
    """

    def __init__(self, gram: Gram, cost: np.ndarray, intercept: bool | str, n_outputs: int):
        check_memory(gram.n, gram.dtype.itemsize)
        self._gram, self._cost = gram, cost
        self._border = int(intercept is True)
        self._mean = gram.product(np.full(gram.n, 1.0 / gram.n)) if self._border else np.zeros(gram.n)
        self._shift = self._mean.mean() if self._border else float(intercept == "regularized")
        self._inverse = GrowingInverse(gram.n + self._border)
        self._n_unchecked, self._attainable = 0, STRICT_TOL
        self.samples = np.zeros(0, dtype=int)
        self._right_side = np.zeros((0, n_outputs))  # with the border's first
        self._solution = np.zeros((0, n_outputs))

    def add(self, samples: np.ndarray, signs: np.ndarray) -> None:
        """Add samples with labels of shape (s, n_outputs)."""
        cross, corner = self._kernel(self.samples, samples), self._kernel(samples, samples)
        corner[np.diag_indices(len(samples))] += 1.0 / self._cost[samples]
        new = np.asarray(signs, dtype=np.float64)
        if self._border:
            if len(self.samples):
                cross = np.vstack([np.ones((1, len(samples))), cross])
            else:
                corner = _bordered(corner)
                new = np.vstack([np.zeros((1, new.shape[1])), new])
                cross = np.zeros((0, len(samples) + 1))
        with single_blas_thread:  # the products are thin: tall ones are spread over the cores by tiles
            V, T = self._inverse.add(cross, corner)
            step = T @ (new - cross.T @ self._solution)
            self._solution = np.vstack([self._solution - V @ step, step])
        self._right_side = np.vstack([self._right_side, new])
        self.samples = np.concatenate([self.samples, samples])
        self._n_unchecked += 1
        self._check(STRICT_TOL if self._n_unchecked >= CHECK_PERIOD else LOOSE_TOL)

    def _kernel(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Centered kernel values."""
        K = self._gram.compute()
        if len(rows) <= len(columns):
            K = submatrix(K, rows, columns)
        else:
            K = submatrix(K, columns, rows).T  # rows of K are contiguous in memory
        K = K.astype(np.float64, copy=False)
        if self._border:
            K -= self._mean[columns]
            K -= self._mean[rows, None]
        K += self._shift
        return K

    def _check(self, tol: float) -> None:
        """Invert the system again where its residual is above the tolerance.

        Kernel values may be symmetric up to rounding only, so the residual after that is what later checks allow.
        """
        if self._n_unchecked >= CHECK_PERIOD:
            self._n_unchecked = 0
        if self._residual() > max(tol, self._attainable):
            system = self._system()
            self._inverse.clear()
            self._inverse.add(np.zeros((0, len(system))), system)
            self._solution = self._inverse.product(self._right_side)
            self._attainable = max(STRICT_TOL, 10.0 * self._residual())

    def _residual(self) -> float:
        """Largest residual of the system at some samples, in units of labels."""
        checked = np.unique(np.linspace(0, len(self.samples) - 1, N_CHECKED).astype(int))
        slack = self.signs[checked] - self.scores(self.samples[checked])
        return float(np.abs(slack - self.alpha[checked] / self._cost[self.samples[checked], None]).max())

    def _system(self) -> np.ndarray:
        """The matrix of the system."""
        M = self._kernel(self.samples, self.samples)
        M[np.diag_indices(len(M))] += 1.0 / self._cost[self.samples]
        return _bordered(M) if self._border else M

    @property
    def alpha(self) -> np.ndarray:
        """The dual variables of the samples so far, shape (m, n_outputs)."""
        return self._solution[self._border :]

    @property
    def bias(self) -> np.ndarray:
        """What is added to expansions in centered kernel values, shape (n_outputs,)."""
        return self._solution[0] if self._border else np.zeros(self._solution.shape[1])

    @property
    def signs(self) -> np.ndarray:
        """The labels of the samples so far."""
        return self._right_side[self._border :]

    def scores(self, samples: np.ndarray) -> np.ndarray:
        """f at any samples, shape (len(samples), n_outputs)."""
        return self._kernel(samples, self.samples) @ self.alpha + self.bias

    def leave_one_out(self) -> np.ndarray:
        """Scores of the samples so far by models without them: y_j - alpha_j / (inverse)_jj."""
        return self.signs - self.alpha / self._inverse.diagonal()[self._border :, None]


def _bordered(M: np.ndarray) -> np.ndarray:
    """[[0, 1'], [1, M]]."""
    ones = np.ones((1, len(M)))
    return np.block([[np.zeros((1, 1)), ones], [ones.T, M]])
