"""A number that is computed when somebody asks, or when the machine is saved."""

from __future__ import annotations

from collections.abc import Callable


class Slope:
    """The slope of a machine's probabilities, from held-out scores of its training rows.

    The rows are kept until the slope is computed; saving or copying the machine computes it first, so that a saved one
    has it and not the rows.
    """

    def __init__(self, compute: Callable[..., float], *data):
        self._compute = compute
        self._data = data
        self._value: float | None = None

    def settle(self, space=None) -> float:
        """Compute the slope now, in a space that is at hand if there is one."""
        if self._value is None:
            self._value = self._compute(*self._data, space)
            self._compute, self._data = None, ()
        return self._value

    @property
    def value(self) -> float:
        """The slope."""
        return self.settle()

    def __getstate__(self) -> dict:
        return {"_value": self.value, "_compute": None, "_data": ()}
