"""The only fit pipeline: labels to codes, samples to a space, binary problems, a solver, attributes.

Order of calls in ``fit``: check the parameters (``_settings``; a subclass names losses and solver in ``_formulation``);
check labels, samples and weights; resolve what is left to the data and build the space, once (``prepare``); state a
binary problem per class or pair and solve all (``BinaryProblems.solve``); copy the solutions into attributes.
Estimators hold no mathematics.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._threads import fit_within_n_jobs, within_n_jobs
from .._validation import KeptSamples, TrainingSet, check_training_set, check_X
from ..multiclass import couple, merge_ties, merge_zeros, n_binary_tasks, winners
from ..solution import Solution
from ..spaces import Kernel, kernels
from ..spaces.prediction import kernel_scores, linear_scores
from ._attributes import (
    copy_solutions,
    print_memory,
    warn_if_far_from_origin,
    warn_if_indefinite,
    warn_if_unfinished,
)
from ._calibration import CalibrationSet, LazySlope, calibrate
from ._scoring import LabeledScoreMixin
from ._spaces import Approximation
from .parameters import (
    ApproximationParameters,
    CostParameters,
    InterceptParameters,
    KernelParameters,
    MulticlassParameters,
    RunParameters,
)
from .problems import BinaryProblems, Formulation, ProblemSettings, UnlabeledSettings, prepare
from .progress import CallbackSupportMixin, Progress, with_callbacks


class BaseSVM(
    CallbackSupportMixin,
    RunParameters,
    MulticlassParameters,
    KernelParameters,
    CostParameters,
    LabeledScoreMixin,
    BaseEstimator,
    ABC,
):
    """What all estimators share; subclasses declare their parameters and name their ``_formulation``."""

    _doc_link_module: ClassVar[str] = "semisvm"
    _auto_C: ClassVar[float] = 10.0  # the value behind C="auto", for features of total variance one

    # ---------------------------------------------------------------- parameters

    @abstractmethod
    def _formulation(self) -> Formulation:
        """Losses and solver, from the parameters."""

    def _unlabeled_settings(self) -> UnlabeledSettings | None:
        """Cost and balance of unlabeled samples; None for a supervised estimator."""
        return None

    def _robust_C(self, n_labeled: float) -> float:
        """The value behind C="auto", for features of total variance one and so many labels."""
        return self._auto_C

    @property
    def _intercept(self) -> bool | str:
        return self.fit_intercept if isinstance(self, InterceptParameters) else True

    def _approximation(self) -> Approximation:
        if not isinstance(self, ApproximationParameters):
            return Approximation()
        return Approximation(self.approximation, self.n_components, self.landmarks, self.random_state)

    def _settings(self) -> ProblemSettings:
        """Check all parameters and say what they mean for the binary problems."""
        self._check_parameters()
        if not isinstance(self.kernel, str) and not callable(self.kernel):
            raise ValueError(f"kernel={self.kernel!r} is not allowed; kernel takes a name or a function of two arrays.")
        kernel = Kernel(self.kernel, 1.0, self.coef0, self.degree, self.sigma)
        kernels.check(kernel, free_intercept=self._intercept is True)
        return ProblemSettings(
            type(self).__name__,
            self._formulation(),
            kernel,
            self.gamma,
            self.C,
            self._robust_C,
            self._approximation(),
            self._intercept,
            self._unlabeled_settings(),
            self.multiclass,
            self.n_jobs,
            vars(self).get("random_state"),
            self.cache,
        )

    # ---------------------------------------------------------------- fit

    @with_callbacks
    @fit_within_n_jobs
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BaseSVM:
        """Fit to samples some of which have a label.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (n_samples, n_features)
            The samples; with ``kernel="precomputed"`` the square matrix of kernel values.
        y : array-like of shape (n_samples,)
            Labels; None, NaN and the value of ``unlabeled`` mark samples without one.
        sample_weight : array-like of shape (n_samples,), optional
            Factors on the costs of the samples.

        Returns
        -------
        self
        """
        data, problems = self._prepare(X, y, sample_weight)
        part = data.take(data.kept)
        warn_if_far_from_origin(self, problems.space, part)
        codes, weights = data.labels.codes[data.kept], data.weights[data.kept]
        self._fit_problems(data, problems, CalibrationSet(KeptSamples(part, X), codes, weights))
        warn_if_indefinite(self, problems.space, problems.kernel, part, self._intercept is True)
        return self

    def _fit_problems(self, data: TrainingSet, problems: BinaryProblems, calibration: CalibrationSet) -> None:
        """Solve the binary problems of a training set and set the attributes.

        ``calibration`` holds the samples by which probabilities are calibrated: all, or a part where the samples are
        not in memory.
        """
        settings, self.classes_ = problems.settings, data.labels.classes
        codes, weights = data.labels.codes[data.kept], data.weights[data.kept]
        self.__dict__.pop("_thresholds_", None)
        self._kernel_, self.gamma_, self.C_ = problems.kernel, problems.kernel.gamma, problems.C
        if self.verbose:
            print_memory(problems.space)
        with Progress(self, n_binary_tasks(self.multiclass, len(self.classes_))) as progress:
            solutions = problems.solve(codes, weights, progress)
        copy_solutions(self, solutions, problems.space, data)
        warn_if_unfinished(self, solutions)
        self._copy_details(solutions)
        resolved = replace(settings, C=self.C_, gamma=self.gamma_)
        if self.multiclass == "ovo" and len(self.classes_) > 2 and self.coupling != "pwc1":
            at_hand = (problems, solutions) if len(calibration.codes) == len(codes) else (None, None)
            slope = calibrate(resolved, self.classes_, calibration, *at_hand)
            self._slope_ = LazySlope(lambda: slope)  # the coupled decision needs it at once
        else:
            self._slope_ = LazySlope(partial(calibrate, resolved, self.classes_, calibration))
        self.training_scores_ = self._training_scores(solutions, data)
        self._fill_labels(solutions, data, problems)
        self._keep_training_set(data)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[TrainingSet, BinaryProblems]:
        """Check what a fit is given and state the binary problems of the samples that are part of it.

        Fits and the criteria of model selection begin here.
        """
        settings = self._settings()
        labeled_only = settings.unlabeled is None
        data = check_training_set(self, X, y, sample_weight, self.kernel == "precomputed", labeled_only)
        codes, weights = data.labels.codes[data.kept], data.weights[data.kept]
        return data, prepare(settings, data.labels.classes, data.take(data.kept), codes, weights)

    def _training_scores(self, solutions: list[Solution], data: TrainingSet) -> np.ndarray:
        """What ``decision_function`` is at the samples of the fit; NaN at those that have no part in it."""
        found = self._couple(np.column_stack([solution.scores for solution in solutions]))
        scores = np.full((len(data.weights), found.shape[1]), np.nan)
        scores[data.kept] = found
        return scores[:, 0] if found.shape[1] == 1 else scores

    def _keep_training_set(self, data: TrainingSet) -> None:
        """Keep what ``supervised_`` will be fitted to, where a class has it."""

    def _copy_details(self, solutions: list[Solution]) -> None:
        """Set attributes that only some classes have."""

    def _fill_labels(self, solutions: list[Solution], data: TrainingSet, problems: BinaryProblems) -> None:
        """``transduction_``: given labels, then those that the method found, then predictions."""
        codes = data.labels.codes.copy()
        codes[data.kept] = self._found_codes(solutions, data, problems)
        if len(data.kept) < len(codes):
            outside = np.setdiff1d(np.arange(len(codes)), data.kept, assume_unique=True)
            codes[outside] = winners(self._couple(self._scores(data.X[outside])))
        self.transduction_ = data.labels_of(codes)

    def _found_codes(self, solutions: list[Solution], data: TrainingSet, problems: BinaryProblems) -> np.ndarray:
        """Positions of the classes that the method found for the samples of the fit."""
        if len(solutions) == 1:
            return (solutions[0].labels > 0).astype(int)
        return winners(self._couple(np.column_stack([s.scores for s in solutions])))

    # ---------------------------------------------------------------- new samples

    def _scores(self, X: Any) -> np.ndarray:
        """f of every binary problem at new samples that are checked already."""
        if hasattr(self, "coef_"):
            return linear_scores(X, self.coef_, self.intercept_)
        if self.kernel == "precomputed":
            return kernel_scores(self._kernel_, X[:, self.support_], None, self.dual_coef_, self.intercept_)
        return kernel_scores(self._kernel_, X, self.support_vectors_, self.dual_coef_, self.intercept_)

    def _checked_scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._scores(check_X(self, X, reset=False, precomputed=self.kernel == "precomputed"))

    def _couple(self, scores: np.ndarray) -> np.ndarray:
        """From a column per binary problem to a column per class; the single column of two classes stays.

        Scores that differ by rounding error are equal from here on.
        """
        k = len(self.classes_)
        if k > 2 and self.multiclass == "ovr":
            return merge_ties(scores, self._score_size_)
        scores = merge_zeros(scores, self._score_size_)
        if k == 2:
            return scores
        slope = self._slope_.compute() if self.coupling != "pwc1" else 1.0
        return merge_ties(couple(expit(slope * scores), k, self.coupling), 1.0)

    @within_n_jobs
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of new samples.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            New samples; with a precomputed kernel their kernel values with all samples of fit, shape (m, n_samples).

        Returns
        -------
        array of shape (m,) or (m, n_classes)
            Two classes: f, positive for ``classes_[1]``. More: a column per class, the largest of which wins; f of each
            class against the rest, or with one-vs-one the coupled probabilities.
        """
        scores = self._couple(self._checked_scores(X))
        return scores[:, 0] if len(self.classes_) == 2 else scores

    @within_n_jobs
    def predict(self, X: Any) -> np.ndarray:
        """The class of new samples.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            New samples, as in ``decision_function``.

        Returns
        -------
        array of shape (m,)
        """
        scores = self._checked_scores(X)  # before classes_ is read: refuses an unfitted estimator
        return self.classes_[winners(self._couple(scores))]

    @within_n_jobs
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes; the most probable one is the predicted one.

        Binary: 1/(1 + exp(-slope f)). One-vs-rest: a softmax of slope f_k. One-vs-one: the coupled pairwise
        probabilities. The slope is fitted to scores of labeled samples by models without them: fold by fold at first
        use (or when the estimator is saved); with one-vs-one, whose decision needs it, in ``fit``, and of an SVM from
        its solution, leaving out one sample after the other (``semisvm.solvers.dual.leave_one_out``).

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            New samples, as in ``decision_function``.

        Returns
        -------
        array of shape (m, n_classes)
            Rows sum to one.
        """
        scores = self._couple(self._checked_scores(X))
        if len(self.classes_) == 2:
            positive = expit(self._slope_.compute() * scores[:, 0])
            return np.column_stack([1.0 - positive, positive])
        return softmax(self._slope_.compute() * scores, axis=1) if self.multiclass == "ovr" else scores

    def __getattr__(self, name: str) -> Any:
        if name in ("transduction_", "training_scores_") and "_thresholds_" in self.__dict__:
            raise AttributeError(
                f"{name} was not kept by a fit out of core; semisvm.parallel has transduce(model, X) and "
                "decision_function(model, X), which compute labels and scores block by block."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def settings_of(estimator: BaseSVM) -> ProblemSettings:
    """What the parameters of an estimator say about its binary problems, for methods that are built on it."""
    return estimator._settings()


def fit_problems(
    estimator: BaseSVM, data: TrainingSet, problems: BinaryProblems, calibration: CalibrationSet
) -> BaseSVM:
    """Fit an estimator to problems that were stated elsewhere, in a space of samples that are not in memory."""
    with_callbacks(fit_within_n_jobs(type(estimator)._fit_problems))(estimator, data, problems, calibration)
    return estimator


def was_interrupted(estimator: BaseSVM) -> bool:
    """Whether Ctrl-C ended the last fit of an estimator."""
    return estimator._interrupted_
