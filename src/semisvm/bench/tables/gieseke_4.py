"""Gieseke et al., Figure 4: test error of S2RLSC against the number of labeled and of unlabeled samples."""

from __future__ import annotations

from functools import partial
from itertools import product

from ..protocol import TEST_TUNED, Cell, Measured, Protocol, Setup
from .gieseke_1 import ARTICLE, DRAWN_ANEW, URL, Row
from .gieseke_1 import measure as measure_row

N_TRAIN, N_TEST = 250, 250
PERCENTS = (5, 10, 20, 30, 40, 50, 60, 70, 80)
QUICK_PERCENTS = (5, 20, 80)
N_LABELED = 50  # of Figure 4 (b): 20 % of the training samples
COLUMNS = ("RLSC", "S2RLSC")
NOTES = (
    "The article prints pictures only; their points are read as 5, 10, 20, ..., 80 % of the 250 training samples",
    "Lambda and lambda' are chosen on the test samples from the grids of Table 1, for every point and partition",
    "The partitions are ten, as in Table 1; the article does not say how many Figure 4 has",
    DRAWN_ANEW,
)


def measure(varied: str, percent: int, column: str, setup: Setup, draw: int) -> Measured:
    """The best cell of the grid on the test samples, with so many percent of labeled or of unlabeled samples."""
    count = round(percent * N_TRAIN / 100)
    counts = (count, N_TRAIN - count) if varied == "labeled" else (N_LABELED, count)
    return measure_row(Row("Gaussian2C", *counts, N_TEST), column, setup, draw)


def _cell(varied: str, percent: int, column: str) -> Cell:
    run, quick = partial(measure, varied, percent, column), percent in QUICK_PERCENTS
    return Cell(f"{percent} % {varied}", column, None, run, in_quick=quick, x=percent)


def _protocol(letter: str, varied: str, what: str) -> Protocol:
    return Protocol(
        name=f"gieseke-figure-4{letter}",
        title=f"Gieseke et al., Figure 4 ({letter}): S2RLSC on Gaussian2C, {what}",
        reference=f"{ARTICLE}, Figure 4 ({letter}).",
        url=URL,
        selection=TEST_TUNED,
        cells=tuple(_cell(varied, percent, column) for percent, column in product(PERCENTS, COLUMNS)),
        draws=10,
        notes=NOTES,
        x_label=f"{varied} samples in percent of the training samples",
    )


LABELED = _protocol("a", "labeled", "the amount of labeled samples")
UNLABELED = _protocol("b", "unlabeled", "the amount of unlabeled samples beside 20 % of labeled ones")
