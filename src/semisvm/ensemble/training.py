"""From samples and labels to an ensemble: spaces, folds, shares, fits, weights, hedge, report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

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
from .report import Report, report_average, report_supervised
from .separators import separators_for
from .supervised import SupervisedChoice, choose_supervised, fit_supervised
from .weighting import margins, separator_weights, squash

MAX_SAMPLES = 3000  # that separators are fitted to: the labeled ones and a random part of the others
MAX_LABELED = 2000  # with more labels the supervised model is the model


@dataclass(frozen=True)
class Ensemble:
    """What was trained.

    Attributes
    ----------
    supervised : SVM
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

    supervised: SVM
    fitted: list[FittedSeparator]
    separator_weights: np.ndarray
    part: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    asked: np.ndarray
    choice: SupervisedChoice
    report: Report

    @property
    def scores(self) -> np.ndarray:
        """The average at the samples of ``part``, shape (n, k)."""
        return np.einsum("j,jnk->nk", self.separator_weights, np.array([one.scores for one in self.fitted]))

    def fit_slope(self) -> float:
        """The slope that makes probabilities of scores, from those of held-out samples; 1 without any.

        The scores are those of the average or, where the supervised model is used, its shares of votes.
        """
        if self.report.uses_average:
            scores = np.einsum("j,jnk->nk", self.separator_weights, np.array([one.held_out for one in self.fitted]))
            held = np.flatnonzero(~np.isnan(scores[:, 0]))
        else:
            scores, held = self.choice.shares, np.flatnonzero(self.choice.held_out >= 0)
        if not len(held):
            return 1.0
        columns = scores[held] if scores.shape[1] > 1 else 0.5 * scores[held] * [-1.0, 1.0]
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
    X, codes, weights = data.X[part], data.labels.codes[part], data.weights[part]
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
        return Ensemble(supervised, [], np.zeros(0), part, codes, weights, asked.shares, choice, report)
    w = separator_weights(
        np.array([one.error for one in fitted]),
        np.array([one.instability for one in fitted]),
        float(weights[labeled].sum()),
    )
    evidence = collect_evidence(fitted, w, choice, supervised, X, codes, weights, asked)
    report = report_average(choice, codes, n_unlabeled, fitted, w, evidence, estimator.safety)
    return Ensemble(supervised, fitted, w, part, codes, weights, asked.shares, choice, report)


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
    supervised: SVM,
    X: Any,
    codes: np.ndarray,
    weights: np.ndarray,
    asked: AskedShares,
) -> Evidence:
    """Compare the average with the supervised model."""
    rest = codes < 0
    mean = weights[rest] / weights[rest].sum()
    scores = np.einsum("j,jnk->nk", w, np.array([one.scores[rest] for one in fitted]))
    held_out = np.einsum("j,jnk->nk", w, np.array([one.held_out for one in fitted]))
    found = winners(scores)
    other = supervised.decision_function(X[rest]).reshape(len(found), -1)
    predicted = winners(other)
    error = held_out_error(held_out, codes, weights)
    counts = np.bincount(codes[~rest], weights[~rest], minlength=len(asked.shares))
    differ = found != predicted
    return Evidence(
        n_labels=float(weights[~rest].sum()),
        n_classes=len(counts),
        gain=(choice.error or 0.0) - error,
        error=error,
        agreement=float(sum(v * (mean @ (one.labels[rest] == found)) for v, one in zip(w, fitted))),
        change=float(mean @ differ),
        share_excess=share_excess(np.bincount(predicted, mean, minlength=len(counts)), counts, asked),
        is_rare=has_rare_class(counts),
        average_margins=margins(scores[differ]),
        supervised_margins=margins(squash(other, mean @ np.abs(other))[differ]),
    )
