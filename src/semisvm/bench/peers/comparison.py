"""Peers beside ours: every case, formulation by formulation, one process at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ...datasets import hide_labels, make_two_gaussians
from ..data import UNLABELED, DataFolder
from .base import LINEAR, Case, Peer, PeerFailure
from .estimators import ESTIMATORS, OURS
from .formulations import FORMULATIONS

N_LABELED, N_TEST = 50, 1000
HEAD = ("case", "method", "program", "seconds", "CPU s", "objective", "error %", "peak MiB")


@dataclass(frozen=True)
class Row:
    """A method on a case: its cost, the recomputed objective, and the percent of wrong test samples."""

    case: str
    formulation: str
    method: str
    program: str
    seconds: float | None = None
    cpu_seconds: float | None = None
    objective: float | None = None
    error: float | None = None
    peak_mib: float | None = None
    failure: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The fields that are not empty."""
        return {key: value for key, value in asdict(self).items() if value not in (None, "")}


def two_gaussians(n_unlabeled: int) -> Case:
    """Two Gaussians in 50 dimensions, 50 labels; the Bayes error is 5.2 %."""
    n_unlabeled += n_unlabeled % 2  # classes of equal size
    n = N_LABELED + n_unlabeled
    X, y = make_two_gaussians(n, random_state=0)
    X_test, y_test = make_two_gaussians(N_TEST, random_state=1)
    shown = hide_labels(y, N_LABELED, random_state=0)
    signs = np.where(shown == UNLABELED, 0.0, 2.0 * y - 3.0)
    return Case(f"two Gaussians, u = {n_unlabeled}", X, signs, 2.0 * y - 3.0, X_test, 2.0 * y_test - 3.0)


def text(data: DataFolder) -> Case:
    """The set Text with the labels of its first split, C = 10; every fourth of the other samples is held out."""
    _, X, y, splits = data.load("text")
    y, X = 2.0 * y - 3.0, X.astype(float).tocsr()
    labeled = splits[0].labeled
    others = np.setdiff1d(np.arange(len(y)), labeled)
    test = others[::4]
    train = np.setdiff1d(np.arange(len(y)), test)
    signs = np.where(np.isin(train, labeled), y[train], 0.0)
    name = f"text, u = {len(others) - len(test)}"
    return Case(name, X[train], signs, y[train], X[test], y[test], C=10.0, kernels=(LINEAR,))


def cases(samples: Sequence[int], data: DataFolder) -> Iterator[Case]:
    """The generated cases, and Text if it is in the data folder."""
    yield from map(two_gaussians, samples)
    if data.has("text"):
        yield text(data)


def run_peer(peer: Peer, case: Case) -> Row:
    """Run a method in a temporary folder and recompute its objective; a failure becomes a row that says so."""
    row: dict[str, Any] = {"case": case.name, "formulation": peer.formulation.name}
    row |= {"method": peer.name, "program": peer.program}
    with TemporaryDirectory(prefix="semisvm-peers-") as folder:
        try:
            run = peer.run(case, Path(folder))
        except PeerFailure as failure:
            return Row(**row, failure=str(failure))
    row["error"] = 100.0 * float(np.mean((run.predictions > 0) != (case.y_test > 0)))
    if run.model is not None:
        row["objective"] = peer.formulation.objective(case, run.model)
    return Row(**row, **run.cost._asdict())


def compare_peers(
    peers: Sequence[Peer],
    all_cases: Iterator[Case],
    on_row: Callable[[str], None] = lambda line: None,
) -> list[Row]:
    """Run all methods, ours last in every formulation; ours alone are left out."""
    rows = []
    for case in all_cases:
        for formulation in FORMULATIONS:
            methods = [peer for peer in (*peers, *ESTIMATORS.values()) if peer.formulation == formulation]
            methods.sort(key=lambda peer: peer.program == OURS)
            if formulation.kernel not in case.kernels or all(peer.program == OURS for peer in methods):
                continue
            for peer in methods:
                on_row(f"{case.name}: {peer.name}")
                rows.append(run_peer(peer, case))
    return rows


def table_lines(rows: Sequence[Row]) -> list[str]:
    """The rows as aligned columns, under the objective of each formulation."""
    texts = [HEAD, *(_texts(row) for row in rows)]
    widths = [max(len(row[i]) for row in texts) for i in range(len(HEAD))]
    lines = [_aligned(HEAD, widths)]
    last: tuple[str, str] | None = None
    minimizes = {one.name: one.minimizes for one in FORMULATIONS}
    for row, words in zip(rows, texts[1:]):
        if (row.case, row.formulation) != last:
            last = row.case, row.formulation
            lines += ["", f"{row.formulation}: {minimizes[row.formulation]}"]
        lines.append(_aligned(words, widths) if not row.failure else f"{row.case}  {row.method}: {row.failure}")
    return lines


def _texts(row: Row) -> tuple[str, ...]:
    numbers = [(row.seconds, ".3f"), (row.cpu_seconds, ".3f"), (row.objective, ".6g"), (row.error, ".2f")]
    numbers.append((row.peak_mib, ".0f"))
    texts = ("" if value is None else format(value, form) for value, form in numbers)
    return row.case, row.method, row.program, *texts


def _aligned(words: Sequence[str], widths: Sequence[int]) -> str:
    left = [word.ljust(width) for word, width in zip(words[:3], widths)]
    right = [word.rjust(width) for word, width in zip(words[3:], widths[3:])]
    return "  ".join([*left, *right]).rstrip()
