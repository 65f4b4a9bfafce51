"""When steps are lost in rounding: a count of looks and a level of violation, by hand."""

import numpy as np
import pytest

from semisvm.solvers.dual import stagnation
from semisvm.solvers.dual.stagnation import EPS, IMPROVED, MAX_LOOKS, Patience, Stagnation


def test_patience_ends_with_the_last_of_many_violations_that_are_no_smaller():
    patience = Patience(3)
    looks = [1.0, 1.0, IMPROVED, 0.5, 0.5, 0.6, 0.499]  # smaller by a percent or less counts as no smaller
    assert [patience.is_over(violation) for violation in looks] == [False] * 6 + [True]
    assert patience.smallest == 0.5
    endless = Patience(2)
    assert [endless.is_over(np.inf) for _ in range(2)] == [False, True]


@pytest.mark.parametrize(("change", "lost"), [(0.0, True), (1e-13, True), (1e-12, False)])
def test_a_period_that_changes_no_digit_of_the_largest_coordinate_is_lost(change, lost):
    before = np.array([1000.0, -3.0, 0.0])  # whose last digit is 2e-13
    a = before + [0.0, change, 0.0]
    assert Stagnation().is_lost(before, a, 1.0, np.ones(3)) is lost


def looks_until_lost(level):
    """Looks at violations of ``level`` times the rounding error of f: the largest k(x, x) times the sum of |a|."""
    a, diagonal, look = np.array([600.0, -400.0]), np.array([4.0, 100.0]), Stagnation()
    is_lost = (look.is_lost(a + 1.0, a, level * EPS * 1e5, diagonal) for _ in range(4 * MAX_LOOKS))
    return next((number for number, lost in enumerate(is_lost, 1) if lost), None)


def test_many_periods_without_a_smaller_violation_are_lost_at_the_level_of_rounding_alone():
    assert looks_until_lost(0.9) == MAX_LOOKS + 1  # the first is the smallest so far
    assert looks_until_lost(1.1) is None
    assert stagnation.MAX_LOOKS > 10  # a violation does not decrease with every period
