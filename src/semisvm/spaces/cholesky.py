"""A kernel as features without loss: the Cholesky factor of the kernel matrix.

K = Z Z' with a lower triangular Z, so that the features are exact and cost n^3/3 multiplications, a tenth of what all
principal components cost. Where K is singular, as with equal samples or with more samples than a smooth kernel tells
apart, rows are chosen by pivoting and the rest has no column of its own. A model f = <w, z(x)> + b is one of the chosen
samples with coefficients L^-T w, L being the square part of Z.

References
----------
.. [1] S. Hammarling, N. J. Higham and C. Lucas, "LAPACK-style codes for pivoted Cholesky and QR updating", PARA 2006,
   Springer, 2007. https://doi.org/10.1007/978-3-540-75755-9_17
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from .._threads import single_blas_thread
from .features import MappedFeatures
from .gram import Gram
from .kernels import Kernel, form_of
from .nystroem import NEGLIGIBLE, check_definite


def has_cholesky_factor(kernel: Kernel) -> bool:
    """Whether the kernel is known to be positive definite: not a matrix or a function of the user's."""
    form = form_of(kernel)
    return form is not None and form.definite == "positive"


def cholesky_features(kernel: Kernel, X: Any) -> MappedFeatures:
    """Features whose products are the kernel values.

    Parameters
    ----------
    kernel : Kernel
        A positive definite kernel (``has_cholesky_factor``).
    X : array or CSR of shape (n, d)
        The samples.
    """
    check_definite(kernel)
    K = Gram(kernel, X, float64=True).compute()
    with single_blas_thread:
        Z, chosen = _factor(K)
    corner = Z[chosen]

    def solve(w: np.ndarray) -> np.ndarray:
        return linalg.solve_triangular(corner, w, lower=True, trans="T", check_finite=False)

    transform = LinearOperator(corner.shape, matvec=solve, matmat=solve, dtype=np.float64)
    return MappedFeatures(Z, chosen, X[chosen], transform)


def _factor(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Z with K = Z Z' and the rows that are a lower triangular matrix, in its order; K is overwritten.

    The diagonal that is left below the last pivot is rounding error. LAPACK, whose matrices are stored by columns, sees
    the transpose: it changes the lower triangle of K, and the upper one still has what pivoting needs.
    """
    n, diagonal = len(K), K.diagonal().copy()
    smallest = NEGLIGIBLE * n * float(diagonal.max())
    factor, info = linalg.lapack.dpotrf(K.T, lower=0, clean=0, overwrite_a=1)
    if info == 0 and factor.diagonal().min() ** 2 > smallest:
        Z = factor.T
        for i in range(n):
            Z[i, i + 1 :] = 0.0
        return Z, np.arange(n)
    K[np.diag_indices(n)] = diagonal
    factor, pivots, rank, _ = linalg.lapack.dpstrf(K.T, tol=smallest, lower=1, overwrite_a=1)
    if not rank:
        raise ValueError("every kernel value is zero; use another kernel or gamma.")
    order = pivots - 1
    Z = np.empty((n, rank))
    Z[order] = np.tril(factor[:, :rank])
    return Z, order[:rank]
