"""Gieseke et al., Figure 5: time of a fit of S2RLSC against the number of unlabeled samples."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from sklearn.base import clone

from ...estimators import CCCPTSVM
from ..protocol import FIXED, Cell, Measured, Protocol, Setup
from .gieseke_1 import ARTICLE, URL, Row, partition, s2rlsc

N_LABELED = {"Gaussian2C": 50, "USPS(8,0)": 22}
N_UNLABELED = {"Gaussian2C": (25, 50, 100, 150, 200), "USPS(8,0)": (100, 200, 400, 600, 800, 1000)}
QUICK = (50, 200, 600)
METHODS = ("S2RLSC", "CCCP-TSVM")


def model(method: str, n_labeled: int, n_unlabeled: int) -> Any:
    """S2RLSC with lambda = lambda' = 1, or our counterpart of UniverSVM with C = C* = 1 and s = -0.3."""
    if method == "S2RLSC":
        return s2rlsc(1.0, 1.0, n_labeled, n_unlabeled, "labeled")
    return CCCPTSVM(1.0, C_unlabeled=1.0, s=-0.3, kernel="linear", balance="labeled")


def measure(name: str, n_unlabeled: int, method: str, setup: Setup, draw: int) -> Measured:
    """Milliseconds of a fit; one before it, off the clock, compiles."""
    n_labeled = N_LABELED[name]
    data = partition(Row(name, n_labeled, n_unlabeled, 1), setup, draw)
    fitted = [clone(model(method, n_labeled, n_unlabeled)) for _ in range(2)]
    fitted[0].fit(data.X, data.shown)
    start = time.perf_counter()
    fitted[1].fit(data.X, data.shown)
    return Measured(1000.0 * (time.perf_counter() - start), float(fitted[1].objective_))


def _cell(name: str, n_unlabeled: int, method: str) -> Cell:
    run, needs = partial(measure, name, n_unlabeled, method), Row(name, 1, 1, 1).needs
    row, quick = f"{n_unlabeled} unlabeled", n_unlabeled in QUICK
    return Cell(row, f"{method}, {name}", None, run, needs, in_quick=quick, x=n_unlabeled)


PROTOCOL = Protocol(
    name="gieseke-figure-5",
    title="Gieseke et al., Figure 5: time of a fit against the number of unlabeled samples",
    reference=f"{ARTICLE}, Figure 5.",
    url=URL,
    selection=FIXED,
    cells=tuple(
        _cell(name, count, method) for name, counts in N_UNLABELED.items() for method in METHODS for count in counts
    ),
    draws=10,
    measures="milliseconds of a fit",
    x_label="unlabeled samples",
    notes=(
        "Linear kernel, lambda = lambda' = 1, 50 and 22 labels; the mean of ten executions, of a set each. The article "
        "prints pictures of another computer only, whose points are not read off",
        "CCCP-TSVM is our estimator of what UniverSVM minimizes, with C = C* = 1; semisvm bench peers runs the program",
    ),
)
