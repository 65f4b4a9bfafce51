"""When a solver stops before its goal."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LOOSE = 10.0  # of tol: how exact solves on the way to the last one are


def deadline(max_time: float | None) -> float:
    """The ``time.perf_counter()`` at which so many seconds from now are over."""
    return np.inf if max_time is None else time.perf_counter() + max_time


@dataclass
class Limits:
    """Steps made so far, and what ends them.

    Attributes
    ----------
    max_iter : int
        Largest number of steps.
    deadline : float
        ``time.perf_counter()`` after which nothing new is begun.
    watch : callable or None
        Sees a row of the trace now and then and may return True to stop.
    steps : int
        Steps made.
    status : str or None
        Why to stop, as in ``Solution``; None while there is no reason.
    """

    max_iter: int = 10_000_000
    deadline: float = np.inf
    watch: Callable[[dict], bool | None] | None = None
    steps: int = 0
    status: str | None = None

    @property
    def left(self) -> int:
        """Steps that may still be made."""
        return self.max_iter - self.steps

    def count(self, made: int, violation: float) -> str | None:
        """Add steps; returns the reason to stop, if there is one now."""
        self.steps += made
        if self.watch is not None and self.watch({"pair_steps": self.steps, "violation": float(violation)}):
            self.status = "stopped"
        elif self.steps >= self.max_iter:
            self.status = "max_iter"
        elif time.perf_counter() > self.deadline:
            self.status = "max_time"
        return self.status
