"""What self-training and Help-Training share: the fit around another classifier, and what is kept of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from .._threads import fit_within_n_jobs
from .._validation import (
    Described,
    Integer,
    Options,
    TrainingSet,
    check_classifier,
    check_training_set,
    copy_if_shared,
    is_routing_enabled,
    route_fit_metadata,
)
from ..estimators import LSSVM
from ..estimators._calibration import LazySlope
from ..estimators._scoring import LabeledScoreMixin
from ..estimators._shares import asked_shares
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
from .attributes import copy_labelings, fill_labels, warn_of_ends
from .calibration import held_out_slope
from .learners import BaseLearner, IncrementalLearner, RefittedLearner, fit_to_codes
from .metadata import FitMetadata
from .prediction import PredictionMixin, is_pairwise
from .rounds import Labeling
from .selection import Selector
from .tasks import LabelingTask, label_task, labeling_tasks, run_tasks


class BaseSelfTraining(
    CallbackSupportMixin, RunParameters, BalanceParameters, PredictionMixin, LabeledScoreMixin, BaseEstimator
):
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
        if self.estimator is not None:
            return self.estimator
        default = LSSVM(C=10.0, gamma="median")
        return default.set_fit_request(sample_weight=True) if is_routing_enabled() else default

    def _routed_estimators(self) -> dict[str, Any]:
        """What is fitted in the rounds, by its name in the router."""
        return {"estimator": self._base_estimator()}

    @property
    def _max_rounds(self) -> float:
        return np.inf if self.max_iter is None else self.max_iter

    @property
    @abstractmethod
    def _threshold(self) -> float:
        """Confidence that a sample needs to get a label, in the first round."""

    @abstractmethod
    def _selector(self, learner: BaseLearner, task: LabelingTask) -> Selector:
        """Which samples are candidates, and which are confident enough."""

    def _n_candidates(self, data: TrainingSet) -> np.ndarray | None:
        """Candidates of each class in a round, where a method has them."""
        return None

    # ---------------------------------------------------------------- fit

    @with_callbacks
    @fit_within_n_jobs
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> BaseSelfTraining:
        """Fit to samples some of which have a label.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (n_samples, n_features)
            The samples; kernel values of all samples if the estimator takes a precomputed kernel.
        y : array-like of shape (n_samples,)
            Labels; None, NaN and the value of ``unlabeled`` mark samples without one.
        sample_weight : array-like of shape (n_samples,), optional
            Factors on the costs of the samples; those of weight 0 are left out. Where scikit-learn's metadata routing
            is enabled, the classifier gets them if it asks for them (``set_fit_request(sample_weight=True)``).
        **fit_params : object
            Other metadata for the ``fit`` of the classifier, where metadata routing is enabled.

        Returns
        -------
        self
        """
        estimator = self._base_estimator()
        self._check(estimator)
        data = check_training_set(self, X, y, sample_weight, precomputed=is_pairwise(estimator))
        self.classes_ = data.labels.classes
        routed = self._route(data, sample_weight is not None, fit_params)
        learner = BaseLearner(estimator, data, routed)
        asked = asked_shares(self.balance, data)
        labelings, models = self._run(learner, self._tasks(data, asked))
        copy_labelings(self, labelings, models)
        warn_of_ends(self, labelings)
        fill_labels(self, data, asked)
        self._keep_training_set(learner, X, data)
        return self

    def _check(self, estimator: Any) -> None:
        self._check_parameters()
        check_classifier(estimator)
        needed = "predict_proba" if self._use_probability else "decision_function"
        if not hasattr(estimator, needed):
            raise ValueError(
                f"estimator={estimator!r} has no {needed}; use one that has, such as SVM() or LSSVM()"
                + ("." if self._use_probability else ", or SelfTraining with confidence='probability'.")
            )

    def _route(
        self, data: TrainingSet, is_weighted: bool, fit_params: Mapping[str, Any]
    ) -> dict[str, FitMetadata] | None:
        """Metadata of what is fitted in the rounds, by its request; None without metadata routing."""
        weights = data.weights if is_weighted else None
        routed = route_fit_metadata(self, weights, fit_params, list(self._routed_estimators()))
        if routed is None:
            return None
        return {name: FitMetadata.routed(params, data.weights) for name, params in routed.items()}

    def _tasks(self, data: TrainingSet, asked: np.ndarray | None) -> list[LabelingTask]:
        """What is labeled, with shares of the classes that are asked for; ``data`` may be those of a fold."""
        return labeling_tasks(data, self._n_candidates(data), asked, self.multiclass)

    def _run(self, learner: BaseLearner, tasks: list[LabelingTask]) -> tuple[list[Labeling], list[Any]]:
        """The rounds of every task, in threads if there are several and the kernel matrix can be shared by them."""

        def label(task: LabelingTask, stop: StoppingRule) -> tuple[Labeling, Any]:
            labeling, model = Labeling.of_given(task.codes), None
            if task.n_unlabeled:
                labeling, trained = self._label(learner, task, stop)
                model = trained.fitted if isinstance(trained, RefittedLearner) else None
            if model is None:
                model = fit_to_codes(learner.estimator, learner.X, learner.metadata, task.classes, labeling.codes)
            return labeling, model

        n_jobs = self.n_jobs
        if learner.problems is not None and not learner.problems.space.gram().fits_memory:
            n_jobs = 1  # the row cache has one user at a time
        with Progress(self, len(tasks)) as progress:
            whole_fit = StoppingRule(self._max_rounds, self.max_time)
            found = run_tasks(label, tasks, whole_fit, progress, n_jobs)
        return [labeling for labeling, _ in found], [model for _, model in found]

    def _label(
        self, learner: BaseLearner, task: LabelingTask, stop: StoppingRule
    ) -> tuple[Labeling, IncrementalLearner | RefittedLearner]:
        """The rounds of one task, and the learner that they end with."""
        return label_task(learner, task, self._selector(learner, task), self._use_probability, stop)

    def _keep_training_set(self, learner: BaseLearner, given: Any, data: TrainingSet) -> None:
        """Keep what ``supervised_`` and the slope of the probabilities will be computed from.

        The estimator of ``supervised_`` is that of the rounds, with their C and gamma.
        """
        labeled = np.flatnonzero(data.labels.is_labeled)
        X = copy_if_shared(data.take(labeled), data.X)
        metadata, codes = learner.metadata.take(labeled), data.labels.codes[labeled]
        self._labeled_ = clone(learner.estimator), labeled, X, metadata, codes
        self.__dict__.pop("_supervised_", None)
        own = data._replace(X=copy_if_shared(data.X, given))
        self._slope_ = LazySlope(partial(held_out_slope, clone(self), own, learner.routed))

    def get_metadata_routing(self) -> MetadataRouter:
        """Who is given which metadata: this estimator, and what it fits in its rounds.

        Returns
        -------
        MetadataRouter
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        for name, estimator in self._routed_estimators().items():
            router.add(**{name: estimator}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._base_estimator())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        return tags
