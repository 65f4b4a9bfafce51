"""Breiman's artificial data: twonorm, ringnorm and waveform."""

from __future__ import annotations

import math

import numpy as np

from .._validation import check_integer
from .randomness import draw_classes, random_generator

PEAKS = np.array([7, 15, 11])  # features, counted from 1, at which the three waves are largest
WAVES = np.maximum(6.0 - np.abs(np.arange(1, 22) - PEAKS[:, None]), 0.0)
PAIRS = np.array([[0, 1], [0, 2], [1, 2]])  # the two waves of each class


def make_twonorm(
    n_samples: int = 7400, n_features: int = 20, random_state: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Twonorm: two Gaussians of unit covariance, equally probable.

    The means are (a, ..., a) for class 1 and (-a, ..., -a) for class 2, with a = 2 / sqrt(n_features). The Bayes error
    is Phi(-2) = 2.28 % for any number of features.

    Parameters
    ----------
    n_samples : int, default=7400
        Number of samples, by default that of the collections DELVE and of Raetsch.
    n_features : int, default=20
        Number of features.
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The samples.
    y : array of shape (n_samples,)
        Classes 1 and 2, drawn independently.

    References
    ----------
    L. Breiman, "Arcing classifiers", The Annals of Statistics 26, 1998. https://doi.org/10.1214/aos/1024691079

    Examples
    --------
    >>> from semisvm.datasets import make_twonorm
    >>> X, y = make_twonorm(400, random_state=0)
    >>> X.shape
    (400, 20)
    """
    n_samples, n_features = check_integer("n_samples", n_samples), check_integer("n_features", n_features)
    rng = random_generator(random_state)
    y = draw_classes(n_samples, rng)
    a = 2.0 / math.sqrt(n_features)
    return rng.standard_normal((n_samples, n_features)) + a * (3.0 - 2.0 * y[:, None]), y


def make_ringnorm(
    n_samples: int = 7400, n_features: int = 20, random_state: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Ringnorm: a wide Gaussian around a narrow one, equally probable.

    Class 1 has the mean 0 and the covariance 4 I; class 2 the mean (a, ..., a), a = 2 / sqrt(n_features), and the
    covariance I. The Bayes rule is a sphere, and its error 1.24 % for 20 features (noncentral chi-squared distributions
    give it in closed form). Some sources have a = 1 / sqrt(n_features), with an error of 1.50 %; the file of the
    collections DELVE and of Raetsch has the moments of the former.

    Parameters
    ----------
    n_samples : int, default=7400
        Number of samples, by default that of the collections DELVE and of Raetsch.
    n_features : int, default=20
        Number of features.
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The samples.
    y : array of shape (n_samples,)
        Classes 1 and 2, drawn independently.

    References
    ----------
    L. Breiman, "Arcing classifiers", The Annals of Statistics 26, 1998. https://doi.org/10.1214/aos/1024691079

    Examples
    --------
    >>> from semisvm.datasets import make_ringnorm
    >>> X, y = make_ringnorm(400, random_state=0)
    >>> X.shape
    (400, 20)
    """
    n_samples, n_features = check_integer("n_samples", n_samples), check_integer("n_features", n_features)
    rng = random_generator(random_state)
    y = draw_classes(n_samples, rng)
    X = rng.standard_normal((n_samples, n_features))
    return np.where(y[:, None] == 1, 2.0 * X, X + 2.0 / math.sqrt(n_features)), y


def make_waveform(n_samples: int = 5000, random_state: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Waveform: 21 features, three classes, each a random mixture of two of three waves, with noise.

    The waves h1, h2, h3 are triangles of height 6 and half width 6 with their peaks at features 7, 15 and 11 (counted
    from 1). A sample of class 1 is u h1 + (1 - u) h2 + e with u uniform on [0, 1] and e standard normal in every
    feature; class 2 has h1 and h3, class 3 has h2 and h3. Classes are equally probable. The Bayes error is 13.3 % (3.3
    million samples, classified by the exact densities; the book says 14 %).

    The two-class waveform of Raetsch's collection, which Collobert et al. use, is class 2 against the others,
    standardized; its Bayes error is 8.3 %.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of samples, by default that of the UCI repository and of Raetsch's collection.
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, 21)
        The samples.
    y : array of shape (n_samples,)
        Classes 1, 2 and 3, drawn independently.

    References
    ----------
    L. Breiman, J. H. Friedman, R. A. Olshen and C. J. Stone, "Classification and regression trees", Wadsworth, 1984.
    https://doi.org/10.1201/9781315139470

    Examples
    --------
    >>> import numpy as np
    >>> from semisvm.datasets import make_waveform
    >>> X, y = make_waveform(400, random_state=0)
    >>> X.shape
    (400, 21)
    >>> y_two_classes = np.where(y == 2, 2, 1)
    """
    n_samples = check_integer("n_samples", n_samples)
    rng = random_generator(random_state)
    codes = rng.integers(0, 3, n_samples)
    u = rng.random((n_samples, 1))
    first, second = WAVES[PAIRS[codes, 0]], WAVES[PAIRS[codes, 1]]
    return u * first + (1.0 - u) * second + rng.standard_normal((n_samples, 21)), codes + 1
