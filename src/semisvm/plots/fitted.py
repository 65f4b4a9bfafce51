"""What displays take from a fitted classifier and its samples: scores, given labels, the margin."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._validation import encode_labels_of
from ..estimators.base import BaseSVM
from ..self_training import HelpTraining, SelfTraining
from .axes import require_matplotlib


def check_fitted(model: Any, display: str, *methods: str) -> None:
    """Refuse what is not fitted or has none of the methods that a display calls, and a missing matplotlib."""
    require_matplotlib(display)
    if isinstance(model, type):
        raise ValueError(f"{model.__name__} is a class; {display} takes a fitted estimator, as SVM().fit(X, y).")
    check_is_fitted(model)
    for method in methods:
        if not hasattr(model, method):
            raise ValueError(
                f"{type(model).__name__} has no {method}, which {display} draws; pass a classifier that has one, such "
                "as SVM or SemiSVM."
            )


def check_finite(X: Any) -> None:
    """Refuse NaN and infinity; what holds no numbers, as texts for a pipeline, passes."""
    if sparse.issparse(X):
        is_bad = np.zeros(X.shape[0], dtype=bool)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.tocsr().indptr))
        is_bad[rows[~np.isfinite(X.tocsr().data)]] = True
    else:
        values = np.asarray(X)
        if values.dtype.kind != "f":
            return
        is_bad = ~np.isfinite(values).reshape(len(values), -1).all(axis=1)
    if is_bad.any():
        raise ValueError(
            f"X holds NaN or infinity in {np.count_nonzero(is_bad)} of {len(is_bad)} samples; only finite numbers can "
            "be drawn. Drop or impute these samples."
        )


def decision_scores(model: Any, X: Any) -> np.ndarray:
    """The decision function as a column for two classes, else a column per class."""
    check_finite(X)
    scores = np.asarray(model.decision_function(X), dtype=float)
    scores = scores.reshape(len(scores), -1)
    if scores.shape[1] not in (1, len(model.classes_)):
        raise ValueError(
            f"decision_function of {type(model).__name__} has {scores.shape[1]} columns for {len(model.classes_)} "
            "classes; one per class is needed, as with decision_function_shape='ovr' in scikit-learn."
        )
    return scores


def score_confidence(scores: np.ndarray) -> np.ndarray:
    """Confidence in the predicted class: abs(f), or the difference of the two largest scores."""
    if scores.shape[1] == 1:
        return np.abs(scores[:, 0])
    two = np.partition(scores, -2, axis=1)[:, -2:]
    return two[:, 1] - two[:, 0]


def class_codes(model: Any, n_samples: int, y: Any) -> np.ndarray:
    """Positions of given labels in ``classes_``, -1 at samples that the estimator takes as unlabeled."""
    labels = encode_labels_of(n_samples, y, unlabeled_marker(model))
    unknown = labels.classes[~np.isin(labels.classes, model.classes_)]
    if len(unknown):
        raise ValueError(
            f"y has the class {unknown[0]!s}, which the estimator has not seen; its classes are "
            f"{', '.join(map(str, model.classes_))}. Pass labels of these, or mark other samples as unlabeled."
        )
    return np.where(labels.is_labeled, np.searchsorted(model.classes_, labels.classes)[labels.codes], -1)


def check_some_unlabeled(codes: np.ndarray, model: Any, instead: str) -> None:
    """Refuse labels of all samples."""
    if (codes >= 0).all():
        marker = unlabeled_marker(model)
        kinds = "None or NaN" if marker is None else f"{marker!r}, None or NaN"
        raise ValueError(
            f"y has a label for each of {len(codes)} samples; samples without one, marked by {kinds}, are drawn too. "
            f"Pass the y of fit{instead}."
        )


def unlabeled_marker(model: Any) -> Any:
    """The value that marks unlabeled samples for an estimator, -1 for those of other packages."""
    return getattr(final_model(model), "unlabeled", -1)


def final_model(model: Any) -> Any:
    """The last step of a pipeline, the best estimator of a search, or the model itself."""
    if hasattr(model, "steps"):
        return final_model(model.steps[-1][1])
    return final_model(model.best_estimator_) if hasattr(model, "best_estimator_") else model


def score_margin(model: Any) -> float | None:
    """Where the margin ends: abs(f) = 1, or a difference of 2 of scores one-vs-rest; None for scores without one.

    Averaged scores and probabilities have none. One-vs-rest the difference is 2 if a sample is on the margin of the
    winning class and on that of the next one.
    """
    last = final_model(model)
    if isinstance(last, SelfTraining | HelpTraining) and hasattr(last, "estimator_"):
        return score_margin(last.estimator_)
    if not isinstance(last, BaseSVM):
        return None
    if len(last.classes_) == 2:
        return 1.0
    return 2.0 if last.multiclass == "ovr" else None
