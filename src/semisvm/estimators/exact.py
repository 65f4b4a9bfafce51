"""Transductive machines that prove how good their labels are."""

from __future__ import annotations

from .. import _validate
from ..losses import Hinge, SquaredHinge, SymmetricHinge, SymmetricSquaredHinge
from ..solvers import BranchBound, LowRankRelaxation
from ._hinge_machine import HingeMachine
from ._parameters import Method


class ExactMachine(HingeMachine):
    """Costs as the exact methods have them."""

    _auto_C = 10.0
    _star_is_C = True


class BranchBoundTSVM(ExactMachine):
    r"""Transductive SVM to the optimum: branch and bound of Chapelle, Sindhwani and Keerthi.

    Minimises over f and the labels of the unlabeled rows

    .. math:: \tfrac12\|w\|^2 + C \sum_{i \in L} (1 - y_i f(x_i))_+^2 + C^* \sum_{j \in U} (1 - y_j f(x_j))_+^2

    with a share of positive labels that is fixed by ``balance``, and proves it: a machine of some of the rows costs no
    more than one of all, so most labelings need not be looked at. Switching and dives give the first labels. Where the
    classes are clusters, hundreds of unlabeled rows take seconds; where they overlap, a limit ends the search, and
    ``certificate_`` says how far below the best objective can be.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Cost of a unit of loss at a labeled row; "auto" is 10 divided by the total variance of the features.
    C_unlabeled : float or None, default=None
        The same at an unlabeled row, C* above; None is C.
    kernel : str or callable, default="rbf"
        As in :class:`SVM`.
    gamma : {"median", "scale", "auto"} or float, default="median"
        As in :class:`SVM`.
    coef0 : float, default=0.0
        Constant of the poly, laplacian and multiquadric kernels.
    degree : int, default=3
        Degree of the poly kernel.
    sigma : float or None, default=None
        Width of the kmod kernel; None for sqrt(gamma).
    fit_intercept : {True, "regularised", False}, default=True
        A free intercept, one that is part of the norm, or none.
    balance : {"labeled", None}, float or mapping, default="labeled"
        The share of ``classes_[1]`` among the labels of unlabeled rows: that of the labeled rows, no condition, a
        number, or a mapping from class to share.
    balance_tol : float, default=0.0
        How far the share may be from ``balance``.
    multiclass : {"ovr", "ovo"}, default="ovr"
        More than two classes: one machine per class against the rest, or one per pair of classes.
    coupling : {"pwc1", "pwc2", "pwc3", "pwc4", "pwc5"}, default="pwc2"
        How one-vs-one joins its pairs; formulas in :mod:`semisvm.multiclass.coupling`.
    tol : float, default=1e-6
        Relative gap at which the labels count as proven.
    max_nodes : int, default=20_000
        Largest number of nodes of the tree.
    max_time : float or None, default=None
        Seconds after which the best so far is kept.
    random_state : int, RandomState or None, default=None
        For the dives.
    n_jobs : int or None, default=None
        Threads over the binary tasks of several classes, as in joblib.
    verbose : int, default=0
        Above 0, print a line every fifth of a second or so.
    unlabeled : object, default=-1
        Marker of rows without a label; None, NaN and NA always are markers too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes; with two of them f > 0 means the second.
    transduction_ : array of shape (n,)
        A label for every row: the given one, or that of the search.
    support_, dual_coef_, support_vectors_ : arrays
        Rows with a coefficient, the coefficients, the rows.
    intercept_ : array of shape (n_problems,)
        b.
    objective_, objective_path_ : float, array
        The objective at ``transduction_`` at the end and on the way; one per binary task when there are several.
    trace_ : list of dict
        Now and then: objective of the best labels, bound, nodes and sweeps so far.
    certificate_ : Certificate
        Of kind "gap": no labels have an objective below ``lower_bound``; ``gap`` is the distance to it.
    supervised_ : SVM
        The same machine on the labeled rows alone, fitted at first use.
    C_, gamma_ : float
        The numbers used.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from semisvm import BranchBoundTSVM
    >>> from semisvm.datasets import hide_labels
    >>> X, y = make_moons(100, noise=0.05, random_state=0)
    >>> partly = hide_labels(y, 2, random_state=0)
    >>> machine = BranchBoundTSVM(C=10.0, gamma=2.0, random_state=0).fit(X, partly)
    >>> machine.converged_, bool(machine.certificate_.gap < 1e-5 * machine.objective_)
    (True, True)
    >>> float((machine.transduction_ != y).mean())
    0.0
    """

    def __init__(
        self,
        C="auto",
        *,
        C_unlabeled=None,
        kernel="rbf",
        gamma="median",
        coef0=0.0,
        degree=3,
        sigma=None,
        fit_intercept=True,
        balance="labeled",
        balance_tol=0.0,
        multiclass="ovr",
        coupling="pwc2",
        tol=1e-6,
        max_nodes=20_000,
        max_time=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
        unlabeled=-1,
    ):
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.sigma = sigma
        self.fit_intercept = fit_intercept
        self.balance = balance
        self.balance_tol = balance_tol
        self.multiclass = multiclass
        self.coupling = coupling
        self.tol = tol
        self.max_nodes = max_nodes
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unlabeled = unlabeled

    def _method(self) -> Method:
        _validate.whole_number("max_nodes", self.max_nodes, 1)
        solver = BranchBound(self.tol, self.max_nodes, self.max_time)
        return Method(SquaredHinge(), SymmetricSquaredHinge(), solver)


class SDPTSVM(ExactMachine):
    r"""Transductive SVM by semidefinite relaxation: De Bie and Cristianini's, by coordinates of low rank.

    Minimises over f and the labels of the unlabeled rows

    .. math:: \tfrac12\|w\|^2 [+ \tfrac12 b^2] + C \sum_{i \in L} (1 - y_i f(x_i))_+
              + C^* \sum_{j \in U} (1 - y_j f(x_j))_+

    with a share of positive labels that is fixed by ``balance``. The products :math:`y_i y_j` are relaxed to a matrix
    of unit diagonal that is positive semidefinite; its optimum lies below every labeling and is found by unit vectors,
    one row at a time. Labels are read from the vectors and bettered by switching; ``certificate_`` holds the bound. A
    thousand rows take a fraction of a minute, memory grows with their square. The bound is far below where rows are
    many and classes overlap.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Cost of a unit of loss at a labeled row; "auto" is 10 divided by the total variance of the features.
    C_unlabeled : float or None, default=None
        The same at an unlabeled row, C* above; None is C.
    kernel : str or callable, default="rbf"
        As in :class:`SVM`.
    gamma : {"median", "scale", "auto"} or float, default="median"
        As in :class:`SVM`.
    coef0 : float, default=0.0
        Constant of the poly, laplacian and multiquadric kernels.
    degree : int, default=3
        Degree of the poly kernel.
    sigma : float or None, default=None
        Width of the kmod kernel; None for sqrt(gamma).
    fit_intercept : {"regularised", False}, default="regularised"
        An intercept that is part of the norm, or none: with a free one the relaxation says nothing.
    balance : {"labeled", None}, float or mapping, default="labeled"
        The share of ``classes_[1]`` among the labels of unlabeled rows: that of the labeled rows, no condition, a
        number, or a mapping from class to share.
    balance_tol : float, default=0.0
        How far the share may be from ``balance``.
    multiclass : {"ovr", "ovo"}, default="ovr"
        More than two classes: one machine per class against the rest, or one per pair of classes.
    coupling : {"pwc1", "pwc2", "pwc3", "pwc4", "pwc5"}, default="pwc2"
        How one-vs-one joins its pairs; formulas in :mod:`semisvm.multiclass.coupling`.
    tol : float, default=1e-3
        Relative distance of value and bound at which the relaxation is solved; sweeps that change neither end it, too.
    max_iter : int, default=2000
        Largest number of sweeps over the rows.
    max_time : float or None, default=None
        Seconds after which the best so far is kept.
    random_state : int, RandomState or None, default=None
        For the first vectors and the planes that read labels from the last ones.
    n_jobs : int or None, default=None
        Threads over the binary tasks of several classes, as in joblib.
    verbose : int, default=0
        Above 0, print a line per look at the bound.
    unlabeled : object, default=-1
        Marker of rows without a label; None, NaN and NA always are markers too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes; with two of them f > 0 means the second.
    transduction_ : array of shape (n,)
        A label for every row: the given one, or that of the search.
    support_, dual_coef_, support_vectors_ : arrays
        Rows with a coefficient, the coefficients, the rows.
    intercept_ : array of shape (n_problems,)
        b.
    objective_, objective_path_ : float, array
        The objective at ``transduction_`` at the end, and before that the value of the relaxation.
    trace_ : list of dict
        Per look at the bound: value of the relaxation, bound, sweeps, multiplier of the balance; then the machine's.
    certificate_ : Certificate
        Of kind "gap": no labels have an objective below ``lower_bound``; ``gap`` is the distance to it.
    supervised_ : SVM
        The same machine on the labeled rows alone, fitted at first use.
    C_, gamma_ : float
        The numbers used.

    Examples
    --------
    >>> from semisvm import SDPTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(100, random_state=0)
    >>> partly = hide_labels(y, 20, random_state=0)
    >>> machine = SDPTSVM(C=0.1, random_state=0).fit(X, partly)
    >>> bool(0 < machine.certificate_.lower_bound < machine.objective_)
    True
    """

    def __init__(
        self,
        C="auto",
        *,
        C_unlabeled=None,
        kernel="rbf",
        gamma="median",
        coef0=0.0,
        degree=3,
        sigma=None,
        fit_intercept="regularised",
        balance="labeled",
        balance_tol=0.0,
        multiclass="ovr",
        coupling="pwc2",
        tol=1e-3,
        max_iter=2000,
        max_time=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
        unlabeled=-1,
    ):
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.sigma = sigma
        self.fit_intercept = fit_intercept
        self.balance = balance
        self.balance_tol = balance_tol
        self.multiclass = multiclass
        self.coupling = coupling
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unlabeled = unlabeled

    def _method(self) -> Method:
        _validate.choice("fit_intercept", self.fit_intercept, ("regularised", False))
        return Method(Hinge(), SymmetricHinge(), LowRankRelaxation(self.tol, self.max_iter, self.max_time))
