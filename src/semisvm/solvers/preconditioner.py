"""An approximate inverse of the Hessian N + A' diag(weights) A for conjugate gradients.

Few rows with large weights, the labeled ones, bend the objective in as many directions; the many others bend it a
little everywhere. So M = D + B' diag(h) B with the labeled rows in B and the diagonal of the rest in D, and by Woodbury

    M^-1 r = D^-1 r - D^-1 B' (diag(h)^-1 + B D^-1 B')^-1 B D^-1 r.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from .plane import Plane

ROWS, NUMBERS = 2000, 20_000_000  # of B, at most; beyond them M is diagonal
LIGHT = 1e-8  # of the largest weight: a row that bends nothing


def heavy_rows(plane: Plane, weights: np.ndarray, labeled: np.ndarray) -> np.ndarray:
    """The rows of B: labeled ones with a weight, if they are few enough."""
    rows = np.flatnonzero(labeled & (weights > LIGHT * weights.max()))
    return rows if len(rows) <= ROWS and len(rows) * plane.size <= NUMBERS else rows[:0]


class Preconditioner:
    """M for one problem.

    Parameters
    ----------
    plane : Plane
        Of one problem.
    weights : array of shape (n,)
        Not negative.
    rows : int array
        The rows of B.
    squares : array of shape (d,)
        Weighted sums of squares down the columns of the table over all other rows.
    """

    def __init__(self, plane: Plane, weights: np.ndarray, rows: np.ndarray, squares: np.ndarray):
        self.diagonal = 1.0 + squares
        if plane.extra:
            total = weights.sum()
            bend = max(total - weights[rows].sum(), 1e-3 * total, np.finfo(float).tiny)
            self.diagonal = np.append(self.diagonal, bend + (plane.intercept == "regularised"))
        self.heavy = weights[rows]
        if not len(rows):
            return
        B = plane.table.X[rows]
        B = np.asarray(B.toarray() if sparse.issparse(B) else B, dtype=np.float64)
        if plane.balanced:
            B = B - plane.mean
        self.B = np.column_stack([B, np.ones(len(rows))]) if plane.extra else B
        small = (self.B / self.diagonal) @ self.B.T
        small[np.diag_indices(len(rows))] += 1.0 / self.heavy
        self.factor = linalg.cho_factor(small, overwrite_a=True, check_finite=False)

    def solve(self, r: np.ndarray) -> np.ndarray:
        """M^-1 r."""
        x = r / self.diagonal
        if not len(self.heavy):
            return x
        inner = linalg.cho_solve(self.factor, self.B @ x, check_finite=False)
        return x - (self.B.T @ inner) / self.diagonal

    def norm(self, v: np.ndarray) -> float:
        """(v'M v)^1/2."""
        total = float(self.diagonal @ (v * v))
        return float(np.sqrt(total + self.heavy @ (self.B @ v) ** 2)) if len(self.heavy) else float(np.sqrt(total))
