"""Akrouch and Nederveen, Figures 2, 6 and 7: the convolved objective of cS3VM after every level of smoothing."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np

from ..protocol import FIXED, Cell, Measured, Protocol, Setup
from .akrouch_shares import ALL_SAMPLES, LINEAR, PAIR, PROJECTED, REPORT, SAMPLES, WIDTH, model, partition

N_LEVELS = 11
FIGURES = {LINEAR: 2, ALL_SAMPLES: 6, PROJECTED: 7}


def measure(level: int, space: str, setup: Setup, draw: int) -> Measured:
    """Logarithm of the convolved objective at the end of a level."""
    _, fitted = partition(PAIR, 25, setup, draw).fit(model(space, 4.0))
    row = fitted.trace_[level]
    return Measured(float(np.log10(row["objective"])), chosen={"smoothing": float(row["level"])})


def _cell(level: int, space: str) -> Cell:
    column, quick = f"Figure {FIGURES[space]}: {space}", level in (0, 5, 10)
    return Cell(f"level {level}", column, None, partial(measure, level, space), ("mnist",), in_quick=quick, x=level)


PROTOCOL = Protocol(
    name="akrouch-figure-2",
    title="Akrouch and Nederveen, Figures 2, 6 and 7: the objective of cS3VM after every level of smoothing",
    reference=f"{REPORT}, Figures 2, 6 and 7.",
    url="",
    selection=FIXED,
    cells=tuple(_cell(level, space) for space, level in product(FIGURES, range(N_LEVELS))),
    draws=5,
    measures="logarithm to base 10 of the convolved objective",
    x_label="level of smoothing, from the largest",
    notes=(
        "The report prints pictures only; its objective has a constant, half of the smoothing times the number of "
        "features, which ours has not",
        "C = C* = 100, 25 % of labels, sigma = 4; errors at the end are cells of akrouch-figure-4",
        SAMPLES,
        WIDTH,
    ),
)
