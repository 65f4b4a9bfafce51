"""Fit a model to a table in partitions, on a cluster, and check it on the labeled rows of a sample."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from .. import parallel
from ..tables.partitions import PartitionedTable
from ..tables.target import Labels
from . import InputError
from .cluster_reading import PartitionedTraining
from .evaluation import Evaluation, evaluate
from .labeling import LabelRequest
from .methods import find_method, short_name
from .partition_tasks import read_features
from .progress import ProgressDisplay
from .training import MethodOptions, collected_warnings, new_estimator

CLUSTER_METHODS = ("MultiSwitchTSVM", "AnnealingTSVM", "GradientTSVM", "ContinuationTSVM")  # with a linear kernel
DEFAULT_METHOD = "multi-switch"
FINGERPRINT = "table.json"  # of the checkpoint: what it belongs to


def check_cluster_method(name: str) -> None:
    """Refuse a method that needs all samples in the memory of one computer."""
    if find_method(name).__name__ not in CLUSTER_METHODS:
        allowed = ", ".join(map(short_name, CLUSTER_METHODS))
        raise InputError(
            f"--method {name} needs the whole table in memory; with --cluster pass one of {allowed}, or leave out "
            "--cluster."
        )


def fit_on_cluster(
    training: PartitionedTraining,
    options: MethodOptions,
    client: Any,
    checkpoint: Path | None,
    display: ProgressDisplay,
) -> Any:
    """An estimator fitted to all rows; its classes are 1, 2, ... in the order of those of the table."""
    classes = training.classes
    estimator = new_estimator(options, classes, display).set_params(kernel="linear")
    balance = estimator.balance
    coded = {classes.index(c) + 1: share for c, share in balance.items()} if isinstance(balance, dict) else balance
    estimator.set_params(unlabeled=0, balance=coded)
    n_notes = len(training.notes)
    with collected_warnings(training, display):
        display.begin("fitting")
        try:
            with display.following(estimator):
                parallel.fit(estimator, _features(training), training.codes, client=client, checkpoint=checkpoint)
        except ValueError as error:
            raise InputError(_with_names(str(error), classes)) from error
    training.notes[n_notes:] = [_with_names(note, classes) for note in training.notes[n_notes:]]
    return estimator.set_params(unlabeled=None, balance=balance)


def _features(training: PartitionedTraining) -> Any:
    """X as a dask array, a chunk for each partition, made where it is read."""
    import dask
    import dask.array as da

    features = dask.delayed(training.features, pure=False, traverse=False)
    read = dask.delayed(read_features, pure=False)
    d = training.X.shape[1]
    chunks = [
        da.from_delayed(read(dask.delayed(one, traverse=False), features), (one.n_rows, d), float)
        for one in training.whole.partitions
    ]
    return da.concatenate(chunks)


def _with_names(message: str, classes: list[Any]) -> str:
    """A message about classes with their names in place of their codes."""
    return re.sub(r"\bthe class (\d+)\b", lambda found: f"the class {classes[int(found[1]) - 1]!r}", message)


def evaluate_in_sample(training: PartitionedTraining, estimator: Any, display: ProgressDisplay) -> Evaluation | None:
    """Held-out errors of fits to the sample, by the parameters of the estimator."""
    labels = training.labels
    shown = [value for value in labels.values if value is not None]
    of_sample = {c: shown.count(c) for c in labels.given}
    sample = replace(training, labels=Labels(labels.values, type(labels.given)(of_sample)))
    return evaluate(sample, estimator, display)


@contextmanager
def open_checkpoint(folder: Path | None, request: LabelRequest, whole: PartitionedTable) -> Iterator[Path | None]:
    """The folder of a fit to resume, refused if it belongs to another table or other options; emptied at the end."""
    if folder is None:
        yield None
        return
    wanted = _fingerprint(request, whole)
    path = folder / FINGERPRINT
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not any(folder.iterdir()):
            path.write_text(json.dumps(wanted))
        found = json.loads(path.read_text()) if path.exists() else None
    except (OSError, ValueError) as error:
        raise InputError(f"the checkpoint {folder} cannot be used ({error}); pass another folder.") from None
    if found != wanted:
        raise InputError(
            f"the checkpoint {folder} belongs to another table or other options, or is no checkpoint; pass the same "
            "table and options, or another folder."
        )
    yield folder
    path.unlink(missing_ok=True)


def _fingerprint(request: LabelRequest, whole: PartitionedTable) -> dict[str, str]:
    """Hashes of the files of a table and of the options that a fit depends on."""
    files = sorted({one.path for one in whole.partitions})
    stamps = [(path, (found := os.stat(path)).st_size, found.st_mtime_ns) for path in files]
    options = asdict(request.table), asdict(request.model)
    return {
        name: hashlib.blake2b(repr(value).encode(), digest_size=16).hexdigest()
        for name, value in (("files", stamps), ("options", options))
    }
