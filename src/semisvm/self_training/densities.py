"""Class-conditional densities: the generative helpers of Help-Training.

A density estimator is given labeled samples as they come, and returns log p(x | class) of any training sample, up to a
constant that all classes share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ..spaces import Gram
from .metadata import FitMetadata

N_COMPONENTS = 2  # Gaussians of a class


class DensityEstimator(ABC):
    """Densities of k classes at the training samples."""

    @abstractmethod
    def add(self, samples: np.ndarray, codes: np.ndarray) -> None:
        """Include samples of these classes."""

    @abstractmethod
    def log_densities(self, samples: np.ndarray) -> np.ndarray:
        """log p(x | class), shape (len(samples), k); -inf where the density is zero."""


class ParzenWindows(DensityEstimator):
    """Parzen windows: the mean kernel value with the samples of a class, G_c(x) = sum w_i k(x_i, x) / sum w_i.

    Parameters
    ----------
    gram : Gram
        Kernel values that are windows: none below zero.
    weights : array of shape (n,)
        Weights of the samples.
    k : int
        Number of classes.
    """

    def __init__(self, gram: Gram, weights: np.ndarray, k: int):
        self._gram, self._weights = gram, weights
        if gram.fits_memory:
            gram.compute()  # its rows are read a few at a time
        self._sums, self._counts = np.zeros((gram.n, k)), np.zeros(k)

    def add(self, samples: np.ndarray, codes: np.ndarray) -> None:
        """Put a window around each of the samples."""
        for c in np.unique(codes):
            of_class = samples[codes == c]
            windows = np.zeros(self._gram.n)
            windows[of_class] = self._weights[of_class]
            self._sums[:, c] += self._gram.product(windows)
            self._counts[c] += self._weights[of_class].sum()

    def log_densities(self, samples: np.ndarray) -> np.ndarray:
        """log G."""
        with np.errstate(divide="ignore"):
            return np.log(self._sums[samples] / np.maximum(self._counts, np.finfo(float).tiny))


class RefittedDensity(DensityEstimator):
    """A model that is fitted anew when samples were added; subclasses say which.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        All samples.
    metadata : FitMetadata
        Weights of the samples, and what else ``fit`` gets.
    k : int
        Number of classes.
    model : object
        The model, not fitted.
    """

    def __init__(self, X: Any, metadata: FitMetadata, k: int, model: Any):
        self._X, self._metadata, self._model = X, metadata, model
        self._codes = np.full(X.shape[0], -1)
        self._classes = range(k)
        self._is_stale = True

    def add(self, samples: np.ndarray, codes: np.ndarray) -> None:
        """Remember the classes of the samples."""
        self._codes[samples] = codes
        self._is_stale = True

    def log_densities(self, samples: np.ndarray) -> np.ndarray:
        """The densities of the fitted model, which must be numbers."""
        if self._is_stale:
            labeled = np.flatnonzero(self._codes >= 0)
            self._check_weights(labeled)
            self._fit(labeled)
            self._is_stale = False
        found = np.asarray(self._evaluate(self._X[samples]), dtype=np.float64)
        not_finite = bool((np.isnan(found) | np.isposinf(found)).any())
        if not_finite or found.shape != (len(samples), len(self._classes)):
            raise ValueError(
                f"the helper's log densities have the shape {found.shape}"
                f"{' and hold NaN or infinity' if not_finite else ''}; they must be one number (or -inf) for each of "
                f"{len(samples)} samples and {len(self._classes)} classes."
            )
        return found

    def _check_weights(self, samples: np.ndarray) -> None:
        if not self._metadata.take(samples).takes_weights(self._model):
            raise ValueError(
                f"the helper {type(self._model).__name__} takes no sample_weight; use helper='parzen' or "
                "'naive_bayes', or leave the weights out."
            )

    @abstractmethod
    def _fit(self, samples: np.ndarray) -> None:
        """Fit to some samples."""

    @abstractmethod
    def _evaluate(self, X: Any) -> np.ndarray:
        """Log densities, a column per class."""


class ClasswiseDensity(RefittedDensity):
    """A density estimator of scikit-learn (``fit`` and ``score_samples``), one for each class."""

    def _fit(self, samples: np.ndarray) -> None:
        self._models = []
        for c in self._classes:
            of_class = samples[self._codes[samples] == c]
            model = clone(self._model, safe=False)
            if hasattr(model, "n_components"):
                model.n_components = min(model.n_components, len(of_class))
            if len(of_class) == 1:
                of_class = np.repeat(of_class, 2)  # mixtures need two samples; the density is the same
            self._models.append(self._metadata.take(of_class).fit(model, self._X[of_class]))

    def _evaluate(self, X: Any) -> np.ndarray:
        return np.column_stack([model.score_samples(X) for model in self._models])


class ClassifierDensity(RefittedDensity):
    """A generative classifier: log p(x, class) - log p(class), or its own ``log_densities``."""

    def _fit(self, samples: np.ndarray) -> None:
        model = clone(self._model, safe=False)
        self._fitted = self._metadata.take(samples).fit(model, self._X[samples], self._codes[samples])

    def _evaluate(self, X: Any) -> np.ndarray:
        fitted = self._fitted
        if hasattr(fitted, "log_densities"):
            return fitted.log_densities(X)
        log_prior = fitted.class_log_prior_ if hasattr(fitted, "class_log_prior_") else np.log(fitted.class_prior_)
        return fitted.predict_joint_log_proba(X) - log_prior


def mixture_density(X: Any, weights: np.ndarray, k: int, seed: int) -> ClasswiseDensity:
    """Gaussian mixtures with diagonal covariances, to which a twentieth of the variance of X is added."""
    if sparse.issparse(X):
        raise ValueError("helper='mixture' takes dense samples and X is sparse; use helper='parzen' or 'naive_bayes'.")
    from sklearn.mixture import GaussianMixture  # imported here to keep ``import semisvm`` light

    width = 0.05 * float(np.var(X[weights > 0], axis=0).mean()) or 1e-6
    model = GaussianMixture(N_COMPONENTS, covariance_type="diag", reg_covar=width, random_state=seed)
    return ClasswiseDensity(X, FitMetadata(weights), k, model)


def naive_bayes_density(X: Any, weights: np.ndarray, k: int) -> ClassifierDensity:
    """Naive Bayes: Gaussian on dense samples, multinomial on sparse ones, which hold counts or frequencies."""
    from sklearn.naive_bayes import GaussianNB, MultinomialNB

    if not sparse.issparse(X):
        return ClassifierDensity(X, FitMetadata(weights), k, GaussianNB(var_smoothing=0.05))
    if X.nnz and X.data.min() < 0:
        raise ValueError(
            "helper='naive_bayes' on sparse samples is multinomial and X holds numbers below zero; use helper='parzen'."
        )
    return ClassifierDensity(X, FitMetadata(weights), k, MultinomialNB())


def user_density(X: Any, metadata: FitMetadata, k: int, model: Any) -> RefittedDensity:
    """Densities from an object that the user passes."""
    is_object = not isinstance(model, type)  # a class has the methods too
    if is_object and (hasattr(model, "log_densities") or hasattr(model, "predict_joint_log_proba")):
        return ClassifierDensity(X, metadata, k, model)
    if is_object and hasattr(model, "score_samples"):
        return ClasswiseDensity(X, metadata, k, model)
    raise ValueError(
        f"helper={model!r} is not allowed; helper takes 'parzen', 'mixture', 'naive_bayes', or an object with fit and "
        "one of score_samples (of one class), predict_joint_log_proba, log_densities (a column per class)."
    )
