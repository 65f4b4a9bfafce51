"""Semi-supervised least-squares SVMs that take labels from their own scores: one at a time, or all at once."""

from __future__ import annotations

from .._validation import Options
from ..solvers import DifferenceConvex, Progressive
from .lssvm_search import LSSVMSearchBase
from .parameters import limit_parameter, parameter


class ProgressiveLSSVM(LSSVMSearchBase):
    r"""Semi-supervised LS-SVM that labels one sample at a time: S2LS-SVM 2.

    Minimizes, over w, b and the labels :math:`y_j = \pm 1` of the unlabeled samples,

    .. math:: \tfrac12\|w\|^2 + \tfrac C2 \sum_{i \in L} (y_i - f(x_i))^2 + \tfrac{C^*}2 \sum_{j \in U} (y_j - f(x_j))^2

    step by step: the unlabeled sample that fits the present model best joins it, until none is left. The next label
    belongs to the class that is furthest below its share of ``balance``; with ``balance=None``, below its share of the
    labeled samples. With ``label_order="objective"`` the next label is the one that costs less. All candidates are kept
    up to date by a pivoted elimination, O(u^3/3) in all.

    {parameters}

    {attributes}
    certificate_ : Certificate
        Of kind "none": ``value`` samples were not reached.

    References
    ----------
    M. M. Adankon, M. Cheriet and A. Biem, "Semisupervised least squares support vector machine", IEEE Transactions on
    Neural Networks 20, 2009. https://doi.org/10.1109/TNN.2009.2031143

    Examples
    --------
    >>> from semisvm import ProgressiveLSSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> model = ProgressiveLSSVM().fit(X, hide_labels(y, 50, random_state=0))
    >>> int((model.transduction_ != y).sum())  # of 500 samples without a label
    54
    """

    selection: str = parameter(
        "growth",
        Options(["growth", "alpha"]),
        doc="Which sample is next: the one that adds least to the objective, or that of smallest multiplier as in the "
        "article.",
    )
    label_order: str = parameter(
        "turns",
        Options(["turns", "objective"]),
        doc="Which label is next: the classes take turns, in proportion to ``balance``, and without one to the labeled "
        'samples; or the label that costs less. The article says "according to the objective function"; read so, and '
        "without a balance, all samples can end in one class where C* is large (half the samples wrong on its own data "
        "sets). Turns come near its figures.",
    )

    def _solver(self) -> Progressive:
        return Progressive(self.selection, self.label_order, max_time=self.max_time)


class DCLSSVM(LSSVMSearchBase):
    r"""Transductive LS-SVM by the difference-convex algorithm: TLS-SVM.

    Minimizes

    .. math:: \tfrac12\|w\|^2 + \tfrac C2 \sum_{i \in L} (y_i - f(x_i))^2 + \tfrac{C^*}2 \sum_{j \in U} (1 - |f(x_j)|)^2

    by fitting to the labels sign f of the unlabeled samples until they stay. The objective decreases at every step.
    With a balance the samples of the highest scores become positive; the article has none.

    {parameters}

    {attributes}
    certificate_ : Certificate
        Of kind "stationary": ``value`` is the largest \|f\| of a sample whose label is not the sign of f.

    References
    ----------
    J. Shim and K. Seok, "A transductive least squares support vector machine with the difference convex algorithm",
    Journal of the Korean Data and Information Science Society 25, 2014.

    Examples
    --------
    >>> from semisvm import DCLSSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> model = DCLSSVM().fit(X, hide_labels(y, 50, random_state=0))
    >>> int((model.transduction_ != y).sum())  # of 500 samples without a label
    53
    """

    max_iter: int = limit_parameter(1000, "Largest number of steps.")

    def _solver(self) -> DifferenceConvex:
        return DifferenceConvex(self.max_iter, max_time=self.max_time)
