"""Labels of every kind are encoded, and the others refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning

from semisvm import CCCPTSVM, SVM
from semisvm._validation.labels import check_two_classes, encode_labels

NAN = float("nan")
TEXT, NUMBERS, SIGNS, TRUTHS = ["a", "b"], [1, 2], [-1, 1], [False, True]


pytestmark = pytest.mark.filterwarnings("error")


def objects(values):
    return np.array(values, dtype=object)


ENCODED = {
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
    "objects": (objects([2, -1, 1, None]), -1, NUMBERS, [1, -1, 0, -1]),
    "text and -1 in a list": (["b", "a", -1], -1, TEXT, [1, 0, -1]),
    "text and '-1' in an array": (np.array(["b", "a", -1]), -1, TEXT, [1, 0, -1]),
    "text and None": (["b", None, "a"], -1, TEXT, [1, -1, 0]),
    "text and NaN": (objects(["b", NAN, "a"]), -1, TEXT, [1, -1, 0]),
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
    "booleans with -1, as objects": (objects([True, -1, False]), -1, TRUTHS, [1, -1, 0]),
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


@pytest.mark.parametrize(("y", "marker", "classes", "codes"), ENCODED.values(), ids=ENCODED)
def test_labels_are_encoded(y, marker, classes, codes):
    found = encode_labels(y, marker)
    assert found.classes.tolist() == classes
    assert found.codes.tolist() == codes
    assert found.is_labeled.tolist() == [code >= 0 for code in codes]


@pytest.mark.parametrize("y", [np.array([True, False]), [True, None, False]])
def test_booleans_stay_booleans(y):
    assert all(isinstance(value, bool) for value in encode_labels(y).classes.tolist())


@pytest.mark.parametrize("y", [np.array([[2], [1], [-1]]), [[2], [1], [-1]], pd.DataFrame({"y": [2, 1, -1]})])
def test_a_column_vector_is_taken_with_a_warning(y):
    with pytest.warns(DataConversionWarning, match="column-vector"):
        found = encode_labels(y)
    assert found.codes.tolist() == [1, 0, -1]


MOSTLY_ZERO = {
    "list": [-1, 0, 1, 0, 0],
    "floats with NaN": np.array([0.0, 0.0, 0.0, 1.0, -1.0, NAN]),
    "with None": [0, 0, 0, None, -1, 1],
}


@pytest.mark.parametrize("y", MOSTLY_ZERO.values(), ids=MOSTLY_ZERO)
def test_signs_with_more_zeros_than_both_warn_of_the_other_meaning(y):
    with pytest.warns(UserWarning, match="most of them 0 .*unlabeled=0") as warned:
        found = encode_labels(y)
    assert warned[0].filename == __file__
    assert found.classes.tolist() == [0, 1]
    assert found.codes[np.asarray(y, dtype=object) == -1].tolist() == [-1]


@pytest.mark.parametrize(
    "y", [[-1, 0, 1], [-1, 0, 0, 1], [0, 0, 0, 1, None], [0, 0, 0, 1, NAN], [0, 0, 0, 2, -1]], ids=str
)
def test_zero_as_a_class_is_not_warned_of(y):
    assert encode_labels(y).classes[0] == 0  # warnings are errors here


NULLABLE = {
    "pandas Int64": pd.Series([2, None, 1], dtype="Int64"),
    "pandas UInt8 array": pd.array([2, None, 1], dtype="UInt8"),
    "pandas index": pd.Index([2, None, 1], dtype="Int64"),
    "pandas with pyarrow": pd.Series([2, None, 1], dtype="int64[pyarrow]"),
    "pandas categories": pd.Series([2, None, 1], dtype="category"),
    "polars": pl.Series([2, None, 1]),
    "pyarrow": pa.array([2, None, 1]),
    "pyarrow chunks": pa.chunked_array([[2, None], [1]]),
}


@pytest.mark.parametrize("y", NULLABLE.values(), ids=NULLABLE)
def test_integers_beside_missing_values_stay_integers(y):
    found = encode_labels(y)
    assert found.classes.dtype.kind == "i"
    assert found.classes.tolist() == NUMBERS
    assert found.codes.tolist() == [1, -1, 0]


FRAMES = {
    "pandas": pd.DataFrame({"y": pd.Series([2, None, 1], dtype="Int64")}),
    "pandas without a name": pd.Series([2, None, 1], dtype="Int64").to_frame(),
    "polars": pl.DataFrame({"y": [2, None, 1]}),
}


@pytest.mark.parametrize("y", FRAMES.values(), ids=FRAMES)
def test_integers_in_a_frame_of_one_column_stay_integers(y):
    with pytest.warns(DataConversionWarning):
        found = encode_labels(y)
    assert found.classes.dtype.kind == "i"
    assert found.codes.tolist() == [1, -1, 0]


REFUSED = {
    "no y": (None, -1, "requires y to be passed, but the target y is None"),
    "continuous": ([0.5, 1.7, -1.0], -1, "Unknown label type: continuous"),
    "continuous objects": ([0.5, 1.7, None], -1, "Unknown label type: continuous"),
    "mixed": (["a", 1, -1], -1, "Unknown label type: y holds values of the types int, str"),
    "two columns": (np.zeros((3, 2)), -1, "should be a 1d array"),
    "all -1": ([-1, -1], -1, "no labeled sample: all 2 values.*or -1.*At least one labeled sample of each class"),
    "all None": ([None, None, None], None, r"no labeled sample: all 3 values mark unlabeled samples \(None, NaN\)"),
    "all NaN": (np.array([NAN, NAN]), -1, "no labeled sample"),
    "all empty": (["", ""], -1, "no labeled sample"),
    "all '?'": (["?", "?"], "?", r"None, NaN or '\?'"),
}


@pytest.mark.parametrize(("y", "marker", "message"), REFUSED.values(), ids=REFUSED)
def test_labels_without_a_class_are_refused(y, marker, message):
    with pytest.raises(ValueError, match=message):
        encode_labels(y, marker)


@pytest.mark.parametrize("y", [[1, -1, 1, -1], ["1", "-1", "1", "-1"]], ids=str)
@pytest.mark.parametrize("cls", [SVM, CCCPTSVM])
def test_signs_under_the_default_marker_are_refused_with_advice(cls, y):
    with pytest.raises(ValueError, match=r"only one class, '?1'?, besides the.*-1.*unlabeled=None.*unlabeled=0"):
        cls().fit(np.arange(4.0)[:, None], y)


def test_one_class_is_refused_with_what_is_needed():
    with pytest.raises(ValueError, match=r"only one class, 'a', besides.*'\?'; two or more.*second class"):
        check_two_classes(np.array(["a"]), "?")
    assert check_two_classes(np.array(["a", "b"]), "?") is None


def test_supervised_estimators_ignore_unlabeled_samples():
    X, y = np.array([[0.0], [0.5], [3.0], [3.5], [9.0]]), ["a", "a", "b", "b", None]
    whole, part = SVM(gamma=1.0).fit(X, y), SVM(gamma=1.0).fit(X[:4], y[:4])
    np.testing.assert_allclose(whole.decision_function(X), part.decision_function(X))


def test_without_unlabeled_samples_a_semi_supervised_estimator_is_the_supervised_one():
    X, y = np.array([[0.0], [1.0], [2.0], [3.5]]), [1, 2, 1, 2]
    semi, plain = CCCPTSVM(2.0, gamma=1.0, tol=1e-6).fit(X, y), SVM(2.0, gamma=1.0, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(semi.decision_function(X), plain.decision_function(X), atol=1e-4)
