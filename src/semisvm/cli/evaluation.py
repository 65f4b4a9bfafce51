"""Held-out errors of a model and of its supervised counterpart, with intervals, and a conclusion."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binomtest
from sklearn.base import clone

from ..ensemble.report import FEW_LABELS
from ..model_selection import LabeledKFold
from .progress import ProgressDisplay
from .training import TrainingTable

N_FOLDS = 5
LIKELY = 0.1  # two-sided p-value of the sign test, above which a difference may be chance


class Estimate(NamedTuple):
    """A model and how many of the labeled rows it got wrong while they were held out."""

    name: str
    n_wrong: float
    n: int

    @property
    def error(self) -> float:
        """The share of wrong rows."""
        return self.n_wrong / self.n

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of 95 %."""
        found = binomtest(round(self.n_wrong), self.n).proportion_ci(method="wilson")
        return float(found.low), float(found.high)


@dataclass(frozen=True)
class Evaluation:
    """Estimates, the best first, and what follows from them in one sentence."""

    estimates: list[Estimate]
    conclusion: str


def evaluate(training: TrainingTable, estimator: Any, display: ProgressDisplay) -> Evaluation | None:
    """Held-out errors of a fitted estimator and of its supervised counterpart; None if there are too few labels.

    The ensemble has them from its fit; for other methods the labeled rows are held out in five folds.
    """
    if hasattr(estimator, "report_"):
        return _from_report(estimator)
    n_labels, smallest = training.labels.given.total(), min(training.labels.given.values())
    if n_labels < FEW_LABELS or smallest < 2:
        reason = f"{n_labels} labels" if n_labels < FEW_LABELS else "a class of one label"
        return Evaluation([], f"Whether the unlabeled rows helped cannot be checked with {reason}.")
    n_folds = min(N_FOLDS, smallest)
    display.begin("checking on held-out rows", n_folds)
    wrong = held_out_mistakes(training, estimator, n_folds, display)
    name = type(estimator).__name__
    estimates = [Estimate(name, float(wrong[0].sum()), n_labels)]
    if len(wrong) == 1:
        return Evaluation(estimates, f"{name} uses the labeled rows alone.")
    estimates.append(Estimate("supervised", float(wrong[1].sum()), n_labels))
    return Evaluation(sorted(estimates, key=lambda one: one.n_wrong), _conclude(name, wrong))


def held_out_mistakes(
    training: TrainingTable, estimator: Any, n_folds: int, display: ProgressDisplay, with_supervised: bool = True
) -> np.ndarray:
    """Which labeled rows the estimator, and its supervised counterpart if there is one, get wrong when held out."""
    y, X = training.y, training.X
    labeled = np.flatnonzero([value is not None for value in y])
    wrong = np.zeros((2 if with_supervised and hasattr(estimator, "supervised_") else 1, len(y)), dtype=bool)
    folds = LabeledKFold(n_folds, shuffle=True, random_state=0, unlabeled=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the whole fit are shown
        for train, test in folds.split(X, y):
            shown = y.copy()
            shown[test] = None
            kept = np.union1d(train, test)
            model = clone(estimator).set_params(**_quiet(estimator)).fit(X[kept], shown[kept])
            models = [model, model.supervised_] if len(wrong) == 2 else [model]
            for row, one in zip(wrong, models):
                row[test] = one.predict(X[test]) != y[test]
            display.advance()
    return wrong[:, labeled]


def _quiet(estimator: Any) -> dict[str, int]:
    return {"verbose": 0} if "verbose" in estimator.get_params(deep=False) else {}


def _conclude(name: str, wrong: np.ndarray) -> str:
    gained, lost = int((wrong[1] & ~wrong[0]).sum()), int((wrong[0] & ~wrong[1]).sum())
    points = 100.0 * (gained - lost) / wrong.shape[1]
    if gained == lost:
        return f"{name} and the supervised model are equally often right on held-out rows."
    is_clear = binomtest(gained, gained + lost).pvalue < LIKELY
    said = f"held-out accuracy {points:+.1f} points"
    if not is_clear:
        return f"Too few labels to tell {name} from the supervised model ({said})."
    if gained > lost:
        return f"The unlabeled rows helped ({said})."
    return f"The unlabeled rows harmed ({said}); use --method svm, or --method semi, which chooses."


def _from_report(estimator: Any) -> Evaluation:
    report = estimator.report_
    named = [("supervised SVM", report.supervised_error), ("average of separators", report.average_error)]
    estimates = [Estimate(name, error * report.n_labels, report.n_labels) for name, error in named if error is not None]
    return Evaluation(sorted(estimates, key=lambda one: one.n_wrong), report.conclusion)
