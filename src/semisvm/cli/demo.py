"""The report of ``semisvm demo``: errors with and without unlabeled samples, and a table that is labeled."""

from __future__ import annotations

import csv
import random
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from ..datasets import hide_labels, make_two_gaussians
from ..ensemble import SemiSVM
from .labeling import LabelRequest, label
from .progress import ProgressDisplay
from .training import TableOptions

N_DRAWS = 3
N_TICKETS, N_LABELED = 400, 50
TOPICS = {
    "billing": "invoice charged twice refund payment card amount month receipt bank account price plan paid fee",
    "technical": "screen crash error login password update install button page load slow device network restart app",
}
FILLER = "please the my i have since yesterday again cannot help with your and it is on for this not after"


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


def write_tickets(path: Path) -> list[str]:
    """Write generated support tickets, only the first ones with their topic, and return the true topics."""
    rng = random.Random(0)
    topics = [("billing", "technical")[i % 2] for i in range(N_TICKETS)]
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "message", "device", "minutes", "topic"])
        for i, topic in enumerate(topics):
            words = rng.sample(TOPICS[topic].split(), 3) + rng.sample(FILLER.split(), 5)
            rng.shuffle(words)
            device = rng.choice(("phone", "tablet", "laptop"))
            minutes = round(rng.gauss(9 if topic == "billing" else 14, 4), 1)
            table.writerow([1000 + i, " ".join(words), device, minutes, topic if i < N_LABELED else ""])
    return topics


def demo_report(display: ProgressDisplay) -> list[str]:
    """The lines of ``semisvm demo``."""
    display.begin("supervised and semi-supervised models")
    lines = error_table()
    with tempfile.TemporaryDirectory(prefix="semisvm-demo-") as folder:
        source = Path(folder) / "tickets.csv"
        truth = write_tickets(source)
        result = label(LabelRequest(TableOptions(source, "topic")), display)
        with result.output.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    filled = [i for i, row in enumerate(rows) if row["topic_confidence"] != "1"]
    n_correct = sum(rows[i]["topic"] == truth[i] for i in filled)
    command = "semisvm label tickets.csv --target topic"
    lines += ["", f"{command}    ({N_LABELED} of {N_TICKETS} generated tickets labeled)", ""]
    lines += [f"{rows[i]['topic']:10s} {rows[i]['topic_confidence']}  {rows[i]['message']}" for i in filled[:5]]
    lines += ["", f"{n_correct} of the {len(filled)} filled topics are correct."]
    return [*lines, f"The supervised model would fill {result.n_different} of them differently."]
