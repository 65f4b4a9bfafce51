"""Semi-supervised least squares by Bayesian inference."""

from __future__ import annotations

import numpy as np

from .. import _validate
from ..solvers import IntegerQuadratic
from ._label_machine import LabelMachine


class BayesianLSSVM(LabelMachine):
    r"""Semi-supervised LS-SVM by two levels of inference: BS2LS-SVM of Adankon, Cheriet and Biem.

    Minimises, over w, b and the labels :math:`y_j = \pm 1` of the unlabeled rows,

    .. math:: \tfrac12\|w\|^2 + \tfrac C2 \sum_{i \in L} (y_i - f(x_i))^2 + \tfrac{C^*}2 \sum_{j \in U} (y_j - f(x_j))^2

    subject to the share of positive labels: with a Gaussian prior of precision :math:`\mu` on w and noise of precision
    :math:`\beta`, C = :math:`\beta/\mu`, these are the most probable labels (the paper has C* = C). Few unlabeled rows
    are solved to the optimum, more are searched, and the certificate bounds what is left.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Cost of a unit of loss at a labeled row; "auto" is 10 up to 20 labels and falls to 1 at 50, divided
        by the total variance of the features.
    C_unlabeled : float or None, default=None
        The same at an unlabeled row, C* above; None is C l/u, and 0 leaves the unlabeled rows out.
    exact : {"auto", True, False}, default="auto"
        Prove the optimum: "auto" by trial of all labels of at most 18 rows, and by SCIP (extra "exact"), if it
        is installed, of at most 30; True of any number; False never: search, and bound by a relaxation.
    confident : float or None, default=None
        Unlabeled rows near a labeled one whose supervised \|f\| is at least this get that label before the
        search; None: all rows are searched.
    near : float or None, default=None
        What near means: a distance in feature space; None for the median of the distances to the closest
        labeled row.
    n_init : int, default=10
        Labelings to start from: the supervised one, then random ones.
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
        None is exact; "nystroem" and "kernel_pca" (the paper's) put ``n_components`` features in the place
        of the kernel; "auto" is exact while two matrices of all rows keep the memory rule of
        :mod:`semisvm.spaces`, then "nystroem".
    n_components : int or None, default=None
        How many features or landmarks; None for 1,000 at most.
    landmarks : {"kmeans++", "leverage", "random", "labeled"} or array, default="kmeans++"
        How Nystroem's landmarks are chosen among the rows, or the landmarks; see :mod:`semisvm.landmarks`.
    fit_intercept : {True, "regularised", False}, default=True
        A free intercept, one that is part of the norm, or none.
    balance : {"labeled", None}, float or mapping, default="labeled"
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
        Largest number of rounds over the rows.
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
        Of kind "gap": no labels have an objective below ``lower_bound``.
    evidence_ : float or array
        Log evidence of the labels found, at the best overall scale: ranks kernels and costs.
    mu_, beta_ : float or array
        The precisions at that scale; beta is that of labeled rows.
    supervised_ : LSSVM
        The same machine on the labeled rows alone, fitted at first use.
    C_, gamma_ : float
        The numbers used.

    Examples
    --------
    >>> from semisvm import BayesianLSSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> partly = hide_labels(y, 50, random_state=0)
    >>> machine = BayesianLSSVM(random_state=0).fit(X, partly)
    >>> hidden = partly == -1
    >>> float((machine.supervised_.predict(X[hidden]) != y[hidden]).mean().round(3))
    0.13
    >>> float((machine.transduction_[hidden] != y[hidden]).mean().round(3))
    0.104
    """

    def __init__(
        self,
        C="auto",
        *,
        C_unlabeled=None,
        exact="auto",
        confident=None,
        near=None,
        n_init=10,
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
        self.exact = exact
        self.confident = confident
        self.near = near
        self.n_init = n_init
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
        _validate.choice("exact", self.exact, ("auto", True, False))
        for name in ("confident", "near"):
            if getattr(self, name) is not None:
                _validate.number(name, getattr(self, name), low=0.0, closed="low")
        knobs = self.exact, self.confident, self.near, self.n_init, self.max_iter, self.max_time
        return IntegerQuadratic(*knobs)

    def _copy(self, solutions, space, X, kept) -> None:
        """The evidence beside the attributes that all machines have."""
        super()._copy(solutions, space, X, kept)
        for name in ("evidence_", "mu_", "beta_"):
            self.__dict__.pop(name, None)  # soft labels have none
        if self.safe:
            return
        facts = [np.array([s.facts[name] for s in solutions]) for name in ("evidence", "mu")]
        self.evidence_, self.mu_ = (float(fact[0]) if len(solutions) == 1 else fact for fact in facts)
        self.beta_ = self.C_ * self.mu_
