"""The default estimator."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._threads import fit_within_n_jobs, tiles, within_n_jobs
from .._validation import Described, Options, TrainingSet, check_training_set, check_X, warn_user
from ..estimators import SVM
from ..estimators._scoring import LabeledScoreMixin
from ..estimators._shares import compare_shares, impose_shares
from ..estimators.parameters import (
    NONE,
    BalanceType,
    RunParameters,
    balance_parameter,
    max_time_parameter,
    parameter,
    random_state_parameter,
)
from ..estimators.progress import CallbackSupportMixin, with_callbacks
from ..multiclass import winners
from ..solvers import StoppingRule
from .fitting import weighted_models
from .hedging import SAFETIES
from .prediction import average_scores, supervised_scores
from .report import Report
from .training import Ensemble, dense_if_filled, train

BLOCK = 4096  # new samples whose scores are computed at a time


class SemiSVM(CallbackSupportMixin, RunParameters, LabeledScoreMixin, BaseEstimator):
    r"""The estimator that chooses for you: an average of semi-supervised SVMs, blended with a supervised one.

    No single method is safe with a handful of labels. Fourteen separators (``CCCPTSVM``, ``ContinuationTSVM`` and
    ``GradientTSVM`` at robust costs, in five spaces: linear, three Gaussian kernels, a graph of nearest neighbours) are
    fitted to folds of the labeled samples. Their scores are averaged with weights that fall with their held-out
    error and with how much they differ from fold to fold (:mod:`semisvm.ensemble.weighting`). Beside the average stands
    a supervised SVM. The model is a blend of the two: the more held-out samples, the agreement of the separators and
    their margins speak for the average, the larger is its weight (:mod:`semisvm.ensemble.hedging`); ``report_`` says
    how large it is.

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes.
    transduction_ : array of shape (n_samples,)
        A label for every sample: the given one, or that of the model.
    training_scores_ : array of shape (n_samples,) or (n_samples, n_classes)
        ``decision_function`` at the samples of ``fit``.
    label_distributions_ : array of shape (n_samples, n_classes)
        ``predict_proba`` at the samples of ``fit``.
    report_ : Report
        What was tried, what the unlabeled samples brought and how sure that is; ``print(model.report_)``.
    average_weight_ : float
        The weight of the average of the separators in the model, between 0 and 1; at 0 it is ``supervised_``.
    supervised_ : SVM
        The supervised model of the labeled samples.
    share_ : ClassShares
        Shares of the classes among the unlabeled samples, by weight: ``asked`` for, which the separators keep in the
        mean of f, and ``reached`` by ``transduction_``.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    CCCPTSVM, GradientTSVM, ContinuationTSVM : The methods that are averaged.

    Notes
    -----
    Of more than 3,000 samples the separators see the labeled ones and a random part of the others; all get a label.

    Examples
    --------
    >>> from semisvm import SemiSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(300, random_state=0)
    >>> model = SemiSVM(random_state=0).fit(X, hide_labels(y, 30, random_state=0))
    >>> model.average_weight_
    1.0
    """

    safety: str = parameter(
        "safe",
        Options(list(SAFETIES)),
        doc='How soon the average gets weight: "safe" where enough speaks for it, "bold" where a little does, "none" '
        "all of it always. The less safe, the more often a loss.",
    )
    balance: BalanceType = balance_parameter(
        'The share of ``classes_[1]`` among the unlabeled samples: "auto" is an estimate (see '
        ':mod:`semisvm.model_selection.shares`), "labeled" the share of the labeled ones; or a number, or a mapping '
        "from class to share. A share that is given is that of ``transduction_``, by a threshold on the scores."
    )
    max_time: float | None = max_time_parameter()
    n_jobs: int | None = parameter(
        None,
        Described("int"),
        NONE,
        doc="Largest number of threads, as in joblib, over the fits and inside of each; None is all cores.",
    )
    random_state: Any = random_state_parameter("For the folds, and for the part of many samples that is used.")

    _doc_link_module: ClassVar[str] = "semisvm"

    @with_callbacks
    @fit_within_n_jobs
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SemiSVM:
        """Fit to samples some of which have a label.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Labels; None, NaN and the value of ``unlabeled`` mark samples without one.
        sample_weight : array-like of shape (n_samples,), optional
            Factors on the costs of the samples.

        Returns
        -------
        self
        """
        self._check_parameters()
        if self.balance is None:
            raise ValueError("balance=None is not allowed; SemiSVM takes 'auto', 'labeled', a share or a mapping.")
        data = check_training_set(self, X, y, sample_weight, precomputed=False)
        self.classes_ = data.labels.classes
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        stop = StoppingRule(max_time=self.max_time)
        n_jobs = -1 if self.n_jobs is None else self.n_jobs
        ensemble = train(self, data, rng, stop, n_jobs)
        self.supervised_: SVM = ensemble.supervised.model
        self.report_: Report = ensemble.report
        self.average_weight_: float = self.report_.average_weight
        used = ensemble.fitted if self.average_weight_ > 0.0 else []
        self._models_ = weighted_models(used, ensemble.separator_weights)
        self._supervised_part_ = ensemble.supervised
        if stop.status in ("max_time", "interrupted"):
            reason = f"max_time={self.max_time} reached" if stop.status == "max_time" else "the fit was interrupted"
            warn_user(
                f"SemiSVM: {reason}, {len(ensemble.fitted)} separators were finished; the model is usable.",
                ConvergenceWarning,
            )
        self._slope_ = ensemble.fit_slope()
        self._fill_labels(data, ensemble)
        return self

    def _fill_labels(self, data: TrainingSet, ensemble: Ensemble) -> None:
        """``training_scores_``, ``transduction_`` and ``share_``."""
        codes = data.labels.codes.copy()
        rest = np.flatnonzero(codes < 0)
        every = self._all_scores(data, ensemble)
        asked = ensemble.asked
        self.training_scores_ = every[:, 0] if every.shape[1] == 1 else every
        if len(rest):
            scores = every[rest]
            codes[rest] = winners(scores)
            if not isinstance(self.balance, str):
                counted = data.weights[rest] > 0
                part = rest[counted]
                codes[part] = impose_shares(codes[part], scores[counted], data.weights[part], asked, 0.0)
        self.transduction_ = data.labels_of(codes)
        self.share_ = compare_shares(asked, codes[data.kept[data.labels.codes[data.kept] < 0]], data)

    def _all_scores(self, data: TrainingSet, ensemble: Ensemble) -> np.ndarray:
        """Scores of all samples; those that the separators were fitted to are known."""
        if self.average_weight_ == 0.0:
            return self._scores(data.X)
        known = ensemble.scores(supervised_scores(self.supervised_, data.X[ensemble.part]))
        scores = np.empty((data.X.shape[0], known.shape[1]))
        others = np.setdiff1d(np.arange(len(scores)), ensemble.part, assume_unique=True)
        scores[ensemble.part] = known
        if len(others):
            scores[others] = self._scores(data.X[others])
        return scores

    def _scores(self, X: Any) -> np.ndarray:
        """Scores of checked samples: a column for two classes, else one per class."""
        a = self.average_weight_
        if a == 0.0:
            return supervised_scores(self.supervised_, X)
        blocks = (dense_if_filled(X[part]) for part in tiles(X.shape[0], BLOCK))
        average = np.concatenate([average_scores(self._models_, block) for block in blocks])
        if a == 1.0:
            return average
        return self._supervised_part_.blend(a, average, supervised_scores(self.supervised_, X))

    @within_n_jobs
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of new samples.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            New samples.

        Returns
        -------
        array of shape (m,) or (m, n_classes)
            Two classes: positive for ``classes_[1]``. More: a column per class, the largest of which wins.
        """
        check_is_fitted(self)
        scores = self._scores(check_X(self, X, reset=False, precomputed=False))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @within_n_jobs
    def predict(self, X: Any) -> np.ndarray:
        """The class of new samples.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            New samples.

        Returns
        -------
        array of shape (m,)
        """
        check_is_fitted(self)
        return self.classes_[winners(self._scores(check_X(self, X, reset=False, precomputed=False)))]

    @within_n_jobs
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, from a sigmoid (two classes) or softmax of the scores.

        Its slope is fitted to the scores of labeled samples that were held out.

        Parameters
        ----------
        X : array, DataFrame or CSR of shape (m, n_features)
            New samples.

        Returns
        -------
        array of shape (m, n_classes)
            Rows sum to one.
        """
        check_is_fitted(self)
        return self._probabilities(self._scores(check_X(self, X, reset=False, precomputed=False)))

    @property
    def label_distributions_(self) -> np.ndarray:
        """``predict_proba`` at the samples of ``fit``, computed when it is asked for."""
        check_is_fitted(self)
        return self._probabilities(self.training_scores_.reshape(len(self.training_scores_), -1))

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of the classes; the slope of a supervised model of two classes is its own."""
        is_supervised = self.average_weight_ == 0.0 and len(self.classes_) == 2
        scaled = (self.supervised_._slope_.compute() if is_supervised else self._slope_) * scores
        if scaled.shape[1] > 1:
            return softmax(scaled, axis=1)
        positive = expit(scaled[:, 0])
        return np.column_stack([1.0 - positive, positive])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
