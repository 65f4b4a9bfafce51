"""Self-training and Help-Training: classifiers that label the samples they are confident about and learn from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._validation import Described, Integer, Options, Real, check_choice, check_integer, check_number
from ..estimators.parameters import NONE, parameter, positional_parameter, random_state_parameter
from ..spaces import Gram, Kernel
from ..spaces.bandwidth import parzen_gamma
from . import densities
from .base import BaseSelfTraining, LabelingTask
from .learners import BaseLearner
from .selection import DensitySelector, ThresholdSelector

WINDOWS = ("rbf", "laplacian", "inverse_multiquadric", "kmod")  # kernels that decrease with the distance, above zero
HELPERS = ("parzen", "mixture", "naive_bayes")
N_ROUNDS = 100  # in about so many rounds all samples are candidates, if their number is not given


class SelfTraining(BaseSelfTraining):
    r"""Self-training: the samples that a classifier is most confident about get its labels, and it learns from them.

    Every round trains the classifier on the samples labeled so far and labels those with a confidence above
    ``threshold``, until there are none. An :class:`LSSVM` is trained incrementally by growing its inverse by a block,
    at :math:`O(m^2 s)` for s samples, and an :class:`SVM` by pair steps from its last point; any other classifier is
    fitted anew. With ``confidence="probability"`` this is scikit-learn's ``SelfTrainingClassifier``.

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
        The estimator fitted to the labeled samples alone, at first use.

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
    >>> model = SelfTraining(SVM(C=10)).fit(X, hide_labels(y, 100, random_state=0))
    >>> model.supervised_.score(X, y) < model.score(X, y)
    True
    """

    threshold: float = positional_parameter(
        Real(0.0, closed="low"), default=0.5, doc="Samples of a confidence above it get a label.", kw_only=False
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
            check_number("threshold", self.threshold, 0.0, 1.0, closed="low")
            if self.balance is not None:
                raise ValueError(
                    f"balance={self.balance!r} came with confidence='probability'; a balance shifts the scores, so use "
                    "confidence='decision' or balance=None."
                )

    def _selector(self, learner: BaseLearner, task: LabelingTask) -> ThresholdSelector:
        return ThresholdSelector(float(self.threshold), self.threshold_decay, self.k_best)


class HelpTraining(BaseSelfTraining):
    r"""Help-Training: self-training in which a generative helper says which samples are candidates.

    A discriminative model is most confident far from its boundary, also where it has seen no samples. So every round a
    helper estimates the densities :math:`G_c` of the classes from the samples labeled so far, by default as Parzen
    windows :math:`G_c(x) = \frac1{n_c} \sum_{y_i = c} k(x_i, x)`; the ``n_candidates`` samples that are most typical of
    each class are candidates; of these, the ones with :math:`|f| \ge` ``eps`` get the class that the model predicts.
    ``eps`` decreases by ``eps_decay`` where there are none, until every sample has a label. In the end only the
    discriminative model is kept.

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes.
    estimator_ : classifier
        The model of all samples that have a label in the end (``estimators_``, one per class, with
        ``multiclass="ovr"`` of three classes or more).
    transduction_ : array of shape (n_samples,)
        The given labels and those of the rounds; with "ovr", the class whose model has the largest score.
    labeled_iter_, confidence_ : arrays of shape (n_samples,)
        The round in which a sample got its label and the confidence then, as in :class:`SelfTraining`.
    termination_condition_, n_iter_, trace_, share_, supervised_ : str, int, list, ClassShares, classifier
        As in :class:`SelfTraining`.

    See Also
    --------
    SelfTraining : The same without a helper.

    References
    ----------
    M. M. Adankon and M. Cheriet, "Help-training for semi-supervised support vector machines", Pattern Recognition,
    2011. https://doi.org/10.1016/j.patcog.2011.02.015

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from semisvm import LSSVM, HelpTraining
    >>> from semisvm.datasets import hide_labels
    >>> X, y = load_digits(return_X_y=True)
    >>> model = HelpTraining(LSSVM(C=10)).fit(X, hide_labels(y, 100, random_state=0))
    >>> model.supervised_.score(X, y) < model.score(X, y)
    True
    """

    helper: Any = positional_parameter(
        Described('{"parzen", "mixture", "naive_bayes"} or object'),
        default="parzen",
        doc="Parzen windows; a mixture of two Gaussians with diagonal covariances per class; naive Bayes, Gaussian on "
        "dense samples and multinomial on sparse ones; or an object with ``fit`` and one of ``score_samples`` (of one "
        "class, as ``sklearn.neighbors.KernelDensity``), ``predict_joint_log_proba`` or ``log_densities`` (a column "
        "per class). An object of the last two kinds is fitted to classes 0, 1, ...",
        kw_only=False,
    )
    n_candidates: int | Mapping | None = parameter(
        None,
        Described("int, mapping"),
        NONE,
        doc="Candidates in a round for each class; a mapping from class to number; None for a hundredth of the "
        'unlabeled samples, shared out among the classes, at least one each. With "ovr" the rest has the sum of its '
        "classes.",
    )
    eps: float = parameter(
        0.1,
        Real(0.0, closed="low"),
        doc=r"Least \|f\| (with more classes, half the margin of the winning one over the next) of a sample that gets "
        "a label.",
    )
    eps_decay: float = parameter(0.9, Real(0.0, 1.0), doc="Factor on ``eps`` in rounds where no candidate has it.")
    rank: str = parameter(
        "density",
        Options(["density", "margin"]),
        doc="What is typical of a class: a high density, or one far above that of any other class.",
    )
    bandwidth: float | str = parameter(
        "auto",
        Options(["auto", "leave_one_out", "kernel"]),
        Real(0.0),
        doc=r"Of Parzen windows: Gaussian windows :math:`e^{-\gamma \|x - z\|^2}` of the gamma with the largest "
        "leave-one-out likelihood of all samples; the kernel of an estimator of this library itself, as in the "
        'article; or Gaussian windows of a given gamma. "auto" is "leave_one_out", and "kernel" where X holds kernel '
        "values.",
    )
    random_state: Any = random_state_parameter("Starts the mixtures.")

    def _check(self, estimator: Any) -> None:
        super()._check(estimator)
        if isinstance(self.helper, str):
            check_choice("helper", self.helper, HELPERS)

    def _n_candidates(self, k: int, n_unlabeled: int) -> np.ndarray:
        given = self.n_candidates
        if given is None:
            return np.full(k, max(1, round(n_unlabeled / (k * N_ROUNDS))))
        if not isinstance(given, Mapping):
            return np.full(k, check_integer("n_candidates", given, 1))
        names = self.classes_.tolist()
        if set(given) != set(names):
            raise ValueError(
                f"n_candidates names the classes {sorted(given, key=str)} and y holds {names}; give a number for each."
            )
        return np.array([check_integer(f"n_candidates[{c!r}]", given[c], 1) for c in names])

    def _selector(self, learner: BaseLearner, task: LabelingTask) -> DensitySelector:
        assert task.counts is not None, "Help-Training has a number of candidates"
        estimate = self._densities(learner, len(task.classes))
        return DensitySelector(estimate, task.counts, float(self.eps), float(self.eps_decay), self.rank)

    def _densities(self, learner: BaseLearner, k: int) -> densities.DensityEstimator:
        X, weights = learner.X, learner.weights
        if self.helper == "parzen":
            return densities.ParzenWindows(self._windows(learner), weights, k)
        if learner.precomputed:
            raise ValueError(
                f"helper={self.helper!r} works on the samples and X holds kernel values; use helper='parzen', or pass "
                "the samples and a kernel."
            )
        if self.helper == "mixture":
            return densities.mixture_density(X, weights, k, check_random_state(self.random_state).randint(2**31))
        if self.helper == "naive_bayes":
            return densities.naive_bayes_density(X, weights, k)
        return densities.user_density(X, weights, k, self.helper)

    def _windows(self, learner: BaseLearner) -> Gram:
        """Kernel values that are windows."""
        kernel, precomputed, bandwidth = learner.kernel, learner.precomputed, self.bandwidth
        if bandwidth == "auto":
            bandwidth = "kernel" if precomputed else "leave_one_out"
        if bandwidth != "kernel":
            if precomputed:
                raise ValueError(
                    f"bandwidth={self.bandwidth!r} needs the samples and X holds kernel values; use bandwidth='kernel'."
                )
            X = learner.X if (learner.weights > 0).all() else learner.X[learner.weights > 0]
            gamma = parzen_gamma(X) if isinstance(bandwidth, str) else float(bandwidth)
            return Gram(Kernel("rbf", gamma), learner.X)
        if kernel is None and precomputed:
            kernel = Kernel("precomputed")
        if kernel is None or kernel.name == "multiquadric":
            raise ValueError(
                "bandwidth='kernel' takes an estimator of this library whose kernel is a window (rbf, for instance); "
                "use bandwidth='leave_one_out' or a number."
            )
        gram = Gram(kernel, learner.X) if learner.problems is None else learner.problems.space.gram()
        if kernel.name not in WINDOWS and gram.compute().min() < 0:
            raise ValueError(
                f"the kernel {kernel.name!r} has values below zero, which a window cannot have; use "
                "bandwidth='leave_one_out' or a number, another kernel, or SelfTraining."
            )
        return gram


WRAPPERS: dict[str, type] = {cls.__name__: cls for cls in (SelfTraining, HelpTraining)}
