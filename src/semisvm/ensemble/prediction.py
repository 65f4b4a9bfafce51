"""Scores of new samples, from what has to be kept of the separators and no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..estimators import SVM
from ..spaces import Kernel
from ..spaces.graph import GraphExtension
from ..spaces.prediction import kernel_scores, linear_scores
from .weighting import centered, squash


class Models(Protocol):
    """Several models f in one space."""

    def scores(self, X: Any) -> np.ndarray:
        """f of all models at new samples, shape (m, n_models)."""


@dataclass(frozen=True)
class LinearModels:
    """f = x'w + b."""

    coef: np.ndarray
    intercept: np.ndarray

    def scores(self, X: Any) -> np.ndarray:
        """f of all models at new samples, shape (m, n_models)."""
        return linear_scores(X, self.coef, self.intercept)


@dataclass(frozen=True)
class KernelModels:
    """f = sum of coef k(x, landmark) + b."""

    kernel: Kernel
    landmarks: Any
    coef: np.ndarray
    intercept: np.ndarray

    def scores(self, X: Any) -> np.ndarray:
        """f of all models at new samples, shape (m, n_models)."""
        return kernel_scores(self.kernel, X, self.landmarks, self.coef, self.intercept)


@dataclass(frozen=True)
class GraphModels:
    """f known at the samples of a graph, and extended to new ones."""

    extension: GraphExtension
    values: np.ndarray

    def scores(self, X: Any) -> np.ndarray:
        """f of all models at new samples, shape (m, n_models)."""
        return self.extension.extend(X, self.values)


@dataclass(frozen=True)
class WeightedModels:
    """Models in one space, with the sizes that squash their scores and their weights in the average.

    All classes of a fit stand side by side: model j is of class j modulo ``n_columns``.
    """

    models: Models
    sizes: np.ndarray
    weights: np.ndarray
    n_columns: int

    def scores(self, X: Any) -> np.ndarray:
        """The part of the average in this space at new samples, shape (m, n_columns)."""
        squashed = squash(self.models.scores(X), self.sizes) * self.weights
        return squashed.reshape(len(squashed), -1, self.n_columns).sum(axis=1)


@dataclass(frozen=True)
class SupervisedPart:
    """The supervised model as a part of the average: its scores, squashed like those of the separators.

    ``size`` is the mean of its absolute centered scores over the unlabeled samples.
    """

    model: SVM
    size: float

    def blend(self, weight: float, average: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The average with this weight, and the scores of the model, shape (m, 1) or (m, k), with the rest."""
        return weight * average + (1.0 - weight) * squash(centered(scores), np.asarray(self.size))


def supervised_scores(model: SVM, X: Any) -> np.ndarray:
    """The decision function of a supervised model at samples, shape (m, 1) or (m, k)."""
    return model.decision_function(X).reshape(X.shape[0], -1)


def average_scores(parts: list[WeightedModels], X: Any) -> np.ndarray:
    """The average at new samples, shape (m, k)."""
    return np.sum([part.scores(X) for part in parts], axis=0)
