"""Semi-supervised least-squares SVMs: what all of them share, and those that flip and switch labels."""

from __future__ import annotations

from abc import abstractmethod

from .._validation import Options
from ..losses import Squared, SymmetricSquared
from ..solvers import LabelSearch, SafeProjection, Solver
from ._semi_supervised import CostByLabels, SemiSupervisedSVM
from .base import BaseSVM
from .lssvm import LSSVM
from .parameters import (
    ApproximationParameters,
    CountBalanceParameters,
    InterceptParameters,
    limit_parameter,
    max_time_parameter,
    parameter,
    unlabeled_cost_parameter,
)
from .problems import Formulation, UnlabeledSettings


class LSSVMSearchBase(
    CostByLabels, InterceptParameters, ApproximationParameters, CountBalanceParameters, SemiSupervisedSVM
):
    """Squared losses on all samples, and a solver that searches labels, or the safe projection in its place."""

    C_unlabeled: float | None = unlabeled_cost_parameter("C l/u, and 0 leaves the unlabeled samples out")
    safe: bool = parameter(
        False,
        Options([True, False]),
        doc="Return the safe projection instead of the search (:mod:`semisvm.solvers.least_squares.safe_projection`): "
        "whatever the true labels are, its objective is not worse than that of the supervised model. It differs "
        "from that only if the supervised scores of unlabeled samples exceed 1 in magnitude, and then in few labels. "
        "No balance is kept then (one that is given is refused), and all least-squares classes give the same model.",
    )
    max_time: float | None = max_time_parameter()

    @abstractmethod
    def _solver(self) -> Solver:
        """The search of the subclass."""

    def _unlabeled_settings(self) -> UnlabeledSettings:
        if self.safe and (self._given_share or self.balance == "labeled"):
            raise ValueError(
                f"balance={self.balance!r} is not allowed with safe=True, whose guarantee is over all labels, so that "
                "it keeps no share of the classes; pass balance='auto' or None, or safe=False."
            )
        return super()._unlabeled_settings()

    def _formulation(self) -> Formulation:
        solver = SafeProjection(max_time=self.max_time) if self.safe else self._solver()
        return Formulation(Squared(), SymmetricSquared(), solver)

    def _supervised_counterpart(self) -> BaseSVM:
        return LSSVM(**self._shared_parameters(LSSVM))


class SwitchingLSSVM(LSSVMSearchBase):
    r"""Semi-supervised LS-SVM by switching labels: S2LS-SVM 1.

    Minimizes, over w, b and the labels :math:`y_j = \pm 1` of the unlabeled samples,

    .. math:: \tfrac12\|w\|^2 + \tfrac C2 \sum_{i \in L} (y_i - f(x_i))^2 + \tfrac{C^*}2 \sum_{j \in U} (y_j - f(x_j))^2

    subject to the share of positive labels. The supervised model ranks the unlabeled samples, those of the highest
    scores become positive; then labels are switched while that decreases the objective, in pairs of opposite labels
    where ``balance_tol`` forbids a single switch. A switch is tested in O(1): the best objective of given labels is
    1/2 y'Sy, with S the same for all labels.

    {parameters}

    {attributes}
    certificate_ : Certificate
        Of kind "no_flip" if no allowed switch improves, else "monotone": ``value`` is what the best one would gain.

    References
    ----------
    M. M. Adankon, M. Cheriet and A. Biem, "Semisupervised least squares support vector machine", IEEE Transactions on
    Neural Networks 20, 2009. https://doi.org/10.1109/TNN.2009.2031143

    Examples
    --------
    >>> from semisvm import SwitchingLSSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> model = SwitchingLSSVM().fit(X, hide_labels(y, 50, random_state=0))
    >>> int((model.transduction_ != y).sum())  # of 500 samples without a label
    55
    """

    rule: str = parameter(
        "exact",
        Options(["exact", "paper"]),
        doc="Take the change of labels that decreases the objective most, or the sample of largest error as the "
        "article prints it, which stops earlier.",
    )
    max_iter: int = limit_parameter(1000, "Largest number of rounds over the samples.")

    def _solver(self) -> LabelSearch:
        search = "steepest" if self.rule == "exact" else "largest"
        return LabelSearch(search, 1, self.max_iter, max_time=self.max_time)


class LocalSearchRLSC(LSSVMSearchBase):
    r"""Semi-supervised regularized least squares by local search: S2RLSC.

    Minimizes, over w, b and the labels :math:`y_j = \pm 1` of the unlabeled samples,

    .. math:: \tfrac12\|w\|^2 + \tfrac C2 \sum_{i \in L} (y_i - f(x_i))^2 + \tfrac{C^*}2 \sum_{j \in U} (y_j - f(x_j))^2

    subject to the share of positive labels, which may be off by ``balance_tol``. Flips one label at a time while that
    decreases the objective, from several starts: a flip is tested in O(1) and made in O(n), or O(r) with r features,
    and the starts share one factorization. The article's :math:`\lambda` and :math:`\lambda'` are :math:`C = 1/(\lambda
    l)` and :math:`C^* = \lambda'/(\lambda u)`, and its objective is :math:`2 \lambda` times this.

    {parameters}

    {attributes}
    certificate_ : Certificate
        Of kind "no_flip" if no allowed flip improves, else "monotone": ``value`` is what the best one would gain.

    References
    ----------
    F. Gieseke, O. Kramer, A. Airola and T. Pahikkala, "Speedy local search for semi-supervised regularized
    least-squares", KI, 2011. https://doi.org/10.1007/978-3-642-24455-1_8

    Examples
    --------
    >>> from semisvm import LocalSearchRLSC
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> model = LocalSearchRLSC(random_state=0).fit(X, hide_labels(y, 50, random_state=0))
    >>> int((model.transduction_ != y).sum())  # of 500 samples without a label
    52
    """

    search: str = parameter(
        "round_robin",
        Options(["round_robin", "steepest"]),
        doc="Try the samples in turn, from the least certain on, or always take the best flip.",
    )
    n_init: int = limit_parameter(10, "Labelings to start from: the supervised one, then random ones.")
    fit_intercept: bool | str = parameter(
        False,
        Options([True, "regularized", False]),
        doc="A free intercept, one that is part of the norm, or none, as in the article.",
    )
    max_iter: int = limit_parameter(1000, "Largest number of rounds over the samples.")

    def _solver(self) -> LabelSearch:
        return LabelSearch(self.search, self.n_init, self.max_iter, max_time=self.max_time)
