"""Fill the empty cells of a target: read, transform, fit, write."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from . import InputError
from .columns import Column, detect_column
from .features import build_transformer, to_frame
from .methods import find_method, short_name
from .progress import ProgressDisplay
from .reading import Table, check_input, find_column, join_first, read_table
from .target import check_labels, parse_balance, unused_name
from .writing import atomic_file, output_path

MAX_REASONS = 8  # that a message lists


@dataclass(frozen=True)
class LabelRequest:
    """The arguments and options of ``semisvm label``."""

    source: Path
    target: str | None
    text: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    method: str = "semi"
    output: Path | None = None
    balance: str | None = None
    seed: int = 0
    unlabeled: str | None = None
    encoding: str | None = None
    force: bool = False


@dataclass
class LabelResult:
    """What was filled and written."""

    output: Path
    target: str = ""
    estimator: Any = None  # fitted, or None if there was nothing to fill
    given: Counter = field(default_factory=Counter)  # rows by class
    filled: Counter = field(default_factory=Counter)
    columns: list[Column] = field(default_factory=list)  # all but the target
    n_different: int | None = None  # filled labels that the supervised model predicts differently, if there is one
    confidence: np.ndarray = field(default_factory=lambda: np.ones(0))  # of the filled rows
    notes: list[str] = field(default_factory=list)


def label(request: LabelRequest, display: ProgressDisplay) -> LabelResult:
    """Fill the empty cells of a column and write the table."""
    cls = find_method(request.method)
    check_input(request.source)
    result = LabelResult(output_path(request.source, request.output, request.force))
    display.begin("reading")
    table = read_table(request.source, request.encoding, request.target)
    position = find_column(table, request.target, "--target", request.source.name)
    result.target = table.names[position]
    labels = table.labels(position, request.unlabeled)
    result.given = Counter(v for v in labels if v is not None)
    filled, confidence = [None] * len(labels), np.ones(len(labels))
    if None in labels:
        result.notes += check_labels(result.target, result.given, len(labels))
        display.begin("preparing features")
        estimator = result.estimator = _new_estimator(request, cls, sorted(result.given), display)
        with warnings.catch_warnings(record=True) as caught, display.iterations():
            warnings.simplefilter("always")
            X = _feature_matrix(request, table, position, result)
            result.confidence = _fit(estimator, X, np.array(labels, dtype=object), result, display)
        result.notes += dict.fromkeys(
            str(w.message) for w in caught if w.category is UserWarning or issubclass(w.category, ConvergenceWarning)
        )
        empty = [i for i, v in enumerate(labels) if v is None]
        original = {v: v for v in result.given}  # the Python objects of the table, not those of NumPy
        for i, found in zip(empty, estimator.transduction_[empty].tolist()):
            filled[i] = original[found]
        confidence[empty] = result.confidence
        result.filled = Counter(v for v in filled if v is not None)
    display.begin("writing")
    name, note = unused_name(f"{result.target}_confidence", table.names)
    result.notes += note
    with atomic_file(result.output, request.force) as file:
        table.write(file, position, filled, name, confidence.tolist())
    return result


def _feature_matrix(request: LabelRequest, table: Table, target: int, result: LabelResult) -> Any:
    """X, dense or CSR, from all columns that can be used."""
    file_name = request.source.name
    text = {find_column(table, name, "--text", file_name) for name in request.text}
    ignored = {find_column(table, name, "--ignore", file_name) for name in request.ignore}
    if target in text | ignored:
        raise InputError(f"{result.target!r} is the target, which is never a feature; remove it from --text and "
                         "--ignore.")  # fmt: skip
    for i, name in enumerate(table.names):
        if i == target:
            continue
        if i in ignored:
            result.columns.append(Column(name, "ignored", reason="excluded by --ignore"))
        elif re.fullmatch(rf"{re.escape(result.target)}_confidence(_\d+)?", name):
            result.columns.append(Column(name, "ignored", reason="written by semisvm"))
        else:
            result.columns.append(detect_column(name, table.column(i), as_text=i in text))
    used = [column for column in result.columns if column.kind != "ignored"]
    if not used:
        reasons = [f"{column.name} ({column.reason})" for column in result.columns]
        raise InputError(
            f"no column besides the target {result.target!r} can be used: "
            f"{join_first(reasons, MAX_REASONS) or 'it is the only column'}; add a column of numbers, categories or "
            "text."
        )
    return build_transformer(used).fit_transform(to_frame(used))


def _new_estimator(request: LabelRequest, cls: type, classes: list[Any], display: ProgressDisplay) -> Any:
    """The unfitted estimator, with those options that it has parameters for."""
    estimator = cls()
    parameters = estimator.get_params(deep=False)
    options = {"unlabeled": None, "random_state": request.seed, "verbose": display.estimator_verbose}
    if request.balance is not None:
        if "balance" not in parameters:
            raise InputError(
                f"--balance {request.balance} is not allowed with --method {short_name(cls.__name__)}, which uses "
                "labeled rows only; remove --balance or choose a semi-supervised method such as semi."
            )
        estimator.set_params(balance=parse_balance(request.balance, classes))
    return estimator.set_params(**{name: value for name, value in options.items() if name in parameters})


def _fit(estimator: Any, X: Any, y: np.ndarray, result: LabelResult, display: ProgressDisplay) -> np.ndarray:
    """Fit, compare with the supervised model and return the probabilities of the filled labels."""
    empty = np.array([v is None for v in y])
    display.begin("fitting")
    try:
        estimator.fit(X, y)
    except ValueError as error:
        raise InputError(str(error)) from error
    found = estimator.transduction_[empty]
    display.begin("computing probabilities")
    if hasattr(estimator, "supervised_"):
        result.n_different = int((estimator.supervised_.predict(X[empty]) != found).sum())
    codes = {c: i for i, c in enumerate(estimator.classes_.tolist())}
    probabilities = estimator.predict_proba(X[empty])
    return np.clip(probabilities[np.arange(len(found)), [codes[c] for c in found.tolist()]], 0.0, 1.0)
