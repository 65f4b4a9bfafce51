"""Held-out errors of a small model that is fitted to parts of the labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..balance import AskedShares
from ..model_selection.shares import ShareEstimator, decide_shares
from ..multiclass import winners
from ..solvers import StoppingRule
from ..spaces.bandwidth import median_squared_distance
from .feature_spaces import FeatureSpace, space_builders
from .fitting import Task, fit_separator
from .separators import CCCP_CLASSES, SEPARATORS
from .supervised import candidates, fit_supervised

SHARES = (0.4, 0.6, 0.8)  # of the labels, that are trained on
N_DRAWS = 10  # parts of each size
MAX_LABELED, MAX_UNLABELED = 1000, 600  # samples that are used


def held_out_errors(X: Any, codes: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    """Numbers of labels that are trained on, mean errors on the others, and the number of labels that are used at all.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        The samples.
    codes : int array of shape (n,)
        Positions of the classes, -1 for unlabeled samples; every class has a label.
    rng : Generator
        For the parts.
    """
    labeled, rest = (rng.permutation(np.flatnonzero(part)) for part in (codes >= 0, codes < 0))
    part = np.r_[_with_every_class(codes, labeled, MAX_LABELED), rest[:MAX_UNLABELED]]
    X, codes = X[part], codes[part]
    known = np.flatnonzero(codes >= 0)
    model = _SmallModel(X, codes)
    sizes = [max(round(share * len(known)), int(codes.max()) + 1) for share in SHARES]
    errors = []
    for size in sizes:
        wrong = []
        for _ in range(N_DRAWS):
            train = _with_every_class(codes, rng.permutation(known), size)
            held = np.setdiff1d(known, train)
            wrong.append(np.mean(model.predict(train, held) != codes[held]))
        errors.append(np.mean(wrong))
    return np.array(sizes), np.array(errors), len(known)


def _with_every_class(codes: np.ndarray, order: np.ndarray, size: int) -> np.ndarray:
    """The first samples of an order, the first one of each class among them."""
    _, first = np.unique(codes[order], return_index=True)
    others = np.delete(order, first)
    return np.r_[order[first], others[: max(size - len(first), 0)]]


class _SmallModel:
    """CCCPTSVM with the widest Gaussian kernel of the ensemble, on features that are computed once.

    Where no sample is unlabeled, or classes are too many for it, the supervised SVM of fixed parameters.
    """

    def __init__(self, X: Any, codes: np.ndarray):
        self._X, self._codes, self._weights = X, codes, np.ones(len(codes))
        self._median = median_squared_distance(X, self._weights)
        self._space: FeatureSpace | None = None
        if (codes < 0).any() and codes.max() < CCCP_CLASSES and self._median > 0.0:
            gamma = 0.5 / self._median
            self._space = space_builders(X, self._weights, self._median)[0]()
            self._shares = ShareEstimator(X, codes >= 0, self._weights, gamma=gamma)

    def predict(self, train: np.ndarray, held: np.ndarray) -> np.ndarray:
        """Classes of held-out samples by a model with the labels of others."""
        if self._space is None:
            X, weights = self._X, self._weights
            candidate = candidates(X, weights, self._median or 1.0, True)[0]
            model = fit_supervised(candidate, X[train], self._codes[train], weights[train], 1)
            return model.predict(X[held])
        visible = np.full(len(self._codes), -1)
        visible[train] = self._codes[train]
        asked: AskedShares = decide_shares(
            "auto", np.arange(self._codes.max() + 1), visible, self._weights, self._shares
        )
        fit = fit_separator(SEPARATORS[0], self._space, Task(visible, asked, held), self._weights, StoppingRule())
        return winners(fit.scores[held])
