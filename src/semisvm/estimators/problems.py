"""From the parameters of an estimator and its samples to binary problems, and their solutions.

``prepare`` resolves what is left to the data and builds the space, once per fit; the ``BinaryProblems`` that it returns
state the binary problems of all classes in that space and solve them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from .._threads import n_jobs_of_fit, n_parallel, run_parallel
from ..balance import AskedShares, Balance, Count, Free, Mean, standard_error
from ..losses import Loss
from ..model_selection.shares import ShareEstimator, decide_shares
from ..multiclass import BinaryTask, n_binary_tasks, one_vs_one, one_vs_rest, votes
from ..problem import Problem
from ..solution import Solution
from ..solvers import Solver, StoppingRule, refusal
from ..solvers.base import without_false_bound
from ..solvers.dual import can_leave_one_out, leave_one_out_scores
from ..spaces import Kernel, KernelCache, SampleResults, Space
from ..spaces.bandwidth import resolve_gamma, total_variance
from ._spaces import Approximation, build_space, choose_space
from .progress import Progress

NO_TIME = 1e-9  # seconds left to the other problems after Ctrl-C: each returns its first point


class Formulation(NamedTuple):
    """What a named class chooses: losses, solver and norm."""

    labeled: Loss
    unlabeled: Loss | None
    solver: Solver
    norm: int = 2


class UnlabeledSettings(NamedTuple):
    """Cost and balance of unlabeled samples; a cost of None is C l/u, or C where ``default_is_C``.

    ``balance_tol="auto"`` is a standard error of the share.
    """

    C: float | None
    default_is_C: bool
    balance: Any
    balance_tol: float | str

    def tolerance(self, share: float, n_labels: float) -> float:
        """How far a share that is as sure as one of so many labels may be off."""
        return standard_error(share, n_labels) if isinstance(self.balance_tol, str) else float(self.balance_tol)


@dataclass(frozen=True)
class ProblemSettings:
    """What the parameters of an estimator, all checked, say about its binary problems.

    ``name`` is that of the estimator, for messages. ``gamma`` and ``C`` are as the user gave them; ``resolve`` makes
    them numbers. ``robust_C`` is the value behind C="auto" for features of total variance one, as a function of the
    number of labels. ``unlabeled`` is None for a supervised estimator.
    """

    name: str
    formulation: Formulation
    kernel: Kernel
    gamma: float | str
    C: float | str
    robust_C: Callable[[float], float]
    approximation: Approximation
    intercept: bool | str
    unlabeled: UnlabeledSettings | None
    multiclass: str
    n_jobs: int | None
    random_state: Any
    cache: KernelCache | None

    def results_of(self, X: Any) -> SampleResults:
        """What is computed from samples, kept in the cache; of a kernel that is a function nothing is kept."""
        return SampleResults(X, None if callable(self.kernel.name) else self.cache)


class Resolved(NamedTuple):
    """What was left to the data: the kernel with its gamma, and C."""

    kernel: Kernel
    C: float


def resolve(settings: ProblemSettings, samples: SampleResults, codes: np.ndarray, weights: np.ndarray) -> Resolved:
    """Resolve gamma and C.

    Parameters
    ----------
    settings : ProblemSettings
        Of the estimator.
    samples, codes, weights : SampleResults and arrays over the samples
        Samples, positions of their classes (-1 where there is none), and weights, all positive.
    """
    gamma, kernel = settings.gamma, settings.kernel
    if kernel.name in ("precomputed", "linear") or callable(kernel.name):
        gamma = 1.0
    elif isinstance(gamma, str):
        gamma = samples.once(("gamma", kernel, gamma, weights), lambda X: resolve_gamma(kernel, gamma, X, weights))
    kernel = kernel._replace(gamma=float(gamma))
    if not isinstance(settings.C, str):
        return Resolved(kernel, float(settings.C))
    variance = samples.once(("variance", kernel, weights), lambda X: total_variance(kernel, X, weights))
    scale = variance ** (0.5 * settings.formulation.norm)  # samples k times as large make w a k-th, ||w||^2 a k^2-th
    return Resolved(kernel, settings.robust_C(weights[codes >= 0].sum()) / (scale if variance > 0.0 else 1.0))


def prepare(
    settings: ProblemSettings,
    classes: np.ndarray,
    X: Any,
    codes: np.ndarray,
    weights: np.ndarray,
    resolved: Resolved | None = None,
) -> BinaryProblems:
    """Resolve what is left to the data, unless that was done before, and build the space."""
    samples = settings.results_of(X)
    kernel, C = resolved or resolve(settings, samples, codes, weights)
    solver, norm = settings.formulation.solver, settings.formulation.norm
    choice = choose_space(settings.approximation, solver, norm, kernel, settings.intercept is True, X, codes)
    space = samples.once(choice.key(codes >= 0), lambda X: build_space(choice, X, codes >= 0), holds_samples=True)
    estimator = None
    if settings.unlabeled is not None and settings.unlabeled.balance == "auto":
        is_median = settings.gamma == "median" and kernel.name == "rbf"
        precomputed = kernel.name == "precomputed"
        estimator = ShareEstimator(X, codes >= 0, weights, precomputed, kernel.gamma if is_median else None)
    return BinaryProblems(settings, classes, kernel, C, space, estimator)


@dataclass(frozen=True)
class BinaryProblems:
    """The binary problems of an estimator in one space, with gamma of the kernel and C resolved.

    ``share_estimator`` is there if the shares of the classes are estimated.
    """

    settings: ProblemSettings
    classes: np.ndarray
    kernel: Kernel
    C: float
    space: Space
    share_estimator: ShareEstimator | None

    def shares(self, codes: np.ndarray, weights: np.ndarray) -> AskedShares:
        """Shares of the classes among the samples that have no label in ``codes``, from the others alone."""
        balance = None if self.settings.unlabeled is None else self.settings.unlabeled.balance
        return decide_shares(balance, self.classes, codes, weights, self.share_estimator)

    def tasks(self, codes: np.ndarray, weights: np.ndarray, guess: np.ndarray | None = None) -> list[BinaryTask]:
        """The binary tasks of the classes; ``guess`` says where an unlabeled sample is part of a one-vs-one task."""
        asked = self.shares(codes, weights)
        if self.settings.multiclass == "ovr":
            return one_vs_rest(codes, asked)
        return one_vs_one(codes, asked, guess)

    def state(self, task: BinaryTask, weights: np.ndarray) -> Problem:
        """A task as a problem, with costs and balance as numbers."""
        settings, formulation = self.settings, self.settings.formulation
        weights = np.where(task.present, weights, 0.0)
        known = task.signs != 0
        cost = self.C * weights
        balance: Balance = Free()
        unlabeled = settings.unlabeled
        if unlabeled is not None:
            labeled_weight, unlabeled_weight = weights[known].sum(), weights[~known].sum()
            cost = np.where(known, cost, self._unlabeled_cost(unlabeled, labeled_weight, unlabeled_weight) * weights)
            if unlabeled.balance is not None and formulation.unlabeled is not None and unlabeled_weight > 0:
                counts = Count in formulation.solver.accepts.balances
                slack = unlabeled.tolerance(task.share, task.n_labels)
                balance = Count(task.share, slack) if counts else Mean(2.0 * task.share - 1.0)
        return Problem(
            self.space,
            task.signs,
            cost,
            formulation.labeled,
            formulation.unlabeled,
            balance,
            settings.intercept,
            weights,
            formulation.norm,
        )

    def _unlabeled_cost(self, unlabeled: UnlabeledSettings, labeled_weight: float, unlabeled_weight: float) -> float:
        if unlabeled.C is not None:
            return float(unlabeled.C)
        if unlabeled.default_is_C or unlabeled_weight <= 0:
            return self.C
        return self.C * labeled_weight / unlabeled_weight

    def solve(
        self,
        codes: np.ndarray,
        weights: np.ndarray,
        progress: Progress | None = None,
        limit: StoppingRule | None = None,
    ) -> list[Solution]:
        """A solution for every binary task; all together take the time of ``limit``, ``max_time`` if there is none."""
        limit = limit or self._limit()
        tasks = self.tasks(codes, weights)
        several_pairs = self.settings.multiclass == "ovo" and len(self.classes) > 2
        if several_pairs and self.settings.unlabeled is not None and (codes < 0).any():
            half = StoppingRule(max_time=limit.time_share(2))
            supervised = self._solve([self.state(task, weights).labeled_only() for task in tasks], half)
            guess = votes(np.column_stack([s.scores for s in supervised]), len(self.classes))
            tasks = self.tasks(codes, weights, guess)
        return self._solve([self.state(task, weights) for task in tasks], limit, progress)

    def _limit(self) -> StoppingRule:
        return StoppingRule(max_time=self.settings.formulation.solver.max_time)

    def can_leave_one_out(self, codes: np.ndarray, weights: np.ndarray) -> bool:
        """Whether solutions of the tasks tell the scores of single samples by models without them."""
        return all(can_leave_one_out(self.state(task, weights)) for task in self.tasks(codes, weights))

    def leave_one_out_scores(
        self, codes: np.ndarray, weights: np.ndarray, solutions: Sequence[Solution], equal: np.ndarray
    ) -> np.ndarray | None:
        """Scores of labeled samples by models without them and those equal to them, from the solutions of the tasks.

        A column per binary task; None if folds are cheaper.
        """
        problems = [self.state(task, weights) for task in self.tasks(codes, weights)]

        def leave_out(number: int) -> np.ndarray | None:
            return leave_one_out_scores(problems[number], solutions[number], equal)

        columns = run_parallel(leave_out, range(len(problems)), n_jobs_of_fit(self.settings.n_jobs))
        found = [column for column in columns if column is not None]
        return np.column_stack(found) if len(found) == len(columns) else None

    def held_out_scores(
        self,
        codes: np.ndarray,
        weights: np.ndarray,
        groups: list[np.ndarray],
        solutions: Sequence[Solution] | None = None,
    ) -> np.ndarray:
        """Scores of labeled samples by models without their group, a column per binary task.

        All models together take no longer than a fit may take. A closed form uses the solutions with all samples, if
        they are still there.
        """
        limit = self._limit()
        solver = self.settings.formulation.solver
        if solver.accepts.held_out:
            problems = [self.state(task, weights) for task in self.tasks(codes, weights)]
            solved = zip(problems, solutions or self._solve(problems, limit))
            return np.column_stack([solver.held_out_scores(p, s, groups) for p, s in solved])
        scores = np.zeros((len(codes), n_binary_tasks(self.settings.multiclass, len(self.classes))))
        has_unlabeled = (codes < 0).any()  # held-out samples join the unlabeled ones, if there are any
        for number, group in enumerate(groups):
            held = np.zeros(len(codes), dtype=bool)
            held[group] = True
            share = StoppingRule(max_time=limit.time_share(len(groups) - number))
            found = self.solve(np.where(held, -1, codes), np.where(held & ~has_unlabeled, 0.0, weights), limit=share)
            scores[held] = np.column_stack([s.scores[held] for s in found])
        return scores

    def _solve(
        self, problems: Sequence[Problem], limit: StoppingRule, progress: Progress | None = None
    ) -> list[Solution]:
        """Solve problems, in one pass over the data or in threads if the kernel matrix can be shared by them.

        Each has an equal part of the time that ``limit`` leaves when it begins.
        """
        settings, solver, space = self.settings, self.settings.formulation.solver, self.space
        for problem in problems:
            reason = refusal(solver, problem)
            if reason:
                raise ValueError(f"{settings.name}: {reason}")
        seed = check_random_state(settings.random_state).randint(2**31)
        progress = progress or Progress(None, len(problems))
        if solver.solves_together(space):
            with progress.tasks(len(problems)) as callbacks:
                return replace(solver, max_time=limit.time_left).solve_batch(problems, callbacks)
        n_jobs = n_jobs_of_fit(settings.n_jobs)
        if any(solver.needs_gram(problem) for problem in problems):
            gram = space.gram()
            if solver.accepts.space != "features" and not gram.fits_memory:
                n_jobs = 1  # beyond the memory rule the row cache has one user at a time
            elif len(problems) > 1 and gram.fits_memory:
                gram.compute()
        solver.prepare(problems, limit)
        interrupted: list[int] = []
        n_threads = n_parallel(n_jobs, len(problems))

        def solve(number: int) -> Solution:
            with progress.task(number) as step:

                def callback(row: dict[str, Any]) -> bool:
                    return bool(interrupted) or (step is not None and bool(step(row)))

                share = limit.time_share((len(problems) - number) / n_threads)
                one = replace(solver, max_time=NO_TIME if interrupted else share)
                solution = one.solve(problems[number], callback=callback, rng=np.random.default_rng(seed))
                if interrupted and solution.status == "stopped":
                    solution = replace(solution, status="interrupted")
                if solution.status == "interrupted":
                    interrupted.append(number)
                return without_false_bound(problems[number], solution)

        return run_parallel(solve, range(len(problems)), n_jobs, interrupt=lambda: interrupted.append(-1))
