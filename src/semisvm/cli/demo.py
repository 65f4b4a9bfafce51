"""The report of ``semisvm demo``: errors with and without unlabeled samples, and two tables that are labeled."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from ..datasets import hide_labels, make_messages, make_two_gaussians
from ..ensemble import SemiSVM
from .json_output import label_content
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


class Errors(NamedTuple):
    """Errors on unlabeled samples, as means over several random choices of the labeled ones."""

    data: str
    n_labeled: int
    n_unlabeled: int
    supervised: float
    semi_supervised: float


class LabeledExample(NamedTuple):
    """A table that was labeled, and how much of it is right."""

    example: Example
    result: LabelResult
    accuracy: float
    supervised_accuracy: float


class DemoResult(NamedTuple):
    """What ``semisvm demo`` found."""

    errors: list[Errors]
    examples: list[LabeledExample]


def measure_errors() -> list[Errors]:
    """The SVM of the labeled samples and the default estimator on two sets."""
    X, y = load_digits(return_X_y=True)
    kept = np.isin(y, (3, 8))
    problems = {
        "two Gaussians, 50 features": (*make_two_gaussians(1000, random_state=0), 50),
        "handwritten 3 and 8": (X[kept] / 16.0, y[kept], 20),
    }
    found = []
    for name, (X, y, n_labeled) in problems.items():
        errors = []
        for seed in range(N_DRAWS):
            partly_labeled = hide_labels(y, n_labeled, random_state=seed)
            hidden = partly_labeled == -1
            model = SemiSVM(random_state=seed).fit(X, partly_labeled)
            predictions = (model.supervised_.predict(X[hidden]), model.transduction_[hidden])
            errors.append([np.mean(labels != y[hidden]) for labels in predictions])
        found.append(Errors(name, n_labeled, len(y) - n_labeled, *map(float, np.mean(errors, axis=0))))
    return found


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


def check_example(example: Example, shown: np.ndarray, result: LabelResult) -> LabeledExample:
    """How much of what was filled is right."""
    hidden = np.flatnonzero(~shown)
    truth = np.array(example.truth)[hidden]
    supervised = result.estimator.supervised_.predict(result.training.X[hidden])
    right = np.array(result.labels) == truth
    return LabeledExample(example, result, float(np.mean(right)), float(np.mean(supervised == truth)))


def run_demo(display: ProgressDisplay) -> DemoResult:
    """Measure errors and label two tables, whose files stay in a temporary folder."""
    display.begin("supervised and semi-supervised models")
    demo = DemoResult(measure_errors(), [])
    folder = Path(tempfile.mkdtemp(prefix="semisvm-demo-"))
    for example in examples():
        path = folder / example.file
        shown = write_table(example, path)
        result = label(LabelRequest(TableOptions(path, example.target)), display)
        demo.examples.append(check_example(example, shown, result))
    return demo


def demo_lines(demo: DemoResult) -> list[str]:
    """The lines of ``semisvm demo``."""
    lines = [f"Error on the unlabeled samples, mean over {N_DRAWS} random choices of the labeled ones", ""]
    lines += [f"{'data':28s}{'labeled':>9s}{'unlabeled':>11s}{'SVM':>9s}{'SemiSVM':>11s}"]
    lines += [f"{one.data:28s}{one.n_labeled:9d}{one.n_unlabeled:11d}"
              f"{100 * one.supervised:8.1f}%{100 * one.semi_supervised:10.1f}%" for one in demo.errors]  # fmt: skip
    for one in demo.examples:
        example = one.example
        lines += ["", f"semisvm label {example.file} --target {example.target}    "
                  f"({example.n_labeled} of {len(example.rows)} rows have a label)"]  # fmt: skip
        lines += ["", *evaluation_lines(one.result.evaluation)]
        lines += [f"Right in truth: {100 * one.accuracy:.1f} % of the filled rows, "
                  f"{100 * one.supervised_accuracy:.1f} % by the supervised model."]  # fmt: skip
        lines += [f"report: {one.result.report}"]
    return lines


def demo_content(demo: DemoResult) -> dict[str, Any]:
    """The same for ``--json``."""
    tables = [
        label_content(one.result) | {"accuracy": one.accuracy, "supervised_accuracy": one.supervised_accuracy}
        for one in demo.examples
    ]
    return {"errors": [one._asdict() for one in demo.errors], "tables": tables}
