"""The runs of rounds in a fit: one for all classes, or one for every class against the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._threads import run_parallel
from .._validation import TrainingSet
from ..estimators.progress import Progress
from ..solvers import StoppingRule
from .learners import BaseLearner, IncrementalLearner, RefittedLearner
from .rounds import Labeling, label_in_rounds
from .selection import ClassQuota, Selector


class LabelingTask(NamedTuple):
    """What is labeled in one run of rounds."""

    codes: np.ndarray  # given classes of all samples, -1 where there is none
    classes: np.ndarray  # their names
    present: np.ndarray  # samples that are part of the fit
    counts: np.ndarray | None  # candidates of each class, where a method has a number of them
    shares: np.ndarray | None  # of the classes among the unlabeled samples, where a balance is asked for

    @property
    def n_unlabeled(self) -> int:
        """Samples that may get a label."""
        return int((self.present & (self.codes < 0)).sum())


def labeling_tasks(
    data: TrainingSet, counts: np.ndarray | None, shares: np.ndarray | None, multiclass: str
) -> list[LabelingTask]:
    """One task for all classes, or with ``multiclass="ovr"`` one for each of three classes or more against the rest."""
    (classes, codes), present = data.labels, data.weights > 0
    if len(classes) == 2 or multiclass == "joint":
        return [LabelingTask(codes, classes, present, counts, shares)]
    return [
        LabelingTask(
            np.where(codes < 0, -1, (codes == c).astype(int)),
            np.array([0, 1]),
            present,
            None if counts is None else np.array([counts.sum() - counts[c], counts[c]]),
            None if shares is None else np.array([1.0 - shares[c], shares[c]]),
        )
        for c in range(len(classes))
    ]


def label_task(
    learner: BaseLearner, task: LabelingTask, selector: Selector, use_probability: bool, stop: StoppingRule
) -> tuple[Labeling, IncrementalLearner | RefittedLearner]:
    """The rounds of one task, and the learner that they end with."""
    trained = learner.new_learner(task.classes, use_probability)
    quota = None if task.shares is None or not task.n_unlabeled else ClassQuota(task.shares, task.n_unlabeled)
    return label_in_rounds(trained, selector, task.codes, task.present, quota, stop), trained


def run_tasks(
    label: Callable[[LabelingTask, StoppingRule], tuple[Labeling, Any]],
    tasks: list[LabelingTask],
    whole_fit: StoppingRule,
    progress: Progress,
    n_jobs: int | None,
) -> list[tuple[Labeling, Any]]:
    """What ``label`` returns for each task, in threads; Ctrl-C in one of them ends the others too.

    ``whole_fit`` has the deadline of all tasks together and the rounds of each.
    """
    interrupted: list[int] = []

    def run(number: int) -> tuple[Labeling, Any]:
        with progress.task(number) as step:

            def callback(row: dict[str, Any]) -> bool:
                return bool(interrupted) or (step is not None and bool(step(row)))

            max_rounds = 0 if interrupted else whole_fit.max_iter
            labeling, model = label(tasks[number], StoppingRule(max_rounds, callback=callback, parent=whole_fit))
            if labeling.status == "interrupted" or (interrupted and labeling.status in ("stopped", "max_iter")):
                labeling.status = "interrupted"
                interrupted.append(number)
            return labeling, model

    return run_parallel(run, range(len(tasks)), n_jobs)
