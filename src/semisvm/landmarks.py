"""Which rows stand for all: landmarks of Nystroem's method and reduced sets.

``kmeans++``   each next one drawn in proportion to its squared distance, in feature space, from those chosen
``leverage``   drawn in proportion to ridge leverage scores, estimated from a first uniform draw
``random``     drawn alike
``labeled``    the labeled rows

The first two look at at most ``POOL`` rows per landmark, drawn alike, so that their cost does not grow with n.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from . import kernels
from .spaces import Gram

LANDMARKS = ("kmeans++", "leverage", "random", "labeled")
DEFAULT = 1000
POOL = 20


def choose(gram: Gram, how: str, m: int | None, labeled: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    """Positions of the landmarks, in ascending order.

    Parameters
    ----------
    gram : Gram
        The kernel and its rows.
    how : str
        One of ``LANDMARKS``.
    m : int or None
        How many; None for 1,000, or for all labeled rows.
    labeled : bool array of shape (n,) or None
        The labeled rows.
    rng : Generator
        For the draws.
    """
    if how == "labeled":
        rows = np.arange(gram.n) if labeled is None else np.flatnonzero(labeled)
        return rows if m is None or m >= len(rows) else np.sort(rng.choice(rows, m, replace=False))
    m = min(m or DEFAULT, gram.n)
    if m == gram.n:
        return np.arange(gram.n)
    if how == "random":
        return np.sort(rng.choice(gram.n, m, replace=False))
    pool = np.arange(gram.n) if gram.n <= POOL * m else np.sort(rng.choice(gram.n, POOL * m, replace=False))
    draw = {"kmeans++": _spread, "leverage": _leverage}[how]
    return np.sort(pool[draw(gram, pool, m, rng)])


def _cross(gram: Gram, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    if gram.precomputed:
        return gram.whole[np.ix_(rows, columns)]
    return kernels.block(gram.kernel, gram.rows.take(rows), gram.rows.take(columns))


def _spread(gram: Gram, pool: np.ndarray, m: int, rng: np.random.Generator) -> np.ndarray:
    """k-means++ seeding in feature space: ||phi(x) - phi(z)||^2 = k(x, x) + k(z, z) - 2 k(x, z)."""
    diagonal = gram.diagonal()[pool]
    points = None if gram.precomputed else gram.rows.take(pool)
    distance = np.full(len(pool), np.inf)
    chosen = np.empty(m, dtype=int)
    chosen[0] = rng.integers(len(pool))
    for step in range(m):
        if step:
            total = np.cumsum(distance)
            if total[-1] <= 0:  # all that is left equals a landmark
                rest = np.setdiff1d(np.arange(len(pool)), chosen[:step])
                chosen[step:] = rng.choice(rest, m - step, replace=False)
                break
            chosen[step] = min(np.searchsorted(total, rng.random() * total[-1], side="right"), len(pool) - 1)
        one = chosen[step : step + 1]
        if points is None:
            value = gram.whole[np.ix_(pool[one], pool)][0]
        else:
            value = kernels.block(gram.kernel, points.take(one), points)[0]
        np.minimum(distance, np.maximum(diagonal + diagonal[one] - 2.0 * value, 0.0), out=distance)
        distance[one] = 0.0
    return chosen


def _leverage(gram: Gram, pool: np.ndarray, m: int, rng: np.random.Generator) -> np.ndarray:
    """Ridge leverage scores k_ii - k_i'(K + n lam)^-1 k_i, over n lam, with K seen through m uniform rows.

    The ridge is the mean of the eigenvalues that m landmarks cannot hold, as Musco and Musco have it.
    """
    first = rng.choice(len(pool), m, replace=False)
    corner = np.asarray(_cross(gram, pool[first], pool[first]), dtype=np.float64)
    d, U = linalg.eigh(corner)
    kept = d > 1e-10 * d[-1]
    Z = _cross(gram, pool, pool[first]) @ (U[:, kept] / np.sqrt(d[kept]))
    diagonal = gram.diagonal()[pool]
    inner = Z.T @ Z
    ridge = max((diagonal.sum() - np.trace(inner)) / m, 1e-10 * diagonal.sum() / m, np.finfo(float).tiny)
    inner[np.diag_indices(len(inner))] += ridge
    seen = np.einsum("ij,ij->i", Z, linalg.solve(inner, Z.T, assume_a="pos").T)
    missed = np.maximum(diagonal - np.einsum("ij,ij->i", Z, Z), 0.0) / ridge
    scores = np.maximum(seen + missed, np.finfo(float).tiny)
    return rng.choice(len(pool), m, replace=False, p=scores / scores.sum())
