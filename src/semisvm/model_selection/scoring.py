"""Scores on the samples whose label is known."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer, make_scorer
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import get_routing_for_object

from .._validation import encode_labels


def make_labeled_scorer(score: str | Callable = "accuracy", *, unlabeled: Any = -1, **options: Any) -> LabeledScorer:
    """A scorer that leaves unlabeled samples out.

    For ``scoring`` in scikit-learn, wherever a test part may hold unlabeled samples, which other scorers count as a
    class of their own.

    Parameters
    ----------
    score : str or callable, default="accuracy"
        The name of a scorer of scikit-learn; a scorer, which is called with an estimator, X and y; or a metric, which
        is called with true labels and what is predicted. A function is a scorer if it has three arguments without a
        default, and a metric otherwise.
    unlabeled : object, default=-1
        Marker of samples without a label, as in the estimators.
    **options : object
        With a metric: what :func:`sklearn.metrics.make_scorer` takes, such as ``response_method="predict_proba"``,
        ``greater_is_better=False``, and arguments of the metric.

    Returns
    -------
    callable
        Called with an estimator, X, y and what else the scorer takes, such as ``sample_weight``; arrays of one value
        per sample are reduced to the labeled ones. ``set_score_request`` asks for metadata as scikit-learn's do.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics import get_scorer
    >>> from semisvm import SVM
    >>> from semisvm.model_selection import make_labeled_scorer
    >>> X, y = np.array([[0.0], [0.2], [0.9], [1.0]]), np.array(["a", "a", "b", ""])
    >>> model = SVM(100.0, kernel="linear").fit(X, y)
    >>> make_labeled_scorer("accuracy")(model, X, y), get_scorer("accuracy")(model, X, y)
    (1.0, 0.75)
    """
    if isinstance(score, str):
        scorer = get_scorer(score)
    elif not callable(score):
        raise ValueError(f"score={score!r} is not allowed; score takes the name of a scorer, a scorer or a metric.")
    elif _is_metric(score):
        return LabeledScorer(make_scorer(score, **options), unlabeled)
    else:
        scorer = score
    if options:
        raise ValueError(
            f"{', '.join(sorted(options))}: options are for metrics; {score!r} is a scorer, which has its own. Pass "
            "the metric or leave them out."
        )
    return LabeledScorer(scorer, unlabeled)


def _is_metric(score: Callable) -> bool:
    """Whether a callable takes true and predicted labels, and not an estimator, X and y."""
    if hasattr(score, "_score_func") or isinstance(score, LabeledScorer):
        return False
    needed = [p for p in inspect.signature(score).parameters.values() if p.default is p.empty]
    return len([p for p in needed if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]) < 3


class LabeledScorer:
    """A scorer on labeled samples alone; made by ``make_labeled_scorer``."""

    def __init__(self, scorer: Any, unlabeled: Any = -1):
        self._scorer = scorer
        self._unlabeled = unlabeled

    def __call__(self, estimator: Any, X: Any, y: Any, **metadata: Any) -> Any:
        """The score of the labeled samples."""
        labels = encode_labels(y, self._unlabeled)
        known = np.flatnonzero(labels.is_labeled)
        n = len(labels.codes)
        metadata = {name: of_samples(value, known, n) for name, value in metadata.items()}
        truth = labels.classes[labels.codes[known]]
        return self._scorer(estimator, _safe_indexing(X, known), truth, **metadata)

    def __repr__(self) -> str:
        return f"make_labeled_scorer({self._scorer!r}, unlabeled={self._unlabeled!r})"

    def set_score_request(self, **requests: Any) -> LabeledScorer:
        """Ask for metadata, such as ``sample_weight=True``, where metadata routing is enabled.

        Parameters
        ----------
        **requests : bool, str or None
            As in scikit-learn's scorers.

        Returns
        -------
        self
        """
        self._scorer.set_score_request(**requests)
        return self

    def get_metadata_routing(self) -> Any:
        """The metadata that the scorer requests.

        Returns
        -------
        MetadataRequest
        """
        return get_routing_for_object(self._scorer)


def of_samples(value: Any, known: np.ndarray, n: int) -> Any:
    """Metadata of the known samples; what is not one value per sample stays."""
    is_per_sample = not isinstance(value, str) and hasattr(value, "__len__") and len(value) == n
    return _safe_indexing(value, known) if is_per_sample else value
