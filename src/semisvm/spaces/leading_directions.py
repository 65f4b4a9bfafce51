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

from .._threads import single_blas_thread

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
    with single_blas_thread:
        for _ in range(N_POWERS):
            Q, _ = linalg.qr(X.T @ (X @ Q), mode="economic", overwrite_a=True, check_finite=False)
        return LeadingDirections(np.ascontiguousarray(Q.T), np.ascontiguousarray(X @ Q))


def leading_components(Z: np.ndarray) -> LeadingDirections:
    """The same of principal components Z: the coordinates of the first ones."""
    count = _n_directions(Z)
    return LeadingDirections(np.eye(count, Z.shape[1]), np.ascontiguousarray(Z[:, :count]))


def _n_directions(X: np.ndarray) -> int:
    n, d = X.shape
    return min(n, d, MAX_DIRECTIONS, int(3.0 * np.sqrt(d)))
