"""Semi-supervised least squares that takes its own labels, row by row or all at once."""

from __future__ import annotations

from .. import _validate
from ..solvers import DifferenceConvex, Progressive
from ._label_machine import LabelMachine


class ProgressiveLSSVM(LabelMachine):
    r"""Semi-supervised LS-SVM that labels one row at a time: S2LS-SVM 2 of Adankon, Cheriet and Biem.

    Minimises, over w, b and the labels :math:`y_j = \pm 1` of the unlabeled rows,

    .. math:: \tfrac12\|w\|^2 + \tfrac C2 \sum_{i \in L} (y_i - f(x_i))^2 + \tfrac{C^*}2 \sum_{j \in U} (y_j - f(x_j))^2

    step by step: the unlabeled row that fits the present machine best joins it, the classes taking turns, until none
    is left. All candidates are kept up to date by a pivoted elimination, O(u^3/3) in all.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Cost of a unit of loss at a labeled row; "auto" is 10 up to 20 labels and falls to 1 at 50, divided
        by the total variance of the features.
    C_unlabeled : float or None, default=None
        The same at an unlabeled row, C* above; None is C l/u, and 0 leaves the unlabeled rows out.
    pick : {"growth", "alpha"}, default="growth"
        Which row is next: that which adds least to the objective, or that of smallest multiplier as in the
        paper.
    sign : {"turns", "objective"}, default="turns"
        Which label comes next: the classes take turns, in proportion to ``balance``, and without one as many of each
        unless the labels speak against it; or the label that costs less. The article says "according to the objective
        function"; read so, all rows can end in one class where unlabeled rows are dear (half the rows wrong on its own
        sets). Taking turns comes near its figures.
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
    approximation : {"auto", None, "nystroem", "kernel_pca"}, default="auto"
        None is exact; "nystroem" and "kernel_pca" put ``n_components`` features in the place of the kernel;
        "auto" is exact while two matrices of all rows keep the memory rule of :mod:`semisvm.spaces`, then
        "nystroem".
    n_components : int or None, default=None
        How many features or landmarks; None for 1,000 at most.
    landmarks : {"kmeans++", "leverage", "random", "labeled"} or array, default="kmeans++"
        How Nystroem's landmarks are chosen among the rows, or the landmarks; see :mod:`semisvm.landmarks`.
    fit_intercept : {True, "regularised", False}, default=True
        A free intercept, one that is part of the norm, or none.
    balance : {"labeled", None}, float or mapping, default=None
        The share r of ``classes_[1]`` among the unlabeled rows: that of the labeled rows, no condition, a
        number, or a mapping from class to share.
    balance_tol : float, default=0.0
        By how much the share may be off; at 0 round(r u) rows are positive.
    safe : bool, default=False
        Return the safe projection instead of the search (:mod:`semisvm.solvers.safe`): no labels make its
        objective worse than that of the supervised machine. No balance is kept then, and all least-squares
        classes give the same machine.
    multiclass : {"ovr", "ovo"}, default="ovr"
        More than two classes: one machine per class against the rest, or one per pair of classes.
    coupling : {"pwc1", "pwc2", "pwc3", "pwc4", "pwc5"}, default="pwc2"
        How one-vs-one joins its pairs; formulas in :mod:`semisvm.multiclass.coupling`.
    max_time : float or None, default=None
        Seconds after which the best so far is kept.
    random_state : int, RandomState or None, default=None
        For landmarks and random starts.
    n_jobs : int or None, default=None
        Threads over the binary tasks of several classes, as in joblib.
    verbose : int, default=0
        Above 0, print a line per round.
    unlabeled : object, default=-1
        Marker of rows without a label; None, NaN and NA always are markers too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes; with two of them f > 0 means the second.
    transduction_ : array of shape (n,)
        A label for every row: the given one, or the one found.
    support_, dual_coef_, support_vectors_ : arrays
        Rows with a coefficient (landmarks, with an approximation), the coefficients, the rows.
    coef_ : array of shape (n_problems, d)
        w, with the linear kernel and no approximation.
    intercept_ : array of shape (n_problems,)
        b.
    objective_, objective_path_ : float, array
        The objective at the labels found, and its fall; one per binary task when there are several.
    certificate_ : Certificate
        Of kind "none": ``value`` rows were not reached.
    supervised_ : LSSVM
        The same machine on the labeled rows alone, fitted at first use.
    C_, gamma_ : float
        The numbers used.

    Examples
    --------
    >>> from semisvm import ProgressiveLSSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> partly = hide_labels(y, 50, random_state=0)
    >>> machine = ProgressiveLSSVM().fit(X, partly)
    >>> hidden = partly == -1
    >>> float((machine.supervised_.predict(X[hidden]) != y[hidden]).mean().round(3))
    0.13
    >>> float((machine.transduction_[hidden] != y[hidden]).mean().round(3))
    0.112
    """

    def __init__(
        self,
        C="auto",
        *,
        C_unlabeled=None,
        pick="growth",
        sign="turns",
        kernel="rbf",
        gamma="median",
        coef0=0.0,
        degree=3,
        sigma=None,
        approximation="auto",
        n_components=None,
        landmarks="kmeans++",
        fit_intercept=True,
        balance=None,
        balance_tol=0.0,
        safe=False,
        multiclass="ovr",
        coupling="pwc2",
        max_time=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
        unlabeled=-1,
    ):
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.pick = pick
        self.sign = sign
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
        self.safe = safe
        self.multiclass = multiclass
        self.coupling = coupling
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unlabeled = unlabeled

    def _solver(self):
        _validate.choice("pick", self.pick, ("growth", "alpha"))
        _validate.choice("sign", self.sign, ("turns", "objective"))
        return Progressive(self.pick, self.sign, self.max_time)


class DCLSSVM(LabelMachine):
    r"""Transductive LS-SVM by difference-convex steps: TLS-SVM of Shim and Seok.

    Minimises

    .. math:: \tfrac12\|w\|^2 + \tfrac C2 \sum_{i \in L} (y_i - f(x_i))^2 + \tfrac{C^*}2 \sum_{j \in U} (1 - |f(x_j)|)^2

    by fitting to the labels sign f of the unlabeled rows until they stay. The objective falls at every step. The paper
    has no balance, and none is the default; with one the highest scores become positive.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Cost of a unit of loss at a labeled row; "auto" is 10 up to 20 labels and falls to 1 at 50, divided
        by the total variance of the features.
    C_unlabeled : float or None, default=None
        The same at an unlabeled row, C* above; None is C l/u, and 0 leaves the unlabeled rows out.
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
    approximation : {"auto", None, "nystroem", "kernel_pca"}, default="auto"
        None is exact; "nystroem" and "kernel_pca" put ``n_components`` features in the place of the kernel;
        "auto" is exact while two matrices of all rows keep the memory rule of :mod:`semisvm.spaces`, then
        "nystroem".
    n_components : int or None, default=None
        How many features or landmarks; None for 1,000 at most.
    landmarks : {"kmeans++", "leverage", "random", "labeled"} or array, default="kmeans++"
        How Nystroem's landmarks are chosen among the rows, or the landmarks; see :mod:`semisvm.landmarks`.
    fit_intercept : {True, "regularised", False}, default=True
        A free intercept, one that is part of the norm, or none.
    balance : {"labeled", None}, float or mapping, default=None
        The share r of ``classes_[1]`` among the unlabeled rows: that of the labeled rows, no condition, a
        number, or a mapping from class to share.
    balance_tol : float, default=0.0
        By how much the share may be off; at 0 round(r u) rows are positive.
    safe : bool, default=False
        Return the safe projection instead of the search (:mod:`semisvm.solvers.safe`): no labels make its
        objective worse than that of the supervised machine. No balance is kept then, and all least-squares
        classes give the same machine.
    multiclass : {"ovr", "ovo"}, default="ovr"
        More than two classes: one machine per class against the rest, or one per pair of classes.
    coupling : {"pwc1", "pwc2", "pwc3", "pwc4", "pwc5"}, default="pwc2"
        How one-vs-one joins its pairs; formulas in :mod:`semisvm.multiclass.coupling`.
    max_iter : int, default=1000
        Largest number of steps.
    max_time : float or None, default=None
        Seconds after which the best so far is kept.
    random_state : int, RandomState or None, default=None
        For landmarks and random starts.
    n_jobs : int or None, default=None
        Threads over the binary tasks of several classes, as in joblib.
    verbose : int, default=0
        Above 0, print a line per round.
    unlabeled : object, default=-1
        Marker of rows without a label; None, NaN and NA always are markers too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes; with two of them f > 0 means the second.
    transduction_ : array of shape (n,)
        A label for every row: the given one, or the one found.
    support_, dual_coef_, support_vectors_ : arrays
        Rows with a coefficient (landmarks, with an approximation), the coefficients, the rows.
    coef_ : array of shape (n_problems, d)
        w, with the linear kernel and no approximation.
    intercept_ : array of shape (n_problems,)
        b.
    objective_, objective_path_ : float, array
        The objective at the labels found, and its fall; one per binary task when there are several.
    certificate_ : Certificate
        Of kind "stationary": ``value`` is the largest \|f\| of a row whose label is not the sign of f.
    supervised_ : LSSVM
        The same machine on the labeled rows alone, fitted at first use.
    C_, gamma_ : float
        The numbers used.

    Examples
    --------
    >>> from semisvm import DCLSSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> partly = hide_labels(y, 50, random_state=0)
    >>> machine = DCLSSVM().fit(X, partly)
    >>> hidden = partly == -1
    >>> float((machine.supervised_.predict(X[hidden]) != y[hidden]).mean().round(3))
    0.13
    >>> float((machine.transduction_[hidden] != y[hidden]).mean().round(3))
    0.106
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
        approximation="auto",
        n_components=None,
        landmarks="kmeans++",
        fit_intercept=True,
        balance=None,
        balance_tol=0.0,
        safe=False,
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
        self.balance_tol = balance_tol
        self.safe = safe
        self.multiclass = multiclass
        self.coupling = coupling
        self.max_iter = max_iter
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unlabeled = unlabeled

    def _solver(self):
        return DifferenceConvex(self.max_iter, self.max_time)
