"""Semi-supervised machines with a hinge."""

from __future__ import annotations

from .. import _validate
from ..losses import Hinge, SymmetricRamp
from ..solvers import CCCP
from ._hinge_machine import HingeMachine
from ._parameters import Method


class CCCPTSVM(HingeMachine):
    r"""Transductive SVM by the concave-convex procedure (Collobert, Sinz, Weston, Bottou).

    Minimises

    .. math:: \tfrac12\|w\|^2 + C \sum_{i \in L} (1 - y_i f(x_i))_+ + C^* \sum_{j \in U} \min(1+s, (1-|f(x_j)|)_+)

    subject to a mean of f over the unlabeled rows that is fixed by ``balance``: unlabeled rows are pushed out of the
    margin, to whichever side they are on; those with :math:`|f| < -s` have no say. The paper counts each unlabeled row
    twice, which adds the constant :math:`C^* u (1-s)` to its objective.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Cost of a unit of loss at a labeled row; "auto" is 10 divided by the total variance of the features.
    C_unlabeled : float or None, default=None
        The same at an unlabeled row, C* above; None is C l/u.
    s : float, default=-0.3
        Where the ramp is cut, in (-1, 0].
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
    balance : {"labeled", None}, float or mapping, default="labeled"
        The share r of ``classes_[1]`` among the unlabeled rows, which fixes mean f = 2 r - 1: that of the labeled
        rows, no condition, a number, or a mapping from class to share.
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
    n_jobs : int or None, default=None
        Threads over the binary tasks of several classes, as in joblib.
    verbose : int, default=0
        Above 0, print a line per convex step.
    unlabeled : object, default=-1
        Marker of rows without a label; None, NaN and NA always are markers too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes; with two of them f > 0 means the second.
    transduction_ : array of shape (n,)
        A label for every row: the given one, or the side of f.
    support_, dual_coef_, support_vectors_ : arrays
        Rows with a coefficient, the coefficients, the rows. A balance gives every unlabeled row one.
    n_active_ : int
        Rows with a multiplier of their own.
    intercept_ : array of shape (n_problems,)
        b.
    objective_, objective_path_ : float, array
        The objective at the end and after every convex step; one per binary task when there are several.
    certificate_ : Certificate
        Of kind "stationary": the violation of the conditions of a stationary point.
    supervised_ : SVM
        The same machine on the labeled rows alone, fitted at first use.
    C_, gamma_ : float
        The numbers used.

    Examples
    --------
    >>> from semisvm import CCCPTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> partly = hide_labels(y, 50, random_state=0)
    >>> machine = CCCPTSVM(C=1.0).fit(X, partly)
    >>> hidden = partly == -1
    >>> float((machine.supervised_.predict(X[hidden]) != y[hidden]).mean().round(3))
    0.126
    >>> float((machine.transduction_[hidden] != y[hidden]).mean().round(3))
    0.094
    """

    _auto_C = 10.0

    def __init__(
        self,
        C="auto",
        *,
        C_unlabeled=None,
        s=-0.3,
        kernel="rbf",
        gamma="median",
        coef0=0.0,
        degree=3,
        sigma=None,
        balance="labeled",
        multiclass="ovr",
        coupling="pwc2",
        tol=1e-3,
        max_iter=100,
        max_time=None,
        n_jobs=None,
        verbose=0,
        unlabeled=-1,
    ):
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.s = s
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.sigma = sigma
        self.balance = balance
        self.multiclass = multiclass
        self.coupling = coupling
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unlabeled = unlabeled

    def _method(self) -> Method:
        _validate.number("s", self.s, -1.0, 0.0, closed="high")
        solver = CCCP("svm", self.tol, self.max_iter, self.max_time)
        return Method(Hinge(), SymmetricRamp(float(self.s)), solver)
