"""Which training samples are the landmarks of the Nystroem method and of reduced sets.

``kmeans++``
    each next one drawn with probability proportional to its squared distance, in feature space, from those chosen [1]_
``leverage``
    drawn with probability proportional to ridge leverage scores, estimated from a first uniform draw [2]_
``random``
    drawn uniformly
``labeled``
    the labeled samples

The first two look at no more than ``POOL`` samples per landmark, drawn uniformly, so that their cost does not grow with
n.

References
----------
.. [1] D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA, 2007.
   http://ilpubs.stanford.edu:8090/778/1/2006-13.pdf
.. [2] C. Musco and C. Musco, "Recursive sampling for the Nystrom method", NIPS 30, 2017.
   https://arxiv.org/abs/1605.07583
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from . import kernels
from .gram import Gram

LANDMARKS = ("kmeans++", "leverage", "random", "labeled")
N_COMPONENTS = 1000  # default number of landmarks, and of features of an approximation
POOL = 20


def choose_landmarks(
    gram: Gram, method: str, m: int | None, labeled: np.ndarray | None, rng: np.random.Generator
) -> np.ndarray:
    """Positions of the landmarks, in ascending order.

    Parameters
    ----------
    gram : Gram
        The kernel and the samples.
    method : str
        One of ``LANDMARKS``.
    m : int or None
        Number of landmarks; None for 1,000, or for all labeled samples.
    labeled : bool array of shape (n,) or None
        Mask of the labeled samples.
    rng : Generator
        For the draws.
    """
    m = n_landmarks(gram.n, method, m, labeled)
    pool = draw_pool(gram.n, method, m, labeled, rng)
    return pool if m == len(pool) else draw_from_pool(gram, method, pool, m, rng)


def n_landmarks(n: int, method: str, m: int | None, labeled: np.ndarray | None) -> int:
    """How many landmarks ``choose_landmarks`` returns for n samples."""
    if method == "labeled":
        n_candidates = n if labeled is None else int(np.count_nonzero(labeled))
        return min(m or n_candidates, n_candidates)
    return min(m or N_COMPONENTS, n)


def draw_pool(n: int, method: str, m: int, labeled: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    """Positions of the samples among which the m landmarks are chosen: they themselves where no kernel value counts."""
    candidates = np.arange(n) if labeled is None or method != "labeled" else np.flatnonzero(labeled)
    if m == len(candidates):
        return candidates
    if method in ("labeled", "random"):
        return np.sort(rng.choice(candidates, m, replace=False))
    return candidates if n <= POOL * m else np.sort(rng.choice(n, POOL * m, replace=False))


def draw_from_pool(gram: Gram, method: str, pool: np.ndarray, m: int, rng: np.random.Generator) -> np.ndarray:
    """The landmarks of a pool, in ascending order, by the kernel between the samples of the pool."""
    draw = {"kmeans++": _kmeans_plus_plus, "leverage": _leverage}[method]
    return np.sort(pool[draw(gram, pool, m, rng)])


def _kmeans_plus_plus(gram: Gram, pool: np.ndarray, m: int, rng: np.random.Generator) -> np.ndarray:
    """k-means++ seeding in feature space: ||phi(x) - phi(z)||^2 = k(x, x) + k(z, z) - 2 k(x, z)."""
    diagonal = gram.diagonal()[pool]
    samples = None if gram.precomputed else gram.samples.take(pool)
    distance = np.full(len(pool), np.inf)
    chosen = np.empty(m, dtype=int)
    chosen[0] = rng.integers(len(pool))
    for step in range(m):
        if step:
            total = np.cumsum(distance)
            if total[-1] <= 0:  # all samples that are left equal a landmark
                rest = np.setdiff1d(np.arange(len(pool)), chosen[:step])
                chosen[step:] = rng.choice(rest, m - step, replace=False)
                break
            chosen[step] = min(np.searchsorted(total, rng.random() * total[-1], side="right"), len(pool) - 1)
        one = chosen[step : step + 1]
        if samples is None:
            values = gram.cross_block(pool[one], pool)[0]
        else:
            values = kernels.evaluate(gram.kernel, samples.take(one), samples)[0]
        np.minimum(distance, np.maximum(diagonal + diagonal[one] - 2.0 * values, 0.0), out=distance)
        distance[one] = 0.0
    return chosen


def _leverage(gram: Gram, pool: np.ndarray, m: int, rng: np.random.Generator) -> np.ndarray:
    """Ridge leverage scores k_ii - k_i'(K + n lam)^-1 k_i, over n lam, with K approximated from m uniform samples.

    The ridge is the mean of the eigenvalues that m landmarks cannot represent, as in [2]_.
    """
    first = rng.choice(len(pool), m, replace=False)
    corner = np.asarray(gram.cross_block(pool[first], pool[first]), dtype=np.float64)
    d, U = linalg.eigh(corner)
    kept = d > 1e-10 * d[-1]
    Z = gram.cross_block(pool, pool[first]) @ (U[:, kept] / np.sqrt(d[kept]))
    diagonal = gram.diagonal()[pool]
    inner = Z.T @ Z
    ridge = max((diagonal.sum() - np.trace(inner)) / m, 1e-10 * diagonal.sum() / m, np.finfo(float).tiny)
    inner[np.diag_indices(len(inner))] += ridge
    inside = np.einsum("ij,ij->i", Z, linalg.solve(inner, Z.T, assume_a="pos").T)
    outside = np.maximum(diagonal - np.einsum("ij,ij->i", Z, Z), 0.0) / ridge
    scores = np.maximum(inside + outside, np.finfo(float).tiny)
    return rng.choice(len(pool), m, replace=False, p=scores / scores.sum())
