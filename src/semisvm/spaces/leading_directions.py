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


class LeadingDirections(NamedTuple):
    """Orthonormal directions, the rows of U, and the samples' coordinates along them, S = X U'."""

    U: np.ndarray
    S: np.ndarray


def leading_directions(X: np.ndarray) -> LeadingDirections:
    """3 d^1/2 leading directions, at most 48, of a dense X of shape (n, d); from a fixed seed.

    So many that sums of their outer products cost no more than a few products with X.
    """
    count = _n_directions(X)
    Q = np.random.default_rng(0).standard_normal((X.shape[1], count))
    for _ in range(N_POWERS):
        Q = _product(X.T, _product(X, Q))
        with single_blas_thread:
            Q, _ = linalg.qr(Q, mode="economic", overwrite_a=True, check_finite=False)
    return LeadingDirections(np.ascontiguousarray(Q.T), _product(X, Q))


def leading_components(Z: np.ndarray) -> LeadingDirections:
    """The same of principal components Z: the coordinates of the first ones."""
    count = _n_directions(Z)
    return LeadingDirections(np.eye(count, Z.shape[1]), np.ascontiguousarray(Z[:, :count]))


def _product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A B by blocks of rows, in threads: the same numbers however many threads there are."""
    out = np.empty((len(A), B.shape[1]))

    def fill(part: slice) -> None:
        out[part] = A[part] @ B

    run_in_threads(fill, list(tiles(len(A))))
    return out


def _n_directions(X: np.ndarray) -> int:
    n, d = X.shape
    return min(n, d, MAX_DIRECTIONS, int(3.0 * np.sqrt(d)))
