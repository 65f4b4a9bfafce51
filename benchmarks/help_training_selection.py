"""What does Help-Training lose if its parameters are selected with few labels instead of all of them?

Tables 2 and 3 of Adankon and Cheriet (5.2 and 5.3 of the thesis): HelpTraining around LSSVM and SVM on Gaus50 (50 of
550 training samples labeled, all drawn anew every time) and Text (144 of 1,446), 1,000 and 500 test samples. C and
gamma, which is also that of the Parzen windows, are those of

all labels      supervised cross-validation on the training samples with all labels: the article's baseline
held-out        Help-Training itself, trained on four fifths of the labeled and on all unlabeled samples: the smooth
                empirical error of the labeled samples that are held out (equation 33 of the article)
supervised      the same criterion of the supervised model of the labeled samples, by gradient (GradientSearchCV)
best            the cell that is best on the test samples: what no selection can beat on this grid

Measured: test error in percent, mean over draws, and the difference to the baseline draw by draw.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import product

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from data import folder
from semisvm import LSSVM, SVM, HelpTraining
from semisvm.bench import DataFolder, Setup
from semisvm.bench.tables.adankon_s2ls import partition
from semisvm.model_selection import EmpiricalError, GradientSearchCV, LabeledKFold, make_labeled_scorer
from semisvm.spaces.bandwidth import median_squared_distance
from timing import show, write

SETUP = Setup(DataFolder(folder()))
MODELS = {"SVM": SVM, "LS-SVM": LSSVM}
LABELS = {"gaus50": 50, "text": 144}
# mean of the baseline and of the article's selection
PUBLISHED = {
    ("gaus50", "SVM"): (6.37, 6.73),
    ("gaus50", "LS-SVM"): (5.87, 5.93),
    ("text", "SVM"): (3.76, 3.90),
    ("text", "LS-SVM"): (4.86, 3.80),
}
FACTORS, COSTS = (0.0625, 0.25, 1.0, 4.0), (0.1, 1.0, 10.0, 100.0)  # gamma times the median squared distance, and C
MARGIN = 0.7  # points above our own baseline that were aimed at


def empirical_error(y: np.ndarray, f: np.ndarray, slope: float = 3.0) -> float:
    """Mean |t - p| of classes 1 and 2 with scores f; the article fixes the slope (A) and does not print it."""
    return float(np.mean(expit(-slope * (2.0 * y - 3.0) * f)))


def selected(model, grid: dict, slope: float, cv, X, y: np.ndarray, prefix: str = "") -> dict:
    """The cell of the grid with the smallest held-out empirical error, named without the prefix."""
    response = {"response_method": "decision_function", "greater_is_better": False}
    scorer = make_labeled_scorer(empirical_error, slope=slope, **response)
    named = {prefix + key: values for key, values in grid.items()}
    search = GridSearchCV(model, named, scoring=scorer, cv=cv, refit=False, error_score="raise").fit(X, y)
    return {key.removeprefix(prefix): float(value) for key, value in search.best_params_.items()}


def by_gradient(inner, grid: dict, slope: float, X, shown: np.ndarray) -> dict:
    """What the supervised model of the labeled samples selects within the bounds of the grid."""
    bounds = {key: (min(values), max(values)) for key, values in grid.items()}
    search = GradientSearchCV(inner, EmpiricalError(5, slope=slope), bounds=bounds, refit=False)
    return search.fit(X[shown > 0], shown[shown > 0]).best_params_


def draw_errors(name: str, kind: str, draw: int, slope: float) -> tuple[dict[str, float], dict[str, dict]]:
    """Test errors of every selection in one draw, and what was selected."""
    data = partition(name, LABELS[name], SETUP, draw)
    X, y, shown = data.X, data.y, data.shown
    median = median_squared_distance(X, np.ones(len(y)), 500)
    grid = {"gamma": [factor / median for factor in FACTORS], "C": list(COSTS)}
    inner = MODELS[kind](gamma=1 / median)
    folds = {"shuffle": True, "random_state": draw}
    cells = {
        "all labels": selected(inner, grid, slope, StratifiedKFold(5, **folds), X, y),
        "held-out": selected(HelpTraining(inner), grid, slope, LabeledKFold(5, **folds), X, shown, "estimator__"),
        "supervised": by_gradient(inner, grid, slope, X, shown),
    }

    def error_of(cell: dict) -> float:
        return data.error(HelpTraining(clone(inner).set_params(**cell)))

    every = [error_of(dict(zip(grid, cell))) for cell in product(*grid.values())]
    return {key: error_of(cell) for key, cell in cells.items()} | {"best": min(every)}, cells


def summary(name: str, kind: str, measured: list[dict[str, float]]) -> dict:
    """Means over the draws, and how far held-out labels are from all of them."""
    means = {key: float(np.mean([one[key] for one in measured])) for key in measured[0]}
    gap = np.array([one["held-out"] - one["all labels"] for one in measured])
    row = {"set": name, "model": kind} | {f"{key} %": means[key] for key in measured[0] if key != "seconds"}
    row |= {"difference": gap.mean(), "largest": gap.max(), "within": "yes" if gap.mean() <= MARGIN else "no"}
    row |= dict(zip(("its baseline", "its selection"), PUBLISHED[name, kind]))
    return row | {"seconds": means["seconds"]}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--draws", type=int, default=10)
    options.add_argument("--first", type=int, default=0, help="the first draw")
    options.add_argument("--sets", nargs="+", choices=LABELS, default=list(LABELS))
    options.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    options.add_argument("--slope", type=float, default=3.0, help="of the sigmoid in the empirical error")
    args = options.parse_args()
    warnings.filterwarnings("ignore", message="HelpTraining: the model puts all")  # bad cells of the grid do
    found: dict[tuple[str, str], list[dict[str, float]]] = {key: [] for key in product(args.sets, args.models)}
    for draw, (name, kind) in product(range(args.first, args.first + args.draws), found):
        start = time.perf_counter()
        errors, cells = draw_errors(name, kind, draw, args.slope)
        found[name, kind].append(errors | {"seconds": time.perf_counter() - start})
        chosen = ", ".join(f"{key} gamma {cell['gamma']:.3g} C {cell['C']:.3g}" for key, cell in cells.items())
        print(f"{name} {kind} {draw}:", {key: round(value, 2) for key, value in errors.items()}, chosen, flush=True)
    rows = [summary(name, kind, measured) for (name, kind), measured in found.items()]
    print()
    show(rows)
    write("help_training_selection", rows, draws=args.draws, first=args.first, slope=args.slope)


if __name__ == "__main__":
    main()
