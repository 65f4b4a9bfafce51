"""Transductive machines by mathematical programs: an exact search, and successive linear programs."""

from __future__ import annotations

from .. import _validate
from ..losses import Hinge, SymmetricHinge
from ..solvers import ConcaveLP, MixedInteger
from ._base import Machine
from ._parameters import Method


class ProgramMachine(Machine):
    """Hinges on all rows; its supervised machine is the same class without unlabeled rows."""

    _auto_C = 10.0
    _star_is_C = True

    def _supervised_twin(self):
        given = {"C": self.C_, "gamma": self.gamma_, "balance": None, "verbose": 0, "unlabeled": None}
        return type(self)(**(self.get_params(deep=False) | given))


class MixedIntegerTSVM(ProgramMachine):
    r"""Transductive SVM to the optimum, as a mixed integer program: S3VM of Bennett and Demiriz.

    Minimises over f and the labels :math:`y_j = \pm 1` of the unlabeled rows

    .. math:: \|w\|_1 + C \sum_{i \in L} (1 - y_i f(x_i))_+ + C^* \sum_{j \in U} (1 - y_j f(x_j))_+

    (or :math:`\frac12\|w\|^2` in the place of :math:`\|w\|_1`) with a share of positive labels that is fixed by
    ``balance``. A heuristic finds good labels, branch and bound proves them the best or finds better ones, and
    ``certificate_`` says how far below the best objective can be. It is meant for few rows: some dozen unlabeled ones
    take seconds, hundreds end at a limit with what the heuristic found. The 1-norm leaves few columns in w and is
    solved by HiGHS, which comes with scipy; ``norm=2`` needs SCIP: ``pip install "semisvm[exact]"``.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Cost of a unit of loss at a labeled row; "auto" is 10 divided by the total variance of the features, by its
        square root with ``norm=1``, so that it means the same on every scale.
    C_unlabeled : float or None, default=None
        The same at an unlabeled row, C* above; None is C.
    norm : {1, 2}, default=1
        The size of w that counts: :math:`\|w\|_1` or :math:`\frac12\|w\|^2`.
    kernel : str or callable, default="linear"
        As in :class:`SVM`; the 1-norm is that of the columns of X, or of the features that stand for another kernel.
    gamma : {"median", "scale", "auto"} or float, default="median"
        As in :class:`SVM`.
    coef0 : float, default=0.0
        Constant of the poly, laplacian and multiquadric kernels.
    degree : int, default=3
        Degree of the poly kernel.
    sigma : float or None, default=None
        Width of the kmod kernel; None for sqrt(gamma).
    approximation : {"auto", None, "nystroem", "kernel_pca"}, default="auto"
        A kernel other than the linear one is turned into features: None keeps all kernel principal
        components, "kernel_pca" the first ``n_components``, "nystroem" those of as many landmarks; "auto"
        is "kernel_pca" up to 3,000 rows, then "nystroem". The linear kernel needs none and takes sparse
        tables as they are.
    n_components : int or None, default=None
        How many features or landmarks; None for 1,000 at most.
    landmarks : {"kmeans++", "leverage", "random", "labeled"} or array, default="kmeans++"
        How Nystroem's landmarks are chosen among the rows, or the landmarks; see :mod:`semisvm.landmarks`.
    fit_intercept : {True, "regularised", False}, default=True
        A free intercept, one that is part of the norm (as \|b\| in the 1-norm), or none.
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
        Gap between objective and bound, relative to the objective, at which the search ends.
    max_iter : int, default=10_000
        Largest number of nodes of the search tree.
    max_time : float or None, default=60.0
        Seconds after which the best so far is kept; None for no limit.
    random_state : int, RandomState or None, default=None
        For landmarks.
    n_jobs : int or None, default=None
        Threads over the binary tasks of several classes, as in joblib.
    verbose : int, default=0
        Above 0, print a line before and after the search.
    unlabeled : object, default=-1
        Marker of rows without a label; None, NaN and NA always are markers too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes; with two of them f > 0 means the second.
    transduction_ : array of shape (n,)
        A label for every row: the given one, or that of the search.
    coef_ : array of shape (n_problems, d)
        w, with the linear kernel and no approximation.
    support_, dual_coef_, support_vectors_ : arrays
        With features of a kernel: the landmarks and their coefficients.
    intercept_ : array of shape (n_problems,)
        b.
    objective_, objective_path_ : float, array
        The objective at ``transduction_``, and before the search; one per binary task when there are several.
    trace_ : list of dict
        Before, during (SCIP) and after the search: objective, bound, nodes.
    certificate_ : Certificate
        Of kind "gap": no labels have an objective below ``lower_bound``.
    n_iter_ : int
        Nodes of the search tree.
    supervised_ : MixedIntegerTSVM
        The same machine on the labeled rows alone, fitted at first use.
    C_, gamma_ : float
        The numbers used.

    Examples
    --------
    >>> from semisvm import MixedIntegerTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(36, 2, 1.2, random_state=1)
    >>> partly = hide_labels(y, 6, random_state=1)
    >>> machine = MixedIntegerTSVM().fit(X, partly)
    >>> machine.converged_
    True
    >>> hidden = partly == -1
    >>> float((machine.supervised_.predict(X[hidden]) != y[hidden]).mean().round(3))
    0.2
    >>> float((machine.transduction_[hidden] != y[hidden]).mean().round(3))
    0.0
    """

    def __init__(
        self,
        C="auto",
        *,
        C_unlabeled=None,
        norm=1,
        kernel="linear",
        gamma="median",
        coef0=0.0,
        degree=3,
        sigma=None,
        approximation="auto",
        n_components=None,
        landmarks="kmeans++",
        fit_intercept=True,
        balance="labeled",
        balance_tol=0.0,
        multiclass="ovr",
        coupling="pwc2",
        tol=1e-6,
        max_iter=10_000,
        max_time=60.0,
        random_state=None,
        n_jobs=None,
        verbose=0,
        unlabeled=-1,
    ):
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.norm = norm
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.sigma = sigma
        self.approximation = approximation
        self.n_components = n_components
        self.landmarks = landmarks
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
        _validate.choice("norm", self.norm, (1, 2))
        return Method(Hinge(), SymmetricHinge(), MixedInteger(self.tol, self.max_iter, self.max_time), self.norm)


class ConcaveLPTSVM(ProgramMachine):
    r"""Transductive SVM with the 1-norm, by successive linear programs: VS3VM of Fung and Mangasarian.

    Minimises

    .. math:: \|w\|_1 + C \sum_{i \in L} (1 - y_i f(x_i))_+ + C^* \sum_{j \in U} (1 - |f(x_j)|)_+

    Each program gives every unlabeled row the label of its side of the last machine, and both with half the cost where
    it stands on the boundary; the objective falls until a program gains nothing, which takes a handful. The first
    machine is the supervised one, and with C* = C labels seldom leave it: a C* well below C lets them move. The 1-norm
    leaves few columns in w. Works on the columns of X, sparse or dense, or on features of a kernel.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Cost of a unit of loss at a labeled row; "auto" is 10 divided by the square root of the total variance of the
        features, which with the 1-norm means the same on every scale.
    C_unlabeled : float or None, default=None
        The same at an unlabeled row, C* above; None is C.
    kernel : str or callable, default="linear"
        As in :class:`SVM`; the 1-norm is that of the columns of X, or of the features that stand for another kernel.
    gamma : {"median", "scale", "auto"} or float, default="median"
        As in :class:`SVM`.
    coef0 : float, default=0.0
        Constant of the poly, laplacian and multiquadric kernels.
    degree : int, default=3
        Degree of the poly kernel.
    sigma : float or None, default=None
        Width of the kmod kernel; None for sqrt(gamma).
    approximation : {"auto", None, "nystroem", "kernel_pca"}, default="auto"
        A kernel other than the linear one is turned into features: None keeps all kernel principal
        components, "kernel_pca" the first ``n_components``, "nystroem" those of as many landmarks; "auto"
        is "kernel_pca" up to 3,000 rows, then "nystroem". The linear kernel needs none and takes sparse
        tables as they are.
    n_components : int or None, default=None
        How many features or landmarks; None for 1,000 at most.
    landmarks : {"kmeans++", "leverage", "random", "labeled"} or array, default="kmeans++"
        How Nystroem's landmarks are chosen among the rows, or the landmarks; see :mod:`semisvm.landmarks`.
    fit_intercept : {True, "regularised", False}, default=True
        A free intercept, one whose size \|b\| is part of the norm, or none.
    balance : {"labeled", None}, float or mapping, default=None
        The share r of ``classes_[1]`` among the unlabeled rows, which fixes mean f = 2 r - 1: that of the
        labeled rows, no condition, a number, or a mapping from class to share.
    multiclass : {"ovr", "ovo"}, default="ovr"
        More than two classes: one machine per class against the rest, or one per pair of classes.
    coupling : {"pwc1", "pwc2", "pwc3", "pwc4", "pwc5"}, default="pwc2"
        How one-vs-one joins its pairs; formulas in :mod:`semisvm.multiclass.coupling`.
    max_iter : int, default=1000
        Largest number of linear programs.
    max_time : float or None, default=None
        Seconds after which the best so far is kept.
    random_state : int, RandomState or None, default=None
        For landmarks.
    n_jobs : int or None, default=None
        Threads over the binary tasks of several classes, as in joblib.
    verbose : int, default=0
        Above 0, print a line per program.
    unlabeled : object, default=-1
        Marker of rows without a label; None, NaN and NA always are markers too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes; with two of them f > 0 means the second.
    transduction_ : array of shape (n,)
        A label for every row: the given one, or the side of f.
    coef_ : array of shape (n_problems, d)
        w, with the linear kernel and no approximation.
    support_, dual_coef_, support_vectors_ : arrays
        With features of a kernel: the landmarks and their coefficients.
    intercept_ : array of shape (n_problems,)
        b.
    objective_, objective_path_ : float, array
        The objective at the end and after every program; one per binary task when there are several.
    trace_ : list of dict
        Per program: objective, labels changed.
    certificate_ : Certificate
        Of kind "stationary": what the last program said could be gained; with a lower bound, that of the labeled rows
        alone.
    supervised_ : ConcaveLPTSVM
        The same machine on the labeled rows alone, fitted at first use.
    C_, gamma_ : float
        The numbers used.

    Examples
    --------
    >>> from semisvm import ConcaveLPTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> partly = hide_labels(y, 50, random_state=0)
    >>> machine = ConcaveLPTSVM(C_unlabeled=0.01).fit(X, partly)
    >>> hidden = partly == -1
    >>> float((machine.supervised_.predict(X[hidden]) != y[hidden]).mean().round(3))
    0.258
    >>> float((machine.transduction_[hidden] != y[hidden]).mean().round(3))
    0.198
    """

    def __init__(
        self,
        C="auto",
        *,
        C_unlabeled=None,
        kernel="linear",
        gamma="median",
        coef0=0.0,
        degree=3,
        sigma=None,
        approximation="auto",
        n_components=None,
        landmarks="kmeans++",
        fit_intercept=True,
        balance=None,
        multiclass="ovr",
        coupling="pwc2",
        max_iter=1000,
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
        self.approximation = approximation
        self.n_components = n_components
        self.landmarks = landmarks
        self.fit_intercept = fit_intercept
        self.balance = balance
        self.multiclass = multiclass
        self.coupling = coupling
        self.max_iter = max_iter
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unlabeled = unlabeled

    def _method(self) -> Method:
        return Method(Hinge(), SymmetricHinge(), ConcaveLP(self.max_iter, self.max_time), 1)
