"""A Woodbury preconditioner for the Hessian N + A' diag(h) A.

Few samples of large curvature, the labeled ones, dominate the Hessian in as many directions; the many others add a
little everywhere. So M = D + B' diag(h) B with the labeled samples in B and the diagonal of the rest in D, and by
Woodbury's formula

    M^-1 r = D^-1/2 (I - W' (I + W W')^-1 W) D^-1/2 r,    W = diag(h)^1/2 B D^-1/2.

The mean of the others, which is a direction of much curvature where the samples are not centered, may be one more row
of B with the sum of their curvature; D has the squares of their deviations from it then.

For dense samples V = L^-1 W is held, where I + W W' = L L'; for sparse ones W and L^-1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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


class Rest(NamedTuple):
    """What M holds of the samples that are not in B: sums of curvature times x^2, and of curvature times x or None."""

    squares: np.ndarray
    sums: np.ndarray | None


class Woodbury:
    """M for one problem, with ``samples`` in B, and the mean of all others too where their sums are given."""

    def __init__(self, operator: PrimalOperator, curvature: np.ndarray, samples: np.ndarray, rest: Rest):
        diagonal, total = 1.0 + rest.squares, curvature.sum()
        left = total - curvature[samples].sum()
        weights, mean = np.sqrt(curvature[samples]), None
        if rest.sums is not None and left > NEGLIGIBLE * total:
            mean = rest.sums / left
            diagonal = np.maximum(diagonal - mean * rest.sums, 1.0)
            weights, left = np.append(weights, np.sqrt(left)), 0.0
        if operator.has_b:
            is_regularized = float(operator.intercept == "regularized")
            diagonal = np.append(diagonal, intercept_diagonal(operator.unit, total, left, is_regularized))
        self._root = np.sqrt(diagonal)  # D^1/2
        self._V, self._L = np.empty((0, operator.size)), np.empty((0, 0))
        self._sparse: sparse_woodbury.Factors | None = None
        if not len(weights):
            return
        unit, center = operator.unit if operator.has_b else 0.0, np.empty(0) if operator.mean is None else operator.mean
        B = operator.design.X[samples]
        if operator.design.sparse:
            self._inverse_root = 1.0 / self._root
            self._sparse = sparse_woodbury.build(*_with_row(B, mean), weights, self._inverse_root, unit, center)
            return
        B = np.asarray(B if mean is None else np.vstack([B, mean]), dtype=np.float64)
        B = B - center if len(center) else B
        B = np.column_stack([B, np.full(len(B), unit)]) if operator.has_b else B
        W = weights[:, None] * B / self._root
        inner = W @ W.T
        inner[np.diag_indices(len(W))] += 1.0 + ROUNDING * np.trace(inner)
        self._L = linalg.cholesky(inner, lower=True, overwrite_a=True, check_finite=False)
        self._V = np.ascontiguousarray(linalg.solve_triangular(self._L, W, lower=True, check_finite=False))

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


def _with_row(B: Any, row: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays of a CSR matrix with one row more, of float64 whatever its type, if a row is given."""
    data, indices, indptr = B.data.astype(np.float64), B.indices.astype(np.int64), B.indptr.astype(np.int64)
    if row is None:
        return data, indices, indptr
    columns = np.flatnonzero(row)
    indptr = np.append(indptr, indptr[-1] + len(columns))
    return np.concatenate([data, row[columns]]), np.concatenate([indices, columns]), indptr


def build_woodbury(
    operator: PrimalOperator,
    curvature: np.ndarray,
    labeled: np.ndarray,
    max_products: float = np.inf,
    with_mean: bool = False,
) -> Coroutine[Woodbury]:
    """The preconditioner with the labeled samples of some curvature in B, if they are few enough.

    That is, if B fits and to build M costs no more than ``max_products`` products with the Hessian. ``with_mean`` adds
    the mean of the others to B.
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
    squares = yield Request("weighted_squares", (rest,))
    sums = (yield Request("adjoint", (rest,))) if with_mean else None
    return Woodbury(operator, curvature, samples, Rest(squares, sums))


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
            self._current = yield from build_woodbury(self._operator, curvature, self._is_labeled, MAX_PRODUCTS, True)
            self._curved, self._rest = curved, rest
        return self._current
