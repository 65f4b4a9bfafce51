"""How sure a model is of samples, and how much the models that it consists of disagree about them.

A ``SemiSVM`` is a committee: the fits of all its separators, each with its weight, and the supervised model with the
rest. Any other classifier has its probabilities or its scores alone.

References
----------
.. [1] H. S. Seung, M. Opper and H. Sompolinsky, "Query by committee", COLT, 1992.
   https://doi.org/10.1145/130385.130417
.. [2] T. Scheffer, C. Decomain and S. Wrobel, "Active hidden Markov models for information extraction", IDA, 2001
   (the margin between the two most likely classes). https://doi.org/10.1007/3-540-44816-0_31
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._threads import tiles
from .._validation import check_X
from ..multiclass import winners
from .estimator import BLOCK, SemiSVM
from .prediction import supervised_scores
from .weighting import margins, squash


class Doubt(NamedTuple):
    """What is doubtful about samples.

    Attributes
    ----------
    uncertainty : array of shape (m,)
        One minus the margin between the two most likely classes, in [0, 1].
    disagreement : array of shape (m,) or None
        One minus the margin between the two classes with the most votes, in [0, 1]; None without a committee.
    """

    uncertainty: np.ndarray
    disagreement: np.ndarray | None


def measure_doubt(model: Any, X: Any) -> Doubt:
    """Uncertainty and disagreement of a fitted classifier at samples.

    Parameters
    ----------
    model : classifier
        With ``predict_proba`` or ``decision_function``.
    X : array, DataFrame or CSR of shape (m, d)
        Samples as the classifier takes them.
    """
    disagreement = 1.0 - margins(vote_shares(model, X)) if isinstance(model, SemiSVM) else None
    if hasattr(model, "predict_proba"):
        return Doubt(1.0 - _known(margins(np.asarray(model.predict_proba(X)))), disagreement)
    if not hasattr(model, "decision_function"):
        raise ValueError(
            f"{type(model).__name__} has neither predict_proba nor decision_function; how sure it is of a sample is "
            "not known. Use SemiSVM or another classifier that has one of them."
        )
    scores = np.asarray(model.decision_function(X))
    scores = scores.reshape(len(scores), -1)
    n_classes = len(model.classes_)
    if scores.shape[1] not in (1, n_classes):
        raise ValueError(
            f"{type(model).__name__} has {scores.shape[1]} scores for {n_classes} classes, one per pair of them; use "
            "decision_function_shape='ovr'."
        )
    distance = _known(margins(scores))
    return Doubt(1.0 - squash(distance, np.mean(distance)), disagreement)


def _known(margin: np.ndarray) -> np.ndarray:
    """Margins, zero where a classifier knows nothing of a sample and returns NaN."""
    return np.where(np.isnan(margin), 0.0, margin)


def vote_shares(model: SemiSVM, X: Any) -> np.ndarray:
    """The weight of the members of an ensemble that vote for each class, shape (m, n_classes); rows sum to one.

    Parameters
    ----------
    model : SemiSVM
        A fitted one.
    X : array, DataFrame or CSR of shape (m, d)
        Samples.
    """
    X = check_X(model, X, reset=False, precomputed=False)
    shares = np.zeros((X.shape[0], len(model.classes_)))
    a = model.average_weight_
    for rows in tiles(X.shape[0], BLOCK):
        part = shares[rows]
        for space in model._models_ if a > 0.0 else []:
            scores = space.models.scores(X[rows]).reshape(len(part), -1, space.n_columns)
            sizes = space.sizes.reshape(-1, space.n_columns)
            for j, weight in enumerate(space.weights[:: space.n_columns]):
                _vote(part, squash(scores[:, j], sizes[j]), a * float(weight))
        if a < 1.0:
            _vote(part, supervised_scores(model.supervised_, X[rows]), 1.0 - a)
    return shares


def _vote(shares: np.ndarray, scores: np.ndarray, weight: float) -> None:
    """Add the votes of a member, by its scores of shape (m, 1) or (m, k)."""
    shares[np.arange(len(shares)), winners(scores)] += weight
