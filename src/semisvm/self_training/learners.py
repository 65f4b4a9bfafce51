"""The classifier inside self-training: labeled samples are added, scores of any samples are asked for.

An SVM or an LS-SVM of this library is trained incrementally: the inverse grows, pair steps start from the last point.
Any other classifier is fitted anew every round.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from .._threads import run_parallel
from .._validation import TrainingSet
from ..estimators import LSSVM, SVM
from ..estimators.base import BaseSVM, settings_of, was_interrupted
from ..estimators.problems import BinaryProblems, prepare, resolve
from ..multiclass import BinaryTask
from ..solvers import IncrementalLSSVM, IncrementalSVM, SupervisedSVM
from ..spaces import Gram, Kernel
from .metadata import FitMetadata


class Learner(Protocol):
    """What is trained in rounds."""

    use_margin: bool  # whether scores are decision values, whose margin is the confidence, or probabilities

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended a training."""

    def add(self, samples: np.ndarray, codes: np.ndarray) -> None:
        """Add labeled samples and train."""

    def scores(self, samples: np.ndarray) -> np.ndarray:
        """Scores of any samples, shape (len(samples), 1 or k)."""

    def details(self) -> dict[str, float]:
        """Numbers for the trace."""


class IncrementalLearner:
    """An SVM or an LS-SVM on the kernel matrix, one-vs-rest.

    Parameters
    ----------
    problems : BinaryProblems
        Of an SVM or LSSVM, with all samples.
    weights : array of shape (n,)
        Weights of the samples.
    k : int
        Number of classes.
    """

    use_margin = True

    def __init__(self, problems: BinaryProblems, weights: np.ndarray, k: int):
        space, solver = problems.space, problems.settings.formulation.solver
        self._classes = [1] if k == 2 else list(range(k))
        everything = BinaryTask(np.zeros(space.n), np.ones(space.n, dtype=bool), share=np.nan, n_labels=0.0)
        problem = problems.state(everything, weights)  # which has no balance
        self._n_given = 0
        self._n_jobs = problems.settings.n_jobs if space.gram().fits_memory else 1  # the row cache has one user
        self._lssvm: IncrementalLSSVM | None = None
        self._svms: list[IncrementalSVM] = []
        if isinstance(solver, SupervisedSVM):
            self._svms = [IncrementalSVM(problem, solver) for _ in self._classes]
        else:
            self._lssvm = IncrementalLSSVM(space.gram(), problem.cost, problem.intercept, len(self._classes))

    def add(self, samples: np.ndarray, codes: np.ndarray) -> None:
        """Add labeled samples and train from the last point."""
        signs = np.column_stack([np.where(codes == c, 1.0, -1.0) for c in self._classes])
        if self._lssvm is not None:
            self._n_given = self._n_given or len(samples)
            self._lssvm.add(samples, signs)
            return
        work = list(zip(self._svms, signs.T))
        run_parallel(lambda one: one[0].add(samples, one[1]), work, self._n_jobs)

    def scores(self, samples: np.ndarray) -> np.ndarray:
        """f of every class against the rest, shape (len(samples), 1 or k)."""
        if self._lssvm is not None:
            return self._lssvm.scores(samples)
        return np.column_stack([svm.scores(samples) for svm in self._svms])

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended a training."""
        return any(svm.interrupted for svm in self._svms)

    def details(self) -> dict[str, float]:
        """Leave-one-out error of the given labels, which least squares has in closed form."""
        if self._lssvm is None:
            return {}
        held_out = self._lssvm.leave_one_out()[: self._n_given]
        signs = self._lssvm.signs[: self._n_given]
        if len(self._classes) == 1:
            wrong = held_out[:, 0] * signs[:, 0] <= 0
        else:
            wrong = held_out.argmax(axis=1) != signs.argmax(axis=1)
        return {"leave_one_out": float(wrong.mean())}


class RefittedLearner:
    """Any classifier, fitted anew to the samples labeled so far.

    A semi-supervised estimator of this library is given the others as unlabeled samples.

    Parameters
    ----------
    estimator : classifier
        Not fitted.
    X : array or CSR of shape (n, d)
        All samples.
    metadata : FitMetadata
        Weights of the samples, and what else ``fit`` gets.
    classes : array of shape (k,)
        Names of the classes.
    use_margin : bool
        Whether scores are decision values; probabilities if not.

    Attributes
    ----------
    fitted : classifier
        The last one.
    """

    def __init__(self, estimator: Any, X: Any, metadata: FitMetadata, classes: np.ndarray, use_margin: bool = True):
        self._estimator, self._X, self._metadata, self._classes = estimator, X, metadata, classes
        self.use_margin = use_margin
        self._codes = np.full(X.shape[0], -1)
        self.fitted: Any = None

    def add(self, samples: np.ndarray, codes: np.ndarray) -> None:
        """Add labeled samples and fit anew."""
        self._codes[samples] = codes
        self.fitted = fit_to_codes(self._estimator, self._X, self._metadata, self._classes, self._codes)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended a training."""
        return isinstance(self.fitted, BaseSVM) and was_interrupted(self.fitted)

    def scores(self, samples: np.ndarray) -> np.ndarray:
        """Decision values or probabilities, shape (len(samples), 1 or k)."""
        method = "decision_function" if self.use_margin else "predict_proba"
        found = getattr(self.fitted, method)(columns_for(self._estimator, self._X[samples], self._codes))
        found = np.asarray(found, dtype=float)
        found = found[:, None] if found.ndim == 1 else found
        k = len(self._classes)
        if found.shape[1] != (1 if k == 2 and self.use_margin else k):
            raise ValueError(
                f"the {method} of {type(self._estimator).__name__} has {found.shape[1]} columns for {k} classes; use "
                "one with a column per class."
            )
        if not np.isfinite(found).all():
            raise ValueError(
                f"{type(self._estimator).__name__} returned scores that are not finite numbers; scale X or change its "
                "parameters."
            )
        return found

    def details(self) -> dict[str, float]:
        """Nothing is known of the classifier."""
        return {}


class BaseLearner:
    """The classifier that is trained in rounds, prepared once for all classes.

    Parameters
    ----------
    estimator : classifier
        Not fitted.
    data : TrainingSet
        What the whole fit is given.
    routed : mapping or None
        Metadata of the classifier ("estimator") and of what else is fitted in the rounds; None for the weights of
        ``data``.

    Attributes
    ----------
    weights : array of shape (n,)
        Weights of the samples in the whole fit.
    metadata : FitMetadata
        Those of the classifier, and what else its ``fit`` gets.
    estimator : classifier
        What is fitted; an estimator of this library has numbers for C and gamma.
    kernel : Kernel or None
        Of an estimator of this library.
    problems : BinaryProblems or None
        Where an SVM or LS-SVM can be trained incrementally.
    """

    def __init__(self, estimator: Any, data: TrainingSet, routed: Mapping[str, FitMetadata] | None = None):
        self.X, self.weights, self.precomputed, self.estimator = data.X, data.weights, data.precomputed, estimator
        self.routed = {} if routed is None else routed
        self.metadata = self.metadata_of("estimator")
        self.kernel: Kernel | None = None
        self.problems: BinaryProblems | None = None
        if isinstance(estimator, BaseSVM):
            self._resolve(estimator, data)

    def metadata_of(self, name: str) -> FitMetadata:
        """Weights and other metadata of the classifier, or of what else is fitted in the rounds."""
        return self.routed.get(name) or FitMetadata(self.weights)

    def _resolve(self, estimator: BaseSVM, data: TrainingSet) -> None:
        """Set C and gamma to the numbers that all samples and the given labels lead to, once for all rounds."""
        (classes, codes), weights = data.labels, self.metadata.weights
        estimator = clone(estimator).set_params(unlabeled=None)
        settings = settings_of(estimator)
        samples = settings.results_of(data.take(data.kept))
        resolved = resolve(settings, samples, codes[data.kept], weights[data.kept])
        self.estimator = estimator.set_params(C=resolved.C, gamma=resolved.kernel.gamma)
        self.kernel = resolved.kernel
        one_vs_rest = len(classes) == 2 or estimator.multiclass == "ovr"
        if type(estimator) not in (SVM, LSSVM) or not one_vs_rest:
            return
        problems = prepare(settings, classes, data.X, codes, weights, resolved)
        gram = problems.space.gram()
        few_samples = resolved.kernel.name == "linear" and data.X.shape[0] <= data.X.shape[1] + 1
        on_kernel_matrix = isinstance(problems.space, Gram) or few_samples  # what an LSSVM is trained on
        if isinstance(estimator, SVM) or (on_kernel_matrix and gram.fits_memory):
            self.problems = problems
            if gram.fits_memory:
                gram.compute()  # shared by the threads of several classes

    def new_learner(self, classes: np.ndarray, probability: bool) -> IncrementalLearner | RefittedLearner:
        """A learner without samples, for these classes."""
        if self.problems is not None and not probability:
            return IncrementalLearner(self.problems, self.metadata.weights, len(classes))
        return RefittedLearner(self.estimator, self.X, self.metadata, classes, use_margin=not probability)


def fit_to_codes(estimator: Any, X: Any, metadata: FitMetadata, classes: np.ndarray, codes: np.ndarray) -> Any:
    """A clone of the estimator, fitted to the samples with a code of 0 or more."""
    labeled = np.flatnonzero(codes >= 0)
    if isinstance(estimator, BaseSVM):
        y = np.full(len(codes), None, dtype=object)
        y[labeled] = classes[codes[labeled]]
        model = clone(estimator).set_params(unlabeled=None)  # None alone marks the others
        return metadata.fit_all(model, X, y)
    if not metadata.takes_weights(estimator):
        raise ValueError(
            f"{type(estimator).__name__} takes no sample_weight; leave the weights out or use another estimator."
        )
    samples = X[labeled] if len(labeled) < len(codes) else X
    samples = columns_for(estimator, samples, codes)
    return metadata.take(labeled).fit(clone(estimator), samples, classes[codes[labeled]])


def columns_for(estimator: Any, X: Any, codes: np.ndarray) -> Any:
    """X as the fitted estimator takes it: of kernel values, those with the samples it was fitted to."""
    if isinstance(estimator, BaseSVM) or not get_tags(estimator).input_tags.pairwise:
        return X
    return X[:, codes >= 0]
