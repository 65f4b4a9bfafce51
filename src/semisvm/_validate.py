"""What comes from the user: labels to codes, tables to arrays, and every message about bad input.

Each message says what came, what is allowed and what to do.
"""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data


class Labels(NamedTuple):
    """Sorted classes, and for each row the position of its class, -1 where there is none."""

    classes: np.ndarray
    codes: np.ndarray

    @property
    def known(self) -> np.ndarray:
        """Mask of the labeled rows."""
        return self.codes >= 0


def labels(y, unlabeled: Any = -1) -> Labels:
    """Read labels as they come.

    None, NaN and pandas' NA mark unlabeled rows, and so does the value ``unlabeled`` unless it is None. Where y is of
    strings, so do the empty string and the marker written as text.
    """
    values = _column(y)
    if values.dtype == object or values.dtype.kind in "US":
        missing = _missing_objects(values, unlabeled)
        known = _uniform(values[~missing])
    else:
        missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
        if unlabeled is not None and _comparable(values, unlabeled):
            missing |= values == unlabeled
        known = values[~missing]
    if not len(known):
        raise ValueError(
            f"y holds no labeled row: all {len(values)} values mark unlabeled rows (None, NaN"
            f"{'' if unlabeled is None else f' or {unlabeled!r}'}). At least one labeled row of each class is needed."
        )
    if known.dtype.kind == "f" and np.isinf(known).any():
        raise ValueError("y holds infinity; a label is text or a finite number, and None or NaN where there is none.")
    check_classification_targets(known)
    classes, inverse = np.unique(known, return_inverse=True)
    _look_at_signs(values, classes, missing, unlabeled)
    codes = np.full(len(values), -1)
    codes[~missing] = inverse
    return Labels(classes, codes)


def _column(y) -> np.ndarray:
    if isinstance(y, list | tuple):
        objects = np.empty(len(y), dtype=object)
        objects[:] = y
        if any(isinstance(v, list | tuple) for v in y):
            objects = np.asarray(y, dtype=object)
        plain = all(isinstance(v, numbers.Number | np.bool_) for v in objects.flat)
        y = np.asarray(y) if plain else objects
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None. Pass one label per row; rows without one hold None, "
            "NaN or the marker."
        )
    values = np.asarray(y)
    if values.dtype.kind not in "biufUSO":
        values = values.astype(object)
    return column_or_1d(values, warn=True)


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


def _uniform(known: np.ndarray) -> np.ndarray:
    """Labels of one kind: text stays, numbers in an object column become numbers."""
    if known.dtype.kind in "US":
        return known
    number = numbers.Number | np.bool_
    kinds = {"text" if isinstance(v, str) else "number" if isinstance(v, number) else "other" for v in known}
    if kinds <= {"text"}:
        return known
    if kinds == {"number"}:
        return np.asarray(known.tolist())
    found = sorted({type(v).__name__ for v in known})
    raise ValueError(
        f"Unknown label type: y holds values of the types {', '.join(found)}. Labels are all text or all numbers; "
        "rows without a label hold None, NaN or the marker."
    )


def _look_at_signs(values: np.ndarray, classes: np.ndarray, missing: np.ndarray, marker: Any) -> None:
    """Catch -1 meant as a class."""
    if not isinstance(marker, numbers.Number) or marker != -1 or not missing.any() or classes.dtype.kind not in "iuf":
        return
    meant = any(isinstance(v, numbers.Number) and v == -1 for v in values[missing].tolist())  # not NaN alone
    if meant and len(classes) == 2 and set(classes.tolist()) == {0, 1}:
        warnings.warn(
            "y holds the values -1, 0 and 1; they are taken as the classes 0 and 1 with -1 for unlabeled rows. If -1 "
            "and 1 are the classes and 0 means unlabeled, pass unlabeled=0.",
            stacklevel=4,
        )


def at_least_two(found: np.ndarray, marker: Any, dropped: bool = False) -> None:
    """Refuse labels of one class."""
    if len(found) >= 2:
        return
    hint = "Give at least one labeled row of a second class."
    if isinstance(marker, numbers.Number) and marker == -1 and found[0] in (1, "1"):
        hint = "If -1 is a class, pass unlabeled=None (no marker but None and NaN) or unlabeled=0."
    beside = "" if marker is None else f" besides the unlabeled marker {marker!r}"
    where = " on rows of positive weight" if dropped else ""
    only = found[0].item() if isinstance(found[0], np.generic) else found[0]
    raise ValueError(f"y holds only one class, {only!r},{beside}{where}; two or more are needed. {hint}")


def with_weight(labels: Labels, kept: np.ndarray, marker: Any) -> Labels:
    """The classes found on rows of positive weight, and the codes of those rows."""
    found = np.unique(labels.codes[kept])
    found = found[found >= 0]
    if not len(found):
        raise ValueError("no labeled row has a positive weight; at least one of each class is needed.")
    at_least_two(labels.classes[found], marker, dropped=len(found) < len(labels.classes))
    codes = np.full(len(labels.codes), -1)
    codes[kept] = np.where(labels.codes[kept] < 0, -1, np.searchsorted(found, labels.codes[kept]))
    return Labels(labels.classes[found], codes)


def table(estimator, X, reset: bool, precomputed: bool = False):
    """Rows as a dense array or CSR of float64 or float32, finite, with the columns seen in fit."""
    try:
        X = validate_data(
            estimator, X, reset=reset, accept_sparse=False if precomputed else "csr", dtype=[np.float64, np.float32]
        )
    except ValueError as error:
        if "could not convert string" not in str(error) and "Cannot cast" not in str(error):
            raise
        came = str(error).rpartition(": ")[2]
        raise ValueError(
            f"X holds text ({came}); only numbers are allowed. Turn text columns into numbers first, for instance "
            "with sklearn.feature_extraction.text.TfidfVectorizer or sklearn.preprocessing.OneHotEncoder."
        ) from None
    if precomputed and reset and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"kernel='precomputed' takes the square matrix of kernel values of all rows; X has shape {X.shape}."
        )
    if sparse.issparse(X) and not X.has_sorted_indices:
        X = X.sorted_indices()
    return X


def own(X, given):
    """X, copied if it is the user's own memory, which may change later."""
    ours, theirs = (getattr(table, "data", table) if sparse.issparse(table) else table for table in (X, given))
    shared = isinstance(theirs, np.ndarray) and np.may_share_memory(ours, theirs)
    return X.copy() if shared or not isinstance(theirs, np.ndarray | list) else X


def kernel_matrix(K: np.ndarray) -> np.ndarray:
    """Refuse a precomputed matrix that no kernel has."""
    scale = np.abs(K).max(initial=0.0)
    if np.abs(K - K.T).max(initial=0.0) > 1e-6 * scale:
        raise ValueError("the precomputed kernel matrix is not symmetric; pass K with K[i, j] = k(row i, row j).")
    return K


def weights(sample_weight, n: int) -> np.ndarray:
    """One weight per row, not negative, not all zero; ones if none are given."""
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, numbers.Number):
        sample_weight = np.full(n, float(sample_weight))
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight holds values that are no numbers; pass one number per row.") from None
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar; got an array of shape {weight.shape}.")
    if len(weight) != n:
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected ({n},)! Pass one number per row of X.")
    if not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
        raise ValueError("sample_weight must hold finite numbers of 0 or more, not all zero; repair or drop the rest.")
    return weight


def number(name: str, value: Any, low: float = -math.inf, high: float = math.inf, closed: str = "neither") -> float:
    """A number within bounds; ``closed`` says which of the bounds are allowed themselves ("both", "low", "high")."""
    above = value > low or (value == low and closed in ("both", "low")) if _is_number(value) else False
    below = value < high or (value == high and closed in ("both", "high")) if _is_number(value) else False
    if above and below:
        return value
    start = "[" if closed in ("both", "low") else "("
    end = "]" if closed in ("both", "high") else ")"
    raise ValueError(f"{name}={value!r} is not allowed; {name} takes a number in {start}{low:g}, {high:g}{end}.")


def whole_number(name: str, value: Any, low: int) -> int:
    """A whole number of ``low`` or more."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and value >= low:
        return int(value)
    raise ValueError(f"{name}={value!r} is not allowed; {name} takes a whole number of {low} or more.")


def choice(name: str, value: Any, allowed: tuple) -> Any:
    """One of a few values."""
    if any(value is one or (type(value) is type(one) and value == one) for one in allowed):
        return value
    raise ValueError(f"{name}={value!r} is not allowed; {name} takes one of {', '.join(map(repr, allowed))}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_) and not math.isnan(value)
