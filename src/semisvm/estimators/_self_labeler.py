"""What self-training and Help-Training share: the fit around another classifier, and what is kept of it."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import _validate
from .._validate import Labels
from ..solvers.limits import deadline
from ._base import Machine
from ._choices import Room
from ._learners import Grown, Refitted, columns_of, fitted, settled, space_to_grow, table_of
from ._parameters import shares
from ._progress import CallbackSupportMixin, Progress, with_callbacks
from ._rounds import Limit, Rounds, label_in_rounds
from .least_squares import LSSVM

ENDED = {
    "max_time": "max_time={} reached",
    "interrupted": "the fit was interrupted",
}


class Inside:
    """The classifier that is trained in rounds, ready for all classes or for one against the rest.

    Attributes
    ----------
    estimator : classifier
        What is fitted; a machine of the library has numbers for C and gamma.
    space : Gram, Features or None
        Where an SVM or LS-SVM goes on from where it was.
    kernel : Kernel or None
        Of a machine of the library.
    """

    def __init__(self, estimator, X, weight: np.ndarray, codes: np.ndarray):
        self.X, self.weight = X, weight
        self.estimator, self.kernel, self.space = estimator, None, None
        if isinstance(estimator, Machine):
            part = np.flatnonzero(weight > 0)
            rows = X if len(part) == len(weight) else table_of(estimator, X, part)
            if estimator.kernel == "precomputed":
                _validate.kernel_matrix(rows)
            self.estimator, self.kernel = settled(estimator, rows, weight[part], weight[codes >= 0].sum())
            self.space = space_to_grow(self.estimator, self.kernel, X, codes)
            if self.space is not None and self.space.gram().fits:
                _ = self.space.gram().whole  # shared by what follows, in threads

    def learner(self, classes: np.ndarray, probability: bool):
        """A machine without rows, of these classes."""
        if self.space is not None and not probability:
            return Grown(self.estimator, self.space, self.weight, len(classes))
        return Refitted(self.estimator, self.X, self.weight, classes, lead=not probability)


class Task(NamedTuple):
    """What is labeled in one run of rounds.

    Attributes
    ----------
    codes : int array of shape (n,)
        Given classes, -1 where there is none.
    classes : array of shape (k,)
        Their names.
    counts : int array of shape (k,) or None
        Candidates of each class.
    shares : array of shape (k,) or None
        Of the classes among the unlabeled rows, where a balance is asked for.
    n_open : int
        Rows that may get a label.
    """

    codes: np.ndarray
    classes: np.ndarray
    counts: np.ndarray | None
    shares: np.ndarray | None
    n_open: int


def _inner_has(name: str):
    def check(self) -> bool:
        inner = self._inner()
        return hasattr(inner, name) and (name != "predict_proba" or not hasattr(self, "estimators_"))

    return check


class SelfLabeler(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Rounds of labeling around a classifier; subclasses have an explicit ``__init__`` and name their ``_choice``."""

    _doc_link_module = "semisvm"
    _probability = False

    def _inner(self):
        return LSSVM(C=10.0, gamma="median") if self.estimator is None else self.estimator

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit to rows some of which have a label.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (n, d)
            The rows; kernel values of all rows if the estimator takes a precomputed kernel.
        y : array-like of shape (n,)
            Labels; None, NaN and the value of ``unlabeled`` mark rows without one.
        sample_weight : array-like of shape (n,), optional
            Factors on the costs of the rows.

        Returns
        -------
        self
        """
        inner = self._inner()
        self._check(inner)
        X = _validate.table(self, X, reset=True, precomputed=self._pairwise(inner))
        labels = _validate.labels(y, self.unlabeled)
        if len(labels.codes) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and y has {len(labels.codes)} values; pass one label per row.")
        weight = _validate.weights(sample_weight, X.shape[0])
        labels = _validate.with_weight(labels, weight > 0, self.unlabeled)
        self.classes_ = labels.classes
        self._run(Inside(inner, X, weight, labels.codes), labels.codes)
        self._fill(X, labels)
        self._keep_labeled(inner, X, weight, labels)
        return self

    def _check(self, inner) -> None:
        """Check what all of them share."""
        if isinstance(inner, type) or not hasattr(inner, "fit") or not is_classifier(inner):
            raise ValueError(f"estimator={inner!r} is not allowed; estimator takes a classifier, as SVM().")
        wanted = "predict_proba" if self._probability else "decision_function"
        if not hasattr(inner, wanted):
            raise ValueError(
                f"estimator={inner!r} has no {wanted}; use one that has, such as SVM() or LSSVM()"
                + ("." if self._probability else ", or SelfTraining with confidence='probability'.")
            )
        last = inner.steps[-1][1] if hasattr(inner, "steps") else inner
        if getattr(last, "decision_function_shape", None) == "ovo":
            raise ValueError(
                f"estimator={inner!r} has a decision_function with a column per pair of classes; use "
                "decision_function_shape='ovr'."
            )
        _validate.choice("multiclass", self.multiclass, ("joint", "ovr"))
        if self.max_iter is not None:
            _validate.whole_number("max_iter", self.max_iter, 1)
        if self.max_time is not None:
            _validate.number("max_time", self.max_time, low=0.0)

    def _choice(self, inside: Inside, k: int, counts: np.ndarray | None):
        """Which rows are looked at, and which are sure enough."""
        raise AttributeError(f"{type(self).__name__} names no way to choose rows.")

    def _counts(self, k: int, n_open: int) -> np.ndarray | None:
        """Candidates of each class, where a method has them."""
        return None

    # ---------------------------------------------------------------- rounds

    def _tasks(self, inside: Inside, codes: np.ndarray) -> list[Task]:
        """One task for all classes, or one for every class against the rest."""
        k = len(self.classes_)
        n_open = int(((inside.weight > 0) & (codes < 0)).sum())
        counts, wanted = self._counts(k, n_open), None
        if self.balance is not None:
            wanted = shares(self.balance, self.classes_, np.array([inside.weight[codes == c].sum() for c in range(k)]))
        if k == 2 or self.multiclass == "joint":
            return [Task(codes, self.classes_, counts, wanted, n_open)]
        return [
            Task(
                np.where(codes < 0, -1, (codes == c).astype(int)),
                np.array([0, 1]),
                None if counts is None else np.array([counts.sum() - counts[c], counts[c]]),
                None if wanted is None else np.array([1.0 - wanted[c], wanted[c]]),
                n_open,
            )
            for c in range(k)
        ]

    def _run(self, inside: Inside, codes: np.ndarray) -> None:
        """The rounds of every task, in threads if there are several and the kernel matrix can be shared by them."""
        tasks = self._tasks(inside, codes)
        progress, end_time, interrupted = Progress(self, len(tasks)), deadline(self.max_time), []

        def run(number: int) -> tuple[Rounds, Any]:
            step, end = progress.task(number)

            def told(row: dict) -> bool:
                return bool(interrupted) or (step is not None and bool(step(row)))

            most = 0 if interrupted else np.inf if self.max_iter is None else self.max_iter
            found = self._label(inside, tasks[number], Limit(most, end_time, told))
            if found[0].status == "interrupted" or (interrupted and found[0].status in ("stopped", "max_iter")):
                found[0].status = "interrupted"
                interrupted.append(number)
            end()
            return found

        jobs = self.n_jobs if inside.space is None or inside.space.gram().fits else 1
        found = Parallel(n_jobs=jobs, prefer="threads")(delayed(run)(number) for number in range(len(tasks)))
        progress.end()
        self._copy([rounds for rounds, _ in found], [machine for _, machine in found], len(tasks) > 1)

    def _label(self, inside: Inside, task: Task, limit: Limit) -> tuple[Rounds, Any]:
        """The rounds of one task, and the machine of all rows that have a label then."""
        codes = task.codes
        learner = inside.learner(task.classes, self._probability)
        if task.n_open:
            choice = self._choice(inside, len(task.classes), task.counts)
            room = None if task.shares is None else Room(task.shares, task.n_open)
            rounds = label_in_rounds(learner, choice, codes, inside.weight > 0, room, limit)
        else:
            rounds = Rounds(codes, np.where(codes >= 0, 0, -1), np.full(len(codes), np.nan))
        kept = learner.fitted if isinstance(learner, Refitted) else None
        if kept is None:
            kept = fitted(inside.estimator, inside.X, inside.weight, task.classes, rounds.codes)
        return rounds, kept

    def _copy(self, found: list[Rounds], machines: list, each: bool) -> None:
        for name in ("estimator_", "estimators_"):
            self.__dict__.pop(name, None)
        one = found[0]
        self._columns_ = [rounds.codes for rounds in found]
        if each:
            self.estimators_ = machines
            self.labeled_iter_ = np.column_stack([rounds.step for rounds in found])
            self.confidence_ = np.column_stack([rounds.confidence for rounds in found])
            self.n_iter_ = np.array([len(rounds.trace) + 1 for rounds in found])
            self.trace_ = [rounds.trace for rounds in found]
            self.termination_condition_ = [rounds.status for rounds in found]
        else:
            self.estimator_ = machines[0]
            self.labeled_iter_, self.confidence_ = one.step, one.confidence
            self.n_iter_, self.trace_, self.termination_condition_ = len(one.trace) + 1, one.trace, one.status
        self._say(found)

    def _say(self, found: list[Rounds]) -> None:
        """Warn of an early end, and of rounds that came to nothing."""
        early = [rounds for rounds in found if rounds.status in ENDED]
        if early:
            why = ENDED[early[0].status].format(self.max_time)
            left = max(int((rounds.codes < 0).sum()) for rounds in early)
            warnings.warn(
                f"{type(self).__name__}: {why}, {left} rows had no label yet; the model of the others is usable.",
                ConvergenceWarning,
                stacklevel=5,
            )
        if all(rounds.status == "no_change" and not rounds.trace for rounds in found):
            warnings.warn(
                f"{type(self).__name__}: no unlabeled row was above threshold={self.threshold:g}, so this is the "
                "supervised machine. Lower threshold, or pass threshold_decay.",
                stacklevel=5,
            )

    def _fill(self, X, labels: Labels) -> None:
        """``transduction_``: given labels, then what the rounds said, then the machine that is kept."""
        codes = labels.codes.copy() if hasattr(self, "estimators_") else self._columns_[0].copy()
        codes[labels.known] = labels.codes[labels.known]
        rest = np.flatnonzero(codes < 0)
        if len(rest):
            codes[rest] = self._winner(X[rest])
        self.transduction_ = self.classes_[codes]

    # ---------------------------------------------------------------- new rows

    def _scores(self, X) -> np.ndarray:
        """Decisions, or probabilities of estimators without; one column or k."""
        if not hasattr(self, "estimators_"):
            return np.asarray(self.estimator_.decision_function(columns_of(self.estimator_, X, self._columns_[0])))
        columns = []
        for machine, codes in zip(self.estimators_, self._columns_):
            rows = columns_of(machine, X, codes)
            columns.append(machine.predict_proba(rows)[:, 1] if self._probability else machine.decision_function(rows))
        return np.column_stack(columns)

    def _winner(self, X) -> np.ndarray:
        if not hasattr(self, "estimators_"):
            found = self.estimator_.predict(columns_of(self.estimator_, X, self._columns_[0]))
            return np.searchsorted(self.classes_, found)
        return self._scores(X).argmax(axis=1)

    def _table(self, X):
        check_is_fitted(self)
        return _validate.table(self, X, reset=False, precomputed=self._pairwise(self._inner()))

    @available_if(_inner_has("decision_function"))
    def decision_function(self, X) -> np.ndarray:
        """Scores of new rows by the machine that is kept.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, d)
            New rows; of a precomputed kernel their values with all rows of fit, shape (m, n).

        Returns
        -------
        array of shape (m,) or (m, n_classes)
        """
        return self._scores(self._table(X))

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X) -> np.ndarray:
        """Probabilities of the classes by the machine that is kept; not with ``multiclass="ovr"`` of three or more.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, d)
            New rows, as in ``decision_function``.

        Returns
        -------
        array of shape (m, n_classes)
        """
        X = self._table(X)
        return self.estimator_.predict_proba(columns_of(self.estimator_, X, self._columns_[0]))

    def predict(self, X) -> np.ndarray:
        """The class of new rows by the machine that is kept.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, d)
            New rows, as in ``decision_function``.

        Returns
        -------
        array of shape (m,)
        """
        X = self._table(X)
        return self.classes_[self._winner(X)]

    def _keep_labeled(self, inner, X, weight: np.ndarray, labels: Labels) -> None:
        rows = np.flatnonzero(labels.known)
        self._labeled_ = (clone(inner), rows, table_of(inner, X, rows), weight[rows], labels.codes[rows])
        self.__dict__.pop("_supervised_", None)

    @property
    def supervised_(self):
        """The estimator fitted to the labeled rows alone, at first use."""
        check_is_fitted(self)
        if "_supervised_" not in self.__dict__:
            inner, rows, table, weight, codes = self._labeled_
            twin = fitted(inner, table, weight, self.classes_, codes)
            if isinstance(twin, Machine):  # whose rows and columns are those of the whole table
                if hasattr(twin, "support_"):
                    twin.support_ = rows[twin.support_]
                twin.n_features_in_ = self.n_features_in_
            if hasattr(self, "feature_names_in_") and not hasattr(type(twin), "feature_names_in_"):
                twin.feature_names_in_ = self.feature_names_in_
            self._supervised_ = twin
        return self._supervised_

    @staticmethod
    def _pairwise(inner) -> bool:
        return bool(get_tags(inner).input_tags.pairwise)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._inner())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        return tags
