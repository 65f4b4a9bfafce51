"""When pair steps are lost in rounding: tol is below what the arithmetic can reach.

f is updated from step to step. Its error is about the machine precision times the largest kernel value times the sum
of |a|; a violation below that says nothing, and steps that follow it go in circles.
"""

from __future__ import annotations

import numpy as np

EPS = float(np.finfo(np.float64).eps)
MAX_LOOKS = 50  # without a smaller violation after which one at the level of the rounding error ends the steps
IMPROVED = 0.99  # times the smallest violation


class Patience:
    """Counts how often in a row a violation was not smaller than the smallest one so far."""

    def __init__(self, limit: int):
        self.limit, self.count, self.smallest = limit, 0, np.inf

    def is_over(self, violation: float) -> bool:
        """Whether this violation is the last of ``limit`` in a row that are no smaller."""
        self.count += 1
        if violation < IMPROVED * self.smallest:
            self.smallest, self.count = violation, 0
        return self.count >= self.limit


class Stagnation:
    """Looks at the point after every period of pair steps."""

    def __init__(self) -> None:
        self._patience = Patience(MAX_LOOKS)

    def is_lost(self, before: np.ndarray, a: np.ndarray, violation: float, diagonal: np.ndarray) -> bool:
        """Whether the period from ``before`` to a changed nothing, or many of them only what is rounding error."""
        if np.abs(a - before).max() <= EPS * np.abs(a).max():
            return True
        rounding = EPS * float(diagonal.max()) * float(np.abs(a).sum())
        return self._patience.is_over(violation) and self._patience.smallest <= rounding
