"""What self-training and Help-Training share: the fit around another classifier, and what is kept of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._threads import run_parallel, within_n_jobs
from .._validation import (
    Described,
    Integer,
    Options,
    TrainingSet,
    check_training_set,
    check_X,
    copy_if_shared,
    warn_user,
)
from ..estimators import LSSVM
from ..estimators._scoring import LabeledScoreMixin
from ..estimators._shares import asked_shares, compare_shares, impose_shares, warn_if_one_class
from ..estimators.base import BaseSVM
from ..estimators.parameters import (
    NONE,
    BalanceParameters,
    BalanceType,
    RunParameters,
    balance_parameter,
    max_time_parameter,
    parameter,
    positional_parameter,
)
from ..estimators.progress import CallbackSupportMixin, Progress, with_callbacks
from ..solvers import StoppingRule
from .learners import BaseLearner, RefittedLearner, columns_for, fit_to_codes
from .rounds import Labeling, label_in_rounds
from .selection import ClassQuota, Selector

EARLY = {"max_time": "max_time={} reached", "interrupted": "the fit was interrupted"}


class LabelingTask(NamedTuple):
    """What is labeled in one run of rounds."""

    codes: np.ndarray  # given classes of all samples, -1 where there is none
    classes: np.ndarray  # their names
    counts: np.ndarray | None  # candidates of each class, where a method has a number of them
    shares: np.ndarray | None  # of the classes among the unlabeled samples, where a balance is asked for
    n_unlabeled: int  # samples that may get a label


def _base_estimator_has(name: str) -> Callable[[Any], bool]:
    def check(self: BaseSelfTraining) -> bool:
        return hasattr(self._base_estimator(), name) and (name != "predict_proba" or not hasattr(self, "estimators_"))

    return check


class BaseSelfTraining(CallbackSupportMixin, RunParameters, BalanceParameters, LabeledScoreMixin, BaseEstimator, ABC):
    """Rounds of labeling around a classifier; subclasses name their ``_selector``."""

    estimator: Any = positional_parameter(
        Described("classifier"),
        NONE,
        default=None,
        doc="An estimator of this library, or any classifier of scikit-learn with a ``decision_function`` (or a "
        '``predict_proba``, for that confidence). None for ``LSSVM(C=10, gamma="median")``. An estimator of this '
        "library takes what it leaves to the data (C and gamma) from all samples and the given labels, once; a "
        "semi-supervised one is given the samples without a label as such.",
        kw_only=False,
    )
    balance: BalanceType = balance_parameter(
        "Share of each class among the unlabeled samples, as in :class:`SwitchingTSVM`. Scores are then shifted so "
        "that the samples not yet labeled divide as the shares ask, and no class gets more samples than its share.",
        default=None,
    )
    multiclass: str = parameter(
        "joint",
        Options(["joint", "ovr"]),
        doc="More than two classes: a sample is labeled once for all classes, or rounds of their own for every class "
        "against the rest.",
    )
    max_iter: int | None = parameter(None, Integer(1), NONE, doc="Largest number of rounds; None for any number.")
    max_time: float | None = max_time_parameter(doc="after which no round begins")
    n_jobs: int | None = parameter(
        None,
        Described("int"),
        NONE,
        doc='Largest number of threads, as in joblib: over the classes with ``multiclass="ovr"``, and inside of '
        "each. None labels for one class at a time, with all cores.",
    )

    _doc_link_module = "semisvm"

    def _base_estimator(self) -> Any:
        return LSSVM(C=10.0, gamma="median") if self.estimator is None else self.estimator

    @property
    def _use_probability(self) -> bool:
        return False

    @abstractmethod
    def _selector(self, learner: BaseLearner, task: LabelingTask) -> Selector:
        """Which samples are candidates, and which are confident enough."""

    def _n_candidates(self, k: int, n_unlabeled: int) -> np.ndarray | None:
        """Candidates of each class, where a method has them."""
        return None

    # ---------------------------------------------------------------- fit

    @with_callbacks
    @within_n_jobs
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BaseSelfTraining:
        """Fit to samples some of which have a label.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (n_samples, n_features)
            The samples; kernel values of all samples if the estimator takes a precomputed kernel.
        y : array-like of shape (n_samples,)
            Labels; None, NaN and the value of ``unlabeled`` mark samples without one.
        sample_weight : array-like of shape (n_samples,), optional
            Factors on the costs of the samples.

        Returns
        -------
        self
        """
        estimator = self._base_estimator()
        self._check(estimator)
        data = check_training_set(self, X, y, sample_weight, precomputed=_is_pairwise(estimator))
        self.classes_ = data.labels.classes
        labelings, models = self._run(BaseLearner(estimator, data), self._tasks(data))
        self._copy(labelings, models)
        self._warn(labelings)
        self._fill_labels(data)
        self._keep_training_set(estimator, data)
        return self

    def _check(self, estimator: Any) -> None:
        self._check_parameters()
        if isinstance(estimator, type) or not hasattr(estimator, "fit") or not is_classifier(estimator):
            raise ValueError(f"estimator={estimator!r} is not allowed; estimator takes a classifier, as SVM().")
        needed = "predict_proba" if self._use_probability else "decision_function"
        if not hasattr(estimator, needed):
            raise ValueError(
                f"estimator={estimator!r} has no {needed}; use one that has, such as SVM() or LSSVM()"
                + ("." if self._use_probability else ", or SelfTraining with confidence='probability'.")
            )
        last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        if getattr(last, "decision_function_shape", None) == "ovo":
            raise ValueError(
                f"estimator={estimator!r} has a decision_function with a column per pair of classes; use "
                "decision_function_shape='ovr'."
            )

    def _tasks(self, data: TrainingSet) -> list[LabelingTask]:
        """One task for all classes, or one for every class against the rest."""
        k, codes, weights = len(self.classes_), data.labels.codes, data.weights
        n_unlabeled = int(((weights > 0) & (codes < 0)).sum())
        counts, shares = self._n_candidates(k, n_unlabeled), asked_shares(self.balance, data)
        if k == 2 or self.multiclass == "joint":
            return [LabelingTask(codes, self.classes_, counts, shares, n_unlabeled)]
        return [
            LabelingTask(
                np.where(codes < 0, -1, (codes == c).astype(int)),
                np.array([0, 1]),
                None if counts is None else np.array([counts.sum() - counts[c], counts[c]]),
                None if shares is None else np.array([1.0 - shares[c], shares[c]]),
                n_unlabeled,
            )
            for c in range(k)
        ]

    def _run(self, learner: BaseLearner, tasks: list[LabelingTask]) -> tuple[list[Labeling], list[Any]]:
        """The rounds of every task, in threads if there are several and the kernel matrix can be shared by them."""
        whole_fit = StoppingRule(max_time=self.max_time)
        interrupted: list[int] = []

        def run(number: int) -> tuple[Labeling, Any]:
            with progress.task(number) as step:

                def callback(row: dict[str, Any]) -> bool:
                    return bool(interrupted) or (step is not None and bool(step(row)))

                max_iter = 0 if interrupted else np.inf if self.max_iter is None else self.max_iter
                stop = StoppingRule(max_iter, callback=callback, parent=whole_fit)
                labeling, model = self._label(learner, tasks[number], stop)
                if labeling.status == "interrupted" or (interrupted and labeling.status in ("stopped", "max_iter")):
                    labeling.status = "interrupted"
                    interrupted.append(number)
                return labeling, model

        n_jobs = self.n_jobs
        if learner.problems is not None and not learner.problems.space.gram().fits_memory:
            n_jobs = 1  # the row cache has one user at a time
        with Progress(self, len(tasks)) as progress:
            found = run_parallel(run, range(len(tasks)), n_jobs)
        return [labeling for labeling, _ in found], [model for _, model in found]

    def _label(self, learner: BaseLearner, task: LabelingTask, stop: StoppingRule) -> tuple[Labeling, Any]:
        """The rounds of one task, and the model of all samples that have a label then."""
        trained = learner.new_learner(task.classes, self._use_probability)
        labeling = Labeling.of_given(task.codes)
        if task.n_unlabeled:
            quota = None if task.shares is None else ClassQuota(task.shares, task.n_unlabeled)
            selector = self._selector(learner, task)
            labeling = label_in_rounds(trained, selector, task.codes, learner.weights > 0, quota, stop)
        model = trained.fitted if isinstance(trained, RefittedLearner) else None
        if model is None:
            model = fit_to_codes(learner.estimator, learner.X, learner.weights, task.classes, labeling.codes)
        return labeling, model

    # ---------------------------------------------------------------- what is kept

    def _copy(self, labelings: list[Labeling], models: list[Any]) -> None:
        for name in ("estimator_", "estimators_"):
            self.__dict__.pop(name, None)
        self._columns_ = [labeling.codes for labeling in labelings]
        if len(labelings) > 1:
            self.estimators_ = models
            self.labeled_iter_ = np.column_stack([labeling.iteration for labeling in labelings])
            self.confidence_ = np.column_stack([labeling.confidence for labeling in labelings])
            self.n_iter_: Any = np.array([len(labeling.trace) + 1 for labeling in labelings])
            self.trace_: list[Any] = [labeling.trace for labeling in labelings]
            self.termination_condition_: Any = [labeling.status for labeling in labelings]
            return
        one = labelings[0]
        self.estimator_ = models[0]
        self.labeled_iter_, self.confidence_ = one.iteration, one.confidence
        self.n_iter_, self.trace_, self.termination_condition_ = len(one.trace) + 1, one.trace, one.status

    def _warn(self, labelings: list[Labeling]) -> None:
        """Warn of an early end, and of rounds without a label."""
        early = [labeling for labeling in labelings if labeling.status in EARLY]
        if early:
            reason = EARLY[early[0].status].format(self.max_time)
            n_left = max(int((labeling.codes < 0).sum()) for labeling in early)
            warn_user(
                f"{type(self).__name__}: {reason}, {n_left} samples had no label yet; the model of the others is "
                f"usable.",
                ConvergenceWarning,
            )
        if all(labeling.status == "no_change" and not labeling.trace for labeling in labelings):
            threshold = self.get_params(deep=False).get("threshold", np.nan)
            warn_user(
                f"{type(self).__name__}: no unlabeled sample was above threshold={threshold:g}, so this is the "
                "supervised model. Lower threshold, or pass threshold_decay."
            )

    def _fill_labels(self, data: TrainingSet) -> None:
        """``transduction_``: given labels, then those of the rounds, then predictions."""
        codes = data.labels.codes.copy() if hasattr(self, "estimators_") else self._columns_[0].copy()
        rest = np.flatnonzero(codes < 0)
        asked = asked_shares(self.balance, data)
        if len(rest):
            codes[rest] = self._winner(data.X[rest])
            if asked is not None and not isinstance(self.balance, str):
                self._keep_given_shares(codes, rest[data.weights[rest] > 0], asked, data)
        self.transduction_ = data.labels_of(codes)
        found = codes[data.kept[data.labels.codes[data.kept] < 0]]
        self.share_ = compare_shares(asked, found, data)
        warn_if_one_class(self, asked, found, self.classes_)

    def _keep_given_shares(self, codes: np.ndarray, rest: np.ndarray, asked: np.ndarray, data: TrainingSet) -> None:
        """Change the classes of the samples that the rounds left, until the unlabeled ones have the shares given."""
        if not len(rest):
            return
        unlabeled = data.labels.codes < 0
        in_rounds = np.setdiff1d(np.flatnonzero(unlabeled), rest)
        taken = np.bincount(codes[in_rounds], data.weights[in_rounds], minlength=len(asked))
        missing = np.maximum(asked * data.weights[unlabeled].sum() - taken, 0.0)
        scores = self._scores(data.X[rest]).reshape(len(rest), -1)
        codes[rest] = impose_shares(codes[rest], scores, data.weights[rest], missing / missing.sum(), 0.0)

    def _keep_training_set(self, estimator: Any, data: TrainingSet) -> None:
        labeled = np.flatnonzero(data.labels.is_labeled)
        X = copy_if_shared(data.take(labeled), data.X)
        self._labeled_ = clone(estimator), labeled, X, data.weights[labeled], data.labels.codes[labeled]
        self.__dict__.pop("_supervised_", None)

    @property
    def supervised_(self) -> Any:
        """The estimator fitted to the labeled samples alone, at first use."""
        check_is_fitted(self)
        if "_supervised_" not in self.__dict__:
            estimator, labeled, X, weights, codes = self._labeled_
            counterpart = fit_to_codes(estimator, X, weights, self.classes_, codes)
            if isinstance(counterpart, BaseSVM):  # its samples and features are those of the whole X
                if hasattr(counterpart, "support_"):
                    counterpart.support_ = labeled[counterpart.support_]
                counterpart.n_features_in_ = self.n_features_in_
            if hasattr(self, "feature_names_in_") and not hasattr(type(counterpart), "feature_names_in_"):
                counterpart.feature_names_in_ = self.feature_names_in_
            self._supervised_ = counterpart
        return self._supervised_

    # ---------------------------------------------------------------- new samples

    def _scores(self, X: Any) -> np.ndarray:
        """Decision values, or probabilities of estimators without; one column or k."""
        if not hasattr(self, "estimators_"):
            return np.asarray(self.estimator_.decision_function(columns_for(self.estimator_, X, self._columns_[0])))
        columns = []
        for model, codes in zip(self.estimators_, self._columns_):
            samples = columns_for(model, X, codes)
            use_probability = self._use_probability
            columns.append(model.predict_proba(samples)[:, 1] if use_probability else model.decision_function(samples))
        return np.column_stack(columns)

    def _winner(self, X: Any) -> np.ndarray:
        """Position of the winning class."""
        if not hasattr(self, "estimators_"):
            found = self.estimator_.predict(columns_for(self.estimator_, X, self._columns_[0]))
            return np.searchsorted(self.classes_, found)
        return self._scores(X).argmax(axis=1)

    def _checked_X(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_X(self, X, reset=False, precomputed=_is_pairwise(self._base_estimator()))

    @available_if(_base_estimator_has("decision_function"))
    @within_n_jobs
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of new samples by the final model.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            New samples; with a precomputed kernel their kernel values with all samples of fit, shape (m, n_samples).

        Returns
        -------
        array of shape (m,) or (m, n_classes)
        """
        return self._scores(self._checked_X(X))

    @available_if(_base_estimator_has("predict_proba"))
    @within_n_jobs
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes by the final model; not with ``multiclass="ovr"`` of three classes or more.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            New samples, as in ``decision_function``.

        Returns
        -------
        array of shape (m, n_classes)
        """
        X = self._checked_X(X)
        return self.estimator_.predict_proba(columns_for(self.estimator_, X, self._columns_[0]))

    @within_n_jobs
    def predict(self, X: Any) -> np.ndarray:
        """The class of new samples by the final model.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            New samples, as in ``decision_function``.

        Returns
        -------
        array of shape (m,)
        """
        winner = self._winner(self._checked_X(X))
        return self.classes_[winner]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._base_estimator())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        return tags


def _is_pairwise(estimator: Any) -> bool:
    return bool(get_tags(estimator).input_tags.pairwise)
