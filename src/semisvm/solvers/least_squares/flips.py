"""Compiled loops of searches over labels that flip or swap them.

With alpha = S y a flip of label j changes 1/2 y'Sy by -2 y_j alpha_j + 2 S_jj, which takes O(1) to evaluate; accepting
it takes alpha <- alpha - 2 y_j S_j. A low-rank form keeps p = Q'c^1/2 y instead, and both take O(r). A swap of two
samples i, j of opposite labels changes it by both flips plus 4 y_i y_j S_ij.

Several labelings are searched side by side, so that a row of S or Q that more than one of them needs is read once. All
loops run over the u samples whose labels are searched; ``positive`` is the weight of those with label +1, which has to
stay between ``low`` and ``high``.
"""

from __future__ import annotations

import numpy as np

from ..._jit import SUMS_IN_ANY_ORDER, jit

MIN_GAIN = 1e-11  # of S_jj: a flip that gains less is rounding error and could be repeated without end


@jit(fastmath=SUMS_IN_ANY_ORDER)
def sweep(S, order, Y, A, weights, positive, low, high, n_rejected):
    """Try to flip every sample once in the given order, for a few labelings; arguments as in ``sweep_block``.

    Returns the number of flips.
    """
    n_flips = 0
    for j in order:
        threshold = -MIN_GAIN * S[j, j]
        for r in range(len(Y)):
            if n_rejected[r] >= len(order):
                continue
            y = Y[r, j]
            after = positive[r] - y * weights[j]
            n_rejected[r] += 1
            if 2.0 * (S[j, j] - y * A[r, j]) < threshold and low <= after <= high:
                Y[r, j] = -y
                positive[r] = after
                n_rejected[r] = 0
                n_flips += 1
                for i in range(A.shape[1]):
                    A[r, i] -= 2.0 * y * S[j, i]
    return n_flips


@jit(fastmath=SUMS_IN_ANY_ORDER)
def sweep_block(S, block, Y, A, weights, positive, low, high, n_rejected, change):
    """Try to flip a block of samples once, in their order, for every labeling that has not converged.

    Parameters
    ----------
    S : array of shape (b, b)
        The form between the samples of the block.
    block : int array of shape (b,)
        Which of the u samples they are.
    Y : array of shape (R, u)
        Labels of R labelings, changed in place.
    A : array of shape (R, b)
        alpha at the samples of the block, changed in place.
    weights, positive, low, high : arrays and numbers
        Weights of the samples; weight of the positive ones in each labeling, and its bounds.
    n_rejected : int array of shape (R,)
        Trials since the last flip; a labeling has converged once they reach u.
    change : array of shape (R, b)
        Filled with the change of the labels: -2, 0 or 2.

    Returns
    -------
    int
        Number of flips.
    """
    n_flips = 0
    for k in range(len(block)):
        j = block[k]
        threshold = -MIN_GAIN * S[k, k]
        for r in range(len(Y)):
            if n_rejected[r] >= Y.shape[1]:
                continue
            y = Y[r, j]
            after = positive[r] - y * weights[j]
            n_rejected[r] += 1
            if 2.0 * (S[k, k] - y * A[r, k]) < threshold and low <= after <= high:
                Y[r, j] = -y
                positive[r] = after
                n_rejected[r] = 0
                n_flips += 1
                change[r, k] = -2.0 * y
                for i in range(len(block)):
                    A[r, i] -= 2.0 * y * S[k, i]
    return n_flips


@jit(fastmath=SUMS_IN_ANY_ORDER)
def add_changes(rows, change, A):
    """A += change rows, for changes that are mostly zero."""
    for r in range(len(change)):
        for k in range(len(rows)):
            if change[r, k] != 0.0:
                for i in range(A.shape[1]):
                    A[r, i] += change[r, k] * rows[k, i]


@jit(fastmath=SUMS_IN_ANY_ORDER)
def sweep_low_rank(Q, searched, sqrt_cost, diagonal, order, Y, P, weights, positive, low, high, n_rejected):
    """A sweep for S = c^1/2 (I - QQ') c^1/2; ``searched`` are the rows of Q that belong to the u samples.

    P of shape (R, r) holds p = Q'c^1/2 y over all samples, labeled ones too.
    """
    n_flips = 0
    for j in order:
        threshold = -MIN_GAIN * diagonal[j]
        row = searched[j]
        for r in range(len(Y)):
            if n_rejected[r] >= len(order):
                continue
            y = Y[r, j]
            after = positive[r] - y * weights[j]
            n_rejected[r] += 1
            if not low <= after <= high:
                continue
            product = 0.0
            for k in range(Q.shape[1]):
                product += Q[row, k] * P[r, k]
            alpha = sqrt_cost[j] * (sqrt_cost[j] * y - product)
            if 2.0 * (diagonal[j] - y * alpha) < threshold:
                Y[r, j] = -y
                positive[r] = after
                n_rejected[r] = 0
                n_flips += 1
                step = 2.0 * y * sqrt_cost[j]
                for k in range(Q.shape[1]):
                    P[r, k] -= step * Q[row, k]
    return n_flips


@jit(fastmath=SUMS_IN_ANY_ORDER)
def sweep_rows(
    Z, order, leverages, cost, inverse, steps, step_of, Y, W, B, weights, positive, low, high, n_rejected, limit
):
    """A sweep over a block of b samples by their features alone: f_j = z_j'w, and a flip gains if y_j f_j < h_j.

    With the leverage h_j = c_j z_j'G^-1 z_j a flip changes 1/2 y'Sy by 2 c_j (y_j f_j - h_j), and w by
    -2 y_j c_j G^-1 z_j.

    Parameters
    ----------
    Z : array of shape (b, r)
        The features, with a column of ones if there is an intercept.
    order : int array
        Which samples are tried, in their order.
    leverages, cost : arrays of shape (b,)
        h and c.
    inverse : array of shape (r, r)
        G^-1.
    steps, step_of : array of shape (k, r), int array of shape (b,)
        G^-1 z of the samples that are likely to be flipped, and which row is that of a sample; -1 for the others.
    Y : int8 array of shape (b, R)
        Labels of R labelings, changed in place.
    W, B : arrays of shape (R, r)
        w = G^-1 Z'c y and Z'c y over all samples, changed in place.
    weights, positive, low, high, n_rejected : arrays and numbers
        As in ``sweep_block``.
    limit : int
        Trials without a flip after which a labeling has converged.

    Returns
    -------
    int
        Number of flips.
    """
    n_flips = 0
    step = np.zeros(Z.shape[1])
    for j in order:
        threshold = -0.5 * MIN_GAIN * (1.0 - leverages[j])
        has_step = False
        for r in range(len(W)):
            if n_rejected[r] >= limit:
                continue
            y = float(Y[j, r])
            after = positive[r] - y * weights[j]
            n_rejected[r] += 1
            if not low <= after <= high:
                continue
            score = 0.0
            for k in range(Z.shape[1]):
                score += Z[j, k] * W[r, k]
            if y * score - leverages[j] < threshold:
                if not has_step:
                    has_step = True
                    for k in range(Z.shape[1]):
                        step[k] = steps[step_of[j], k] if step_of[j] >= 0 else 0.0
                    if step_of[j] < 0:
                        for i in range(Z.shape[1]):
                            for k in range(Z.shape[1]):
                                step[k] += Z[j, i] * inverse[i, k]
                Y[j, r] = -Y[j, r]
                positive[r] = after
                n_rejected[r] = 0
                n_flips += 1
                change = 2.0 * y * cost[j]
                for k in range(Z.shape[1]):
                    W[r, k] -= change * step[k]
                    B[r, k] -= change * Z[j, k]
    return n_flips


@jit(fastmath=SUMS_IN_ANY_ORDER)
def steepest_flips(S, y, alpha, weights, positive, low, high):
    """Flip the label that gains most until none gains, ``len(y)`` times at most.

    Returns the number of flips and the positive weight.
    """
    n_flips = 0
    while n_flips < len(y):
        best, chosen = 0.0, -1
        for j in range(len(y)):
            change = 2.0 * (S[j, j] - y[j] * alpha[j])
            if change < best and change < -MIN_GAIN * S[j, j] and low <= positive - y[j] * weights[j] <= high:
                best, chosen = change, j
        if chosen < 0:
            break
        positive -= y[chosen] * weights[chosen]
        for i in range(len(y)):
            alpha[i] -= 2.0 * y[chosen] * S[chosen, i]
        y[chosen] = -y[chosen]
        n_flips += 1
    return n_flips, positive


@jit()
def best_swap(S, y, alpha, weights, positive, low, high):
    """The change of the objective by the best swap over all pairs, and the pair; 0 and -1, -1 if none gains."""
    best, first, second = 0.0, -1, -1
    for i in range(len(y)):
        if y[i] < 0:
            continue
        for j in range(len(y)):
            if y[j] > 0:
                continue
            change = 2.0 * (S[i, i] - alpha[i] + S[j, j] + alpha[j] - 2.0 * S[i, j])
            after = positive - weights[i] + weights[j]
            if change < best and change < -MIN_GAIN * (S[i, i] + S[j, j]) and low <= after <= high:
                best, first, second = change, i, j
    return best, first, second


@jit()
def steepest_swaps(S, y, alpha, weights, positive, low, high):
    """Make the best swap until none gains, ``len(y)`` times at most, changing y and alpha; returns the number."""
    n_swaps = 0
    while n_swaps < len(y):
        _, first, second = best_swap(S, y, alpha, weights, positive, low, high)
        if first < 0:
            break
        positive += weights[second] - weights[first]
        for i in range(len(y)):
            alpha[i] += 2.0 * (S[second, i] - S[first, i])
        y[first], y[second] = -1.0, 1.0
        n_swaps += 1
    return n_swaps


@jit()
def enumerate_labels(S, y, alpha, weights, positive, low, high):
    """The best of all 2^u labelings within the bounds, each one flip from the last (Gray code).

    ``y`` and ``alpha`` are the start and are overwritten; returns the best labels, which are the start if none within
    the bounds has a smaller objective.
    """
    u = len(y)
    best, value, smallest = y.copy(), 0.0, 0.0
    for step in range(1, 1 << u):
        j = 0
        while not (step >> j) & 1:
            j += 1
        value += 2.0 * (S[j, j] - y[j] * alpha[j])
        positive -= y[j] * weights[j]
        for i in range(u):
            alpha[i] -= 2.0 * y[j] * S[j, i]
        y[j] = -y[j]
        if value < smallest and low <= positive <= high:
            smallest = value
            best[:] = y
    return best
