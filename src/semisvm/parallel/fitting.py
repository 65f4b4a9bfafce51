"""Fits to samples that are not in memory.

The labels, and a few dozen numbers per sample, are here; the samples are where they are (``samples``). The estimators
are the ones of the library with their own solvers, which ask for products with the samples and get them from all blocks
(``design_matrix``): what they return is what they return in memory, up to rounding.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._validation import KeptSamples, TrainingSet, check_sample_weight, drop_zero_weight, encode_labels_of
from ..balance import AskedShares
from ..estimators._calibration import CalibrationSet
from ..estimators._spaces import check_landmarks
from ..estimators.base import BaseSVM, fit_problems, settings_of
from ..estimators.problems import BinaryProblems, ProblemSettings, resolve
from ..model_selection.shares import ShareEstimator
from ..multiclass import n_binary_tasks
from ..solvers.primal import MultiSwitch
from ..spaces import SampleResults, memory_limit, require_memory
from .journal import Journal
from .out_of_core import N_CALIBRATION, fit_out_of_core
from .reading import blocks_of, choose_client, column_of, executor_for
from .samples import BlockedSamples
from .spaces import blocked_space

KEPT_BYTES = 2**28  # labeled samples up to this size are kept in memory
ALLOWED = (
    "MultiSwitchTSVM, AnnealingTSVM, GradientTSVM, ContinuationTSVM, LSSVM, DCLSSVM, LocalSearchRLSC "
    "(search='round_robin'), or S3VM with one of their solvers"
)
NUMBERS_PER_SAMPLE = 40  # that a solver keeps here, about, for each class


def fit(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    client: Any = None,
    checkpoint: Any = None,
    out_of_core: bool | None = None,
) -> Any:
    """Fit an estimator to samples on disks or on a Dask cluster.

    Takes the estimators whose solvers work on features by products alone: ``MultiSwitchTSVM``, ``AnnealingTSVM``,
    ``GradientTSVM``, ``ContinuationTSVM``, ``LSSVM``, ``DCLSSVM``, and ``S3VM`` with their solvers. The kernel is
    linear, or approximated by the Nystroem method.

    ``LocalSearchRLSC`` is taken, too, with search="round_robin". Its solution is another one than in memory, with the
    same certificate: the samples are tried block after block, each the least certain ones first, where in memory all
    of them are in that order. A search for the best of all flips would take a pass for each (search="steepest" and
    ``SwitchingLSSVM``): LocalSearchRLSC(n_init=1, fit_intercept=True) minimizes the objective of ``SwitchingLSSVM``.

    Parameters
    ----------
    estimator : estimator
        Is fitted, as by its own ``fit``, and returned. It holds nothing of Dask afterwards.
    X : dask array or DataFrame, numpy.memmap, array or CSR of shape (n_samples, n_features)
        The samples. Chunks of a dask array may be arrays or CSR. What is costly to read is computed once and kept on
        the disks of those who read it.
    y : array-like or dask collection of shape (n_samples,)
        Labels; markers of unlabeled samples as in the estimator.
    sample_weight : array-like or dask collection of shape (n_samples,), optional
        Factors on the costs of the samples.
    client : distributed.Client or "threads", optional
        The cluster, or threads of this process; by default the current client, and threads if there is none.
    checkpoint : path, optional
        A folder for the answers of the cluster. If the fit is interrupted, or ended by a limit, another one with the
        same folder, samples and parameters goes on from there, to the same model. A fit that converges removes them.

    out_of_core : bool, optional
        Whether not even a number per sample is kept: for ``MultiSwitchTSVM`` with the linear kernel, dense samples and
        no weights. Its path of increasing costs is followed on 50,000 unlabeled samples, and the full cost is solved on
        all in a few dozen passes. ``transduction_`` and ``training_scores_`` are absent then, and ``transduce`` has the
        labels. By default where the numbers per sample do not keep the memory limit.

    Returns
    -------
    estimator
        With the attributes of ``fit``, and ``n_passes_``, how often all samples were read. ``support_`` and
        ``dual_coef_`` count all samples. Probabilities are calibrated on the labeled samples with 10,000 of the others.

    Examples
    --------
    >>> import numpy as np
    >>> from semisvm import MultiSwitchTSVM, parallel
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(2000, random_state=0)  # a numpy.memmap or a dask array in earnest
    >>> y_partial = hide_labels(y, 50, random_state=0)
    >>> model = parallel.fit(MultiSwitchTSVM(kernel="linear"), X, y_partial)
    >>> in_memory = MultiSwitchTSVM(kernel="linear").fit(X, y_partial)
    >>> bool(np.isclose(model.objective_, in_memory.objective_, rtol=1e-9))
    True
    """
    settings = _settings(estimator)
    with blocked_samples(X, client, Journal(checkpoint)) as samples:
        _set_features(estimator, samples, X)
        if _is_out_of_core(out_of_core, settings, samples, sample_weight):
            fit_out_of_core(estimator, settings, samples, y)
        else:
            data = _training_set(estimator, samples, y, sample_weight, settings.unlabeled is None)
            n_problems = n_binary_tasks(settings.multiclass, len(data.labels.classes))
            what = f"the vectors over {samples.shape[0]:,} samples that {settings.name} keeps"
            require_memory(_vector_bytes(samples) * n_problems, what, "Use fewer samples")
            fit_problems(estimator, data, _state(settings, samples, data), _calibration_set(data))
        if estimator.converged_:
            samples.journal.clear()
        estimator.n_passes_ = samples.n_passes
    return estimator


def _vector_bytes(samples: BlockedSamples) -> int:
    """What a binary problem keeps per sample, times their number."""
    return 8 * NUMBERS_PER_SAMPLE * samples.shape[0]


def _is_out_of_core(asked: bool | None, settings: ProblemSettings, samples: BlockedSamples, sample_weight: Any) -> bool:
    """Whether no number per sample is kept."""
    is_switching = isinstance(settings.formulation.solver, MultiSwitch) and settings.multiclass == "ovr"
    is_linear = settings.kernel.name == "linear" and settings.approximation.method != "nystroem"
    takes = is_switching and is_linear and not samples.is_sparse and sample_weight is None
    if asked and not takes:
        raise ValueError(
            f"{settings.name}: out_of_core=True takes MultiSwitchTSVM with kernel='linear', multiclass='ovr', dense "
            "samples and no sample_weight; leave out_of_core at None, or change these."
        )
    return takes and (bool(asked) if asked is not None else _vector_bytes(samples) > memory_limit())


def _settings(estimator: Any) -> ProblemSettings:
    """The settings of an estimator that can be fitted by products alone."""
    if not isinstance(estimator, BaseSVM):
        raise TypeError(
            f"{type(estimator).__name__} cannot be fitted to samples in blocks; with samples in blocks use {ALLOWED}."
        )
    settings = settings_of(estimator)
    solver, name = settings.formulation.solver, settings.name
    needed = solver.needs_samples()
    if needed is not None:
        raise TypeError(f"{name}: {needed} needs all samples in memory; with samples in blocks use {ALLOWED}.")
    method, kernel = settings.approximation.method, settings.kernel.name
    if kernel == "precomputed" or method == "kernel_pca" or (method is None and kernel != "linear"):
        raise ValueError(
            f"{name}: kernel={kernel!r} with approximation={method!r} needs the whole kernel matrix; with samples in "
            "blocks use kernel='linear', or approximation='nystroem'."
        )
    if isinstance(settings.gamma, str) and settings.gamma == "scale" and kernel != "linear":
        raise ValueError(
            f"{name}: gamma='scale' needs the variance of all samples; with samples in blocks use gamma='median', "
            "which looks at a thousand of them, 'auto' or a number."
        )
    return replace(settings, n_jobs=1)  # a pass takes all threads, and the journal one question after the other


@contextmanager
def blocked_samples(X: Any, client: Any = None, journal: Journal | None = None) -> Iterator[BlockedSamples]:
    """The samples in blocks, and an end that removes what was kept for them on disks."""
    client = choose_client(client)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="semisvm-"))
        executor = stack.enter_context(closing(executor_for(client, folder)))
        yield stack.enter_context(closing(BlockedSamples(blocks_of(X, executor), executor, journal)))


def _set_features(estimator: Any, samples: BlockedSamples, X: Any) -> None:
    """Number of the features, and their names if X has them."""
    estimator.n_features_in_ = samples.shape[1]
    names = getattr(X, "columns", None)
    estimator.__dict__.pop("feature_names_in_", None)
    if names is not None and all(isinstance(name, str) for name in names):
        estimator.feature_names_in_ = np.asarray(names, dtype=object)


def _training_set(
    estimator: Any, samples: BlockedSamples, y: Any, sample_weight: Any, labeled_only: bool
) -> TrainingSet:
    """Labels and weights, checked, beside the samples; all samples are part of the fit, some with weight 0.

    These are those without a label, too, where only labeled ones count.
    """
    n = samples.shape[0]
    given = encode_labels_of(n, column_of(y), estimator.unlabeled)
    weights = check_sample_weight(column_of(sample_weight), n)
    has_weight = weights > 0.0
    found = drop_zero_weight(given, np.flatnonzero(has_weight), estimator.unlabeled)
    if labeled_only:
        weights = np.where(found.is_labeled, weights, 0.0)
    _keep_few(samples, np.flatnonzero(found.is_labeled))
    return TrainingSet(samples, given, found, weights, np.arange(n), False)


def _keep_few(X: BlockedSamples, labeled: np.ndarray) -> None:
    """Keep the labeled samples in memory, unless they are many."""
    if 8 * len(labeled) * X.survey.size <= KEPT_BYTES * X.shape[0]:
        X.keep_rows(labeled)


class _ShareEstimator(ShareEstimator):
    """Estimates shares from the samples of positive weight, of which X consists, for labels of all samples."""

    def __init__(self, X: Any, kept: np.ndarray, labeled: np.ndarray, weights: np.ndarray, gamma: float | None):
        super().__init__(X, labeled[kept], weights[kept], gamma=gamma)
        self._kept = kept

    def estimate(self, codes: np.ndarray, n_classes: int) -> AskedShares:
        """Shares of the classes among the samples without a label."""
        return super().estimate(codes[self._kept], n_classes)


def _state(settings: ProblemSettings, samples: BlockedSamples, data: TrainingSet) -> BinaryProblems:
    """What is left to the data resolved, and the space, as ``estimators.problems.prepare`` does in memory."""
    codes, weights = data.labels.codes, data.weights
    kept = np.flatnonzero(weights > 0.0)
    some = samples.in_memory_if_few(kept)
    kernel, C = resolve(settings, SampleResults(some, None), codes[kept], weights[kept])
    approximation = settings.approximation
    landmarks = approximation.landmarks
    if not isinstance(landmarks, str):
        landmarks = check_landmarks(landmarks, samples.shape[1])
    seed = check_random_state(approximation.random_state).randint(2**31)
    is_approximated = kernel.name != "linear" or approximation.method == "nystroem"
    free = settings.intercept is True
    space = blocked_space(
        samples, kernel, free, approximation.n_components, landmarks, codes >= 0, seed, is_approximated, kept
    )
    _keep_few(space.X, np.flatnonzero(codes >= 0))
    estimator = None
    if settings.unlabeled is not None and settings.unlabeled.balance == "auto":
        is_median = settings.gamma == "median" and kernel.name == "rbf"
        estimator = _ShareEstimator(some, kept, codes >= 0, weights, kernel.gamma if is_median else None)
    return BinaryProblems(settings, data.labels.classes, kernel, C, space, estimator)


def _calibration_set(data: TrainingSet) -> CalibrationSet:
    """The labeled samples and some of the others, in memory."""
    codes, kept = data.labels.codes, []
    for group in (np.flatnonzero(codes >= 0), np.flatnonzero((codes < 0) & (data.weights > 0.0))):
        few = np.linspace(0, len(group) - 1, N_CALIBRATION).astype(int) if len(group) > N_CALIBRATION else slice(None)
        kept.append(group[few])
    rows = np.sort(np.concatenate(kept))
    X = data.X[rows]
    return CalibrationSet(KeptSamples(X, [X]), codes[rows], data.weights[rows])
