"""What the end of an integer solver proves."""

from types import SimpleNamespace

import numpy as np
import pytest

from factories import random_problem
from semisvm.balance import Count
from semisvm.solvers import MixedInteger
from semisvm.solvers.exact import highs
from semisvm.solvers.least_squares.optimal_labels import status_of_scip


@pytest.mark.parametrize(
    "status, n_nodes, expected",
    [(1, 3, "max_time"), (4, 10_000, "max_iter"), (4, 3, "stalled"), (2, 10_000, "stalled"), (3, 0, "stalled")],
)
def test_ends_of_highs_are_told_apart_and_a_failure_bounds_nothing(monkeypatch, status, n_nodes, expected):
    problem = random_problem(0, 9, space="features", norm=1, C=10.0, balance=Count(0.4))
    first = MixedInteger(max_time=1e-9).solve(problem).certificate.lower_bound
    bound = np.inf if expected == "stalled" else -np.inf  # HiGHS bounds an infeasible program by infinity
    result = SimpleNamespace(status=status, mip_node_count=n_nodes, mip_dual_bound=bound, x=None)
    monkeypatch.setattr(highs, "milp", lambda **_: result)
    solution = MixedInteger().solve(problem)
    assert solution.status == expected
    assert first <= solution.certificate.lower_bound < solution.objective
    assert solution.certificate.gap > 0.0


@pytest.mark.parametrize(
    "status, expected",
    [
        ("optimal", "converged"),
        ("timelimit", "max_time"),
        ("nodelimit", "max_iter"),
        ("userinterrupt", "interrupted"),
        ("memlimit", "stalled"),
        ("infeasible", "stalled"),
        ("unknown", "stalled"),
    ],
)
def test_ends_of_scip_are_told_apart(status, expected):
    assert status_of_scip(status) == expected
