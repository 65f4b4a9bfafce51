"""Labelings of the samples whose labels are searched, and the moves that improve them.

Both kinds of form offer the same moves: a sweep over the samples that flips whatever gains, descent by the best flip,
swaps of pairs, and what the best remaining move would gain.

A call ends after about u moves, even if some still gain: where costs differ by many orders of magnitude, rounding
errors of alpha may exceed what a move changes, and swaps to and fro would go on without end. Between two calls a search
looks at its limits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..._threads import blas_threads_for
from . import flips
from .dense_form import DenseForm
from .low_rank_form import LowRankForm
from .quadratic_form import QuadraticForm

N_CANDIDATES = 128  # samples of each class among which a round of swaps searches
ALL_PAIRS = 4096  # searched samples up to which every pair is evaluated before a search ends
SAMPLE_BY_SAMPLE = 8  # labelings up to which a sweep updates alpha after each flip
BLOCK_SIZE = 64  # samples that a sweep tries between two updates of the whole alpha
PRODUCT_FLIPS = 4  # flips per labeling from which on one matrix product is the faster update


class Labelings(ABC):
    """R labelings of the searched samples of a form.

    Parameters
    ----------
    form : QuadraticForm
        The form of all n samples.
    fixed : array of shape (n,)
        Labels of the labeled samples, zero elsewhere.
    searched : int array of shape (u,)
        The samples whose labels are searched; with a ``DenseForm`` the last ones, in order.
    Y : array of shape (R, u)
        The labelings.
    weights : array of shape (u,)
        Weights of the searched samples in the balance.
    band : tuple of float
        Lowest and highest weight of positive samples.

    Attributes
    ----------
    positive : array of shape (R,)
        Weight of the positive samples of each labeling.
    n_rejected : int array of shape (R,)
        Flips rejected since the last accepted one; sweeps skip a labeling once they reach u.
    """

    form: QuadraticForm
    dtype: ClassVar[type] = np.float64  # of the labels

    def __init__(
        self,
        form: QuadraticForm,
        fixed: np.ndarray,
        searched: np.ndarray,
        Y: np.ndarray,
        weights: np.ndarray,
        band: tuple[float, float],
    ):
        self.form, self.fixed, self.searched, self.weights = form, fixed, searched, weights
        self.low, self.high = band
        self.Y: np.ndarray = np.ascontiguousarray(Y, dtype=self.dtype)
        self.diagonal = form.diagonal()[searched]
        self.n_rejected = np.zeros(len(Y), dtype=np.int64)
        self.refresh()

    @cached_property
    def _fixed_part(self) -> tuple[np.ndarray, float]:
        """What the fixed labels add to alpha at the searched samples, and to y'Sy."""
        alpha = self.form.sparse_product(self.fixed)
        return alpha[self.searched], float(self.fixed @ alpha)

    def labels(self, r: int) -> np.ndarray:
        """Labels of all n samples in labeling r."""
        y = self.fixed.copy()
        y[self.searched] = self.Y[r]
        return y

    def refresh(self) -> None:
        """Compute from scratch what the moves update."""
        self.positive = np.array([self.weights @ (y > 0) for y in self.Y])

    @abstractmethod
    def refresh_one(self, r: int) -> None:
        """The same for one labeling."""

    @abstractmethod
    def alpha(self, r: int) -> np.ndarray:
        """S y at the searched samples."""

    @abstractmethod
    def sweep(self, order: np.ndarray) -> int:
        """Try to flip every sample once in the given order, in all labelings; returns the number of flips."""

    @abstractmethod
    def descend(self, r: int) -> int:
        """Flip the label that gains most until none gains, u times at most; returns the number of flips."""

    @abstractmethod
    def _add_change(self, r: int, samples: np.ndarray, change: np.ndarray) -> None:
        """Update alpha by a change of the labels of some samples."""

    def flip(self, r: int, samples: np.ndarray) -> None:
        """Flip the labels of some samples, given by their positions among the searched ones."""
        y = self.Y[r, samples]
        self.positive[r] -= y @ self.weights[samples]
        self._add_change(r, samples, -2.0 * y)
        self.Y[r, samples] = -y

    def values(self) -> np.ndarray:
        """1/2 y'Sy of every labeling."""
        alphas = np.array([self.alpha(r) for r in range(len(self.Y))])
        fixed_alpha, fixed_value = self._fixed_part
        return 0.5 * (fixed_value + np.einsum("ru,ru->r", self.Y, alphas + fixed_alpha))

    def allowed(self, r: int) -> np.ndarray:
        """Mask of the samples whose flip alone keeps the balance."""
        after = self.positive[r] - self.Y[r] * self.weights
        return (after >= self.low) & (after <= self.high)

    def flip_gain(self, r: int) -> float:
        """What the best allowed flip would gain."""
        gains = 2.0 * (self.Y[r] * self.alpha(r) - self.diagonal)
        gains = np.where(self.allowed(r) & (gains > flips.MIN_GAIN * self.diagonal), gains, 0.0)
        return float(gains.max(initial=0.0))

    def swap(self, r: int) -> int:
        """Swap pairs of candidates of both classes until none gains or there were u swaps; returns their number."""
        total = 0
        while total < len(self.searched):
            candidates = self._candidates(r)
            y, alpha = self.Y[r, candidates].astype(np.float64), self.alpha(r)[candidates]
            balance = self.weights[candidates], self.positive[r], self.low, self.high
            n_swaps = flips.steepest_swaps(self._block(candidates), y, alpha, *balance)
            if not n_swaps:
                break
            total += n_swaps
            self.flip(r, candidates[y != self.Y[r, candidates]])
        return total

    def swap_gain(self, r: int) -> float:
        """What the best allowed swap of two candidates would gain."""
        candidates = self._candidates(r)
        y, alpha = self.Y[r, candidates].astype(np.float64), self.alpha(r)[candidates]
        balance = self.weights[candidates], self.positive[r], self.low, self.high
        return -flips.best_swap(self._block(candidates), y, alpha, *balance)[0]

    def flip_largest_error(self, r: int) -> int:
        """Flip the sample of largest y alpha if that is above zero and the objective decreases.

        Where the balance forbids some flip, the two such samples of both classes are swapped. Returns the number of
        moves, 0 or 1.
        """
        y = self.Y[r]
        error = y * self.alpha(r)
        if self.allowed(r).all():
            samples = np.array([error.argmax()])
        else:
            classes = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
            if not all(len(members) for members in classes):
                return 0
            samples = np.array([members[error[members].argmax()] for members in classes])
        change = 2.0 * (self.diagonal[samples] - error[samples]).sum()
        if len(samples) == 2:
            change -= 4.0 * self._block(samples)[0, 1]
        after = self.positive[r] - y[samples] @ self.weights[samples]
        decreases = change < -flips.MIN_GAIN * self.diagonal[samples].sum()
        if error[samples].min() <= 0 or not decreases or not self.low <= after <= self.high:
            return 0
        self.flip(r, samples)
        return 1

    def _block(self, samples: np.ndarray) -> np.ndarray:
        """S between some of the searched samples."""
        return self.form.block(self.searched[samples])

    def _candidates(self, r: int) -> np.ndarray:
        """Samples of both classes whose flip gains most or loses least."""
        y = self.Y[r]
        change = self.diagonal - y * self.alpha(r)
        return np.concatenate([_smallest(change, np.flatnonzero(y > 0)), _smallest(change, np.flatnonzero(y < 0))])


def _smallest(change: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """The ``N_CANDIDATES`` samples of smallest change."""
    if len(samples) <= N_CANDIDATES:
        return samples
    return np.sort(samples[np.argpartition(change[samples], N_CANDIDATES)[:N_CANDIDATES]])


class DenseLabelings(Labelings):
    """Labelings of a form whose S is held: alpha of every labeling is kept."""

    form: DenseForm

    def refresh(self) -> None:
        """Compute alpha of every labeling, by one product."""
        super().refresh()
        first = self.form.n - len(self.searched)
        self.S = self.form.compute_S()[first:, first:]
        with blas_threads_for(len(self.Y) * self.S.size):
            self.A = np.ascontiguousarray(self.Y @ self.S) + self._fixed_part[0]

    def refresh_one(self, r: int) -> None:
        """Compute alpha of one labeling."""
        self.A[r] = self.S @ self.Y[r] + self._fixed_part[0]

    def alpha(self, r: int) -> np.ndarray:
        """S y at the searched samples."""
        return self.A[r]

    def sweep(self, order: np.ndarray) -> int:
        """Try to flip every sample once in the given order, in all labelings; returns the number of flips.

        With many labelings the samples are tried by blocks: alpha is updated within a block at once, and elsewhere at
        the end of the block, by one product if there were many flips.
        """
        total, u = 0, len(self.searched)
        balance = self.weights, self.positive, self.low, self.high
        if len(self.Y) <= SAMPLE_BY_SAMPLE:
            return flips.sweep(self.S, order, self.Y, self.A, *balance, self.n_rejected)
        for block in np.split(order, range(BLOCK_SIZE, u, BLOCK_SIZE)):
            if (self.n_rejected >= u).all():
                break
            change = np.zeros((len(self.Y), len(block)))
            alpha = np.ascontiguousarray(self.A[:, block])
            rows = self.S[block]
            S = np.ascontiguousarray(rows[:, block])
            n_flips = flips.sweep_block(S, block, self.Y, alpha, *balance, self.n_rejected, change)
            if n_flips > PRODUCT_FLIPS * len(self.Y):
                self.A += change @ rows
            elif n_flips:
                flips.add_changes(rows, change, self.A)
            total += n_flips
        return total

    def descend(self, r: int) -> int:
        """Flip the label that gains most until none gains, u times at most; returns the number of flips."""
        balance = self.weights, self.positive[r], self.low, self.high
        n_flips, self.positive[r] = flips.steepest_flips(self.S, self.Y[r], self.A[r], *balance)
        return n_flips

    def swap(self, r: int) -> int:
        """Swap candidates, then, unless there are too many, the best of all pairs, as often; returns the number."""
        total = super().swap(r)
        while total < len(self.searched) <= ALL_PAIRS:
            _, i, j = self._best_pair(r)
            if i < 0:
                break
            self.flip(r, np.array([i, j]))
            total += 1 + super().swap(r)
        return total

    def swap_gain(self, r: int) -> float:
        """What the best allowed swap would gain."""
        return -self._best_pair(r)[0] if len(self.searched) <= ALL_PAIRS else super().swap_gain(r)

    def _best_pair(self, r: int) -> tuple[float, int, int]:
        balance = self.weights, self.positive[r], self.low, self.high
        return flips.best_swap(self.S, self.Y[r], self.A[r], *balance)

    def _add_change(self, r: int, samples: np.ndarray, change: np.ndarray) -> None:
        self.A[r] += change @ self.S[samples]


class LowRankLabelings(Labelings):
    """Labelings of a form of few features: p = Q'c^1/2 y of every labeling is kept."""

    form: LowRankForm

    def refresh(self) -> None:
        """Compute p of every labeling."""
        super().refresh()
        self.Q = self.form.compute_Q()
        self.sqrt_cost = self.form.sqrt_cost[self.searched]
        labels = np.array([self.labels(r) for r in range(len(self.Y))])
        self.P = (self.form.sqrt_cost * labels) @ self.Q

    def refresh_one(self, r: int) -> None:
        """Compute p of one labeling."""
        self.P[r] = (self.form.sqrt_cost * self.labels(r)) @ self.Q

    def alpha(self, r: int) -> np.ndarray:
        """S y at the searched samples."""
        return self.sqrt_cost * (self.sqrt_cost * self.Y[r] - (self.Q @ self.P[r])[self.searched])

    def sweep(self, order: np.ndarray) -> int:
        """Try to flip every sample once in the given order, in all labelings; returns the number of flips."""
        form = self.Q, self.searched, self.sqrt_cost, self.diagonal
        balance = self.weights, self.positive, self.low, self.high
        return flips.sweep_low_rank(*form, order, self.Y, self.P, *balance, self.n_rejected)

    def descend(self, r: int) -> int:
        """Flip the label that gains most until none gains, u times at most; returns the number of flips."""
        for n_flips in range(len(self.searched)):
            change = np.where(self.allowed(r), 2.0 * (self.diagonal - self.Y[r] * self.alpha(r)), 0.0)
            j = int(change.argmin())
            if change[j] >= -flips.MIN_GAIN * self.diagonal[j]:
                return n_flips
            self.flip(r, np.array([j]))
        return len(self.searched)

    def _add_change(self, r: int, samples: np.ndarray, change: np.ndarray) -> None:
        self.P[r] += (change * self.sqrt_cost[samples]) @ self.Q[self.searched[samples]]
