"""Progress of a fit: scikit-learn's callbacks, and the lines of ``verbose``.

A fit is a tree: the fit, its binary problems, the iterations of their solvers. With scikit-learn 1.9 or newer every
node is a context of ``sklearn.callback``, so that ``set_callbacks(ProgressBar())`` shows it and a callback can stop a
problem early; the estimator then keeps the best solution so far. Older versions have no callbacks; there
``set_callbacks`` says so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from ..solvers.base import Callback

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for the one of scikit-learn."""

        def set_callbacks(self, *callbacks: Any) -> Any:
            """Refuse: this version of scikit-learn has no callbacks.

            Parameters
            ----------
            *callbacks : callback instances
                What scikit-learn 1.9 would call.
            """
            raise ImportError("callbacks need scikit-learn 1.9 or newer; upgrade it, or use verbose=1.")

    def with_callbacks(method: Callable) -> Callable:
        """Return the method unchanged."""
        return method


class Progress:
    """The binary problems of one fit; a context manager around their solution.

    Parameters
    ----------
    estimator : estimator or None
        Whose fit it is; None reports nothing.
    n_problems : int
        How many problems will be solved.
    """

    def __init__(self, estimator: Any, n_problems: int):
        self._estimator = estimator
        self._verbose = estimator is not None and bool(estimator.verbose)
        self._several = n_problems > 1
        self._lock = threading.Lock()  # problems are solved in threads, callbacks need not be thread-safe
        self._root = None
        if getattr(estimator, "_skl_callbacks", None):
            self._root = estimator._init_callback_context(max_subtasks=n_problems, sequential_subtasks=False)

    def __enter__(self) -> Progress:
        if self._root is not None:
            self._root.call_on_fit_task_begin(estimator=self._estimator)
        return self

    def __exit__(self, kind: type | None, *error: object) -> None:
        if self._root is not None and kind is None:
            self._root.call_on_fit_task_end(estimator=self._estimator)

    @contextmanager
    def task(self, number: int) -> Iterator[Callback | None]:
        """What the solver of a problem calls after every iteration; None if nothing is reported."""
        if self._root is None and not self._verbose:
            yield None
            return
        context = None
        if self._root is not None:
            with self._lock:
                context = self._root.subcontext("binary task", task_id=number, max_subtasks=None)
                context.call_on_fit_task_begin(estimator=self._estimator)

        def step(row: dict[str, Any]) -> bool:
            with self._lock:
                if self._verbose:
                    print((f"problem {number}  " if self._several else "") + _line(row))
                if context is None:
                    return False
                inner = context.subcontext("step")
                inner.call_on_fit_task_begin(estimator=self._estimator)
                return bool(inner.call_on_fit_task_end(estimator=self._estimator))

        yield step
        if context is not None:
            with self._lock:
                context.call_on_fit_task_end(estimator=self._estimator)

    @contextmanager
    def tasks(self, n_problems: int) -> Iterator[list[Callback | None]]:
        """The same for problems that are solved in one pass."""
        with ExitStack() as stack:
            yield [stack.enter_context(self.task(number)) for number in range(n_problems)]


class StartedProgress(Progress):
    """Binary problems whose callbacks are there already, for a stage of their solution.

    Parameters
    ----------
    callbacks : sequence of callback
        One for each problem, None where nothing is reported.
    """

    def __init__(self, callbacks: Sequence[Callback | None]):
        super().__init__(None, len(callbacks))
        self._callbacks = callbacks

    @contextmanager
    def task(self, number: int) -> Iterator[Callback | None]:
        """What the solver of a problem calls after every iteration."""
        yield self._callbacks[number]


def _line(row: dict[str, Any]) -> str:
    cells = (f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items())
    return "  ".join(cells)
