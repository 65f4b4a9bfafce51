"""What every solver is: parameters, declared capabilities, ``solve``; and the one stopping rule that all use."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from ..balance import Free
from ..losses import SYMMETRIC_FORMS
from ..problem import Problem
from ..solution import Solution, without_bound
from ..spaces import Features, Gram, Space

Callback: TypeAlias = Callable[[dict[str, Any]], "bool | None"]
NO_FEATURES = "a kernel without features"
LOOSE = 10.0  # times tol: accuracy of the solves before the last one
SPEED = 1e9  # multiplications per second, to guess whether a step that nothing can end early fits into the time left


class OutOfTime(Exception):
    """Raised by ``StoppingRule.check_time`` in the middle of a computation that has nothing to return yet."""


class Accepts(NamedTuple):
    """The problems that a solver takes: classes of losses and balances, intercepts and norms.

    The supervised problem, without an unlabeled loss, is always taken.

    Attributes
    ----------
    space : {"gram", "features", "any"}
        "gram": it works on the kernel matrix (of features, on their linear kernel). "features": it works on features,
        so that a kernel with unlabeled samples has to be turned into features first.
    batch : bool
        Whether ``solve_batch`` solves problems that share features in one pass over the data.
    held_out : bool
        Whether ``held_out_scores`` has a closed form.
    at_labels : bool
        Whether unlabeled samples pay the labeled loss at the labels found, so that of several unlabeled losses only
        the symmetric form of the labeled one is taken.
    """

    labeled: tuple[type, ...]
    unlabeled: tuple[type, ...] = ()
    balances: tuple[type, ...] = (Free,)
    intercepts: tuple[bool | str, ...] = (True, False, "regularized")
    norms: tuple[int, ...] = (2,)
    space: str = "any"
    batch: bool = False
    held_out: bool = False
    at_labels: bool = False

    def unsupported(self, problem: Problem) -> str | None:
        """The piece of the problem that the solver does not take, in words; None if it takes all."""
        if not isinstance(problem.labeled, self.labeled):
            return f"the labeled loss {type(problem.labeled).__name__}"
        if (
            problem.unlabeled is not None
            and problem.has_unlabeled
            and not isinstance(problem.unlabeled, self.unlabeled)
        ):
            return f"the unlabeled loss {type(problem.unlabeled).__name__}"
        if self.at_labels and not _is_symmetric_form(problem):
            labeled, unlabeled = type(problem.labeled).__name__, type(problem.unlabeled).__name__
            return (
                f"the unlabeled loss {unlabeled} beside the labeled loss {labeled}, which it uses at the labels found"
            )
        if not isinstance(problem.balance, self.balances):
            return f"the balance {type(problem.balance).__name__}"
        if problem.intercept not in self.intercepts:
            return f"fit_intercept={problem.intercept!r}"
        if problem.norm not in self.norms:
            return f"the {problem.norm}-norm of w"
        if (
            self.space == "features"
            and isinstance(problem.space, Gram)
            and (len(problem.searched) or problem.norm == 1)
        ):
            return NO_FEATURES
        return None


def _is_symmetric_form(problem: Problem) -> bool:
    """Whether the unlabeled loss, if it is used, is the labeled one at the better label."""
    if problem.unlabeled is None or not problem.has_unlabeled:
        return True
    return type(problem.unlabeled) is SYMMETRIC_FORMS.get(type(problem.labeled))


@dataclass(frozen=True, kw_only=True)
class Solver(ABC):
    """A method, with its parameters; it has no state.

    Parameters
    ----------
    max_time : float or None
        Seconds after which the best solution so far is returned.
    """

    max_time: float | None = None

    accepts: ClassVar[Accepts]

    @abstractmethod
    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Solve a problem.

        Parameters
        ----------
        problem : Problem
            A problem that ``accepts`` allows.
        start : Solution, optional
            Where to start.
        callback : callable, optional
            Sees every row of the trace and may return True to stop.
        rng : Generator, int or None
            For methods that draw at random.
        """

    def needs_samples(self) -> str | None:
        """What it is that needs all samples in memory, in words; None if products with the features are enough."""
        return f"the solver {type(self).__name__}"

    def needs_gram(self, problem: Problem) -> bool:
        """Whether the kernel matrix of a problem is used."""
        return self.accepts.space == "gram" or isinstance(problem.space, Gram)

    def prepare(self, problems: Sequence[Problem], stop: StoppingRule) -> None:  # noqa: B027 (most share nothing)
        """Compute what several problems in one space share, before the time that is left is divided among them."""

    def solves_together(self, space: Space) -> bool:
        """Whether ``solve_batch`` solves problems in this space in one pass, not one after the other."""
        return self.accepts.batch and isinstance(space, Features)

    def solve_batch(self, problems: Sequence[Problem], callbacks: Sequence[Callback | None]) -> list[Solution]:
        """Solve several problems in one space, within ``max_time``; here one after the other."""
        limit, solutions = StoppingRule(max_time=self.max_time), []
        for number, (problem, callback) in enumerate(zip(problems, callbacks)):
            one = replace(self, max_time=limit.time_share(len(problems) - number))
            solutions.append(one.solve(problem, callback=callback))
        return solutions

    def held_out_scores(self, problem: Problem, solution: Solution, groups: list[np.ndarray]) -> np.ndarray:
        """Scores of labeled samples by models without their group, in closed form where ``accepts.held_out``."""
        raise TypeError(f"{type(self).__name__} has no closed form for held-out scores.")


def without_false_bound(problem: Problem, solution: Solution) -> Solution:
    """The solution of a problem, without what an indefinite kernel does not let it prove."""
    return without_bound(solution) if problem.is_indefinite else solution


class StoppingRule:
    """When iterations end, and the trace of how they went.

    Iterations end when they have converged, when a callback asks for it, after ``max_iter`` iterations, after
    ``max_time`` seconds, or at Ctrl-C. ``status`` is None as long as none of these has happened. The rule is a context
    manager around the iterations: Ctrl-C leaves the block, and so does ``check_time`` once the time is over; what was
    computed so far can be returned::

        with stop:
            while stop.running:
                ...
                stop.log_iteration({"objective": value}, converged=step_is_small)

    Parameters
    ----------
    max_iter : float
        Largest number of iterations.
    max_time : float or None
        Seconds from now.
    callback : callable or None
        Sees every row of the trace and may return True to stop.
    parent : StoppingRule or None
        The rule of the iterations around these: its deadline holds here, and an early end here, but for ``max_iter``,
        is one there.

    Attributes
    ----------
    status : str or None
        Why the iterations ended, as in ``Solution``.
    interrupted : bool
        Whether Ctrl-C left the block, before or after a reason to stop was there.
    n_iter : int
        Iterations made.
    trace : list of dict
        A row per iteration.
    best : tuple or None
        Value and candidate of the smallest value offered so far.
    """

    def __init__(
        self,
        max_iter: float = np.inf,
        max_time: float | None = None,
        callback: Callback | None = None,
        parent: StoppingRule | None = None,
    ):
        self.max_iter, self.callback, self.parent = max_iter, callback, parent
        self.deadline = np.inf if max_time is None else time.perf_counter() + max_time
        if parent is not None:
            self.deadline = min(self.deadline, parent.deadline)
        self.status: str | None = None
        self.interrupted = False
        self.n_iter = 0
        self.trace: list[dict[str, Any]] = []
        self.best: tuple[float, Any] | None = None

    @property
    def running(self) -> bool:
        """Whether there is no reason to stop yet."""
        return self.status is None

    @property
    def time_is_over(self) -> bool:
        """Whether the deadline has passed."""
        return time.perf_counter() > self.deadline

    @property
    def time_left(self) -> float | None:
        """Seconds until the deadline, above zero; None without one."""
        return max(self.deadline - time.perf_counter(), 1e-9) if np.isfinite(self.deadline) else None

    def time_share(self, n_left: float) -> float | None:
        """Seconds for the next of ``n_left`` solves, one after the other, that share the time left in equal parts."""
        return None if self.time_left is None else self.time_left / max(n_left, 1.0)

    def check_time(self) -> None:
        """Leave the block of the rule, with the status "max_time", if the deadline has passed."""
        if self.time_is_over:
            raise OutOfTime

    def has_time_for(self, n_multiplications: float) -> bool:
        """Whether a step that nothing can end early, of so many multiplications, is likely to end in the time left."""
        return self.time_left is None or n_multiplications <= SPEED * self.time_left

    def end(self, status: str) -> None:
        """End the iterations, unless they have ended already."""
        self.status = self.status or status

    def log_iteration(self, row: dict[str, Any], converged: bool = False) -> None:
        """Add a row to the trace and decide whether to go on."""
        self.trace.append({"step": len(self.trace)} | row)
        self.count(1, self.trace[-1], converged)

    def count(self, n_iter: int, row: dict[str, Any], converged: bool = False) -> None:
        """Count iterations and decide whether to go on; the callback sees the row, the trace does not keep it."""
        self.n_iter += n_iter
        asked_to_stop = self.callback is not None and bool(self.callback(row))
        if converged:
            self.end("converged")
        elif asked_to_stop:
            self.end("stopped")
        elif self.n_iter >= self.max_iter:
            self.end("max_iter")
        elif self.time_is_over:
            self.end("max_time")

    def offer(self, value: float, candidate: Any) -> None:
        """Keep a candidate if its value is the smallest so far."""
        if self.best is None or value < self.best[0]:
            self.best = value, candidate

    def nested(self, max_iter: float = np.inf) -> StoppingRule:
        """The rule of iterations inside these."""
        return StoppingRule(max_iter, parent=self)

    def __enter__(self) -> StoppingRule:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> bool:
        self.interrupted = isinstance(error, KeyboardInterrupt)
        if self.interrupted:
            self.end("interrupted")
        elif isinstance(error, OutOfTime):
            self.end("max_time")
        reason = "interrupted" if self.interrupted else self.status
        if self.parent is not None and reason in ("interrupted", "stopped", "max_time"):
            self.parent.end(reason)
        return self.interrupted or isinstance(error, OutOfTime)
