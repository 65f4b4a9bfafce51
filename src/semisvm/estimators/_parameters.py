"""From the parameters of an estimator and its data to the numbers of a problem."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from .. import _validate, kernels, scale
from ..balance import Count, Free, Mean
from ..featuremaps import COMPONENTS, kernel_pca, nystroem
from ..kernels import Kernel
from ..landmarks import LANDMARKS
from ..multiclass import COUPLINGS, SCHEMES, Task
from ..problem import Problem
from ..solvers.least_squares import form_bytes
from ..spaces import Features, Gram, gram_limit

GAMMAS = ("scale", "median", "auto")
PRINCIPAL_ROWS = 3000  # up to which kernel PCA is quicker than it is worth thinking about
FEW, MANY = 20, 50  # labels up to which, and from which on, the robust C of some methods is 10 and 1
APPROXIMATIONS = ("auto", None, "nystroem", "kernel_pca")


def _finite(rows) -> bool:
    return bool(np.isfinite(rows.data if sparse.issparse(rows) else rows).all())


def fewer_with_labels(n_labeled: float) -> float:
    """10 up to ``FEW`` labels, 1 from ``MANY`` on, a straight line between their logarithms."""
    return float(10.0 ** np.interp(np.log(max(n_labeled, 1.0)), np.log([FEW, MANY]), [1.0, 0.0]))


def shares(given: Any, classes: np.ndarray, labeled: np.ndarray) -> np.ndarray:
    """Shares of the classes among the unlabeled rows, from what ``balance`` takes and the weights of labeled rows."""
    k = len(classes)
    if given is None or (isinstance(given, str) and given == "labeled"):
        return labeled / labeled.sum()
    if isinstance(given, Mapping):
        return _mapped_shares(given, classes.tolist())
    if not isinstance(given, numbers.Real) or isinstance(given, bool):
        raise ValueError(
            f"balance={given!r} is not allowed; balance takes 'labeled', None, the share of "
            f"{classes[-1]!r} among the unlabeled rows, or a mapping from class to share."
        )
    if k > 2:
        raise ValueError(f"balance={given!r} is one share and y holds {k} classes; pass a mapping from class to share.")
    share = _validate.number("balance", given, 0.0, 1.0, closed="both")
    return np.array([1.0 - share, share])


def _mapped_shares(given: Mapping, names: list) -> np.ndarray:
    if set(given) != set(names):
        raise ValueError(
            f"balance names the classes {sorted(given, key=str)} and y holds {names}; give one share for each class."
        )
    values = [_validate.number(f"balance[{c!r}]", given[c], 0.0, closed="low") for c in names]
    return np.array(values) / _validate.number("the sum of the shares in balance", sum(values), low=0.0)


class Method(NamedTuple):
    """What a named class chooses."""

    labeled: tuple
    unlabeled: tuple | None
    solver: Any
    norm: int = 2


class Parameters:
    """Checks and translations that all estimators share."""

    _auto_C = 1.0  # the robust default behind C="auto", for features of total variance one
    _semi_supervised = True
    _star_is_C = False  # whether C_unlabeled=None is C rather than C l/u

    def _method(self) -> Method:
        """Losses and solver, from the parameters."""
        raise AttributeError(f"{type(self).__name__} names no losses and no solver.")

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
        self._check_limits()
        self._check_approximation()
        if not isinstance(self.kernel, str) and not callable(self.kernel):
            raise ValueError(f"kernel={self.kernel!r} is not allowed; kernel takes a name or a function of two tables.")
        _validate.choice("fit_intercept", self._intercept, (True, False, "regularised"))
        _validate.choice("multiclass", self.multiclass, tuple(SCHEMES))
        _validate.choice("coupling", self.coupling, tuple(COUPLINGS))
        kernels.check(self._kernel_of(1.0), free_intercept=self._intercept is True)
        return self._method()

    def _check_limits(self) -> None:
        """Numbers that some machines have: tolerances, limits, starts."""
        if hasattr(self, "tol"):
            _validate.number("tol", self.tol, low=0.0)
        for name in ("max_iter", "n_init"):
            if hasattr(self, name):
                _validate.whole_number(name, getattr(self, name), 1)
        if getattr(self, "max_time", None) is not None:
            _validate.number("max_time", self.max_time, low=0.0)
        if hasattr(self, "balance_tol"):
            _validate.number("balance_tol", self.balance_tol, 0.0, 1.0, closed="both")
        if hasattr(self, "safe"):
            _validate.choice("safe", self.safe, (True, False))

    def _check_approximation(self) -> None:
        if hasattr(self, "approximation"):
            _validate.choice("approximation", self.approximation, APPROXIMATIONS)
        if getattr(self, "n_components", None) is not None:
            _validate.whole_number("n_components", self.n_components, 1)
        given = getattr(self, "landmarks", None)
        if isinstance(given, str):
            _validate.choice("landmarks", given, LANDMARKS)

    @property
    def _intercept(self):
        return getattr(self, "fit_intercept", True)

    def _kernel_of(self, gamma: float) -> Kernel:
        return Kernel(self.kernel, gamma, self.coef0, self.degree, self.sigma)

    def _robust_C(self, n_labeled: float) -> float:
        """The robust default behind C="auto", for features of total variance one and so many labels."""
        return self._auto_C

    def _resolve_numbers(self, X, weight: np.ndarray, n_labeled: float) -> Kernel:
        """Set ``gamma_`` and ``C_``; returns the kernel."""
        if self.kernel in ("precomputed", "linear") or callable(self.kernel):
            self.gamma_ = 1.0
        else:
            self.gamma_ = scale.width(self._kernel_of(1.0), self.gamma, X, weight)
        kernel = self._kernel_of(self.gamma_)
        if isinstance(self.C, str):
            spread = scale.total_variance(kernel, X, weight)
            size = spread ** (0.5 * self._method().norm)  # rows k times as large make w a k-th and ||w||^2 a k^2-th
            self.C_ = self._robust_C(n_labeled) / (size if spread > 1e-12 else 1.0)
        else:
            self.C_ = float(self.C)
        return kernel

    def _space(self, kernel: Kernel, X, codes: np.ndarray):
        """Where f lives: the rows themselves, their kernel, or features that stand for it."""
        how = getattr(self, "approximation", None)
        count = getattr(self, "n_components", None)
        method = self._method()
        on_features = getattr(method.solver, "on_features", False)
        if on_features and kernel.name == "linear":
            how = None if how == "auto" else how  # the columns are the features, however many rows there are
        elif on_features and (method.norm == 1 or (codes < 0).any()):
            few = how is None or (how == "auto" and X.shape[0] <= PRINCIPAL_ROWS and Gram(kernel, X).fits)
            count = X.shape[0] if how is None else count
            how = "kernel_pca" if few else "nystroem" if how == "auto" else how
        elif how == "auto":
            how = None if self._exact_fits(kernel, X) else "nystroem"
            if how == "nystroem" and count is None:
                count = max(1, min(COMPONENTS, gram_limit() // (24 * X.shape[0])))  # features, their factor, a spare
        if how is None:
            return Features(X) if kernel.name == "linear" else Gram(kernel, X)
        if how == "kernel_pca":
            return kernel_pca(kernel, X, count)
        landmarks = self.landmarks
        if not isinstance(landmarks, str) and kernel.name != "precomputed":  # which refuses rows by itself
            landmarks = self._landmark_rows(X.shape[1])
        rng = check_random_state(self.random_state).randint(2**31)
        return nystroem(kernel, X, count, landmarks, codes >= 0, rng)

    def _landmark_rows(self, width: int):
        """Landmarks that were given as rows, dense or sparse."""
        given = self.landmarks
        try:
            if sparse.issparse(given):
                rows = sparse.csr_array(given, dtype=np.float64)
            else:
                rows = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            rows = np.empty(0)
        if rows.ndim != 2 or not rows.shape[0] or rows.shape[1] != width or not _finite(rows):
            raise ValueError(
                f"landmarks of type {type(self.landmarks).__name__} and shape {rows.shape} are not allowed; landmarks "
                f"takes one of {', '.join(map(repr, LANDMARKS))} or a table of finite numbers with {width} columns."
            )
        return rows

    def _exact_fits(self, kernel: Kernel, X) -> bool:
        """Whether the exact form keeps the memory rule."""
        n, d = X.shape
        need = form_bytes(n, Gram(kernel, X).dtype.itemsize)
        return min(need, 8 * n * (d + 1) if kernel.name == "linear" else need) <= gram_limit()

    def _shares(self, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Wanted share of each class among the unlabeled rows."""
        labeled = np.array([weight[codes == c].sum() for c in range(len(self.classes_))])
        return shares(getattr(self, "balance", None), self.classes_, labeled)

    def _problem(self, method: Method, space, task: Task, weight: np.ndarray) -> Problem:
        """A task as a problem in a space, with costs and balance as numbers."""
        weight = np.where(task.present, weight, 0.0)
        known = task.signs != 0
        cost = self.C_ * weight
        balance: tuple = Free()
        if self._semi_supervised:
            rest = weight[~known].sum()
            star = self.C_unlabeled
            if star is None and self._star_is_C:
                star = self.C_
            elif star is None:
                star = self.C_ * weight[known].sum() / rest if rest > 0 else self.C_
            cost = np.where(known, cost, float(star) * weight)
            if self.balance is not None and method.unlabeled is not None and rest > 0:
                counts = Count in method.solver.balances
                slack = float(getattr(self, "balance_tol", 0.0))
                balance = Count(task.share, slack) if counts else Mean(2.0 * task.share - 1.0)
        pieces = method.labeled, method.unlabeled, balance, self._intercept, weight, method.norm
        return Problem(space, task.signs, cost, *pieces)
