"""Transductive SVM by the concave-convex procedure."""

from __future__ import annotations

from .._validation import Real
from ..losses import Hinge, SymmetricRamp
from ..solvers import CCCP
from ._hinge import HingeTSVM
from .parameters import MeanBalanceParameters, limit_parameter, parameter, tol_parameter
from .problems import Formulation


class CCCPTSVM(MeanBalanceParameters, HingeTSVM):
    r"""Transductive SVM by the concave-convex procedure (CCCP).

    Minimizes

    .. math:: \tfrac12\|w\|^2 + C \sum_{i \in L} (1 - y_i f(x_i))_+ + C^* \sum_{j \in U} \min(1+s, (1-|f(x_j)|)_+)

    subject to a mean of f over the unlabeled samples that is fixed by ``balance``: unlabeled samples are pushed out of
    the margin, to whichever side they are on; those with :math:`|f| < -s` have no influence. The article counts each
    unlabeled sample twice, which adds the constant :math:`C^* u (1-s)` to its objective.

    {parameters}

    {attributes}
    certificate_ : Certificate
        Of kind "stationary": the violation of the conditions of a stationary point.

    References
    ----------
    R. Collobert, F. Sinz, J. Weston and L. Bottou, "Large scale transductive SVMs", JMLR 7, 2006.
    https://jmlr.org/papers/v7/collobert06a.html

    Examples
    --------
    >>> from semisvm import CCCPTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> partly = hide_labels(y, 50, random_state=0)
    >>> model = CCCPTSVM(C=1.0).fit(X, partly)
    >>> hidden = partly == -1
    >>> float((model.supervised_.predict(X[hidden]) != y[hidden]).mean().round(3))
    0.126
    >>> float((model.transduction_[hidden] != y[hidden]).mean().round(3))
    0.1
    """

    s: float = parameter(-0.3, Real(-1.0, 0.0, "high"), doc="Where the ramp is cut, in (-1, 0].")
    tol: float = tol_parameter("Tolerance of each convex step, in units of f.")
    max_iter: int = limit_parameter(100, "Largest number of convex steps.")

    def _formulation(self) -> Formulation:
        solver = CCCP("svm", self.tol, self.max_iter, max_time=self.max_time)
        return Formulation(Hinge(), SymmetricRamp(float(self.s)), solver)
