r"""A batch of samples that is uncertain, diverse and typical at once: greedy coverage weighted by uncertainty.

With weights u of the samples, a Gaussian kernel k and the labeled samples L, a batch S has the value

.. math:: F(S) = \sum_i u_i \max_{j \in L \cup S} k(x_i, x_j).

F is monotone and submodular: adding the sample of the largest gain, again and again, reaches at least 63 % of the best
value [1]_. A sample gains little if it is like a labeled or a chosen one, if it is like few others, or if those that it
is like have small weights. As the number of labels grows the kernel gets narrower, and the rule changes from coverage
to uncertainty [3]_.

References
----------
.. [1] G. L. Nemhauser, L. A. Wolsey and M. L. Fisher, "An analysis of approximations for maximizing submodular set
   functions - I", Mathematical Programming 14, 1978. https://doi.org/10.1007/BF01588971
.. [2] M. Minoux, "Accelerated greedy algorithms for maximizing submodular set functions", Optimization Techniques,
   1978. https://doi.org/10.1007/BFb0006528
.. [3] W. Bae, G. L. Oliveira and D. J. Sutherland, "Uncertainty herding: one active learning method for all label
   budgets", ICLR, 2025. https://arxiv.org/abs/2412.20644
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np

from .._threads import tiles
from ..spaces.kernels import Kernel, arguments, form_of, prepare

BLOCK = 512  # samples whose distances are computed at a time
N_WIDTH = 1000  # samples that decide the width of the kernel
RBF = Kernel("rbf")


class Addition(NamedTuple):
    """A sample that was added to a batch, and by how much F grew."""

    candidate: int
    gain: float


def squared_distances(A: Any, B: Any) -> np.ndarray:
    """||a - b||^2 of all pairs, shape (n_a, n_b), without temporary arrays of that size; zero where it is rounding."""
    form = form_of(RBF)
    assert form is not None
    first, second = (prepare(RBF, X, np.float64) for X in (A, B))
    distances = np.empty((A.shape[0], B.shape[0]))
    for part in tiles(len(distances), BLOCK):
        distances[part] = arguments(form, first.take(part), second)
    return distances


def neighborhood_width(X: Any, n_labels: int) -> float:
    """The squared distance at which a Gaussian kernel is to fall to 1/e, so that n labels share the samples.

    The median over samples of the squared distance within which 1/n_labels of all samples are, two at least.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        The samples, of which ``N_WIDTH``, spread evenly, are looked at.
    n_labels : int
        Number of labels, those of the batch included.
    """
    some = X[np.unique(np.linspace(0, X.shape[0] - 1, N_WIDTH).astype(int))]
    distances = squared_distances(some, some)
    rank = min(max(2, round(len(distances) / n_labels)), len(distances) - 1)
    near = np.partition(distances, rank, axis=1)[:, rank]
    width = float(np.median(near)) or float(near.max(initial=0.0)) or float(distances.max(initial=0.0))
    return width or 1.0


def greedy_coverage(K: np.ndarray, weights: np.ndarray, covered: np.ndarray, n: int) -> list[Addition]:
    """Add the candidate of the largest gain n times; of equal ones the first.

    A gain never grows when the batch does: the gain of an earlier round is a bound, and most candidates need no new one
    (Minoux's accelerated greedy algorithm).

    Parameters
    ----------
    K : array of shape (n_candidates, m)
        Kernel values of the candidates and the samples that are to be covered.
    weights : array of shape (m,)
        u.
    covered : array of shape (m,)
        The largest kernel value with a labeled sample.
    n : int
        Size of the batch, at most ``n_candidates``.
    """
    covered = covered.copy()
    heap = [(-float(gain), candidate, 0) for candidate, gain in enumerate(_gains(K, weights, covered))]
    heapq.heapify(heap)
    batch: list[Addition] = []
    while len(batch) < n:
        bound, candidate, size = heapq.heappop(heap)
        if size == len(batch):
            batch.append(Addition(candidate, -bound))
            np.maximum(covered, K[candidate], out=covered)
        else:
            gain = float(_gains(K[candidate : candidate + 1], weights, covered)[0])
            heapq.heappush(heap, (-gain, candidate, len(batch)))
    return batch


def _gains(K: np.ndarray, weights: np.ndarray, covered: np.ndarray) -> np.ndarray:
    """By how much F grows with each candidate."""
    gains = np.empty(len(K))
    for part in tiles(len(K), BLOCK):
        gains[part] = np.maximum(K[part] - covered, 0.0) @ weights
    return gains
