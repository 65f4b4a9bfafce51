"""Active sets of the squared hinge, by sweeps of one symmetric table.

With M = K + diag(1/(2c)) the squared-hinge machine of rows with labels y maximises y'a - 1/2 a'Ma subject to
y_i a_i >= 0 and, for a free intercept, sum a = 0. On a support set A with its border B = [[M_AA, 1], [1', 0]] the
solution is a_A = B^-1 [y_A; 0]. Sweeping rows of A (and the border) into the table S, which starts as M with its
border, leaves

    S_AA = -B^-1,    S_jA = [k_j, 1] B^-1,    S_jj = p_j = M_jj - [k_j, 1] B^-1 [k_j; 1]    for j outside A,

and g = S_.A y_A is -a on A and f outside. A row j with label y that joins A raises the value 1/2 y'a by
(y - f_j)^2 / (2 p_j): exactly what the machine with that row costs more while the support set stays.

``settle`` goes from any A to the solution: rows of the wrong sign leave, then the row that gains most joins and rows
that would change sign on the way leave (Lawson and Hanson), so the value rises with every step; each is a lower bound
on the objective, and the walk may end as soon as it is high enough. A sweep and its inverse lose digits to each other,
the more the larger the costs: the table is built afresh after ``FRESH`` of them, and whenever a solution that is
checked against M itself is off.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import jit

FRESH = 100  # sweeps after which the table is built afresh
SOUND = 1e-9  # of a margin: a table off by more is built afresh
ATTEMPTS = 4
ROUNDS = 20  # times the number of rows: joins after which a walk ends where it is
FAST = {"contract", "arcp", "nsz"}


class Table(NamedTuple):
    """A swept table and what stands beside it.

    Attributes
    ----------
    M : array of shape (m, m)
        The table before any sweep; its last row is the border if there is one.
    S, g : arrays of shape (m, m) and (m,)
        The swept table, and -a on swept rows, f on others.
    y : array of shape (m,)
        Labels of the rows that take part, 0 for the others and for the border.
    inside : bool array of shape (m,)
        The support set.
    a : array of shape (m,)
        Room for a point on the way.
    n : array of one int
        How many rows there are, without the border.
    anchor : array of two ints
        Rows of both classes that always take part: with them inside no sweep is singular.
    count : array of two ints
        Sweeps since the table was built, and in all.
    """

    M: np.ndarray
    S: np.ndarray
    g: np.ndarray
    y: np.ndarray
    inside: np.ndarray
    a: np.ndarray
    n: np.ndarray
    anchor: np.ndarray
    count: np.ndarray


def table(M: np.ndarray, y: np.ndarray, border: bool) -> Table:
    """A table of rows with labels, those with label 0 left out for now; both classes must be there."""
    n = len(y)
    wide = np.zeros((n + border, n + border))
    wide[:n, :n] = M
    if border:
        wide[n, :n] = wide[:n, n] = 1.0
    anchor = np.array([np.flatnonzero(y > 0)[0], np.flatnonzero(y < 0)[0]])
    inside = np.zeros(n + border, dtype=np.bool_)
    inside[anchor] = True
    signs = np.r_[y, np.zeros(int(border))].astype(np.float64)
    made = Table(
        wide,
        wide.copy(),
        np.zeros(len(wide)),
        signs,
        inside,
        np.zeros(len(wide)),
        np.array([n]),
        anchor,
        np.zeros(2, int),
    )
    build(made)
    return made


@jit(fastmath=FAST)
def _sweep(S, k, turn):
    """Pivot on row k; ``turn`` is 1 to sweep it in, -1 to sweep it out."""
    m = S.shape[0]
    d = S[k, k]
    own = S[k]
    for i in range(m):
        if i != k:
            t = S[i, k] / d
            row = S[i]
            for j in range(m):
                row[j] -= t * own[j]
    for i in range(m):
        own[i] = turn * own[i] / d
        S[i, k] = own[i]
    own[k] = -1.0 / d


@jit()
def join(table, k):
    """Sweep row k in."""
    S, g = table.S, table.g
    step = (table.y[k] - g[k]) / S[k, k]
    for i in range(g.size):
        g[i] += S[i, k] * step
    g[k] = -step
    _sweep(S, k, 1.0)
    table.inside[k] = True
    table.count[0] += 1
    table.count[1] += 1


@jit()
def leave(table, k):
    """Sweep row k out."""
    S, g = table.S, table.g
    p = -1.0 / S[k, k]
    own = -g[k]
    for i in range(g.size):
        g[i] -= S[i, k] * p * own
    g[k] = table.y[k] - p * own
    _sweep(S, k, -1.0)
    table.inside[k] = False
    table.count[0] += 1
    table.count[1] += 1


@jit()
def build(table):
    """Make S and g afresh for the present support set, which holds rows of both classes."""
    n = table.n[0]
    table.S[:, :] = table.M
    table.g[:] = 0.0
    bordered = table.g.size == n
    for k in range(n):
        if table.inside[k]:
            join(table, k)
            if not bordered:
                join(table, n)
                bordered = True
    table.count[0] = 0


@jit()
def forget(table, k):
    """Take row k and its label out."""
    if table.inside[k]:
        leave(table, k)
    table.y[k] = 0.0


@jit()
def anchored(table):
    """Both anchors in the support set, so that any other row may leave; the table afresh if it is worn."""
    if table.count[0] > FRESH:
        build(table)
    for k in table.anchor:
        if not table.inside[k]:
            join(table, k)


@jit()
def _worst_sign(table):
    """The row inside whose multiplier has the wrong sign by most, -1 if none has."""
    worst, at = 0.0, -1
    for k in range(table.n[0]):
        if table.inside[k] and table.y[k] * table.g[k] > worst:
            worst, at = table.y[k] * table.g[k], k
    return at


@jit()
def _best_join(table, tol):
    """The row outside whose joining raises the value most, -1 if no margin falls short of 1 by more than tol."""
    best, at = 0.0, -1
    for k in range(table.n[0]):
        if table.y[k] != 0.0 and not table.inside[k]:
            short = 1.0 - table.y[k] * table.g[k]
            if short > tol:
                gain = short * short / table.S[k, k]
                if gain > best:
                    best, at = gain, k
    return at


@jit()
def _hold_signs(table):
    """Walk from the point a towards the solution on the support set; rows that reach zero on the way leave."""
    y, g, a = table.y, table.g, table.a
    while True:
        part, at = 1.0, -1
        for k in range(table.n[0]):
            if table.inside[k] and y[k] * g[k] > 0.0:
                ratio = a[k] / (a[k] + y[k] * g[k])
                if ratio < part:
                    part, at = ratio, k
        if at < 0:
            return
        for k in range(table.n[0]):
            if table.inside[k]:
                a[k] += part * (-y[k] * g[k] - a[k])
        leave(table, at)


@jit()
def _walk(table, tol, enough):
    """Leaves and joins to the solution on the present labels, or to a value that is ``enough``."""
    while True:
        k = _worst_sign(table)
        if k < 0:
            break
        leave(table, k)
    for _ in range(ROUNDS * table.n[0]):
        value = 0.0
        for k in range(table.n[0]):
            table.a[k] = -table.y[k] * table.g[k] if table.inside[k] else 0.0
            value += 0.5 * table.a[k]
        if value >= enough:
            break
        k = _best_join(table, tol)
        if k < 0:
            break
        if table.count[0] > FRESH:
            build(table)
        join(table, k)
        _hold_signs(table)


@jit()
def _checked(table):
    """The value, and by how much rows inside miss y = M a + b, both from M itself; f outside is made afresh from it."""
    n, M, y, g = table.n[0], table.M, table.y, table.g
    f = np.zeros(n)
    value, size, b, count = 0.0, 0.0, 0.0, 0
    for k in range(n):
        if table.inside[k]:
            for i in range(n):
                f[i] -= M[k, i] * g[k]
            value -= y[k] * g[k]
            size += abs(g[k])
            count += 1
    for k in range(n):
        if table.inside[k]:
            value += 0.5 * g[k] * f[k]
            b += (y[k] - f[k]) / count
    b = b if g.size > n else 0.0
    off = 0.0
    for k in range(n):
        if table.inside[k]:
            off = max(off, abs(y[k] - f[k] - b))
        else:
            g[k] = f[k] + b
    return value - off * size, off


@jit()
def settle(table, tol, enough):
    """The value of the machine of the present labels, or a smaller one that is already ``enough``.

    It is computed from M, not from the swept table, and lowered by what may be missing: a bound whatever was lost.
    """
    value = 0.0
    for _ in range(ATTEMPTS):
        _walk(table, tol, enough)
        value, off = _checked(table)
        if off > SOUND and table.count[0] > 0:
            build(table)
        elif value >= enough or _best_join(table, 10.0 * tol) < 0 or off > SOUND:
            break
    return value
