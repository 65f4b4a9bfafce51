"""A Woodbury preconditioner like that of ``preconditioner``, compiled, for dense features.

M = D + U'GU + B' diag(h) B with the labeled samples in B; of the Hessian of the others, G is the part along the leading
directions U of the samples, and D the diagonal of the rest. M^-1 r = (x - V'V x) / root with x = r / root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from ..._jit import SUMS_IN_ANY_ORDER, jit
from ..._threads import single_blas_thread
from ...losses import curvature, of_sample
from ...spaces import LeadingDirections
from .dense_pass import add_row, full_ends, product
from .operator import PrimalOperator
from .smooth_objective import SmoothObjective

FLAT = 1e-150  # a curvature whose inverse leads to overflow
NEGLIGIBLE = 1e-8  # of the largest curvature
ROUNDING = 1e-14  # of the trace: less may leave a matrix that is not positive definite
MAX_RATIO = 16  # l^2 / n of l labeled samples: to factorize more costs more than it saves


class Affine(NamedTuple):
    """f as a function of theta, and the norm: see ``quasi_newton``.

    ``ends`` says where the rows of X end, ``leading`` holds the directions of its largest variance (``DesignMatrix``).
    """

    X: np.ndarray
    ends: np.ndarray
    leading: LeadingDirections
    beta: np.ndarray
    offset: float
    rho: float


def affine_map(operator: PrimalOperator) -> Affine:
    """The map of an operator on dense features."""
    design, rho = operator.design, float(operator.intercept == "regularized")
    return Affine(design.rows, design.row_ends, design.leading, operator.beta, operator.offset, rho)


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
def _add_squares(x, shift, h, out):
    """Add h (x + shift)^2."""
    for j in range(len(x)):
        out[j] += h * (x[j] + shift[j]) * (x[j] + shift[j])


@jit()
def _weighted_squares(X, ends, beta, h):
    """1 and the sums of h (x + beta)^2 over the samples, for every feature."""
    out, after = np.ones(X.shape[1]), np.zeros(X.shape[1] + 1)
    for i in range(len(X)):
        if h[i] > 0.0:
            end = ends[i // 4]
            _add_squares(X[i, :end], beta[:end], h[i], out[:end])
            after[end] += h[i]
    total = 0.0
    for j in range(len(out)):  # features after the end of a row are beta alone
        total += after[j]
        out[j] += total * beta[j] * beta[j]
    return out


def _factor(G: np.ndarray, ridge: float) -> np.ndarray:
    """L with L L' = G + ridge I, and a little more on the diagonal for what rounding takes away."""
    G[np.diag_indices(len(G))] += ridge + ROUNDING * np.trace(G) + np.finfo(float).tiny
    factor, _ = linalg.lapack.dpotrf(G.T, lower=1, clean=1)
    return factor


def build_metric(affine: Affine, objective: SmoothObjective, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``root`` and V at the curvature of the losses at f, with the labeled samples in B if they are few enough."""
    X, beta, (U, S) = affine.X, affine.beta, affine.leading
    (n, d), h = X.shape, np.empty(len(f))
    largest, total = absolute_curvature(objective, f, h)
    samples = np.flatnonzero((objective.signs != 0.0) & (h > NEGLIGIBLE * largest))
    samples = samples if len(samples) ** 2 <= MAX_RATIO * n else samples[:0]
    W = np.zeros((len(U) + len(samples), len(beta)))
    W[len(U) :, :d] = X[samples]
    W[len(U) :] += beta
    W[len(U) :] *= np.sqrt(h[samples])[:, None]
    h[samples] = 0.0
    with single_blas_thread:
        along = S + U @ beta[:d]  # of the samples without their mean, if that is fixed
        W[: len(U), :d] = _factor(along.T @ (h[:, None] * along), 0.0).T @ U
        squares = _weighted_squares(X, affine.ends, beta, h) - np.square(W[: len(U), :d]).sum(axis=0)
        diagonal = np.maximum(squares, 1.0)
        if len(beta) > d:
            diagonal = np.append(diagonal, intercept_diagonal(beta[d], total, h.sum(), affine.rho))
        root = np.sqrt(diagonal)
        W /= root
        L = _factor(W @ W.T, 1.0)
        V = linalg.solve_triangular(L, W, lower=True, check_finite=False)
    return root, np.ascontiguousarray(V)


@jit()
def precondition(root, V, r, out):
    """M^-1 r."""
    x, inner = np.empty(len(r)), np.empty(len(V))
    for j in range(len(r)):
        x[j] = r[j] / root[j]
        out[j] = x[j]
    product(V, full_ends(V), x, inner)
    for k in range(len(V)):
        add_row(V[k], -inner[k], out)
    for j in range(len(r)):
        out[j] /= root[j]
