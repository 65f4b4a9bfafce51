"""Criteria of least-squares models that hold nothing out: generalized cross-validation and the evidence."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from .base import BoundCriterion, Criterion, Evaluated, LeastSquaresBound
from .closed_form import LeastSquaresModels, Slopes
from .model_family import ModelFamily


class LeastSquaresCriterion(Criterion):
    """A function of the least-squares models of all samples."""

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
        if not family.is_least_squares:
            raise ValueError(
                f"{type(self).__name__} is a criterion of least-squares models; use EmpiricalError for the SVM."
            )
        return LeastSquaresBound(family, lambda models: self._of_models(family, models))

    @abstractmethod
    def _of_models(self, family: ModelFamily, models: LeastSquaresModels) -> Evaluated:
        """Value and gradient."""


class GCV(LeastSquaresCriterion):
    r"""Generalized cross-validation.

    :math:`l \sum_i (y_i - f_i)^2 / (l - \operatorname{tr} H)^2` over the l labeled samples, with f the model of all
    samples and :math:`h_{ii} = \partial f_i / \partial y_i = 1 - S_{ii}/c_i`: OCV with every :math:`h_{ii}` replaced by
    their mean. The labels that a semi-supervised model found are given ones here. Weights of samples are weights in the
    sums, and l is their sum.

    References
    ----------
    P. Craven and G. Wahba, "Smoothing noisy data with spline functions", Numerische Mathematik 31, 1979.
    https://doi.org/10.1007/BF01404567

    J. Shim and K. Seok, "A transductive least squares support vector machine with the difference convex algorithm",
    Journal of the Korean Data and Information Science Society 25, 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from semisvm import LSSVM
    >>> from semisvm.model_selection import GCV
    >>> X, y = load_iris(return_X_y=True)
    >>> narrow, wide = (GCV().value(LSSVM(1.0, gamma=gamma), X, y) for gamma in (10.0, 0.3))
    >>> narrow > wide
    True
    """

    def _of_models(self, family: ModelFamily, models: LeastSquaresModels) -> Evaluated:
        known, w = models.labeled, family.criterion_weights[models.samples[models.labeled]]
        c = models.cost[known]
        residual = models.alpha[known] / c[:, None]
        squares, freedom = w @ residual**2, float(w @ (models.diagonal[known] / c))
        k, factor = models.alpha.shape[1], w.sum() / freedom**2
        value = float(factor * squares.mean())

        def gradient() -> np.ndarray:
            in_residual = 2.0 * factor / k * w[:, None] * residual
            in_freedom = -2.0 * value / freedom
            in_alpha, in_diagonal, in_cost = (np.zeros_like(a) for a in (models.alpha, models.diagonal, models.cost))
            in_alpha[known] = in_residual / c[:, None]
            in_diagonal[known] = in_freedom * w / c
            in_cost[known] = -(in_residual * residual).sum(axis=1) - in_freedom * w * models.diagonal[known] / c
            return models.gradient(Slopes(in_alpha, in_diagonal, 0.0, in_cost))

        return value, gradient


class Evidence(LeastSquaresCriterion):
    r"""Minus the logarithm of the evidence of the labels, at the best overall scale.

    f is a Gaussian process of covariance :math:`K/\mu` with a flat prior on a free intercept, and y = f with noise of
    variance :math:`1/(\mu c_i)`. At the best :math:`\mu`, with m degrees of freedom (samples, less one for a free
    intercept), the criterion is

    .. math:: \frac m2 \left(\log \frac{2 \pi\, y'Sy}{m} + 1\right) + \frac12 \log |\det H|

    a mean over the binary problems if there are several. The labels of semi-supervised models, those of
    ``BayesianLSSVM`` above all, are the ones that the model found: there it is minus ``evidence_``.

    References
    ----------
    M. M. Adankon, M. Cheriet and A. Biem, "Semisupervised learning using Bayesian interpretation: application to
    LS-SVM", IEEE Transactions on Neural Networks 22, 2011. https://doi.org/10.1109/TNN.2011.2105888

    T. Van Gestel et al., "Bayesian framework for least-squares support vector machine classifiers", Neural Computation
    14, 2002. https://doi.org/10.1162/089976602753633411

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from semisvm import LSSVM
    >>> from semisvm.model_selection import Evidence
    >>> X, y = load_iris(return_X_y=True)
    >>> narrow, wide = (Evidence().value(LSSVM(1.0, gamma=gamma), X, y) for gamma in (10.0, 0.3))
    >>> narrow > wide
    True
    """

    def _of_models(self, family: ModelFamily, models: LeastSquaresModels) -> Evaluated:
        m, k = models.degrees, models.alpha.shape[1]
        quadratic = np.einsum("ij,ij->j", models.y, models.alpha)
        value = 0.5 * m * (np.log(2.0 * np.pi * quadratic / m) + 1.0).mean() + 0.5 * models.log_det

        def gradient() -> np.ndarray:
            in_alpha = 0.5 * m / k * models.y / quadratic
            zeros = np.zeros_like(models.cost)
            return models.gradient(Slopes(in_alpha, zeros, 0.5, zeros))

        return float(value), gradient
