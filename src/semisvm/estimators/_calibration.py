"""The slope of an estimator's probabilities, from scores of its labeled samples by models without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._validation import KeptSamples, warn_user
from ..model_selection.splits import equal_samples, folds_of_distinct_samples
from ..multiclass import fit_slope, pairs
from ..solution import Solution
from .problems import BinaryProblems, ProblemSettings, prepare

N_FOLDS = 5


class LazySlope:
    """A slope that is computed when it is asked for, or when the estimator is saved.

    What the computation needs, samples included, is kept until then; saving or copying the estimator computes the slope
    first, so that a saved one holds the slope and not the samples.
    """

    def __init__(self, compute: Callable[[], float]):
        self._compute: Callable[[], float] | None = compute
        self._value: float | None = None

    def compute(self) -> float:
        """The slope, computed at the first call from what is kept."""
        if self._value is None:
            assert self._compute is not None, "there is a value or a way to compute it"
            self._value, self._compute = self._compute(), None
        return self._value

    def __getstate__(self) -> dict[str, Any]:
        return {"_value": self.compute(), "_compute": None}


class CalibrationSet(NamedTuple):
    """Samples that are kept for a calibration, with positions of their classes (-1 for none) and weights."""

    samples: KeptSamples
    codes: np.ndarray
    weights: np.ndarray


def calibrate(
    settings: ProblemSettings,
    classes: np.ndarray,
    calibration: CalibrationSet,
    problems: BinaryProblems | None = None,
    solutions: Sequence[Solution] | None = None,
) -> float:
    """The slope from scores of labeled samples, each by a model without it.

    From the solutions of a supervised fit with a hinge, leaving out one sample after the other; else fold by fold.
    ``settings`` hold C and gamma as numbers; ``problems`` and ``solutions`` are those of the fit, if they are at hand.
    """
    X, codes, weights = calibration.samples.get(), calibration.codes, calibration.weights
    held, scores = codes >= 0, None
    if problems is not None and solutions is not None and problems.can_leave_one_out(codes, weights):
        equal = equal_samples(X, np.flatnonzero(held))
        if not _can_hold_out(equal, codes, len(classes), settings.name):
            return 1.0
        scores = problems.leave_one_out_scores(codes, weights, solutions, equal)
    if scores is None:
        groups = held_out_groups(X, codes, len(classes), settings.kernel.name == "precomputed", settings.name)
        if groups is None:
            return 1.0
        problems = problems or prepare(settings, classes, X, codes, weights)
        scores = problems.held_out_scores(codes, weights, groups, solutions)
    return fit_slope(*_score_columns(scores[held], codes[held], weights[held], len(classes), settings.multiclass))


def held_out_groups(X: Any, codes: np.ndarray, n_classes: int, precomputed: bool, name: str) -> list[np.ndarray] | None:
    """Labeled samples fold by fold; None, with a warning by the estimator of this name, if one has the only label."""
    contents = np.sort(X, axis=1) if precomputed else X  # kernel values of a sample, whatever their order
    folds = folds_of_distinct_samples(contents, codes, N_FOLDS)
    if not _can_hold_out(folds, codes, n_classes, name):
        return None
    return [np.flatnonzero(folds == fold) for fold in range(folds.max() + 1)]


def _can_hold_out(groups: np.ndarray, codes: np.ndarray, n_classes: int, name: str) -> bool:
    """Whether every class has samples of two groups; if not, the estimator of this name warns."""
    if all(len(np.unique(groups[codes == c])) > 1 for c in range(n_classes)):
        return True
    warn_user(
        f"{name}: a class has one labeled sample (not counting equal ones), which cannot be held "
        "out; the probabilities are 1/(1 + exp(-f)), not calibrated. Label two samples of each class or more."
    )
    return False


def _score_columns(
    scores: np.ndarray, truth: np.ndarray, weights: np.ndarray, n_classes: int, multiclass: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Held-out scores, true columns and weights as ``fit_slope`` takes them; pairs of classes one below the other."""
    if n_classes > 2 and multiclass == "ovr":
        return scores, truth, weights
    parts = []
    for column, (i, j) in enumerate(pairs(n_classes)):
        of_pair = (truth == i) | (truth == j)
        f = 0.5 * scores[of_pair, column]
        parts.append((np.column_stack([-f, f]), (truth[of_pair] == j).astype(int), weights[of_pair]))
    stacked_scores, stacked_truth, stacked_weights = (np.concatenate(part) for part in zip(*parts))
    return stacked_scores, stacked_truth, stacked_weights
