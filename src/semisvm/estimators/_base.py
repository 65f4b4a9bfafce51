"""The only fit pipeline: labels to signs, rows to a space, a problem, a solver, attributes.

Order of calls in ``fit``: read labels, table and weights; resolve the numbers left to the data (``gamma_``, ``C_``);
build the space once; state the problem (a subclass names losses, balance and solver in ``_method``); solve; copy the
solution into attributes. Estimators hold no mathematics.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .. import _validate, decision, kernels, scale
from .._validate import Labels
from ..balance import Count, Free, Mean
from ..kernels import Kernel
from ..problem import Problem
from ..solution import Solution
from ..solvers import refusal
from ..spaces import Features, Gram

GAMMAS = ("scale", "median", "auto")


class Method(NamedTuple):
    """What a named class chooses."""

    labeled: tuple
    unlabeled: tuple | None
    solver: Any


class Machine(ClassifierMixin, BaseEstimator):
    """What all estimators share; subclasses have an explicit ``__init__`` and name their ``_method``."""

    _doc_link_module = "semisvm"
    _auto_C = 1.0  # the robust default behind C="auto", for features of total variance one
    _semi_supervised = True

    def _method(self) -> Method:
        """Losses and solver, from the parameters."""
        raise AttributeError(f"{type(self).__name__} names no losses and no solver.")

    def fit(self, X, y, sample_weight=None):
        """Fit to rows some of which have a label.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (n, d)
            The rows; with ``kernel="precomputed"`` the (n, n) matrix of kernel values.
        y : array-like of shape (n,)
            Labels; None, NaN and the value of ``unlabeled`` mark rows without one.
        sample_weight : array-like of shape (n,), optional
            Factors on the costs of the rows.

        Returns
        -------
        self
        """
        precomputed = self.kernel == "precomputed"
        method = self._checked_method()
        X = _validate.table(self, X, reset=True, precomputed=precomputed)
        labels = _validate.labels(y, self.unlabeled)
        n = X.shape[0]
        if len(labels.codes) != n:
            raise ValueError(f"X has {n} rows and y has {len(labels.codes)} values; pass one label per row.")
        weight = _validate.weights(sample_weight, n)
        kept = np.flatnonzero(weight > 0 if self._semi_supervised else (weight > 0) & labels.known)
        labels = self._binary(labels, kept)
        self.classes_ = labels.classes
        if precomputed:
            rows = X if len(kept) == n else X[np.ix_(kept, kept)]
            _validate.kernel_matrix(rows)
        else:
            rows = X if len(kept) == n else X[kept]
        codes, weight = labels.codes[kept], weight[kept]
        kernel = self._resolve_kernel(rows, weight)
        problem = self._problem(method, kernel, rows, np.where(codes < 0, 0.0, 2.0 * codes - 1.0), weight)
        reason = refusal(method.solver, problem)
        if reason:
            raise ValueError(f"{type(self).__name__}: {reason}")
        rng = check_random_state(getattr(self, "random_state", None))
        callback = _print_row if self.verbose else None
        solution = method.solver.solve(problem, callback=callback, rng=np.random.default_rng(rng.randint(2**31)))
        self._copy(solution, problem, X, kept, labels)
        if self._semi_supervised:
            self._keep_labeled(X, labels, sample_weight)
        return self

    # ---------------------------------------------------------------- from parameters and data to a problem

    def _checked_method(self) -> Method:
        """Check the parameters that all machines share, then ask the subclass for its method."""
        if not (isinstance(self.C, str) and self.C == "auto"):
            _validate.number("C", self.C, low=0.0)
        if getattr(self, "C_unlabeled", None) is not None:
            _validate.number("C_unlabeled", self.C_unlabeled, low=0.0, closed="low")
        if isinstance(self.gamma, str):
            _validate.choice("gamma", self.gamma, GAMMAS)
        else:
            _validate.number("gamma", self.gamma, low=0.0)
        _validate.number("coef0", self.coef0)
        _validate.number("tol", self.tol, low=0.0)
        _validate.whole_number("max_iter", self.max_iter, 1)
        if self.max_time is not None:
            _validate.number("max_time", self.max_time, low=0.0)
        if not isinstance(self.kernel, str) and not callable(self.kernel):
            raise ValueError(f"kernel={self.kernel!r} is not allowed; kernel takes a name or a function of two tables.")
        _validate.choice("fit_intercept", self._intercept, (True, False, "regularised"))
        kernels.check(self._kernel_of(1.0), free_intercept=self._intercept is True)
        return self._method()

    @property
    def _intercept(self):
        return getattr(self, "fit_intercept", True)

    def _kernel_of(self, gamma: float) -> Kernel:
        return Kernel(self.kernel, gamma, self.coef0, self.degree, self.sigma)

    def _resolve_kernel(self, X, weight: np.ndarray) -> Kernel:
        if self.kernel in ("precomputed", "linear") or callable(self.kernel):
            self.gamma_ = 1.0
        else:
            self.gamma_ = scale.width(self._kernel_of(1.0), self.gamma, X, weight)
        return self._kernel_of(self.gamma_)

    def _binary(self, labels: Labels, kept: np.ndarray) -> Labels:
        """The two classes found on rows of positive weight."""
        found = np.unique(labels.codes[kept])
        found = found[found >= 0]
        if not len(found):
            raise ValueError("no labeled row has a positive weight; at least one of each class is needed.")
        _validate.at_least_two(labels.classes[found], self.unlabeled, dropped=len(found) < len(labels.classes))
        if len(found) > 2:
            raise ValueError(
                f"Only binary classification is supported. y holds {len(found)} classes. Keep two of them or wrap "
                "the machine in sklearn.multiclass.OneVsRestClassifier."
            )
        codes = np.full(len(labels.codes), -1)
        codes[kept] = np.where(labels.codes[kept] < 0, -1, np.searchsorted(found, labels.codes[kept]))
        return Labels(labels.classes[found], codes)

    def _problem(self, method: Method, kernel: Kernel, X, signs: np.ndarray, weight: np.ndarray) -> Problem:
        """The problem in the space of the kernel, with costs and balance as numbers."""
        known = signs != 0
        self.C_ = float(self.C) if not isinstance(self.C, str) else self._default_C(kernel, X, weight)
        cost = self.C_ * weight
        balance: tuple = Free()
        if self._semi_supervised:
            given, ratio = self.C_unlabeled, weight[known].sum() / max(weight[~known].sum(), 1e-300)
            self.C_unlabeled_ = self.C_ * ratio if given is None else float(given)
            cost = np.where(known, cost, self.C_unlabeled_ * weight)
            balance = self._balance(method, signs, weight)
        space = Features(X) if kernel.name == "linear" else Gram(kernel, X)
        if self.verbose and isinstance(space, Gram):
            held = "held whole" if space.fits else "over the limit: computed by blocks"
            print(f"kernel matrix of {space.n:,} rows: {space.bytes / 2**20:,.0f} MiB of {space.dtype}, {held}")
        return Problem(space, signs, cost, method.labeled, method.unlabeled, balance, self._intercept, weight)

    def _default_C(self, kernel: Kernel, X, weight: np.ndarray) -> float:
        spread = scale.total_variance(kernel, X, weight)
        return self._auto_C / spread if spread > 1e-12 else self._auto_C

    def _balance(self, method: Method, signs: np.ndarray, weight: np.ndarray) -> tuple:
        """The share of classes_[1] wanted among unlabeled rows, in the form that the solver holds."""
        known = signs != 0
        if self.balance is None or method.unlabeled is None or known.all():
            return Free()
        share = self._share(weight[signs > 0].sum() / weight[known].sum())
        return Mean(2.0 * share - 1.0) if Mean in method.solver.balances else Count(share)

    def _share(self, labeled_share: float) -> float:
        if isinstance(self.balance, str) and self.balance == "labeled":
            return labeled_share
        share = self.balance
        if isinstance(share, Mapping):
            if set(share) != set(self.classes_.tolist()):
                raise ValueError(
                    f"balance names the classes {sorted(share, key=str)} and y holds {self.classes_.tolist()}; "
                    "give one share for each class."
                )
            total = sum(_validate.number(f"balance[{c!r}]", v, 0.0, closed="low") for c, v in share.items())
            _validate.number("the sum of the shares in balance", total, low=0.0)
            share = share[self.classes_[1].item() if hasattr(self.classes_[1], "item") else self.classes_[1]] / total
        if not isinstance(share, numbers.Real) or isinstance(share, bool):
            raise ValueError(
                f"balance={self.balance!r} is not allowed; balance takes 'labeled', None, the share of "
                f"{self.classes_[1]!r} among the unlabeled rows, or a mapping from class to share."
            )
        return _validate.number("balance", share, 0.0, 1.0, closed="both")

    # ---------------------------------------------------------------- from a solution to attributes

    def _copy(self, solution: Solution, problem: Problem, X, kept: np.ndarray, labels: Labels) -> None:
        self.objective_ = solution.objective
        self.objective_path_ = np.array([row["objective"] for row in solution.trace] or [solution.objective])
        self.certificate_ = solution.certificate
        self.converged_ = solution.status == "converged"
        self.n_iter_ = solution.n_iter
        self.trace_ = solution.trace
        self.intercept_ = np.array([solution.intercept])
        self._say_if_unfinished(solution)
        self.n_active_ = int(np.count_nonzero(solution.multipliers))
        if isinstance(problem.space, Features):
            self.coef_ = solution.coef.reshape(1, -1)
            active = np.flatnonzero(solution.multipliers)
            self.dual_coef_ = solution.multipliers[active].reshape(1, -1)
        else:
            active = np.flatnonzero(solution.coef)
            self.dual_coef_ = solution.coef[active].reshape(1, -1)
        self.support_ = kept[active]
        if isinstance(problem.space, Gram) and not problem.space.precomputed:
            self.support_vectors_ = X[self.support_]
        codes = labels.codes.copy()
        codes[kept] = (solution.labels > 0).astype(int)
        outside = np.setdiff1d(np.arange(X.shape[0]), kept, assume_unique=True)
        if len(outside):
            codes[outside] = self._scores(X[outside])[:, 0] >= 0
        given = labels.codes >= 0
        codes[given] = labels.codes[given]
        self.transduction_ = self.classes_[codes]

    def _say_if_unfinished(self, solution: Solution) -> None:
        reasons = {
            "max_iter": f"max_iter={self.max_iter} reached",
            "max_time": f"max_time={self.max_time} reached",
            "interrupted": "the fit was interrupted",
        }
        if solution.status in reasons:
            warnings.warn(
                f"{type(self).__name__}: {reasons[solution.status]}, violation of the optimality conditions "
                f"{solution.certificate.value:.2g} (tol {self.tol:g}); the model is usable. Scale X, raise the limit "
                "or lower C.",
                ConvergenceWarning,
                stacklevel=4,
            )

    # ---------------------------------------------------------------- the supervised machine beside it

    def _keep_labeled(self, X, labels: Labels, sample_weight) -> None:
        rows = np.flatnonzero(labels.known)
        table = X[np.ix_(rows, rows)] if self.kernel == "precomputed" else X[rows]
        weight = None if sample_weight is None else _validate.weights(sample_weight, X.shape[0])[rows]
        self._labeled_ = (rows, table, labels.classes[labels.codes[rows]], weight)
        self.__dict__.pop("_supervised_", None)

    def _supervised_twin(self) -> Machine:
        """The unfitted machine that ``supervised_`` fits to the labeled rows."""
        raise AttributeError(f"{type(self).__name__} has no supervised machine beside it.")

    @property
    def supervised_(self):
        """The same machine fitted to the labeled rows alone, at first use."""
        check_is_fitted(self)
        if not self._semi_supervised:
            raise AttributeError(f"{type(self).__name__} is itself supervised.")
        if "_supervised_" not in self.__dict__:
            rows, table, y, weight = self._labeled_
            twin = self._supervised_twin().fit(table, y, sample_weight=weight)
            twin.support_ = rows[twin.support_]
            twin.n_features_in_ = self.n_features_in_
            if hasattr(self, "feature_names_in_"):
                twin.feature_names_in_ = self.feature_names_in_
            self._supervised_ = twin
        return self._supervised_

    # ---------------------------------------------------------------- new rows

    def _scores(self, X) -> np.ndarray:
        if hasattr(self, "coef_"):
            return decision.linear_scores(X, self.coef_, self.intercept_)
        kernel = self._kernel_of(self.gamma_)
        if self.kernel == "precomputed":
            return decision.kernel_scores(kernel, X[:, self.support_], None, self.dual_coef_, self.intercept_)
        return decision.kernel_scores(kernel, X, self.support_vectors_, self.dual_coef_, self.intercept_)

    def decision_function(self, X) -> np.ndarray:
        """F at new rows; positive means ``classes_[1]``.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, d)
            New rows; with a precomputed kernel their values with all rows of fit, shape (m, n).

        Returns
        -------
        array of shape (m,)
        """
        check_is_fitted(self)
        return self._scores(_validate.table(self, X, reset=False, precomputed=self.kernel == "precomputed"))[:, 0]

    def predict(self, X) -> np.ndarray:
        """The class of new rows.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, d)
            New rows, as in ``decision_function``.

        Returns
        -------
        array of shape (m,)
        """
        check_is_fitted(self)
        return self.classes_[(self.decision_function(X) >= 0).astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.classifier_tags.multi_class = False
        return tags


def _print_row(row: dict) -> None:
    print(
        "  ".join(
            f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items()
        )
    )
