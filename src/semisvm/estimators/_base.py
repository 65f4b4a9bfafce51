"""The only fit pipeline: labels to codes, rows to a space, binary tasks, a solver, attributes.

Order of calls in ``fit``: read labels, table and weights; resolve the numbers left to the data (``gamma_``, ``C_``);
build the space once; split the classes into binary tasks; state each as a problem (a subclass names losses and solver
in ``_method``) and solve it, in threads; copy the solutions into attributes. Estimators hold no mathematics.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .. import _validate
from ..featuremaps import Mapped
from ..model_selection.splits import folds_of_distinct_rows
from ..multiclass import SCHEMES, Task, couple, fit_slope, sigmoid, softmax, votes
from ..problem import Problem
from ..solution import Solution
from ..solvers import refusal
from ..spaces import Features, Gram
from ._attributes import Attributes
from ._parameters import Method, Parameters
from ._progress import CallbackSupportMixin, Progress, with_callbacks
from ._slope import Slope

FOLDS = 5
AT_ONCE = 1e-9  # seconds left to the remaining tasks after Ctrl-C: each returns its first point


class Machine(CallbackSupportMixin, Attributes, Parameters, ClassifierMixin, BaseEstimator):
    """What all estimators share; subclasses have an explicit ``__init__`` and name their ``_method``."""

    _doc_link_module = "semisvm"

    @with_callbacks
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
        given, X = X, _validate.table(self, X, reset=True, precomputed=precomputed)
        labels = _validate.labels(y, self.unlabeled)
        n = X.shape[0]
        if len(labels.codes) != n:
            raise ValueError(f"X has {n} rows and y has {len(labels.codes)} values; pass one label per row.")
        weight = _validate.weights(sample_weight, n)
        kept = np.flatnonzero(weight > 0 if self._semi_supervised else (weight > 0) & labels.known)
        labels = _validate.with_weight(labels, kept, self.unlabeled)
        self.classes_ = labels.classes
        rows = X if len(kept) == n else X[np.ix_(kept, kept)] if precomputed else X[kept]
        if precomputed:
            _validate.kernel_matrix(rows)
        codes = labels.codes[kept]
        kernel = self._resolve_numbers(rows, weight[kept], weight[kept][codes >= 0].sum())
        space = self._space(kernel, rows, codes)
        if self.verbose:
            self._say_cost(space)
        tasks = len(self._tasks(codes, weight[kept]))
        progress = Progress(self, tasks)
        solutions = self._solve_all(method, space, codes, weight[kept], progress)
        progress.end()
        self._copy(solutions, space, X, kept)
        self._slope_ = Slope(self._calibrate, _validate.own(rows, given), codes, weight[kept])
        if self.multiclass == "ovo" and len(self.classes_) > 2 and self.coupling != "pwc1":
            self._slope_.settle(space)  # the coupled decision needs it
        self._fill_labels(np.column_stack([s.scores for s in solutions]), solutions, X, kept, labels)
        if self._semi_supervised:
            self._keep_labeled(X, labels, sample_weight)
        return self

    def _say_cost(self, space) -> None:
        if isinstance(space, Mapped):
            rank = space.X.shape[1]
            print(f"kernel of {space.n:,} rows by {rank:,} features: {8 * space.n * rank / 2**20:,.0f} MiB of float64")
            return
        gram = space.gram()
        held = "held whole" if gram.fits else "over the limit: computed by blocks"
        print(f"kernel matrix of {gram.n:,} rows: {gram.bytes / 2**20:,.0f} MiB of {gram.dtype}, {held}")

    # ---------------------------------------------------------------- solving

    def _tasks(self, codes: np.ndarray, weight: np.ndarray, guess: np.ndarray | None = None) -> list[Task]:
        return SCHEMES[self.multiclass](codes, self._shares(codes, weight), guess)

    def _solve_all(
        self, method: Method, space, codes: np.ndarray, weight: np.ndarray, progress: Progress | None = None
    ) -> list[Solution]:
        """A solution for every binary task, all in one space."""
        guess = None
        if self.multiclass == "ovo" and len(self.classes_) > 2 and self._semi_supervised and (codes < 0).any():
            pairs = [self._problem(method, space, task, weight) for task in self._tasks(codes, weight)]
            supervised = [pair.alone() for pair in pairs]
            guess = votes(np.column_stack([s.scores for s in self._solve(method, supervised)]), len(self.classes_))
        tasks = self._tasks(codes, weight, guess)
        return self._solve(method, [self._problem(method, space, task, weight) for task in tasks], progress)

    def _solve(self, method: Method, problems: list[Problem], progress: Progress | None = None) -> list[Solution]:
        """Solve problems that share a space, in threads if the kernel matrix can be shared by them."""
        for problem in problems:
            reason = refusal(method.solver, problem)
            if reason:
                raise ValueError(f"{type(self).__name__}: {reason}")
        seed = check_random_state(getattr(self, "random_state", None)).randint(2**31)
        jobs, space = self.n_jobs, problems[0].space
        if hasattr(method.solver, "solve_all") and isinstance(space, Features):
            return self._solve_together(method.solver, problems, progress)
        on_gram = getattr(method.solver, "on_gram", False)
        if on_gram or isinstance(space, Gram):
            gram = space.gram()
            if on_gram and not gram.fits:
                jobs = 1  # beyond the memory rule the row cache has one user at a time
            elif len(problems) > 1 and gram.fits and not gram.held:
                _ = gram.whole
        interrupted = []

        def solve(number: int) -> Solution:
            step, end = (None, None) if progress is None else progress.task(number)
            solver = replace(method.solver, max_time=AT_ONCE) if interrupted else method.solver
            solution = solver.solve(problems[number], callback=step, rng=np.random.default_rng(seed))
            if solution.status == "interrupted":
                interrupted.append(number)
            if end is not None:
                end()
            return solution

        return Parallel(n_jobs=jobs, prefer="threads")(delayed(solve)(number) for number in range(len(problems)))

    def _solve_together(self, solver, problems: list[Problem], progress: Progress | None) -> list[Solution]:
        """Solve problems side by side, by a solver that serves them all from one pass over the table."""
        told = [(None, None) if progress is None else progress.task(number) for number in range(len(problems))]
        solutions = solver.solve_all(problems, [step for step, _ in told])
        for _, end in told:
            if end is not None:
                end()
        return solutions

    # ---------------------------------------------------------------- probabilities

    def _calibrate(self, rows, codes: np.ndarray, weight: np.ndarray, space=None) -> float:
        """The slope of the probabilities, from scores of labeled rows held out fold by fold."""
        precomputed = self.kernel == "precomputed"
        content = np.sort(rows, axis=1) if precomputed else rows  # kernel values of a row, whatever their order
        folds = folds_of_distinct_rows(content, codes, FOLDS)
        if any(len(np.unique(folds[codes == c])) < 2 for c in range(len(self.classes_))):
            warnings.warn(
                f"{type(self).__name__}: a class has one labeled row (not counting equal ones), which cannot be held "
                "out; the probabilities are 1/(1 + exp(-f)), not calibrated. Label two rows of each class or more.",
                stacklevel=3,
            )
            return 1.0
        space = space or self._space(self._kernel_of(self.gamma_), rows, codes)
        held_out = self._held_out(space, folds, codes, weight)
        judged = folds >= 0
        scores, truth, weight = self._as_columns(held_out[judged], codes[judged], weight[judged])
        return fit_slope(scores, truth, weight)

    def _held_out(self, space, folds: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Scores of labeled rows by machines without their fold, in closed form if the solver has one."""
        method = self._method()
        if hasattr(method.solver, "held_out"):
            problems = [self._problem(method, space, task, weight) for task in self._tasks(codes, weight)]
            groups = [np.flatnonzero(folds == fold) for fold in range(folds.max() + 1)]
            found = zip(problems, self._solve(method, problems))
            return np.column_stack([method.solver.held_out(p, s, groups) for p, s in found])
        held_out = np.zeros((len(codes), self.intercept_.size))
        joins = (codes < 0).any()  # held-out rows join the unlabeled ones, if there are any
        for fold in range(folds.max() + 1):
            held = folds == fold
            found = self._solve_all(method, space, np.where(held, -1, codes), np.where(held & ~joins, 0.0, weight))
            held_out[held] = np.column_stack([s.scores for s in found])[held]
        return held_out

    def _as_columns(self, scores: np.ndarray, truth: np.ndarray, weight: np.ndarray):
        """Held-out scores as ``fit_slope`` takes them: a column per class, pairs one below the other."""
        k = len(self.classes_)
        if k > 2 and self.multiclass == "ovr":
            return scores, truth, weight
        parts = []
        for column, (i, j) in enumerate([(0, 1)] if k == 2 else self._pairs()):
            own = (truth == i) | (truth == j)
            f = 0.5 * scores[own, column]
            parts.append((np.column_stack([-f, f]), (truth[own] == j).astype(int), weight[own]))
        return tuple(np.concatenate(part) for part in zip(*parts))

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities of the classes; the most probable one is the predicted one.

        Binary: 1/(1 + exp(-slope f)). One-vs-rest: a softmax of slope f_k. One-vs-one: the coupled pairwise
        probabilities. The slope is fitted at first use (or when the machine is saved), to scores of labeled rows that
        were held out.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, d)
            New rows, as in ``decision_function``.

        Returns
        -------
        array of shape (m, n_classes)
            Rows sum to one.
        """
        check_is_fitted(self)
        scores = self._raw_scores(X)
        if len(self.classes_) == 2:
            positive = sigmoid(scores[:, 0], self._slope_.value)
            return np.column_stack([1.0 - positive, positive])
        if self.multiclass == "ovr":
            return softmax(scores, self._slope_.value)
        return self._coupled(scores)

    # ---------------------------------------------------------------- decisions

    def _raw_scores(self, X) -> np.ndarray:
        return self._scores(_validate.table(self, X, reset=False, precomputed=self.kernel == "precomputed"))

    def _coupled(self, scores: np.ndarray) -> np.ndarray:
        slope = self._slope_.value if self.coupling != "pwc1" else 1.0
        return couple(sigmoid(scores, slope), len(self.classes_), self.coupling)

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        """From a column per task to a column per class; the single column of two classes stays."""
        return self._coupled(scores) if len(self.classes_) > 2 and self.multiclass == "ovo" else scores

    def decision_function(self, X) -> np.ndarray:
        """Scores of new rows.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, d)
            New rows; with a precomputed kernel their values with all rows of fit, shape (m, n).

        Returns
        -------
        array of shape (m,) or (m, n_classes)
            Two classes: f, positive for ``classes_[1]``. More: a column per class, the largest of which wins; f of each
            class against the rest, or with one-vs-one the coupled probabilities.
        """
        check_is_fitted(self)
        scores = self._decide(self._raw_scores(X))
        return scores[:, 0] if len(self.classes_) == 2 else scores

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
        return self.classes_[self._winner(self._decide(self._raw_scores(X)))]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
