"""The transductive SVMs of SVMlin: squared hinges in the primal, for sparse data and many samples."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from ..losses import SquaredHinge, SymmetricSquaredHinge
from ..solvers import Annealing, FiniteNewton, MultiSwitch, Solver
from ._primal import PrimalTSVM
from ._semi_supervised import CostByLabels
from .parameters import (
    BALANCE_KINDS,
    BalanceType,
    CountBalanceParameters,
    InterceptParameters,
    balance_parameter,
    limit_parameter,
    tol_parameter,
)
from .problems import Formulation


class SVMlinTSVM(CostByLabels, InterceptParameters, PrimalTSVM):
    """Squared hinges on all samples, and a solver that searches labels by finite Newton."""

    tol: float = tol_parameter(
        "Root of the decrease of the objective that a Newton step predicts at which a solve ends, relative to the "
        "objective; solves before the last ones may end earlier."
    )

    _supervised_solver: ClassVar[type[Solver]] = FiniteNewton

    @abstractmethod
    def _solver(self) -> Solver:
        """The search of the subclass."""

    def _formulation(self) -> Formulation:
        return Formulation(SquaredHinge(), SymmetricSquaredHinge(), self._solver())


class MultiSwitchTSVM(CountBalanceParameters, SVMlinTSVM):
    r"""Transductive SVM by switching many labels at once, as in SVMlin.

    Minimizes over f and the labels of the unlabeled samples

    .. math:: \tfrac12\|w\|^2 + C \sum_{i \in L} (1 - y_i f(x_i))_+^2 + C^* \sum_{j \in U} (1 - y_j f(x_j))_+^2

    with a share of positive labels that is fixed by ``balance``. The samples that the supervised model scores highest
    start as positive; C* increases from 0.03 of its value, and at each level positive samples are swapped with negative
    ones of higher score, many at a time, until none is left. Works in the primal, on X, sparse or dense, or on features
    of a kernel; several classes are solved in one pass over the data. SVMlin's lambda and lambda' are 1/(2 C l) and
    2 u C* lambda; its intercept is ``fit_intercept="regularized"``.

    {parameters}

    {attributes}
    trace_ : list of dict
        Per solve: objective, level (the share of C* that counts), labels changed, and as violation what ``tol`` bounds.
    certificate_ : Certificate
        Of kind "stationary": ``value`` is the larger of the norm of the gradient at the labels, relative to that of the
        losses at w = 0, and of what the best change of labels would gain at that f, relative to the objective; also
        where a limit ended the search. It says nothing of other labels with an f of their own.

    References
    ----------
    V. Sindhwani and S. S. Keerthi, "Large scale semi-supervised linear SVMs", SIGIR, 2006.
    https://doi.org/10.1145/1148170.1148253

    Examples
    --------
    >>> from semisvm import MultiSwitchTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> model = MultiSwitchTSVM(kernel="linear").fit(X, hide_labels(y, 50, random_state=0))
    >>> int((model.transduction_ != y).sum())  # of 500 samples without a label
    54
    """

    max_switches: int = limit_parameter(10_000, "Largest number of pairs that are swapped between two solves.")

    def _solver(self) -> MultiSwitch:
        return MultiSwitch(self.tol, self.max_iter, self.max_switches, max_time=self.max_time)


class AnnealingTSVM(SVMlinTSVM):
    r"""Transductive SVM by deterministic annealing, as in SVMlin.

    Minimizes

    .. math:: \tfrac12\|w\|^2 + C \sum_{i \in L} (1 - y_i f(x_i))_+^2 + C^* \sum_{j \in U} (1 - |f(x_j)|)_+^2

    through soft labels: an unlabeled sample is positive with probability p, whose mean is fixed by ``balance`` and
    whose entropy is weighted by a temperature. That is divided by 1.5 each time p no longer changes, until all labels
    are certain; the best labels found are then fixed for a last solve. Which labels the path leads to depends on
    ``tol``. Works in the primal, on X, sparse or dense, or on features of a kernel; several classes are solved in one
    pass over the data. SVMlin's lambda and lambda' are 1/(2 C l) and 2 u C* lambda; its intercept is
    ``fit_intercept="regularized"``.

    {parameters}

    {attributes}
    trace_ : list of dict
        Per solve: objective, level (the temperature), labels changed, and as violation what ``tol`` bounds.
    certificate_ : Certificate
        Of kind "stationary", and of the end alone: ``value`` is the larger of the norm of the gradient at the labels,
        relative to that of the losses at w = 0, and of what the best change of labels would gain at that f, relative to
        the objective. It says nothing of the path: with another ``tol`` that may end at another such point, of an
        objective that is lower or higher by tens of percent.

    References
    ----------
    V. Sindhwani, S. S. Keerthi and O. Chapelle, "Deterministic annealing for semi-supervised kernel machines", ICML,
    2006. https://doi.org/10.1145/1143844.1143950

    Examples
    --------
    >>> from semisvm import AnnealingTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> model = AnnealingTSVM(kernel="linear").fit(X, hide_labels(y, 50, random_state=0))
    >>> int((model.transduction_ != y).sum())  # of 500 samples without a label
    61
    """

    balance: BalanceType = balance_parameter(
        f"The mean of p, and so the share r of ``classes_[1]`` among the unlabeled samples: {BALANCE_KINDS}"
    )

    def _solver(self) -> Annealing:
        return Annealing(self.tol, self.max_iter, max_time=self.max_time)
