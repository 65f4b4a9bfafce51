"""Many problems in one pass over the data: coroutines that ask for products with one design matrix.

An algorithm is written for one problem, as a coroutine: where it needs a product with the design matrix it yields a
``Request`` and is sent the result. ``run_batched`` runs the coroutines of several problems (the classes of one-vs-rest,
say) side by side and computes the products that they ask for at the same time as one product with several columns.
The coroutines see nothing of the data but these products, so any object with the methods of ``DesignMatrix`` can answer
them, a distributed one included; an algorithm that does not need the data yields nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from ..._threads import single_blas_thread
from ...problem import Problem
from ...solution import Solution
from ...spaces import Features
from ..base import Callback, Solver, StoppingRule
from ..dual import SMO

POLISH = 1e-7  # times tol: the last solve goes on to there, since the last digits cost Newton little
Result = TypeVar("Result")


class Request(NamedTuple):
    """A product with the design matrix: the name of a method of ``Products``, and its arguments for one column."""

    method: str
    arguments: tuple[Any, ...]


Coroutine: TypeAlias = Generator[Request, Any, Result]


class Products(Protocol):
    """What the coroutines may ask for; arguments and results have an axis more where there are several columns."""

    def product(self, V: np.ndarray) -> np.ndarray:
        """X V."""

    def adjoint(self, P: np.ndarray) -> np.ndarray:
        """X'P."""

    def weighted_squares(self, H: np.ndarray) -> np.ndarray:
        """Sums of H x^2 over the samples for every feature."""

    def partial_product(self, V: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """X V at the samples where ``wanted`` is true."""

    def hessian_product(self, V: np.ndarray, shift: Any, H: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """X'(H o (X V + shift)), the sums of H o (X V + shift), and X V + shift, or nan where H is zero."""


# the last is asked for most: it waits for all
ORDER = ("product", "partial_product", "adjoint", "weighted_squares", "hessian_product")


def run_batched(
    products: Products,
    coroutines: Sequence[Coroutine[Result]],
    was_interrupted: Callable[[Result], bool] = lambda result: False,
) -> list[Result]:
    """Run coroutines to their ends and return their results.

    Requests of one method are answered together. Hessian products, which conjugate gradients ask for one after the
    other, wait until no coroutine asks for anything else, so that all problems share them. Ctrl-C is thrown into every
    coroutine that is still running; a result for which ``was_interrupted`` holds says that a coroutine has caught it.
    """
    batch = _Batch(products)
    results: dict[int, Result] = {}
    pending: dict[int, Request] = {}

    def resume(number: int, move: Callable[..., Request], *arguments: Any) -> None:
        pending.pop(number, None)
        try:
            pending[number] = move(*arguments)
        except StopIteration as end:
            results[number] = end.value

    def interrupt() -> bool:
        """Throw Ctrl-C into the coroutines; False if one of them has not caught it and has no result."""
        for number in list(pending):
            resume(number, coroutines[number].throw, KeyboardInterrupt())
        return len(results) + len(pending) == len(coroutines)

    for number, coroutine in enumerate(coroutines):
        resume(number, next, coroutine)
    if any(was_interrupted(result) for result in results.values()):
        interrupt()
    while pending:
        asked = {request.method for request in pending.values()}
        method = next(name for name in ORDER if name in asked)
        numbers = [number for number, request in pending.items() if request.method == method]
        try:
            answers = batch.compute(method, [pending[number].arguments for number in numbers])
            for number, answer in zip(numbers, answers):
                resume(number, coroutines[number].send, answer)
                if number in results and was_interrupted(results[number]):
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            if not interrupt():
                raise
    return [results[number] for number in range(len(coroutines))]


class _Batch:
    """Products of several columns; arguments that do not change from one product to the next are stacked once."""

    def __init__(self, products: Products):
        self._products = products
        self._stacked: dict[tuple[str, int], tuple[tuple[Any, ...], np.ndarray]] = {}

    def compute(self, method: str, arguments: list[tuple[Any, ...]]) -> list[Any]:
        """The answers to requests of one method."""
        function = getattr(self._products, method)
        if len(arguments) == 1:
            return [function(*arguments[0])]
        answers = function(*(self._stack((method, place), parts) for place, parts in enumerate(zip(*arguments))))
        if isinstance(answers, tuple):
            return list(zip(*(np.moveaxis(answer, -1, 0) for answer in answers)))
        return list(answers.T)

    def _stack(self, key: tuple[str, int], parts: tuple[Any, ...]) -> np.ndarray:
        held = self._stacked.get(key)
        if held is not None and len(held[0]) == len(parts) and all(a is b for a, b in zip(held[0], parts)):
            return held[1]
        self._stacked[key] = parts, np.stack(parts, axis=-1)
        return self._stacked[key][1]


@dataclass(frozen=True)
class BatchSolver(Solver):
    """A solver on features whose problems in one space are solved in one pass over the data.

    Parameters
    ----------
    tol : float
        Accuracy at which a solve ends, as the subclass measures it.
    max_iter : int
        Largest number of iterations, as the subclass counts them.
    """

    tol: float = 1e-3
    max_iter: int = 1000

    supervised_on_features: ClassVar[bool] = True  # whether the coroutine solves problems with nothing to search

    def needs_samples(self) -> None:
        """Nothing: products are enough."""

    @abstractmethod
    def coroutine(self, problem: Problem, stop: StoppingRule) -> Coroutine[Solution]:
        """The algorithm for one problem in a space of features."""

    def stopping_rule(self, callback: Callback | None) -> StoppingRule:
        """The rule of one problem."""
        return StoppingRule(self.max_iter, self.max_time, callback)

    def solve_supervised(self, problem: Problem, callback: Callback | None) -> Solution:
        """Solve a problem that the coroutine does not take: one without labels to search, behind a kernel perhaps."""
        return SMO(self.tol, max_time=self.max_time).solve(problem.labeled_only(), callback=callback)

    def solve(
        self, problem: Problem, start: Solution | None = None, callback: Callback | None = None, rng: Any = None
    ) -> Solution:
        """Solve one problem, from w = 0."""
        return self.solve_batch([problem], [callback])[0]

    def solve_batch(self, problems: Sequence[Problem], callbacks: Sequence[Callback | None]) -> list[Solution]:
        """Solve several problems in one space of features in one pass over the data."""
        results: dict[int, Solution] = {}
        coroutines: dict[int, Coroutine[Solution]] = {}
        limit = StoppingRule(max_time=self.max_time)
        for number, (problem, callback) in enumerate(zip(problems, callbacks)):
            takes = len(problem.searched) > 0 or self.supervised_on_features
            if takes and isinstance(problem.space, Features):
                coroutines[number] = self.coroutine(problem, self.stopping_rule(callback))
            else:
                one = replace(self, max_time=limit.time_share(len(problems) - number))
                results[number] = one.solve_supervised(problem, callback)
        if coroutines:
            space = problems[0].space
            assert isinstance(space, Features)
            # products with X have threads of their own; those of BLAS would hold a core while they wait for work
            with single_blas_thread:
                solutions = run_batched(
                    space.design, list(coroutines.values()), lambda solution: solution.status == "interrupted"
                )
            results |= zip(coroutines, solutions)
        return [results[number] for number in range(len(problems))]
