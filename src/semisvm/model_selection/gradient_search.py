"""Hyperparameters by gradient descent on a criterion, in their logarithms and from several starting points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from .._threads import fit_within_n_jobs
from .._validation import Integer, Options, Real, check_value, route_fit_metadata, warn_user
from .best_estimator import BestEstimator
from .criteria import CRITERIA, BoundCriterion, Criterion, ModelFamily
from .starting_points import check_bounds, given_starts, screen

MAX_LINE_SEARCH = 8  # evaluations of a line search; more are spent at kinks only


class Path:
    """The points at which a search has been, and the criterion there."""

    def __init__(self, family: ModelFamily, criterion: BoundCriterion):
        self._family = family
        self._criterion = criterion
        self.rows: list[tuple[int, np.ndarray, float]] = []

    def screen(self, theta: np.ndarray) -> float:
        """The criterion at a point of the first grid."""
        value = self._criterion.screen(theta)
        self.rows.append((-1, theta, value))
        return value

    def descend(self, start: int, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Criterion and gradient at a point of the descent from a start."""
        value, gradient = self._criterion.evaluate(theta)
        self.rows.append((start, theta.copy(), value))
        return value, gradient()

    def best(self) -> tuple[int, np.ndarray, float]:
        """Start, point and value of the smallest criterion."""
        return min(self.rows, key=lambda row: (np.isnan(row[2]), row[2]))

    def table(self) -> dict[str, np.ndarray]:
        """A column per hyperparameter, one for the start and one for the criterion."""
        values = np.exp([theta for _, theta, _ in self.rows])
        columns = {f"param_{name}": values[:, i] for i, name in enumerate(self._family.names)}
        start, value = np.array([row[0] for row in self.rows]), np.array([row[2] for row in self.rows])
        return {"start": start} | columns | {"criterion": value}


class GradientSearchCV(BestEstimator):
    """Search of C and the parameters of the kernel by gradient descent on a smooth criterion.

    Minimizes the criterion over the logarithms of the hyperparameters by L-BFGS-B, from the best points of a coarse
    grid or from given ones, and fits the estimator with the best hyperparameters to all samples, unlabeled ones
    included. Distances of the samples are computed once; for the supervised LS-SVM one eigendecomposition of the kernel
    matrix serves all C of the grid at one width, and the whole search if C alone is searched.

    Parameters
    ----------
    estimator : SVM, LSSVM or a semi-supervised least-squares SVM
        What is fitted. Its own hyperparameters, "auto" and "median" resolved, are the center of the search.
    criterion : {"empirical_error", "press", "ocv", "gcv", "evidence"} or Criterion, default="empirical_error"
        What is minimized.
    params : sequence of str or None, default=None
        Names out of "C", "C_unlabeled" (if it is a number; else it moves with C), "gamma", "coef0" and "sigma"; None
        for C and, where the kernel has it, gamma.
    bounds : mapping or None, default=None
        From name to smallest and largest value; others are searched within a factor of 1,000 of the estimator's own.
    starts : int or list of mappings, default=3
        Number of points of a coarse grid to descend from; or starting points, from names to values (others stay as the
        estimator has them).
    max_iter : int, default=50
        Largest number of steps from each start.
    tol : float, default=1e-5
        A descent ends when no derivative in the logarithm of a hyperparameter is larger, or a step gains less than a
        tenth of it, both as parts of the criterion at the start.
    refit : bool, default=True
        Whether to fit the estimator with the best hyperparameters.

    Attributes
    ----------
    best_params_ : dict
        The hyperparameters of the smallest criterion.
    best_criterion_ : float
        The criterion there.
    best_score_ : float
        Minus that: greater is better, as in scikit-learn's searches.
    best_estimator_ : estimator
        Fitted to all samples with ``best_params_``, if ``refit``.
    path_ : dict of arrays
        All points evaluated, in order: "start" (its number, -1 for the grid), "param_<name>" and "criterion".
    n_iter_ : int
        Number of points evaluated.
    starts_ : list of dict
        Where the descents began.
    converged_ : array of bool
        For each start, whether the descent met ``tol`` or stopped changing the criterion. One that ends at a kink, as
        where a support vector or a label changes, has not.

    References
    ----------
    M. M. Adankon and M. Cheriet, "Model selection for the LS-SVM. Application to handwriting recognition", Pattern
    Recognition 42, 2009. https://doi.org/10.1016/j.patcog.2008.10.023

    O. Chapelle, V. Vapnik, O. Bousquet and S. Mukherjee, "Choosing multiple parameters for support vector machines",
    Machine Learning 46, 2002. https://doi.org/10.1023/A:1012450327387

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from semisvm import LSSVM
    >>> from semisvm.model_selection import GradientSearchCV, LeaveOneOutError
    >>> X, y = load_wine(return_X_y=True)
    >>> search = GradientSearchCV(LSSVM(gamma=1.0), "press").fit(scale(X), y)
    >>> sorted(search.best_params_)
    ['C', 'gamma']
    >>> models = search.best_estimator_, LSSVM(gamma=1.0)
    >>> tuned, given = (LeaveOneOutError().value(model, scale(X), y) for model in models)
    >>> tuned < given
    True
    """

    def __init__(
        self,
        estimator: Any,
        criterion: str | Criterion = "empirical_error",
        *,
        params: Sequence[str] | None = None,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        starts: int | Sequence[Mapping[str, float]] = 3,
        max_iter: int = 50,
        tol: float = 1e-5,
        refit: bool = True,
    ):
        self.estimator = estimator
        self.criterion = criterion
        self.params = params
        self.bounds = bounds
        self.starts = starts
        self.max_iter = max_iter
        self.tol = tol
        self.refit = refit

    @fit_within_n_jobs
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> GradientSearchCV:
        """Search, and fit the estimator with what was found.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (n_samples, n_features)
            The samples; with ``kernel="precomputed"`` the square matrix of kernel values.
        y : array-like of shape (n_samples,)
            Labels; None, NaN and the marker of the estimator mark samples without one.
        sample_weight : array-like of shape (n_samples,), optional
            Factors on the costs of the samples, and weights of the labeled ones in the criterion. Where scikit-learn's
            metadata routing is enabled, the models have them if the estimator asks for them
            (``set_fit_request(sample_weight=True)``), and the criterion always.
        **fit_params : object
            Other metadata for the ``fit`` of the estimator, where metadata routing is enabled: its weights under
            another name that it asks for.

        Returns
        -------
        self
        """
        criterion = self._check_parameters()
        routed = route_fit_metadata(self, sample_weight, fit_params, ["estimator"])
        weight = sample_weight if routed is None else routed["estimator"].get("sample_weight")
        family = ModelFamily(self.estimator, X, y, weight, self.params)
        if routed is not None:
            family.weigh_criterion(sample_weight)
        path = Path(family, criterion.bind(family, X, y))
        limits = check_bounds(self.bounds, family)
        if isinstance(self.starts, int | np.integer):
            points = screen(path.screen, family, limits, self.starts)
        else:
            points = given_starts(self.starts, family, limits)
        self.starts_ = [family.values(point) for point in points]
        self.converged_ = np.array([self._descend(path, i, point, limits) for i, point in enumerate(points)])
        _, theta, value = path.best()
        self.best_params_, self.best_criterion_, self.best_score_ = family.values(theta), value, -value
        self.path_, self.n_iter_ = path.table(), len(path.rows)
        self.__dict__.pop("best_estimator_", None)
        if self.refit:
            best = clone(self.estimator).set_params(**self.best_params_)
            self.best_estimator_ = best.fit(X, y, sample_weight=weight)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Who is given which metadata: this search, and the estimator.

        Returns
        -------
        MetadataRouter
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))

    def _check_parameters(self) -> Criterion:
        check_value("max_iter", self.max_iter, [Integer(1)])
        check_value("tol", self.tol, [Real(0.0)])
        check_value("refit", self.refit, [Options([True, False])])
        criterion = self.criterion
        if not isinstance(criterion, Criterion):
            criterion = CRITERIA[check_value("criterion", criterion, [Options(CRITERIA)])]()
        criterion.require_gradient()
        return criterion

    def _descend(self, path: Path, start: int, theta: np.ndarray, limits: np.ndarray) -> bool:
        """L-BFGS-B from one point; returns whether it converged."""
        first = path.descend(start, theta)
        scale = max(abs(first[0]), np.finfo(float).tiny)
        known = {theta.tobytes(): first}

        def scaled(point: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = known.get(point.tobytes()) or path.descend(start, point)
            return value / scale, gradient / scale

        options = {"maxiter": self.max_iter, "gtol": self.tol, "ftol": 0.1 * self.tol, "maxls": MAX_LINE_SEARCH}
        result = minimize(scaled, theta, jac=True, bounds=limits, method="L-BFGS-B", options=options)
        if result.nit >= self.max_iter and not result.success:
            warn_user(
                f"max_iter={self.max_iter} reached by the descent from start {start}; the best point so far is kept. "
                "Raise max_iter or tol.",
                ConvergenceWarning,
            )
        return bool(result.success)
