"""Supervised least-squares SVMs."""

from __future__ import annotations

from typing import Any

from .._validation import Array, Integer, Options
from ..losses import Squared
from ..solvers import Greedy, LeastSquares, Pruning
from ..spaces import LANDMARKS
from ._spaces import Approximation
from .base import BaseSVM
from .parameters import (
    NONE,
    ApproximationParameters,
    InterceptParameters,
    max_time_parameter,
    parameter,
    random_state_parameter,
    tol_parameter,
)
from .problems import Formulation


class LSSVM(InterceptParameters, ApproximationParameters, BaseSVM):
    r"""Least-squares support vector machine, in closed form.

    Minimizes :math:`\frac12\|w\|^2 + \frac C2 \sum_i (y_i - f(x_i))^2`, which is one linear system: every sample gets a
    coefficient, :math:`\alpha_i = C (y_i - f(x_i))`. One factorization serves all classes, and the held-out scores
    behind ``predict_proba`` come from it in closed form. Unlabeled samples are left out.

    {parameters}

    {attributes}
    certificate_ : Certificate
        Of kind "kkt": how far f is from solving the system; lower bound and duality gap.

    References
    ----------
    J. A. K. Suykens and J. Vandewalle, "Least squares support vector machine classifiers", Neural Processing Letters 9,
    1999. https://doi.org/10.1023/A:1018628609742

    G. C. Cawley, "Leave-one-out cross-validation based model selection criteria for weighted LS-SVMs", IJCNN, 2006.
    https://doi.org/10.1109/IJCNN.2006.246634

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from semisvm import LSSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LSSVM().fit(X, y)
    >>> round(float(model.score(X, y)), 3)
    0.993
    """

    random_state: Any = random_state_parameter("For landmarks.")

    def _formulation(self) -> Formulation:
        return Formulation(Squared(), None, LeastSquares())


class SparseLSSVM(BaseSVM):
    r"""Least-squares SVM with few support vectors: a reduced set, a greedy choice, or pruning.

    "reduced" minimizes the objective of :class:`LSSVM` over all samples, with w in the span of ``n_components`` of
    them; with all samples it is :class:`LSSVM`. "greedy" takes samples one by one, those that increase the dual
    objective most, and trains on them alone, with a regularized intercept (the stopping rule of the published FSALS-SVM
    was not available; this one stops at a small relative gain). "pruning" trains on all samples and drops the twentieth
    with the smallest multipliers, again and again. Unlabeled samples are left out.

    {parameters}

    {attributes}
    n_active_ : int
        Number of support vectors.
    certificate_ : Certificate
        "kkt" for the reduced set, "none" for the others.

    References
    ----------
    J. A. K. Suykens, L. Lukas and J. Vandewalle, "Sparse approximation using least squares support vector machines",
    ISCAS, 2000. https://doi.org/10.1109/ISCAS.2000.856439

    L. Jiao, L. Bo and L. Wang, "Fast sparse approximation for least squares support vector machine", IEEE Transactions
    on Neural Networks 18, 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from semisvm import SparseLSSVM
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SparseLSSVM(10.0, n_components=100, random_state=0).fit(X[:1000], y[:1000])
    >>> model.support_vectors_.shape
    (100, 64)
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    method: str = parameter(
        "reduced",
        Options(["reduced", "greedy", "pruning"]),
        doc="All samples in the loss and ``n_components`` of them in the model; samples taken one by one, each the one "
        "that helps most, and trained on alone; all samples, then those of small multipliers dropped.",
    )
    n_components: int | None = parameter(
        None,
        Integer(1),
        NONE,
        doc='Largest number of samples kept. None: 1,000 at most ("reduced"), until a sample adds less than ``tol`` '
        '("greedy"), until the held-out error increases by its standard error ("pruning").',
    )
    landmarks: Any = parameter(
        "kmeans++",
        Options(LANDMARKS),
        Array(),
        doc="How the reduced set is chosen among the samples, or the set itself; see :mod:`semisvm.spaces.landmarks`.",
    )
    tol: float = tol_parameter(
        "The greedy method stops when a sample adds less than this share of the dual objective.", 1e-4
    )
    max_time: float | None = max_time_parameter()
    random_state: Any = random_state_parameter("For the reduced set and for the pool of the greedy method.")

    @property
    def _intercept(self) -> bool | str:
        return "regularized" if self.method == "greedy" else True

    def _approximation(self) -> Approximation:
        method = "nystroem" if self.method == "reduced" else None
        return Approximation(method, self.n_components, self.landmarks, self.random_state)

    def _formulation(self) -> Formulation:
        if self.method == "reduced":
            return Formulation(Squared(), None, LeastSquares())
        if self.method == "greedy":
            return Formulation(Squared(), None, Greedy(self.n_components, self.tol, max_time=self.max_time))
        return Formulation(Squared(), None, Pruning(self.n_components, max_time=self.max_time))
