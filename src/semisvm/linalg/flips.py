"""Searches over labels that flip one at a time.

With alpha = S y at hand, flipping label j changes 1/2 y'Sy by -2 y_j alpha_j + 2 S_jj: O(1) to test. To accept,
alpha <- alpha - 2 y_j S_j. A low-rank form keeps p = Q'c^1/2 y instead: O(r) to test and to accept.

Many labelings are searched side by side, so that a row of S or Q that several of them want is read once. All loops
work on the rows that may change, the unlabeled ones; ``positive`` is the weight of those with label +1, which has to
stay between ``low`` and ``high``.
"""

from __future__ import annotations

import numpy as np

from .._jit import jit

NOISE = 1e-11  # a flip has to gain this share of S_jj, or rounding would flip for ever
SUMS = {"reassoc", "contract", "nsz"}  # lets a sum be cut into lanes; NaN and infinity keep their meaning


@jit(fastmath=SUMS)
def sweep_rows(S, order, Y, A, weight, positive, low, high, idle):
    """Try every row once in the given order, for a few labelings; arguments as in ``sweep_block``, all u rows.

    Returns the flips made.
    """
    flips = 0
    for j in order:
        threshold = -NOISE * S[j, j]
        for r in range(len(Y)):
            if idle[r] >= len(order):
                continue
            y = Y[r, j]
            moved = positive[r] - y * weight[j]
            idle[r] += 1
            if 2.0 * (S[j, j] - y * A[r, j]) < threshold and low <= moved <= high:
                Y[r, j] = -y
                positive[r] = moved
                idle[r] = 0
                flips += 1
                for i in range(A.shape[1]):
                    A[r, i] -= 2.0 * y * S[j, i]
    return flips


@jit(fastmath=SUMS)
def sweep_block(S, few, Y, A, weight, positive, low, high, idle, made):
    """Try a few rows once, in their order, for every labeling that is not at rest.

    Parameters
    ----------
    S : array of shape (b, b)
        The form between the few rows.
    few : int array of shape (b,)
        Which of the u unlabeled rows they are.
    Y : array of shape (R, u)
        Labels of R labelings, changed in place.
    A : array of shape (R, b)
        Alpha at the few rows, changed in place.
    weight, positive, low, high : arrays and numbers
        Weights of the unlabeled rows; weight of the positive ones in each labeling, and its limits.
    idle : int array of shape (R,)
        Trials since the last flip; a labeling rests once they reach u.
    made : array of shape (R, b)
        Filled with the change of the labels: -2, 0 or 2.

    Returns
    -------
    int
        Flips made.
    """
    flips = 0
    for k in range(len(few)):
        j = few[k]
        threshold = -NOISE * S[k, k]
        for r in range(len(Y)):
            if idle[r] >= Y.shape[1]:
                continue
            y = Y[r, j]
            moved = positive[r] - y * weight[j]
            idle[r] += 1
            if 2.0 * (S[k, k] - y * A[r, k]) < threshold and low <= moved <= high:
                Y[r, j] = -y
                positive[r] = moved
                idle[r] = 0
                flips += 1
                made[r, k] = -2.0 * y
                for i in range(len(few)):
                    A[r, i] -= 2.0 * y * S[k, i]
    return flips


@jit(fastmath=SUMS)
def add_changes(rows, made, A):
    """A += made rows, for changes most of which are zero."""
    for r in range(len(made)):
        for k in range(len(rows)):
            if made[r, k] != 0.0:
                for i in range(A.shape[1]):
                    A[r, i] += made[r, k] * rows[k, i]


@jit(fastmath=SUMS)
def sweep_low_rank(Q, free, root, diagonal, order, Y, P, weight, positive, low, high, idle):
    """The same for S = root (I - QQ') root; ``free`` says where the unlabeled rows stand in Q.

    P of shape (R, r) holds p = Q'root y over all rows, labeled ones too.
    """
    flips = 0
    for j in order:
        threshold = -NOISE * diagonal[j]
        row = free[j]
        for r in range(len(Y)):
            if idle[r] >= len(order):
                continue
            y = Y[r, j]
            moved = positive[r] - y * weight[j]
            idle[r] += 1
            if not low <= moved <= high:
                continue
            product = 0.0
            for k in range(Q.shape[1]):
                product += Q[row, k] * P[r, k]
            alpha = root[j] * (root[j] * y - product)
            if 2.0 * (diagonal[j] - y * alpha) < threshold:
                Y[r, j] = -y
                positive[r] = moved
                idle[r] = 0
                flips += 1
                step = 2.0 * y * root[j]
                for k in range(Q.shape[1]):
                    P[r, k] -= step * Q[row, k]
    return flips


@jit(fastmath=SUMS)
def descend_dense(S, y, alpha, weight, positive, low, high, limit):
    """Flip the row that gains most, again and again; returns the flips made and the weight of positive rows."""
    for flips in range(limit):
        best, chosen = 0.0, -1
        for j in range(len(y)):
            gain = 2.0 * (S[j, j] - y[j] * alpha[j])
            if gain < best and gain < -NOISE * S[j, j] and low <= positive - y[j] * weight[j] <= high:
                best, chosen = gain, j
        if chosen < 0:
            return flips, positive
        positive -= y[chosen] * weight[chosen]
        for i in range(len(y)):
            alpha[i] -= 2.0 * y[chosen] * S[chosen, i]
        y[chosen] = -y[chosen]
    return limit, positive


@jit()
def swap_candidates(S, y, alpha, diagonal, weight, positive, low, high, limit):
    """Swap the pair of opposite labels that gains most, again and again, among a few rows.

    A swap of i and j changes the form by the two flips plus 4 y_i y_j S_ij. All arrays belong to the few rows and are
    changed in place; returns the swaps made and the weight of positive rows.
    """
    for swaps in range(limit):
        best, first, second = 0.0, -1, -1
        for i in range(len(y)):
            if y[i] < 0:
                continue
            for j in range(len(y)):
                if y[j] > 0:
                    continue
                gain = 2.0 * (diagonal[i] - alpha[i] + diagonal[j] + alpha[j] - 2.0 * S[i, j])
                moved = positive - weight[i] + weight[j]
                if gain < best and gain < -NOISE * (diagonal[i] + diagonal[j]) and low <= moved <= high:
                    best, first, second = gain, i, j
        if first < 0:
            return swaps, positive
        positive += weight[second] - weight[first]
        for i in range(len(y)):
            alpha[i] += 2.0 * (S[second, i] - S[first, i])
        y[first], y[second] = -1.0, 1.0
    return limit, positive


@jit()
def best_swap_dense(S, y, alpha, weight, positive, low, high):
    """The largest gain of a swap over all pairs, and the pair; gain 0 and -1, -1 if none gains."""
    best, first, second = 0.0, -1, -1
    for i in range(len(y)):
        if y[i] < 0:
            continue
        for j in range(len(y)):
            if y[j] > 0:
                continue
            gain = 2.0 * (S[i, i] - alpha[i] + S[j, j] + alpha[j] - 2.0 * S[i, j])
            moved = positive - weight[i] + weight[j]
            if gain < best and gain < -NOISE * (S[i, i] + S[j, j]) and low <= moved <= high:
                best, first, second = gain, i, j
    return best, first, second


@jit()
def enumerate_labels(S, y, alpha, weight, positive, low, high):
    """The best of all 2^u labelings within the limits, each one flip from the last (Gray code).

    ``y`` and ``alpha`` are where to begin and are used up; returns the best labels, y itself if it is among them.
    """
    u = len(y)
    best, value, threshold = y.copy(), 0.0, 0.0
    for step in range(1, 1 << u):
        j = 0
        while not (step >> j) & 1:
            j += 1
        value += 2.0 * (S[j, j] - y[j] * alpha[j])
        positive -= y[j] * weight[j]
        for i in range(u):
            alpha[i] -= 2.0 * y[j] * S[j, i]
        y[j] = -y[j]
        if value < threshold and low <= positive <= high:
            threshold = value
            best[:] = y
    return best


def allowed_gain(y: np.ndarray, alpha: np.ndarray, diagonal: np.ndarray, may: np.ndarray) -> float:
    """The most that one allowed flip would gain."""
    gains = 2.0 * (y * alpha - diagonal)
    return float(np.max(np.where(may & (gains > NOISE * diagonal), gains, 0.0), initial=0.0))
