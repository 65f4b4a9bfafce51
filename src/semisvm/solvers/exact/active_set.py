"""An active-set method for the squared-hinge SVM, by pivots of one symmetric tableau.

With M = K + diag(1/(2c)) the squared-hinge SVM of samples with labels y is the dual problem

    maximize  y'a - 1/2 a'Ma      subject to  y_i a_i >= 0  and, for a free intercept,  sum a = 0.

On a support set A, with B = [[M_AA, 1], [1', 0]] (B = M_AA without a free intercept), the solution is
a_A = B^-1 [y_A; 0]. The tableau S starts as M with its border of ones; a pivot on each sample of A (and on the border),
which is the sweep operator of statistics, leaves

    S_AA = -B^-1,    S_jA = [k_j, 1] B^-1,    S_jj = p_j = M_jj - [k_j, 1] B^-1 [k_j; 1]    for j outside A,

and g = S_.A y_A is -a on A and f outside. A sample j with label y that enters A increases the value 1/2 y'a by
(y - f_j)^2 / (2 p_j): the exact increase of the optimum by that sample as long as the support set stays the same.

``solve`` goes from any A to the solution: samples of the wrong sign leave, then the sample of largest increase enters
and samples that would change sign on the way leave, as in the method of Lawson and Hanson for nonnegative least
squares. The value increases with every step, and each value is a lower bound on the optimum, so that the steps may end
as soon as it is large enough. Pivots lose digits, the more the larger the costs: the tableau is rebuilt after
``MAX_PIVOTS`` of them, and whenever a solution does not satisfy the optimality conditions as computed from M itself.

References
----------
.. [1] C. L. Lawson and R. J. Hanson, Solving least squares problems, SIAM, 1995.
   https://doi.org/10.1137/1.9781611971217
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import jit

MAX_PIVOTS = 100  # pivots after which the tableau is rebuilt
MAX_RESIDUAL = 1e-9  # error of a margin on the support set above which the tableau is rebuilt
MAX_ATTEMPTS = 4  # solves with a rebuilt tableau before the present value is taken
MAX_ROUNDS = 20  # times the number of samples: entering samples after which the steps end
FASTMATH = {"contract", "arcp", "nsz"}


class Tableau(NamedTuple):
    """A pivoted tableau and its labels; numba functions change the arrays in place.

    Attributes
    ----------
    M : array of shape (m, m)
        The tableau before any pivot; its last row is the border if the intercept is free.
    S, g : arrays of shape (m, m) and (m,)
        The pivoted tableau, and -a on the support set, f elsewhere.
    y : array of shape (m,)
        Labels of the samples that are part of the SVM, 0 for the others and for the border.
    in_support : bool array of shape (m,)
        The support set.
    n_samples : array of one int
        Number of samples, without the border.
    anchors : array of two ints
        A labeled sample of each class. While both are in the support set, no pivot of another sample is singular.
    n_pivots : array of two ints
        Pivots since the tableau was built, and in total.
    """

    M: np.ndarray
    S: np.ndarray
    g: np.ndarray
    y: np.ndarray
    in_support: np.ndarray
    n_samples: np.ndarray
    anchors: np.ndarray
    n_pivots: np.ndarray


def new_tableau(M: np.ndarray, y: np.ndarray, has_border: bool) -> Tableau:
    """The tableau of samples with labels; those of label 0 are not part of the SVM yet.

    Parameters
    ----------
    M : array of shape (n, n)
        K + diag(1/(2c)).
    y : array of shape (n,)
        Labels of +-1, with both classes present, or 0.
    has_border : bool
        Whether the intercept is free.
    """
    n = len(y)
    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    if not len(positive) or not len(negative):
        raise ValueError("branch and bound needs labeled samples of both classes.")
    anchors = np.array([positive[0], negative[0]])
    bordered = np.zeros((n + has_border, n + has_border))
    bordered[:n, :n] = M
    if has_border:
        bordered[n, :n] = bordered[:n, n] = 1.0
    in_support = np.zeros(n + has_border, dtype=np.bool_)
    in_support[anchors] = True
    tableau = Tableau(
        M=bordered,
        S=bordered.copy(),
        g=np.zeros(len(bordered)),
        y=np.r_[y, np.zeros(int(has_border))].astype(np.float64),
        in_support=in_support,
        n_samples=np.array([n]),
        anchors=anchors,
        n_pivots=np.zeros(2, int),
    )
    rebuild(tableau)
    return tableau


@jit(fastmath=FASTMATH)
def _pivot(S, k, sign):
    """Pivot on row k; ``sign`` is 1 where it enters the inverse, -1 where it leaves."""
    m = S.shape[0]
    d = S[k, k]
    pivot_row = S[k]
    for i in range(m):
        if i != k:
            t = S[i, k] / d
            row = S[i]
            for j in range(m):
                row[j] -= t * pivot_row[j]
    for i in range(m):
        pivot_row[i] = sign * pivot_row[i] / d
        S[i, k] = pivot_row[i]
    pivot_row[k] = -1.0 / d


@jit()
def pivot_in(tableau, k):
    """Add sample k, or the border, to the support set."""
    S, g = tableau.S, tableau.g
    step = (tableau.y[k] - g[k]) / S[k, k]
    for i in range(g.size):
        g[i] += S[i, k] * step
    g[k] = -step
    _pivot(S, k, 1.0)
    tableau.in_support[k] = True
    tableau.n_pivots[0] += 1
    tableau.n_pivots[1] += 1


@jit()
def pivot_out(tableau, k):
    """Take sample k out of the support set."""
    S, g = tableau.S, tableau.g
    p = -1.0 / S[k, k]
    a = -g[k]
    for i in range(g.size):
        g[i] -= S[i, k] * p * a
    g[k] = tableau.y[k] - p * a
    _pivot(S, k, -1.0)
    tableau.in_support[k] = False
    tableau.n_pivots[0] += 1
    tableau.n_pivots[1] += 1


@jit()
def rebuild(tableau):
    """Compute S and g from M for the present support set, which holds samples of both classes."""
    n = tableau.n_samples[0]
    for i in range(tableau.g.size):  # loops compile several times as fast as assignments of slices
        tableau.g[i] = 0.0
        for j in range(tableau.g.size):
            tableau.S[i, j] = tableau.M[i, j]
    border_is_in = tableau.g.size == n
    for k in range(n):
        if tableau.in_support[k]:
            pivot_in(tableau, k)
            if not border_is_in:
                pivot_in(tableau, n)
                border_is_in = True
    tableau.n_pivots[0] = 0


@jit()
def ensure_anchors(tableau):
    """Put both anchors into the support set, so that any other sample may leave it; rebuild after many pivots."""
    if tableau.n_pivots[0] > MAX_PIVOTS:
        rebuild(tableau)
    for k in tableau.anchors:
        if not tableau.in_support[k]:
            pivot_in(tableau, k)


@jit()
def remove(tableau, k):
    """Take the label of sample k away, and the sample out of the support set."""
    ensure_anchors(tableau)
    if tableau.in_support[k]:
        pivot_out(tableau, k)
    tableau.y[k] = 0.0


@jit()
def _leaving_sample(tableau):
    """The sample of the support set whose multiplier has the wrong sign by the largest amount, -1 if none has."""
    largest, found = 0.0, -1
    for k in range(tableau.n_samples[0]):
        if tableau.in_support[k] and tableau.y[k] * tableau.g[k] > largest:
            largest, found = tableau.y[k] * tableau.g[k], k
    return found


@jit()
def _entering_sample(tableau, tol):
    """The sample whose entering increases the value most, -1 if every margin outside is at least 1 - tol."""
    largest, found = 0.0, -1
    for k in range(tableau.n_samples[0]):
        if tableau.y[k] != 0.0 and not tableau.in_support[k]:
            slack = 1.0 - tableau.y[k] * tableau.g[k]
            if slack > tol:
                gain = slack * slack / tableau.S[k, k]
                if gain > largest:
                    largest, found = gain, k
    return found


@jit()
def _move_to_solution(tableau, point):
    """Move ``point``, which is y a, to the solution on the support set; samples whose multiplier reaches zero leave."""
    y, g = tableau.y, tableau.g
    while True:
        step, blocking = 1.0, -1
        for k in range(tableau.n_samples[0]):
            if tableau.in_support[k] and y[k] * g[k] > 0.0:
                ratio = point[k] / (point[k] + y[k] * g[k])
                if ratio < step:
                    step, blocking = ratio, k
        if blocking < 0:
            return
        for k in range(tableau.n_samples[0]):
            if tableau.in_support[k]:
                point[k] += step * (-y[k] * g[k] - point[k])
        pivot_out(tableau, blocking)


@jit()
def _active_set_steps(tableau, tol, enough):
    """Samples leave and enter until the SVM of the present labels is solved or its value is at least ``enough``."""
    while True:
        k = _leaving_sample(tableau)
        if k < 0:
            break
        pivot_out(tableau, k)
    point = np.zeros(tableau.n_samples[0])
    for _ in range(MAX_ROUNDS * point.size):
        value = 0.0
        for k in range(point.size):
            point[k] = -tableau.y[k] * tableau.g[k] if tableau.in_support[k] else 0.0
            value += 0.5 * point[k]
        if value >= enough:
            break
        k = _entering_sample(tableau, tol)
        if k < 0:
            break
        if tableau.n_pivots[0] > MAX_PIVOTS:
            rebuild(tableau)
        pivot_in(tableau, k)
        _move_to_solution(tableau, point)


@jit()
def _value_and_residual(tableau):
    """The value and the largest residual of y = M a + b on the support set, from M; f outside is recomputed, too."""
    n, M, y, g = tableau.n_samples[0], tableau.M, tableau.y, tableau.g
    f = np.zeros(n)
    value, norm1, b, count = 0.0, 0.0, 0.0, 0
    for k in range(n):
        if tableau.in_support[k]:
            for i in range(n):
                f[i] -= M[k, i] * g[k]
            value -= y[k] * g[k]
            norm1 += abs(g[k])
            count += 1
    for k in range(n):
        if tableau.in_support[k]:
            value += 0.5 * g[k] * f[k]
            b += (y[k] - f[k]) / count
    b = b if g.size > n else 0.0
    residual = 0.0
    for k in range(n):
        if tableau.in_support[k]:
            residual = max(residual, abs(y[k] - f[k] - b))
        else:
            g[k] = f[k] + b
    return value - residual * norm1, residual


@jit()
def solve(tableau, tol, enough):
    """The objective of the SVM of the present labels, or a smaller value that is at least ``enough``.

    It is computed from M, not from the pivoted tableau, and decreased by the residual of the optimality conditions
    times ||a||_1, so that it is a lower bound whatever the pivots have lost.
    """
    value = 0.0
    for _ in range(MAX_ATTEMPTS):
        _active_set_steps(tableau, tol, enough)
        value, residual = _value_and_residual(tableau)
        if residual > MAX_RESIDUAL and tableau.n_pivots[0] > 0:
            rebuild(tableau)
        elif value >= enough or _entering_sample(tableau, 10.0 * tol) < 0 or residual > MAX_RESIDUAL:
            break
    return value
