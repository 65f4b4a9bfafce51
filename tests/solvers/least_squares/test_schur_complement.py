"""Schur complements of samples that join a model, against their definition by numpy."""

import numpy as np
import pytest

from factories import INTERCEPTS, least_squares_problem
from references import assert_close, least_squares_matrix
from semisvm.solvers.least_squares.schur_complement import DenseComplement, LowRankComplement, build_complement
from semisvm.solvers.least_squares.system import system_samples


def complement_of(problem, inside, outside):
    """M_oo - M_oi M_ii^-1 M_io, the border inside."""
    K = np.asarray(problem.space.gram().compute())
    M = least_squares_matrix(K, problem.cost, problem.intercept)
    inside = np.r_[inside, np.arange(len(K), len(M))]
    cross = M[np.ix_(inside, outside)]
    return M[np.ix_(outside, outside)] - cross.T @ np.linalg.solve(M[np.ix_(inside, inside)], cross)


def columns_of(complement, n):
    return np.column_stack([complement.column(j) for j in range(n)])


@pytest.mark.parametrize("space", ["rbf", "features", "csr", "many features"])
@pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
def test_complement_is_that_of_the_system_before_and_after_panels(space, intercept):
    problem = least_squares_problem(0, 20, space=space, intercept=intercept, cost_spread=0.5)
    complement = build_complement(problem, system_samples(problem)[1])
    assert isinstance(complement, LowRankComplement if space in ("features", "csr") else DenseComplement)
    inside, outside = np.flatnonzero(problem.is_labeled), problem.searched
    for n_eliminated in (1, 6, 2):
        C = complement_of(problem, inside, outside)
        assert_close(columns_of(complement, len(outside)), C)
        diagonal = complement.diagonal()
        assert_close(diagonal, C.diagonal())
        diagonal[:] = 0.0  # a copy
        assert_close(complement.diagonal(), C.diagonal())
        eliminated = np.sort(np.random.default_rng(n_eliminated).permutation(len(outside))[:n_eliminated])
        kept = np.setdiff1d(np.arange(len(outside)), eliminated)
        L = np.linalg.cholesky(C[np.ix_(eliminated, eliminated)])
        complement.apply_panel(kept, eliminated, np.linalg.solve(L, C[eliminated]))
        inside, outside = np.r_[inside, outside[eliminated]], outside[kept]
    C = complement_of(problem, inside, outside)
    assert_close(columns_of(complement, len(outside)), C)
    assert_close(complement.diagonal(), C.diagonal())
