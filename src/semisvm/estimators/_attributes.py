"""What a fitted machine holds, copied from its solutions."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .. import _validate, decision
from .._validate import Labels
from ..featuremaps import Mapped
from ..multiclass import pairs
from ..solution import Solution
from ..spaces import Features, Gram

CONDITIONS = "violation of the optimality conditions {:.2g}"
LEFT = {
    "kkt": CONDITIONS,
    "stationary": CONDITIONS,
    "gap": "the best objective is at most {:.2g} lower",
    "no_flip": "no change of a label improves it",
    "monotone": "a change of labels would still gain {:.2g}",
    "none": "{:g} rows were left",
}


class Attributes:
    """Fitted attributes, scores of new rows, and the supervised machine beside a semi-supervised one."""

    def _copy(self, solutions: list[Solution], space, X, kept: np.ndarray) -> None:
        """Attributes of one binary task as they are, of several as lists or arrays."""
        paths = [np.array([row["objective"] for row in s.trace] or [s.objective]) for s in solutions]
        one = len(solutions) == 1
        self.objective_ = solutions[0].objective if one else np.array([s.objective for s in solutions])
        self.objective_path_ = paths[0] if one else paths
        self.certificate_ = solutions[0].certificate if one else [s.certificate for s in solutions]
        self.converged_ = all(s.status == "converged" for s in solutions)
        self._interrupted_ = any(s.status == "interrupted" for s in solutions)
        self.n_iter_ = solutions[0].n_iter if one else np.array([s.n_iter for s in solutions])
        self.trace_ = solutions[0].trace if one else [s.trace for s in solutions]
        self.intercept_ = np.array([s.intercept for s in solutions])
        self._say_if_unfinished(solutions)
        for name in ("coef_", "support_vectors_", "support_"):
            self.__dict__.pop(name, None)  # of an earlier fit in another space
        if isinstance(space, Mapped):
            self._copy_landmarks(solutions, space, kept)
            return
        active = np.array([np.count_nonzero(s.multipliers) for s in solutions])
        self.n_active_ = int(active[0]) if one else active
        if isinstance(space, Features):
            self.coef_ = np.array([s.coef for s in solutions])
            if solutions[0].dual is None:  # a solver of the primal
                return
        dual = np.array([s.dual for s in solutions])
        support = np.flatnonzero(dual.any(axis=0))
        self.dual_coef_ = dual[:, support]
        self.support_ = kept[support]
        if isinstance(space, Gram) and not space.precomputed:
            self.support_vectors_ = X[self.support_]

    def _copy_landmarks(self, solutions: list[Solution], space: Mapped, kept: np.ndarray) -> None:
        """In features of landmarks these are what a new row is compared with."""
        self.dual_coef_ = np.array([space.kernel_coef(s.coef) for s in solutions])
        count = self.dual_coef_.shape[1]
        self.n_active_ = count if len(solutions) == 1 else np.full(len(solutions), count)
        if space.support is not None:
            self.support_ = kept[space.support]
        if space.landmarks is not None:
            self.support_vectors_ = space.landmarks

    def _fill_labels(self, scores: np.ndarray, solutions: list[Solution], X, kept: np.ndarray, labels: Labels) -> None:
        """``transduction_``: given labels, then what the search says, then the scores."""
        codes = np.empty(X.shape[0], dtype=int)
        if len(solutions) == 1:
            codes[kept] = solutions[0].labels > 0
        else:
            codes[kept] = self._winner(self._decide(scores))
        outside = np.setdiff1d(np.arange(X.shape[0]), kept, assume_unique=True)
        if len(outside):
            codes[outside] = self._winner(self._decide(self._scores(X[outside])))
        self.transduction_ = self.classes_[np.where(labels.known, labels.codes, codes)]

    def _winner(self, scores: np.ndarray) -> np.ndarray:
        """Position of the winning class."""
        return (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)

    def _pairs(self) -> list[tuple[int, int]]:
        return pairs(len(self.classes_))

    def _say_if_unfinished(self, solutions: list[Solution]) -> None:
        reasons = {
            "max_iter": self._limit_reached(),
            "max_time": f"max_time={getattr(self, 'max_time', None)} reached",
            "interrupted": "the fit was interrupted",
        }
        unfinished = [s for s in solutions if s.status in reasons]
        if unfinished:
            worst = max(s.certificate.value for s in unfinished)
            where = "" if len(solutions) == 1 else f" in {len(unfinished)} of {len(solutions)} binary tasks"
            left = LEFT[unfinished[0].certificate.kind].format(worst)
            has_tol = hasattr(self, "tol")
            tol, advice = (
                (f" (tol {self.tol:g})", "Scale X, raise the limit or lower C") if has_tol else ("", "Raise the limit")
            )
            warnings.warn(
                f"{type(self).__name__}: {reasons[unfinished[0].status]}{where}, {left}{tol}; the model is usable. "
                f"{advice}.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _limit_reached(self) -> str:
        """The limit of steps, by the name it has in this class."""
        name = "max_nodes" if hasattr(self, "max_nodes") else "max_iter"
        return f"{name}={getattr(self, name, None)} reached"

    # ---------------------------------------------------------------- the supervised machine beside it

    def _keep_labeled(self, X, labels: Labels, sample_weight) -> None:
        rows = np.flatnonzero(labels.known)
        table = X[np.ix_(rows, rows)] if self.kernel == "precomputed" else X[rows]
        weight = None if sample_weight is None else _validate.weights(sample_weight, X.shape[0])[rows]
        self._labeled_ = (rows, table, labels.classes[labels.codes[rows]], weight)
        self.__dict__.pop("_supervised_", None)

    def _supervised_twin(self):
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
            if hasattr(twin, "support_"):  # a 1-norm machine on columns has none, nor one of given landmarks
                twin.support_ = rows[twin.support_]
            twin.n_features_in_ = self.n_features_in_
            if hasattr(self, "feature_names_in_"):
                twin.feature_names_in_ = self.feature_names_in_
            self._supervised_ = twin
        return self._supervised_

    # ---------------------------------------------------------------- new rows

    def _scores(self, X) -> np.ndarray:
        """F of every binary task at new rows."""
        if hasattr(self, "coef_"):
            return decision.linear_scores(X, self.coef_, self.intercept_)
        kernel = self._kernel_of(self.gamma_)
        if self.kernel == "precomputed":
            return decision.kernel_scores(kernel, X[:, self.support_], None, self.dual_coef_, self.intercept_)
        return decision.kernel_scores(kernel, X, self.support_vectors_, self.dual_coef_, self.intercept_)
