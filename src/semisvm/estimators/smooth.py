"""Semi-supervised machines with a smooth loss on unlabeled rows, in the primal."""

from __future__ import annotations

from ..losses import Gaussian, Hinge, SquaredHinge
from ..solvers import Continuation, GradientPath
from ._parameters import Method
from ._primal_machine import PrimalMachine


class GradientTSVM(PrimalMachine):
    r"""Transductive SVM by gradient descent on a smooth loss: nabla-TSVM of Chapelle and Zien.

    Minimises

    .. math:: \tfrac12\|w\|^2 + C \sum_{i \in L} (1 - y_i f(x_i))_+^2 + C^* \sum_{j \in U} e^{-3 f(x_j)^2}

    subject to a mean of f over the unlabeled rows that is fixed by ``balance``. C* rises from a hundredth of its value
    in eleven steps, each solved from the last by Newton steps in a trust region. Works in the primal, on the columns of
    X, sparse or dense, or on features of a kernel.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Cost of a unit of loss at a labeled row; "auto" is 10 divided by the total variance of the features.
    C_unlabeled : float or None, default=None
        The same at an unlabeled row, C* above; None is C l/u.
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
        A kernel other than the linear one is turned into features: None keeps all kernel principal
        components, "kernel_pca" the first ``n_components``, "nystroem" those of as many landmarks; "auto"
        is "kernel_pca" up to 3,000 rows, then "nystroem". The linear kernel needs none and takes sparse
        tables as they are.
    n_components : int or None, default=None
        How many features or landmarks; None for 1,000 at most.
    landmarks : {"kmeans++", "leverage", "random", "labeled"} or array, default="kmeans++"
        How Nystroem's landmarks are chosen among the rows, or the landmarks; see :mod:`semisvm.landmarks`.
    balance : {"labeled", None}, float or mapping, default="labeled"
        The share r of ``classes_[1]`` among the unlabeled rows, which fixes mean f = 2 r - 1: that of the
        labeled rows, no condition, a number, or a mapping from class to share.
    multiclass : {"ovr", "ovo"}, default="ovr"
        More than two classes: one machine per class against the rest, or one per pair of classes.
    coupling : {"pwc1", "pwc2", "pwc3", "pwc4", "pwc5"}, default="pwc2"
        How one-vs-one joins its pairs; formulas in :mod:`semisvm.multiclass.coupling`.
    tol : float, default=1e-3
        Norm of the gradient at which a level is solved, relative to that of the losses at w = 0.
    max_iter : int, default=1000
        Largest number of Newton steps a level.
    max_time : float or None, default=None
        Seconds after which the best so far is kept.
    random_state : int, RandomState or None, default=None
        For landmarks.
    n_jobs : int or None, default=None
        Threads over the binary tasks where no label is missing, as in joblib; otherwise all tasks are solved side by
        side, by all cores.
    verbose : int, default=0
        Above 0, print a line per level.
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
        The objective at the end and after every level; one per binary task when there are several.
    trace_ : list of dict
        Per level: objective, level, labels changed.
    certificate_ : Certificate
        Of kind "stationary": the norm of the gradient, relative to that of the losses at w = 0.
    supervised_ : S3VM
        The same machine on the labeled rows alone, fitted at first use.
    C_, gamma_ : float
        The numbers used.

    Examples
    --------
    >>> from semisvm import GradientTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> partly = hide_labels(y, 50, random_state=0)
    >>> machine = GradientTSVM(C=1.0).fit(X, partly)
    >>> hidden = partly == -1
    >>> float((machine.transduction_[hidden] != y[hidden]).mean().round(3))
    0.098
    """

    _auto_C = 10.0

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
        balance="labeled",
        multiclass="ovr",
        coupling="pwc2",
        tol=1e-3,
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
        self.balance = balance
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
        return Method(SquaredHinge(), Gaussian(), GradientPath(self.tol, self.max_iter, self.max_time))


class ContinuationTSVM(PrimalMachine):
    r"""Transductive SVM by continuation: cS3VM of Chapelle, Chi and Zien.

    Minimises

    .. math:: \tfrac12\|w\|^2 + C \sum_{i \in L} (1 - y_i f(x_i))_+ + C^* \sum_{j \in U} e^{-3 f(x_j)^2}

    subject to a mean of f over the unlabeled rows that is fixed by ``balance``. The objective is convolved with a
    Gaussian wide enough to make it convex, minimised, and followed through eleven levels of less and less smoothing.
    Where one class has few of the rows, the mean of f does not fix its share: see ``GradientTSVM``.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Cost of a unit of loss at a labeled row; "auto" is 100 divided by the total variance of the
        features.
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
    approximation : {"auto", None, "nystroem", "kernel_pca"}, default="auto"
        A kernel other than the linear one is turned into features: None keeps all kernel principal
        components, "kernel_pca" the first ``n_components``, "nystroem" those of as many landmarks; "auto"
        is "kernel_pca" up to 3,000 rows, then "nystroem". The linear kernel needs none and takes sparse
        tables as they are.
    n_components : int or None, default=None
        How many features or landmarks; None for 1,000 at most.
    landmarks : {"kmeans++", "leverage", "random", "labeled"} or array, default="kmeans++"
        How Nystroem's landmarks are chosen among the rows, or the landmarks; see :mod:`semisvm.landmarks`.
    balance : {"labeled", None}, float or mapping, default="labeled"
        The share r of ``classes_[1]`` among the unlabeled rows, which fixes mean f = 2 r - 1: that of the
        labeled rows, no condition, a number, or a mapping from class to share.
    multiclass : {"ovr", "ovo"}, default="ovr"
        More than two classes: one machine per class against the rest, or one per pair of classes.
    coupling : {"pwc1", "pwc2", "pwc3", "pwc4", "pwc5"}, default="pwc2"
        How one-vs-one joins its pairs; formulas in :mod:`semisvm.multiclass.coupling`.
    tol : float, default=1e-3
        Norm of the gradient at which a level is solved, relative to that of the losses at w = 0.
    max_iter : int, default=1000
        Largest number of Newton steps a level.
    max_time : float or None, default=None
        Seconds after which the best so far is kept.
    random_state : int, RandomState or None, default=None
        For landmarks.
    n_jobs : int or None, default=None
        Threads over the binary tasks where no label is missing, as in joblib; otherwise all tasks are solved side by
        side, by all cores.
    verbose : int, default=0
        Above 0, print a line per level.
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
        The objective at the end and after every level; one per binary task when there are several.
    trace_ : list of dict
        Per level: objective, level, labels changed.
    certificate_ : Certificate
        Of kind "stationary": the norm of the gradient, relative to that of the losses at w = 0.
    supervised_ : S3VM
        The same machine on the labeled rows alone, fitted at first use.
    C_, gamma_ : float
        The numbers used.

    Examples
    --------
    >>> from semisvm import ContinuationTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> partly = hide_labels(y, 50, random_state=0)
    >>> machine = ContinuationTSVM().fit(X, partly)
    >>> hidden = partly == -1
    >>> float((machine.transduction_[hidden] != y[hidden]).mean().round(3))
    0.108
    """

    _auto_C = 100.0
    _star_is_C = True

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
        balance="labeled",
        multiclass="ovr",
        coupling="pwc2",
        tol=1e-3,
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
        self.balance = balance
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
        return Method(Hinge(), Gaussian(), Continuation(self.tol, self.max_iter, self.max_time))
