"""The spaces in which separators are looked for, built once for all separators, folds and classes.

The samples themselves, a Gaussian kernel of three widths by its principal components, and a graph of nearest
neighbours: no one of them suits all data, and a handful of labels does not tell which one does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ..spaces import Features, Kernel, MappedFeatures, kernel_pca, linear_features
from ..spaces.graph import GraphFeatures, neighbor_graph
from ..spaces.kernels import squared_norms
from .prediction import GraphModels, KernelModels, LinearModels, Models

WIDTHS = (0.5, 2.0, 8.0)  # gamma of the Gaussian kernels, in units of 1/(median squared distance)
N_COMPONENTS = 200
GRAPH_COMPONENTS = 80
DENSE_SAMPLES = 1000  # up to which sparse samples are turned into all their principal components


@dataclass(frozen=True)
class FeatureSpace:
    """Features of the samples.

    Attributes
    ----------
    name : str
        "linear", "rbf" with the width, or "graph".
    features : Features
        Of the training samples.
    kernel : Kernel or None
        The kernel that they stand for.
    basis : array of shape (d, r) or None
        The directions of principal components in a linear space that is reduced to them.
    variance : float
        Total variance of the features.
    """

    name: str
    features: Features
    kernel: Kernel | None
    basis: np.ndarray | None
    variance: float

    def models(self, coef: np.ndarray, intercept: np.ndarray) -> Models:
        """What has to be kept of several models, to score new samples.

        Parameters
        ----------
        coef, intercept : arrays of shape (n_models, r) and (n_models,)
            The models, in the features.
        """
        space = self.features
        if isinstance(space, GraphFeatures):
            return GraphModels(space.extension, space.X @ coef.T + intercept)
        if isinstance(space, MappedFeatures) and self.kernel is not None:
            return KernelModels(self.kernel, space.landmarks, coef @ space.transform.T, intercept)
        coef = coef if self.basis is None else coef @ self.basis.T
        return LinearModels(coef, intercept if space.center is None else intercept - coef @ space.center)


def space_builders(X: Any, weights: np.ndarray, median: float) -> list[Callable[[], FeatureSpace]]:
    """Functions that build the spaces of some samples, to be called in threads.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        The samples.
    weights : array of shape (n,)
        Their weights.
    median : float
        Median squared distance of two of them, above 0.
    """
    gaussian = [partial(_gaussian, width / median, f"rbf {width:g}", X, weights) for width in WIDTHS]
    return [*gaussian, partial(_linear, X, weights), partial(_graph, X, weights)]


def _linear(X: Any, weights: np.ndarray) -> FeatureSpace:
    """The samples, or their principal components where these are fewer; sparse samples lose nothing.

    Of a few sparse samples all components are used, dense and as many as there are samples, for speed.
    """
    if sparse.issparse(X) and X.shape[0] <= DENSE_SAMPLES:
        every = kernel_pca(Kernel("linear"), X, X.shape[0])
        return FeatureSpace("linear", every, Kernel("linear"), None, _total_variance(every.X, weights))
    if sparse.issparse(X) or min(X.shape) <= N_COMPONENTS:
        features = linear_features(X, free_intercept=True)
        return FeatureSpace("linear", features, None, None, _total_variance(features.X, weights))
    center = X.mean(axis=0)
    components = kernel_pca(Kernel("linear"), X - center, N_COMPONENTS, randomized=True)
    features = Features(components.X, center)
    basis = (X - center).T @ components.transform
    return FeatureSpace("linear", features, None, basis, _total_variance(features.X, weights))


def _gaussian(gamma: float, name: str, X: Any, weights: np.ndarray) -> FeatureSpace:
    kernel = Kernel("rbf", gamma)
    features = kernel_pca(kernel, X, N_COMPONENTS, randomized=True)
    return FeatureSpace(name, features, kernel, None, _total_variance(features.X, weights))


def _graph(X: Any, weights: np.ndarray) -> FeatureSpace:
    features = neighbor_graph(X, GRAPH_COMPONENTS)
    return FeatureSpace("graph", features, None, None, _total_variance(features.X, weights))


def _total_variance(Z: Any, weights: np.ndarray) -> float:
    """Weighted mean of the squared distance from the mean."""
    share = weights / weights.sum()
    if sparse.issparse(Z):
        return float(share @ squared_norms(Z) - np.square(Z.T @ share).sum())
    return float(share @ np.square(Z - share @ Z).sum(axis=1))
