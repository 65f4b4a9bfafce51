r"""Class shares of the unlabeled samples: the one place that decides them.

The shares of few labeled samples are far from those of the unlabeled ones by chance alone. Where the samples predict
the label, the predictions say by how much: a *control variate*, as in prediction-powered inference [1]_. With n_c of l
labels in class c of k, a kernel ridge regression on the labels (targets t of +-1, a column per class), its predictions
p at the unlabeled samples and, left out one at a time, at the labeled ones, all clipped to [-1, 1],

.. math:: r_c = \frac{n_c + 1}{l + k} + \frac w2 (\bar p_{U,c} - \bar p_{L,c}),
   \qquad w = \frac{\operatorname{cov}(p_L, t)}{\max(\operatorname{var} p_L, \operatorname{var} p)}
   \cdot \frac{l}{l + 4} \cdot \frac{u}{u + l}

with covariance and variances summed over the classes and their quotient within [0, 1]. The first term is Laplace's rule
of succession; more shrinkage towards equal shares helps where the classes are equally frequent and harms where one is
rare. The share of the variance that the correction explains,

.. math:: \rho^2 = (2 w \operatorname{cov}(p_L, t) - w^2 \max(\operatorname{var} p_L, \operatorname{var} p))
   / \operatorname{var} t \in [0, 0.9],

makes the estimate as sure as one of (l + k)/(1 - rho^2) labels that are counted.

References
----------
.. [1] A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan and T. Zrnic, "Prediction-powered inference", Science
   382, 2023. https://doi.org/10.1126/science.adi6000
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from .._threads import single_blas_thread
from ..balance import AskedShares, given_shares, labeled_shares
from ..spaces import Gram, Kernel
from ..spaces.bandwidth import median_squared_distance
from ..spaces.cache import digest
from .splits import equal_samples

RIDGE = 0.1
MAX_LABELED = 1000  # beyond, counted labels are sure enough, and a regression on them would cost more than the fit
N_DISTANCES = 500  # samples whose median distance is the width of the kernel: it need not be exact
MAX_VALUES = 1_000_000  # kernel values, 8 MB: more unlabeled samples than that allows are thinned out evenly
SMALLEST = 0.02  # no estimated share is smaller, or than a fifth of 1/k if that is less
FULL_WEIGHT = 4.0  # labels at which the correction has half its weight


class ShareEstimator:
    """Estimates shares from the labels of some samples of a table; its kernel values are computed once.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        The samples, or the matrix of their kernel values.
    labeled : bool array of shape (n,)
        Which samples may have a label.
    weights : array of shape (n,)
        Weights of the samples; a sample of weight 2 counts like two.
    precomputed : bool
        Whether X holds kernel values.
    gamma : float or None
        The width of the Gaussian kernel, if it is known: 0.5 divided by the median squared distance.
    """

    def __init__(
        self, X: Any, labeled: np.ndarray, weights: np.ndarray, precomputed: bool = False, gamma: float | None = None
    ):
        self._X, self._weights, self._precomputed, self._gamma = X, weights, precomputed, gamma
        self._labeled = np.flatnonzero(labeled)
        rest = np.flatnonzero(~labeled)
        n_kept = max(MAX_VALUES // max(len(self._labeled), 1) - len(self._labeled), 1)
        if len(rest) > n_kept:
            rest = rest[np.linspace(0, len(rest) - 1, n_kept).astype(int)]
        self._rows = np.r_[self._labeled, rest]
        self._values: np.ndarray | None = None
        self._group: np.ndarray | None = None
        self._estimates: dict[tuple[bytes, int], AskedShares] = {}

    def estimate(self, codes: np.ndarray, n_classes: int) -> AskedShares:
        """Shares of the classes among the samples without a label, computed once for the same codes.

        Parameters
        ----------
        codes : int array of shape (n,)
            Positions of the classes, -1 for samples without a label; no sample outside ``labeled`` has one.
        n_classes : int
            Number of classes.
        """
        key = digest(codes), n_classes
        if key not in self._estimates:
            self._estimates[key] = self._estimate(codes, n_classes)
        return self._estimates[key]

    def _estimate(self, codes: np.ndarray, n_classes: int) -> AskedShares:
        known = codes[self._labeled] >= 0
        weights = self._weights[self._labeled][known]
        counts = np.bincount(codes[self._labeled][known], weights, minlength=n_classes)
        n_labels = float(weights.sum())
        shares = (counts + 1.0) / (n_labels + n_classes)
        unlabeled = codes[self._rows] < 0
        if np.count_nonzero(known) > MAX_LABELED or not unlabeled.any():
            return AskedShares(shares, n_labels + n_classes)
        targets = 2.0 * np.eye(n_classes)[codes[self._labeled][known]] - 1.0
        held_out, predicted = self._predict(np.flatnonzero(known), unlabeled, targets)
        correction, explained = _control_variate(
            targets, held_out, weights, predicted, self._weights[self._rows[unlabeled]]
        )
        shares = np.maximum(shares + correction, min(SMALLEST, 0.2 / n_classes))
        return AskedShares(shares / shares.sum(), (n_labels + n_classes) / (1.0 - explained))

    def _predict(self, known: np.ndarray, unlabeled: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Predictions at the labeled samples, each left out together with its equals, and at the unlabeled ones."""
        values, group = self._kernel_values()
        _, group = np.unique(group[known], return_inverse=True)
        first = np.array([np.flatnonzero(group == g)[0] for g in range(group.max() + 1)])
        if len(first) < 2:  # nothing can be left out
            return np.zeros_like(targets), np.zeros((np.count_nonzero(unlabeled), targets.shape[1]))
        weights = self._weights[self._labeled[known]]
        total = np.bincount(group, weights)
        mean = np.column_stack([np.bincount(group, weights * column) / total for column in targets.T])
        inverse = _inverse_system(values[np.ix_(known[first], known[first])], total)
        coef, intercept = inverse[:-1, :-1] @ mean, inverse[-1, :-1] @ mean
        held_out = (mean - coef / inverse.diagonal()[:-1, None])[group]
        predicted = values[np.ix_(unlabeled, known[first])] @ coef + intercept
        return np.clip(held_out, -1.0, 1.0), np.clip(predicted, -1.0, 1.0)

    def _kernel_values(self) -> tuple[np.ndarray, np.ndarray]:
        """Kernel values of the rows with the labeled samples, and which of these are equal."""
        if self._values is None or self._group is None:
            if self._precomputed:
                values = np.asarray(self._X[np.ix_(self._rows, self._labeled)], dtype=np.float64)
                size = np.abs(self._X.diagonal()).mean()
                self._values = values / (size if size > 0 else 1.0)
                contents = np.sort(self._X[self._labeled], axis=1)  # kernel values, whatever their order
                self._group = equal_samples(contents, np.arange(len(contents)))
            else:
                gamma = self._gamma
                if gamma is None:
                    median = median_squared_distance(self._X, self._weights, N_DISTANCES)
                    gamma = 0.5 / median if median > 0 else 1.0
                gram = Gram(Kernel("rbf", gamma), self._X[self._rows])
                self._values = gram.cross_block(slice(None), np.arange(len(self._labeled))).astype(np.float64)
                self._group = equal_samples(self._X[self._labeled], np.arange(len(self._labeled)))
        return self._values, self._group


def _inverse_system(K: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Inverse of [[K + ridge/weights, 1], [1', 0]], whose diagonal gives the residuals of samples left out."""
    m = len(K)
    system = np.ones((m + 1, m + 1))
    system[:m, :m] = K
    system[np.arange(m), np.arange(m)] += RIDGE / weights
    system[m, m] = 0.0
    with single_blas_thread:
        return linalg.inv(system, check_finite=False)


def _control_variate(
    targets: np.ndarray, held_out: np.ndarray, weights: np.ndarray, predicted: np.ndarray, rest: np.ndarray
) -> tuple[np.ndarray, float]:
    """The correction of the shares, and which share of their variance it explains.

    Parameters
    ----------
    targets, held_out, weights : arrays over the labeled samples
        Targets of +-1 and predictions, a column per class, and weights.
    predicted, rest : arrays over the unlabeled samples
        Predictions and weights.
    """
    n_labels, n_rest = weights.sum(), rest.sum()
    mean_target, mean_held_out = np.average(targets, 0, weights), np.average(held_out, 0, weights)
    centered = held_out - mean_held_out
    covariance = float((weights @ (centered * (targets - mean_target))).sum() / n_labels)
    everything, both = np.vstack([held_out, predicted]), np.r_[weights, rest]
    variance_all = (both @ np.square(everything - np.average(everything, 0, both))).sum() / both.sum()
    variance = float(max((weights @ np.square(centered)).sum() / n_labels, variance_all))
    variance_target = float((weights @ np.square(targets - mean_target)).sum() / n_labels)
    if not variance > 0.0 or not variance_target > 0.0:
        return np.zeros(targets.shape[1]), 0.0
    slope = float(np.clip(covariance / variance, 0.0, 1.0))
    slope *= n_labels / (n_labels + FULL_WEIGHT) * n_rest / (n_rest + n_labels)
    explained = (2.0 * slope * covariance - slope**2 * variance) / variance_target
    return 0.5 * slope * (np.average(predicted, 0, rest) - mean_held_out), float(np.clip(explained, 0.0, 0.9))


def decide_shares(
    given: Any, classes: np.ndarray, codes: np.ndarray, weights: np.ndarray, estimator: ShareEstimator | None
) -> AskedShares:
    """Shares of the classes among the unlabeled samples, and how sure they are.

    Parameters
    ----------
    given : None, "auto", "labeled", float or mapping
        What the parameter ``balance`` of an estimator holds; where that is None, the shares of the labeled samples.
    classes : array of shape (k,)
        The classes.
    codes, weights : arrays of shape (n,)
        Positions of the classes of the samples, -1 for unlabeled ones, and weights.
    estimator : ShareEstimator or None
        Of the samples, for "auto".
    """
    if isinstance(given, str) and given == "auto" and estimator is not None:
        return estimator.estimate(codes, len(classes))
    if given is None or (isinstance(given, str) and given in ("auto", "labeled")):
        return labeled_shares(codes, weights, len(classes))
    return AskedShares(given_shares(given, classes), np.inf)
