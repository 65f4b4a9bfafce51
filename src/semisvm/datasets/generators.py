"""Artificial data of the papers."""

from __future__ import annotations

import numpy as np


def make_two_gaussians(
    n_samples: int = 550, n_features: int = 50, shift: float = 0.23, random_state: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussians of unit variance with means +-shift in every feature, as in g50c.

    The Bayes error is Phi(-shift sqrt(n_features)): 5.2 % for the defaults.

    Parameters
    ----------
    n_samples : int, default=550
        Number of samples; both classes have the same number, or one more for class 1.
    n_features : int, default=50
        Number of features.
    shift : float, default=0.23
        Half the distance of the means in every feature.
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The samples, in random order.
    y : array of shape (n_samples,)
        Classes 1 and 2.

    References
    ----------
    O. Chapelle and A. Zien, "Semi-supervised classification by low density separation", AISTATS, 2005.
    https://proceedings.mlr.press/r5/chapelle05b.html

    Examples
    --------
    >>> from semisvm.datasets import make_two_gaussians
    >>> X, y = make_two_gaussians(random_state=0)
    >>> X.shape
    (550, 50)
    """
    rng = np.random.default_rng(random_state)
    y = rng.permutation(np.arange(n_samples) % 2 + 1)
    return rng.standard_normal((n_samples, n_features)) + shift * (2.0 * y[:, None] - 3.0), y
