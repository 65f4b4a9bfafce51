"""Transductive machines that search over labels, each labeling with its own hinge machine."""

from __future__ import annotations

from .. import _validate
from ..losses import Hinge, SquaredHinge, SymmetricHinge, SymmetricSquaredHinge
from ..solvers import Genetic, PairSwitching
from ._hinge_machine import HingeMachine
from ._parameters import Method


class LabelingMachine(HingeMachine):
    """Hinges or squared hinges on all rows, and a solver that searches labels."""

    _auto_C = 10.0
    _star_is_C = True

    def _solver(self):
        """The search of the subclass."""
        raise AttributeError(f"{type(self).__name__} names no solver.")

    def _method(self) -> Method:
        if _validate.choice("loss", self.loss, ("hinge", "squared_hinge")) == "hinge":
            return Method(Hinge(), SymmetricHinge(), self._solver())
        return Method(SquaredHinge(), SymmetricSquaredHinge(), self._solver())


class SwitchingTSVM(LabelingMachine):
    r"""Transductive SVM by switching pairs of labels: SVM-light's of Joachims.

    Minimises over f and the labels of the unlabeled rows

    .. math:: \tfrac12\|w\|^2 + C \sum_{i \in L} (1 - y_i f(x_i))_+ + C^* \sum_{j \in U} (1 - y_j f(x_j))_+

    with a share of positive labels that is fixed by ``balance``. The rows that the supervised machine scores highest
    begin as positive; C* rises from a hundred-thousandth of its value, and at each step the two rows of opposite labels
    that are worst change places and the machine is trained again from where it was, until no pair gains. It works on
    the kernel; :class:`MultiSwitchTSVM` is for many rows and sparse tables.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Cost of a unit of loss at a labeled row; "auto" is 10 divided by the total variance of the features.
    C_unlabeled : float or None, default=None
        The same at an unlabeled row, C* above; None is C.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        :math:`(1-t)_+` as in the paper, or its square.
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
    tol : float, default=1e-3
        Largest violation of the optimality conditions of the last machine, in units of f.
    max_iter : int, default=100_000
        Largest number of machines trained.
    max_time : float or None, default=None
        Seconds after which the best so far is kept.
    n_jobs : int or None, default=None
        Threads over the binary tasks of several classes, as in joblib.
    verbose : int, default=0
        Above 0, print a line per machine.
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
        The objective at ``transduction_`` at the end and after every machine; one per binary task where there are
        several.
    trace_ : list of dict
        Per machine: objective, level (the share of C* that counts) and the objective there, labels changed, violation.
    certificate_ : Certificate
        Of kind "stationary": f is best for the labels up to a violation of ``value``, and no change of places helps at
        that f.
    supervised_ : SVM
        The same machine on the labeled rows alone, fitted at first use.
    C_, gamma_ : float
        The numbers used.

    Examples
    --------
    >>> from semisvm import SwitchingTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> partly = hide_labels(y, 50, random_state=0)
    >>> machine = SwitchingTSVM(C=1.0).fit(X, partly)
    >>> hidden = partly == -1
    >>> float((machine.transduction_[hidden] != y[hidden]).mean().round(3))
    0.092
    """

    def __init__(
        self,
        C="auto",
        *,
        C_unlabeled=None,
        loss="hinge",
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
        tol=1e-3,
        max_iter=100_000,
        max_time=None,
        n_jobs=None,
        verbose=0,
        unlabeled=-1,
    ):
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.loss = loss
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
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unlabeled = unlabeled

    def _solver(self) -> PairSwitching:
        return PairSwitching(self.tol, self.max_iter, self.max_time)


class GeneticTSVM(LabelingMachine):
    r"""Transductive SVM by a genetic algorithm: S3VM-GA of Adankon and Cheriet.

    Minimises the objective of :class:`SwitchingTSVM`. A population of labelings of the unlabeled rows is crossed and
    mutated; an individual's fitness is :math:`\beta L + (1-\beta) N_{SV}`, where L is the objective of the machine
    trained on it and :math:`N_{SV}` the number of its support vectors, and the smallest survives. Labels of rows with a
    large slack mutate most. The unlabeled rows join a few at a time, those nearest to the ones at work first. At the
    end the best labeling is bettered by switching. It finds low objectives where descent gets stuck, at the price of
    some thousand machines: a matter of seconds for hundreds of unlabeled rows, of minutes for thousands.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Cost of a unit of loss at a labeled row; "auto" is 10 divided by the total variance of the features.
    C_unlabeled : float or None, default=None
        The same at an unlabeled row, C* above; None is C.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        :math:`(1-t)_+` as in the paper, or its square.
    population : int, default=30
        Individuals.
    generations : int, default=100
        Largest number of generations each time that rows have joined.
    beta : float, default=0.65
        Weight of the objective in the fitness, in [0, 1]; the rest is that of the number of support vectors.
    stall : int, default=12
        Generations without a better fitness after which the search ends; a third of it before more rows join.
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
    tol : float, default=1e-3
        Largest violation of the optimality conditions of a machine, in units of f.
    max_time : float or None, default=None
        Seconds after which the best so far is kept.
    random_state : int, RandomState or None, default=None
        For the first labels, crossovers and mutations.
    n_jobs : int or None, default=None
        Threads over the binary tasks of several classes, as in joblib.
    verbose : int, default=0
        Above 0, print a line per generation.
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
        The objective at ``transduction_`` at the end, and before that of the best individual on the rows at work.
    trace_ : list of dict
        Per generation: objective and fitness of the best individual, rows at work, violation.
    certificate_ : Certificate
        Of kind "stationary": f is best for the labels up to a violation of ``value``, and no change of places helps at
        that f.
    supervised_ : SVM
        The same machine on the labeled rows alone, fitted at first use.
    C_, gamma_ : float
        The numbers used.

    Examples
    --------
    >>> from semisvm import GeneticTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(150, random_state=0)
    >>> partly = hide_labels(y, 20, random_state=0)
    >>> machine = GeneticTSVM(C=1.0, population=10, random_state=0).fit(X, partly)
    >>> hidden = partly == -1
    >>> float((machine.transduction_[hidden] != y[hidden]).mean().round(3))
    0.077
    """

    def __init__(
        self,
        C="auto",
        *,
        C_unlabeled=None,
        loss="hinge",
        population=30,
        generations=100,
        beta=0.65,
        stall=12,
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
        tol=1e-3,
        max_time=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
        unlabeled=-1,
    ):
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.loss = loss
        self.population = population
        self.generations = generations
        self.beta = beta
        self.stall = stall
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
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unlabeled = unlabeled

    def _solver(self) -> Genetic:
        for name, least in (("population", 2), ("generations", 1), ("stall", 1)):
            _validate.whole_number(name, getattr(self, name), least)
        _validate.number("beta", self.beta, 0.0, 1.0, closed="both")
        return Genetic(self.population, self.generations, self.beta, self.stall, self.tol, self.max_time)
