"""Progress of a fit, told to scikit-learn's callbacks and to whoever asked for ``verbose``.

A fit is a tree: the fit, its binary tasks, the steps of their solvers. With scikit-learn 1.9 or newer every node is a
context of ``sklearn.callback``, so that ``set_callbacks(ProgressBar())`` shows it and a callback can stop a task early;
the machine then keeps the best so far. Older versions have no callbacks; there ``set_callbacks`` says so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:
        """Stands in for the one of scikit-learn."""

        def set_callbacks(self, *callbacks):
            """Refuse: there is nothing to call them.

            Parameters
            ----------
            *callbacks : callback instances
                What scikit-learn 1.9 would call.
            """
            raise ImportError("callbacks need scikit-learn 1.9 or newer; upgrade it, or use verbose=1.")

    def with_callbacks(method: Callable) -> Callable:
        """Nothing to manage."""
        return method


class Progress:
    """The tasks of one fit.

    Parameters
    ----------
    estimator : estimator
        Whose fit it is.
    n_tasks : int
        How many problems will be solved.
    """

    def __init__(self, estimator, n_tasks: int):
        self._estimator = estimator
        self._verbose = bool(estimator.verbose)
        self._several = n_tasks > 1
        self._lock = threading.Lock()  # tasks run in threads, callbacks need not know
        self._root = None
        if getattr(estimator, "_skl_callbacks", None):
            self._root = estimator._init_callback_context(max_subtasks=n_tasks, sequential_subtasks=False)
            self._root.call_on_fit_task_begin(estimator=estimator)

    def task(self, number: int) -> tuple[Callable[[dict], bool] | None, Callable[[], None]]:
        """What a solver calls after every step (None if nobody listens), and what to call at its end."""
        if self._root is None and not self._verbose:
            return None, lambda: None
        context = None
        if self._root is not None:
            with self._lock:
                context = self._root.subcontext("binary task", task_id=number, max_subtasks=None)
                context.call_on_fit_task_begin(estimator=self._estimator)

        def step(row: dict) -> bool:
            with self._lock:
                if self._verbose:
                    print((f"task {number}  " if self._several else "") + _line(row))
                if context is None:
                    return False
                inner = context.subcontext("step")
                inner.call_on_fit_task_begin(estimator=self._estimator)
                return bool(inner.call_on_fit_task_end(estimator=self._estimator))

        def end() -> None:
            if context is not None:
                with self._lock:
                    context.call_on_fit_task_end(estimator=self._estimator)

        return step, end

    def end(self) -> None:
        """The fit is over."""
        if self._root is not None:
            self._root.call_on_fit_task_end(estimator=self._estimator)


def _line(row: dict) -> str:
    cells = (f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items())
    return "  ".join(cells)
