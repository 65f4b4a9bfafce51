"""The estimator whose pieces the user chooses."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from .._validation import Described, Options
from ..losses import LABELED, PIECES, UNLABELED, Loss
from ..solvers import SOLVERS, Solver
from ._semi_supervised import SemiSupervisedSVM
from .base import BaseSVM
from .parameters import (
    InterceptParameters,
    ToleranceParameters,
    cost_parameter,
    limit_parameter,
    parameter,
    positional_parameter,
    random_state_parameter,
    tol_parameter,
)
from .problems import Formulation, UnlabeledSettings


class S3VM(InterceptParameters, ToleranceParameters, SemiSupervisedSVM):
    r"""Semi-supervised SVM composed of a labeled loss, an unlabeled loss, a kernel, a balance and a solver.

    Minimizes :math:`\frac12\|w\|^2 + \sum_{i \in L} c_i \ell(y_i f(x_i)) + \sum_{j \in U} c_j u(f(x_j))`. Whatever a
    named class does, this one can. A solver that cannot take the pieces says which ones can.

    {parameters}

    {attributes}
    certificate_ : Certificate
        What the solver proves.

    References
    ----------
    K. P. Bennett and A. Demiriz, "Semi-supervised support vector machines", NIPS 11, 1998.
    https://proceedings.neurips.cc/paper_files/paper/1998/hash/b710915795b9e9c02cf10d6d2bdb688c-Abstract.html

    Examples
    --------
    >>> from semisvm import S3VM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> from semisvm.losses import SymmetricRamp
    >>> X, y = make_two_gaussians(300, random_state=0)
    >>> model = S3VM(unlabeled_loss=SymmetricRamp(s=-0.1), kernel="linear").fit(X, hide_labels(y, 30, random_state=0))
    >>> model.certificate_.kind
    'stationary'
    """

    labeled_loss: Any = positional_parameter(
        Described("str or loss"),
        default="hinge",
        doc='"hinge", "squared_hinge", "squared", "ramp", or a tuple of :mod:`semisvm.losses` such as ``Ramp(s=0.0)``.',
        kw_only=False,
    )
    unlabeled_loss: Any = positional_parameter(
        Described("str, loss or None"),
        default="symmetric_ramp",
        doc='"symmetric_ramp", "symmetric_hinge", "symmetric_squared_hinge", "symmetric_squared", "gaussian", a tuple '
        "of :mod:`semisvm.losses`, or None for a model of labeled samples alone.",
        kw_only=False,
    )
    solver: Any = parameter(
        "cccp",
        Described("str or solver"),
        doc="A key of ``semisvm.solvers.SOLVERS``, or a solver with parameters of its own.",
    )
    norm: int = parameter(
        2,
        Options([2, 1]),
        doc=r"The regularizer: :math:`\frac12\|w\|^2`, or :math:`\|w\|_1` of features.",
    )
    C: float | str = cost_parameter(
        default="auto", auto="10 divided by the total variance of the features", kw_only=True
    )
    tol: float = tol_parameter(
        "Tolerance, in units of f. A solver that has none, or is passed as an object with its own, refuses another "
        "value than the default; so it does with ``max_iter`` and ``max_time``."
    )
    max_iter: int = limit_parameter(1_000_000, "Largest number of iterations of the solver.")
    random_state: Any = random_state_parameter("For solvers that draw at random.")

    def _formulation(self) -> Formulation:
        labeled = _resolve_loss("labeled_loss", self.labeled_loss, LABELED)
        unlabeled = None
        if self.unlabeled_loss is not None:
            unlabeled = _resolve_loss("unlabeled_loss", self.unlabeled_loss, UNLABELED)
        return Formulation(labeled, unlabeled, self._solver(), self.norm)

    def _solver(self) -> Solver:
        if isinstance(self.solver, str) and self.solver in SOLVERS:
            cls: Any = SOLVERS[self.solver]
            given = {"tol": self.tol, "max_iter": self.max_iter, "max_time": self.max_time}
            names = {one.name for one in fields(cls)}
            self._check_used(given.keys() - names)
            return cls(**{name: value for name, value in given.items() if name in names})
        if isinstance(self.solver, Solver):
            self._check_used({"tol", "max_iter", "max_time"})
            return self.solver
        raise ValueError(
            f"solver={self.solver!r} is not allowed; solver takes one of {', '.join(map(repr, SOLVERS))} or its object."
        )

    def _check_used(self, unused: set[str]) -> None:
        """Refuse values of parameters that the solver does not take from here."""
        defaults = type(self)().get_params(deep=False)
        for name in sorted(unused):
            given = getattr(self, name)
            if given != defaults[name]:
                raise ValueError(
                    f"{name}={given!r} is not allowed with solver={self.solver!r}, which does not take it from here; "
                    f"leave {name} at its default, or pass a solver as an object with parameters of its own."
                )

    def _unlabeled_settings(self) -> UnlabeledSettings:
        for name in ("balance", "C_unlabeled"):
            given = getattr(self, name)
            if self.unlabeled_loss is None and given is not None and not isinstance(given, str):
                raise ValueError(
                    f"{name}={given!r} is not allowed with unlabeled_loss=None, which leaves the unlabeled samples "
                    f"out; leave {name} at its default, or pass an unlabeled loss."
                )
        return super()._unlabeled_settings()

    def _supervised_counterpart(self) -> BaseSVM:
        own = self.get_params(deep=False) | {"balance": None, "C_unlabeled": None}
        return type(self)(**(own | {"C": self.C_, "gamma": self.gamma_, "unlabeled_loss": None, "unlabeled": None}))


def _resolve_loss(name: str, given: Any, registry: dict[str, type]) -> Loss:
    if isinstance(given, str) and given in registry:
        return registry[given]()
    if type(given) in registry.values() and type(given) in PIECES:
        return given
    raise ValueError(
        f"{name}={given!r} is not allowed; {name} takes one of {', '.join(map(repr, registry))} or its tuple."
    )
