"""Least-squares machines of labeled rows."""

from __future__ import annotations

from .. import _validate
from ..losses import Squared
from ..solvers import Greedy, LeastSquares, Pruning
from ._base import Machine
from ._parameters import Method


class LSSVM(Machine):
    r"""Least-squares support vector machine (Suykens and Vandewalle), in closed form.

    Minimises :math:`\frac12\|w\|^2 + \frac C2 \sum_i (y_i - f(x_i))^2`, which is one linear system: every row gets a
    coefficient, :math:`\alpha_i = C (y_i - f(x_i))`. One factorisation serves all classes, and the held-out scores
    behind ``predict_proba`` come from it in closed form.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a unit of loss.
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
    multiclass : {"ovr", "ovo"}, default="ovr"
        More than two classes: one machine per class against the rest, or one per pair of classes.
    coupling : {"pwc1", "pwc2", "pwc3", "pwc4", "pwc5"}, default="pwc2"
        How one-vs-one joins its pairs; formulas in :mod:`semisvm.multiclass.coupling`.
    random_state : int, RandomState or None, default=None
        For landmarks.
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
    transduction_ : array of shape (n,)
        The given labels, and the predictions for rows without.
    support_, dual_coef_, support_vectors_ : arrays
        Rows with a coefficient (landmarks, with an approximation), the coefficients, the rows.
    coef_ : array of shape (n_problems, d)
        w, with the linear kernel and no approximation.
    intercept_ : array of shape (n_problems,)
        b.
    objective_ : float or array
        The objective; one per binary task when there are several, as with the attribute below.
    certificate_ : Certificate
        Of kind "kkt": how far f is from solving the system; lower bound and duality gap.
    C_, gamma_ : float
        The numbers used.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from semisvm import LSSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = LSSVM().fit(X, y)
    >>> round(float(machine.score(X, y)), 3)
    0.96
    """

    _semi_supervised = False

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        gamma="scale",
        coef0=0.0,
        degree=3,
        sigma=None,
        approximation="auto",
        n_components=None,
        landmarks="kmeans++",
        fit_intercept=True,
        multiclass="ovr",
        coupling="pwc2",
        random_state=None,
        n_jobs=None,
        verbose=0,
        unlabeled=-1,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.sigma = sigma
        self.approximation = approximation
        self.n_components = n_components
        self.landmarks = landmarks
        self.fit_intercept = fit_intercept
        self.multiclass = multiclass
        self.coupling = coupling
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unlabeled = unlabeled

    def _method(self) -> Method:
        return Method(Squared(), None, LeastSquares())


class SparseLSSVM(Machine):
    r"""Least-squares SVM on few support vectors: a reduced set, a greedy choice, or pruning.

    "reduced" minimises the objective of :class:`LSSVM` over all rows, with w in the span of ``n_components`` of them;
    with all rows it is :class:`LSSVM`. "greedy" takes rows one by one, those that raise the dual objective most, and
    trains on them alone, with a regularised intercept (the stop rule of the published FSALS-SVM was not available; this
    one stops at a small relative gain). "pruning" trains on all rows and drops the twentieth with the smallest
    multipliers, again and again (Suykens and others).

    Parameters
    ----------
    C : float, default=1.0
        Cost of a unit of loss.
    method : {"reduced", "greedy", "pruning"}, default="reduced"
        All rows in the loss and ``n_components`` of them in the machine; rows taken one by one, each the
        one that helps most, and trained on alone; all rows, then those of small multipliers dropped.
    n_components : int or None, default=None
        Largest number of rows kept. None: 1,000 at most ("reduced"), until a row adds less than ``tol``
        ("greedy"), until the held-out error rises by its standard error ("pruning").
    landmarks : {"kmeans++", "leverage", "random", "labeled"} or array, default="kmeans++"
        How the reduced set is chosen among the rows, or the set itself; see :mod:`semisvm.landmarks`.
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
    multiclass : {"ovr", "ovo"}, default="ovr"
        More than two classes: one machine per class against the rest, or one per pair of classes.
    coupling : {"pwc1", "pwc2", "pwc3", "pwc4", "pwc5"}, default="pwc2"
        How one-vs-one joins its pairs; formulas in :mod:`semisvm.multiclass.coupling`.
    tol : float, default=1e-4
        The greedy method stops when a row adds less than this share of the dual objective.
    max_time : float or None, default=None
        Seconds after which the best so far is kept.
    random_state : int, RandomState or None, default=None
        For the reduced set and for the pool of the greedy method.
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
    transduction_ : array of shape (n,)
        The given labels, and the predictions for rows without.
    support_, dual_coef_, support_vectors_ : arrays
        Rows with a coefficient (landmarks, with an approximation), the coefficients, the rows.
    coef_ : array of shape (n_problems, d)
        w, with the linear kernel and no approximation.
    intercept_ : array of shape (n_problems,)
        b.
    n_active_ : int
        Support vectors.
    objective_ : float or array
        The objective over all rows; one per binary task when there are several, as with the attribute
        below.
    certificate_ : Certificate
        "kkt" for the reduced set, "none" for the others.
    C_, gamma_ : float
        The numbers used.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from semisvm import SparseLSSVM
    >>> X, y = load_digits(return_X_y=True)
    >>> machine = SparseLSSVM(10.0, n_components=100, random_state=0).fit(X[:1000], y[:1000])
    >>> machine.support_vectors_.shape
    (100, 64)
    >>> bool(machine.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _semi_supervised = False

    def __init__(
        self,
        C=1.0,
        *,
        method="reduced",
        n_components=None,
        landmarks="kmeans++",
        kernel="rbf",
        gamma="scale",
        coef0=0.0,
        degree=3,
        sigma=None,
        multiclass="ovr",
        coupling="pwc2",
        tol=1e-4,
        max_time=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
        unlabeled=-1,
    ):
        self.C = C
        self.method = method
        self.n_components = n_components
        self.landmarks = landmarks
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.sigma = sigma
        self.multiclass = multiclass
        self.coupling = coupling
        self.tol = tol
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unlabeled = unlabeled

    @property
    def approximation(self) -> str | None:
        """The reduced set is Nystroem's."""
        return "nystroem" if self.method == "reduced" else None

    @property
    def _intercept(self):
        return "regularised" if self.method == "greedy" else True

    def _method(self) -> Method:
        _validate.choice("method", self.method, ("reduced", "greedy", "pruning"))
        if self.method == "reduced":
            return Method(Squared(), None, LeastSquares())
        if self.method == "greedy":
            return Method(Squared(), None, Greedy(self.n_components, self.tol, self.max_time))
        return Method(Squared(), None, Pruning(self.n_components, self.max_time))
