"""How dense each class is around a row: the generative helpers of Help-Training.

A helper is told of labeled rows as they come, and says log p(x | class) of any row of the table, up to a constant that
all classes share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from .spaces import Gram

COMPONENTS = 2  # Gaussians of a class


class Helper(ABC):
    """Densities of k classes at the rows of a table."""

    @abstractmethod
    def add(self, rows: np.ndarray, codes: np.ndarray) -> None:
        """These rows have these classes from now on."""

    @abstractmethod
    def log_densities(self, rows: np.ndarray) -> np.ndarray:
        """Log p(row | class), shape (len(rows), k); -inf where there is nothing."""


class Parzen(Helper):
    """Parzen windows: the mean kernel value with the rows of a class, G_c(x) = sum w_i k(x_i, x) / sum w_i.

    Parameters
    ----------
    gram : Gram
        Kernel values that are windows: none below zero.
    weight : array of shape (n,)
        Weights of the rows.
    k : int
        Classes.
    """

    def __init__(self, gram: Gram, weight: np.ndarray, k: int):
        self._gram, self._weight = gram, weight
        if gram.fits:
            _ = gram.whole  # from which sums are read, a few rows at a time
        self._sums, self._counts = np.zeros((gram.n, k)), np.zeros(k)

    def add(self, rows: np.ndarray, codes: np.ndarray) -> None:
        """Put a window around each of the rows."""
        for c in np.unique(codes):
            here = rows[codes == c]
            windows = np.zeros(self._gram.n)
            windows[here] = self._weight[here]
            self._sums[:, c] += self._gram.times(windows)
            self._counts[c] += self._weight[here].sum()

    def log_densities(self, rows: np.ndarray) -> np.ndarray:
        """Log G."""
        with np.errstate(divide="ignore"):
            return np.log(self._sums[rows] / np.maximum(self._counts, np.finfo(float).tiny))


class Refitted(Helper):
    """A model of the labeled rows that is fitted anew where they are more; subclasses say which.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        The table.
    weight : array of shape (n,)
        Weights of the rows.
    k : int
        Classes.
    """

    def __init__(self, X, weight: np.ndarray, k: int):
        self._X, self._weight = X, weight
        self._codes = np.full(X.shape[0], -1)
        self._classes = range(k)
        self._stale = True

    def add(self, rows: np.ndarray, codes: np.ndarray) -> None:
        """Remember the classes of the rows."""
        self._codes[rows] = codes
        self._stale = True

    def log_densities(self, rows: np.ndarray) -> np.ndarray:
        """What the model says, which must be numbers."""
        if self._stale:
            self._fit(np.flatnonzero(self._codes >= 0))
            self._stale = False
        found = np.asarray(self._read(self._X[rows]), dtype=np.float64)
        odd = bool((np.isnan(found) | np.isposinf(found)).any())
        if odd or found.shape != (len(rows), len(self._classes)):
            raise ValueError(
                f"the helper's log densities have the shape {found.shape}"
                f"{' and hold NaN or infinity' if odd else ''}; they must be one number (or -inf) for each of "
                f"{len(rows)} rows and {len(self._classes)} classes."
            )
        return found

    @abstractmethod
    def _fit(self, rows: np.ndarray) -> None: ...

    @abstractmethod
    def _read(self, X) -> np.ndarray: ...


class PerClass(Refitted):
    """A density estimator of scikit-learn (``fit`` and ``score_samples``), one for each class."""

    def __init__(self, X, weight: np.ndarray, k: int, model: Any):
        super().__init__(X, weight, k)
        self._model = model

    def _fit(self, rows: np.ndarray) -> None:
        self._models = []
        for c in self._classes:
            here = rows[self._codes[rows] == c]
            model = clone(self._model, safe=False)
            if hasattr(model, "n_components"):
                model.n_components = min(model.n_components, len(here))
            here = np.repeat(here, 2) if len(here) == 1 else here  # mixtures want two rows; the density is the same
            told = _weighted(model, self._weight[here])
            self._models.append(model.fit(self._X[here], **told))

    def _read(self, X) -> np.ndarray:
        return np.column_stack([model.score_samples(X) for model in self._models])


class OfClassifier(Refitted):
    """A generative classifier: log p(x, class) - log p(class), or its own ``log_densities``."""

    def __init__(self, X, weight: np.ndarray, k: int, model: Any):
        super().__init__(X, weight, k)
        self._model = model

    def _fit(self, rows: np.ndarray) -> None:
        told = _weighted(self._model, self._weight[rows])
        self._fitted = clone(self._model, safe=False).fit(self._X[rows], self._codes[rows], **told)

    def _read(self, X) -> np.ndarray:
        if hasattr(self._fitted, "log_densities"):
            return self._fitted.log_densities(X)
        prior = self._fitted.class_log_prior_ if hasattr(self._fitted, "class_log_prior_") else None
        prior = np.log(self._fitted.class_prior_) if prior is None else prior
        return self._fitted.predict_joint_log_proba(X) - prior


def _weighted(model, weight: np.ndarray) -> dict:
    """The weights as an argument of fit, left out where all are one."""
    if (weight == 1.0).all():
        return {}
    if not has_fit_parameter(model, "sample_weight"):
        raise ValueError(
            f"the helper {type(model).__name__} takes no sample_weight; use helper='parzen' or 'naive_bayes', or "
            "leave the weights out."
        )
    return {"sample_weight": weight}


def mixture(X, weight: np.ndarray, k: int, seed: int) -> PerClass:
    """Gaussian mixtures, with as many rows as they need and diagonal covariances that a twentieth of X widens."""
    if sparse.issparse(X):
        raise ValueError("helper='mixture' takes a dense table and X is sparse; use helper='parzen' or 'naive_bayes'.")
    from sklearn.mixture import GaussianMixture  # not needed by those who import semisvm alone

    width = 0.05 * float(np.var(X[weight > 0], axis=0).mean()) or 1e-6
    model = GaussianMixture(COMPONENTS, covariance_type="diag", reg_covar=width, random_state=seed)
    return PerClass(X, weight, k, model)


def naive_bayes(X, weight: np.ndarray, k: int) -> OfClassifier:
    """Naive Bayes: Gaussian on a dense table, multinomial on a sparse one, which holds counts or frequencies."""
    from sklearn.naive_bayes import GaussianNB, MultinomialNB

    if not sparse.issparse(X):
        return OfClassifier(X, weight, k, GaussianNB(var_smoothing=0.05))
    if X.nnz and X.data.min() < 0:
        raise ValueError(
            "helper='naive_bayes' on a sparse table is multinomial and X holds numbers below zero; use helper='parzen'."
        )
    return OfClassifier(X, weight, k, MultinomialNB())


def own(X, weight: np.ndarray, k: int, model: Any) -> Refitted:
    """A helper from an object of the user's."""
    made = not isinstance(model, type)  # a class has the methods too
    if made and (hasattr(model, "log_densities") or hasattr(model, "predict_joint_log_proba")):
        return OfClassifier(X, weight, k, model)
    if made and hasattr(model, "score_samples"):
        return PerClass(X, weight, k, model)
    raise ValueError(
        f"helper={model!r} is not allowed; helper takes 'parzen', 'mixture', 'naive_bayes', or an object with fit and "
        "one of score_samples (of one class), predict_joint_log_proba, log_densities (a column per class)."
    )
