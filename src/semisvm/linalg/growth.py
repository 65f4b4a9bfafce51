"""An inverse that follows its matrix as rows come and go: O(m^2 s) for s rows instead of O(m^3)."""

from __future__ import annotations

import numpy as np
from scipy import linalg


def grow(inverse: np.ndarray, cross: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """The inverse of [[A, B], [B', D]] from that of A.

    With V = A^-1 B and T = D - B'V the blocks are A^-1 + V T^-1 V', -V T^-1 and T^-1.

    Parameters
    ----------
    inverse : array of shape (m, m)
        A^-1, symmetric.
    cross : array of shape (m, s)
        B.
    corner : array of shape (s, s)
        D.

    Returns
    -------
    array of shape (m + s, m + s)
    """
    m, s = cross.shape
    V = inverse @ cross
    T = linalg.inv(corner - cross.T @ V)
    T = 0.5 * (T + T.T)
    grown = np.empty((m + s, m + s))
    grown[:m, m:] = -(V @ T)
    grown[m:, :m] = grown[:m, m:].T
    grown[m:, m:] = T
    np.matmul(grown[:m, m:], V.T, out=grown[:m, :m])
    np.subtract(inverse, grown[:m, :m], out=grown[:m, :m])
    return grown


def shrink(inverse: np.ndarray, gone: np.ndarray) -> np.ndarray:
    """The inverse of A without the rows and columns ``gone``: P_kk - P_kg P_gg^-1 P_gk, P = A^-1."""
    kept = np.setdiff1d(np.arange(len(inverse)), gone)
    cross = inverse[np.ix_(kept, gone)]
    out = inverse[np.ix_(kept, kept)]
    out -= cross @ linalg.solve(inverse[np.ix_(gone, gone)], cross.T, assume_a="sym")
    return out
