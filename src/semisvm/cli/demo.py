"""The report of ``semisvm demo``: errors with and without unlabeled samples, and two tables that are labeled."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from ..datasets import hide_labels, make_messages, make_two_gaussians
from ..ensemble import SemiSVM
from .labeling import LabelRequest, LabelResult, label
from .progress import ProgressDisplay
from .reporting import evaluation_lines
from .training import TableOptions

N_DRAWS = 3


class Example(NamedTuple):
    """A table whose labels are all known, of which some are shown."""

    file: str
    target: str
    names: list[str]
    rows: list[list[str]]
    truth: list[str]
    n_labeled: int


def error_table() -> list[str]:
    """Errors on unlabeled samples, as means over several random choices of the labeled ones."""
    X, y = load_digits(return_X_y=True)
    kept = np.isin(y, (3, 8))
    problems = {
        "two Gaussians, 50 features": (*make_two_gaussians(1000, random_state=0), 50),
        "handwritten 3 and 8": (X[kept] / 16.0, y[kept], 20),
    }
    lines = [f"Error on the unlabeled samples, mean over {N_DRAWS} random choices of the labeled ones", ""]
    lines += [f"{'data':28s}{'labeled':>9s}{'unlabeled':>11s}{'SVM':>9s}{'SemiSVM':>11s}"]
    for name, (X, y, n_labeled) in problems.items():
        errors = []
        for seed in range(N_DRAWS):
            partly_labeled = hide_labels(y, n_labeled, random_state=seed)
            hidden = partly_labeled == -1
            model = SemiSVM(random_state=seed).fit(X, partly_labeled)
            predictions = (model.supervised_.predict(X[hidden]), model.transduction_[hidden])
            errors.append([np.mean(labels != y[hidden]) for labels in predictions])
        supervised, semi_supervised = 100 * np.mean(errors, axis=0)
        lines += [f"{name:28s}{n_labeled:9d}{len(y) - n_labeled:11d}{supervised:8.1f}%{semi_supervised:10.1f}%"]
    return lines


def examples() -> list[Example]:
    """Cells of tumors with 25 diagnoses, and messages to a shop with 24 topics."""
    cells = load_breast_cancer()
    rows = [[f"{value:.5g}" for value in row] for row in cells.data]
    diagnoses = cells.target_names[cells.target].tolist()
    texts, topics = make_messages(300, random_state=0)
    return [
        Example("cells.csv", "diagnosis", [str(name) for name in cells.feature_names], rows, diagnoses, 25),
        Example("messages.csv", "topic", ["message"], [[text] for text in texts], topics.tolist(), 24),
    ]


def write_table(example: Example, path: Path) -> np.ndarray:
    """Write a table, and return which rows have a label."""
    shown = np.isin(
        np.arange(len(example.rows)), np.random.default_rng(0).permutation(len(example.rows))[: example.n_labeled]
    )
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow([*example.names, example.target])
        table.writerows([*row, c if is_shown else ""] for row, c, is_shown in zip(example.rows, example.truth, shown))
    return shown


def example_lines(example: Example, shown: np.ndarray, result: LabelResult) -> list[str]:
    """What the command found out, and how much of it is right."""
    hidden = np.flatnonzero(~shown)
    truth = np.array(example.truth)[hidden]
    X = result.training.X
    right = 100 * np.mean(np.array(result.labels) == truth)
    supervised = 100 * np.mean(result.estimator.supervised_.predict(X[hidden]) == truth)
    lines = ["", f"semisvm label {example.file} --target {example.target}    "
             f"({example.n_labeled} of {len(example.rows)} rows have a label)"]  # fmt: skip
    lines += ["", *evaluation_lines(result.evaluation)]
    lines += [f"Right in truth: {right:.1f} % of the filled rows, {supervised:.1f} % by the supervised model."]
    return [*lines, f"report: {result.report}"]


def demo_report(display: ProgressDisplay) -> list[str]:
    """The lines of ``semisvm demo``; its files stay in a temporary folder."""
    display.begin("supervised and semi-supervised models")
    lines = error_table()
    folder = Path(tempfile.mkdtemp(prefix="semisvm-demo-"))
    for example in examples():
        path = folder / example.file
        shown = write_table(example, path)
        result = label(LabelRequest(TableOptions(path, example.target)), display)
        lines += example_lines(example, shown, result)
    return lines
