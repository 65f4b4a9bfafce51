"""The directive ``choice-table`` and a picture beside it: which estimator to use, with what was measured of it.

Errors and harm are those of the table in ``choosing.md``, seconds those of ``results/methods-accuracy-time.jsonl``:
new measurements change the page, and nothing here has to be edited.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from semisvm.ensemble import ENSEMBLES
from semisvm.estimators import ESTIMATORS
from semisvm.self_training import WRAPPERS

PICTURE = "charts/harm_and_gain.svg"
CHOICES = {  # the first question that is answered by yes decides
    "You want an answer, and to be told whether the unlabeled samples helped": ["SemiSVM"],
    "Nearly every sample that matters has a label": ["SVM", "LSSVM", "RampSVM", "SparseLSSVM"],
    "You need a proof that no labels have a lower objective, or a bound": [
        "BranchBoundTSVM",
        "MixedIntegerTSVM",
        "SDPTSVM",
        "BayesianLSSVM",
    ],
    "You have a classifier of scikit-learn and want to keep it": ["SelfTraining", "HelpTraining"],
    "Sparse or linear data, many samples, and a loss is worse than a missed gain": ["MultiSwitchTSVM", "AnnealingTSVM"],
    "A kernel, up to some 20,000 samples, a roughly known share": ["CCCPTSVM"],
    "Two clustered classes of similar size": ["ContinuationTSVM"],
    "Dense features and many classes in one pass": ["GradientTSVM"],
    "Least squares: one factorization for all classes and restarts": ["DCLSSVM", "SwitchingLSSVM", "LocalSearchRLSC"],
    "No share is known at all": ["ProgressiveLSSVM"],
    "SVM-light's method, or a lower objective of it at any price": ["SwitchingTSVM", "GeneticTSVM"],
    "Few features shall be left": ["ConcaveLPTSVM"],
    "Losses, kernel, balance and solver of your own": ["S3VM"],
}


class Harm(NamedTuple):
    """A row of the table in ``choosing.md``: errors in percent, and the percentage of draws that are harmed."""

    supervised: float
    error: float
    harmed: float


def read_harm(folder: Path) -> dict[str, Harm]:
    """Errors and harm with the default share, by estimator."""
    rows = {}
    for line in (folder / "choosing.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip(" *`") for cell in line.strip("| ").split("|")]
        found = re.fullmatch(r"([\d.]+) \((\d+)\)", cells[4]) if len(cells) == 6 else None
        if found and cells[0] != "mean":
            rows[cells[0]] = Harm(float(cells[1]), float(found[1]), float(found[2]))
    if not rows:
        raise ValueError("docs/choosing.md has no row such as `CCCPTSVM` | 19.7 | ... | **18.5 (18)** | ...")
    return rows


def read_seconds(folder: Path) -> dict[str, float]:
    """Median seconds of a fit, by estimator."""
    seconds = defaultdict(list)
    for line in (folder / "results" / "methods-accuracy-time.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record.get("seconds") is not None:
            seconds[record["row"]].append(record["seconds"])
    return {name: median(values) for name, values in seconds.items()}


def table_lines(folder: Path) -> list[str]:
    """The questions, the estimators, and what was measured of each."""
    harm, seconds = read_harm(folder), read_seconds(folder)
    absent = (ESTIMATORS | WRAPPERS | ENSEMBLES).keys() - {name for names in CHOICES.values() for name in names}
    if absent:
        raise ValueError(f"docs/extensions/choice_tables.py has no question for {', '.join(sorted(absent))}")
    lines = ["| your case | estimator | error, % | harmed, % | seconds |", "|---|---|---|---|---|"]
    for question, names in CHOICES.items():
        for i, name in enumerate(names):
            row = harm.get(name)
            measured = f"{row.supervised} → {row.error} | {row.harmed:.0f}" if row else "- | -"
            time = f"{seconds[name]:.2g}" if name in seconds else "-"
            lines.append(f"| {question if i == 0 else ''} | {{py:class}}`~semisvm.{name}` | {measured} | {time} |")
    return lines


def place_names(points: dict[str, tuple[float, float]]) -> dict[str, tuple[str, tuple[float, float]]]:
    """Alignment and offset of the name of every point: above, right, below or left, where it covers nothing else.

    In units of a letter, of which the picture has about 80 by 25.
    """
    right, top = max(x for x, _ in points.values()) + 8, max(y for _, y in points.values()) + 0.1
    centers = {name: (80 * x / right, 25 * y / top) for name, (x, y) in points.items()}
    taken = [(x - 1, x + 1, y - 0.6, y + 0.6) for x, y in centers.values()]
    placed = {}
    for name, (x, y) in centers.items():
        n = len(name)
        options = {
            ("center", (0, 11)): (x - n / 2, x + n / 2, y + 0.7, y + 1.7),
            ("left", (7, 0)): (x + 1.1, x + 1.1 + n, y - 0.5, y + 0.5),
            ("center", (0, -11)): (x - n / 2, x + n / 2, y - 1.7, y - 0.7),
            ("right", (-7, 0)): (x - 1.1 - n, x - 1.1, y - 0.5, y + 0.5),
        }
        free = [key for key, box in options.items() if not any(_overlap(box, other) for other in taken)]
        placed[name] = (free or [*options])[0]
        taken.append(options[placed[name]])
    return placed


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def draw(folder: Path) -> None:
    """Draw gain against harm, a point per estimator."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    axes = figure.add_subplot()
    points = {name: (row.harmed, row.supervised - row.error) for name, row in read_harm(folder).items()}
    axes.plot(*zip(*points.values()), "o", color="#2a6f97", markersize=7)
    for name, (align, offset) in place_names(points).items():
        axes.annotate(name, points[name], offset, textcoords="offset points", fontsize=9, ha=align, va="center")
    axes.set(
        xlabel="draws that are worse than the supervised model by more than a point, %", ylabel="mean gain, points"
    )
    axes.axhline(0.0, color="0.6", linewidth=1)
    axes.set_xlim(left=0.0, right=max(x for x, _ in points.values()) + 8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.annotate("better", (0.02, 0.98), xycoords="axes fraction", va="top", color="0.45", fontstyle="italic")
    path = folder / PICTURE
    path.parent.mkdir(exist_ok=True)
    with matplotlib.rc_context({"svg.hashsalt": "semisvm", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure.savefig(path, metadata={"Date": None})


class ChoiceTable(SphinxDirective):
    """Questions and answers as a table."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        folder = Path(self.env.srcdir)
        for name in ("choosing.md", "results/methods-accuracy-time.jsonl"):
            self.env.note_dependency(str(folder / name))
        container = nodes.container(classes=["choices"])
        self.state.nested_parse(StringList(table_lines(folder), source=__file__), 0, container)
        return [container]


def setup(app: Any) -> dict[str, bool]:
    """Register the directive and draw the picture."""
    app.add_directive("choice-table", ChoiceTable)
    app.connect("builder-inited", lambda app: draw(Path(app.srcdir)))
    return {"parallel_read_safe": True}
