"""Labels as they come, encoded."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from .user_warnings import warn_user

N_READ = 1_000_000  # labels that are looked at together


class Labels(NamedTuple):
    """Sorted classes, and for each sample the position of its class, -1 where there is none."""

    classes: np.ndarray
    codes: np.ndarray

    @property
    def is_labeled(self) -> np.ndarray:
        """Mask of the labeled samples."""
        return self.codes >= 0


def encode_labels_of(n: int, y: Any, unlabeled: Any) -> Labels:
    """Encode the labels of n samples."""
    labels = encode_labels(y, unlabeled)
    if len(labels.codes) != n:
        raise ValueError(f"X has {n} samples and y has {len(labels.codes)} values; pass one label per sample.")
    return labels


def encode_labels(y: Any, unlabeled: Any = -1) -> Labels:
    """Encode labels of any kind.

    None, NaN and pandas' NA mark unlabeled samples, and so does the value ``unlabeled`` unless it is None. Where y is
    of strings, so do the empty string and the marker written as text.
    """
    values = _as_column(y)
    missing = _is_missing(values, unlabeled)
    given = values[~missing]
    if _holds_objects(values):
        given = _of_one_kind(given)
    if not len(given):
        raise ValueError(
            f"y holds no labeled sample: all {len(values)} values mark unlabeled samples (None, NaN"
            f"{'' if unlabeled is None else f' or {unlabeled!r}'}). At least one labeled sample of each class is "
            "needed."
        )
    if given.dtype.kind == "f" and np.isinf(given).any():
        raise ValueError("y holds infinity; a label is text or a finite number, and None or NaN where there is none.")
    if given.dtype.kind not in "biuUS":  # of these every value is a label
        check_classification_targets(given)
    classes, inverse = np.unique(given, return_inverse=True)
    _warn_of_signs(values, classes, missing, unlabeled)
    codes = np.full(len(values), -1)
    codes[~missing] = inverse
    return Labels(classes, codes)


def find_labeled(y: Any, unlabeled: Any = -1) -> np.ndarray:
    """Positions of the samples with a label, for labels of which few are there: read some at a time."""
    if not isinstance(y, np.ndarray) or y.ndim != 1:
        y = _as_column(y)
    starts = range(0, len(y), N_READ)
    found = [start + np.flatnonzero(~_is_missing(y[start : start + N_READ], unlabeled)) for start in starts]
    return np.concatenate(found) if found else np.zeros(0, dtype=int)


def _holds_objects(values: np.ndarray) -> bool:
    return values.dtype == object or values.dtype.kind in "US"


def _is_missing(values: np.ndarray, unlabeled: Any) -> np.ndarray:
    """Mask of the samples without a label."""
    if _holds_objects(values):
        return _missing_objects(values, unlabeled)
    missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    if unlabeled is not None and _comparable(values, unlabeled):
        missing |= values == unlabeled
    return missing


def _as_column(y: Any) -> np.ndarray:
    y = _keep_integers(y)
    if isinstance(y, list | tuple):
        objects = np.empty(len(y), dtype=object)
        objects[:] = y
        if any(isinstance(v, list | tuple) for v in y):
            objects = np.asarray(y, dtype=object)
        all_numbers = all(isinstance(v, numbers.Number | np.bool_) for v in objects.flat)
        y = np.asarray(y) if all_numbers else objects
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None. Pass one label per sample; samples without one hold "
            "None, NaN or the marker."
        )
    values = np.asarray(y)
    if values.dtype.kind not in "biufUSO":
        values = values.astype(object)
    return values if values.ndim == 1 else column_or_1d(values, warn=True)


def _keep_integers(y: Any) -> Any:
    """A column of pandas, polars or pyarrow as objects where numpy would make floats of integers and missing values."""
    columns = getattr(y, "columns", None)
    if columns is not None and len(columns) == 1 and isinstance(columns[0], str | numbers.Integral):  # a data frame
        column = _keep_integers(y[columns[0]])
        return column[:, None] if isinstance(column, np.ndarray) else y
    if isinstance(y, np.ndarray | list | tuple) or isinstance(getattr(y, "dtype", None), np.dtype):
        return y
    methods = [name for name in ("to_pylist", "to_list", "tolist") if hasattr(y, name)]
    if not methods or np.asarray(y).dtype.kind != "f":
        return y
    return np.array(getattr(y, methods[0])(), dtype=object)


def _comparable(values: np.ndarray, marker: Any) -> bool:
    """A boolean column is never compared with a number (False == 0), nor numbers with text."""
    if values.dtype.kind == "b":
        return isinstance(marker, bool | np.bool_)
    return isinstance(marker, numbers.Number) and not isinstance(marker, bool)


def _missing_objects(values: np.ndarray, marker: Any) -> np.ndarray:
    text = None if marker is None else str(marker)

    def is_missing(value: Any) -> bool:
        if value is None or type(value).__name__ == "NAType":
            return True
        if isinstance(value, str):
            return value == "" or value == text
        if isinstance(value, bool | np.bool_):
            return isinstance(marker, bool) and bool(value) == marker
        return value != value or (marker is not None and not isinstance(marker, str) and value == marker)

    return np.fromiter((bool(is_missing(v)) for v in values.tolist()), dtype=bool, count=len(values))


def _of_one_kind(given: np.ndarray) -> np.ndarray:
    """Labels of one kind: text stays, numbers in an object column become numbers."""
    if given.dtype.kind in "US":
        return given
    number = numbers.Number | np.bool_
    kinds = {"text" if isinstance(v, str) else "number" if isinstance(v, number) else "other" for v in given}
    if kinds <= {"text"}:
        return given
    if kinds == {"number"}:
        return np.asarray(given.tolist())
    found = sorted({type(v).__name__ for v in given})
    raise ValueError(
        f"Unknown label type: y holds values of the types {', '.join(found)}. Labels are all text or all numbers; "
        "samples without a label hold None, NaN or the marker."
    )


def _warn_of_signs(values: np.ndarray, classes: np.ndarray, missing: np.ndarray, marker: Any) -> None:
    """Warn where 0 is probably the marker: of -1, 0 and 1 it is more frequent than the other two together."""
    if not isinstance(marker, numbers.Number) or marker != -1 or not missing.any() or classes.dtype.kind not in "iuf":
        return
    if set(classes.tolist()) != {0, 1}:
        return
    n_marked = _count(values[missing], -1)  # without None and NaN
    n_zero = _count(values[~missing], 0)
    if n_marked and n_zero > n_marked + np.count_nonzero(~missing) - n_zero:
        warn_user(
            f"y holds the values -1, 0 and 1, most of them 0 ({n_zero} of {len(values)}); they are taken as the "
            "classes 0 and 1 with -1 for unlabeled samples. If -1 and 1 are the classes and 0 means unlabeled, pass "
            "unlabeled=0."
        )


def _count(values: np.ndarray, number: int) -> int:
    """How many values are a number."""
    if values.dtype != object:
        return int(np.count_nonzero(values == number))
    return sum(isinstance(value, numbers.Number) and value == number for value in values.tolist())


def check_two_classes(found: np.ndarray, marker: Any, some_dropped: bool = False) -> None:
    """Refuse labels of one class."""
    if len(found) >= 2:
        return
    hint = "Give at least one labeled sample of a second class."
    if isinstance(marker, numbers.Number) and marker == -1 and found[0] in (1, "1"):
        hint = "If -1 is a class, pass unlabeled=None (no marker but None and NaN) or unlabeled=0."
    besides = "" if marker is None else f" besides the unlabeled marker {marker!r}"
    where = " on samples of positive weight" if some_dropped else ""
    only = found[0].item() if isinstance(found[0], np.generic) else found[0]
    raise ValueError(f"y holds only one class, {only!r},{besides}{where}; two or more are needed. {hint}")


def drop_zero_weight(labels: Labels, kept: np.ndarray, marker: Any) -> Labels:
    """The classes found on the samples ``kept``, and the codes of those samples."""
    if len(kept) == len(labels.codes):
        check_two_classes(labels.classes, marker)
        return labels
    found = np.unique(labels.codes[kept])
    found = found[found >= 0]
    if not len(found):
        raise ValueError("no labeled sample has a positive weight; at least one of each class is needed.")
    check_two_classes(labels.classes[found], marker, some_dropped=len(found) < len(labels.classes))
    codes = np.full(len(labels.codes), -1)
    codes[kept] = np.where(labels.codes[kept] < 0, -1, np.searchsorted(found, labels.codes[kept]))
    return Labels(labels.classes[found], codes)
