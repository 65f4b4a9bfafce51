r"""Criteria of model selection, smooth in the logarithms of all hyperparameters, with one protocol.

A criterion is small where the hyperparameters are good. ``value`` and ``value_and_gradient`` say what it is worth at
the hyperparameters of an estimator; ``GradientSearchCV`` minimizes it. With held-out scores f, labels y = +-1, sample
weights w of the l labeled samples and means over the binary problems of one class against the rest:

====================  ========================================================================  ======================
criterion             value                                                                     models
====================  ========================================================================  ======================
``EmpiricalError``    mean of 1/(1 + exp(y (slope f + offset)))                                 all
``PRESS``             sum of (y - f)^2                                                          all
``OCV``               mean of (y - f)^2                                                         all
``LeaveOneOutError``  share of held-out samples in the wrong class (no gradient)                all
``GCV``               l sum (y - f)^2 / (l - tr H)^2, f here of the model itself                least squares
``Evidence``          - log evidence of the labels                                              least squares
====================  ========================================================================  ======================

"All" are the SVM with hinge or squared hinge, the LS-SVM, and semi-supervised LS-SVMs at the labels that they find.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .closed_form import LeastSquaresModels, dense_models
from .model_family import ModelFamily
from .spectral_form import SpectralForm

Evaluated = tuple[float, Callable[[], np.ndarray]]


class Criterion(BaseEstimator, ABC):
    """A criterion of model selection; small values are good.

    Subclasses say in ``bind`` how it is evaluated at a point of a family of models.

    Examples
    --------
    >>> from semisvm.model_selection import GCV, Criterion
    >>> isinstance(GCV(), Criterion)
    True
    """

    has_gradient = True

    @abstractmethod
    def bind(self, family: ModelFamily, X: Any, y: Any) -> BoundCriterion:
        """The criterion on the data of a family, ready for many evaluations.

        Parameters
        ----------
        family : ModelFamily
            The models.
        X, y : array-like
            The data that the family was made of.

        Returns
        -------
        BoundCriterion
        """

    def value(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The criterion at the hyperparameters of an estimator.

        Parameters
        ----------
        estimator : SVM, LSSVM or a semi-supervised least-squares SVM
            Says what is fitted; itself it is left as it is.
        X : array, DataFrame or CSR of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Labels, with markers.
        sample_weight : array-like of shape (n_samples,), optional
            Factors on the costs of the samples, and weights of the labeled ones in the criterion.

        Returns
        -------
        float
        """
        family = ModelFamily(estimator, X, y, sample_weight)
        return self.bind(family, X, y).evaluate(family.start)[0]

    def value_and_gradient(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any = None, params: Sequence[str] | None = None
    ) -> tuple[float, dict[str, float]]:
        """The criterion and its derivatives in the logarithms of hyperparameters, at those of an estimator.

        Parameters
        ----------
        estimator : SVM, LSSVM or a semi-supervised least-squares SVM
            Says what is fitted; itself it is left as it is.
        X : array, DataFrame or CSR of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Labels, with markers.
        sample_weight : array-like of shape (n_samples,), optional
            As in ``value``.
        params : sequence of str, optional
            Names out of "C", "C_unlabeled", "gamma", "coef0" and "sigma"; None for C and, where the kernel has it,
            gamma.

        Returns
        -------
        value : float
        gradient : dict
            From name to derivative in the logarithm.
        """
        self.require_gradient()
        family = ModelFamily(estimator, X, y, sample_weight, params)
        value, gradient = self.bind(family, X, y).evaluate(family.start)
        return value, dict(zip(family.names, gradient().tolist()))

    def require_gradient(self) -> None:
        """Refuse a criterion that has no derivatives."""
        if not self.has_gradient:
            raise ValueError(
                f"{type(self).__name__} is constant almost everywhere and has no gradient; use EmpiricalError, its "
                "smooth form."
            )


class BoundCriterion(ABC):
    """A criterion on the data of one family."""

    @abstractmethod
    def evaluate(self, theta: np.ndarray) -> Evaluated:
        """The value at a point, and a function that computes the gradient there."""

    def screen(self, theta: np.ndarray) -> float:
        """The value at a point, by the cheapest way where many points share a kernel."""
        return self.evaluate(theta)[0]


class LeastSquaresBound(BoundCriterion):
    """A criterion that is a function of the least-squares models of all samples.

    Where the kernel stays, or for values without gradient, one eigendecomposition serves all values of C.
    """

    def __init__(self, family: ModelFamily, evaluate: Callable[[LeastSquaresModels], Evaluated]):
        self._family = family
        self._evaluate = evaluate
        self._spectral: tuple[Any, SpectralForm] | None = None

    def evaluate(self, theta: np.ndarray) -> Evaluated:
        """The value at a point, and a function that computes the gradient there."""
        if self._family.is_supervised and self._family.names == ("C",):
            return self._evaluate(self._by_spectrum(theta))
        return self._evaluate(dense_models(self._family.at(theta)))

    def screen(self, theta: np.ndarray) -> float:
        """The value at a point, by the eigendecomposition of its kernel."""
        if not self._family.is_supervised:
            return self.evaluate(theta)[0]
        return self._evaluate(self._by_spectrum(theta))[0]

    def _by_spectrum(self, theta: np.ndarray) -> LeastSquaresModels:
        kernel = self._family.kernel_at(theta)
        if self._spectral is None or self._spectral[0] != kernel:
            self._spectral = kernel, SpectralForm(self._family, theta)
        return self._spectral[1].at(self._family.cost_at(theta))
