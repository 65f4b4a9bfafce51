"""The threshold of the scores that keeps the number of positive samples, from the sums of one pass over the data.

With f fixed, what the label -1 costs more than +1, (1 + f)_+^2 - (1 - f)_+^2, increases with f. So the best labels of
which k are positive are those of the k highest scores, and of the numbers that a balance allows the best k is the one
nearest to the number of scores above zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .band_statistics import N_CELLS, PassSums, Threshold, bin_edges, cell_edges

HALF = N_CELLS // 2
SCALE_FACTOR = 1000.0  # of the bins of all scores, if the threshold is in one without an end


class Labels(NamedTuple):
    """The best labels at the scores of a pass, and what they change in its sums.

    Attributes
    ----------
    tau : float
        The threshold; exactly 0 if the number of positive samples is not at an end of what the balance allows.
    is_bound : bool
        Whether it is.
    n_positive : int
        Number of positive samples.
    loss : float
        The losses.
    gradient : array of shape (d + 1,)
        Their gradient. Samples of the cell in which tau lies share the positive labels that are left to it.
    n_undecided : int
        Number of such samples, if there is any label to share.
    """

    tau: float
    is_bound: bool
    n_positive: int
    loss: float
    gradient: np.ndarray
    n_undecided: int


def best_labels(sums: PassSums, at: Threshold, low: int, high: int) -> Labels | None:
    """The best labels with low to high positive samples; None if tau is not in the bracket."""
    k = int(np.clip(sums.n_above_zero, low, high))
    is_bound = k != sums.n_above_zero or low == high
    if not np.isfinite(at.tau):
        return Labels(at.tau, True, k, sums.loss, sums.gradient, 0) if sums.n_above == k else None
    n_in_cell, edges = sums.cells[:, 0], cell_edges(at.tau, at.bracket)
    n_above = np.append(np.cumsum(n_in_cell[::-1])[::-1], 0.0)  # each edge
    n_above += sums.n_above - n_above[HALF]
    if not n_above[-1] <= k <= n_above[0]:
        return None
    between = np.flatnonzero(n_above == k)  # edges with k samples above: all samples of a cell are on one side
    n_undecided = 0
    if len(between):
        positive = (np.arange(N_CELLS) >= between[0]).astype(float)
        tau = float(0.5 * (edges[between[0]] + edges[between[-1]]))
    else:
        cell = int(np.flatnonzero(n_above > k)[-1])
        n_undecided = int(n_in_cell[cell])
        positive = (np.arange(N_CELLS) > cell).astype(float)
        positive[cell] = (k - n_above[cell + 1]) / n_undecided
        tau = float(edges[cell + 1] - positive[cell] * (edges[cell + 1] - edges[cell]))
    changed = (np.arange(N_CELLS) >= HALF) - positive  # parts of the cells: to -1, or to +1 if negative
    loss, gradient = sums.loss + float(changed @ sums.cells[:, 1]), sums.gradient + changed @ sums.cells[:, 2:]
    return Labels(tau if is_bound else 0.0, is_bound, k, loss, gradient, n_undecided)


def recentered(sums: PassSums, at: Threshold, low: int, high: int) -> Threshold:
    """The bracket that a next pass at the same w needs where this one has missed tau."""
    k = int(np.clip(sums.n_above_zero, low, high))
    if k == sums.n_above_zero and low < high:
        return at._replace(tau=0.0)
    if k in (0, sums.n_samples):
        return at._replace(tau=-np.inf if k else np.inf)
    edges = bin_edges(at.scale)
    n_above = np.append(np.cumsum(sums.bins[::-1])[::-1], 0)
    first = int(np.flatnonzero(n_above >= k)[-1])  # the bin of the k-th score from above
    low_edge, high_edge = edges[first], edges[first + 1]
    if np.isinf(low_edge) or np.isinf(high_edge):
        tau = np.sign(high_edge if np.isinf(high_edge) else low_edge) * SCALE_FACTOR * at.scale
        return at._replace(tau=float(tau), scale=SCALE_FACTOR * at.scale)
    return at._replace(tau=float(0.5 * (low_edge + high_edge)), bracket=float(high_edge - low_edge))
