"""The space of samples in blocks: the samples themselves, or Nystroem features with landmarks chosen among them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..spaces import Features, Gram, Kernel, MappedFeatures
from ..spaces.features import FAR
from ..spaces.landmarks import draw_from_pool, draw_pool, n_landmarks
from ..spaces.nystroem import check_definite, inverse_root
from ..spaces.prediction import kernel_scores
from .design_matrix import BlockedDesign
from .samples import BlockedSamples


def blocked_space(
    X: BlockedSamples,
    kernel: Kernel,
    free_intercept: bool,
    n_components: int | None,
    landmarks: Any,
    labeled: np.ndarray,
    seed: int,
    is_approximated: bool,
    kept: np.ndarray | None = None,
) -> Features:
    """The space of some samples, as in memory.

    Parameters
    ----------
    X : BlockedSamples
        The samples.
    kernel : Kernel
        The kernel.
    free_intercept : bool
        Whether samples far from the origin may be centered.
    n_components, landmarks, seed : int or None, str or array, int
        Of the Nystroem method.
    labeled : bool array of shape (n,)
        The labeled samples.
    is_approximated : bool
        Whether a linear kernel is to be approximated as well.
    kept : int array or None
        The samples that are part of the fit, among which landmarks are chosen; None for all.
    """
    center = _center(X) if free_intercept and kernel.name == "linear" else None
    if center is not None:
        X = X.map(subtract, center)
    if not is_approximated:
        return Features(X, center, BlockedDesign(X))
    check_definite(kernel)
    if isinstance(landmarks, str):
        rng = np.random.default_rng(seed)
        kept = np.arange(X.shape[0]) if kept is None else kept
        m = n_landmarks(len(kept), landmarks, n_components, labeled[kept])
        pool = kept[draw_pool(len(kept), landmarks, m, labeled[kept], rng)]
        gram = Gram(kernel, X[pool], float64=True)
        chosen = np.arange(len(pool))
        if len(pool) > m:
            chosen = draw_from_pool(gram, landmarks, chosen, m, rng)
        support, points, corner = pool[chosen], gram.X[chosen], gram.block(chosen)
    else:
        support, points = None, landmarks if center is None else landmarks - center
        corner = Gram(kernel, points, float64=True).compute()
    T = inverse_root(corner)
    Z = X.map(features_of, kernel, points, T)
    mapped = MappedFeatures(Z, support, points, T, BlockedDesign(Z))
    mapped.center = center
    return mapped


def subtract(X: Any, center: np.ndarray) -> Any:
    """The samples without their center; a sparse sample has an entry wherever that is not zero."""
    return X - center


def features_of(X: Any, kernel: Kernel, landmarks: Any, T: np.ndarray) -> np.ndarray:
    """k(X, landmarks) T."""
    return kernel_scores(kernel, X, landmarks, T.T, np.zeros(T.shape[1]))


def _center(X: BlockedSamples) -> np.ndarray | None:
    """The mean of dense samples that are far from the origin."""
    found = X.survey
    mean = found.totals / X.shape[0]
    largest_range = float((found.largest - found.smallest).max())
    is_far = 0.0 < FAR * largest_range < float(np.abs(mean).max())
    return mean if is_far and not X.is_sparse else None
