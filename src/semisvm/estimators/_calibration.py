"""The slope of an estimator's probabilities, from held-out scores of its labeled samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._validation import KeptSamples, warn_user
from ..model_selection.splits import folds_of_distinct_samples
from ..multiclass import fit_slope, pairs
from .problems import BinaryProblems, ProblemSettings, prepare

N_FOLDS = 5


class LazySlope:
    """A slope that is computed when it is asked for, or when the estimator is saved.

    What the computation needs, samples included, is kept until then; saving or copying the estimator computes the slope
    first, so that a saved one holds the slope and not the samples.
    """

    def __init__(self, compute: Callable[..., float]):
        self._compute: Callable[..., float] | None = compute
        self._value: float | None = None

    def compute(self, *at_hand: Any) -> float:
        """The slope, computed at the first call from what is kept and what is still at hand of the fit."""
        if self._value is None:
            assert self._compute is not None, "there is a value or a way to compute it"
            self._value, self._compute = self._compute(*at_hand), None
        return self._value

    def __getstate__(self) -> dict[str, Any]:
        return {"_value": self.compute(), "_compute": None}


def calibrate(
    settings: ProblemSettings,
    classes: np.ndarray,
    samples: KeptSamples,
    codes: np.ndarray,
    weights: np.ndarray,
    problems: BinaryProblems | None = None,
) -> float:
    """The slope from scores of labeled samples, held out fold by fold.

    ``settings`` hold C and gamma as numbers; ``problems`` are those of the fit, if they are still there.
    """
    X, n_classes = samples.get(), len(classes)
    groups = held_out_groups(X, codes, n_classes, settings.kernel.name == "precomputed", settings.name)
    if groups is None:
        return 1.0
    problems = problems or prepare(settings, classes, X, codes, weights)
    scores = problems.held_out_scores(codes, weights, groups)
    held = codes >= 0
    return fit_slope(*_score_columns(scores[held], codes[held], weights[held], n_classes, settings.multiclass))


def held_out_groups(X: Any, codes: np.ndarray, n_classes: int, precomputed: bool, name: str) -> list[np.ndarray] | None:
    """Labeled samples fold by fold; None, with a warning by the estimator of this name, if one has the only label."""
    contents = np.sort(X, axis=1) if precomputed else X  # kernel values of a sample, whatever their order
    folds = folds_of_distinct_samples(contents, codes, N_FOLDS)
    if any(len(np.unique(folds[codes == c])) < 2 for c in range(n_classes)):
        warn_user(
            f"{name}: a class has one labeled sample (not counting equal ones), which cannot be held "
            "out; the probabilities are 1/(1 + exp(-f)), not calibrated. Label two samples of each class or more."
        )
        return None
    return [np.flatnonzero(folds == fold) for fold in range(folds.max() + 1)]


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
