"""Self-training: a classifier labels the samples it is confident about and learns from them."""

from __future__ import annotations

from typing import Any

from .._validation import Integer, Options, Real, check_number
from ..estimators.parameters import NONE, parameter, positional_parameter
from .base import BaseSelfTraining
from .learners import BaseLearner
from .selection import ThresholdSelector
from .tasks import LabelingTask

THRESHOLDS = {"decision": 1.0, "probability": 0.75}  # by confidence


class SelfTraining(BaseSelfTraining):
    r"""Self-training: the samples that a classifier is most confident about get its labels, and it learns from them.

    Every round trains the classifier on the samples labeled so far and labels those with a confidence above
    ``threshold``, until there are none. An :class:`LSSVM` is trained incrementally by growing its inverse by a block,
    at :math:`O(m^2 s)` for s samples, and an :class:`SVM` by pair steps from its last point; any other classifier is
    fitted anew. With ``confidence="probability"`` the rounds are those of scikit-learn's ``SelfTrainingClassifier``.

    A wrong label is never taken back, and the model becomes surer of it. That helps where the classes are groups with
    a gap between them and the first model is right about their inner parts, and harms where it is not: with few
    labels, classes that overlap, or least squares, whose scores are large far from all labels. The default threshold
    is cautious: it often labels few samples and stays close to ``supervised_``. A lower one gains more and loses more.
    Compare both on held-out labels (:class:`semisvm.model_selection.LabeledKFold`).

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes.
    estimator_ : classifier
        The model of all samples that have a label in the end (``estimators_``, one per class, with
        ``multiclass="ovr"`` of three classes or more).
    transduction_ : array of shape (n_samples,)
        The given labels, those of the rounds, and the predictions for samples without either.
    labeled_iter_ : int array of shape (n_samples,)
        The round in which a sample got its label: 0 for given ones, -1 for none. A column per class with "ovr", as
        below.
    confidence_ : array of shape (n_samples,)
        Confidence of the label then; NaN for samples with a given one or none.
    termination_condition_ : str
        "all_labeled", "no_change", "max_iter", "max_time", "stopped" (by a callback) or "interrupted".
    n_iter_ : int
        Trainings, the first included.
    trace_ : list of dict
        A row per round: samples labeled and left, threshold, mean confidence; with an LSSVM the leave-one-out error of
        the given labels, in closed form.
    share_ : ClassShares
        Shares of the classes among the unlabeled samples, by weight: ``asked`` for (None without a balance) and
        ``reached`` by ``transduction_``, as mappings from class to share.
    supervised_ : classifier
        The estimator fitted to the labeled samples alone, with the C and gamma of the rounds; at first use.

    See Also
    --------
    HelpTraining : A density estimate says which samples are candidates.

    References
    ----------
    D. Yarowsky, "Unsupervised word sense disambiguation rivaling supervised methods", ACL, 1995.
    https://doi.org/10.3115/981658.981684

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from semisvm import SVM, SelfTraining
    >>> from semisvm.datasets import hide_labels
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SelfTraining(SVM(C=10), threshold=0.5).fit(X, hide_labels(y, 100, random_state=0))
    >>> model.supervised_.score(X, y) < model.score(X, y)
    True
    """

    threshold: float | None = positional_parameter(
        Real(0.0, closed="low"),
        NONE,
        default=None,
        doc="Samples of a confidence above it get a label. None for 1 with decision values, which is outside of the "
        "margin, and for 0.75 with probabilities.",
        kw_only=False,
    )
    confidence: str = parameter(
        "decision",
        Options(["decision", "probability"]),
        doc=r"What the threshold is compared with: \|f\| (with more classes, half the margin of the winning one over "
        "the next), or the largest of the probabilities.",
    )
    threshold_decay: float | None = parameter(
        None,
        Real(0.0, 1.0),
        NONE,
        doc="Factor on the threshold in rounds where no sample is above it, until one reaches it, so that all samples "
        "get a label; None ends there.",
    )
    k_best: int | None = parameter(
        None,
        Integer(1),
        NONE,
        doc="Largest number of samples labeled in a round, the most confident ones; None for all above the threshold.",
    )

    @property
    def _use_probability(self) -> bool:
        return self.confidence == "probability"

    def _check(self, estimator: Any) -> None:
        super()._check(estimator)
        if self._use_probability:
            check_number("threshold", self._threshold, 0.0, 1.0, closed="low")
            if self.balance is not None:
                raise ValueError(
                    f"balance={self.balance!r} came with confidence='probability'; a balance shifts the scores, so use "
                    "confidence='decision' or balance=None."
                )

    @property
    def _threshold(self) -> float:
        return THRESHOLDS[self.confidence] if self.threshold is None else float(self.threshold)

    def _selector(self, learner: BaseLearner, task: LabelingTask) -> ThresholdSelector:
        return ThresholdSelector(self._threshold, self.threshold_decay, self.k_best)
