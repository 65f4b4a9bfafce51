"""What the commands that learn have in common: read a table, make features of its columns, fit a model."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pandas.util import hash_array
from sklearn.exceptions import ConvergenceWarning

from ..tables import InputError
from ..tables.columns import Column, detect_column
from ..tables.features import TableFeatures
from ..tables.files import display_name
from ..tables.matrices import MatrixFeatures, count_repeated_rows
from ..tables.reading import Table, check_input, find_column, join_first, read_table
from ..tables.target import Labels, check_classes, parse_balance, read_labels
from .methods import find_method, short_name
from .progress import ProgressDisplay
from .reading_report import reading_lines

MAX_REASONS = 8  # that a message lists
BLOCK = 20_000  # rows whose probabilities are computed at a time


@dataclass(frozen=True)
class TableOptions:
    """The options of a table with a target."""

    source: Path
    target: str | None
    text: tuple[str, ...] = ()
    characters: tuple[str, ...] = ()  # columns of misspelled text
    ignore: tuple[str, ...] = ()
    unlabeled: tuple[str, ...] = ()
    exact_labels: bool = False
    encoding: str | None = None


@dataclass(frozen=True)
class MethodOptions:
    """The options of a model."""

    method: str = "semi"
    balance: str | None = None
    seed: int = 0


@dataclass
class TrainingTable:
    """A table, its labels, and the features of its columns."""

    options: TableOptions
    table: Table
    position: int  # of the target
    labels: Labels
    columns: list[Column] = field(default_factory=list)  # all but the target
    features: TableFeatures | MatrixFeatures | None = None
    X: Any = None
    n_repeated: int | None = 0  # rows whose used columns equal those of an earlier row
    notes: list[str] = field(default_factory=list)

    @property
    def target(self) -> str:
        """The name of the target."""
        return self.table.names[self.position]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.table.n_rows

    @property
    def y(self) -> np.ndarray:
        """The labels, None where there is none."""
        y = np.empty(len(self.labels.values), dtype=object)
        y[:] = self.labels.values
        return y

    @property
    def empty(self) -> np.ndarray:
        """Positions of the unlabeled rows."""
        return np.array([i for i, value in enumerate(self.labels.values) if value is None], dtype=int)


def read_target(options: TableOptions, display: ProgressDisplay) -> TrainingTable:
    """Read a table and the labels of its target; without features."""
    check_input(options.source)
    display.begin("reading")
    table = read_table(options.source, options.encoding, options.target)
    position = find_column(table, options.target or table.default_target, "--target", display_name(options.source))
    markers = options.unlabeled or table.unlabeled
    labels = read_labels(table.target_cells(position), markers, options.exact_labels)
    return TrainingTable(options, table, position, labels, notes=[*table.notes, *labels.notes])


def add_features(training: TrainingTable, display: ProgressDisplay) -> None:
    """Make X, and say what was read."""
    display.begin("preparing features")
    make_features(training)
    display.say([*reading_lines(training), ""])


def make_features(training: TrainingTable) -> None:
    """Make X of the matrix of the table, or of all columns that can be used."""
    check_classes(training.target, training.labels.given, training.n_rows)
    table = training.table
    text, characters, ignored = find_named_columns(table, training.position, training.options)
    if table.matrix is not None:
        training.features = MatrixFeatures()
        training.X = training.features.fit_transform(table.matrix)
        training.n_repeated = count_repeated_rows(training.X)
        return
    values = []
    for i, name in enumerate(table.names):
        if i == training.position:
            continue
        declared = "text with characters" if i in characters else "text" if i in text else None
        raw = None if i in ignored else table.column(i) if declared else table.column(i).as_numbers()
        column = _detect(training.target, name, raw, declared)
        training.columns.append(column)
        if raw is not None and column.kind != "ignored":
            values.append(column.values(raw))
            training.notes += [f"{name}: {column.note}"] if column.note else []
    used = [column for column in training.columns if column.kind != "ignored"]
    if not used:
        reasons = [f"{column.name} ({column.reason})" for column in training.columns]
        raise InputError(
            f"no column besides the target {training.target!r} can be used: "
            f"{join_first(reasons, MAX_REASONS) or 'it is the only column'}; add a column of numbers, categories or "
            "text."
        )
    training.n_repeated = count_repeated(values)
    training.features = TableFeatures(used)
    training.X = training.features.fit_transform(values)


def find_named_columns(table: Table, target: int, options: TableOptions) -> tuple[set[int], set[int], set[int]]:
    """Positions of the columns of text, of misspelled text, and of those to leave out, as the options name them."""
    file_name = display_name(options.source)
    named = {"--text": options.text, "--characters": options.characters, "--ignore": options.ignore}
    found = {flag: {find_column(table, name, flag, file_name) for name in names} for flag, names in named.items()}
    for flag, positions in found.items():
        if target in positions:
            raise InputError(f"{table.names[target]!r} is the target, which is never a feature; remove it from {flag}.")
    return found["--text"], found["--characters"], found["--ignore"]


def count_repeated(values: list[Any]) -> int:
    """The number of rows that equal an earlier one in all columns."""
    keys = np.zeros(len(values[0]), dtype=np.uint64)
    for column in values:
        column = np.asarray(column, dtype=object if isinstance(column, list) else float)
        keys = keys * np.uint64(1_000_003) + hash_array(column)
    return len(keys) - len(np.unique(keys))


def _detect(target: str, name: str, raw: Any, declared: str | None) -> Column:
    if raw is None:
        return Column(name, "ignored", reason="excluded by --ignore")
    if re.fullmatch(rf"{re.escape(target)}_confidence(_\d+)?", name):
        return Column(name, "ignored", reason="written by semisvm")
    return detect_column(name, raw, declared)


def new_estimator(options: MethodOptions, classes: list[Any], display: ProgressDisplay) -> Any:
    """The unfitted estimator, with those options that it has parameters for."""
    estimator = find_method(options.method)()
    parameters = estimator.get_params(deep=False)
    values = {"unlabeled": None, "random_state": options.seed, "verbose": int(display.verbose)}
    if options.balance is not None:
        if "balance" not in parameters:
            raise InputError(
                f"--balance {options.balance} is not allowed with --method {short_name(type(estimator).__name__)}, "
                "which uses labeled rows only; remove --balance or choose a semi-supervised method such as semi."
            )
        estimator.set_params(balance=parse_balance(options.balance, classes))
    return estimator.set_params(**{name: value for name, value in values.items() if name in parameters})


@contextmanager
def collected_warnings(training: TrainingTable, display: ProgressDisplay) -> Iterator[None]:
    """What estimators warn about becomes notes, and what they print progress."""
    with warnings.catch_warnings(record=True) as caught, display.iterations():
        warnings.simplefilter("always")
        yield
    messages = (
        str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning) or w.category is UserWarning
    )
    training.notes += [note for note in dict.fromkeys(messages) if note not in training.notes]


def fit_table(training: TrainingTable, options: MethodOptions, display: ProgressDisplay) -> Any:
    """A fitted estimator."""
    estimator = new_estimator(options, sorted(training.labels.given), display)
    with collected_warnings(training, display):
        if training.X is None:
            add_features(training, display)
        display.begin("fitting")
        try:
            with display.following(estimator):
                return estimator.fit(training.X, training.y)
        except ValueError as error:
            raise InputError(str(error)) from error


def in_blocks(
    function: Callable[[Any], np.ndarray], X: Any, rows: np.ndarray, stage: str, display: ProgressDisplay
) -> np.ndarray:
    """The values of a function at some rows, a block at a time, so that no copy of all is made."""
    blocks = [rows[first : first + BLOCK] for first in range(0, len(rows), BLOCK)]
    display.begin(stage, len(blocks))
    found = []
    for block in blocks:
        found.append(function(X[block]))
        display.advance()
    return np.concatenate(found)


def probability_of(estimator: Any, probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The probability of the label of each row."""
    codes = {c: i for i, c in enumerate(estimator.classes_.tolist())}
    columns = np.array([codes[c] for c in labels.tolist()])
    return np.clip(np.take_along_axis(probabilities, columns[:, None], axis=1)[:, 0], 0.0, 1.0)
