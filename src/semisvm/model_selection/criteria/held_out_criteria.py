"""Criteria on held-out scores: the smooth empirical error, PRESS, OCV and the error itself."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.special import expit

from ..._validation import Real, check_value
from .base import BoundCriterion, Criterion, Evaluated, LeastSquaresBound
from .cv_splits import Split, check_cv, make_splits
from .held_out_scores import HeldOut, by_splits, leave_one_out
from .model_family import ModelFamily


class HeldOutCriterion(Criterion):
    """A weighted mean, or sum, of a loss of held-out scores."""

    def __init__(self, cv: Any = "auto"):
        self.cv = cv

    @abstractmethod
    def _losses(self, f: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Losses of scores f with labels y of +-1, and their derivatives in f; arrays of samples by problems."""

    def _scale(self, weights: np.ndarray) -> float:
        """What the weighted sum of the losses is divided by."""
        return float(weights.sum())

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
        cv = check_cv(self.cv)
        in_closed_form = family.is_least_squares and isinstance(cv, str)
        if in_closed_form and (family.is_supervised or cv == "loo"):
            return LeastSquaresBound(family, lambda models: self.of_scores(family, leave_one_out(models)))
        return SplitsBound(self, family, make_splits(cv, family, X, y))

    def of_scores(self, family: ModelFamily, held: HeldOut) -> Evaluated:
        """The criterion of held-out scores, and its gradient.

        Parameters
        ----------
        family : ModelFamily
            Where the labels and weights are.
        held : HeldOut
            The scores.

        Returns
        -------
        value : float
        gradient : callable
        """
        y, weights = family.signs[held.samples], family.criterion_weights[held.samples]
        losses, slopes = self._losses(held.scores, y)
        factor = weights[:, None] / (self._scale(weights) * y.shape[1])
        return float((factor * losses).sum()), lambda: held.gradient(factor * slopes)


class SplitsBound(BoundCriterion):
    """A criterion on scores that are held out split by split, with a fit for each."""

    def __init__(self, criterion: HeldOutCriterion, family: ModelFamily, splits: list[Split]):
        self._criterion = criterion
        self._family = family
        self._splits = splits

    def evaluate(self, theta: np.ndarray) -> Evaluated:
        """The value at a point, and a function that computes the gradient there."""
        held = by_splits(self._family.at(theta), self._splits)
        return self._criterion.of_scores(self._family, held)


class EmpiricalError(HeldOutCriterion):
    r"""The smooth empirical error of held-out scores.

    The mean of :math:`|t_i - p_i|` with t = (y + 1)/2 and :math:`p = 1/(1 + \exp(-(\text{slope} f + \text{offset})))`,
    A and B of the article being -slope and -offset, fixed so that the criterion stays smooth. The larger the slope, the
    closer to the error.

    Parameters
    ----------
    cv : {"auto", "loo"}, int, splitter or list of pairs of indices, default="auto"
        How samples are held out. "loo" leaves out one labeled sample at a time: in closed form for least squares, by a
        fit for each sample for the SVM. In the closed form of semi-supervised models the unlabeled samples keep the
        labels that were found with the help of the one that is left out, which favors large C. "auto" is "loo" for
        the supervised LS-SVM and else five folds, or as many as the smallest class has labels. A number is that of
        stratified folds of the labeled samples; one split is a validation set, as of ``LabeledShuffleSplit(1)``. The
        models of a split, labels of unlabeled samples and shares of classes included, are trained without the samples
        that it holds out.
    slope : float, default=3.0
        Steepness of the sigmoid, above 0.
    offset : float, default=0.0
        Shift of the sigmoid.

    References
    ----------
    N. E. Ayat, M. Cheriet and C. Y. Suen, "Automatic model selection for the optimization of SVM kernels", Pattern
    Recognition 38, 2005. https://doi.org/10.1016/j.patcog.2005.03.011

    M. M. Adankon and M. Cheriet, "Model selection for the LS-SVM. Application to handwriting recognition", Pattern
    Recognition 42, 2009. https://doi.org/10.1016/j.patcog.2008.10.023

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from semisvm import LSSVM
    >>> from semisvm.model_selection import EmpiricalError
    >>> X, y = load_iris(return_X_y=True)
    >>> narrow, wide = (EmpiricalError().value(LSSVM(1.0, gamma=gamma), X, y) for gamma in (10.0, 0.3))
    >>> narrow > wide
    True
    """

    def __init__(self, cv: Any = "auto", *, slope: float = 3.0, offset: float = 0.0):
        super().__init__(cv)
        self.slope = slope
        self.offset = offset

    def _losses(self, f: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slope = check_value("slope", self.slope, [Real(0.0)])
        offset = check_value("offset", self.offset, [Real()])
        error = expit(-y * (slope * f + offset))
        return error, -slope * y * error * (1.0 - error)


class PRESS(HeldOutCriterion):
    """The sum of squared held-out residuals, the predicted residual sum of squares.

    Parameters
    ----------
    cv : {"auto", "loo"}, int, splitter or list of pairs of indices, default="auto"
        How samples are held out, as in ``EmpiricalError``.

    References
    ----------
    G. C. Cawley, "Leave-one-out cross-validation based model selection criteria for weighted LS-SVMs", IJCNN, 2006.
    https://doi.org/10.1109/IJCNN.2006.246634

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from semisvm import LSSVM
    >>> from semisvm.model_selection import PRESS
    >>> X, y = load_iris(return_X_y=True)
    >>> value, gradient = PRESS().value_and_gradient(LSSVM(), X, y)
    >>> sorted(gradient)
    ['C', 'gamma']
    """

    def _losses(self, f: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (y - f) ** 2, 2.0 * (f - y)

    def _scale(self, weights: np.ndarray) -> float:
        return 1.0


class OCV(PRESS):
    """Ordinary cross-validation: the mean of squared held-out residuals.

    For TLS-SVM and other semi-supervised least-squares SVMs the labels of the unlabeled samples, which the model of all
    samples found, stay as they are while a sample is left out; (y - f)/(1 - h) is then exact. They were found with the
    label that is left out, so that a large C looks better than it is; ``cv=5`` has no such bias.

    Parameters
    ----------
    cv : {"auto", "loo"}, int, splitter or list of pairs of indices, default="loo"
        How samples are held out, as in ``EmpiricalError``.

    References
    ----------
    J. Shim and K. Seok, "A transductive least squares support vector machine with the difference convex algorithm",
    Journal of the Korean Data and Information Science Society 25, 2014.

    Examples
    --------
    >>> from semisvm import DCLSSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> from semisvm.model_selection import OCV
    >>> X, y = make_two_gaussians(100, 2, shift=1.0, random_state=0)
    >>> narrow, wide = (OCV().value(DCLSSVM(gamma=g), X, hide_labels(y, 20, random_state=0)) for g in (10.0, 0.1))
    >>> narrow > wide
    True
    """

    def __init__(self, cv: Any = "loo"):
        super().__init__(cv)

    def _scale(self, weights: np.ndarray) -> float:
        return float(weights.sum())


class LeaveOneOutError(HeldOutCriterion):
    """The share of held-out samples whose predicted class is wrong.

    It has no gradient; use it to compare a few candidates.

    Parameters
    ----------
    cv : {"auto", "loo"}, int, splitter or list of pairs of indices, default="auto"
        How samples are held out, as in ``EmpiricalError``.

    References
    ----------
    G. C. Cawley, "Leave-one-out cross-validation based model selection criteria for weighted LS-SVMs", IJCNN, 2006.
    https://doi.org/10.1109/IJCNN.2006.246634

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from semisvm import LSSVM
    >>> from semisvm.model_selection import LeaveOneOutError
    >>> X, y = load_iris(return_X_y=True)
    >>> round(LeaveOneOutError().value(LSSVM(1.0, gamma=0.3), X, y), 3)
    0.027
    """

    has_gradient = False

    def _losses(self, f: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if y.shape[1] == 1:
            wrong = (f > 0) != (y > 0)
        else:
            wrong = np.broadcast_to((f.argmax(axis=1) != y.argmax(axis=1))[:, None], y.shape)
        return wrong.astype(float), np.zeros_like(f)
