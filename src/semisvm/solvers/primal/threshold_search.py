"""The threshold of the scores that keeps the number of positive samples, from the sums of one pass over the data.

Of the numbers of positive samples that a balance allows the best k is the one nearest to that of the scores above zero:
tau = 0 if it is allowed, else tau is where k scores are above it. With soft labels k is the sum of p, and nu = D(tau)
the multiplier of that condition.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .band_statistics import (
    N_CELLS,
    PassSums,
    Threshold,
    bin_edges,
    cell_edges,
    cost_difference,
    score_of_difference,
)

HALF = N_CELLS // 2
SCALE_FACTOR = 1000.0  # of the bins of all scores, if the threshold is in one without an end
FIRST_BRACKET = 0.1
FEW = 10  # samples in the band, or less, say nothing
LINEAR = 0.1  # of the band: so far losses and gradient are corrected by their derivatives


class Labels(NamedTuple):
    """The best labels at the scores of a pass, and what they change in its sums.

    Attributes
    ----------
    tau : float
        The threshold.
    is_bound : bool
        Whether the number of positive samples is at an end of what is allowed; else tau is 0.
    n_positive : float
        That number.
    loss, hard_loss : float
        Losses at the labels, and at the labels f > tau.
    gradient : array of shape (d + 1,)
        Of ``loss``. Samples of the cell in which tau lies share the positive labels that are left to it.
    n_undecided : int
        Number of such samples, if there is any label to share.
    """

    tau: float
    is_bound: bool
    n_positive: float
    loss: float
    hard_loss: float
    gradient: np.ndarray
    n_undecided: int = 0


def best_labels(sums: PassSums, at: Threshold, low: int, high: int) -> Labels | None:
    """The best labels with low to high positive samples; None if tau is too far from the guess."""
    if np.isinf(at.tau):
        wanted = sums.n_samples if low == sums.n_samples else 0
        is_kept = sums.n_above == wanted and (at.tau > 0.0) == (wanted == 0)
        return Labels(at.tau, True, wanted, sums.loss, sums.hard_loss, sums.gradient) if is_kept else None
    return (_soft_labels if at.is_soft else _hard_labels)(sums, at, low, high)


def _soft_labels(sums: PassSums, at: Threshold, low: int, high: int) -> Labels | None:
    k = _soft_count(sums, at, low, high)
    excess, nu = sums.n_positive - k, cost_difference(at.tau)
    if low < high and nu == 0.0 and excess == 0.0:
        return Labels(0.0, False, k, sums.loss, sums.hard_loss, sums.gradient)
    if sums.n_band <= FEW and excess != 0.0:
        return None
    change = excess * at.rho / max(sums.n_band, 1)
    if abs(change) > LINEAR * at.rho or (low < high and (nu + change) * nu < 0.0):
        return None
    return Labels(
        score_of_difference(nu + change),
        True,
        k,
        sums.loss + excess * (nu + 0.5 * change),
        sums.hard_loss + (sums.n_above - k) * nu,
        sums.gradient + change / at.rho * sums.band_slopes,
    )


def _soft_count(sums: PassSums, at: Threshold, low: int, high: int) -> float:
    """The sum of p that is wanted: with tau above zero it is the highest one, below zero the lowest one."""
    if low == high or at.tau == 0.0:
        return float(np.clip(sums.n_positive, low, high))
    return float(high if at.tau > 0.0 else low)


def _hard_labels(sums: PassSums, at: Threshold, low: int, high: int) -> Labels | None:
    k = int(np.clip(sums.n_above_zero, low, high))
    is_bound = k != sums.n_above_zero or low == high
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
    return Labels(tau if is_bound else 0.0, is_bound, k, loss, loss, gradient, n_undecided)


def recentered(sums: PassSums, at: Threshold, low: int, high: int) -> Threshold:
    """The threshold for another pass at the same w where this one was too far from the true one.

    Labels become +-1 if a band about the true one holds next to no samples.
    """
    if at.is_soft and sums.n_band > FEW and np.isfinite(at.tau):
        excess, nu = sums.n_positive - _soft_count(sums, at, low, high), cost_difference(at.tau)
        change = excess * at.rho / sums.n_band
        if abs(excess) <= sums.n_band:
            return at._replace(tau=0.0 if low < high and (nu + change) * nu < 0.0 else score_of_difference(nu + change))
    k = int(np.clip(sums.n_above_zero, low, high))
    if k == sums.n_above_zero and low < high:
        return at._replace(tau=0.0, is_soft=at.is_soft and at.tau != 0.0, bracket=FIRST_BRACKET)
    if k in (0, sums.n_samples):
        return at._replace(tau=-np.inf if k else np.inf)
    edges = bin_edges(at.scale)
    n_above = np.append(np.cumsum(sums.bins[::-1])[::-1], 0)
    first = int(np.flatnonzero(n_above >= k)[-1])  # the bin of the k-th score from above
    ends = edges[first : first + 2]
    if np.isinf(ends).any():
        scale = SCALE_FACTOR * at.scale
        return at._replace(tau=float(np.copysign(scale, 1.0 if first else -1.0)), scale=scale)
    tau, size = float(0.5 * (ends[0] + ends[1])), float(ends[1] - ends[0])
    if at.is_soft and not (sums.n_band <= FEW and at.tau == tau):
        return at._replace(tau=tau, width=max(at.width, size * max(1.0, 0.5 + 0.5 * abs(tau))))  # D of all of the bin
    return at._replace(tau=tau, is_soft=False, bracket=size)
