"""Help-Training: self-training in which a density estimate says which samples are candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._validation import Described, Options, Real, TrainingSet, check_choice, check_integer
from ..estimators.parameters import NONE, parameter, positional_parameter, random_state_parameter
from ..spaces import Gram, Kernel
from ..spaces.bandwidth import parzen_gamma
from . import densities
from .base import BaseSelfTraining
from .learners import BaseLearner
from .selection import DensitySelector
from .tasks import LabelingTask

WINDOWS = ("rbf", "laplacian", "inverse_multiquadric", "kmod")  # kernels that decrease with the distance, above zero
HELPERS = ("parzen", "mixture", "naive_bayes")
N_ROUNDS = 20  # in about so many rounds all samples are candidates, if their number is not given
EXTRA_LABELS = 5.0  # of each class: shares of a few labels are uncertain, and are drawn towards equal ones


class HelpTraining(BaseSelfTraining):
    r"""Help-Training: self-training in which a generative helper says which samples are candidates.

    A discriminative model is most confident far from its boundary, also where it has seen no samples. So every round a
    helper estimates the densities :math:`G_c` of the classes from the samples labeled so far, by default as Parzen
    windows :math:`G_c(x) = \frac1{n_c} \sum_{y_i = c} k(x_i, x)`; the ``n_candidates`` samples that are most typical of
    each class, those of the largest :math:`G_c - \max_{b \ne c} G_b`, are candidates; of these, the ones with
    :math:`|f| \ge` ``eps`` get the class that the model predicts. ``eps`` decreases by ``eps_decay`` where there are
    none, until every sample has a label. In the end only the discriminative model is kept.

    It helps where each class is one region of high density, as Gaussians or texts on one subject are, also where
    :class:`SelfTraining` goes astray. It harms where a class has several regions or follows a curve that the windows
    are too wide for, and where the classes overlap so much that most labels of the rounds near the boundary are
    guesses; all samples get a label, so errors are not left out. Images of digits prefer narrow windows,
    ``bandwidth="leave_one_out"``. Compare it with ``supervised_`` on held-out labels.

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
    >>> from semisvm import LSSVM, HelpTraining
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(random_state=0)
    >>> model = HelpTraining(LSSVM(C=1)).fit(X, hide_labels(y, 20, random_state=0))
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
        doc="Candidates in a round for each class; a mapping from class to number; None for a twentieth of the "
        "unlabeled samples, divided among the classes like the given labels and five more of each class, at least one "
        "each. A candidate of a class gets the class that the model predicts, whichever it is. With "
        '"ovr" the rest has the sum of its classes.',
    )
    eps: float = parameter(
        0.01,
        Real(0.0, closed="low"),
        doc=r"Least \|f\| (with more classes, half the margin of the winning one over the next) of a sample that gets "
        "a label.",
    )
    eps_decay: float = parameter(0.9, Real(0.0, 1.0), doc="Factor on ``eps`` in rounds where no candidate has it.")
    rank: str = parameter(
        "difference",
        Options(["density", "difference"]),
        doc="What is typical of a class: the difference of its density and the largest one of another class, or its "
        "density alone, as the article has it.",
    )
    bandwidth: float | str = parameter(
        "auto",
        Options(["auto", "leave_one_out", "kernel"]),
        Real(0.0),
        doc=r"Of Parzen windows: the kernel of an estimator of this library itself, as in the article; Gaussian "
        r"windows :math:`e^{-\gamma \|x - z\|^2}` of the gamma with the largest leave-one-out likelihood of all "
        'samples; or Gaussian windows of a given gamma. "auto" is "kernel" where that kernel is a window (rbf, '
        'laplacian, inverse_multiquadric, kmod) or X holds kernel values, and "leave_one_out" elsewhere.',
    )
    random_state: Any = random_state_parameter("Starts the mixtures.")

    def _check(self, estimator: Any) -> None:
        super()._check(estimator)
        if isinstance(self.helper, str):
            check_choice("helper", self.helper, HELPERS)

    def _routed_estimators(self) -> dict[str, Any]:
        helper = {} if isinstance(self.helper, str | type) else {"helper": self.helper}
        return super()._routed_estimators() | helper

    @property
    def _threshold(self) -> float:
        return float(self.eps)

    def _n_candidates(self, data: TrainingSet) -> np.ndarray:
        given, (classes, codes) = self.n_candidates, data.labels
        k, labeled, unlabeled = len(classes), codes >= 0, (data.weights > 0) & (codes < 0)
        if given is None:
            labels = np.bincount(codes[labeled], data.weights[labeled], minlength=k) + EXTRA_LABELS
            in_round = unlabeled.sum() / N_ROUNDS * labels / labels.sum()
            return np.maximum(np.rint(in_round), 1).astype(int)
        if not isinstance(given, Mapping):
            return np.full(k, check_integer("n_candidates", given, 1))
        names = classes.tolist()
        if set(given) != set(names):
            raise ValueError(
                f"n_candidates names the classes {sorted(given, key=str)} and y holds {names}; give a number for each."
            )
        return np.array([check_integer(f"n_candidates[{c!r}]", given[c], 1) for c in names])

    def _selector(self, learner: BaseLearner, task: LabelingTask) -> DensitySelector:
        assert task.counts is not None, "Help-Training has a number of candidates"
        estimate = self._densities(learner, len(task.classes))
        return DensitySelector(estimate, task.counts, self._threshold, float(self.eps_decay), self.rank)

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
        return densities.user_density(X, learner.metadata_of("helper"), k, self.helper)

    def _windows(self, learner: BaseLearner) -> Gram:
        """Kernel values that are windows."""
        kernel, precomputed, bandwidth = learner.kernel, learner.precomputed, self.bandwidth
        if bandwidth == "auto":
            is_window = precomputed or (kernel is not None and kernel.name in WINDOWS)
            bandwidth = "kernel" if is_window else "leave_one_out"
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
