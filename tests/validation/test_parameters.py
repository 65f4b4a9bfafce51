"""Specifications of parameters: what they accept, their messages and their documentation."""

import numpy as np
import pytest

from semisvm._validation import (
    Described,
    Integer,
    Options,
    Real,
    check_choice,
    check_integer,
    check_number,
    check_value,
    import_optional,
)

NAN = float("nan")


@pytest.mark.parametrize(
    ("value", "closed", "interval"),
    [(0.0, "neither", r"\(0, 1\)"), (1, "low", r"\[0, 1\)"), (0, "high", r"\(0, 1\]"), (1.5, "both", r"\[0, 1\]")]
    + [(value, "both", r"\[0, 1\]") for value in (NAN, "1", None, True, np.True_, -np.inf)],
)
def test_numbers_out_of_bounds_are_refused_with_the_interval(value, closed, interval):
    with pytest.raises(ValueError, match=rf"^C=.* is not allowed; C takes a number in {interval}\.$"):
        check_number("C", value, 0.0, 1.0, closed=closed)


@pytest.mark.parametrize(("value", "closed"), [(0.5, "neither"), (0, "low"), (1, "high"), (np.float32(1), "both")])
def test_numbers_within_bounds_are_given_back(value, closed):
    assert check_number("C", value, 0.0, 1.0, closed=closed) == value


@pytest.mark.parametrize("value", [1, 2.0, True, "3", None])
def test_whole_numbers_are_whole_and_large_enough(value):
    assert check_integer("n_splits", np.int64(2), 2) == 2
    with pytest.raises(ValueError, match=r"^n_splits=.* is not allowed; n_splits takes a whole number of 2 or more\.$"):
        check_integer("n_splits", value, 2)


@pytest.mark.parametrize("value", [1, "free", None])
def test_a_choice_is_one_of_the_allowed(value):
    allowed = (True, False, "regularized")
    assert all(check_choice("fit_intercept", one, allowed) is one for one in allowed)
    with pytest.raises(ValueError, match=r"^fit_intercept=.*takes one of True, False, 'regularized'\.$"):
        check_choice("fit_intercept", value, allowed)


def test_a_value_of_one_of_several_kinds():
    specs = [Real(0.0), Options(["auto"]), Options([None])]
    for value in (0.5, "auto", None):
        assert check_value("C", value, specs) is value
    with pytest.raises(ValueError, match=r"^C=0 is not allowed; C takes a number in \(0, inf\) or 'auto' or None\.$"):
        check_value("C", 0, specs)


def test_kinds_document_themselves():
    assert [spec.document() for spec in (Real(), Integer(2), Options(["a", None]), Described("array"))] == [
        "float",
        "int",
        '{"a", None}',
        "array",
    ]


def test_a_missing_package_says_how_to_get_it_or_do_without():
    message = r"norm=2 needs the package no_such_package.*pip install 'semisvm\[exact\]', or pass norm=1\."
    with pytest.raises(ImportError, match=message):
        import_optional("no_such_package", "exact", "norm=2", "norm=1")
    assert import_optional("math", "exact", "norm=2", "norm=1").pi > 3
