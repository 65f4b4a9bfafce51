"""The library on generated data: both machines side by side, then a small table as ``semisvm label`` fills it."""

from __future__ import annotations

import csv
import random
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from ..datasets import hide_labels, make_two_gaussians
from ..estimators import CCCPTSVM
from .labeling import Outcome, Request, label
from .progress import Stages

DRAWS = 5
TOPICS = {
    "billing": "invoice charged twice refund payment card amount month receipt bank account price plan paid fee",
    "technical": "screen crash error login password update install button page load slow device network restart app",
}
FILLER = "please the my i have since yesterday again cannot help with your and it is on for this not after"


def errors_side_by_side() -> list[str]:
    """A table of errors on unlabeled rows, mean of several draws of the labeled ones."""
    X, y = load_digits(return_X_y=True)
    kept = np.isin(y, (3, 8))
    problems = {
        "two Gaussians, 50 columns": (*make_two_gaussians(2000, random_state=0), 50),
        "handwritten 3 and 8": (X[kept] / 16.0, y[kept], 10),
    }
    lines = [f"Error on the unlabeled rows, mean of {DRAWS} draws of the labeled ones", ""]
    lines += [f"{'data':28s}{'labeled':>9s}{'unlabeled':>11s}{'SVM':>9s}{'CCCPTSVM':>11s}"]
    for name, (X, y, n_labeled) in problems.items():
        errors = []
        for seed in range(DRAWS):
            partly = hide_labels(y, n_labeled, random_state=seed)
            hidden = partly == -1
            machine = CCCPTSVM(C=1.0).fit(X, partly)
            found = (machine.supervised_.predict(X[hidden]), machine.transduction_[hidden])
            errors.append([np.mean(labels != y[hidden]) for labels in found])
        before, after = 100 * np.mean(errors, axis=0)
        lines += [f"{name:28s}{n_labeled:9d}{len(y) - n_labeled:11d}{before:8.1f}%{after:10.1f}%"]
    return lines


def write_tickets(path: Path, n_rows: int = 400, n_labeled: int = 20) -> list[str]:
    """Write made-up support tickets, most without a topic, and return the true topics.

    Parameters
    ----------
    path : Path
        Where to.
    n_rows : int, default=400
        Number of tickets.
    n_labeled : int, default=20
        How many of them, from the top, have their topic written.

    Returns
    -------
    list of str
    """
    draw = random.Random(0)
    topics = [("billing", "technical")[i % 2] for i in range(n_rows)]
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "message", "device", "minutes", "topic"])
        for i, topic in enumerate(topics):
            words = draw.sample(TOPICS[topic].split(), 3) + draw.sample(FILLER.split(), 5)
            draw.shuffle(words)
            device = draw.choice(("phone", "tablet", "laptop"))
            minutes = round(draw.gauss(9 if topic == "billing" else 14, 4), 1)
            table.writerow([1000 + i, " ".join(words), device, minutes, topic if i < n_labeled else ""])
    return topics


def label_tickets(folder: Path, stages: Stages) -> tuple[Outcome, list[str]]:
    """Label the tickets as ``semisvm label tickets.csv --target topic`` does; some rows as lines to show."""
    source = folder / "tickets.csv"
    truth = write_tickets(source)
    outcome = label(Request(source, "topic"), stages)
    with outcome.output.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    empty = [i for i, row in enumerate(rows) if row["topic_confidence"] != "1"]
    right = sum(rows[i]["topic"] == truth[i] for i in empty)
    lines = [f"{rows[i]['topic']:10s} {rows[i]['topic_confidence']}  {rows[i]['message']}" for i in empty[:5]]
    return outcome, [*lines, "", f"{right} of the {len(empty)} filled topics are right."]


def demo_report(stages: Stages) -> list[str]:
    """The lines of ``semisvm demo``."""
    stages("two machines on generated data")
    lines = errors_side_by_side()
    with tempfile.TemporaryDirectory(prefix="semisvm-demo-") as folder:
        outcome, shown = label_tickets(Path(folder), stages)
    given, filled = outcome.given.total(), outcome.filled.total()
    lines += [
        "",
        f"semisvm label tickets.csv --target topic    ({given} of {given + filled} made-up tickets labeled)",
        "",
    ]
    return [*lines, *shown, f"The supervised machine would fill {outcome.differs} of them differently."]
