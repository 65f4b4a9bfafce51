"""The mixed integer program over the labels, with a big M that comes from the data; ``highs`` and ``scip`` solve it.

minimize  ||v||_1 or 1/2 ||v||^2 [+ the part of the intercept] + sum c_i xi_i

    y_i f_i + xi_i >= 1                           at labeled samples
    f_j + xi_j >= 1 - M_j+ (1 - d_j),   -f_j + xi_j >= 1 - M_j- d_j,   d_j = 0 or 1     at searched ones
    low <= sum over searched j of weight_j d_j <= high

One slack serves both labels of a sample, as only one of the two constraints is active. A point no worse than ``upper``
spends at most that on its norm and on the slack of a labeled sample i together, and f_j - f_i is at most ||v|| times
the distance D of both samples in the dual norm, whatever the intercept is. So y_i f_j is at least 1 - R with

    norm 1    R = upper max(1/c_i, D)                                          D the largest difference of a coordinate
    norm 2    R = (upper - r^2/2)/c_i + r D,   r = min(c_i D, (2 upper)^1/2)                    D the Euclidean distance

The positive labeled sample with the smallest R bounds f_j from below by lo_j, the negative one from above by hi_j, and
M+ = 1 - lo, M- = 1 + hi. An intercept that is absent or regularized bounds |f_j| by itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...spaces.kernels import squared_norms

OBJECTIVE_SIZE = 1000.0  # tolerances of the solvers are absolute: the objective is multiplied to be about this large
BOUND_MARGIN = 1e-6  # of ``upper``: how far a solver's bound may be above the optimum by its tolerances
GAP_MARGIN = 5e-6  # of ``upper``: gap of a solved program by that margin and the infeasibility of the solver's solution
BIG_M_MARGIN = 1e-6  # of ``upper``: added, so that rounding does not make M too small


class IntegerProgram(NamedTuple):
    """The program, in the scaled features of ``linear_program``.

    Attributes
    ----------
    Z : array or CSR of shape (n, d)
        The scaled features.
    signs, cost : arrays of shape (n,)
        +-1 for labeled samples and 0 for the searched ones; cost of a unit of loss.
    weights, low, high : array over the searched samples, floats
        The balance.
    intercept : {True, "regularized", False}
        Whether b is free, part of the norm or absent.
    objective_scale : float
        How many times larger an objective is than that of the problem; also what |b| or 1/2 b^2 costs if regularized.
    norm : {1, 2}
        The regularizer.
    upper : float
        The objective of the best point known.
    samples, side : int array of shape (n,), {1, -1}
        The samples of the problem in the order of the program, and the sign there of its positive class.
    lowest_f, highest_f : arrays over the searched samples
        The bounds of their scores by ``score_bounds``.
    """

    Z: Any
    signs: np.ndarray
    cost: np.ndarray
    weights: np.ndarray
    low: float
    high: float
    intercept: bool | str
    objective_scale: float
    norm: int
    upper: float
    samples: np.ndarray
    side: float
    lowest_f: np.ndarray = np.empty(0)
    highest_f: np.ndarray = np.empty(0)

    @property
    def searched(self) -> np.ndarray:
        """The samples whose labels are searched, in the order of the program."""
        return self.samples[self.signs == 0]

    @property
    def big_m(self) -> tuple[np.ndarray, np.ndarray]:
        """M+ and M-."""
        return np.maximum(1.0 - self.lowest_f, 0.0), np.maximum(1.0 + self.highest_f, 0.0)


class IntegerResult(NamedTuple):
    """What a solver returns: labels of the searched samples or None, a lower bound, nodes, and why it ended."""

    labels: np.ndarray | None
    lower_bound: float
    n_nodes: int
    status: str


def score_bounds(program: IntegerProgram) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest score of the searched samples in any point no worse than ``upper``."""
    upper, searched = program.upper * (1.0 + BIG_M_MARGIN), program.signs == 0
    Z = program.Z[searched]
    from_norm = _bound_from_norm(program, Z, upper)
    low, high = -from_norm, from_norm
    for i in np.flatnonzero(~searched).tolist():
        D, c = _dual_norms(Z - _repeated_row(program.Z, i, len(from_norm)), program.norm), program.cost[i]
        if program.norm == 1:
            R = upper * np.maximum(1.0 / c, D)
        else:
            r = np.minimum(c * D, np.sqrt(2.0 * upper))
            R = (upper - 0.5 * r * r) / c + r * D
        if program.signs[i] > 0:
            low = np.maximum(low, 1.0 - R)
        else:
            high = np.minimum(high, R - 1.0)
    if not np.isfinite(low).all() or not np.isfinite(high).all():
        raise ValueError(
            "the mixed integer program needs labeled samples of both classes, or an intercept that is regularized or "
            "absent."
        )
    return low, high


def _bound_from_norm(program: IntegerProgram, Z: Any, upper: float) -> np.ndarray:
    """The largest |f| by the norm alone; infinite with a free intercept."""
    if program.intercept is True:
        return np.full(Z.shape[0], np.inf)
    size, inverse = _dual_norms(Z, program.norm), 1.0 / program.objective_scale if program.intercept else 0.0
    if program.norm == 1:
        return upper * np.maximum(size, inverse)
    return np.sqrt(2.0 * upper * (size**2 + inverse))


def _repeated_row(Z: Any, i: int, times: int) -> Any:
    """Row i in a shape that can be subtracted from so many rows."""
    return sparse.csr_array(np.ones((times, 1))) @ Z[[i]] if sparse.issparse(Z) else Z[i]


def _dual_norms(Z: Any, norm: int) -> np.ndarray:
    """Norms of the rows of Z, in the norm dual to that of w."""
    if norm == 2:
        return np.sqrt(squared_norms(Z))
    largest = abs(Z).max(axis=1)
    return largest.toarray().ravel() if sparse.issparse(largest) else np.asarray(largest)
