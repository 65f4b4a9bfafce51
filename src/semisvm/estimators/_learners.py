"""The machine inside self-training: rows with labels are added, scores of any rows are asked for.

An SVM or an LS-SVM of the library goes on from where it was: the inverse grows, pair steps start warm. Any other
estimator is fitted anew every round.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from ..multiclass import Task
from ..solvers.growing import GrowingHinge, GrowingLeastSquares
from ..spaces import Gram
from ._base import Machine
from .least_squares import LSSVM
from .supervised import SVM


class Grown:
    """An SVM or an LS-SVM in an exact space, one-vs-rest.

    Parameters
    ----------
    machine : SVM or LSSVM
        With ``C_`` and ``gamma_`` settled; not fitted.
    space : Gram or Features
        All rows.
    weight : array of shape (n,)
        Weights of the rows.
    k : int
        Classes.

    Attributes
    ----------
    lead : bool
        Scores are decisions, not probabilities.
    interrupted : bool
        Whether Ctrl-C came during a training.
    """

    lead = True

    def __init__(self, machine: Machine, space, weight: np.ndarray, k: int):
        self._classes = [1] if k == 2 else list(range(k))
        everybody = Task(np.zeros(space.n), np.ones(space.n, dtype=bool), 0.5)
        problem = machine._problem(machine._method(), space, everybody, weight)
        self._given = np.zeros(0, dtype=int)
        self._least_squares = isinstance(machine, LSSVM)
        self._jobs = machine.n_jobs if space.gram().fits else 1  # beyond the memory rule the row cache has one user
        if self._least_squares:
            columns = len(self._classes)
            self._parts: list = [GrowingLeastSquares(space.gram(), problem.cost, problem.intercept, columns)]
        else:
            limits = machine.tol, machine.max_iter, machine.max_time
            self._parts = [GrowingHinge(problem, *limits) for _ in self._classes]

    def add(self, rows: np.ndarray, codes: np.ndarray) -> None:
        """Rows get labels."""
        signs = np.column_stack([np.where(codes == c, 1.0, -1.0) for c in self._classes])
        if self._least_squares:
            self._given = self._given if len(self._given) else np.arange(len(rows))
            self._parts[0].add(rows, signs)
            return
        work = (delayed(part.add)(rows, column) for part, column in zip(self._parts, signs.T))
        Parallel(n_jobs=self._jobs, prefer="threads")(work)

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """F of every class against the rest, shape (len(rows), 1 or k)."""
        if self._least_squares:
            return self._parts[0].scores(rows)
        return np.column_stack([part.scores(rows) for part in self._parts])

    @property
    def interrupted(self) -> bool:
        return any(getattr(part, "interrupted", False) for part in self._parts)

    def facts(self) -> dict[str, float]:
        """Of least squares, the share of given labels that the machine without them gets wrong."""
        if not self._least_squares:
            return {}
        held_out, signs = self._parts[0].left_out()[self._given], self._parts[0].signs[self._given]
        if len(self._classes) == 1:
            wrong = held_out[:, 0] * signs[:, 0] <= 0
        else:
            wrong = held_out.argmax(axis=1) != signs.argmax(axis=1)
        return {"leave_one_out": float(wrong.mean())}


class Refitted:
    """Any classifier, fitted anew to the rows labeled so far.

    A machine of the library that uses unlabeled rows is given those still open as such.

    Parameters
    ----------
    estimator : classifier
        Not fitted.
    X : array or CSR of shape (n, d)
        All rows.
    weight : array of shape (n,)
        Weights of the rows.
    classes : array of shape (k,)
        Names of the classes.
    lead : bool
        Whether scores are decisions; probabilities if not.
    """

    def __init__(self, estimator, X, weight: np.ndarray, classes: np.ndarray, lead: bool = True):
        self._estimator, self._X, self._weight, self._classes, self.lead = estimator, X, weight, classes, lead
        self._codes = np.full(X.shape[0], -1)
        self.fitted: Any = None
        self.interrupted = False

    def add(self, rows: np.ndarray, codes: np.ndarray) -> None:
        """Rows get labels."""
        self._codes[rows] = codes
        self.fitted = fitted(self._estimator, self._X, self._weight, self._classes, self._codes)
        self.interrupted = getattr(self.fitted, "_interrupted_", False)

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """Decisions or probabilities, shape (len(rows), 1 or k)."""
        X = columns_of(self._estimator, self._X[rows], self._codes)
        found = np.asarray((self.fitted.decision_function if self.lead else self.fitted.predict_proba)(X), dtype=float)
        found = found[:, None] if found.ndim == 1 else found
        k = len(self._classes)
        if found.shape[1] != (1 if k == 2 and self.lead else k):
            raise ValueError(
                f"the {'decision_function' if self.lead else 'predict_proba'} of {type(self._estimator).__name__} has "
                f"{found.shape[1]} columns for {k} classes; use one with a column per class."
            )
        if not np.isfinite(found).all():
            raise ValueError(
                f"{type(self._estimator).__name__} gave scores that are not finite numbers; scale X or change its "
                "parameters."
            )
        return found

    def facts(self) -> dict[str, float]:
        """Nothing is known of the machine."""
        return {}


def fitted(estimator, X, weight: np.ndarray, classes: np.ndarray, codes: np.ndarray):
    """A clone of the estimator, fitted to the rows with a code of 0 or more."""
    known = np.flatnonzero(codes >= 0)
    told = {} if (weight == 1.0).all() else {"sample_weight": weight}
    if isinstance(estimator, Machine):
        y = np.full(len(codes), None, dtype=object)
        y[known] = classes[codes[known]]
        return clone(estimator).set_params(unlabeled=None).fit(X, y, **told)  # None alone marks the others
    if told and not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"{type(estimator).__name__} takes no sample_weight; leave the weights out or use another estimator."
        )
    told = {name: values[known] for name, values in told.items()}
    rows = X[known] if len(known) < len(codes) else X
    return clone(estimator).fit(columns_of(estimator, rows, codes), classes[codes[known]], **told)


def table_of(estimator, X, rows: np.ndarray):
    """Some rows of a table, and the same columns if it holds kernel values."""
    return X[np.ix_(rows, rows)] if get_tags(estimator).input_tags.pairwise else X[rows]


def columns_of(estimator, rows, codes: np.ndarray):
    """Rows as the fitted estimator takes them: of kernel values, those with the rows it was fitted to."""
    if isinstance(estimator, Machine) or not get_tags(estimator).input_tags.pairwise:
        return rows
    return rows[:, codes >= 0]


def settled(machine: Machine, X, weight: np.ndarray, n_labeled: float) -> tuple[Machine, Any]:
    """A clone whose C and gamma are numbers, those that all rows and the given labels lead to; and its kernel."""
    machine = clone(machine).set_params(unlabeled=None)
    machine._checked_method()
    kernel = machine._resolve_numbers(X, weight, n_labeled)
    machine.set_params(C=machine.C_, gamma=machine.gamma_)
    return machine, kernel


def space_to_grow(machine: Machine, kernel, X, codes: np.ndarray):
    """The space in which the machine can go on from where it was; None if it has to be fitted anew."""
    k = codes.max() + 1
    if type(machine) not in (SVM, LSSVM) or (k > 2 and machine.multiclass != "ovr"):
        return None
    space = machine._space(kernel, X, codes)
    if isinstance(machine, SVM):
        return space
    exact = isinstance(space, Gram) or (kernel.name == "linear" and X.shape[0] <= X.shape[1] + 1)
    return space if exact and space.gram().fits else None
