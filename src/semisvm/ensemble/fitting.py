"""All separators fitted to all labels and to the labels of every fold, in threads."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._threads import run_parallel
from ..balance import AskedShares
from ..estimators.progress import Progress
from ..multiclass import winners
from ..solvers import StoppingRule
from ..solvers.primal.smooth_path import SmoothPath
from .feature_spaces import FeatureSpace
from .prediction import WeightedModels
from .separators import Separator, binary_problems
from .weighting import squash

FOLD_LEVELS = 6  # of a path, in place of eleven: an average loses nothing by that


@dataclass(frozen=True)
class Task:
    """Labels that separators are fitted to.

    Attributes
    ----------
    codes : int array of shape (n,)
        Positions of the classes, -1 for samples without a label and for those that are held out.
    asked : AskedShares
        Shares of the classes among these.
    held : int array
        The samples that are held out.
    """

    codes: np.ndarray
    asked: AskedShares
    held: np.ndarray


@dataclass(frozen=True)
class Fit:
    """A separator fitted to the labels of a task: a model per binary problem.

    Attributes
    ----------
    coef, intercept, sizes : arrays of shape (k, r), (k,) and (k,)
        The models in the features of the space, and the mean of their absolute f over the samples without a label.
    scores : array of shape (n, k)
        tanh(f / size) at the samples.
    """

    coef: np.ndarray
    intercept: np.ndarray
    sizes: np.ndarray
    scores: np.ndarray


@dataclass(frozen=True)
class FittedSeparator:
    """A separator with all its fits, and what they say of it.

    Attributes
    ----------
    separator : Separator
        Method and cost.
    space : FeatureSpace
        Where the models live.
    fits : list of Fit
        Those of the folds; that of all labels alone if there are no folds.
    scores : array of shape (n, k)
        Mean of their scores.
    labels : int array of shape (n,)
        Classes by the fit of all labels.
    held_out : array of shape (n, k)
        Scores of held-out samples; NaN elsewhere.
    error : float
        Share of held-out samples that are wrong, by weight.
    instability : float
        Share of the unlabeled samples on which a fit of a fold and that of all labels differ, in the mean.
    """

    separator: Separator
    space: FeatureSpace
    fits: list[Fit]
    scores: np.ndarray
    labels: np.ndarray
    held_out: np.ndarray
    error: float
    instability: float


def fit_separator(
    separator: Separator, space: FeatureSpace, task: Task, weights: np.ndarray, stop: StoppingRule
) -> Fit:
    """Fit a separator to the labels of a task; Ctrl-C that a solver has heard is raised again."""
    problems = binary_problems(separator, space, task.codes, weights, task.asked)
    solver = replace(separator.solver, max_time=stop.time_left)
    if isinstance(solver, SmoothPath) and len(task.held):
        solver = replace(solver, n_levels=FOLD_LEVELS)
    solutions = solver.solve_batch(problems, [None] * len(problems))
    if any(solution.status == "interrupted" for solution in solutions):
        raise KeyboardInterrupt  # the solver has heard it; the whole fit is to end
    f = np.column_stack([solution.scores for solution in solutions])
    rest = np.where(task.codes < 0, weights, 0.0)
    sizes = rest @ np.abs(f) / rest.sum()
    coef = np.array([solution.coef for solution in solutions])
    return Fit(coef, np.array([solution.intercept for solution in solutions]), sizes, squash(f, sizes))


def fit_all(
    separators: list[tuple[Separator, FeatureSpace]],
    tasks: list[Task],
    codes: np.ndarray,
    weights: np.ndarray,
    stop: StoppingRule,
    progress: Progress,
    n_jobs: int | None,
) -> list[FittedSeparator]:
    """Fit separators to tasks, the first of which has all labels; those with every fit made before ``stop`` ended.

    Parameters
    ----------
    separators : list of pairs
        Separators with their spaces, in the order in which they are fitted.
    tasks : list of Task
        All labels, then the folds.
    codes, weights : arrays of shape (n,)
        Positions of the classes, -1 for unlabeled samples, and weights.
    stop : StoppingRule
        Ends the fits at its deadline, when a callback asks for it, or at Ctrl-C.
    progress : Progress
        Hears of every fit, and may ask for an end.
    n_jobs : int or None
        Number of threads.
    """
    jobs = [(which, number) for which in range(len(separators)) for number in range(len(tasks))]
    done: dict[tuple[int, int], Fit] = {}

    def run(job: tuple[int, int]) -> None:
        which, number = job
        if not stop.running:
            return
        with progress.task(which * len(tasks) + number) as step:
            fit = fit_separator(*separators[which], tasks[number], weights, stop)
            if stop.time_is_over:
                stop.end("max_time")
                return
            done[job] = fit
            if step is not None and step({"separator": separators[which][0].name, "fold": number}):
                stop.end("stopped")

    with stop:
        run_parallel(run, jobs, n_jobs)
    fitted = []
    for which, (separator, space) in enumerate(separators):
        fits = [done.get((which, number)) for number in range(len(tasks))]
        complete = [fit for fit in fits if fit is not None]
        if len(complete) == len(tasks):
            fitted.append(_judge(separator, space, tasks, complete, codes, weights))
    return fitted


def _judge(
    separator: Separator,
    space: FeatureSpace,
    tasks: list[Task],
    fits: list[Fit],
    codes: np.ndarray,
    weights: np.ndarray,
) -> FittedSeparator:
    """What the fits of a separator say of it."""
    whole, of_folds = fits[0], fits[1:]
    rest = np.where(codes < 0, weights, 0.0)
    labels = winners(whole.scores)
    held_out = np.full(whole.scores.shape, np.nan)
    differs = []
    for task, fit in zip(tasks[1:], of_folds):
        held_out[task.held] = fit.scores[task.held]
        differs.append(float(rest @ (winners(fit.scores) != labels) / rest.sum()))
    instability = float(np.mean(differs)) if differs else 0.0
    used = of_folds or [whole]
    scores = np.mean([fit.scores for fit in used], axis=0)
    error = held_out_error(held_out, codes, weights)
    return FittedSeparator(separator, space, used, scores, labels, held_out, error, instability)


def held_out_error(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """Share of held-out samples that are wrong, by weight; 0 if none was held out.

    Parameters
    ----------
    scores : array of shape (n, k)
        NaN where a sample was not held out.
    codes, weights : arrays of shape (n,)
        True positions of the classes, and weights.
    """
    known = ~np.isnan(scores[..., 0])
    if not known.any():
        return 0.0
    wrong = winners(scores) != codes
    return float((weights * known * wrong).sum() / (weights * known).sum())


def weighted_models(fitted: list[FittedSeparator], weights: np.ndarray) -> list[WeightedModels]:
    """The separators of positive weight, space by space, as they are kept for new samples."""
    parts = []
    for space in {id(one.space): one.space for one in fitted}.values():
        members = [(one, w) for one, w in zip(fitted, weights) if one.space is space and w > 0.0]
        fits = [fit for one, _ in members for fit in one.fits]
        if not fits:
            continue
        n_columns = len(fits[0].sizes)
        share = np.concatenate([np.full(len(one.fits) * n_columns, w / len(one.fits)) for one, w in members])
        coef, intercept, sizes = (
            np.concatenate([getattr(fit, name) for fit in fits]) for name in ("coef", "intercept", "sizes")
        )
        parts.append(WeightedModels(space.models(coef, intercept), sizes, share, n_columns))
    return parts
