"""Transductive SVMs with a smooth loss on unlabeled samples, in the primal."""

from __future__ import annotations

from typing import ClassVar

from .._validation import Described, Options
from ..losses import Gaussian, Hinge, SquaredHinge
from ..multiclass import COUPLINGS, SCHEMES
from ..solvers import Continuation, GradientPath
from ._primal import PrimalTSVM
from .parameters import (
    NONE,
    EqualCostParameters,
    MeanBalanceParameters,
    cost_parameter,
    limit_parameter,
    parameter,
    tol_parameter,
)
from .problems import Formulation


class SmoothTSVM(MeanBalanceParameters, PrimalTSVM):
    """A path of smooth problems, with a fixed mean of f."""

    tol: float = tol_parameter(
        "Norm of the gradient at which a level is solved, relative to that of the losses at w = 0.", 1e-4
    )
    max_iter: int = limit_parameter(
        1000, "Largest number of steps at a level: of L-BFGS on dense features, of Newton's method on a sparse X."
    )
    n_jobs: int | None = parameter(
        None,
        Described("int"),
        NONE,
        doc="Largest number of threads, as in joblib: over the binary problems; on a sparse X over parts of it, as all "
        "problems are solved in one pass over the data. None is all cores.",
    )


class GradientTSVM(SmoothTSVM):
    r"""Transductive SVM with a smooth loss of increasing cost: nabla-TSVM.

    Minimizes

    .. math:: \tfrac12\|w\|^2 + C \sum_{i \in L} (1 - y_i f(x_i))_+^2 + C^* \sum_{j \in U} e^{-3 f(x_j)^2}

    subject to a mean of f over the unlabeled samples that is fixed by ``balance``. C* increases from a hundredth of its
    value in eleven levels, each solved from the last point: by L-BFGS on dense X and on features of a kernel, by Newton
    steps in a trust region on sparse X. Where one class is rare, the mean of f does not fix its share.

    {parameters}

    {attributes}
    trace_ : list of dict
        Per level: objective, level (the share of C* that counts), labels changed, violation.
    certificate_ : Certificate
        Of kind "stationary": the norm of the gradient of the objective at its full C*, relative to that of the losses
        at w = 0, wherever the path ended. Another ``tol`` may follow another path, to another stationary point.

    References
    ----------
    O. Chapelle and A. Zien, "Semi-supervised classification by low density separation", AISTATS, 2005.
    https://proceedings.mlr.press/r5/chapelle05b.html

    Examples
    --------
    >>> from semisvm import GradientTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> model = GradientTSVM(C=1.0).fit(X, hide_labels(y, 50, random_state=0))
    >>> int((model.transduction_ != y).sum())  # of 500 samples without a label
    46
    """

    def _formulation(self) -> Formulation:
        solver = GradientPath(self.tol, self.max_iter, max_time=self.max_time)
        return Formulation(SquaredHinge(), Gaussian(), solver)


class ContinuationTSVM(EqualCostParameters, SmoothTSVM):
    r"""Transductive SVM by continuation: cS3VM.

    Minimizes

    .. math:: \tfrac12\|w\|^2 + C \sum_{i \in L} (1 - y_i f(x_i))_+ + C^* \sum_{j \in U} e^{-3 f(x_j)^2}

    subject to a mean of f over the unlabeled samples that is fixed by ``balance``. The objective is convolved with a
    Gaussian wide enough to make it convex, minimized, and followed through eleven levels of decreasing smoothing. Where
    one class is rare, the mean of f does not fix its share; therefore several classes are separated in pairs by
    default, and the pairs vote.

    {parameters}

    {attributes}
    trace_ : list of dict
        Per level: objective, level (the smoothing), labels changed, violation.
    certificate_ : Certificate
        Of kind "stationary": the norm of the gradient of the last level, relative to that of its losses at w = 0,
        wherever the path ended. That level is the objective convolved with a Gaussian so narrow that its hinges are
        rounded near the margin only; the objective itself has no gradient there.

    References
    ----------
    O. Chapelle, M. Chi and A. Zien, "A continuation method for semi-supervised SVMs", ICML, 2006.
    https://doi.org/10.1145/1143844.1143868

    Examples
    --------
    >>> from semisvm import ContinuationTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> model = ContinuationTSVM().fit(X, hide_labels(y, 50, random_state=0))
    >>> int((model.transduction_ != y).sum())  # of 500 samples without a label
    53
    """

    C: float | str = cost_parameter(
        default="auto", auto="100 divided by the total variance of the features", kw_only=False
    )

    multiclass: str = parameter(
        "ovo",
        Options(SCHEMES),
        doc="More than two classes: one model per pair of classes, or one per class against the rest, which is rare.",
    )
    coupling: str = parameter(
        "pwc1",
        Options(COUPLINGS),
        doc="How one-vs-one combines its pairs; formulas in :mod:`semisvm.multiclass.coupling`. Votes need no "
        "calibration in ``fit``.",
    )

    _auto_C: ClassVar[float] = 100.0

    def _formulation(self) -> Formulation:
        return Formulation(Hinge(), Gaussian(), Continuation(self.tol, self.max_iter, max_time=self.max_time))
