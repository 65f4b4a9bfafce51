"""Classes that are Gaussians, or mixtures of them."""

from __future__ import annotations

import numpy as np

from .._validation import check_choice, check_integer, check_number
from .randomness import draw_classes, random_generator


def make_two_gaussians(
    n_samples: int = 550, n_features: int = 50, shift: float = 0.23, random_state: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussians of unit variance with means +-shift in every feature, as in g50c.

    The Bayes error is Phi(-shift sqrt(n_features)): 5.19 % for the defaults. Classes have equal sizes; in
    `make_gaus50` they are drawn.

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
    n_samples, n_features = check_integer("n_samples", n_samples, 2), check_integer("n_features", n_features)
    check_number("shift", shift)
    rng = random_generator(random_state)
    y = rng.permutation(np.arange(n_samples) % 2 + 1)
    return rng.standard_normal((n_samples, n_features)) + shift * (2.0 * y[:, None] - 3.0), y


def make_gaus50(n_samples: int = 1550, random_state: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Gaus50: two Gaussians in 50 dimensions, equally probable, with unit covariance.

    Class 1 has the mean -(0.23, ..., 0.23) and class 2 its opposite; the articles number the classes the other way
    round. The Bayes error is Phi(-0.23 sqrt(50)) = 5.19 %.

    Parameters
    ----------
    n_samples : int, default=1550
        Number of samples; the articles train on 550 and test on 1,000.
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, 50)
        The samples.
    y : array of shape (n_samples,)
        Classes 1 and 2, drawn independently.

    See Also
    --------
    make_two_gaussians : the same with classes of equal sizes and other parameters.

    References
    ----------
    M. M. Adankon and M. Cheriet, "Genetic algorithm-based training for semi-supervised SVM", Neural Computing and
    Applications 19, 2010. https://doi.org/10.1007/s00521-010-0358-8

    Examples
    --------
    >>> from semisvm.datasets import make_gaus50
    >>> X, y = make_gaus50(random_state=0)
    >>> X_train, X_test = X[:550], X[550:]
    >>> X_train.shape, X_test.shape
    ((550, 50), (1000, 50))
    """
    n_samples = check_integer("n_samples", n_samples)
    rng = random_generator(random_state)
    y = draw_classes(n_samples, rng)
    return rng.standard_normal((n_samples, 50)) + 0.23 * (2.0 * y[:, None] - 3.0), y


def make_gaus50x(n_samples: int = 1550, random_state: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Gaus50x: each class is a mixture of two Gaussians in 50 dimensions; the classes are equally probable.

    Class 2 is 0.49 N(m, I) + 0.51 N(m', I) with m = (0.25, ..., 0.25) and m' = m with the sign of its last 25 entries
    changed; class 1 is the same with -m and -m'. The articles number the classes the other way round. The Bayes error
    is 10.56 % (integrated over the two sums of 25 features that the densities depend on).

    Parameters
    ----------
    n_samples : int, default=1550
        Number of samples; the articles train on 550 and test on 1,000.
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, 50)
        The samples.
    y : array of shape (n_samples,)
        Classes 1 and 2, drawn independently.

    References
    ----------
    M. M. Adankon, M. Cheriet and A. Biem, "Semisupervised least squares support vector machine", IEEE Transactions on
    Neural Networks 20, 2009. https://doi.org/10.1109/TNN.2009.2031143

    Examples
    --------
    >>> from semisvm.datasets import make_gaus50x
    >>> X, y = make_gaus50x(random_state=0)
    >>> X.shape
    (1550, 50)
    """
    n_samples = check_integer("n_samples", n_samples)
    rng = random_generator(random_state)
    y = draw_classes(n_samples, rng)
    mean = np.full((n_samples, 50), 0.25)
    mean[rng.random(n_samples) < 0.51, 25:] = -0.25
    return rng.standard_normal((n_samples, 50)) + (2.0 * y[:, None] - 3.0) * mean, y


def make_gaussian_clusters(
    n_samples: int = 500, n_features: int = 500, clusters_per_class: int = 1, random_state: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian2C and Gaussian4C: one or two well separated clusters per class, and many features without meaning.

    Every cluster has unit covariance. The mean of class 1 is -2.5, that of class 2 is +2.5 in the first feature. With
    two clusters per class (Gaussian4C) their means are -5 and +5 in the second feature: the wider gap does not separate
    the classes and misleads methods that look for one. All other features have mean zero. The Bayes error is
    Phi(-2.5) = 0.62 % for both.

    Parameters
    ----------
    n_samples : int, default=500
        Number of samples.
    n_features : int, default=500
        Number of features; two clusters per class need at least 2.
    clusters_per_class : {1, 2}, default=1
        1 is Gaussian2C, 2 is Gaussian4C.
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The samples; clusters take turns, so that the first half (the training samples of the paper) has the class
        shares of the second.
    y : array of shape (n_samples,)
        Classes 1 and 2 by turns.

    References
    ----------
    F. Gieseke, O. Kramer, A. Airola and T. Pahikkala, "Speedy local search for semi-supervised regularized
    least-squares", KI 2011. https://doi.org/10.1007/978-3-642-24455-1_8

    Examples
    --------
    >>> from semisvm.datasets import make_gaussian_clusters
    >>> X, y = make_gaussian_clusters(clusters_per_class=2, random_state=0)  # Gaussian4C
    >>> X.shape
    (500, 500)
    """
    check_choice("clusters_per_class", clusters_per_class, [1, 2])
    n_samples, n_features = check_integer("n_samples", n_samples), check_integer("n_features", n_features)
    if n_features < clusters_per_class:
        raise ValueError("n_features=1 has no second feature for clusters_per_class=2; pass n_features=2 or more.")
    rng = random_generator(random_state)
    y = np.arange(n_samples) % 2 + 1
    X = rng.standard_normal((n_samples, n_features))
    X[:, 0] += 2.5 * (2.0 * y - 3.0)
    if clusters_per_class == 2:
        X[:, 1] += 5.0 * np.where(np.arange(n_samples) // 2 % 2, 1.0, -1.0)
    return X, y
