"""Models that never saw some of the labels, the scores that they give to those samples, and their calibrators."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags

from .calibration_splits import CalibrationSet
from .calibrators import Calibrator, calibrated_probabilities, fit_calibrators
from .criteria.cv_splits import Split
from .scoring import of_samples


class FittedModel(NamedTuple):
    """A fitted classifier, and which samples it was fitted to if it takes kernel values with them."""

    estimator: Any
    columns: np.ndarray | None = None

    def scores(self, X: Any) -> np.ndarray:
        """Decision values, or probabilities where there are none: a column of two classes, else one per class."""
        if self.columns is not None:
            X = np.asarray(X)[:, self.columns]
        if hasattr(self.estimator, "decision_function"):
            found = np.asarray(self.estimator.decision_function(X), dtype=np.float64)
        else:
            found = np.asarray(self.estimator.predict_proba(X), dtype=np.float64)
            found = found[:, 1] if found.shape[1] == 2 else found
        return found[:, None] if found.ndim == 1 else found


class CalibratedModel(NamedTuple):
    """A fitted classifier with the calibrators of its scores."""

    model: FittedModel
    calibrators: list[Calibrator]

    @property
    def estimator(self) -> Any:
        """The fitted classifier."""
        return self.model.estimator

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes of new samples."""
        return calibrated_probabilities(self.calibrators, self.model.scores(X))


def fit_to(estimator: Any, data: CalibrationSet, codes: np.ndarray, samples: np.ndarray) -> FittedModel:
    """A clone of the estimator, fitted to some of the samples with these codes, -1 for unlabeled ones."""
    X, y, columns = data.X, data.marked_labels(codes[samples]), None
    if len(samples) < data.n_samples:
        X = _safe_indexing(X, samples)
        if get_tags(estimator).input_tags.pairwise:
            X, columns = np.asarray(X)[:, samples], samples
    params = {name: of_samples(value, samples, data.n_samples) for name, value in data.fit_params.items()}
    model = clone(estimator).fit(X, y, **params)
    if not np.array_equal(model.classes_, data.labels.classes):
        raise ValueError(
            f"{type(estimator).__name__} found the classes {model.classes_.tolist()} where y holds "
            f"{data.labels.classes.tolist()} and unlabeled={data.unlabeled!r}; use a classifier that takes unlabeled "
            "samples, such as SelfTraining(classifier), with the same marker, or leave the unlabeled samples out."
        )
    return FittedModel(model, columns)


def held_out_scores(estimator: Any, data: CalibrationSet, split: Split) -> tuple[FittedModel, np.ndarray, np.ndarray]:
    """A model without the labels of the samples held out, the labeled ones among these, and their scores.

    Held-out samples are unlabeled ones in training; if all samples have a label they are left out of it.
    """
    codes = data.given.codes.copy()
    codes[split.test] = -1
    all_labeled = data.labels.is_labeled[data.weights > 0].all()
    model = fit_to(estimator, data, codes, split.train if all_labeled else np.union1d(split.train, split.test))
    test = split.test[data.labels.is_labeled[split.test]]
    return model, test, model.scores(_safe_indexing(data.X, test))


def calibrate(
    method: str, model: FittedModel, data: CalibrationSet, samples: np.ndarray, scores: np.ndarray
) -> CalibratedModel:
    """A model with calibrators fitted to scores of held-out samples; one held out m times has 1/m of its weight."""
    codes = data.labels.codes[samples]
    missing = np.setdiff1d(np.arange(len(data.labels.classes)), codes)
    if len(missing):
        names = ", ".join(map(repr, data.labels.classes[missing].tolist()))
        raise ValueError(
            f"cv holds out no labeled sample of class {names}, and calibrators need every class (with ensemble=True in "
            "every split); use folds (cv=5), hold out more samples, or label more."
        )
    times = np.bincount(samples, minlength=data.n_samples)
    weights = data.weights[samples] / times[samples]
    return CalibratedModel(model, fit_calibrators(method, scores, codes, weights))
