"""Machines that look at labeled rows alone: the SVM and the ramp-loss SVM."""

from __future__ import annotations

from .. import _validate
from ..losses import LABELED, Ramp
from ..solvers import CCCP, SMO
from ._base import Machine
from ._parameters import Method


class SVM(Machine):
    r"""Support vector machine by sequential minimal optimisation.

    Minimises :math:`\frac12\|w\|^2 + C \sum_i \ell(y_i f(x_i))` with the hinge :math:`\ell(t) = (1-t)_+` or its
    square. Equal to :class:`sklearn.svm.SVC` for the hinge, and several times faster from a few thousand rows on,
    because kernel values are computed in blocks by matrix multiplication.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a unit of loss.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss.
    kernel : str or callable, default="rbf"
        "linear", "rbf", "poly", "laplacian", "multiquadric", "inverse_multiquadric", "kmod", "precomputed" or a
        function of two tables; formulas in :mod:`semisvm.kernels`.
    gamma : {"scale", "median", "auto"} or float, default="scale"
        Width of the kernel: 1/(columns x variance), 0.5/median squared distance, 1/columns, or a number.
    coef0 : float, default=0.0
        Constant of the poly, laplacian and multiquadric kernels.
    degree : int, default=3
        Degree of the poly kernel.
    sigma : float or None, default=None
        Width of the kmod kernel; None for sqrt(gamma).
    fit_intercept : {True, "regularised", False}, default=True
        A free intercept, one that is part of the norm, or none.
    multiclass : {"ovr", "ovo"}, default="ovr"
        More than two classes: one machine per class against the rest, or one per pair of classes.
    coupling : {"pwc1", "pwc2", "pwc3", "pwc4", "pwc5"}, default="pwc2"
        How one-vs-one joins its pairs; formulas in :mod:`semisvm.multiclass.coupling`.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of f.
    max_iter : int, default=10_000_000
        Largest number of pair steps.
    max_time : float or None, default=None
        Seconds after which the best so far is kept.
    n_jobs : int or None, default=None
        Threads over the binary tasks of several classes, as in joblib.
    verbose : int, default=0
        Above 0, say what is done.
    unlabeled : object, default=-1
        Marker of rows without a label, which are left out; None, NaN and NA always are markers too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes; with two of them f > 0 means the second.
    support_, dual_coef_, support_vectors_ : arrays
        Rows with a multiplier, their signed multipliers, the rows themselves.
    coef_ : array of shape (n_problems, d)
        w, with the linear kernel only.
    intercept_ : array of shape (n_problems,)
        b.
    objective_ : float or array
        The objective; one per binary task when there are several, as with the attributes below.
    certificate_ : Certificate
        Violation of the optimality conditions, lower bound and duality gap.
    C_, gamma_ : float
        The numbers used.
    n_iter_, converged_ : int, bool
        Pair steps, and whether they reached ``tol``.
    transduction_ : array of shape (n,)
        The given labels, and the predictions for rows without.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from semisvm import SVM
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = SVM().fit(X[50:], y[50:])
    >>> float(machine.score(X[50:], y[50:]))
    0.96
    """

    _semi_supervised = False

    def __init__(
        self,
        C=1.0,
        *,
        loss="hinge",
        kernel="rbf",
        gamma="scale",
        coef0=0.0,
        degree=3,
        sigma=None,
        fit_intercept=True,
        multiclass="ovr",
        coupling="pwc2",
        tol=1e-3,
        max_iter=10_000_000,
        max_time=None,
        n_jobs=None,
        verbose=0,
        unlabeled=-1,
    ):
        self.C = C
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.sigma = sigma
        self.fit_intercept = fit_intercept
        self.multiclass = multiclass
        self.coupling = coupling
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unlabeled = unlabeled

    def _method(self) -> Method:
        loss = LABELED[_validate.choice("loss", self.loss, ("hinge", "squared_hinge"))]()
        return Method(loss, None, SMO(self.tol, self.max_iter, self.max_time))


class RampSVM(Machine):
    r"""Ramp-loss SVM by the concave-convex procedure (Collobert, Sinz, Weston, Bottou).

    Minimises :math:`\frac12\|w\|^2 + C \sum_i \min(1-s, (1-y_i f(x_i))_+)`. Rows with :math:`y f < s`, outliers mostly,
    do not become support vectors, so the machine is sparser than the SVM at the same error.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a unit of loss.
    s : float, default=-1.0
        Where the loss stops growing; below 1.
    init : {"svm", "subset"}, default="svm"
        Start from the SVM on all rows, or from one on a random tenth of them (at least 500), which is faster and
        leaves kernel values of rows that matter to nobody uncomputed.
    kernel : str or callable, default="rbf"
        As in :class:`SVM`.
    gamma : {"scale", "median", "auto"} or float, default="scale"
        As in :class:`SVM`.
    coef0 : float, default=0.0
        Constant of the poly, laplacian and multiquadric kernels.
    degree : int, default=3
        Degree of the poly kernel.
    sigma : float or None, default=None
        Width of the kmod kernel; None for sqrt(gamma).
    fit_intercept : {True, "regularised", False}, default=True
        A free intercept, one that is part of the norm, or none.
    multiclass : {"ovr", "ovo"}, default="ovr"
        More than two classes: one machine per class against the rest, or one per pair of classes.
    coupling : {"pwc1", "pwc2", "pwc3", "pwc4", "pwc5"}, default="pwc2"
        How one-vs-one joins its pairs; formulas in :mod:`semisvm.multiclass.coupling`.
    tol : float, default=1e-3
        Tolerance of each convex step, in units of f.
    max_iter : int, default=100
        Largest number of convex steps.
    max_time : float or None, default=None
        Seconds after which the best so far is kept.
    random_state : int, RandomState or None, default=None
        Draws the subset of ``init="subset"``.
    n_jobs : int or None, default=None
        Threads over the binary tasks of several classes, as in joblib.
    verbose : int, default=0
        Above 0, print a line per convex step.
    unlabeled : object, default=-1
        Marker of rows without a label, which are left out; None, NaN and NA always are markers too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes; with two of them f > 0 means the second.
    support_, dual_coef_, support_vectors_ : arrays
        Rows with a multiplier, their signed multipliers, the rows themselves.
    intercept_ : array of shape (n_problems,)
        b.
    objective_, objective_path_ : float, array
        The objective at the end and after every convex step; one per binary task when there are several.
    certificate_ : Certificate
        Of kind "stationary": the violation of the conditions of a stationary point.

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

    _semi_supervised = False

    def __init__(
        self,
        C=1.0,
        *,
        s=-1.0,
        init="svm",
        kernel="rbf",
        gamma="scale",
        coef0=0.0,
        degree=3,
        sigma=None,
        fit_intercept=True,
        multiclass="ovr",
        coupling="pwc2",
        tol=1e-3,
        max_iter=100,
        max_time=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
        unlabeled=-1,
    ):
        self.C = C
        self.s = s
        self.init = init
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.sigma = sigma
        self.fit_intercept = fit_intercept
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
        _validate.number("s", self.s, high=1.0)
        _validate.choice("init", self.init, ("svm", "subset"))
        return Method(Ramp(float(self.s)), None, CCCP(self.init, self.tol, self.max_iter, self.max_time))
