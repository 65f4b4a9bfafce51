"""The compiled loop of SMO: steps along pairs of coordinates.

    maximise  sum phi_i(a_i) - 1/2 a'(K + diag(ridge)) a      subject to  sum a = 0,  lo <= a <= hi

phi_i is concave with slope ``low_slope`` on [lo, mid] and ``high_slope`` on [mid, hi], low_slope >= high_slope. An
ordinary row has mid = hi and one slope. Two copies of an unlabeled row, one for each label, share one kernel row and
differ in their slopes (+1 and -1) alone, so both are one coordinate with a kink.

Given are f = (K + diag(ridge)) a and, for each coordinate, ``up`` and ``down``: the slope of phi to the right and to
the left, -inf and +inf at the ends. The conditions of optimality read

    max (up - f)  <=  min (down - f),

their violation is the difference of both sides, and a pair step takes i from the left maximum and the j that, by the
second-order model, gains most. Rows behind the last of K are virtual (a mean of rows, a constant): ``V[v]`` holds
their kernel values with everything, themselves included.

Maxima are taken over strips without branches, which the compiler turns into vector instructions; the winner is then
looked for in the best strip only.
"""

from __future__ import annotations

import numpy as np

from .._jit import jit

STRIP = 256
TINY = 1e-12  # curvature of a pair whose rows coincide
VECTOR = {"contract", "arcp", "nnan", "nsz"}


@jit(fastmath=VECTOR)
def best_partner(row, tail, diagonal, f, down, i, top):
    """The j of largest gain for a step up along i and down along j, and the violation max over j of top - (down - f).

    ``row`` and ``tail`` are the kernel values of i with the real and with the virtual rows.
    """
    m = row.size
    own = diagonal[i]
    best, strip, widest = 0.0, -1, -np.inf
    for start in range(0, m, STRIP):
        gain, wide = 0.0, -np.inf
        for t in range(start, min(start + STRIP, m)):
            apart = top - down[t] + f[t]
            ahead = max(apart, 0.0)
            gain = max(gain, ahead * ahead / max(own + diagonal[t] - 2.0 * row[t], TINY))
            wide = max(wide, apart)
        if gain > best:
            best, strip = gain, start
        widest = max(widest, wide)
    j = -1
    if strip >= 0:
        found = 0.0
        for t in range(strip, min(strip + STRIP, m)):
            ahead = max(top - down[t] + f[t], 0.0)
            gain = ahead * ahead / max(own + diagonal[t] - 2.0 * row[t], TINY)
            if gain > found:
                found, j = gain, t
        best = found
    for v in range(tail.size):
        t = m + v
        apart = top - down[t] + f[t]
        widest = max(widest, apart)
        if apart > 0.0:
            gain = apart * apart / max(own + diagonal[t] - 2.0 * tail[v], TINY)
            if gain > best:
                best, j = gain, t
    return j, widest


@jit(fastmath=VECTOR)
def add_and_find_top(row_i, row_j, tail_i, tail_j, step, f, up):
    """F += step (K_i - K_j), and the coordinate of the largest up - f with that value."""
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
def find_top(f, up):
    """The coordinate of the largest up - f with that value; -1 if none can go up."""
    i, top = -1, -np.inf
    for t in range(f.size):
        if up[t] - f[t] > top:
            i, top = t, up[t] - f[t]
    return i, top


@jit()
def kernel_row(K, slot, V, i):
    """Kernel values of coordinate i with the real rows; row i stands at ``slot[i]`` of K."""
    m = slot.size
    if i < m:
        return K[slot[i]]
    return V[i - m][:m]


@jit()
def set_slopes(i, a, lo, mid, hi, low_slope, high_slope, up, down):
    """The slopes of phi_i to both sides of a_i."""
    up[i] = low_slope[i] if a[i] < mid[i] else (high_slope[i] if a[i] < hi[i] else -np.inf)
    down[i] = high_slope[i] if a[i] > mid[i] else (low_slope[i] if a[i] > lo[i] else np.inf)


@jit()
def all_slopes(a, lo, mid, hi, low_slope, high_slope, up, down):
    """The slopes of every coordinate."""
    for i in range(a.size):
        set_slopes(i, a, lo, mid, hi, low_slope, high_slope, up, down)


@jit()
def summary(a, f, lo, mid, hi, low_slope, high_slope):
    """Largest up - f, smallest down - f, and the mean and number of up - f over coordinates inside a linear piece."""
    top, bottom, total, count = -np.inf, np.inf, 0.0, 0
    for i in range(a.size):
        up = low_slope[i] if a[i] < mid[i] else (high_slope[i] if a[i] < hi[i] else -np.inf)
        down = high_slope[i] if a[i] > mid[i] else (low_slope[i] if a[i] > lo[i] else np.inf)
        top, bottom = max(top, up - f[i]), min(bottom, down - f[i])
        if lo[i] < a[i] < hi[i] and a[i] != mid[i]:
            total += up - f[i]
            count += 1
    return top, bottom, total / max(count, 1), count


@jit()
def inside_box(a, lo, hi):
    """Whether a is in the box, its sum and the sum of its sizes."""
    within, total, size = True, 0.0, 0.0
    for i in range(a.size):
        within = within and lo[i] <= a[i] <= hi[i]
        total += a[i]
        size += abs(a[i])
    return within, total, size


@jit()
def pair_steps(K, slot, V, diagonal, ridge, pieces, a, f, up, down, tol, max_steps):
    """Steps until the violation is at most tol, ``max_steps`` are made, or a kernel row is missing.

    K holds kernel rows, that of coordinate i at ``slot[i]``, where -1 means that it is not there. ``pieces`` is the
    tuple (lo, mid, hi, low_slope, high_slope); a, f, up and down are changed in place. Returned are the number of
    steps, the violation and the coordinate whose row is missing, or -1.
    """
    lo, mid, hi, low_slope, high_slope = pieces
    m = slot.size
    i, top = find_top(f, up)
    wide = np.inf
    for steps in range(max_steps + 1):
        if i < 0:
            return steps, 0.0, -1
        if i < m and slot[i] < 0:
            return steps, wide, i
        row_i = kernel_row(K, slot, V, i)
        tail_i = V[:, i]
        j, wide = best_partner(row_i, tail_i, diagonal, f, down, i, top)
        if wide <= tol or j < 0 or steps == max_steps:
            return steps, wide, -1
        if j < m and slot[j] < 0:
            return steps, wide, j
        k_ij = row_i[j] if j < m else tail_i[j - m]
        ideal = (top - down[j] + f[j]) / max(diagonal[i] + diagonal[j] - 2.0 * k_ij, TINY)
        end_i = mid[i] if a[i] < mid[i] else hi[i]
        end_j = mid[j] if a[j] > mid[j] else lo[j]
        step = min(ideal, end_i - a[i], a[j] - end_j)
        a[i] = end_i if step == end_i - a[i] else a[i] + step
        a[j] = end_j if step == a[j] - end_j else a[j] - step
        set_slopes(i, a, lo, mid, hi, low_slope, high_slope, up, down)
        set_slopes(j, a, lo, mid, hi, low_slope, high_slope, up, down)
        f[i] += step * ridge[i]
        f[j] -= step * ridge[j]
        i, top = add_and_find_top(row_i, kernel_row(K, slot, V, j), tail_i, V[:, j], step, f, up)
    return max_steps, wide, -1
