"""Transductive SVMs by mathematical programs: a mixed-integer program, and successive linear programs."""

from __future__ import annotations

from collections.abc import Callable

from .._validation import Described, Options
from ..losses import Hinge, SymmetricHinge
from ..solvers import ConcaveLP, MixedInteger
from ._primal import FeaturesTSVM
from .base import BaseSVM
from .parameters import (
    CountBalanceParameters,
    EqualCostParameters,
    InterceptParameters,
    MeanBalanceParameters,
    cost_parameter,
    limit_parameter,
    max_time_parameter,
    parameter,
    tol_parameter,
)
from .problems import Formulation


class ProgramTSVM(EqualCostParameters, InterceptParameters, FeaturesTSVM):
    """Hinges on all samples; its supervised counterpart is the same class without unlabeled samples."""

    kernel: str | Callable = parameter(
        "linear",
        Described("str or callable"),
        doc="As in :class:`SVM`; the 1-norm is that of the features of X, or of those that stand for another kernel.",
    )
    fit_intercept: bool | str = parameter(
        True,
        Options([True, "regularized", False]),
        doc=r"A free intercept, one that is part of the norm (as \|b\| in the 1-norm), or none.",
    )

    def _supervised_counterpart(self) -> BaseSVM:
        resolved = {"C": self.C_, "gamma": self.gamma_, "balance": None, "verbose": 0, "unlabeled": None}
        return type(self)(**(self.get_params(deep=False) | resolved))


class MixedIntegerTSVM(CountBalanceParameters, ProgramTSVM):
    r"""Transductive SVM to the optimum, as a mixed-integer program.

    Minimizes over f and the labels :math:`y_j = \pm 1` of the unlabeled samples

    .. math:: \|w\|_1 + C \sum_{i \in L} (1 - y_i f(x_i))_+ + C^* \sum_{j \in U} (1 - y_j f(x_j))_+

    (or :math:`\frac12\|w\|^2` in place of :math:`\|w\|_1`) with a share of positive labels that is fixed by
    ``balance``. A heuristic finds good labels, branch and bound proves them optimal or finds better ones, and
    ``certificate_`` says how far below the best objective can be. It is meant for few samples: some dozen unlabeled
    ones take seconds, hundreds end at a limit with what the heuristic found. The 1-norm leaves few features in w and is
    solved by HiGHS, which comes with scipy; ``norm=2`` needs SCIP: ``pip install "semisvm[exact]"``.

    {parameters}

    {attributes}
    trace_ : list of dict
        Before, during (SCIP) and after the search: objective, bound, nodes.
    certificate_ : Certificate
        Of kind "gap": no labels have an objective below ``lower_bound``.

    References
    ----------
    K. P. Bennett and A. Demiriz, "Semi-supervised support vector machines", NIPS 11, 1998.
    https://proceedings.neurips.cc/paper_files/paper/1998/hash/b710915795b9e9c02cf10d6d2bdb688c-Abstract.html

    Examples
    --------
    >>> from semisvm import MixedIntegerTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(36, 2, 1.2, random_state=1)
    >>> model = MixedIntegerTSVM().fit(X, hide_labels(y, 6, random_state=1))
    >>> model.converged_
    True
    >>> int((model.transduction_ != y).sum())  # of 30 samples without a label
    0
    """

    C: float | str = cost_parameter(
        default="auto",
        auto="10 divided by the total variance of the features, by its square root with ``norm=1``, so that it means "
        "the same on every scale",
        kw_only=False,
    )
    norm: int = parameter(1, Options([1, 2]), doc=r"The regularizer: :math:`\|w\|_1` or :math:`\frac12\|w\|^2`.")
    tol: float = tol_parameter("Relative gap between objective and bound at which the search ends.", 1e-6)
    max_iter: int = limit_parameter(10_000, "Largest number of nodes of the search tree.")
    max_time: float | None = max_time_parameter(60.0)

    def _formulation(self) -> Formulation:
        solver = MixedInteger(self.tol, self.max_iter, max_time=self.max_time)
        return Formulation(Hinge(), SymmetricHinge(), solver, self.norm)


class ConcaveLPTSVM(MeanBalanceParameters, ProgramTSVM):
    r"""Transductive SVM with the 1-norm, by successive linear programs: VS3VM.

    Minimizes

    .. math:: \|w\|_1 + C \sum_{i \in L} (1 - y_i f(x_i))_+ + C^* \sum_{j \in U} (1 - |f(x_j)|)_+

    subject to a mean of f over the unlabeled samples that is fixed by ``balance``; the article has no such condition.
    Each program gives every unlabeled sample the label of its side of the last model, and both with half the cost where
    it is on the boundary; the objective decreases until a program gains nothing, which takes a handful. The first model
    is the supervised one, and with C* = C labels seldom change: a C* well below C lets them move. The 1-norm leaves few
    features in w. Works on X, sparse or dense, or on features of a kernel. Where a program has several optima HiGHS
    chooses; sparse X of more than two million entries, which is not centered, may end at another one than dense X.

    {parameters}

    {attributes}
    trace_ : list of dict
        Per program: objective, labels changed.
    certificate_ : Certificate
        Of kind "stationary": what the last program could still gain; with a lower bound, that of the labeled samples
        alone.

    References
    ----------
    G. Fung and O. L. Mangasarian, "Semi-supervised support vector machines for unlabeled data classification",
    Optimization Methods and Software 15, 2001.

    Examples
    --------
    >>> from semisvm import ConcaveLPTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> model = ConcaveLPTSVM(C_unlabeled=0.01).fit(X, hide_labels(y, 50, random_state=0))
    >>> int((model.transduction_ != y).sum())  # of 500 samples without a label
    101
    """

    C: float | str = cost_parameter(
        default="auto",
        auto="10 divided by the square root of the total variance of the features, which with the 1-norm means the "
        "same on every scale",
        kw_only=False,
    )
    max_iter: int = limit_parameter(1000, "Largest number of linear programs.")
    max_time: float | None = max_time_parameter()

    def _formulation(self) -> Formulation:
        return Formulation(Hinge(), SymmetricHinge(), ConcaveLP(self.max_iter, max_time=self.max_time), 1)
