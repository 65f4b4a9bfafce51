"""A Woodbury preconditioner for the Hessian N + A' diag(h) A.

Few samples of large curvature, the labeled ones, dominate the Hessian in as many directions; the many others add a
little everywhere. So M = D + B' diag(h) B with the labeled samples in B and the diagonal of the rest in D, and by
Woodbury's formula

    M^-1 r = D^-1/2 (I - W' (I + W W')^-1 W) D^-1/2 r,    W = diag(h)^1/2 B D^-1/2.

For dense samples V = L^-1 W is held, where I + W W' = L L'; for sparse ones W and L^-1.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ...spaces import largest_block
from . import sparse_woodbury
from .batch import Coroutine, Request
from .dense_woodbury import NEGLIGIBLE, ROUNDING, intercept_diagonal, precondition
from .operator import PrimalOperator

MAX_SAMPLES, MAX_NUMBERS = 2000, 20_000_000  # of B; beyond them, or the memory limit, M is diagonal
FEW_NUMBERS = 100_000  # for which the memory limit is not looked up
CHANGED = 0.05  # share of the labeled samples
MAX_PRODUCTS = 20.0  # that the building of M may cost, many times in a search


class Woodbury:
    """M for one problem, with ``samples`` in B; ``squares`` are the sums of curvature times x^2 over all others."""

    def __init__(self, operator: PrimalOperator, curvature: np.ndarray, samples: np.ndarray, squares: np.ndarray):
        diagonal = 1.0 + squares
        if operator.has_b:
            total = curvature.sum()
            rest, is_regularized = total - curvature[samples].sum(), float(operator.intercept == "regularized")
            diagonal = np.append(diagonal, intercept_diagonal(operator.unit, total, rest, is_regularized))
        self._root = np.sqrt(diagonal)  # D^1/2
        self._V, self._L = np.empty((0, operator.size)), np.empty((0, 0))
        self._sparse: sparse_woodbury.Factors | None = None
        if not len(samples):
            return
        X, weights = operator.design.X, np.sqrt(curvature[samples])
        unit, center = operator.unit if operator.has_b else 0.0, np.empty(0) if operator.mean is None else operator.mean
        if operator.design.sparse:
            self._inverse_root = 1.0 / self._root
            arrays = (X.data, X.indices, X.indptr, samples, weights, self._inverse_root)
            self._sparse = sparse_woodbury.build(*arrays, unit, center)
            return
        B = np.asarray(X[samples], dtype=np.float64)
        B = B - center if len(center) else B
        B = np.column_stack([B, np.full(len(samples), unit)]) if operator.has_b else B
        W = weights[:, None] * B / self._root
        inner = W @ W.T
        inner[np.diag_indices(len(samples))] += 1.0 + ROUNDING * np.trace(inner)
        self._L = linalg.cholesky(inner, lower=True, overwrite_a=True, check_finite=False)
        self._V = linalg.solve_triangular(self._L, W, lower=True, check_finite=False)

    def solve(self, r: np.ndarray) -> np.ndarray:
        """M^-1 r."""
        out = np.empty_like(r)
        if self._sparse is not None:
            sparse_woodbury.precondition(self._inverse_root, self._sparse, r, out)
        else:
            precondition(self._root, self._V, r, out)
        return out

    def norm(self, v: np.ndarray) -> float:
        """(v'M v)^1/2."""
        scaled = self._root * v
        image = sparse_woodbury.product(self._sparse, scaled) if self._sparse else self._L @ (self._V @ scaled)
        return float(np.sqrt(scaled @ scaled + image @ image))


def build_woodbury(
    operator: PrimalOperator, curvature: np.ndarray, labeled: np.ndarray, max_products: float = np.inf
) -> Coroutine[Woodbury]:
    """The preconditioner with the labeled samples of some curvature in B, if they are few enough.

    That is, if B fits and to build M costs no more than ``max_products`` products with the Hessian.
    """
    samples, design = np.flatnonzero(labeled & (curvature > NEGLIGIBLE * curvature.max())), operator.design
    n_rows = len(samples)
    n_multiplications = n_rows**2 * (2.0 / 3.0 * n_rows + (0.5 if design.sparse else 2.0) * design.size / design.n)
    width = n_rows if design.sparse else max(n_rows, operator.size)
    fits = n_rows <= MAX_SAMPLES and n_rows * width <= MAX_NUMBERS
    fits = fits and (n_rows * width <= FEW_NUMBERS or n_rows * width <= largest_block(8) ** 2)
    if not fits or n_multiplications > 2.0 * design.size * max_products:
        samples = samples[:0]
    rest = curvature.copy()
    rest[samples] = 0.0
    return Woodbury(operator, curvature, samples, (yield Request("weighted_squares", (rest,))))


class HessianPreconditioner:
    """The Woodbury preconditioner of a sequence of Hessians, built anew where the curvature has changed much.

    That is, where that of the unlabeled samples is half or twice what it was, or more than ``CHANGED`` of the labeled
    samples have gained or lost theirs.

    Parameters
    ----------
    operator : PrimalOperator
        A and N of the Hessians.
    """

    def __init__(self, operator: PrimalOperator):
        self._operator = operator
        self._is_labeled = operator.problem.is_labeled
        self._labeled = np.flatnonzero(self._is_labeled)
        self._current: Woodbury | None = None
        self._curved = np.zeros(0, dtype=bool)
        self._rest = 0.0

    def at(self, curvature: np.ndarray) -> Coroutine[Woodbury]:
        """M for a curvature."""
        of_labeled = curvature[self._labeled]
        curved, rest = of_labeled > 0.0, float(curvature.sum() - of_labeled.sum())
        if (
            self._current is None
            or not 0.5 * self._rest <= rest <= 2.0 * self._rest
            or np.count_nonzero(curved != self._curved) > CHANGED * len(curved)
        ):
            self._current = yield from build_woodbury(self._operator, curvature, self._is_labeled, MAX_PRODUCTS)
            self._curved, self._rest = curved, rest
        return self._current
