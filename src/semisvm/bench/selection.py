"""The choice of parameters on the test samples, which flatters, as many papers make it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from .protocol import Measured


def best_on_test(axes: Mapping[str, Sequence[Any]], error_of: Callable[..., float]) -> Measured:
    """The smallest error of a grid.

    Parameters
    ----------
    axes : mapping
        Values of the parameters by name; the last one changes fastest.
    error_of : callable
        Percent error on the test samples for one value of each, in that order.

    Returns
    -------
    Measured
        With the first of the best cells, and the errors of all.
    """
    cells = list(product(*axes.values()))
    errors = tuple(error_of(*cell) for cell in cells)
    best = int(np.argmin(errors))
    chosen = dict(zip(axes, cells[best]))
    return Measured(errors[best], chosen=chosen, axes={name: list(axis) for name, axis in axes.items()}, errors=errors)
