"""The machine whose pieces the user chooses."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from .. import _validate
from ..losses import LABELED, PIECES, UNLABELED
from ..solvers import SOLVERS
from ._base import Machine
from ._parameters import Method


class S3VM(Machine):
    r"""Semi-supervised SVM composed of a labeled loss, an unlabeled loss, a kernel, a balance and a solver.

    Minimises :math:`\frac12\|w\|^2 + \sum_{i \in L} c_i \ell(y_i f(x_i)) + \sum_{j \in U} c_j u(f(x_j))`. Whatever a
    named class does, this one can. A solver that cannot take the pieces says which ones can.

    Parameters
    ----------
    labeled_loss : str or loss, default="hinge"
        "hinge", "squared_hinge", "squared", "ramp", or a tuple of :mod:`semisvm.losses` such as ``Ramp(s=0.0)``.
    unlabeled_loss : str, loss or None, default="symmetric_ramp"
        "symmetric_ramp", "symmetric_hinge", "symmetric_squared_hinge", "symmetric_squared", "gaussian", a tuple of
        :mod:`semisvm.losses`, or None for a machine on labeled rows alone.
    kernel : str or callable, default="rbf"
        As in :class:`SVM`.
    balance : {"labeled", None}, float or mapping, default="labeled"
        As in :class:`CCCPTSVM`.
    solver : str or solver, default="cccp"
        A key of ``semisvm.solvers.SOLVERS``, or a solver with knobs of its own.
    norm : {2, 1}, default=2
        The size of w: :math:`\frac12\|w\|^2`, or :math:`\|w\|_1` of columns or features.
    C : float or "auto", default="auto"
        Cost of a unit of loss at a labeled row; "auto" is 10 divided by the total variance of the features.
    C_unlabeled : float or None, default=None
        The same at an unlabeled row; None is C l/u.
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
    multiclass : {"ovr", "ovo"}, default="ovr"
        More than two classes: one machine per class against the rest, or one per pair of classes.
    coupling : {"pwc1", "pwc2", "pwc3", "pwc4", "pwc5"}, default="pwc2"
        How one-vs-one joins its pairs; formulas in :mod:`semisvm.multiclass.coupling`.
    tol : float, default=1e-3
        Tolerance, in units of f. A solver passed as an object has its own.
    max_iter : int, default=1_000_000
        Largest number of iterations of the solver.
    max_time : float or None, default=None
        Seconds after which the best so far is kept.
    random_state : int, RandomState or None, default=None
        For solvers that draw.
    n_jobs : int or None, default=None
        Threads over the binary tasks of several classes, as in joblib.
    verbose : int, default=0
        Above 0, print a line per outer iteration.
    unlabeled : object, default=-1
        Marker of rows without a label; None, NaN and NA always are markers too.

    Attributes
    ----------
    classes_, transduction_, support_, dual_coef_, intercept_, objective_, certificate_ : arrays and numbers
        As in :class:`CCCPTSVM`.

    Examples
    --------
    >>> from semisvm import S3VM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> from semisvm.losses import SymmetricRamp
    >>> X, y = make_two_gaussians(300, random_state=0)
    >>> machine = S3VM(unlabeled_loss=SymmetricRamp(s=-0.1), kernel="linear").fit(X, hide_labels(y, 30, random_state=0))
    >>> machine.certificate_.kind
    'stationary'
    """

    _auto_C = 10.0

    def __init__(
        self,
        labeled_loss="hinge",
        unlabeled_loss="symmetric_ramp",
        kernel="rbf",
        balance="labeled",
        solver="cccp",
        *,
        norm=2,
        C="auto",
        C_unlabeled=None,
        gamma="median",
        coef0=0.0,
        degree=3,
        sigma=None,
        fit_intercept=True,
        multiclass="ovr",
        coupling="pwc2",
        tol=1e-3,
        max_iter=1_000_000,
        max_time=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
        unlabeled=-1,
    ):
        self.labeled_loss = labeled_loss
        self.unlabeled_loss = unlabeled_loss
        self.kernel = kernel
        self.balance = balance
        self.solver = solver
        self.norm = norm
        self.C = C
        self.C_unlabeled = C_unlabeled
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
        unlabeled = None if self.unlabeled_loss is None else _loss("unlabeled_loss", self.unlabeled_loss, UNLABELED)
        solver = self.solver
        if isinstance(solver, str):
            known = SOLVERS[_validate.choice("solver", solver, tuple(SOLVERS))]
            limits = {"tol": self.tol, "max_iter": self.max_iter, "max_time": self.max_time}
            names = {field.name for field in fields(known)}
            solver = known(**{name: value for name, value in limits.items() if name in names})
        elif type(solver) not in SOLVERS.values():
            raise ValueError(
                f"solver={solver!r} is not allowed; solver takes one of {', '.join(SOLVERS)} or its object."
            )
        norm = _validate.choice("norm", self.norm, (2, 1))
        return Method(_loss("labeled_loss", self.labeled_loss, LABELED), unlabeled, solver, norm)

    def _supervised_twin(self) -> S3VM:
        params = self.get_params(deep=False) | {"C": self.C_, "gamma": self.gamma_, "unlabeled_loss": None}
        return type(self)(**(params | {"unlabeled": None}))


def _loss(name: str, given: Any, registry: dict[str, type]) -> tuple:
    if isinstance(given, str):
        return registry[_validate.choice(name, given, tuple(registry))]()
    if type(given) in registry.values() and type(given) in PIECES:
        return given
    raise ValueError(f"{name}={given!r} is not allowed; {name} takes one of {', '.join(registry)} or its tuple.")
