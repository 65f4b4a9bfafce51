"""The supervised part of the model: an SVM of the labeled samples, with fixed or tuned C and kernel.

Below ``FEW_LABELS`` labels the parameters are fixed (a Gaussian kernel of gamma = 0.5/(median squared distance), C = 10
divided by the total variance): held-out errors of so few samples choose worse ones. Above, those with the smallest
held-out error of a small grid are used, of equal ones that with the smallest hinge loss, if that error is smaller than
the one of the fixed parameters by ``MIN_GAIN`` divided by the root of the number of labels; smaller differences are
chance. Several classes are separated in pairs, which vote: with few labels that is better than coupled probabilities.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn import config_context

from ..estimators import SVM
from ..multiclass import couple, winners
from ..multiclass import pairs as pairs_of_classes
from ..solvers import StoppingRule
from ..spaces import Gram, Kernel
from ..spaces.bandwidth import total_variance

FEW_LABELS = 30
MAX_TUNED = 1000  # labeled samples on which a grid is tried
WIDTHS = (0.125, 0.5, 2.0, 8.0)  # gamma, in units of 1/(median squared distance)
COSTS = (0.1, 1.0, 10.0, 100.0)  # C, in units of 1/(total variance)
FIXED_WIDTH, FIXED_COST = 0.5, 10.0
MIN_GAIN = 0.3


class Candidate(NamedTuple):
    """Parameters of a supervised model: kernel with its gamma, and C."""

    kernel: Kernel
    C: float


class SupervisedChoice(NamedTuple):
    """The supervised model.

    Attributes
    ----------
    candidate : Candidate
        Its parameters.
    is_tuned : bool
        Whether they were chosen on held-out samples.
    error : float or None
        Share of held-out samples that are wrong, by weight; None if none was held out.
    held_out : int array of shape (n,)
        Classes of samples that were held out, by models without them; -1 elsewhere.
    scores : array of shape (n, 1) or (n, k)
        Their f, of two classes; else their shares of votes in the pairs of classes.
    """

    candidate: Candidate
    is_tuned: bool
    error: float | None
    held_out: np.ndarray
    scores: np.ndarray


def candidates(X: Any, weights: np.ndarray, median: float, fixed_alone: bool) -> list[Candidate]:
    """The fixed parameters, and after them the grid unless they are wanted alone."""

    def at_costs(kernel: Kernel, costs: tuple[float, ...]) -> list[Candidate]:
        variance = total_variance(kernel, X, weights) or 1.0
        return [Candidate(kernel, cost / variance) for cost in costs]

    fixed = at_costs(Kernel("rbf", FIXED_WIDTH / median), (FIXED_COST,))
    if fixed_alone:
        return fixed
    kernels = [*(Kernel("rbf", width / median) for width in WIDTHS), Kernel("linear")]
    return fixed + [candidate for kernel in kernels for candidate in at_costs(kernel, COSTS)]


def choose_supervised(
    X: Any,
    codes: np.ndarray,
    weights: np.ndarray,
    median: float,
    folds: list[np.ndarray],
    stop: StoppingRule,
) -> SupervisedChoice:
    """Choose the supervised model of the labeled samples.

    Parameters
    ----------
    X, codes, weights : arrays over the samples
        Samples, positions of the classes (-1 where there is none), weights.
    median : float
        Median squared distance of two samples.
    folds : list of arrays
        Samples that are held out together.
    stop : StoppingRule
        Its deadline ends the search among the candidates.
    """
    labeled = np.flatnonzero(codes >= 0)
    few = len(labeled) < FEW_LABELS or len(labeled) > MAX_TUNED or not folds
    tried: list[tuple[tuple[float, float], SupervisedChoice]] = []
    values: dict[Kernel, np.ndarray] = {}
    for candidate in candidates(X, weights, median, few):
        if tried and stop.time_is_over:
            break
        if candidate.kernel not in values:
            values[candidate.kernel] = np.asarray(Gram(candidate.kernel, X[labeled]).compute(), dtype=np.float64)
        found, scores, loss = _held_out(candidate.C, values[candidate.kernel], codes, weights, labeled, folds)
        known = found >= 0
        error = float(np.average(found[known] != codes[known], weights=weights[known])) if known.any() else None
        rank = round(error or 0.0, 9), loss
        tried.append((rank, SupervisedChoice(candidate, bool(tried), error, found, scores)))
    fixed, best = tried[0][1], min(tried, key=lambda one: one[0])[1]
    gain = (fixed.error or 0.0) - (best.error or 0.0)
    return best if gain > MIN_GAIN / np.sqrt(len(labeled)) else fixed


def _held_out(
    C: float,
    K: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    labeled: np.ndarray,
    folds: list[np.ndarray],
) -> tuple[np.ndarray, np.ndarray, float]:
    """Classes of held-out samples, -1 elsewhere, their scores, and the mean hinge loss of these."""
    from sklearn.svm import SVC  # here, so that ``import semisvm`` stays light

    k = codes.max() + 1
    found, scores = np.full(len(codes), -1), np.zeros((len(codes), 1 if k == 2 else k))
    total, n_held = 0.0, 0
    with config_context(assume_finite=True, skip_parameter_validation=True):  # X was checked
        for held in folds:
            test = np.isin(labeled, held)
            train = ~test
            model = SVC(kernel="precomputed", C=C, decision_function_shape="ovo")
            model.fit(K[np.ix_(train, train)], codes[labeled[train]], sample_weight=weights[labeled[train]])
            pairs = model.decision_function(K[np.ix_(test, train)]).reshape(len(held), -1)
            held_out = pairs if k == 2 else couple(expit(-pairs), k, "pwc1")
            found[labeled[test]], scores[labeled[test]] = winners(held_out), held_out
            total += _hinge_loss(pairs, codes[labeled[test]], k)
            n_held += len(held)
    return found, scores, total / max(n_held, 1)


def _hinge_loss(scores: np.ndarray, codes: np.ndarray, k: int) -> float:
    """Sum of the hinge losses of the pairs that a sample's class is part of, in the mean over these.

    ``scores`` has a column per pair (i, j) of k classes, positive for i; with two classes positive for the second.
    """
    first, second = np.array(pairs_of_classes(k)).T
    if k == 2:
        first, second = second, first
    total = 0.0
    for c in np.unique(codes):
        sign = np.where(first == c, 1.0, np.where(second == c, -1.0, 0.0))
        part = sign != 0.0
        total += np.maximum(1.0 - sign[part] * scores[np.ix_(codes == c, part)], 0.0).sum()
    return float(total / (k - 1))


def fit_supervised(candidate: Candidate, X: Any, y: np.ndarray, weights: np.ndarray, n_jobs: int | None) -> SVM:
    """The supervised model of all labeled samples."""
    name, gamma = candidate.kernel.name, candidate.kernel.gamma
    model = SVM(candidate.C, kernel=name, gamma=gamma, multiclass="ovo", coupling="pwc1", n_jobs=n_jobs)
    model.set_params(unlabeled=None)  # a class may be named -1
    return model.fit(X, y, sample_weight=weights)
