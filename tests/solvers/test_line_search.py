"""The safeguarded Newton steps to the root of a derivative, against roots in closed form."""

import numpy as np
import pytest

from semisvm.solvers.line_search import LONGEST, next_trial


def root(pieces, n_trials=200):
    """Where the increasing derivative that is the largest of ``offset + slope t`` is zero, and the trials it took."""
    t, low, high = 1.0, 0.0, np.inf
    for n in range(n_trials):  # noqa: B007 (returned)
        offset, slope = max(pieces, key=lambda piece: piece[0] + piece[1] * t)
        first = offset + slope * t
        if first == 0.0:
            break
        before = t
        t, low, high = next_trial.py_func(t, first, slope, low, high)
        assert low <= t <= high or t > LONGEST
        if t == before:
            break
    return t, n


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([(-3.0, 1.0)], 3.0),  # one piece: a step
        ([(-1.0, 0.0), (-10.0, 1.0)], 10.0),  # no curvature at the start: the step is doubled
        ([(-1e-3, 0.5), (-1.0, 1e4)], 1e-4),  # a bend far below the first trial
        ([(-2.0, 0.01), (-5.0, 1.0)], 5.0),  # a Newton step that goes far beyond the bend
    ],
)
def test_root_of_a_piecewise_linear_derivative(pieces, expected):
    t, n_trials = root(pieces)
    assert t == pytest.approx(expected, rel=1e-12)
    assert n_trials < 10


def test_derivative_without_a_root_ends():
    t, _ = root([(-1.0, 0.0)], 1000)
    assert LONGEST < t < np.inf
