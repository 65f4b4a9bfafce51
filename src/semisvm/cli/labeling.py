"""Fill the empty cells of a target: read, transform, fit, write. What happened is returned for the report."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from . import Refusal
from .columns import Column, detect
from .features import frame, transformer
from .methods import find_method, short_name
from .progress import Stages
from .reading import Table, check_input, find_column, read, shorten
from .target import check_labels, free_name, parse_balance
from .writing import output_path, whole_file


@dataclass(frozen=True)
class Request:
    """What the user asks for; the fields are the options of ``semisvm label``."""

    source: Path
    target: str | None
    text: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    method: str = "cccp"
    output: Path | None = None
    balance: str | None = None
    seed: int = 0
    unlabeled: str | None = None
    encoding: str | None = None
    force: bool = False


@dataclass
class Outcome:
    """What was done.

    Attributes
    ----------
    output : Path
        The file written.
    machine : object or None
        The fitted estimator; None if there was nothing to fill.
    given, filled : Counter
        Rows by class.
    columns : list of Column
        All columns but the target.
    differs : int or None
        Filled labels for which the supervised machine says otherwise; None without one.
    confidence : array
        Of the filled rows.
    notes : list of str
        What the user should know.
    """

    output: Path
    machine: Any = None
    given: Counter = field(default_factory=Counter)
    filled: Counter = field(default_factory=Counter)
    columns: list[Column] = field(default_factory=list)
    differs: int | None = None
    confidence: np.ndarray = field(default_factory=lambda: np.ones(0))
    notes: list[str] = field(default_factory=list)


def label(request: Request, stages: Stages) -> Outcome:
    """Fill the empty cells of a column and write the table.

    Parameters
    ----------
    request : Request
        What the user asks for.
    stages : Stages
        Told what is being done.

    Returns
    -------
    Outcome
    """
    cls = find_method(request.method)
    check_input(request.source)
    outcome = Outcome(output_path(request.source, request.output, request.force))
    stages("reading")
    table = read(request.source, request.encoding, request.target)
    target = find_column(table, request.target, "--target", request.source.name)
    values = table.labels(target, request.unlabeled)
    outcome.given = Counter(v for v in values if v is not None)
    filled, confidence = [None] * len(values), np.ones(len(values))
    if None in values:
        outcome.notes += check_labels(request.target, values)
        stages("columns")
        machine = outcome.machine = _machine(request, cls, sorted(outcome.given), stages)
        with warnings.catch_warnings(record=True) as said, stages.steps():
            warnings.simplefilter("always")
            X = _rows(request, table, target, outcome)
            sure = _fit(machine, X, np.array(values, dtype=object), outcome, stages)
        outcome.notes += dict.fromkeys(
            str(w.message) for w in said if w.category is UserWarning or issubclass(w.category, ConvergenceWarning)
        )
        empty = [i for i, v in enumerate(values) if v is None]
        original = {v: v for v in outcome.given}  # Python's own values, not NumPy's
        for i, found in zip(empty, machine.transduction_[empty].tolist()):
            filled[i] = original[found]
        confidence[empty] = outcome.confidence = sure
        outcome.filled = Counter(v for v in filled if v is not None)
    stages("writing")
    name, note = free_name(f"{request.target}_confidence", table.names)
    outcome.notes += note
    with whole_file(outcome.output, request.force) as file:
        table.write(file, target, filled, name, confidence.tolist())
    return outcome


def _rows(request: Request, table: Table, target: int, outcome: Outcome):
    """The table as numbers."""
    where = request.source.name
    text = {find_column(table, name, "--text", where) for name in request.text}
    ignored = {find_column(table, name, "--ignore", where) for name in request.ignore}
    if target in text | ignored:
        raise Refusal(f"{request.target!r} is the target and cannot be a column to learn from; leave it out of --text "
                      "and --ignore.")  # fmt: skip
    for i, name in enumerate(table.names):
        if i == target:
            continue
        if i in ignored:
            outcome.columns.append(Column(name, "ignored", why="as you asked"))
        elif re.fullmatch(rf"{re.escape(request.target)}_confidence(_\d+)?", name):
            outcome.columns.append(Column(name, "ignored", why="written by semisvm"))
        else:
            outcome.columns.append(detect(name, table.column(i), as_text=i in text))
    used = [column for column in outcome.columns if column.kind != "ignored"]
    if not used:
        why = shorten([f"{c.name} ({c.why})" for c in outcome.columns], 8) or "it is the only column"
        raise Refusal(f"no column besides the target {request.target!r} can be used: {why}; add a column of numbers, "
                      "categories or text.")  # fmt: skip
    return transformer(used).fit_transform(frame(used))


def _machine(request: Request, cls: type, classes: list, stages: Stages):
    machine = cls()
    known = machine.get_params(deep=False)
    wanted = {"unlabeled": None, "random_state": request.seed, "verbose": stages.wants_steps}
    if request.balance is not None:
        if "balance" not in known:
            raise Refusal(
                f"--balance {request.balance} came with --method {short_name(cls.__name__)}, which looks at labeled "
                "rows alone; leave --balance out or choose a semi-supervised method such as cccp."
            )
        wanted["balance"] = parse_balance(request.balance, classes)
    return machine.set_params(**{name: v for name, v in wanted.items() if name in known})


def _fit(machine, X, y: np.ndarray, outcome: Outcome, stages: Stages) -> np.ndarray:
    """Fit, and say how sure each filled label is."""
    empty = np.array([v is None for v in y])
    stages("kernel and steps")
    try:
        machine.fit(X, y)
    except ValueError as error:
        raise Refusal(str(error)) from error
    found = machine.transduction_[empty]
    stages("probabilities")
    supervised = getattr(machine, "supervised_", None)
    if supervised is not None:
        outcome.differs = int((supervised.predict(X[empty]) != found).sum())
    place = {c: i for i, c in enumerate(machine.classes_.tolist())}
    chances = machine.predict_proba(X[empty])
    return np.clip(chances[np.arange(len(found)), [place[c] for c in found.tolist()]], 0.0, 1.0)
