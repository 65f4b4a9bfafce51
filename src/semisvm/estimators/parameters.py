"""Parameters declared once: their types, ranges, defaults and documentation, in blocks that the estimators combine.

A class below ``Parametrized`` declares its parameters as annotated attributes::

    class CCCPTSVM(HingeTSVM):
        s: float = parameter(-0.3, Real(-1.0, 0.0, closed="high"), doc="Where the ramp is cut.")

Its constructor, the checks of ``fit`` with their messages, and the Parameters section of its docstring come from these
declarations and from those of its bases. Parameters are keyword-only but for those that are declared with
``kw_only=False``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias, dataclass_transform

from .._validation import Array, Described, Instance, Integer, Options, Real, Spec, check_value
from ..multiclass import COUPLINGS, SCHEMES
from ..spaces import LANDMARKS, KernelCache
from ._documentation import complete_docstring, documented_signature

GAMMAS = ("median", "scale", "auto")
APPROXIMATIONS = ("auto", None, "nystroem", "kernel_pca")
NONE = Options([None])


def parameter(default: Any, *specs: Spec, doc: str) -> Any:
    """Declare a keyword-only parameter by its default, the kinds of values it takes and its documentation."""
    return field(default=default, metadata={"specs": specs, "doc": doc})


def positional_parameter(*specs: Spec, default: Any, doc: str, kw_only: bool) -> Any:
    """Declare a parameter that may be positional; type checkers read ``default`` and ``kw_only`` by their names."""
    return field(default=default, kw_only=kw_only, metadata={"specs": specs, "doc": doc})


def cost_parameter(*, default: float | str, auto: str, where: str = " at a labeled sample", kw_only: bool) -> Any:
    """C; ``auto`` says what "auto" stands for."""
    doc = f'Cost of a unit of loss{where}; "auto" is {auto}.'
    return positional_parameter(Real(0.0), Options(["auto"]), default=default, doc=doc, kw_only=kw_only)


@dataclass_transform(kw_only_default=True, field_specifiers=(positional_parameter, cost_parameter))
class Parametrized:
    """Makes the constructor, checks and documentation of a class from its declared parameters."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(eq=False, repr=False, kw_only=True, match_args=False)(cls)
        cls.__doc__ = complete_docstring(cls)
        cls.__signature__ = documented_signature(cls)  # type: ignore[attr-defined]

    def _check_parameters(self) -> None:
        """Refuse values that no specification of their parameter accepts."""
        for one in fields(self):  # type: ignore[arg-type]
            check_value(one.name, getattr(self, one.name), one.metadata["specs"])


# -------------------------------------------------------------------- parameters whose meaning differs between methods


def unlabeled_cost_parameter(default: str) -> Any:
    """C_unlabeled; ``default`` says what None stands for."""
    doc = f"Cost at an unlabeled sample, C* above; None is {default}."
    return parameter(None, Real(0.0, closed="low"), NONE, doc=doc)


def gamma_parameter(default: str) -> Any:
    """The width of the kernel."""
    return parameter(
        default,
        Options(GAMMAS),
        Real(0.0),
        doc="Width of the kernel: 0.5/median squared distance, 1/(n_features x variance), 1/n_features, or a number.",
    )


def tol_parameter(doc: str, default: float = 1e-3) -> Any:
    """The tolerance of a method."""
    return parameter(default, Real(0.0), doc=doc)


def limit_parameter(default: int, doc: str, low: int = 1) -> Any:
    """A largest number of steps."""
    return parameter(default, Integer(low), doc=doc)


def max_time_parameter(
    default: float | None = None, doc: str = "after which the best solutions so far are kept, for all classes together"
) -> Any:
    """Seconds."""
    return parameter(default, Real(0.0), NONE, doc=f"Seconds {doc}; None for no limit.")


def random_state_parameter(doc: str) -> Any:
    """The seed."""
    return parameter(None, Described("int, RandomState"), NONE, doc=doc)


# -------------------------------------------------------------------- blocks


class CostParameters(Parametrized):
    """The cost of the loss."""

    C: float | str = cost_parameter(
        default="auto", auto="10 divided by the total variance of the features", where="", kw_only=False
    )


class EqualCostParameters(Parametrized):
    """An unlabeled sample costs as much as a labeled one unless the user says otherwise."""

    C_unlabeled: float | None = unlabeled_cost_parameter("C")


class KernelParameters(Parametrized):
    """The kernel and its parameters."""

    kernel: str | Callable = parameter(
        "rbf",
        Described("str or callable"),
        doc='"linear", "rbf", "poly", "laplacian", "multiquadric", "inverse_multiquadric", "kmod", "precomputed" or a '
        "function of two arrays of samples; formulas in :mod:`semisvm.spaces.kernels`.",
    )
    gamma: float | str = gamma_parameter("median")
    coef0: float = parameter(0.0, Real(), doc="Constant of the poly, laplacian and multiquadric kernels.")
    degree: int = parameter(3, Described("int"), doc="Degree of the poly kernel.")
    sigma: float | None = parameter(
        None, Described("float"), NONE, doc="Width of the kmod kernel; None for sqrt(gamma)."
    )
    cache: KernelCache | None = parameter(
        None,
        Instance(KernelCache),
        NONE,
        doc="Keeps kernel matrices and features for other fits to the same samples; None computes them in every fit.",
    )


class MulticlassParameters(Parametrized):
    """More than two classes."""

    multiclass: str = parameter(
        "ovr",
        Options(SCHEMES),
        doc="More than two classes: one model per class against the rest, or one per pair of classes.",
    )
    coupling: str = parameter(
        "pwc2",
        Options(COUPLINGS),
        doc="How one-vs-one combines its pairs; formulas in :mod:`semisvm.multiclass.coupling`.",
    )


class RunParameters(Parametrized):
    """How a fit runs, and what marks a sample as unlabeled."""

    n_jobs: int | None = parameter(
        None,
        Described("int"),
        NONE,
        doc="Largest number of threads, over the binary problems of several classes and inside of each; -1 for one per "
        "core. None is -1 unless ``joblib.parallel_config`` says another number, and one problem at a time in a joblib "
        "worker.",
    )
    verbose: int = parameter(0, Described("int"), doc="Above 0, print a line per iteration.")
    unlabeled: Any = parameter(
        -1,
        Described("object"),
        doc="Marker of samples without a label; None, NaN and NA always are markers too.",
    )


class InterceptParameters(Parametrized):
    """The intercept."""

    fit_intercept: bool | str = parameter(
        True, Options([True, "regularized", False]), doc="A free intercept, one that is part of the norm, or none."
    )


class ApproximationParameters(Parametrized):
    """Features that stand for the kernel."""

    approximation: str | None = parameter(
        "auto",
        Options(APPROXIMATIONS),
        doc='None is exact; "nystroem" and "kernel_pca" replace the kernel by ``n_components`` features; "auto" is '
        'exact while two matrices of all samples keep the memory rule of :mod:`semisvm.spaces.base`, then "nystroem".',
    )
    n_components: int | None = parameter(
        None, Integer(1), NONE, doc="Number of features or landmarks; None for 1,000 at most."
    )
    landmarks: Any = parameter(
        "kmeans++",
        Options(LANDMARKS),
        Array(),
        doc="How Nystroem landmarks are chosen among the samples, or the landmarks; see "
        ":mod:`semisvm.spaces.landmarks`.",
    )
    random_state: Any = random_state_parameter("For landmarks and random starts.")


class ToleranceParameters(Parametrized):
    """When an iterative method ends."""

    tol: float = tol_parameter("Largest violation of the optimality conditions, in units of f.")
    max_time: float | None = max_time_parameter()


BalanceType: TypeAlias = "str | float | Mapping | None"
BALANCE_KINDS = (
    '"auto" is an estimate (see :mod:`semisvm.model_selection.shares`), "labeled" the share of the labeled ones, None '
    "no condition; or a number, or a mapping from class to share."
)
BALANCE_DOC = f"The share r of ``classes_[1]`` among the unlabeled samples: {BALANCE_KINDS}"
MEAN_BALANCE_DOC = (
    f"The share r of ``classes_[1]`` among the unlabeled samples, which fixes mean f = 2 r - 1: {BALANCE_KINDS} A mean "
    "does not fix the share; one that is given as a number or mapping is that of ``transduction_`` all the same, by a "
    "threshold on f, while f, ``intercept_``, ``objective_`` and ``predict`` stay as they are."
)


def balance_parameter(doc: str = BALANCE_DOC, default: str | None = "auto") -> Any:
    """The class shares of the unlabeled samples."""
    return parameter(default, Described('{"auto", "labeled", None}, float or mapping'), doc=doc)


class BalanceParameters(Parametrized):
    """A share of positive labels."""

    balance: BalanceType = balance_parameter()


class MeanBalanceParameters(BalanceParameters):
    """A mean of f that stands for a share."""

    balance: BalanceType = balance_parameter(MEAN_BALANCE_DOC)


class CountBalanceParameters(BalanceParameters):
    """A share of positive labels, and how far it may be off."""

    balance_tol: float | str = parameter(
        "auto",
        Options(["auto"]),
        Real(0.0, 1.0, "both"),
        doc='How far the share may be from ``balance``: "auto" is a standard error of the share, and 0 if you gave it; '
        "at 0 round(r u) unlabeled samples are positive.",
    )
