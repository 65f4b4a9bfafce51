"""Transductive machines of SVMlin: squared hinges in the primal, for sparse tables and many rows."""

from __future__ import annotations

from .. import _validate
from ..losses import SquaredHinge, SymmetricSquaredHinge
from ..solvers import Annealing, FiniteNewton, MultiSwitch
from ._parameters import Method, fewer_with_labels
from ._primal_machine import PrimalMachine


class NewtonMachine(PrimalMachine):
    """Squared hinges on all rows, and a solver that searches labels by finite Newton solves."""

    _twin = FiniteNewton

    def _solver(self):
        """The search of the subclass."""
        raise AttributeError(f"{type(self).__name__} names no solver.")

    def _method(self) -> Method:
        return Method(SquaredHinge(), SymmetricSquaredHinge(), self._solver())

    def _robust_C(self, n_labeled: float) -> float:
        return fewer_with_labels(n_labeled)


class MultiSwitchTSVM(NewtonMachine):
    r"""Transductive SVM by switching many labels at once: SVMlin's of Sindhwani and Keerthi.

    Minimises over f and the labels of the unlabeled rows

    .. math:: \tfrac12\|w\|^2 + C \sum_{i \in L} (1 - y_i f(x_i))_+^2 + C^* \sum_{j \in U} (1 - y_j f(x_j))_+^2

    with a share of positive labels that is fixed by ``balance``. The rows that the supervised machine scores highest
    begin as positive; C* rises from a hundred-thousandth of its value, and at each step positive rows change places
    with negative ones of higher score, many at a time, until none is left. Works in the primal, on the columns of X,
    sparse or dense, or on features of a kernel; several classes are solved side by side, in one pass over the rows for
    all. SVMlin's lambda and lambda' are 1/(2 C l) and 2 u C* lambda.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Cost of a unit of loss at a labeled row; "auto" is 10 up to 20 labels and 1 from 50 on,
        divided by the total variance of the features.
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
    fit_intercept : {True, "regularised", False}, default=True
        A free intercept, one that is part of the norm (as in SVMlin), or none.
    balance : {"labeled", None}, float or mapping, default="labeled"
        The share of ``classes_[1]`` among the labels of unlabeled rows: that of the labeled rows, no condition, a
        number, or a mapping from class to share.
    balance_tol : float, default=0.0
        How far the share may be from ``balance``.
    max_switches : int, default=10_000
        Largest number of pairs that change places between two solves.
    multiclass : {"ovr", "ovo"}, default="ovr"
        More than two classes: one machine per class against the rest, or one per pair of classes.
    coupling : {"pwc1", "pwc2", "pwc3", "pwc4", "pwc5"}, default="pwc2"
        How one-vs-one joins its pairs; formulas in :mod:`semisvm.multiclass.coupling`.
    tol : float, default=1e-3
        Norm of the gradient at which a solve is done, relative to that of the losses at w = 0.
    max_iter : int, default=1000
        Largest number of solves.
    max_time : float or None, default=None
        Seconds after which the best so far is kept.
    random_state : int, RandomState or None, default=None
        For landmarks.
    n_jobs : int or None, default=None
        Threads over the binary tasks where no label is missing, as in joblib; otherwise all tasks are solved side by
        side, by all cores.
    verbose : int, default=0
        Above 0, print a line per solve.
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
        The objective at ``transduction_`` at the end and after every solve; one per binary task when there are several.
    trace_ : list of dict
        Per solve: objective, level (the share of C* that counts), labels changed, violation.
    certificate_ : Certificate
        Of kind "stationary": f is best for the labels, to a gradient of ``value`` relative to that of the losses at
        w = 0, and no change of places helps at that f.
    supervised_ : S3VM
        The same machine on the labeled rows alone, fitted at first use.
    C_, gamma_ : float
        The numbers used.

    Examples
    --------
    >>> from semisvm import MultiSwitchTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> partly = hide_labels(y, 50, random_state=0)
    >>> machine = MultiSwitchTSVM(kernel="linear").fit(X, partly)
    >>> hidden = partly == -1
    >>> float((machine.transduction_[hidden] != y[hidden]).mean().round(3))
    0.12
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
        balance="labeled",
        balance_tol=0.0,
        max_switches=10_000,
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
        self.fit_intercept = fit_intercept
        self.balance = balance
        self.balance_tol = balance_tol
        self.max_switches = max_switches
        self.multiclass = multiclass
        self.coupling = coupling
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unlabeled = unlabeled

    def _solver(self) -> MultiSwitch:
        _validate.whole_number("max_switches", self.max_switches, 1)
        return MultiSwitch(self.tol, self.max_iter, self.max_time, self.max_switches)


class AnnealingTSVM(NewtonMachine):
    r"""Transductive SVM by deterministic annealing: SVMlin's of Sindhwani, Keerthi and Chapelle.

    Minimises

    .. math:: \tfrac12\|w\|^2 + C \sum_{i \in L} (1 - y_i f(x_i))_+^2 + C^* \sum_{j \in U} (1 - |f(x_j)|)_+^2

    through soft labels: an unlabeled row is positive with probability p, whose mean is fixed by ``balance`` and whose
    entropy is paid for with a temperature. That falls by a third each time p has come to rest, until no row is in
    doubt; the best labels seen are then held for a last solve. Works in the primal, on the columns of X, sparse or
    dense, or on features of a kernel; several classes are solved side by side, in one pass over the rows for all.
    SVMlin's lambda and lambda' are 1/(2 C l) and 2 u C* lambda.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Cost of a unit of loss at a labeled row; "auto" is 10 up to 20 labels and 1 from 50 on,
        divided by the total variance of the features.
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
    fit_intercept : {True, "regularised", False}, default=True
        A free intercept, one that is part of the norm (as in SVMlin), or none.
    balance : {"labeled", None}, float or mapping, default="labeled"
        The mean of p, and so the share of ``classes_[1]`` among the labels of unlabeled rows: that of the labeled
        rows, no condition, a number, or a mapping from class to share.
    multiclass : {"ovr", "ovo"}, default="ovr"
        More than two classes: one machine per class against the rest, or one per pair of classes.
    coupling : {"pwc1", "pwc2", "pwc3", "pwc4", "pwc5"}, default="pwc2"
        How one-vs-one joins its pairs; formulas in :mod:`semisvm.multiclass.coupling`.
    tol : float, default=1e-3
        Norm of the gradient at which a solve is done, relative to that of the losses at w = 0.
    max_iter : int, default=1000
        Largest number of solves.
    max_time : float or None, default=None
        Seconds after which the best so far is kept.
    random_state : int, RandomState or None, default=None
        For landmarks.
    n_jobs : int or None, default=None
        Threads over the binary tasks where no label is missing, as in joblib; otherwise all tasks are solved side by
        side, by all cores.
    verbose : int, default=0
        Above 0, print a line per solve.
    unlabeled : object, default=-1
        Marker of rows without a label; None, NaN and NA always are markers too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes; with two of them f > 0 means the second.
    transduction_ : array of shape (n,)
        A label for every row: the given one, or that of the search, whose share is that of ``balance``.
    coef_ : array of shape (n_problems, d)
        w, with the linear kernel and no approximation.
    support_, dual_coef_, support_vectors_ : arrays
        With features of a kernel: the landmarks and their coefficients.
    intercept_ : array of shape (n_problems,)
        b.
    objective_, objective_path_ : float, array
        The objective at the end and after every solve; one per binary task when there are several.
    trace_ : list of dict
        Per solve: objective, level (the temperature), labels changed, violation.
    certificate_ : Certificate
        Of kind "stationary": f is best for the labels, to a gradient of ``value`` relative to that of the losses at
        w = 0.
    supervised_ : S3VM
        The same machine on the labeled rows alone, fitted at first use.
    C_, gamma_ : float
        The numbers used.

    Examples
    --------
    >>> from semisvm import AnnealingTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> partly = hide_labels(y, 50, random_state=0)
    >>> machine = AnnealingTSVM(kernel="linear").fit(X, partly)
    >>> hidden = partly == -1
    >>> float((machine.transduction_[hidden] != y[hidden]).mean().round(3))
    0.108
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
        self.fit_intercept = fit_intercept
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

    def _solver(self) -> Annealing:
        return Annealing(self.tol, self.max_iter, self.max_time)
