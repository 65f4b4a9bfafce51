"""Transductive SVMs that prove how good their labels are."""

from __future__ import annotations

from typing import Any

from .._validation import Options
from ..losses import Hinge, SquaredHinge, SymmetricHinge, SymmetricSquaredHinge
from ..solvers import BranchBound, LowRankRelaxation
from ._hinge import HingeLabelsTSVM
from .parameters import limit_parameter, parameter, random_state_parameter, tol_parameter
from .problems import Formulation


class BranchBoundTSVM(HingeLabelsTSVM):
    r"""Transductive SVM to the optimum, by branch and bound.

    Minimizes over f and the labels of the unlabeled samples

    .. math:: \tfrac12\|w\|^2 + C \sum_{i \in L} (1 - y_i f(x_i))_+^2 + C^* \sum_{j \in U} (1 - y_j f(x_j))_+^2

    with a share of positive labels that is fixed by ``balance``, and proves it: the objective of some of the samples is
    a lower bound on that of all, so most labelings need not be enumerated. Switching and dives give the first
    incumbent. Where the classes are clusters, hundreds of unlabeled samples take seconds; where they overlap, a limit
    ends the search, and ``certificate_`` says how far below the best objective can be.

    {parameters}

    {attributes}
    trace_ : list of dict
        Several times a second: objective of the incumbent, bound, nodes and pivots so far.
    certificate_ : Certificate
        Of kind "gap": no labels have an objective below ``lower_bound``; ``gap`` is the distance to it.

    References
    ----------
    O. Chapelle, V. Sindhwani and S. S. Keerthi, "Branch and bound for semi-supervised support vector machines", NIPS
    19, 2006. https://proceedings.neurips.cc/paper_files/paper/2006/hash/8b8388180314a337c9aa3c5aa8e2f37a-Abstract.html

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from semisvm import BranchBoundTSVM
    >>> from semisvm.datasets import hide_labels
    >>> X, y = make_moons(100, noise=0.05, random_state=0)
    >>> model = BranchBoundTSVM(C=10.0, gamma=2.0, random_state=0).fit(X, hide_labels(y, 2, random_state=0))
    >>> model.converged_, bool(model.certificate_.gap < 1e-5 * model.objective_)
    (True, True)
    >>> float((model.transduction_ != y).mean())
    0.0
    """

    tol: float = tol_parameter("Relative gap at which the labels count as proven.", 1e-6)
    max_nodes: int = limit_parameter(20_000, "Largest number of nodes of the tree.")
    random_state: Any = random_state_parameter("For the dives.")

    def _formulation(self) -> Formulation:
        solver = BranchBound(self.tol, self.max_nodes, max_time=self.max_time)
        return Formulation(SquaredHinge(), SymmetricSquaredHinge(), solver)


class SDPTSVM(HingeLabelsTSVM):
    r"""Transductive SVM by semidefinite relaxation, in coordinates of low rank.

    Minimizes over f and the labels of the unlabeled samples

    .. math:: \tfrac12\|w\|^2 [+ \tfrac12 b^2] + C \sum_{i \in L} (1 - y_i f(x_i))_+
              + C^* \sum_{j \in U} (1 - y_j f(x_j))_+

    with a share of positive labels that is fixed by ``balance``. The products :math:`y_i y_j` are relaxed to a positive
    semidefinite matrix of unit diagonal; its optimum is a lower bound for every labeling and is found by unit vectors,
    one sample at a time. Labels are rounded from the vectors and improved by switching; ``certificate_`` holds the
    bound. A thousand samples take a fraction of a minute, memory grows with their square. The bound is loose where
    samples are many and classes overlap.

    {parameters}

    {attributes}
    objective_, objective_path_ : float, array
        The objective at ``transduction_`` at the end, and before that the value of the relaxation.
    trace_ : list of dict
        Per check of the bound: value of the relaxation, bound, sweeps, multiplier of the balance; then the solution's.
    certificate_ : Certificate
        Of kind "gap": no labels have an objective below ``lower_bound``; ``gap`` is the distance to it.

    References
    ----------
    T. De Bie and N. Cristianini, "Convex methods for transduction", NIPS 16, 2003.
    https://proceedings.neurips.cc/paper_files/paper/2003/hash/83691715fdc5baf20ed0742b0b85785b-Abstract.html

    P.-W. Wang, W.-C. Chang and J. Z. Kolter, "The mixing method", 2017. https://arxiv.org/abs/1706.00476

    Examples
    --------
    >>> from semisvm import SDPTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(100, random_state=0)
    >>> model = SDPTSVM(C=0.1, random_state=0).fit(X, hide_labels(y, 20, random_state=0))
    >>> bool(0 < model.certificate_.lower_bound < model.objective_)
    True
    """

    fit_intercept: bool | str = parameter(
        "regularized",
        Options(["regularized", False]),
        doc="An intercept that is part of the norm, or none: with a free one the relaxation is empty.",
    )
    tol: float = tol_parameter(
        "Relative distance of value and bound at which the relaxation is solved; it also ends when neither changes."
    )
    max_iter: int = limit_parameter(2000, "Largest number of sweeps over the samples.")
    random_state: Any = random_state_parameter("For the first vectors and the hyperplanes of the rounding.")

    def _formulation(self) -> Formulation:
        solver = LowRankRelaxation(self.tol, self.max_iter, max_time=self.max_time)
        return Formulation(Hinge(), SymmetricHinge(), solver)
