"""Fill the unlabeled cells of a target on a Dask cluster, partition by partition, from Parquet to Parquet.

The labels are here, a code for each row; the rows stay in their files. Columns are recognized, and the transformers of
their features fitted, in a sample; workers make the features of every partition, fill its target and write it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..parallel.execution import held_by_cluster
from ..tables.files import FORMATS, STANDARD_STREAM
from ..tables.target import unused_name
from . import InputError
from .cluster_fitting import check_cluster_method, evaluate_in_sample, fit_on_cluster, open_checkpoint
from .cluster_reading import PartitionedTraining, add_sample, open_table, read_partitions
from .clusters import open_cluster, run_tasks
from .confidence import ConfidenceSummary
from .labeling import LabelRequest, LabelResult
from .partition_tasks import PartitionCounts, PartitionWriter, without_samples, write_partition
from .progress import ProgressDisplay
from .training import collected_warnings
from .writing import atomic_folder, check_output_folder


@dataclass
class ClusterLabelResult(LabelResult):
    """What was filled and written, counted by the workers."""

    counts: PartitionCounts = field(default_factory=PartitionCounts)

    @cached_property
    def confidences(self) -> ConfidenceSummary:
        """What the report says about the confidences."""
        return self.counts.confidences.summary()


def label_on_cluster(request: LabelRequest, display: ProgressDisplay) -> ClusterLabelResult:
    """Fill the unlabeled cells of a column and write the table."""
    cluster = request.cluster
    assert cluster is not None
    check_cluster_method(request.model.method)
    display.begin("reading")
    whole, position = open_table(request.table)
    output = _output_folder(request)
    with open_checkpoint(cluster.checkpoint, request, whole) as checkpoint, open_cluster(cluster, display) as client:
        found = cluster.describe(client)
        display.say([", ".join(f"{name}: {value}" for name, value in found.items() if value is not None)])
        training = read_partitions(request.table, whole, position, client, display)
        result = ClusterLabelResult(output, training, cluster=found)
        name, note = unused_name(f"{training.target}_confidence", whole.schema.names)
        writer = PartitionWriter(training.target, name, training.by_cell, training.classes)
        if not training.codes.all():
            add_sample(training, request.model.seed, client, display)
            result.estimator = fit_on_cluster(training, request.model, client, checkpoint, display)
            result.evaluation = evaluate_in_sample(training, result.estimator, display)
            writer = _with_model(writer, training, result.estimator, display)
        _write(result, writer, training, request.force, client, display)
    result.notes = [*training.notes, *note, *_unread_notes(result, training)]
    return result


def _output_folder(request: LabelRequest) -> Path:
    """The folder to write, by default beside the input; refused if it cannot be written."""
    source, requested = request.table.source, request.output
    if requested == STANDARD_STREAM:
        raise InputError("a cluster writes a folder of Parquet files, not standard output; pass its name with -o.")
    if requested is None:
        stem = source.stem if source.suffix in FORMATS else source.name
        requested = source.with_name(f"{stem}.labeled.parquet")
    return check_output_folder(requested, source, request.force)


def _with_model(
    writer: PartitionWriter, training: PartitionedTraining, estimator: Any, display: ProgressDisplay
) -> PartitionWriter:
    """What a worker needs to fill a partition, computed once."""
    display.begin("computing probabilities")
    with collected_warnings(training, display):
        estimator.predict_proba(training.X[:1])
        supervised = without_samples(estimator.supervised_, has_probabilities=False)
    return replace(writer, features=training.features, model=without_samples(estimator), supervised=supervised)


def _write(
    result: ClusterLabelResult,
    writer: PartitionWriter,
    training: PartitionedTraining,
    force: bool,
    client: Any,
    display: ProgressDisplay,
) -> None:
    """Write all partitions into a folder, and count what was filled."""
    found = getattr(result.estimator, "transduction_", None)
    slices, partitions = training.slices(), training.whole.partitions
    held = held_by_cluster(client, writer)
    with atomic_folder(result.output, force) as folder:
        paths = [folder / f"part-{number:06d}.parquet" for number in range(len(partitions))]
        codes = [None if found is None else found[rows] for rows in slices]
        arguments = [(*each, held) for each in zip(partitions, codes, map(str, paths))]
        for counts in run_tasks(client, write_partition, arguments, "filling and writing", display):
            result.counts.add(counts)
        _check_written(folder, [(path, one.n_rows) for path, one in zip(paths, partitions)])
    result.filled = result.counts.filled
    if result.estimator is not None:
        result.n_different = result.counts.n_different


def _check_written(folder: Path, wanted: list[tuple[Path, int]]) -> None:
    """Refuse a folder in which a row is missing, and remove what lost workers have left there."""
    for path, n_rows in wanted:
        try:
            n_written = pq.read_metadata(path).num_rows
        except (OSError, pa.ArrowException):
            n_written = 0
        if n_written != n_rows:
            raise InputError(
                f"{n_written:,} of {n_rows:,} rows of {path.name} are in the output; choose a folder that is the same "
                "on all computers of the cluster with -o."
            )
    for path in set(folder.iterdir()) - {path for path, _ in wanted}:
        path.unlink()


def _unread_notes(result: ClusterLabelResult, training: PartitionedTraining) -> list[str]:
    """Cells that are not of the kind of their column, where the sample had none."""
    kinds = {column.name: column.kind for column in training.columns if not column.note}
    return [
        f"{name}: {n:,} of {training.n_rows:,} cells are no {kinds[name]}s; taken as missing"
        for name, n in result.counts.n_unread.items()
        if name in kinds
    ]
