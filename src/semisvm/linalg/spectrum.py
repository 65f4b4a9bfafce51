"""S for every C from one eigendecomposition."""

from __future__ import annotations

import numpy as np
from scipy import linalg


class Spectrum:
    r"""The forms of costs C r_i, for all C.

    With R = diag(r) and the direction of a free intercept, v = R^1/2 1, projected out of R^1/2 K R^1/2 = U diag(d) U',

        S(C) = R^1/2 U diag(1/(d + 1/C)) U' R^1/2

    where the column of U along v is left out. O(n^3) once, then O(n) for an objective and O(n^2) for S times a vector.

    Parameters
    ----------
    K : array of shape (n, n)
        Kernel values.
    ratio : array of shape (n,)
        r: the costs at C = 1, above zero.
    intercept : {True, False, "regularised"}
        A free intercept, none, or one that is part of the norm.
    """

    def __init__(self, K: np.ndarray, ratio: np.ndarray, intercept: bool | str = True):
        self.ratio = ratio
        self.intercept = intercept
        root = np.sqrt(ratio)
        A = root[:, None] * np.asarray(K, dtype=np.float64) * root
        if intercept == "regularised":
            A += np.outer(root, root)
        if intercept is True:
            v = root / np.linalg.norm(root)
            left = A @ v
            A -= np.outer(v, left)
            A -= np.outer(left - v * (v @ left), v)
            A += np.outer(v, v) * (1.0 + np.abs(A).sum(axis=1).max())  # its own eigenvector, and the largest: dropped
        d, U = linalg.eigh(A, overwrite_a=True, check_finite=False)
        if intercept is True:
            d, U = d[:-1], U[:, :-1]
        if len(d) and d[0] < -1e-10 * np.abs(d).max():
            raise ValueError("the kernel matrix is not positive definite; use another kernel or check the matrix.")
        d = np.maximum(d, 0.0)
        self.d = d
        self.basis = root[:, None] * U

    def values(self, y: np.ndarray, costs: np.ndarray) -> np.ndarray:
        """1/2 y'S(C)y for every C."""
        squares = np.square(self.basis.T @ y)
        return 0.5 * (squares / (self.d + 1.0 / np.asarray(costs)[:, None])).sum(axis=1)

    def times(self, y: np.ndarray, C: float) -> np.ndarray:
        """S(C) y."""
        return self.basis @ ((self.basis.T @ y).T / (self.d + 1.0 / C)).T

    def diagonal(self, C: float) -> np.ndarray:
        """S_jj(C)."""
        return np.square(self.basis) @ (1.0 / (self.d + 1.0 / C))

    def S(self, C: float) -> np.ndarray:
        """The form at C, whole."""
        return (self.basis / (self.d + 1.0 / C)) @ self.basis.T

    def log_dets(self, costs: np.ndarray) -> np.ndarray:
        """What is log det M [+ log 1'M^-1 1] for every C, as ``Form.log_det`` has it."""
        terms = np.log(self.d + 1.0 / np.asarray(costs)[:, None]).sum(axis=1) - np.log(self.ratio).sum()
        return terms + (np.log(self.ratio.sum()) if self.intercept is True else 0.0)

    def left_out(self, y: np.ndarray, C: float) -> np.ndarray:
        """Scores of every row as a machine without that row has them."""
        return y - self.times(y, C) / self.diagonal(C)

    def evidences(self, y: np.ndarray, costs: np.ndarray) -> np.ndarray:
        """Log evidence of the labels for every C, as ``Form.evidence`` has it."""
        m = len(self.d)
        spread = np.log(4.0 * np.pi * self.values(y, costs) / m) + 1.0
        return -0.5 * m * spread - 0.5 * self.log_dets(costs)
