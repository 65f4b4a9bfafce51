"""Classifiers that are given to other estimators."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier


def check_classifier(estimator: Any) -> None:
    """Refuse what is not a classifier, or has scores of pairs of classes."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit") or not is_classifier(estimator):
        raise ValueError(f"estimator={estimator!r} is not allowed; estimator takes a classifier, as SVM().")
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    if getattr(last, "decision_function_shape", None) == "ovo":
        raise ValueError(
            f"estimator={estimator!r} has a decision_function with a column per pair of classes; use "
            "decision_function_shape='ovr'."
        )
