"""What one pass over a large table computes of squared hinges whose labels are a threshold of the scores.

With f = X w + b the unlabeled sample j has the label +1 if f_j > tau and -1 otherwise. Wanted are the losses, their
gradient and Hessian, where tau has to be for a given number of positive samples, and what changes when it moves. None
of it needs a number per sample: the scores near tau are counted in the cells of a *bracket* around a guess of tau, with
sums from which losses and gradient are corrected for the samples on the other side of the true one; moments of the
samples in a *band* about tau say how the labels change with w; a histogram of all scores finds tau if the bracket
misses it.

Scores are computed in double precision also from samples in single precision. So are losses and gradients; the products
of X'DX are made in the precision of the samples, tile by tile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._jit import jit
from .dense_pass import add_row, full_ends, product

N_CELLS = 256  # of the bracket, a half on each side of tau
N_BINS = 2048  # of all scores


class Threshold(NamedTuple):
    """Where scores are computed and labels change.

    Attributes
    ----------
    w, b : array of shape (d,), float
        f = X w + b.
    tau : float
        Scores above it are positive.
    bracket : float
        Largest distance to tau of the scores that are counted in cells.
    band : float
        Largest distance to tau of the samples of which there are moments.
    scale : float
        The bins of all scores have equal widths in f / (scale + |f|).
    """

    w: np.ndarray
    b: float
    tau: float
    bracket: float
    band: float
    scale: float


class PassSums(NamedTuple):
    """Sums over the unlabeled samples; those with a last axis of d + 1 have the intercept's number there.

    Attributes
    ----------
    loss : float
        (1 - y f)_+^2 at the labels of the threshold.
    n_samples, n_above, n_above_zero, n_active, n_band : int
        Samples; those with a score above tau and above 0; those with a loss; those in the band.
    gradient : array of shape (d + 1,)
        Of the losses.
    label_sums : array of shape (d + 1,)
        y x.
    curvature, band : array of shape (d + 1, d + 1)
        x x' of the samples with a loss, and of those in the band.
    cells : array of shape (N_CELLS, d + 3)
        For every cell of the bracket, in the order of the scores: the number of samples, what a label of -1 costs more
        than one of +1, and what it adds to the gradient.
    bins : array of shape (N_BINS,)
        Numbers of samples in the bins of all scores.
    """

    loss: float
    n_samples: int
    n_above: int
    n_above_zero: int
    n_active: int
    n_band: int
    gradient: np.ndarray
    label_sums: np.ndarray
    curvature: np.ndarray
    band: np.ndarray
    cells: np.ndarray
    bins: np.ndarray


def bin_edges(scale: float) -> np.ndarray:
    """Edges of the bins of all scores; the first and the last are infinite."""
    part = np.linspace(-1.0, 1.0, N_BINS + 1)[1:-1]
    return np.concatenate([[-np.inf], scale * part / (1.0 - np.abs(part)), [np.inf]])


def cell_edges(tau: float, bracket: float) -> np.ndarray:
    """Edges of the cells of a bracket."""
    return tau + bracket * np.linspace(-1.0, 1.0, N_CELLS + 1)


@jit()
def _add_to_cell(x, f, tau, bracket, cells):
    """Add a sample of the bracket to its cell."""
    half = len(cells) // 2
    place = min(int(abs(f - tau) / bracket * half), half - 1)
    cell = cells[half + place] if f > tau else cells[half - 1 - place]
    below, above = max(1.0 - f, 0.0), max(1.0 + f, 0.0)
    jump = 2.0 * (below + above)
    cell[0] += 1.0
    cell[1] += above * above - below * below
    add_row(x, jump, cell[2:-1])
    cell[-1] += jump


@jit()
def _classify(X, f, left_out, tau, bracket, band, scale, y, slopes, active, in_band, cells, bins):
    """Labels, derivatives of the losses, and the samples with a loss and those of the band; adds to cells and bins.

    Returns the losses and the numbers of samples: all, above tau, above zero, with a loss, in the band.
    """
    loss = 0.0
    n_above, n_above_zero, n_active, n_band, n_left_out = 0, 0, 0, 0, 0
    half_bins = 0.5 * len(bins)
    for i in range(len(f)):
        if n_left_out < len(left_out) and left_out[n_left_out] == i:
            n_left_out += 1
            y[i] = 0.0
            continue
        t = f[i]
        label = 1.0 if t > tau else -1.0
        y[i] = label
        n_above += t > tau
        n_above_zero += t > 0.0
        bins[min(max(int(half_bins + half_bins * (t / (scale + abs(t)))), 0), len(bins) - 1)] += 1
        margin = 1.0 - label * t
        if margin > 0.0:
            loss += margin * margin
            slopes[n_active] = -2.0 * label * margin
            active[n_active] = i
            n_active += 1
        distance = abs(t - tau)
        if distance <= band:
            in_band[n_band] = i
            n_band += 1
        if distance <= bracket:
            _add_to_cell(X[i], t, tau, bracket, cells)
    return loss, len(f) - n_left_out, n_above, n_above_zero, n_active, n_band


@jit()
def _take_and_add(X, active, slopes, taken, gradient):
    """The rows of X with a loss, and their sum times its derivatives."""
    for k in range(len(active)):
        x = X[active[k]]
        for j in range(len(x)):
            taken[k, j] = x[j]
        add_row(x, slopes[k], gradient[:-1])
        gradient[-1] += slopes[k]


def _second_moments(rows: np.ndarray) -> np.ndarray:
    """Sum of [x, 1][x, 1]'."""
    d = rows.shape[1]
    moments = np.zeros((d + 1, d + 1))
    if len(rows):
        moments[:d, :d] = rows.T @ rows
        moments[:d, d] = moments[d, :d] = np.ones(len(rows), dtype=rows.dtype) @ rows
        moments[d, d] = len(rows)
    return moments


def pass_sums(X: np.ndarray, first_row: int, threshold: Threshold, left_out: np.ndarray) -> tuple[Any, ...]:
    """The ``PassSums`` of a tile of rows, as a plain tuple.

    Parameters
    ----------
    X : C-contiguous array of shape (n, d), float32 or float64
        The tile.
    first_row : int
        Its position in the table.
    threshold : Threshold
        Where to compute.
    left_out : sorted int array
        Positions in the table of rows that are no unlabeled samples.
    """
    n, d = X.shape
    first, last = np.searchsorted(left_out, [first_row, first_row + n])
    f, y, slopes = np.empty(n), np.empty(n, dtype=X.dtype), np.empty(n)
    active, in_band = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    cells, bins = np.zeros((N_CELLS, d + 3)), np.zeros(N_BINS, dtype=np.int64)
    product(X, full_ends(X), threshold.w, f)
    f += threshold.b
    loss, n_samples, n_above, n_above_zero, n_active, n_band = _classify(
        X, f, np.asarray(left_out[first:last] - first_row, dtype=np.int64), *threshold[2:], y, slopes, active, in_band,
        cells, bins,
    )  # fmt: skip
    taken, gradient = np.empty((n_active, d), dtype=X.dtype), np.zeros(d + 1)
    _take_and_add(X, active[:n_active], slopes[:n_active], taken, gradient)
    label_sums = np.append((y @ X).astype(np.float64), y.sum(dtype=np.float64))
    curvature, band = _second_moments(taken), _second_moments(X[in_band[:n_band]])
    counts = (n_samples, n_above, n_above_zero, n_active, n_band)
    return (loss, *counts, gradient, label_sums, curvature, band, cells, bins)
