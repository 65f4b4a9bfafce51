"""Held-out errors of several methods on one table."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..ensemble.report import FEW_LABELS
from ..tables import InputError
from ..tables.target import check_classes
from .evaluation import N_FOLDS, Estimate, held_out_mistakes
from .methods import find_method, short_name
from .progress import ProgressDisplay
from .training import (
    MethodOptions,
    TableOptions,
    TrainingTable,
    add_features,
    collected_warnings,
    new_estimator,
    read_target,
)

METHODS = ("semi", "svm", "ls", "cccp", "multi-switch", "annealing", "gradient", "local-search-rlsc", "self-training")


@dataclass(frozen=True)
class CompareRequest:
    """The arguments and options of ``semisvm compare``."""

    table: TableOptions
    methods: tuple[str, ...] = ()
    balance: str | None = None
    seed: int = 0


@dataclass
class CompareResult:
    """The estimates of the methods, the best first."""

    training: TrainingTable
    estimates: list[Estimate] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)  # of one fit
    failures: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def conclusion(self) -> str:
        """What the estimates tell, in one sentence."""
        if not self.estimates:
            return "No method could be fitted."
        best, *others = self.estimates
        near = [one.name for one in others if one.error <= best.interval[1]]
        if not near:
            return f"{best.name} is best."
        return (
            f"{best.name} made the fewest mistakes; {len(near)} of {len(others)} others are within its interval, and "
            "more labels would be needed to tell them apart."
        )


def compare(request: CompareRequest, display: ProgressDisplay) -> CompareResult:
    """Hold out the labeled rows in five folds, and count what every method gets wrong."""
    names = list(dict.fromkeys(short_name(find_method(name).__name__) for name in request.methods or METHODS))
    training = read_target(request.table, display)
    check_classes(training.target, training.labels.given, training.table.n_rows)
    given = training.labels.given
    smallest = min(given.values())
    if given.total() < FEW_LABELS or smallest < 2:
        raise InputError(
            f"the target {training.target!r} has {given.total()} labels, {smallest} of its rarest class; methods are "
            f"compared on held-out rows, which takes {FEW_LABELS} labels or more and 2 of every class: label more rows."
        )
    with collected_warnings(training, display):
        add_features(training, display)
    n_folds = min(N_FOLDS, smallest)
    result = CompareResult(training)
    for number, name in enumerate(names):
        display.begin(f"{name}, {number + 1} of {len(names)}", n_folds)
        has_balance = "balance" in find_method(name)().get_params(deep=False)
        options = MethodOptions(name, request.balance if has_balance else None, request.seed)
        start = time.perf_counter()
        try:
            wrong = _mistakes(training, options, display, n_folds)
        except (ValueError, MemoryError) as error:
            result.failures[name] = " ".join(str(error).split())
            continue
        result.seconds[name] = (time.perf_counter() - start) / n_folds
        result.estimates.append(Estimate(name, float(wrong.sum()), given.total()))
    result.estimates.sort(key=lambda one: one.n_wrong)
    result.notes = training.notes
    return result


def _mistakes(training: TrainingTable, options: MethodOptions, display: ProgressDisplay, n_folds: int) -> np.ndarray:
    estimator: Any = new_estimator(options, sorted(training.labels.given), display)
    with display.iterations():
        return held_out_mistakes(training, estimator, n_folds, display, with_supervised=False)[0]
