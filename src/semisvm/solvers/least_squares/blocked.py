"""Cholesky factor and inverse of a matrix by blocks of columns, between which a limit of time is checked.

Both work in place on the upper triangle of a matrix in Fortran order. Without a limit the block is the whole matrix,
and each is the routine of LAPACK.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import blas, lapack

from ..._threads import blas_threads_for, tiles
from ..base import StoppingRule

BLOCK = 384  # columns: a matrix of 3,000 samples is checked every tenth of a second


def block_size(n: int, stop: StoppingRule | None) -> int:
    """Columns of a block: all of them where no limit of time is set."""
    return n if stop is None or stop.time_left is None else BLOCK


def factorize(A: np.ndarray, stop: StoppingRule | None = None) -> bool:
    """Overwrite A with U, A = U'U; False if it is not positive definite."""
    with blas_threads_for(len(A) ** 3 / 6):
        return _factorize(A, stop)


def _factorize(A: np.ndarray, stop: StoppingRule | None) -> bool:
    for columns in tiles(len(A), block_size(len(A), stop)):
        if stop is not None:
            stop.check_time()
        k, end = columns.start, columns.stop
        if k:
            A[columns, k:] -= A[:k, columns].T @ A[:k, k:]
        corner, failed = lapack.dpotrf(A[columns, columns], lower=0, clean=0, overwrite_a=1)
        if failed or not np.isfinite(corner.diagonal()).all():  # LAPACK lets NaN pass
            return False
        A[columns, columns] = corner
        if end < len(A):
            A[columns, end:] = blas.dtrsm(1.0, corner, A[columns, end:], lower=0, trans_a=1)
    return True


def invert(U: np.ndarray, size: int) -> Iterator[None]:
    """Overwrite U with the upper triangle of (U'U)^-1, a block of ``size`` columns at every step.

    First W = U^-1, column by column, then W W', row by row.
    """
    if size >= len(U):
        U[:] = lapack.dpotri(U, lower=0, overwrite_c=1)[0]
        return
    for columns in tiles(len(U), size):
        k = columns.start
        yield
        if k:
            U[:k, columns] = blas.dtrmm(-1.0, U[:k, :k], U[:k, columns], lower=0)
            U[:k, columns] = blas.dtrsm(1.0, U[columns, columns], U[:k, columns], side=1, lower=0)
        U[columns, columns] = lapack.dtrtri(U[columns, columns], lower=0)[0]
    for rows in tiles(len(U), size):
        k, end = rows.start, rows.stop
        yield
        corner = np.triu(U[rows, rows])
        U[:k, rows] = blas.dtrmm(1.0, corner, U[:k, rows], side=1, lower=0, trans_a=1) + U[:k, end:] @ U[rows, end:].T
        U[rows, rows] = corner @ corner.T + U[rows, end:] @ U[rows, end:].T
