"""Labelings of the unlabeled rows under search, and what moves them.

The same questions are put to both kinds of form: sweep over the rows and flip what gains, descend by the best flip,
swap pairs, and tell what is left to gain.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from . import flips
from .dense import Dense
from .form import Form

CANDIDATES = 128  # rows of each class that a round of swaps looks at
PAIRS = 4096  # unlabeled rows up to which every pair is looked at before a search ends
FEW = 8  # labelings up to which a sweep goes row by row
BLOCK = 64  # rows that a sweep tries between two updates of all of alpha
MANY = 4  # flips per labeling from which one multiplication is the cheaper update
NEVER = 1 << 40


class Labelings(ABC):
    """R labelings of the unlabeled rows of a form.

    Parameters
    ----------
    form : Form
        The quadratic form over all rows.
    fixed : array of shape (n,)
        Labels of the labeled rows, zero elsewhere.
    free : int array of shape (u,)
        The rows to be labeled; with a ``Dense`` form the last ones, in order.
    Y : array of shape (R, u)
        The labelings.
    weight : array of shape (u,)
        Weights of the rows.
    low, high : float
        Limits of the weight of positive rows.
    """

    def __init__(self, form: Form, fixed, free, Y, weight, low, high):
        self.form, self.fixed, self.free, self.weight = form, fixed, free, weight
        self.low, self.high = low, high
        self.Y = np.ascontiguousarray(Y, dtype=np.float64)
        self.diagonal = form.diagonal()[free]
        given = form.times_some(fixed)
        self.pull = given[free]  # what the labels that are given add to alpha
        self.constant = float(fixed @ given)
        self.idle = np.zeros(len(Y), dtype=np.int64)
        self.refresh()

    def full(self, r: int) -> np.ndarray:
        """Labels of all rows in labeling r."""
        y = self.fixed.copy()
        y[self.free] = self.Y[r]
        return y

    def refresh(self) -> None:
        """Compute from scratch what the flips keep up to date."""
        self.positive = (self.Y > 0) @ self.weight

    @abstractmethod
    def refresh_one(self, r: int) -> None:
        """The same for one labeling."""

    @abstractmethod
    def alpha(self, r: int) -> np.ndarray:
        """S y at the rows to be labeled."""

    def values(self) -> np.ndarray:
        """1/2 y'Sy of every labeling."""
        alphas = np.array([self.alpha(r) for r in range(len(self.Y))])
        return 0.5 * (self.constant + np.einsum("ru,ru->r", self.Y, alphas + self.pull))

    def allowed(self, r: int) -> np.ndarray:
        """Rows that may be flipped alone."""
        moved = self.positive[r] - self.Y[r] * self.weight
        return (moved >= self.low) & (moved <= self.high)

    def flip_left(self, r: int) -> float:
        """What the best allowed flip would gain."""
        return flips.allowed_gain(self.Y[r], self.alpha(r), self.diagonal, self.allowed(r))

    def swap(self, r: int) -> int:
        """Swap pairs until none among the most promising rows of both classes gains; returns the swaps made."""
        made = 0
        while True:
            few = self._promising(r)
            labels, own = self.Y[r, few].copy(), self.alpha(r)[few]
            block = self.form.block(self.free[few])
            swaps, positive = flips.swap_candidates(
                block, labels, own, self.diagonal[few], self.weight[few], self.positive[r], self.low, self.high, NEVER
            )
            if not swaps:
                return made
            made += swaps
            self.positive[r] = positive
            self._relabel(r, few, labels)

    def swap_left(self, r: int) -> float:
        """What the best allowed swap among the most promising rows of both classes would gain."""
        few, alpha = self._promising(r), self.alpha(r)
        block, band = self.form.block(self.free[few]), (self.positive[r], self.low, self.high)
        return -flips.best_swap_dense(block, self.Y[r, few], alpha[few], self.weight[few], *band)[0]

    def _promising(self, r: int) -> np.ndarray:
        """Rows of both classes whose flip gains most or loses least."""
        y = self.Y[r]
        gain = self.diagonal - y * self.alpha(r)
        return np.concatenate([_smallest(gain, np.flatnonzero(y > 0)), _smallest(gain, np.flatnonzero(y < 0))])

    @abstractmethod
    def _relabel(self, r: int, rows: np.ndarray, labels: np.ndarray) -> None:
        """Give some rows new labels, and bring what is kept up to date."""

    def _relabel_one(self, r: int, j: int) -> None:
        self.positive[r] -= self.Y[r, j] * self.weight[j]
        self._relabel(r, np.array([j]), np.array([-self.Y[r, j]]))


def _smallest(gain: np.ndarray, rows: np.ndarray) -> np.ndarray:
    if len(rows) <= CANDIDATES:
        return rows
    return np.sort(rows[np.argpartition(gain[rows], CANDIDATES)[:CANDIDATES]])


class DenseLabelings(Labelings):
    """On a form that is held whole."""

    form: Dense

    def refresh(self) -> None:
        """Alpha of every labeling, by one multiplication."""
        super().refresh()
        first = self.form.n - len(self.free)
        self.S = self.form.S[first:, first:]
        self.A = np.ascontiguousarray(self.Y @ self.S) + self.pull

    def refresh_one(self, r: int) -> None:
        """Alpha of one labeling."""
        self.A[r] = self.S @ self.Y[r] + self.pull

    def alpha(self, r: int) -> np.ndarray:
        """S y at the rows to be labeled."""
        return self.A[r]

    def sweep(self, order: np.ndarray) -> int:
        """Try every row once; returns the flips made.

        Many labelings go block by block: within a block alpha is kept up to date at its own rows; the others see the
        flips of a block together, as one multiplication if they are many.
        """
        total, u = 0, len(self.free)
        if len(self.Y) <= FEW:
            band = self.weight, self.positive, self.low, self.high
            return flips.sweep_rows(self.S, order, self.Y, self.A, *band, self.idle)
        for few in np.split(order, range(BLOCK, u, BLOCK)):
            if (self.idle >= u).all():
                break
            made = np.zeros((len(self.Y), len(few)))
            own = np.ascontiguousarray(self.A[:, few])
            rows = self.S[few]
            block = np.ascontiguousarray(rows[:, few])
            band = self.weight, self.positive, self.low, self.high
            flipped = flips.sweep_block(block, few, self.Y, own, *band, self.idle, made)
            if flipped > MANY * len(self.Y):
                self.A += made @ rows
            elif flipped:
                flips.add_changes(rows, made, self.A)
            total += flipped
        return total

    def descend(self, r: int) -> int:
        """Flip the row that gains most until none gains; returns the flips made."""
        band = self.weight, self.positive[r], self.low, self.high
        made, self.positive[r] = flips.descend_dense(self.S, self.Y[r], self.A[r], *band, NEVER)
        return made

    def swap(self, r: int) -> int:
        """Swaps among the promising, then, unless there are too many, among all pairs."""
        made = super().swap(r)
        while len(self.free) <= PAIRS:
            _, i, j = self._best_pair(r)
            if i < 0:
                break
            self.positive[r] += self.weight[j] - self.weight[i]
            self._relabel(r, np.array([i, j]), np.array([-1.0, 1.0]))
            made += 1 + super().swap(r)
        return made

    def swap_left(self, r: int) -> float:
        """What the best allowed swap would gain."""
        return -self._best_pair(r)[0] if len(self.free) <= PAIRS else super().swap_left(r)

    def _best_pair(self, r: int) -> tuple[float, int, int]:
        band = self.weight, self.positive[r], self.low, self.high
        return flips.best_swap_dense(self.S, self.Y[r], self.A[r], *band)

    def _relabel(self, r: int, rows: np.ndarray, labels: np.ndarray) -> None:
        changed = labels != self.Y[r, rows]
        self.A[r] += (2.0 * labels[changed]) @ self.S[rows[changed]]
        self.Y[r, rows] = labels


class LowRankLabelings(Labelings):
    """On a form of few features."""

    def refresh(self) -> None:
        """P = Q'root y of every labeling."""
        super().refresh()
        self.root = self.form.root[self.free]
        own = self.form.Q.T @ (self.form.root * self.fixed)
        lifted = np.zeros((len(self.Y), self.form.n))
        lifted[:, self.free] = self.Y * self.root
        self.P = lifted @ self.form.Q + own

    def refresh_one(self, r: int) -> None:
        """P of one labeling."""
        self.P[r] = (self.form.root * self.full(r)) @ self.form.Q

    def alpha(self, r: int) -> np.ndarray:
        """S y at the rows to be labeled."""
        return self.root * (self.root * self.Y[r] - (self.form.Q @ self.P[r])[self.free])

    def sweep(self, order: np.ndarray) -> int:
        """Try every row once; returns the flips made."""
        band = self.weight, self.positive, self.low, self.high
        return flips.sweep_low_rank(
            self.form.Q, self.free, self.root, self.diagonal, order, self.Y, self.P, *band, self.idle
        )

    def descend(self, r: int) -> int:
        """Flip the row that gains most until none gains; returns the flips made."""
        made = 0
        while True:
            gain = np.where(self.allowed(r), 2.0 * (self.diagonal - self.Y[r] * self.alpha(r)), 0.0)
            j = int(gain.argmin())
            if gain[j] >= -flips.NOISE * self.diagonal[j]:
                return made
            self._relabel_one(r, j)
            made += 1

    def _relabel(self, r: int, rows: np.ndarray, labels: np.ndarray) -> None:
        changed = rows[labels != self.Y[r, rows]]
        self.P[r] -= (2.0 * self.Y[r, changed] * self.root[changed]) @ self.form.Q[self.free[changed]]
        self.Y[r, rows] = labels


def labelings(form: Form, *rest) -> Labelings:
    """Labelings of a form of either kind."""
    return (DenseLabelings if isinstance(form, Dense) else LowRankLabelings)(form, *rest)
