"""The preconditioner of ``preconditioner``, compiled, for dense features: M^-1 r = (x - V'V x) / root, x = r / root."""

from __future__ import annotations

import numpy as np

from ..._jit import jit
from ...losses import curvature, of_sample
from .dense_pass import SUMS_IN_ANY_ORDER, add_adjoint, add_row, dot, product

FLAT = 1e-150  # a curvature whose inverse leads to overflow
NEGLIGIBLE = 1e-8  # of the largest curvature
ROUNDING = 1e-14  # of the trace: less may leave a matrix that is not positive definite
MAX_RATIO = 16  # l^2 / n of l labeled samples: to factorize more costs more than it saves


@jit()
def intercept_diagonal(unit, total, rest, is_regularized):
    """The diagonal entry of the intercept; ``total`` curvature of the samples, of which ``rest`` are not in B."""
    square = unit * unit
    rest = max(rest, 1e-3 * total)
    if square * rest < FLAT:  # the losses do not say how far to move b: as far as a step of one in w moves f
        rest = 1.0 / square
    return square * (rest + is_regularized)


@jit()
def absolute_curvature(objective, f, out):
    """|second derivatives| of the losses by the scores; returns the largest of the labeled samples, and their sum."""
    largest, total = 0.0, 0.0
    for i in range(len(f)):
        sign = objective.signs[i]
        if sign == 0.0:
            second = curvature(of_sample(objective.unlabeled, i), f[i])
        else:
            second = curvature(of_sample(objective.labeled, i), sign * f[i])
        out[i] = abs(objective.cost[i] * second)
        largest = max(largest, out[i])
        total += out[i]
    return largest, total


@jit(fastmath=SUMS_IN_ANY_ORDER)
def _add_squares(x, h, out):
    """Add h x^2."""
    for j in range(len(x)):
        out[j] += h * x[j] * x[j]


@jit()
def build_metric(affine, objective, f):
    """``root`` and V at the curvature of the losses at f, with the labeled samples in B if they are few enough."""
    X, beta = affine.X, affine.beta
    (n, d), size = X.shape, len(beta)
    h = np.empty(n)
    largest, total = absolute_curvature(objective, f, h)
    samples = np.empty(n, dtype=np.int64)
    count = 0
    for i in range(n):
        if objective.signs[i] != 0.0 and h[i] > NEGLIGIBLE * largest:
            samples[count] = i
            count += 1
    if count * count > MAX_RATIO * n:
        count = 0
    weights, rest, root = np.empty(count), total, np.ones(size)
    for k in range(count):
        rest -= h[samples[k]]
        weights[k], h[samples[k]] = np.sqrt(h[samples[k]]), 0.0
    for i in range(n):
        if h[i] > 0.0:
            _add_squares(X[i], h[i], root)
    if size > d:
        root[d] = intercept_diagonal(beta[d], total, rest, affine.rho)
    for j in range(size):
        root[j] = np.sqrt(root[j])
    W = np.empty((count, size))
    for k in range(count):
        for j in range(size):
            x = X[samples[k], j] if j < d else 0.0
            W[k, j] = weights[k] * (x + beta[j]) / root[j]
    _whiten(W)
    return root, W


@jit()
def _whiten(W):
    """Replace W by V = L^-1 W, where I + W W' = L L'."""
    count = len(W)
    L = np.empty((count, count))
    trace = 0.0
    for k in range(count):
        product(W[: k + 1], W[k], L[k, : k + 1])
        trace += L[k, k]
    for k in range(count):
        L[k, k] += 1.0 + ROUNDING * trace
        for j in range(k):
            L[k, j] = (L[k, j] - dot(L[k, :j], L[j, :j])) / L[j, j]
        L[k, k] = np.sqrt(L[k, k] - dot(L[k, :k], L[k, :k]))
    for k in range(count):
        for j in range(k):
            L[k, j] = -L[k, j]
        add_adjoint(W[:k], L[k, :k], W[k])
        for j in range(W.shape[1]):
            W[k, j] /= L[k, k]


@jit()
def precondition(root, V, r, out):
    """M^-1 r."""
    x, inner = np.empty(len(r)), np.empty(len(V))
    for j in range(len(r)):
        x[j] = r[j] / root[j]
        out[j] = x[j]
    product(V, x, inner)
    for k in range(len(V)):
        add_row(V[k], -inner[k], out)
    for j in range(len(r)):
        out[j] /= root[j]
