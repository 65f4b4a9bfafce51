"""A Woodbury preconditioner for the Hessian N + A' diag(h) A.

Few samples of large curvature, the labeled ones, dominate the Hessian in as many directions; the many others add a
little everywhere. So M = D + B' diag(h) B with the labeled samples in B and the diagonal of the rest in D, and by
Woodbury's formula

    M^-1 r = D^-1/2 (I - W' (I + W W')^-1 W) D^-1/2 r,    W = diag(h)^1/2 B D^-1/2.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from ...spaces import largest_block
from .batch import Coroutine, Request
from .dense_woodbury import NEGLIGIBLE, ROUNDING, intercept_diagonal
from .operator import PrimalOperator

MAX_SAMPLES, MAX_NUMBERS = 2000, 20_000_000  # of B; beyond them, or the memory limit, M is diagonal


class Woodbury:
    """M for one problem, with ``samples`` in B; ``squares`` are the sums of curvature times x^2 over all others."""

    def __init__(self, operator: PrimalOperator, curvature: np.ndarray, samples: np.ndarray, squares: np.ndarray):
        diagonal = 1.0 + squares
        if operator.has_b:
            total = curvature.sum()
            rest, is_regularized = total - curvature[samples].sum(), float(operator.intercept == "regularized")
            diagonal = np.append(diagonal, intercept_diagonal(operator.unit, total, rest, is_regularized))
        self._root = np.sqrt(diagonal)  # D^1/2
        self._W: np.ndarray | None = None
        if not len(samples):
            return
        B = operator.design.X[samples]
        B = np.asarray(B.toarray() if sparse.issparse(B) else B, dtype=np.float64)
        if operator.mean is not None:
            B = B - operator.mean
        B = np.column_stack([B, np.full(len(samples), operator.unit)]) if operator.has_b else B
        self._W = np.sqrt(curvature[samples])[:, None] * B / self._root
        inner = self._W @ self._W.T
        inner[np.diag_indices(len(samples))] += 1.0 + ROUNDING * np.trace(inner)
        self._factor = linalg.cho_factor(inner, overwrite_a=True, check_finite=False)

    def solve(self, r: np.ndarray) -> np.ndarray:
        """M^-1 r."""
        x = r / self._root
        if self._W is not None:
            x = x - self._W.T @ linalg.cho_solve(self._factor, self._W @ x, check_finite=False)
        return x / self._root

    def norm(self, v: np.ndarray) -> float:
        """(v'M v)^1/2."""
        scaled = self._root * v
        total = scaled @ scaled
        if self._W is not None:
            total += np.square(self._W @ scaled).sum()
        return float(np.sqrt(total))


def build_woodbury(operator: PrimalOperator, curvature: np.ndarray, labeled: np.ndarray) -> Coroutine[Woodbury]:
    """The preconditioner with the labeled samples of some curvature in B, if they are few enough."""
    samples = np.flatnonzero(labeled & (curvature > NEGLIGIBLE * curvature.max()))
    max_numbers = min(MAX_NUMBERS, largest_block(8) ** 2)
    if len(samples) > MAX_SAMPLES or len(samples) * max(len(samples), operator.size) > max_numbers:
        samples = samples[:0]
    rest = curvature.copy()
    rest[samples] = 0.0
    return Woodbury(operator, curvature, samples, (yield Request("weighted_squares", (rest,))))
