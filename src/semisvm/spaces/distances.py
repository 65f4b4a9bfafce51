"""Squared distances from products, in one pass over the matrix."""

from __future__ import annotations

from .._jit import jit


@jit()
def to_squared_distances(T, a, b):
    """T <- a_i + b_j - 2 T_ij, at least 0, where T holds the products of samples and a, b their squared norms."""
    for i in range(T.shape[0]):
        for j in range(T.shape[1]):
            distance = -2.0 * T[i, j] + a[i] + b[j]
            T[i, j] = 0.0 if distance < 0.0 else distance  # NaN, of numbers that overflow, stays
