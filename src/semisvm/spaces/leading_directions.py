"""The directions in which dense samples vary most, by random projections.

References
----------
.. [1] N. Halko, P.-G. Martinsson and J. A. Tropp, "Finding structure with randomness", SIAM Review 53, 2011.
   https://doi.org/10.1137/090771806
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from .._threads import run_in_threads, single_blas_thread, tiles

MAX_DIRECTIONS = 48
N_POWERS = 2  # products with X'X: more only sharpen directions that hardly matter
N_ROWS = 256  # of a block


class LeadingDirections(NamedTuple):
    """Orthonormal directions, the rows of U, and the samples' coordinates along them, S = X U'."""

    U: np.ndarray
    S: np.ndarray


def leading_directions(X: np.ndarray, ends: np.ndarray) -> LeadingDirections:
    """3 d^1/2 leading directions, at most 48, of a dense X of shape (n, d); from a fixed seed.

    So many that sums of their outer products cost no more than a few products with X. ``ends`` says where every four
    rows of X end, so that half of a triangular X is left out.
    """
    count = _n_directions(X)
    Q = np.random.default_rng(0).standard_normal((X.shape[1], count))
    for _ in range(N_POWERS):
        Q = _adjoint(X, ends, _product(X, ends, Q))
        with single_blas_thread:
            Q, _ = linalg.qr(Q, mode="economic", overwrite_a=True, check_finite=False)
    return LeadingDirections(np.ascontiguousarray(Q.T), _product(X, ends, Q))


def leading_components(Z: np.ndarray) -> LeadingDirections:
    """The same of principal components Z: the coordinates of the first ones."""
    count = _n_directions(Z)
    return LeadingDirections(np.eye(count, Z.shape[1]), np.ascontiguousarray(Z[:, :count]))


def _product(X: np.ndarray, ends: np.ndarray, B: np.ndarray) -> np.ndarray:
    """X B by blocks of rows, in threads: the same numbers however many threads there are."""
    out = np.empty((len(X), B.shape[1]))

    def fill(part: slice) -> None:
        end = ends[part.start // 4 : (part.stop + 3) // 4].max()
        out[part] = X[part, :end] @ B[:end]

    run_in_threads(fill, list(tiles(len(X), N_ROWS)))
    return out


def _adjoint(X: np.ndarray, ends: np.ndarray, B: np.ndarray) -> np.ndarray:
    """X'B in the same way, by blocks of columns: each from the first row on that reaches it."""
    out = np.empty((X.shape[1], B.shape[1]))

    def fill(part: slice) -> None:
        reach = np.flatnonzero(ends > part.start)
        first = 4 * int(reach[0]) if len(reach) else len(X)
        out[part] = X[first:, part].T @ B[first:]

    run_in_threads(fill, list(tiles(X.shape[1], N_ROWS)))
    return out


def _n_directions(X: np.ndarray) -> int:
    n, d = X.shape
    return min(n, d, MAX_DIRECTIONS, int(3.0 * np.sqrt(d)))
