"""Collobert et al., Tables 1.4 and 1.5, Figures 1.9 and 1.10: errors and training times on large sets."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from ...estimators import CCCPTSVM, SVM
from ..data import UNLABELED
from ..protocol import FIXED, Cell, Measured, Printed, Protocol, Setup
from .collobert_1_3 import URL

# Labeled and unlabeled samples: C* (None for the SVM) and error in percent
MNIST = {
    (100, 0): (None, 23.44),
    (100, 2000): (1.0, 16.81),
    (1000, 0): (None, 7.77),
    (1000, 2000): (5.0, 7.13),
    (1000, 5000): (1.0, 6.28),
    (1000, 10000): (0.5, 5.65),
    (1000, 20000): (0.3, 5.43),
    (1000, 40000): (0.2, 5.31),
    (1000, 60000): (0.1, 5.38),
}
RCV1 = {
    (100, 0): 16.61,
    (100, 500): 11.99,
    (100, 1000): 11.67,
    (100, 2000): 11.47,
    (100, 5000): 10.65,
    (100, 10000): 10.64,
    (1000, 0): 11.04,
    (1000, 500): 11.09,
    (1000, 1000): 11.06,
    (1000, 2000): 10.77,
    (1000, 5000): 10.81,
    (1000, 10000): 10.72,
}
RCV1_TIMES = {1000: 18.0, 100: 69.0}  # minutes with 12,500 unlabeled samples
NO_RCV1 = "the documents of RCV1 in CCAT and GCAT could not be had"
TOO_LARGE = "not tried: its kernel matrix takes more than the 4 GiB up to which it is held whole by default"
N_SLOW, N_TOO_MANY = 20000, 30000
COMMON: dict[str, Any] = {"gamma": 0.0128, "n_jobs": 2}
REFERENCE = (
    'R. Collobert, F. Sinz, J. Weston and L. Bottou, "Large scale transductive SVMs", JMLR 7, 2006, and the chapter '
    '"Trading convexity for scalability"'
)


class MnistFit:
    """The samples and the model of a row of Table 1.5."""

    def __init__(self, n_labeled: int, n_unlabeled: int, setup: Setup, draw: int):
        self.data = setup.data.load("mnist")
        train, self.test = self.data.splits[0].labeled, self.data.splits[0].test
        known = np.random.default_rng(draw).permutation(train)[:n_labeled]
        others = np.r_[self.test, np.setdiff1d(train, known)][:n_unlabeled]
        self.X = self.data.X[np.r_[known, others]] / 255.0
        self.shown = np.r_[self.data.y[known], np.full(len(others), UNLABELED)]
        star = MNIST[n_labeled, n_unlabeled][0]
        self.model: Any = SVM(10.0, **COMMON)
        if star is not None:
            self.model = CCCPTSVM(10.0, C_unlabeled=star, s=-0.1, balance="labeled", **COMMON)


def measure_error(n_labeled: int, n_unlabeled: int, setup: Setup, draw: int) -> Measured:
    """Percent error on all test samples."""
    one = MnistFit(n_labeled, n_unlabeled, setup, draw)
    predicted = one.model.fit(one.X, one.shown).predict(one.data.X[one.test] / 255.0)
    return Measured(100.0 * float(np.mean(predicted != one.data.y[one.test])))


def measure_time(n_labeled: int, n_unlabeled: int, setup: Setup, draw: int) -> Measured:
    """Minutes of the fit, after one to few samples that compiles."""
    one = MnistFit(n_labeled, n_unlabeled, setup, draw)
    one.model.fit(one.X[::20], one.shown[::20])
    start = time.perf_counter()
    one.model.fit(one.X, one.shown)
    return Measured((time.perf_counter() - start) / 60.0)


def _mnist(n_labeled: int, n_unlabeled: int, x: float | None = None) -> Cell:
    """A cell of the table or, with an x, of the figure."""
    row, column = f"{n_labeled:,} labels, {n_unlabeled:,} unlabeled", "MNIST"
    printed = Printed(MNIST[n_labeled, n_unlabeled][1], test_size=10000) if x is None else None
    if n_unlabeled > N_TOO_MANY:
        return Cell(row, column, printed, None, why_not=TOO_LARGE, x=x)
    run = partial(measure_error if x is None else measure_time, n_labeled, n_unlabeled)
    draws, in_quick = 1 if n_unlabeled >= N_SLOW else None, n_unlabeled <= (2000 if n_labeled == 100 or x else 0)
    return Cell(row, column, printed, run, ("mnist",), draws, in_quick=in_quick, x=x)


def _rcv1(n_labeled: int, n_unlabeled: int) -> Cell:
    row, printed = f"{n_labeled:,} labels, {n_unlabeled:,} unlabeled", RCV1[n_labeled, n_unlabeled]
    return Cell(row, "RCV1", Printed(printed, test_size=12754), None, why_not=NO_RCV1)


def _rcv1_time(n_labeled: int) -> Cell:
    row, printed = f"{n_labeled:,} labels, 12,500 unlabeled", Printed(RCV1_TIMES[n_labeled], deviation=0.0)
    return Cell(row, f"RCV1, {n_labeled:,} labels", printed, None, why_not=NO_RCV1, x=12500)


ERRORS = Protocol(
    name="collobert-1.4-1.5",
    title="Collobert et al., Tables 1.4 and 1.5: large sets",
    reference=f"{REFERENCE}, Tables 1.4 and 1.5.",
    url=URL,
    selection=FIXED,
    cells=(*(_mnist(*sizes) for sizes in MNIST), *(_rcv1(*sizes) for sizes in RCV1)),
    draws=3,
    notes=(
        "MNIST with the parameters of Table 1.5: gamma = 0.0128, C = 10, s = -0.1 and C* of the row; ten classes, "
        "one-vs-rest. The chapter chose them on 1,000 validation samples. The labels are drawn by us",
        "The test samples are among the unlabeled ones, 2,000 or 5,000 of them at first, as in the chapter",
    ),
)
TIMES = Protocol(
    name="collobert-figure-1.9-1.10",
    title="Collobert et al., Figures 1.9 and 1.10: training time of CCCP by the number of unlabeled samples",
    reference=f"{REFERENCE}, Figures 1.9 and 1.10.",
    url=URL,
    selection=FIXED,
    cells=(
        *(_mnist(*sizes, x=sizes[1]) for sizes in MNIST if sizes[0] == 1000 and sizes[1]),
        *map(_rcv1_time, (1000, 100)),
    ),
    draws=1,
    measures="minutes",
    x_label="number of unlabeled samples",
    notes=(
        "MNIST with the parameters of Table 1.5, ten classes one-vs-rest, two threads",
        "The chapter says: the time grows with the square of the number of unlabeled samples",
    ),
)
