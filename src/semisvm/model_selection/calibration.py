"""Calibrated probabilities of classifiers that learn from partly labeled samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._threads import fit_within_n_jobs, run_parallel, within_n_jobs
from .._validation import (
    Integer,
    Options,
    check_classifier,
    check_sample_weight,
    check_value,
    drop_zero_weight,
    encode_labels_of,
    warn_user,
)
from .calibrated_models import calibrate, fit_to, held_out_scores
from .calibration_splits import CalibrationSet, make_splits
from .calibrators import METHODS
from .criteria.cv_splits import Splitter
from .scoring import make_labeled_scorer

COPIED = ("n_features_in_", "feature_names_in_", "transduction_")  # attributes of the model of all labels


class LabeledCalibratedClassifierCV(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Probabilities from scores of labeled samples that were held out, with unlabeled samples in every training.

    :class:`sklearn.calibration.CalibratedClassifierCV` for samples some of which have no label. The classifier is
    fitted without the labels of a fold, whose samples are unlabeled ones then, and scores them; a sigmoid or isotonic
    regression turns the scores into probabilities. If all samples have a label, those of the fold are left out.

    Parameters
    ----------
    estimator : classifier
        An estimator of this library, or any classifier that takes partly labeled y and has a ``decision_function`` or
        ``predict_proba``. If all samples have a label, any classifier.
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        Platt's sigmoid of two parameters, or isotonic regression, which needs some hundred labels. More than two
        classes: each against the rest, divided by their sum.
    cv : int, splitter or list of pairs of indices, default=5
        Number of folds of the labeled samples: stratified, equal samples in the same fold, and no more of them than
        the smallest class has different labeled samples. Or a splitter, such as :class:`LabeledShuffleSplit`; a
        sample that it holds out several times counts as one.
    ensemble : bool, default=False
        Whether to average the models of the folds, each with calibrators fitted to its own fold. Otherwise the model
        is fitted to all labels, and its calibrators to the scores of all folds.
    n_jobs : int or None, default=None
        Largest number of threads, as in joblib, over the folds and inside of each; None is one fold at a time.
    unlabeled : object, default=-1
        Marker of samples without a label, which has to be that of the estimator too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes.
    calibrated_classifiers_ : list
        Fitted classifiers with their calibrators (``estimator``, ``calibrators``, ``predict_proba``): one, or one for
        every fold if ``ensemble``.
    transduction_ : array of shape (n_samples,)
        The labels of all samples by the estimator, if it has them; not if ``ensemble``.
    n_features_in_ : int
        Number of features, if the estimator has it.
    feature_names_in_ : array of str
        Names of the features, if the estimator has them.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : The same where all samples have a label.

    Notes
    -----
    Every class needs two different labeled samples or more: one to hold out and one to train on. ``sample_weight`` is
    used by the estimator, if its ``fit`` takes it, and by the calibration; a sample of weight 2 counts like two.

    References
    ----------
    J. C. Platt, "Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods",
    in Advances in Large Margin Classifiers, MIT Press, 1999.

    B. Zadrozny and C. Elkan, "Transforming classifier scores into accurate multiclass probability estimates", KDD 2002.
    https://doi.org/10.1145/775047.775151

    Examples
    --------
    >>> from semisvm import GradientTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> from semisvm.model_selection import LabeledCalibratedClassifierCV
    >>> X, y = make_two_gaussians(300, random_state=0)
    >>> model = LabeledCalibratedClassifierCV(GradientTSVM()).fit(X, hide_labels(y, 60, random_state=0))
    >>> model.predict_proba(X).shape
    (300, 2)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        method: str = "sigmoid",
        cv: Any = 5,
        ensemble: bool = False,
        n_jobs: int | None = None,
        unlabeled: Any = -1,
    ):
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.ensemble = ensemble
        self.n_jobs = n_jobs
        self.unlabeled = unlabeled

    @fit_within_n_jobs
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> LabeledCalibratedClassifierCV:
        """Fit the classifier and its calibrators.

        Parameters
        ----------
        X : array, DataFrame, CSR or what else the estimator takes, of n_samples
            The samples.
        y : array-like of shape (n_samples,)
            Labels; None, NaN and the value of ``unlabeled`` mark samples without one.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.
        **fit_params : object
            For the ``fit`` of the estimator, and where metadata routing is enabled for the ``split`` of ``cv``.

        Returns
        -------
        self
        """
        self._check_parameters()
        data, split_params = self._calibration_set(X, y, sample_weight, fit_params)
        self.classes_ = data.labels.classes
        pairwise = bool(get_tags(self.estimator).input_tags.pairwise)
        final = None if self.ensemble else fit_to(self.estimator, data, data.given.codes, np.arange(data.n_samples))
        splits = make_splits(self.cv, data, y, pairwise, split_params)
        parts = run_parallel(lambda split: held_out_scores(self.estimator, data, split), splits, self.n_jobs)
        if final is None:
            self.calibrated_classifiers_ = [calibrate(self.method, model, data, *held) for model, *held in parts]
        else:
            samples, scores = (np.concatenate(column) for column in list(zip(*parts))[1:])
            self.calibrated_classifiers_ = [calibrate(self.method, final, data, samples, scores)]
        for name in COPIED:
            self.__dict__.pop(name, None)
            first = self.calibrated_classifiers_[0].estimator
            if hasattr(first, name) and not (self.ensemble and name == "transduction_"):
                setattr(self, name, getattr(first, name))
        return self

    def _check_parameters(self) -> None:
        check_value("method", self.method, [Options(METHODS)])
        check_value("cv", self.cv, [Integer(2), Splitter()])
        check_value("ensemble", self.ensemble, [Options([True, False])])
        estimator = self.estimator
        check_classifier(estimator)
        if not hasattr(estimator, "decision_function") and not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"estimator={estimator!r} has neither decision_function nor predict_proba; use one that has, such as "
                "SVM()."
            )

    def _calibration_set(
        self, X: Any, y: Any, sample_weight: Any, fit_params: Mapping[str, Any]
    ) -> tuple[CalibrationSet, Mapping[str, Any]]:
        """What is given to fit, checked, and what the splitter is given besides."""
        (X,) = indexable(X)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        given, weights = encode_labels_of(n, y, self.unlabeled), check_sample_weight(sample_weight, n)
        labels = drop_zero_weight(given, np.flatnonzero(weights > 0), self.unlabeled)
        given_weight = None if sample_weight is None else weights
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=given_weight, **fit_params)
            fit_params, split_params = routed.estimator.fit, routed.splitter.split
        else:
            split_params = {}
            if given_weight is not None and has_fit_parameter(self.estimator, "sample_weight"):
                fit_params = {**fit_params, "sample_weight": given_weight}
            elif given_weight is not None:
                warn_user(
                    f"{type(self.estimator).__name__}.fit takes no sample_weight; the weights are used by the "
                    "calibration alone. Use another estimator, pass the weights of a step of a pipeline by its name "
                    "too (svm__sample_weight), or enable metadata routing."
                )
        return CalibrationSet(X, given, labels, weights, self.unlabeled, fit_params), split_params

    @within_n_jobs
    def predict_proba(self, X: Any) -> np.ndarray:
        """Calibrated probabilities of the classes.

        Parameters
        ----------
        X : array, DataFrame, CSR or what else the estimator takes, of m samples
            New samples.

        Returns
        -------
        array of shape (m, n_classes)
            Rows sum to one.
        """
        check_is_fitted(self)
        return np.mean([model.predict_proba(X) for model in self.calibrated_classifiers_], axis=0)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of new samples, which may be another one than that of the estimator.

        Parameters
        ----------
        X : array, DataFrame, CSR or what else the estimator takes, of m samples
            New samples.

        Returns
        -------
        array of shape (m,)
        """
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of ``predict`` on the labeled samples.

        Parameters
        ----------
        X : array, DataFrame, CSR or what else the estimator takes, of m samples
            Samples.
        y : array-like of shape (m,)
            True labels; samples that are marked as unlabeled are skipped.
        sample_weight : array-like of shape (m,), optional
            Weights of the samples.

        Returns
        -------
        float
        """
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(make_labeled_scorer("accuracy", unlabeled=self.unlabeled)(self, X, y, **weights))

    def get_metadata_routing(self) -> MetadataRouter:
        """Who is given which metadata: this estimator, the inner one, and the splitter.

        Returns
        -------
        MetadataRouter
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        return tags
