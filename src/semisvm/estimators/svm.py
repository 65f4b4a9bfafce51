"""Supervised SVMs: hinge, squared hinge and ramp loss."""

from __future__ import annotations

from typing import Any

from .._validation import Options, Real
from ..losses import LABELED, Ramp
from ..solvers import CCCP, SupervisedSVM
from .base import BaseSVM
from .parameters import (
    InterceptParameters,
    ToleranceParameters,
    limit_parameter,
    parameter,
    random_state_parameter,
    tol_parameter,
)
from .problems import Formulation


class SVM(InterceptParameters, ToleranceParameters, BaseSVM):
    r"""Support vector machine.

    Minimizes :math:`\frac12\|w\|^2 + C \sum_i \ell(y_i f(x_i))` with the hinge :math:`\ell(t) = (1-t)_+` or its square.
    Equal to :class:`sklearn.svm.SVC` for the hinge, and several times faster from a few thousand samples on, because
    kernel values are computed in blocks by matrix multiplication. Behind a kernel it is solved by sequential minimal
    optimization. With ``kernel="linear"`` no kernel matrix is needed: it is solved by Newton steps of an augmented
    Lagrangian method, with very many features by coordinate descent, both as fast as :class:`sklearn.svm.LinearSVC` and
    with a free intercept as well. Unlabeled samples are left out.

    {parameters}

    {attributes}
    certificate_ : Certificate
        Violation of the optimality conditions, lower bound and duality gap.

    References
    ----------
    C. Cortes and V. Vapnik, "Support-vector networks", Machine Learning 20, 1995. https://doi.org/10.1007/BF00994018

    R.-E. Fan, P.-H. Chen and C.-J. Lin, "Working set selection using second order information for training support
    vector machines", JMLR 6, 2005. https://jmlr.org/papers/v6/fan05a.html

    X. Li, D. Sun and K.-C. Toh, "A highly efficient semismooth Newton augmented Lagrangian method for solving Lasso
    problems", SIAM Journal on Optimization 28, 2018. https://doi.org/10.1137/16M1097572

    C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A dual coordinate descent method for
    large-scale linear SVM", ICML, 2008. https://doi.org/10.1145/1390156.1390208

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from semisvm import SVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVM().fit(X[50:], y[50:])
    >>> float(model.score(X[50:], y[50:]))
    0.98
    """

    loss: str = parameter("hinge", Options(["hinge", "squared_hinge"]), doc="The loss.")
    max_iter: int = limit_parameter(
        10_000_000,
        "Largest number of iterations: pair steps behind a kernel, else Newton steps or sweeps over the samples.",
    )

    def _formulation(self) -> Formulation:
        return Formulation(LABELED[self.loss](), None, SupervisedSVM(self.tol, self.max_iter, max_time=self.max_time))


class RampSVM(InterceptParameters, ToleranceParameters, BaseSVM):
    r"""Ramp-loss SVM by the concave-convex procedure.

    Minimizes :math:`\frac12\|w\|^2 + C \sum_i \min(1-s, (1-y_i f(x_i))_+)`. Samples with :math:`y f < s`, outliers
    mostly, do not become support vectors, so the model is sparser than the SVM at the same error. Unlabeled samples are
    left out.

    {parameters}

    {attributes}
    certificate_ : Certificate
        Of kind "stationary": the violation of the conditions of a stationary point.

    References
    ----------
    R. Collobert, F. Sinz, J. Weston and L. Bottou, "Trading convexity for scalability", ICML, 2006.
    https://doi.org/10.1145/1143844.1143870

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from semisvm import SVM, RampSVM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> y[::10] = 1 - y[::10]
    >>> ramp, hinge = RampSVM(s=0.0).fit(scale(X), y), SVM().fit(scale(X), y)
    >>> len(ramp.support_) < len(hinge.support_) / 2
    True
    """

    s: float = parameter(-1.0, Real(high=1.0), doc="Where the loss stops growing; below 1.")
    init: str = parameter(
        "svm",
        Options(["svm", "subset"]),
        doc="Start from the SVM of all samples, or from that of a random tenth of them (at least 500), which is faster "
        "and leaves kernel values of samples that are never needed uncomputed.",
    )
    tol: float = tol_parameter("Tolerance of each convex step, in units of f.")
    max_iter: int = limit_parameter(100, "Largest number of convex steps.")
    random_state: Any = random_state_parameter('Draws the subset of ``init="subset"``.')

    def _formulation(self) -> Formulation:
        solver = CCCP(self.init, self.tol, self.max_iter, max_time=self.max_time)
        return Formulation(Ramp(float(self.s)), None, solver)
