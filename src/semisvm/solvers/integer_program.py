"""The labels of unlabeled rows as binary variables: the program and its big M. ``highs`` and ``scip`` solve it.

minimise  ||v||_1 or 1/2 ||v||^2 [+ the intercept's part] + sum c_i xi_i
y_i f_i + xi_i >= 1 at labeled rows;     f_j + xi_j >= 1 - M_j+ (1 - d_j),   -f_j + xi_j >= 1 - M_j- d_j,   d_j = 0 or 1
low <= sum over unlabeled j of weight_j d_j <= high

One slack serves both labels of a row, as only one is paid for. M comes from the data. A machine no worse than ``upper``
spends at most that on its norm and on the slack of a labeled row i together, and f_j - f_i is at most ||v|| times the
distance D of the rows in the dual norm, whatever the intercept. So y_i f_j is at least 1 - reach with

    norm 1    reach = upper max(1/c_i, D)                                      D the largest difference of a coordinate
    norm 2    reach = (upper - r^2/2)/c_i + r D,   r = min(c_i D, (2 upper)^1/2)                D the Euclidean distance

f_j >= lo_j by the best positive row, f_j <= hi_j by the best negative one, and M+ = 1 - lo, M- = 1 + hi. An intercept
that is absent or has a price bounds |f_j| by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

LEVEL = 1000.0  # solvers' tolerances are absolute: the objective is multiplied to be about this large
SAFE = 1e-6  # of the objective: how far a solver's bound may be above the truth by its tolerances
ROOM = 1e-6  # of M: that it never binds by rounding


class Program(NamedTuple):
    """What a solver is given, in the frame of ``linear_program``.

    Attributes
    ----------
    Z : array or CSR of shape (n, d)
        The rows.
    signs, cost : arrays of shape (n,)
        +-1 for labeled rows and 0 for the others; what a unit of loss costs.
    weight, low, high : array over the unlabeled rows, numbers
        The balance.
    intercept, price : {True, "regularised", False}, float
        What b is; what |b| or 1/2 b^2 costs here if it is regularised: how many times larger an objective is here.
    norm : {1, 2}
        Which norm.
    upper : float
        The objective of the best machine known.
    floor, ceiling : arrays over the unlabeled rows
        What ``reach`` says of their scores.
    """

    Z: np.ndarray | sparse.csr_array
    signs: np.ndarray
    cost: np.ndarray
    weight: np.ndarray
    low: float
    high: float
    intercept: bool | str
    price: float
    norm: int
    upper: float
    floor: np.ndarray = np.empty(0)
    ceiling: np.ndarray = np.empty(0)

    @property
    def big(self) -> tuple[np.ndarray, np.ndarray]:
        """M+ and M-."""
        return np.maximum(1.0 - self.floor, 0.0), np.maximum(1.0 + self.ceiling, 0.0)


class Found(NamedTuple):
    """What a solver says: labels of the unlabeled rows or None, a lower bound, nodes, and why it stopped."""

    labels: np.ndarray | None
    bound: float
    nodes: int
    status: str


def reach(program: Program) -> tuple[np.ndarray, np.ndarray]:
    """Between which scores the unlabeled rows lie in any machine as good as ``upper``."""
    upper, free = program.upper * (1.0 + ROOM), program.signs == 0
    Z = program.Z[free]
    own = _own_reach(program, Z, upper)
    low, high = -own, own
    for i in np.flatnonzero(~free):
        D, c = _size(Z - _row(program.Z, i, len(own)), program.norm), program.cost[i]
        if program.norm == 1:
            far = upper * np.maximum(1.0 / c, D)
        else:
            r = np.minimum(c * D, np.sqrt(2.0 * upper))
            far = (upper - 0.5 * r * r) / c + r * D
        if program.signs[i] > 0:
            low = np.maximum(low, 1.0 - far)
        else:
            high = np.minimum(high, far - 1.0)
    if not np.isfinite(low).all() or not np.isfinite(high).all():
        raise ValueError("the mixed integer program needs labeled rows of both classes, or an intercept with a price.")
    return low, high


def _own_reach(program: Program, Z, upper: float) -> np.ndarray:
    """What |f| is at most without a look at labeled rows."""
    if program.intercept is True:
        return np.full(Z.shape[0], np.inf)
    size, inverse = _size(Z, program.norm), 1.0 / program.price if program.intercept else 0.0
    if program.norm == 1:
        return upper * np.maximum(size, inverse)
    return np.sqrt(2.0 * upper * (size**2 + inverse))


def _row(Z, i: int, times: int):
    return sparse.csr_array(np.ones((times, 1))) @ Z[[i]] if sparse.issparse(Z) else Z[i]


def _size(Z, norm: int) -> np.ndarray:
    """Lengths of rows in the norm that is dual to that of w."""
    if norm == 2:
        return np.sqrt((Z.multiply(Z) if sparse.issparse(Z) else Z * Z).sum(axis=1))
    largest = abs(Z).max(axis=1)
    return largest.toarray().ravel() if sparse.issparse(largest) else np.asarray(largest)
