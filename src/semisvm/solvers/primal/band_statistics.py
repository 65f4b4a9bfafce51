"""What one pass over a large table computes of squared hinges whose labels follow from the scores.

With f = X w + b the label -1 of an unlabeled sample costs D(f) = (1 + f)_+^2 - (1 - f)_+^2 more than +1, which
increases with f: the best labels of which a given number is positive are f > tau. *Soft* ones are positive to the part

p = 1/2 + (D(f) - D(tau)) / rho,  cut at 0 and 1,

for which rho/2 ((p - 1/2)^2 - 1/4) is added to a loss. Samples with 0 < p < 1 are a *band* about tau, and its moments
give the exact second derivative of what p takes away.

No result has a number per sample. What is needed to find tau are a histogram of all scores and, for labels that are
not soft, sums over the cells of a narrow *bracket* about a guess of tau, by which losses and gradients are corrected
for the samples on the other side of the true one. Scores, losses and gradients are computed in double precision also
from samples in single precision; the products X'X are made in the precision of the samples, tile by tile.
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
        Scores above it are positive; infinite if no or all samples are.
    width : float
        rho / 8, half the width of the band in units of f where |f| < 1.
    is_soft : bool
        Whether labels in the band are soft.
    bracket : float
        Largest distance to tau of the scores that are counted in cells; negative for none.
    scale : float
        The bins of all scores have equal widths in f / (scale + |f|).
    """

    w: np.ndarray
    b: float
    tau: float
    width: float
    is_soft: bool
    bracket: float = -1.0
    scale: float = 1.0

    @property
    def rho(self) -> float:
        """Width of the band in units of D."""
        return 8.0 * self.width


class PassSums(NamedTuple):
    """Sums over the unlabeled samples; where an axis has d + 1 numbers the last is that of the intercept.

    Attributes
    ----------
    loss : float
        Losses at the labels, with what is added where they are soft.
    hard_loss : float
        Losses at the labels f > tau.
    n_samples, n_above_zero, n_above, n_active, n_band : int
        Samples; those with a score above 0 and above tau; those with a loss; those in the band.
    n_positive : float
        The sum of p.
    gradient : array of shape (d + 1,)
        Of the losses.
    label_sums : array of shape (d + 1,)
        (2 p - 1) x.
    curvature : array of shape (d + 1, d + 1)
        Second derivative of the losses at fixed labels.
    band_slopes : array of shape (d + 1,)
        D'(f) x of the samples in the band.
    band_squares : array of shape (d + 1, d + 1)
        D'(f)^2 x x' of them.
    cells : array of shape (N_CELLS, d + 3)
        For every cell of the bracket, in the order of the scores: the number of samples, and the sums of D and D' x.
    bins : array of shape (N_BINS,)
        Numbers of samples in the bins of all scores.
    """

    loss: float
    hard_loss: float
    n_samples: int
    n_above_zero: int
    n_above: int
    n_active: int
    n_band: int
    n_positive: float
    gradient: np.ndarray
    label_sums: np.ndarray
    curvature: np.ndarray
    band_slopes: np.ndarray
    band_squares: np.ndarray
    cells: np.ndarray
    bins: np.ndarray


def bin_edges(scale: float) -> np.ndarray:
    """Edges of the bins of all scores; the first and the last are infinite."""
    part = np.linspace(-1.0, 1.0, N_BINS + 1)[1:-1]
    return np.concatenate([[-np.inf], scale * part / (1.0 - np.abs(part)), [np.inf]])


def cell_edges(tau: float, bracket: float) -> np.ndarray:
    """Edges of the cells of a bracket."""
    return tau + bracket * np.linspace(-1.0, 1.0, N_CELLS + 1)


def cost_difference(f: float) -> float:
    """D(f)."""
    return max(1.0 + f, 0.0) ** 2 - max(1.0 - f, 0.0) ** 2


def score_of_difference(difference: float) -> float:
    """The score f of which D(f) is this."""
    size = abs(difference)
    return float(np.copysign(size / 4.0 if size <= 4.0 else np.sqrt(size) - 1.0, difference))


@jit()
def _add_to_cell(x, f, tau, bracket, difference, slope, cells):
    """Add a sample of the bracket to its cell."""
    half = len(cells) // 2
    place = min(int(abs(f - tau) / bracket * half), half - 1)
    cell = cells[half + place] if f > tau else cells[half - 1 - place]
    cell[0] += 1.0
    cell[1] += difference
    add_row(x, slope, cell[2:-1])
    cell[-1] += slope


@jit()
def _classify(
    X, f, left_out, tau, nu, rho, is_soft, bracket, scale, y, slopes, factors, active, jumps, in_band, cells, bins
):
    """Labels and derivatives of the losses; the samples with a loss and those of the band; adds to cells and bins.

    ``factors`` are roots of half the second derivatives. Returns the first numbers of ``PassSums``.
    """
    loss, hard_loss, n_positive = 0.0, 0.0, 0.0
    n_above_zero, n_above, n_active, n_band, n_left_out = 0, 0, 0, 0, 0
    half_bins = 0.5 * len(bins)
    for i in range(len(f)):
        if n_left_out < len(left_out) and left_out[n_left_out] == i:
            n_left_out += 1
            y[i] = 0.0
            continue
        t = f[i]
        below, above = max(1.0 - t, 0.0), max(1.0 + t, 0.0)
        difference = above * above - below * below
        position = (difference - nu) / rho
        is_positive = t > tau
        p = min(max(0.5 + position, 0.0), 1.0) if is_soft else 1.0 * is_positive
        y[i] = 2.0 * p - 1.0
        n_positive += p
        n_above += is_positive
        n_above_zero += t > 0.0
        bins[min(max(int(half_bins + half_bins * (t / (scale + abs(t)))), 0), len(bins) - 1)] += 1
        hard_loss += below * below if is_positive else above * above
        loss += p * below * below + (1.0 - p) * above * above
        if is_soft:
            loss += 0.5 * rho * ((p - 0.5) * (p - 0.5) - 0.25)
        part = p * (t < 1.0) + (1.0 - p) * (t > -1.0)
        if part > 0.0:
            slopes[n_active] = 2.0 * ((1.0 - p) * above - p * below)
            factors[n_active] = np.sqrt(part)
            active[n_active] = i
            n_active += 1
        jump = 2.0 * (below + above)
        if abs(position) <= 0.5:
            jumps[n_band] = jump
            in_band[n_band] = i
            n_band += 1
        if abs(t - tau) <= bracket:
            _add_to_cell(X[i], t, tau, bracket, difference, jump, cells)
    return loss, hard_loss, len(f) - n_left_out, n_above_zero, n_above, n_active, n_band, n_positive


@jit()
def _take_and_add(X, rows, factors, slopes, taken, total):
    """Some rows of X and a 1, times factors; adds their sum, times slopes, to ``total``."""
    d = X.shape[1]
    for k in range(len(rows)):
        x = X[rows[k]]
        if factors[k] == 1.0:
            for j in range(d):
                taken[k, j] = x[j]
        else:
            for j in range(d):
                taken[k, j] = factors[k] * x[j]
        taken[k, d] = factors[k]
        add_row(x, slopes[k], total[:-1])
        total[-1] += slopes[k]


def _squares(X: np.ndarray, rows: np.ndarray, factors: np.ndarray, slopes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sums of slope [x, 1] and factor^2 [x, 1][x, 1]' of some rows."""
    d = X.shape[1]
    taken, total = np.empty((len(rows), d + 1), dtype=X.dtype), np.zeros(d + 1)
    _take_and_add(X, rows, factors, slopes, taken, total)
    return total, (taken.T @ taken).astype(np.float64)


def pass_sums(X: np.ndarray, first_row: int, at: Threshold, left_out: np.ndarray) -> tuple[Any, ...]:
    """The ``PassSums`` of a tile of rows, as a plain tuple.

    Parameters
    ----------
    X : C-contiguous array of shape (n, d), float32 or float64
        The tile.
    first_row : int
        Its position in the table.
    at : Threshold
        Where to compute.
    left_out : sorted int array
        Positions in the table of rows that are no unlabeled samples.
    """
    n, d = X.shape
    first, last = np.searchsorted(left_out, [first_row, first_row + n])
    skipped = np.asarray(left_out[first:last] - first_row, dtype=np.int64)
    f, y = np.empty(n), np.empty(n, dtype=X.dtype)
    slopes, factors, jumps = np.empty((3, n))
    active, in_band = np.empty((2, n), dtype=np.int64)
    cells, bins = np.zeros((N_CELLS, d + 3)), np.zeros(N_BINS, dtype=np.int64)
    product(X, full_ends(X), at.w, f)
    f += at.b
    numbers = _classify(
        X, f, skipped, at.tau, cost_difference(at.tau), at.rho, at.is_soft, at.bracket, at.scale,
        y, slopes, factors, active, jumps, in_band, cells, bins,
    )  # fmt: skip
    n_active, n_band = numbers[5:7]
    gradient, curvature = _squares(X, active[:n_active], factors[:n_active], slopes[:n_active])
    band = _squares(X, in_band[:n_band], jumps[:n_band], jumps[:n_band])
    label_sums = np.append((y @ X).astype(np.float64), y.sum(dtype=np.float64))
    return (*numbers, gradient, label_sums, 2.0 * curvature, *band, cells, bins)
