"""The compiled loop of SMO: steps along pairs of coordinates.

    maximize  sum phi_i(a_i) - 1/2 a'(K + diag(ridge)) a      subject to  sum a = 0,  lower <= a <= upper

phi_i is concave with slope ``slope`` on [lower, kink] and ``slope_above`` on [kink, upper], slope >= slope_above. A
labeled sample has kink = upper and one slope. The two copies of an unlabeled sample, one for each label, have the same
kernel values and differ in their slopes (+1 and -1) alone, so both are one coordinate with a kink.

Given are f = (K + diag(ridge)) a and, for each coordinate, ``up`` and ``down``: the slope of phi to the right and to
the left, -inf and +inf at the bounds. The optimality conditions are

    max (up - f)  <=  min (down - f),

their violation is the difference of both sides, and a pair step takes i from the left maximum and the j that, by the
second-order model, gains most [1]_. Coordinates behind the last row of K belong to virtual samples (a mean of samples,
a constant): ``V[v]`` holds their kernel values with everything, themselves included.

Maxima are taken over strips without branches, which the compiler turns into vector instructions; the winner is then
looked for in the best strip only.

References
----------
.. [1] R.-E. Fan, P.-H. Chen and C.-J. Lin, "Working set selection using second order information for training support
   vector machines", JMLR 6, 2005. https://jmlr.org/papers/v6/fan05a.html
"""

from __future__ import annotations

import numpy as np

from ..._jit import jit

STRIP = 32
TINY = 1e-12  # of the largest k(x, x): curvature of a pair of equal samples
SMALLEST = float(np.finfo(np.float64).tiny)
VECTOR = {"contract", "arcp", "nnan", "nsz"}


@jit(fastmath=VECTOR)
def best_partner(row, tail, diagonal, f, down, i, top, tiny):
    """The j of largest gain for a step up along i and down along j, and the violation max over j of top - (down - f).

    ``row`` and ``tail`` are the kernel values of i with the real and with the virtual samples; ``tiny`` is the smallest
    curvature.
    """
    m = row.size
    k_ii = diagonal[i]
    best, strip, violation = 0.0, -1, -np.inf
    for start in range(0, m, STRIP):
        gain, largest = 0.0, -np.inf
        for t in range(start, min(start + STRIP, m)):
            difference = top - down[t] + f[t]
            positive = max(difference, 0.0)
            gain = max(gain, positive * positive / max(k_ii + diagonal[t] - 2.0 * row[t], tiny))
            largest = max(largest, difference)
        if gain > best:
            best, strip = gain, start
        violation = max(violation, largest)
    j = -1
    if strip >= 0:
        found = 0.0
        for t in range(strip, min(strip + STRIP, m)):
            positive = max(top - down[t] + f[t], 0.0)
            gain = positive * positive / max(k_ii + diagonal[t] - 2.0 * row[t], tiny)
            if gain > found:
                found, j = gain, t
        best = found
    for v in range(tail.size):
        t = m + v
        difference = top - down[t] + f[t]
        violation = max(violation, difference)
        if difference > 0.0:
            gain = difference * difference / max(k_ii + diagonal[t] - 2.0 * tail[v], tiny)
            if gain > best:
                best, j = gain, t
    return j, violation


@jit(fastmath=VECTOR)
def add_and_find_violator(row_i, row_j, tail_i, tail_j, step, f, up):
    """f += step (K_i - K_j), and the coordinate of the largest up - f with that value."""
    m = row_i.size
    top, strip = -np.inf, 0
    for start in range(0, m, STRIP):
        high = -np.inf
        for t in range(start, min(start + STRIP, m)):
            f[t] += step * (row_i[t] - row_j[t])
            high = max(high, up[t] - f[t])
        if high > top:
            top, strip = high, start
    i, top = -1, -np.inf
    for t in range(strip, min(strip + STRIP, m)):
        if up[t] - f[t] > top:
            i, top = t, up[t] - f[t]
    for v in range(tail_i.size):
        t = m + v
        f[t] += step * (tail_i[v] - tail_j[v])
        if up[t] - f[t] > top:
            i, top = t, up[t] - f[t]
    return i, top


@jit()
def find_violator(f, up):
    """The coordinate of the largest up - f with that value; -1 if none can go up."""
    i, top = -1, -np.inf
    for t in range(f.size):
        if up[t] - f[t] > top:
            i, top = t, up[t] - f[t]
    return i, top


@jit()
def kernel_row(K, slot, V, i):
    """Kernel values of coordinate i with the real samples; its row is ``slot[i]`` of K."""
    m = slot.size
    if i < m:
        return K[slot[i]]
    return V[i - m][:m]


@jit()
def set_slopes(i, a, lower, kink, upper, slope, slope_above, up, down):
    """The slopes of phi_i to both sides of a_i."""
    up[i] = slope[i] if a[i] < kink[i] else (slope_above[i] if a[i] < upper[i] else -np.inf)
    down[i] = slope_above[i] if a[i] > kink[i] else (slope[i] if a[i] > lower[i] else np.inf)


@jit()
def set_all_slopes(a, lower, kink, upper, slope, slope_above, up, down):
    """The slopes of every coordinate."""
    for i in range(a.size):
        set_slopes(i, a, lower, kink, upper, slope, slope_above, up, down)


@jit()
def summarize(a, f, lower, kink, upper, slope, slope_above):
    """Largest up - f, smallest down - f, and the mean and number of up - f over coordinates inside a linear piece."""
    top, bottom, total, count = -np.inf, np.inf, 0.0, 0
    for i in range(a.size):
        up = slope[i] if a[i] < kink[i] else (slope_above[i] if a[i] < upper[i] else -np.inf)
        down = slope_above[i] if a[i] > kink[i] else (slope[i] if a[i] > lower[i] else np.inf)
        top, bottom = max(top, up - f[i]), min(bottom, down - f[i])
        if lower[i] < a[i] < upper[i] and a[i] != kink[i]:
            total += up - f[i]
            count += 1
    return top, bottom, total / max(count, 1), count


@jit()
def box_and_sum(a, lower, upper):
    """Whether a is within the bounds, its sum and the sum of its absolute values."""
    within, total, size = True, 0.0, 0.0
    for i in range(a.size):
        within = within and lower[i] <= a[i] <= upper[i]
        total += a[i]
        size += abs(a[i])
    return within, total, size


@jit()
def pair_steps(K, slot, V, diagonal, ridge, pieces, a, f, up, down, tol, max_steps):
    """Steps until the violation is at most tol, ``max_steps`` are made, or a kernel row is missing.

    K holds kernel rows, that of coordinate i at ``slot[i]``, where -1 means that it is not there. ``pieces`` is the
    tuple (lower, kink, upper, slope, slope_above); a, f, up and down are changed in place. Returned are the number of
    steps, the violation and the coordinate whose row is missing, or -1.
    """
    lower, kink, upper, slope, slope_above = pieces
    m = slot.size
    tiny = SMALLEST
    for t in range(diagonal.size):  # written out: a reduction of numpy takes a fifth of the time to compile all this
        tiny = max(tiny, TINY * abs(diagonal[t]))
    i, top = find_violator(f, up)
    violation = np.inf
    for steps in range(max_steps + 1):
        if i < 0:
            return steps, 0.0, -1
        if i < m and slot[i] < 0:
            return steps, violation, i
        row_i = kernel_row(K, slot, V, i)
        tail_i = V[:, i]
        down_i = down[i]
        down[i] = np.inf  # i is no partner of itself: in rounding, a step of no curvature would look best
        j, violation = best_partner(row_i, tail_i, diagonal, f, down, i, top, tiny)
        down[i] = down_i
        if violation <= tol or j < 0 or steps == max_steps:
            return steps, violation, -1
        if j < m and slot[j] < 0:
            return steps, violation, j
        k_ij = row_i[j] if j < m else tail_i[j - m]
        unbounded = (top - down[j] + f[j]) / max(diagonal[i] + diagonal[j] - 2.0 * k_ij, tiny)
        end_i = kink[i] if a[i] < kink[i] else upper[i]
        end_j = kink[j] if a[j] > kink[j] else lower[j]
        step = min(unbounded, end_i - a[i], a[j] - end_j)
        a[i] = end_i if step == end_i - a[i] else a[i] + step
        a[j] = end_j if step == a[j] - end_j else a[j] - step
        set_slopes(i, a, lower, kink, upper, slope, slope_above, up, down)
        set_slopes(j, a, lower, kink, upper, slope, slope_above, up, down)
        f[i] += step * ridge[i]
        f[j] -= step * ridge[j]
        i, top = add_and_find_violator(row_i, kernel_row(K, slot, V, j), tail_i, V[:, j], step, f, up)
    return max_steps, violation, -1
