"""Two classes in the plane whose few labels alone suggest a wrong boundary."""

from __future__ import annotations

import numpy as np

from .._validation import check_integer, check_number
from .randomness import random_generator


def make_two_moons(
    n_samples: int = 200, noise: float = 0.1, random_state: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Two moons: interleaved half circles with noise; scikit-learn's `make_moons` with classes 1 and 2.

    The papers print neither the noise nor the geometry in numbers. Adankon and Cheriet, after Chapelle et al., use an
    rbf kernel with gamma = 2 and C = C* = 10; Gieseke et al. have 500 samples. For half circles with uniform angles the
    Bayes error is below 0.01 % at noise 0.05, 0.06 % at 0.1, 0.88 % at 0.15, 2.90 % at 0.2 (integrated numerically).

    Parameters
    ----------
    n_samples : int, default=200
        Number of samples; both classes have the same number, or one more for class 2.
    noise : float, default=0.1
        Standard deviation of the noise; the circles have radius 1.
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, 2)
        The samples, in random order.
    y : array of shape (n_samples,)
        Classes 1 and 2.

    References
    ----------
    O. Chapelle, V. Sindhwani and S. S. Keerthi, "Branch and bound for semi-supervised support vector machines", NIPS,
    2006. https://papers.neurips.cc/paper_files/paper/2006/hash/8b8388180314a337c9aa3c5aa8e2f37a-Abstract.html

    Examples
    --------
    >>> from semisvm.datasets import hide_labels, make_two_moons
    >>> X, y = make_two_moons(random_state=0)
    >>> y_partial = hide_labels(y, 2, random_state=0)
    >>> X.shape
    (200, 2)
    """
    from sklearn.datasets import make_moons

    check_number("noise", noise, 0.0, closed="low")
    random_generator(random_state)  # checked as everywhere else
    X, y = make_moons(check_integer("n_samples", n_samples, 2), noise=noise, random_state=random_state)
    return X, y.astype(int) + 1


def make_misleading_clusters(
    n_samples: int = 200, n_labeled: int = 4, random_state: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Clusters and labels that mislead self-training, as in Figure 3.1 of Adankon's thesis.

    A linear classifier of the labeled samples has a tilted boundary, and the samples that it is most confident of are
    wrong: self-training adds them first and confirms the error. The thesis shows a drawing without numbers; these are
    ours. Class 2 has nine tenths of its samples in N((1, 1), diag(0.64, 0.16)) and one tenth in a small cluster on the
    side of the other class, N((-5, 1), diag(0.25, 0.16)); class 1 is its mirror image about the origin. Labeled are the
    samples nearest to (1.5, 1) in class 2 and to (-1.5, -1) in class 1. The Bayes error is 0.24 %, that of the second
    feature alone Phi(-2.5) = 0.62 %, and that of the rule halfway between these two points 12.2 %.

    Parameters
    ----------
    n_samples : int, default=200
        Number of samples; both classes have the same number, or one more for class 1.
    n_labeled : int, default=4
        Number of labeled samples; both classes have the same number, or one more for class 1.
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, 2)
        The samples, in random order.
    y : array of shape (n_samples,)
        Classes 1 and 2.
    y_partial : array of shape (n_samples,)
        Labels of the labeled samples, -1 for the others.

    References
    ----------
    M. M. Adankon, "Apprentissage semi-supervise pour les SVMs et leurs variantes", doctoral thesis, Ecole de
    technologie superieure, Montreal.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from semisvm.datasets import make_misleading_clusters
    >>> X, y, y_partial = make_misleading_clusters(random_state=0)
    >>> is_labeled = y_partial != -1
    >>> model = SVC(kernel="linear").fit(X[is_labeled], y[is_labeled])
    >>> most_confident = abs(model.decision_function(X)).argmax()
    >>> bool(model.predict(X)[most_confident] == y[most_confident])
    False
    """
    n_samples, n_labeled = check_integer("n_samples", n_samples, 2), check_integer("n_labeled", n_labeled, 2)
    if n_labeled > n_samples:
        raise ValueError(
            f"n_labeled={n_labeled} is more than n_samples={n_samples}; pass n_labeled={n_samples} or less."
        )
    rng = random_generator(random_state)
    y = rng.permutation(np.arange(n_samples) % 2 + 1)
    signs, is_small = 2.0 * y - 3.0, rng.random(n_samples) < 0.1
    X = rng.standard_normal((n_samples, 2)) * np.column_stack([np.where(is_small, 0.5, 0.8), np.full(n_samples, 0.4)])
    X += np.column_stack([signs * np.where(is_small, -5.0, 1.0), signs])
    distances = np.hypot(X[:, 0] - 1.5 * signs, X[:, 1] - signs)
    y_partial = np.full(n_samples, -1)
    for label, count in ((1, (n_labeled + 1) // 2), (2, n_labeled // 2)):
        members = np.flatnonzero(y == label)
        y_partial[members[np.argsort(distances[members])[:count]]] = label
    return X, y, y_partial
