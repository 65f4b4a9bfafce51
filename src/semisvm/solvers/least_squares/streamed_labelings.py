"""Labelings of samples whose features are elsewhere: the samples are visited block after block, for all labelings.

What is here are the labels, a few numbers per sample, and w = G^-1 Z~'c y of every labeling, which a visit takes from
block to block. A sample is tried in O(r), and an accepted flip takes O(r^2), for all labelings that flip it together.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..._threads import tiles
from . import flips
from .labelings import LowRankLabelings

BLOCK_ROWS = 4096  # samples that are tried, the first in the order first, before the next ones are read
COLUMNS = 4  # labelings whose right sides are computed in one pass


class StreamedLabelings(LowRankLabelings):
    """Labelings of a form of features that need not be in memory.

    A sweep tries the samples in the order of the blocks in which they are stored, and by the order that it is given
    within a block of ``BLOCK_ROWS`` samples. Swaps are those of ``LowRankLabelings``: of all samples, those of both
    classes whose flips promise most are brought here, and no certificate says more than that no pair of these gains.

    Attributes
    ----------
    W, B : arrays of shape (R, r)
        w, with the intercept as its last component, and Z~'c y of every labeling.
    """

    dtype: ClassVar[type] = np.int8

    _ranked: tuple[np.ndarray, np.ndarray] | None = None  # the last order, and the place of each sample in it

    @cached_property
    def _all_weights(self) -> np.ndarray:
        """Weights in the balance of all samples of the form."""
        weights = np.zeros(self.form.n)
        weights[self.searched] = self.weights
        return weights

    def refresh(self) -> None:
        """Compute w of every labeling."""
        self.positive = np.array([self.weights @ (y > 0) for y in self.Y])
        numbers = range(len(self.Y))
        parts = [
            self.form.right_side(np.column_stack([self.labels(r) for r in numbers[columns]]))
            for columns in tiles(len(self.Y), COLUMNS)
        ]
        self.B = np.ascontiguousarray(np.hstack(parts).T)
        self._solve()

    def refresh_one(self, r: int) -> None:
        """Compute w of one labeling."""
        self.B[r] = self.form.right_side(self.labels(r))
        self._solve()

    def _solve(self) -> None:
        """w of the right sides; nothing is known about the scores from here on."""
        self.W = np.ascontiguousarray(self.form.solve(self.B.T).T)
        self._scores: tuple[int, np.ndarray] | None = None

    def alpha(self, r: int) -> np.ndarray:
        """S y at the searched samples."""
        if self._scores is None or self._scores[0] != r:
            self._scores = r, self.form.scores_of(self.W[r])[self.searched]
        return self.form.cost[self.searched] * (self.Y[r] - self._scores[1])

    def values(self) -> np.ndarray:
        """1/2 y'Sy of every labeling: 1/2 (sum of c - w'Z~'c y)."""
        return 0.5 * (self.form.cost.sum() - np.einsum("rk,rk->r", self.W, self.B))

    def sweep(self, order: np.ndarray) -> int:
        """Try to flip every sample once, in all labelings; returns the number of flips."""
        labels = np.zeros((self.form.n, len(self.Y)), dtype=np.int8)
        labels[self.searched] = self.Y.T
        state = self.W, self.B, self.positive, self.n_rejected, np.zeros(1, dtype=np.int64)
        shared = self.form.inverse, self.low, self.high, len(self.searched)
        by_rows = labels, self._ranks(order), self.form.leverages, self.form.cost, self._all_weights
        (_, self.B, self.positive, self.n_rejected, n_flips), (labels,) = self.form.Z.visit(
            sweep_blocks, state, shared, by_rows
        )
        self.Y = np.ascontiguousarray(labels[self.searched].T)
        if n_flips[0]:
            self._solve()
        return int(n_flips[0])

    def _ranks(self, order: np.ndarray) -> np.ndarray:
        """Place of the samples in an order; the same array as long as the order is the same."""
        if self._ranked is None or self._ranked[0] is not order:
            ranks = np.zeros(self.form.n, dtype=np.int64)
            ranks[self.searched[order]] = np.arange(len(order))
            self._ranked = order, ranks
        return self._ranked[1]

    def _add_change(self, r: int, samples: np.ndarray, change: np.ndarray) -> None:
        rows = self.searched[samples]
        weighted = change * self.form.cost[rows]
        products = self.form.Z.samples_at(rows).T @ weighted
        self.B[r] += np.append(products, weighted.sum()) if self.form.has_ones else products
        self._solve()


def sweep_blocks(
    X: Any,
    state: tuple[np.ndarray, ...],
    inverse: np.ndarray,
    low: float,
    high: float,
    limit: int,
    labels: np.ndarray,
    ranks: np.ndarray,
    leverages: np.ndarray,
    cost: np.ndarray,
    weights: np.ndarray,
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray]]:
    """A sweep over some rows, by blocks; a label of zero is not searched. See ``flips.sweep_rows``."""
    W, B, positive, n_rejected, n_flips = (one.copy() for one in state)
    labels = labels.copy()
    for rows in tiles(len(labels), BLOCK_ROWS):
        searched = np.flatnonzero(labels[rows, 0])
        if not len(searched) or (n_rejected >= limit).all():
            continue
        order = searched[np.argsort(ranks[rows][searched], kind="stable")]
        Z, h = _with_ones(X[rows], W.shape[1]), leverages[rows]
        likely = np.flatnonzero((labels[rows] * (Z @ W.T) < h[:, None]).any(axis=1) & (labels[rows, 0] != 0))
        step_of = np.full(len(Z), -1)
        step_of[likely] = np.arange(len(likely))
        labelings = labels[rows], W, B, weights[rows], positive, low, high, n_rejected, limit
        n_flips += flips.sweep_rows(Z, order, h, cost[rows], inverse, Z[likely] @ inverse, step_of, *labelings)
    return (W, B, positive, n_rejected, n_flips), (labels,)


def _with_ones(X: Any, width: int) -> np.ndarray:
    """Rows as an array of so many columns: the features, and a column of ones if there is one more."""
    out = np.ones((X.shape[0], width))
    out[:, : X.shape[1]] = X.toarray() if sparse.issparse(X) else X
    return out
