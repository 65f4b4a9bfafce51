"""Fits of ``MultiSwitchTSVM`` that keep no number per sample: the labels are a threshold on the scores.

The path of increasing costs is followed on a part of the samples, in memory; the full cost is solved on all of them, in
few passes (``solvers.primal.out_of_core``), from there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .._validation import KeptSamples, encode_labels, find_labeled
from .._validation.labels import check_two_classes
from ..balance import ClassShares
from ..estimators._attributes import copy_solutions, warn_if_unfinished
from ..estimators._calibration import CalibrationSet, LazySlope, calibrate
from ..estimators.problems import BinaryProblems, ProblemSettings, prepare, resolve
from ..estimators.progress import Progress, StartedProgress, with_callbacks
from ..multiclass import n_binary_tasks
from ..problem import Problem
from ..solution import Solution
from ..solvers.base import Callback, StoppingRule
from ..solvers.primal import OutOfCoreProblem, OutOfCoreSolution, OutOfCoreSwitch, Start
from ..spaces import Features, SampleResults
from .reading import column_of
from .samples import BlockedSamples
from .spaces import blocked_space

N_START = 50_000  # unlabeled samples of the path that leads to the start
N_CALIBRATION = 10_000  # unlabeled samples that are kept for probabilities, with as many labeled ones at most


@dataclass(frozen=True)
class _Part:
    """The labeled samples and some of the others, in memory.

    Attributes
    ----------
    X, codes : array of shape (n, d), int array of shape (n,)
        The samples, and positions of their classes; -1 for none.
    positions, classes : int array of shape (l,), array
        Of the labeled samples in the table, and the classes.
    thinning : float
        How many unlabeled samples of the table one of these stands for.
    """

    X: np.ndarray
    codes: np.ndarray
    positions: np.ndarray
    classes: np.ndarray
    thinning: float

    def thinned(self, n: int) -> _Part:
        """The same with so many of the unlabeled samples at most."""
        rest = np.flatnonzero(self.codes < 0)
        if len(rest) <= n:
            return self
        kept = np.union1d(self.labeled, rest[np.linspace(0, len(rest) - 1, n).astype(int)])
        return replace(self, X=self.X[kept], codes=self.codes[kept], thinning=self.thinning * len(rest) / n)

    @property
    def labeled(self) -> np.ndarray:
        """Positions of the labeled samples in the part, in the order of ``positions``."""
        return np.flatnonzero(self.codes >= 0)


@with_callbacks
def fit_out_of_core(estimator: Any, settings: ProblemSettings, samples: BlockedSamples, y: Any) -> None:
    """Fit an estimator; ``settings`` are those of a MultiSwitchTSVM with the linear kernel."""
    positions, codes, classes = _labels(y, samples.shape[0], estimator.unlabeled)
    kernel, C = _resolve(settings, samples, positions, codes)
    space = blocked_space(samples, kernel, settings.intercept is True, None, None, np.zeros(0), 0, False)
    part = _part(space.X, positions, codes, classes)
    resolved = _for_part(replace(settings, C=C), part)
    problems = prepare(resolved, classes, part.X, part.codes, np.ones(len(part.codes)))
    with Progress(estimator, n_binary_tasks(settings.multiclass, len(classes))) as progress:
        found = _solve(settings, problems, part, space, progress)
    _set_attributes(estimator, settings, problems, part, space, found)


def _labels(y: Any, n: int, marker: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions of the labeled samples, positions of their classes, and the classes."""
    y = column_of(y)
    if len(y) != n:
        raise ValueError(f"X has {n} samples and y has {len(y)} values; pass one label per sample.")
    y = np.asarray(y) if not isinstance(y, np.ndarray) else y
    positions = find_labeled(y, marker)
    labels = encode_labels(y[positions] if len(positions) else y[:1], marker)
    check_two_classes(labels.classes, marker)
    return positions, labels.codes, labels.classes


def _resolve(
    settings: ProblemSettings, samples: BlockedSamples, positions: np.ndarray, codes: np.ndarray
) -> tuple[Any, float]:
    """The kernel and C, as a fit in memory has them."""
    n = samples.shape[0]
    everywhere = np.full(n, -1, dtype=np.int8)
    everywhere[positions] = 0
    some = SampleResults(samples.in_memory_if_few(), None)
    return resolve(settings, some, everywhere, np.broadcast_to(np.float64(1.0), n))


def _part(X: BlockedSamples, positions: np.ndarray, codes: np.ndarray, classes: np.ndarray) -> _Part:
    """All labeled samples, and unlabeled ones spread evenly over the table."""
    n, n_labeled = X.shape[0], len(positions)
    spread = np.linspace(0, n - 1, min(n, N_START + n_labeled)).astype(np.int64)
    others = np.setdiff1d(spread, positions, assume_unique=False)
    rows = np.union1d(others, positions)
    of_rows = np.full(len(rows), -1)
    of_rows[np.searchsorted(rows, positions)] = codes
    thinning = (n - n_labeled) / max(len(others), 1)
    return _Part(np.asarray(X[rows], dtype=np.float64), of_rows, positions, classes, thinning)


def _for_part(settings: ProblemSettings, part: _Part) -> ProblemSettings:
    """Settings under which the unlabeled samples of a part count as much as all of them."""
    unlabeled = settings.unlabeled
    assert unlabeled is not None, "MultiSwitchTSVM is semi-supervised"
    given = unlabeled.C if unlabeled.C is not None or not unlabeled.default_is_C else settings.C
    return replace(settings, unlabeled=unlabeled._replace(C=None if given is None else float(given) * part.thinning))


def _solve(
    settings: ProblemSettings, problems: BinaryProblems, part: _Part, space: Features, progress: Progress
) -> list[OutOfCoreSolution]:
    """A solution for every binary problem, each from the solution of its part, which takes half of the time."""
    weights, path = np.ones(len(part.codes)), settings.formulation.solver
    limit = StoppingRule(max_time=path.max_time)
    tasks = problems.tasks(part.codes, weights)
    found: list[OutOfCoreSolution] = []
    with progress.tasks(len(tasks)) as steps:
        half = StoppingRule(max_time=limit.time_share(2))
        starts = problems.solve(part.codes, weights, StartedProgress(steps), half)
        interrupted = any(start.status == "interrupted" for start in starts)
        for number, (task, start) in enumerate(zip(tasks, starts)):
            solver = OutOfCoreSwitch(
                tol=path.tol,  # type: ignore[attr-defined]
                max_iter=1 if interrupted else path.max_iter,  # type: ignore[attr-defined]
                max_time=limit.time_share(len(tasks) - number),
            )
            problem = _whole_problem(problems.state(task, weights), part)
            begin = Start(start.coef, start.intercept, _threshold(start, part))
            solution = solver.solve(space.design, problem, begin, _with_time_left(steps[number]))
            interrupted = interrupted or solution.status == "interrupted"
            found.append(replace(solution, status="interrupted") if interrupted else solution)
    return found


def _whole_problem(stated: Problem, part: _Part) -> OutOfCoreProblem:
    """The problem of all samples, from that of a part."""
    labeled = part.labeled
    rest = float(stated.cost[part.codes < 0].max(initial=0.0)) / part.thinning
    X, signs, cost = part.X[labeled], stated.signs[labeled], stated.cost[labeled]
    return OutOfCoreProblem(X, signs, cost, rest, stated.balance, stated.intercept, part.positions)


def _with_time_left(step: Callback | None) -> Callback | None:
    """A callback whose rows tell about how many seconds are left, by the mean of the points so far."""
    if step is None:
        return None
    start = time.perf_counter()

    def report(row: dict[str, Any]) -> bool:
        seconds = (time.perf_counter() - start) / (row["step"] + 1)
        return bool(step(row | {"seconds_left": round(seconds * row["n_left"], 1)}))

    return report


def _threshold(start: Solution, part: _Part) -> float:
    """The score above which the unlabeled samples of a part are positive."""
    f, positive = start.scores[part.codes < 0], start.labels[part.codes < 0] > 0
    if positive.all() or not positive.any():
        return 0.0
    return 0.5 * float(f[positive].min() + f[~positive].max())


def _set_attributes(
    estimator: Any,
    settings: ProblemSettings,
    problems: BinaryProblems,
    part: _Part,
    space: Features,
    found: list[OutOfCoreSolution],
) -> None:
    """The attributes of a fit, but for those that have a number per sample."""
    estimator.classes_, estimator._kernel_ = part.classes, problems.kernel
    estimator.gamma_, estimator.C_ = problems.kernel.gamma, problems.C
    solutions = [_as_solution(one, part) for one in found]
    copy_solutions(estimator, solutions, space, None)  # type: ignore[arg-type]  # no sample is a support vector
    del estimator.n_active_
    warn_if_unfinished(estimator, solutions)
    few, weights = part.thinned(N_CALIBRATION), np.ones(len(part.codes))
    calibration = CalibrationSet(KeptSamples(few.X, [few.X]), few.codes, weights[: len(few.codes)])
    resolved = _for_part(replace(settings, C=problems.C, gamma=problems.kernel.gamma), few)
    estimator._slope_ = LazySlope(partial(calibrate, resolved, part.classes, calibration))
    estimator._thresholds_ = np.array([one.tau for one in found])
    for name in ("transduction_", "training_scores_"):
        estimator.__dict__.pop(name, None)
    labeled, names = part.labeled, part.classes.tolist()
    estimator._labeled_ = part.positions, part.X[labeled], part.classes[part.codes[labeled]], weights[labeled]
    estimator.__dict__.pop("_supervised_", None)
    asked = problems.shares(part.codes, weights).shares
    balance = problems.settings.unlabeled.balance if problems.settings.unlabeled is not None else None
    reached = _reached(space, part, found)
    estimator.share_ = ClassShares(
        None if balance is None else dict(zip(names, asked.tolist())), dict(zip(names, reached.tolist()))
    )


def _as_solution(found: OutOfCoreSolution, part: _Part) -> Solution:
    """The solution with the scores of a part of the samples, and no labels and multipliers."""
    none, scores = np.zeros(0), part.X @ found.coef + found.intercept
    return Solution(
        found.coef, found.intercept, scores, none, found.objective, found.certificate, found.status, found.n_iter,
        none, None, found.trace,
    )  # fmt: skip


def _reached(space: Features, part: _Part, found: list[OutOfCoreSolution]) -> np.ndarray:
    """Shares of the classes among the unlabeled samples: of two by the threshold, of more by the largest score."""
    if len(found) == 1:
        return np.array([1.0 - found[0].share, found[0].share])
    coef, intercept = np.array([one.coef for one in found]), np.array([one.intercept for one in found])
    counts = space.design.accumulate(count_largest, coef, intercept)[0]
    counts -= count_largest(part.X[part.labeled], 0, coef, intercept)[0]
    return counts / counts.sum()


def count_largest(X: np.ndarray, first_row: int, coef: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray]:
    """How many rows have their largest score in each class."""
    largest = (X @ coef.T + intercept).argmax(axis=1)
    return (np.bincount(largest, minlength=len(coef)).astype(float),)
