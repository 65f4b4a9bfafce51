"""From samples and labels to an ensemble: spaces, folds, shares, fits, weights, blend, report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from .._threads import run_parallel
from .._validation import TrainingSet
from ..balance import AskedShares
from ..estimators import SVM
from ..estimators.progress import Progress
from ..model_selection.shares import ShareEstimator, decide_shares
from ..model_selection.splits import equal_samples
from ..multiclass import fit_slope, winners
from ..solvers import StoppingRule
from ..spaces.bandwidth import median_squared_distance
from .feature_spaces import space_builders
from .fitting import FittedSeparator, Task, fit_all, held_out_error
from .folds import labeled_folds
from .hedging import Evidence, has_rare_class, share_excess
from .prediction import SupervisedPart, supervised_scores
from .report import Report, report_average, report_supervised
from .separators import separators_for
from .supervised import SupervisedChoice, choose_supervised, fit_supervised
from .weighting import centered, margins, separator_weights, squash

MAX_SAMPLES = 3000  # that separators are fitted to: the labeled ones and a random part of the others
MIN_DENSITY = 0.1  # of sparse samples from which on products of arrays are faster
MAX_LABELED = 2000  # with more labels the supervised model is the model


@dataclass(frozen=True)
class Ensemble:
    """What was trained.

    Attributes
    ----------
    supervised : SupervisedPart
        The supervised model.
    fitted : list of FittedSeparator
        The separators.
    separator_weights : array
        Their weights.
    part, codes, weights : arrays
        The samples that the separators were fitted to, positions of their classes, and their weights.
    asked : array of shape (n_classes,)
        Shares of the classes that were asked for.
    choice : SupervisedChoice
        How the supervised model was chosen.
    report : Report
        The outcome.
    """

    supervised: SupervisedPart
    fitted: list[FittedSeparator]
    separator_weights: np.ndarray
    part: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    asked: np.ndarray
    choice: SupervisedChoice
    report: Report

    def scores(self, supervised: np.ndarray) -> np.ndarray:
        """The model at the samples of ``part``, shape (n, 1) or (n, k), from the scores of the supervised one there."""
        return self._blend(np.array([one.scores for one in self.fitted]), supervised)

    def _blend(self, scores: np.ndarray, supervised: np.ndarray) -> np.ndarray:
        a = self.report.average_weight
        if a == 0.0:
            return supervised
        average = np.einsum("j,jnk->nk", self.separator_weights, scores)
        return average if a == 1.0 else self.supervised.blend(a, average, supervised)

    def fit_slope(self) -> float:
        """The slope that makes probabilities of scores, from those of held-out samples; 1 without any."""
        held = np.flatnonzero(self.choice.held_out >= 0)
        if not len(held):
            return 1.0
        of_separators = np.array([one.held_out[held] for one in self.fitted])
        scores = self._blend(of_separators, self.choice.scores[held])
        columns = scores if scores.shape[1] > 1 else 0.5 * scores * [-1.0, 1.0]
        return fit_slope(columns, self.codes[held], self.weights[held])


def train(
    estimator: Any, data: TrainingSet, rng: np.random.Generator, stop: StoppingRule, n_jobs: int | None
) -> Ensemble:
    """Train an ensemble.

    Parameters
    ----------
    estimator : SemiSVM
        Whose parameters are used, and whose callbacks are called.
    data : TrainingSet
        Samples, labels and weights.
    rng : Generator
        For folds and the part of many samples.
    stop : StoppingRule
        Of the whole fit.
    n_jobs : int or None
        Number of threads.
    """
    part = _part(data, rng)
    X, codes, weights = dense_if_filled(data.X[part]), data.labels.codes[part], data.weights[part]
    labeled, classes = np.flatnonzero(codes >= 0), data.labels.classes
    n_unlabeled = int((data.labels.codes[data.kept] < 0).sum())
    median = median_squared_distance(X, weights)
    folds = labeled_folds(codes, equal_samples(X, labeled), rng)
    reason = _why_supervised(len(labeled), n_unlabeled, median)
    choose = partial(choose_supervised, X, codes, weights, median or 1.0, folds, stop)
    jobs: list[Callable[[], Any]] = [choose] if reason else [choose, *space_builders(X, weights, median)]
    choice, *spaces = run_parallel(lambda job: job(), jobs, n_jobs)
    supervised = _fit_supervised(choice, data, n_jobs)
    shares = ShareEstimator(X, codes >= 0, weights, gamma=0.5 / median if median > 0 else None)
    tasks = _tasks(estimator.balance, classes, codes, weights, folds, shares)
    fitted: list[FittedSeparator] = []
    if reason is None:
        by_name = {space.name: space for space in spaces if space.variance > 0.0}
        separators = [(one, by_name[one.space]) for one in separators_for(len(classes)) if one.space in by_name]
        with Progress(estimator, len(separators) * len(tasks)) as progress:
            fitted = fit_all(separators, tasks, codes, weights, stop, progress, n_jobs)
        reason = None if fitted else "no separator was finished in time"
    asked = tasks[0].asked
    if reason is not None:
        report = report_supervised(choice, codes, n_unlabeled, reason)
        alone = SupervisedPart(supervised, 1.0)
        return Ensemble(alone, [], np.zeros(0), part, codes, weights, asked.shares, choice, report)
    w = separator_weights(
        np.array([one.error for one in fitted]),
        np.array([one.instability for one in fitted]),
        float(weights[labeled].sum()),
    )
    rest = codes < 0
    f = centered(supervised_scores(supervised, X[rest]))
    beside = SupervisedPart(supervised, float(np.average(np.abs(f).mean(axis=1), weights=weights[rest])))
    evidence = collect_evidence(fitted, w, choice, f, codes, weights, asked)
    report = report_average(choice, codes, n_unlabeled, fitted, w, evidence, estimator.safety)
    return Ensemble(beside, fitted, w, part, codes, weights, asked.shares, choice, report)


def dense_if_filled(X: Any) -> Any:
    """The samples as an array if they are sparse in form alone, as a table of numbers and a few categories may be."""
    is_filled = sparse.issparse(X) and X.nnz > MIN_DENSITY * X.shape[0] * X.shape[1]
    return X.toarray() if is_filled else X


def _fit_supervised(choice: SupervisedChoice, data: TrainingSet, n_jobs: int | None) -> SVM:
    """The supervised model of all labeled samples."""
    given = data.labels.codes >= 0
    y = data.labels.classes[data.labels.codes[given]]
    return fit_supervised(choice.candidate, data.X[given], y, data.weights[given], n_jobs)


def _tasks(
    balance: Any,
    classes: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    folds: list[np.ndarray],
    shares: ShareEstimator,
) -> list[Task]:
    """All labels, then those of every fold, each with the shares that they tell by themselves."""
    tasks = []
    for held in [np.zeros(0, dtype=int), *folds]:
        visible = codes.copy()
        visible[held] = -1
        tasks.append(Task(visible, decide_shares(balance, classes, visible, weights, shares), held))
    return tasks


def _part(data: TrainingSet, rng: np.random.Generator) -> np.ndarray:
    """The samples that are used: all of a fit, or the labeled ones and a random part of the others."""
    codes = data.labels.codes[data.kept]
    labeled, rest = data.kept[codes >= 0], data.kept[codes < 0]
    n_rest = max(MAX_SAMPLES - len(labeled), MAX_SAMPLES // 2)
    if len(rest) > n_rest:
        rest = rng.choice(rest, n_rest, replace=False)
    return np.sort(np.r_[labeled, rest])


def _why_supervised(n_labels: int, n_unlabeled: int, median: float) -> str | None:
    """Why there is nothing to average, if so."""
    if not n_unlabeled:
        return "no sample is unlabeled"
    if n_labels > MAX_LABELED:
        return f"with {n_labels:,} labels the unlabeled samples are not needed"
    return None if median > 0 else "the samples are equal"


def collect_evidence(
    fitted: list[FittedSeparator],
    w: np.ndarray,
    choice: SupervisedChoice,
    other: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    asked: AskedShares,
) -> Evidence:
    """Compare the average with the supervised model, whose centered scores at the unlabeled samples are ``other``."""
    rest = codes < 0
    mean = weights[rest] / weights[rest].sum()
    scores = np.einsum("j,jnk->nk", w, np.array([one.scores[rest] for one in fitted]))
    held_out = np.einsum("j,jnk->nk", w, np.array([one.held_out for one in fitted]))
    found = winners(scores)
    predicted = winners(other)
    error = held_out_error(held_out, codes, weights)
    counts = np.bincount(codes[~rest], weights[~rest], minlength=len(asked.shares))
    differ = found != predicted
    return Evidence(
        n_labels=float(weights[~rest].sum()),
        gain=(choice.error or 0.0) - error,
        error=error,
        agreement=float(sum(v * (mean @ (one.labels[rest] == found)) for v, one in zip(w, fitted))),
        change=float(mean @ differ),
        share_excess=share_excess(np.bincount(predicted, mean, minlength=len(counts)), counts, asked),
        is_rare=has_rare_class(counts),
        average_margins=margins(scores[differ]),
        supervised_margins=margins(squash(other, mean @ np.abs(other))[differ]),
    )
