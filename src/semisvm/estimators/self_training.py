"""Classifiers that label the rows they are sure about and learn from them: self-training and Help-Training."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from sklearn.utils import check_random_state

from .. import _validate, densities, scale
from ..kernels import Kernel
from ..spaces import Gram
from ._choices import Confident, Helped
from ._self_labeler import Inside, SelfLabeler

WINDOWS = ("rbf", "laplacian", "inverse_multiquadric", "kmod")  # kernels that fall with the distance, above zero
HELPERS = ("parzen", "mixture", "naive_bayes")
ROUNDS = 100  # in about so many rounds all rows are candidates, if nobody says how many each has


class SelfTraining(SelfLabeler):
    r"""Self-training: the rows that a classifier is most sure about get its labels, and it learns from them.

    Every round trains the classifier on the rows labeled so far and labels those with a confidence above ``threshold``,
    until there are none. An :class:`LSSVM` goes on by growing its inverse by a block, at :math:`O(m^2 s)` for s rows,
    and an :class:`SVM` by pair steps from its last point; any other classifier is fitted anew. With
    ``confidence="probability"`` this is scikit-learn's ``SelfTrainingClassifier``.

    Parameters
    ----------
    estimator : classifier or None, default=None
        A machine of this library, or any classifier of scikit-learn with a ``decision_function`` (or a
        ``predict_proba``, for that confidence). None for ``LSSVM(C=10, gamma="median")``. A machine of this library
        takes the numbers that it leaves to the data (C and gamma) from all rows and the given labels, once; one that
        uses unlabeled rows is given those still open.
    threshold : float, default=0.5
        Rows of a confidence above it get a label.
    confidence : {"decision", "probability"}, default="decision"
        What the threshold is compared with: \|f\| (with more classes, half the lead of the winning one), or the largest
        of the probabilities.
    threshold_decay : float or None, default=None
        Factor on the threshold in rounds where no row is above it, until one reaches it, so that all rows get a label;
        None ends there.
    k_best : int or None, default=None
        Largest number of rows a round, the surest ones; None for all above the threshold.
    balance : None, "labeled", float or mapping, default=None
        Share of each class among the unlabeled rows, as in :class:`CCCPTSVM`. Scores are then moved so that the rows
        still open divide as the shares ask, and no class gets more rows than its share.
    multiclass : {"joint", "ovr"}, default="joint"
        More than two classes: a row is labeled once for all classes, or rounds of their own for every class against
        the rest.
    max_iter : int or None, default=None
        Largest number of rounds.
    max_time : float or None, default=None
        Seconds after which no round begins.
    n_jobs : int or None, default=None
        Threads over the classes with ``multiclass="ovr"``, as in joblib.
    verbose : int, default=0
        Above 0, print a line per round.
    unlabeled : object, default=-1
        Marker of rows without a label; None, NaN and NA always are markers too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes.
    estimator_ : classifier
        The machine of all rows that have a label in the end (``estimators_``, one per class, with
        ``multiclass="ovr"`` of three classes or more).
    transduction_ : array of shape (n,)
        The given labels, those of the rounds, and the predictions for rows without either.
    labeled_iter_ : int array of shape (n,)
        The round in which a row got its label: 0 for given ones, -1 for none. A column per class with "ovr", as below.
    confidence_ : array of shape (n,)
        How sure the machine was of the label then; NaN for rows with a given one or none.
    termination_condition_ : str
        "all_labeled", "no_change", "max_iter", "max_time", "stopped" (by a callback) or "interrupted".
    n_iter_ : int
        Trainings, the first included.
    trace_ : list of dict
        A row per round: rows labeled and left, threshold, mean confidence; with an LSSVM the share of given labels that
        the machine without them gets wrong, in closed form.
    supervised_ : classifier
        The estimator fitted to the labeled rows alone, at first use.

    See Also
    --------
    HelpTraining : A generative helper says which rows are looked at.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from semisvm import SVM, SelfTraining
    >>> from semisvm.datasets import hide_labels
    >>> X, y = load_digits(return_X_y=True)
    >>> machine = SelfTraining(SVM(C=10)).fit(X, hide_labels(y, 100, random_state=0))
    >>> machine.supervised_.score(X, y) < machine.score(X, y)
    True
    """

    def __init__(
        self,
        estimator=None,
        threshold=0.5,
        *,
        confidence="decision",
        threshold_decay=None,
        k_best=None,
        balance=None,
        multiclass="joint",
        max_iter=None,
        max_time=None,
        n_jobs=None,
        verbose=0,
        unlabeled=-1,
    ):
        self.estimator = estimator
        self.threshold = threshold
        self.confidence = confidence
        self.threshold_decay = threshold_decay
        self.k_best = k_best
        self.balance = balance
        self.multiclass = multiclass
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unlabeled = unlabeled

    @property
    def _probability(self) -> bool:
        return self.confidence == "probability"

    def _check(self, inner) -> None:
        _validate.choice("confidence", self.confidence, ("decision", "probability"))
        _validate.number("threshold", self.threshold, 0.0, 1.0 if self._probability else np.inf, closed="low")
        if self.threshold_decay is not None:
            _validate.number("threshold_decay", self.threshold_decay, 0.0, 1.0)
        if self.k_best is not None:
            _validate.whole_number("k_best", self.k_best, 1)
        if self._probability and self.balance is not None:
            raise ValueError(
                f"balance={self.balance!r} came with confidence='probability'; a balance moves the scores, so use "
                "confidence='decision' or balance=None."
            )
        super()._check(inner)

    def _choice(self, inside: Inside, k: int, counts: np.ndarray | None) -> Confident:
        return Confident(float(self.threshold), self.threshold_decay, self.k_best)


class HelpTraining(SelfLabeler):
    r"""Help-Training (Adankon and Cheriet): self-training in which a generative helper says who is looked at.

    A discriminative machine is surest far from its boundary, also where it has seen nothing. So every round a helper
    estimates the densities :math:`G_c` of the classes from the rows labeled so far, by default as Parzen windows
    :math:`G_c(x) = \frac1{n_c} \sum_{y_i = c} k(x_i, x)`; the ``n_candidates`` rows that are most typical of each class
    are looked at; of these, the ones with :math:`|f| \ge` ``eps`` get the class that the machine gives them. ``eps``
    falls by ``eps_decay`` where there are none, until every row has a label. In the end only the discriminative machine
    is kept.

    Parameters
    ----------
    estimator : classifier or None, default=None
        As in :class:`SelfTraining`.
    helper : {"parzen", "mixture", "naive_bayes"} or object, default="parzen"
        Parzen windows; a mixture of two Gaussians with diagonal covariances per class; naive Bayes, Gaussian on a dense
        table and multinomial on a sparse one; or an object with ``fit`` and one of ``score_samples`` (of one class, as
        ``sklearn.neighbors.KernelDensity``), ``predict_joint_log_proba`` or ``log_densities`` (a column per class).
        An object of the last two kinds is fitted to classes 0, 1, ...
    n_candidates : int, mapping or None, default=None
        Rows looked at in a round for each class; a mapping from class to number; None for a hundredth of the unlabeled
        rows, shared out among the classes, at least one each. With "ovr" the rest has the sum of its classes.
    eps : float, default=0.1
        Least \|f\| (with more classes, half the lead of the winning one) of a row that gets a label.
    eps_decay : float, default=0.9
        Factor on ``eps`` in rounds where no candidate has it.
    rank : {"density", "lead"}, default="density"
        What is typical of a class: a high density, or one far above that of any other class.
    bandwidth : {"auto", "leave_one_out", "kernel"} or float, default="auto"
        Of Parzen windows: Gaussian windows :math:`e^{-\gamma \|x - z\|^2}` of the gamma that makes left-out rows most
        likely, labeled or not; the kernel of a machine of this library itself, as in the article; or Gaussian windows
        of a given gamma. "auto" is "leave_one_out", and "kernel" where X holds kernel values.
    balance : None, "labeled", float or mapping, default=None
        As in :class:`SelfTraining`.
    multiclass : {"joint", "ovr"}, default="joint"
        As in :class:`SelfTraining`; "ovr" is the article's.
    max_iter : int or None, default=None
        Largest number of rounds.
    max_time : float or None, default=None
        Seconds after which no round begins.
    random_state : int, RandomState or None, default=None
        Starts the mixtures.
    n_jobs : int or None, default=None
        Threads over the classes with ``multiclass="ovr"``, as in joblib.
    verbose : int, default=0
        Above 0, print a line per round.
    unlabeled : object, default=-1
        Marker of rows without a label; None, NaN and NA always are markers too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes.
    estimator_ : classifier
        The machine of all rows that have a label in the end (``estimators_``, one per class, with
        ``multiclass="ovr"`` of three classes or more).
    transduction_ : array of shape (n,)
        The given labels and those of the rounds; with "ovr", the class whose machine has the largest score.
    labeled_iter_, confidence_ : arrays of shape (n,)
        The round in which a row got its label and the confidence then, as in :class:`SelfTraining`.
    termination_condition_, n_iter_, trace_, supervised_ : str, int, list, classifier
        As in :class:`SelfTraining`.

    See Also
    --------
    SelfTraining : The same without a helper.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from semisvm import LSSVM, HelpTraining
    >>> from semisvm.datasets import hide_labels
    >>> X, y = load_digits(return_X_y=True)
    >>> machine = HelpTraining(LSSVM(C=10)).fit(X, hide_labels(y, 100, random_state=0))
    >>> machine.supervised_.score(X, y) < machine.score(X, y)
    True
    """

    def __init__(
        self,
        estimator=None,
        helper="parzen",
        *,
        n_candidates=None,
        eps=0.1,
        eps_decay=0.9,
        rank="density",
        bandwidth="auto",
        balance=None,
        multiclass="joint",
        max_iter=None,
        max_time=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
        unlabeled=-1,
    ):
        self.estimator = estimator
        self.helper = helper
        self.n_candidates = n_candidates
        self.eps = eps
        self.eps_decay = eps_decay
        self.rank = rank
        self.bandwidth = bandwidth
        self.balance = balance
        self.multiclass = multiclass
        self.max_iter = max_iter
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unlabeled = unlabeled

    def _check(self, inner) -> None:
        _validate.number("eps", self.eps, low=0.0, closed="low")
        _validate.number("eps_decay", self.eps_decay, 0.0, 1.0)
        _validate.choice("rank", self.rank, ("density", "lead"))
        if isinstance(self.helper, str):
            _validate.choice("helper", self.helper, HELPERS)
        if isinstance(self.bandwidth, str):
            _validate.choice("bandwidth", self.bandwidth, ("auto", "leave_one_out", "kernel"))
        else:
            _validate.number("bandwidth", self.bandwidth, low=0.0)
        super()._check(inner)

    def _counts(self, k: int, n_open: int) -> np.ndarray:
        given = self.n_candidates
        if given is None:
            return np.full(k, max(1, round(n_open / (k * ROUNDS))))
        if not isinstance(given, Mapping):
            return np.full(k, _validate.whole_number("n_candidates", given, 1))
        names = self.classes_.tolist()
        if set(given) != set(names):
            raise ValueError(
                f"n_candidates names the classes {sorted(given, key=str)} and y holds {names}; give a number for each."
            )
        return np.array([_validate.whole_number(f"n_candidates[{c!r}]", given[c], 1) for c in names])

    def _choice(self, inside: Inside, k: int, counts: np.ndarray) -> Helped:
        X, weight = inside.X, inside.weight
        if self.helper == "parzen":
            helper = densities.Parzen(self._windows(inside), weight, k)
        elif self._pairwise(inside.estimator):
            raise ValueError(
                f"helper={self.helper!r} looks at the rows and X holds kernel values; use helper='parzen', or pass the "
                "rows and a kernel."
            )
        elif self.helper == "mixture":
            helper = densities.mixture(X, weight, k, check_random_state(self.random_state).randint(2**31))
        elif self.helper == "naive_bayes":
            helper = densities.naive_bayes(X, weight, k)
        else:
            helper = densities.own(X, weight, k, self.helper)
        return Helped(helper, counts, float(self.eps), float(self.eps_decay), self.rank)

    def _windows(self, inside: Inside) -> Gram:
        """Kernel values that are windows."""
        kernel, how = inside.kernel, self.bandwidth
        if how == "auto":
            how = "kernel" if self._pairwise(inside.estimator) else "leave_one_out"
        if how != "kernel":
            if self._pairwise(inside.estimator):
                raise ValueError(
                    f"bandwidth={self.bandwidth!r} needs the rows and X holds kernel values; use bandwidth='kernel'."
                )
            part = inside.X if (inside.weight > 0).all() else inside.X[inside.weight > 0]
            return Gram(Kernel("rbf", scale.window(part) if how == "leave_one_out" else float(how)), inside.X)
        if kernel is None and self._pairwise(inside.estimator):
            kernel = Kernel("precomputed")
        if kernel is None or kernel.name == "multiquadric":
            raise ValueError(
                "bandwidth='kernel' takes a machine of this library whose kernel is a window (rbf, for instance); use "
                "bandwidth='leave_one_out' or a number."
            )
        gram = Gram(kernel, inside.X) if inside.space is None else inside.space.gram()
        if kernel.name not in WINDOWS and gram.whole.min() < 0:
            raise ValueError(
                f"the kernel {kernel.name!r} has values below zero, which windows have not; use "
                "bandwidth='leave_one_out' or a number, another kernel, or SelfTraining."
            )
        return gram
