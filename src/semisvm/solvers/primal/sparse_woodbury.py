"""The preconditioner of ``preconditioner`` for sparse samples, compiled: W stays sparse, L^-1 is held beside it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import jit
from .dense_pass import add_row, dot
from .dense_woodbury import ROUNDING


class Factors(NamedTuple):
    """W, and L^-1 of I + W W' = L L', lower triangular.

    W is a CSR matrix, less the product of ``weights`` and ``center`` where the samples are centered; without a center
    that is empty.
    """

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    inverse: np.ndarray
    weights: np.ndarray
    center: np.ndarray


@jit()
def build(data, indices, indptr, weights, inverse_root, unit, center):
    """The factors for the rows of a CSR matrix, times their weights.

    Parameters
    ----------
    data, indices, indptr : arrays
        The CSR matrix.
    weights, inverse_root : arrays
        Square roots of the curvatures of the rows, and the diagonal of D^-1/2.
    unit, center : float, array
        The last entry of each row, 0 for none, and what is subtracted from all, empty for nothing.
    """
    count, has_b = len(weights), unit != 0.0
    at = np.zeros(count + 1, dtype=np.int64)
    for k in range(count):
        at[k + 1] = at[k] + indptr[k + 1] - indptr[k] + has_b
    values, columns = np.empty(at[count]), np.empty(at[count], dtype=np.int64)
    for k in range(count):
        e = at[k]
        for entry in range(indptr[k], indptr[k + 1]):
            columns[e] = indices[entry]
            values[e] = weights[k] * data[entry] * inverse_root[columns[e]]
            e += 1
        if has_b:
            columns[e] = len(inverse_root) - 1
            values[e] = weights[k] * unit * inverse_root[columns[e]]
    scaled = np.empty(len(center))
    for j in range(len(center)):
        scaled[j] = center[j] * inverse_root[j]
    inner, trace = _gram(values, columns, at, weights, scaled, len(inverse_root))
    return Factors(values, columns, at, _inverse_factor(inner, trace), weights, scaled)


@jit()
def _gram(values, columns, at, weights, center, size):
    """The lower triangle of W W', and the trace of it without the center, which bounds its rounding error."""
    count, trace = len(at) - 1, 0.0
    out, row, cross = np.zeros((count, count)), np.zeros(size), np.zeros(count)
    for k in range(count):
        for e in range(at[k], at[k + 1]):
            row[columns[e]] += values[e]
            if len(center):
                cross[k] += values[e] * center[columns[e]]
        for j in range(k + 1):
            for e in range(at[j], at[j + 1]):
                out[k, j] += values[e] * row[columns[e]]
        for e in range(at[k], at[k + 1]):
            row[columns[e]] = 0.0
        trace += out[k, k]
    square = dot(center, center)
    for k in range(count):
        trace += weights[k] * weights[k] * square
        for j in range(k + 1):
            out[k, j] += weights[k] * weights[j] * square - weights[k] * cross[j] - weights[j] * cross[k]
    return out, trace


@jit()
def _inverse_factor(L, trace):
    """L^-1, where L L' is I plus the matrix of which L holds the lower triangle at first."""
    count = len(L)
    inverse = np.zeros((count, count))
    for k in range(count):
        L[k, k] += 1.0 + ROUNDING * trace
        for j in range(k):
            L[k, j] = (L[k, j] - dot(L[k, :j], L[j, :j])) / L[j, j]
        L[k, k] = np.sqrt(L[k, k] - dot(L[k, :k], L[k, :k]))
        for j in range(k):
            add_row(inverse[j, : j + 1], -L[k, j] / L[k, k], inverse[k, : j + 1])
        inverse[k, k] = 1.0 / L[k, k]
    return inverse


@jit()
def product(factors, x):
    """W x."""
    out = np.zeros(len(factors.inverse))
    shift = dot(factors.center, x[: len(factors.center)])
    for k in range(len(out)):
        out[k] = -factors.weights[k] * shift
        for e in range(factors.indptr[k], factors.indptr[k + 1]):
            out[k] += factors.data[e] * x[factors.indices[e]]
    return out


@jit()
def precondition(inverse_root, factors, r, out):
    """M^-1 r."""
    at, count = factors.indptr, len(factors.inverse)
    for j in range(len(r)):
        out[j] = r[j] * inverse_root[j]
    inner, solved = product(factors, out), np.zeros(count)
    for k in range(count):
        row = factors.inverse[k, : k + 1]
        add_row(row, dot(row, inner[: k + 1]), solved[: k + 1])
    for k in range(count):
        for e in range(at[k], at[k + 1]):
            out[factors.indices[e]] -= factors.data[e] * solved[k]
    add_row(factors.center, dot(factors.weights, solved), out[: len(factors.center)])
    for j in range(len(r)):
        out[j] *= inverse_root[j]
