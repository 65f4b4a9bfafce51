"""The slope of the probabilities of self-training, from given labels that are held out.

A model is nearly always right about labels that it gave itself, so these say nothing about its errors. Fold by fold the
rounds run without some of the labeled samples, which the model that the rounds end with scores; the slope is the one
with which these scores fit the labels held out. A held-out sample is left out of the rounds altogether: as an unlabeled
one it could get a label in them, and be scored by a model of its own label.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .._validation import TrainingSet
from ..estimators._calibration import held_out_groups
from ..estimators._shares import asked_shares
from ..multiclass import fit_slope
from ..solvers import StoppingRule
from .learners import BaseLearner
from .metadata import FitMetadata

if TYPE_CHECKING:
    from .base import BaseSelfTraining


def class_scores(scores: np.ndarray, are_probabilities: bool) -> np.ndarray:
    """Scores, one column or k, as the columns of which probabilities are a softmax.

    These are -f/2 and f/2 of two classes, f of more, and logarithms where the scores are probabilities.
    """
    if are_probabilities:
        return np.log(np.maximum(scores, np.finfo(float).tiny))
    return np.column_stack([-0.5 * scores[:, 0], 0.5 * scores[:, 0]]) if scores.shape[1] == 1 else scores


def held_out_slope(
    method: BaseSelfTraining, data: TrainingSet, routed: Mapping[str, FitMetadata] | None = None
) -> float:
    """The slope of a method, not fitted, on this training set; 1, with a warning, if a class has one label alone.

    ``routed`` are the metadata of what is fitted in the rounds; None for the weights of ``data``.
    """
    codes, weights = data.labels.codes, data.weights
    groups = held_out_groups(data.X, codes, len(data.labels.classes), data.precomputed, type(method).__name__)
    if groups is None:
        return 1.0
    scores, held = held_out_scores(method, data, groups, routed), np.concatenate(groups)
    return fit_slope(class_scores(scores, method._use_probability), codes[held], weights[held])


def held_out_scores(
    method: BaseSelfTraining,
    data: TrainingSet,
    groups: list[np.ndarray],
    routed: Mapping[str, FitMetadata] | None = None,
) -> np.ndarray:
    """Scores of the samples of each group by a model without the group, one column or k; the groups in their order.

    Kernel values, C and gamma are those of all samples and computed once, and no label has a part in them. All groups
    together take no longer than a fit may take.
    """
    learner, limit = BaseLearner(method._base_estimator(), data, routed), StoppingRule(max_time=method.max_time)
    found = []
    for number, group in enumerate(groups):
        time_share = limit.time_share(len(groups) - number)
        found.append(_scores_without(method, learner, data, group, StoppingRule(method._max_rounds, time_share)))
    return np.concatenate(found)


def _scores_without(
    method: BaseSelfTraining, learner: BaseLearner, data: TrainingSet, group: np.ndarray, fold: StoppingRule
) -> np.ndarray:
    """Scores of a group by the model of rounds without it."""
    codes, weights = data.labels.codes.copy(), data.weights.copy()
    codes[group], weights[group] = -1, 0.0
    rest = data._replace(labels=data.labels._replace(codes=codes), weights=weights, kept=np.setdiff1d(data.kept, group))
    columns = []
    for task in method._tasks(rest, asked_shares(method.balance, rest)):
        labeling, trained = method._label(learner, task, StoppingRule(fold.max_iter, parent=fold))
        if labeling.status == "interrupted":
            raise KeyboardInterrupt
        columns.append(trained.scores(group))
    if len(columns) == 1:
        return columns[0]
    return np.column_stack([scores[:, -1] for scores in columns])  # the class itself, after the rest if that is there
