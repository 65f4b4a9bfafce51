"""Labels as they come, and every message about bad input."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

from semisvm import CCCPTSVM, SVM, _validate
from semisvm._validate import at_least_two, choice, labels, number, weights, whole_number

NAN = float("nan")
TEXT, NUMBERS, SIGNS, TRUTHS = ["a", "b"], [1, 2], [-1, 1], [False, True]


@pytest.fixture(autouse=True)
def _no_warning_but_the_expected():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def bare(values):
    return np.array(values, dtype=object)


READ = {
    "list with -1": ([2, 1, -1], -1, NUMBERS, [1, 0, -1]),
    "tuple": ((2, 1, -1), -1, NUMBERS, [1, 0, -1]),
    "three classes": ([7, 5, -1, 6], -1, [5, 6, 7], [2, 0, -1, 1]),
    "nothing unlabeled": ([2, 1, 2], -1, NUMBERS, [1, 0, 1]),
    "unsigned": (np.array([2, 1, 2], dtype=np.uint8), -1, NUMBERS, [1, 0, 1]),
    "list with None": ([2, None, 1], -1, NUMBERS, [1, -1, 0]),
    "list with NaN": ([2, NAN, 1], -1, NUMBERS, [1, -1, 0]),
    "list with NA": ([2, pd.NA, 1], -1, NUMBERS, [1, -1, 0]),
    "all markers at once": ([2, None, NAN, pd.NA, -1, 1], -1, NUMBERS, [1, -1, -1, -1, -1, 0]),
    "floats with NaN": (np.array([2.0, NAN, 1.0]), -1, NUMBERS, [1, -1, 0]),
    "zero and one with NaN": (np.array([0.0, NAN, 1.0]), -1, [0, 1], [0, -1, 1]),
    "floats with -1.0": (np.array([2.0, -1.0, 1.0]), -1, NUMBERS, [1, -1, 0]),
    "objects": (bare([2, -1, 1, None]), -1, NUMBERS, [1, -1, 0, -1]),
    "text and -1 in a list": (["b", "a", -1], -1, TEXT, [1, 0, -1]),
    "text and '-1' in an array": (np.array(["b", "a", -1]), -1, TEXT, [1, 0, -1]),
    "text and None": (["b", None, "a"], -1, TEXT, [1, -1, 0]),
    "text and NaN": (bare(["b", NAN, "a"]), -1, TEXT, [1, -1, 0]),
    "empty strings": (["b", "", "a"], -1, TEXT, [1, -1, 0]),
    "empty strings in an array": (np.array(["b", "", "a"]), None, TEXT, [1, -1, 0]),
    "pandas text with NaN": (pd.Series(["b", NAN, "a"]), -1, TEXT, [1, -1, 0]),
    "pandas text with None, as objects": (pd.Series(["b", None, "a"], dtype=object), -1, TEXT, [1, -1, 0]),
    "pandas string dtype": (pd.Series(["b", None, "a"], dtype="string"), -1, TEXT, [1, -1, 0]),
    "pandas categories of text": (pd.Series(["b", None, "a"], dtype="category"), -1, TEXT, [1, -1, 0]),
    "pandas categories of numbers": (pd.Series([2, None, 1], dtype="category"), -1, NUMBERS, [1, -1, 0]),
    "pandas Int64 with NA": (pd.Series([2, None, 1], dtype="Int64"), -1, NUMBERS, [1, -1, 0]),
    "pandas Int64 of 0 and 1 with NA": (pd.Series([0, None, 1], dtype="Int64"), -1, [0, 1], [0, -1, 1]),
    "pandas boolean with NA": (pd.Series([True, None, False], dtype="boolean"), -1, TRUTHS, [1, -1, 0]),
    "polars numbers with null": (pl.Series([2, None, 1]), -1, NUMBERS, [1, -1, 0]),
    "polars numbers with -1": (pl.Series([2, -1, 1]), -1, NUMBERS, [1, -1, 0]),
    "polars text with null": (pl.Series(["b", None, "a"]), -1, TEXT, [1, -1, 0]),
    "booleans": (np.array([True, False]), -1, TRUTHS, [1, 0]),
    "booleans, marker 0": (np.array([True, False]), 0, TRUTHS, [1, 0]),
    "booleans with None": ([True, None, False], -1, TRUTHS, [1, -1, 0]),
    "booleans with None, marker 0": ([True, None, False], 0, TRUTHS, [1, -1, 0]),
    "booleans with -1, as objects": (bare([True, -1, False]), -1, TRUTHS, [1, -1, 0]),
    "numpy's booleans with None": ([np.True_, None, np.False_], -1, TRUTHS, [1, -1, 0]),
    "marker '?'": (["b", "?", "a"], "?", TEXT, [1, -1, 0]),
    "marker '?' in an array": (np.array(["b", "?", "a"]), "?", TEXT, [1, -1, 0]),
    "marker '?' among numbers": ([2, "?", 1], "?", NUMBERS, [1, -1, 0]),
    "marker '?' and -1 is a class": ([1, -1, None], "?", SIGNS, [1, 0, -1]),
    "marker 0 with signs": ([1, 0, -1], 0, SIGNS, [1, -1, 0]),
    "marker 0 as text": (["b", "0", "a"], 0, TEXT, [1, -1, 0]),
    "no marker": ([1, -1, 1], None, SIGNS, [1, 0, 1]),
    "no marker but None": ([1, None, -1], None, SIGNS, [1, -1, 0]),
    "no marker but NaN": (np.array([1.0, NAN, -1.0]), None, SIGNS, [1, -1, 0]),
    "no marker, text": (["-1", "1", None], None, ["-1", "1"], [0, 1, -1]),
    "marker -1 with 1 and 2": ([1, 2, -1], -1, NUMBERS, [0, 1, -1]),
}


@pytest.mark.parametrize(("y", "marker", "classes", "codes"), READ.values(), ids=READ)
def test_labels_are_read(y, marker, classes, codes):
    found = labels(y, marker)
    assert found.classes.tolist() == classes
    assert found.codes.tolist() == codes
    assert found.known.tolist() == [code >= 0 for code in codes]


@pytest.mark.parametrize("y", [np.array([True, False]), [True, None, False]])
def test_booleans_stay_booleans(y):
    assert all(isinstance(value, bool) for value in labels(y).classes.tolist())


@pytest.mark.parametrize("y", [np.array([[2], [1], [-1]]), [[2], [1], [-1]], pd.DataFrame({"y": [2, 1, -1]})])
def test_a_column_vector_is_taken_with_a_warning(y):
    with pytest.warns(DataConversionWarning, match="column-vector"):
        found = labels(y)
    assert found.codes.tolist() == [1, 0, -1]


@pytest.mark.parametrize("y", [[-1, 0, 1], np.array([0.0, 1.0, -1.0, NAN]), [0, None, -1, 1]], ids=str)
def test_minus_one_zero_and_one_name_the_other_reading(y):
    with pytest.warns(UserWarning, match="unlabeled=0"):
        found = labels(y)
    assert found.classes.tolist() == [0, 1]
    assert found.codes[np.asarray(y, dtype=object) == -1].tolist() == [-1]


REFUSED = {
    "no y": (None, -1, "requires y to be passed, but the target y is None"),
    "continuous": ([0.5, 1.7, -1.0], -1, "Unknown label type: continuous"),
    "continuous objects": ([0.5, 1.7, None], -1, "Unknown label type: continuous"),
    "mixed": (["a", 1, -1], -1, "Unknown label type: y holds values of the types int, str"),
    "two columns": (np.zeros((3, 2)), -1, "should be a 1d array"),
    "all -1": ([-1, -1], -1, "no labeled row: all 2 values.*or -1.*At least one labeled row of each class"),
    "all None": ([None, None, None], None, r"no labeled row: all 3 values mark unlabeled rows \(None, NaN\)"),
    "all NaN": (np.array([NAN, NAN]), -1, "no labeled row"),
    "all empty": (["", ""], -1, "no labeled row"),
    "all '?'": (["?", "?"], "?", r"None, NaN or '\?'"),
}


@pytest.mark.parametrize(("y", "marker", "message"), REFUSED.values(), ids=REFUSED)
def test_labels_that_say_nothing_are_refused(y, marker, message):
    with pytest.raises(ValueError, match=message):
        labels(y, marker)


@pytest.mark.parametrize("y", [[1, -1, 1, -1], ["1", "-1", "1", "-1"]], ids=str)
@pytest.mark.parametrize("machine", [SVM, CCCPTSVM])
def test_signs_under_the_default_marker_are_refused_with_the_way_out(machine, y):
    with pytest.raises(ValueError, match=r"only one class, '?1'?, besides the.*-1.*unlabeled=None.*unlabeled=0"):
        machine().fit(np.arange(4.0)[:, None], y)


def test_one_class_is_refused_with_what_is_needed():
    with pytest.raises(ValueError, match=r"only one class, 'a', besides.*'\?'; two or more.*second class"):
        at_least_two(np.array(["a"]), "?")
    assert at_least_two(np.array(["a", "b"]), "?") is None


def test_supervised_machines_ignore_unlabeled_rows():
    X, y = np.array([[0.0], [0.5], [3.0], [3.5], [9.0]]), ["a", "a", "b", "b", None]
    whole, part = SVM(gamma=1.0).fit(X, y), SVM(gamma=1.0).fit(X[:4], y[:4])
    np.testing.assert_allclose(whole.decision_function(X), part.decision_function(X))


def test_without_unlabeled_rows_a_semi_supervised_machine_is_the_supervised_one():
    X, y = np.array([[0.0], [1.0], [2.0], [3.5]]), [1, 2, 1, 2]
    semi, plain = CCCPTSVM(2.0, gamma=1.0, tol=1e-6).fit(X, y), SVM(2.0, gamma=1.0, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(semi.decision_function(X), plain.decision_function(X), atol=1e-4)


@pytest.mark.parametrize(("given", "expected"), [(None, [1.0, 1.0]), (2, [2.0, 2.0]), ([0, 3], [0.0, 3.0])])
def test_weights_are_one_number_per_row(given, expected):
    assert weights(given, 2).tolist() == expected


NO_WEIGHTS = {
    "text": (["a", "b"], "no numbers"),
    "table": (np.ones((2, 2)), r"must be 1D array or scalar; got an array of shape \(2, 2\)"),
    "too many": ([1, 1, 1], r"sample_weight.shape == \(3,\), expected \(2,\)"),
    "negative": ([1, -1], "finite numbers of 0 or more, not all zero"),
    "NaN": ([1, NAN], "finite numbers of 0 or more"),
    "infinite": ([1, np.inf], "finite numbers of 0 or more"),
    "all zero": ([0, 0], "not all zero"),
    "zero for all": (0.0, "not all zero"),
    "negative for all": (-1.0, "finite numbers of 0 or more"),
    "NaN for all": (NAN, "finite numbers of 0 or more"),
}


@pytest.mark.parametrize(("given", "message"), NO_WEIGHTS.values(), ids=NO_WEIGHTS)
def test_weights_that_are_none_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        weights(given, 2)


@pytest.mark.parametrize(
    ("value", "closed", "interval"),
    [(0.0, "neither", r"\(0, 1\)"), (1, "low", r"\[0, 1\)"), (0, "high", r"\(0, 1\]"), (1.5, "both", r"\[0, 1\]")]
    + [(value, "both", r"\[0, 1\]") for value in (NAN, "1", None, True, np.True_, -np.inf)],
)
def test_numbers_out_of_bounds_are_refused_with_the_interval(value, closed, interval):
    with pytest.raises(ValueError, match=rf"^C=.* is not allowed; C takes a number in {interval}\.$"):
        number("C", value, 0.0, 1.0, closed=closed)


@pytest.mark.parametrize(("value", "closed"), [(0.5, "neither"), (0, "low"), (1, "high"), (np.float32(1), "both")])
def test_numbers_within_bounds_are_given_back(value, closed):
    assert number("C", value, 0.0, 1.0, closed=closed) == value


@pytest.mark.parametrize("value", [1, 2.0, True, "3", None])
def test_whole_numbers_are_whole_and_large_enough(value):
    assert whole_number("n_splits", np.int64(2), 2) == 2
    with pytest.raises(ValueError, match=r"^n_splits=.* is not allowed; n_splits takes a whole number of 2 or more\.$"):
        whole_number("n_splits", value, 2)


@pytest.mark.parametrize("value", [1, "free", None])
def test_a_choice_is_one_of_the_allowed(value):
    allowed = (True, False, "regularised")
    assert all(choice("fit_intercept", one, allowed) is one for one in allowed)
    with pytest.raises(ValueError, match=r"^fit_intercept=.*takes one of True, False, 'regularised'\.$"):
        choice("fit_intercept", value, allowed)


def test_a_kernel_matrix_is_symmetric():
    K = np.array([[1.0, 0.2], [0.2, 1.0]])
    assert _validate.kernel_matrix(K) is K
    with pytest.raises(ValueError, match="not symmetric"):
        _validate.kernel_matrix(K + [[0.0, 1e-3], [0.0, 0.0]])
