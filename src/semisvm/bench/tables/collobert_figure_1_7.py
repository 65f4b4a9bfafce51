"""Collobert et al., Figure 1.7: training time of three TSVMs by the number of unlabeled samples."""

from __future__ import annotations

import time
from functools import lru_cache, partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ...estimators import CCCPTSVM, GradientTSVM, SwitchingTSVM
from ...spaces import Kernel
from ...spaces.bandwidth import total_variance
from ..protocol import TEST_TUNED, Cell, Measured, Protocol, Setup
from .collobert_1_3 import REFERENCE, URL, SplitErrors

SIZES = {"g50c": (50, 100, 200, 300, 400, 500), "text": (250, 500, 1000, 1896)}
TSVMS = {"CCCP-TSVM": CCCPTSVM, "SVMlight-TSVM": SwitchingTSVM, "nabla-TSVM": GradientTSVM}
DIFFERS = {
    "CCCP-TSVM": "",
    "SVMlight-TSVM": "SwitchingTSVM of this package, the algorithm of SVM-light, not the program",
    "nabla-TSVM": "GradientTSVM of this package, not the MATLAB program",
}
WIDTHS, COSTS = (0.5, 1.0, 2.0), (0.3, 1.0, 3.0)  # units of gamma and C as in Table 1.3
REPEATS = 3


def tsvm(column: str, errors: SplitErrors, width: float, cost: float) -> Any:
    """A TSVM: C* = C l/u and s = 0 for CCCP, as in the figure; the others go up to C* = C."""
    X, split = errors.data.X, errors.split
    gamma, ones = width * errors.unit, np.ones(len(errors.shown))
    C = cost / total_variance(Kernel("rbf", gamma), X, ones)
    if column == "CCCP-TSVM":
        star = C * len(split.labeled) / len(split.unlabeled)
        return CCCPTSVM(C, C_unlabeled=star, s=0.0, balance="labeled", gamma=gamma)
    return TSVMS[column](C, C_unlabeled=C, balance="labeled", gamma=gamma)


@lru_cache(maxsize=8)
def chosen_tsvm(name: str, column: str, setup: Setup) -> tuple[Any, dict[str, float], float]:
    """The model of the smallest error on all unlabeled samples of the first split, what was chosen, and its error."""
    errors = SplitErrors(setup.data.load(name), 0)
    found = []
    for width in WIDTHS[1:2] if setup.quick else WIDTHS:
        for cost in COSTS[1:2] if setup.quick else COSTS:
            model = tsvm(column, errors, width, cost)
            found.append((errors.error(clone(model), errors.data.X), width, cost, model))
    error, width, cost, model = min(found, key=lambda one: one[0])
    return model, {"gamma": width, "C": cost}, error


def measure(name: str, column: str, n_unlabeled: int, setup: Setup, draw: int) -> Measured:
    """Milliseconds of the fastest of some fits to the labels of the first split and unlabeled samples at random."""
    model, chosen, error = chosen_tsvm(name, column, setup)
    errors = SplitErrors(setup.data.load(name), 0)
    unlabeled = np.random.default_rng(draw).permutation(errors.split.unlabeled)[:n_unlabeled]
    rows = np.r_[errors.split.labeled, unlabeled]
    X, y = errors.data.X[rows], errors.shown[rows]
    if column == "CCCP-TSVM":
        model = clone(model).set_params(C_unlabeled=model.C * len(errors.split.labeled) / len(unlabeled))
    seconds = []
    for _ in range(1 if setup.quick else REPEATS):
        start = time.perf_counter()
        clone(model).fit(X, y)
        seconds.append(time.perf_counter() - start)
    return Measured(1000.0 * min(seconds), chosen=chosen | {"error with all unlabeled samples": error})


def _cell(name: str, column: str, n_unlabeled: int) -> Cell:
    run, needs, quick = partial(measure, name, column, n_unlabeled), (name,), n_unlabeled in (*SIZES["g50c"], 1896)
    title, row = f"{name}, {column}", f"{n_unlabeled:,} unlabeled samples"
    return Cell(row, title, None, run, needs, differs=DIFFERS[column], in_quick=quick, x=n_unlabeled)


PROTOCOL = Protocol(
    name="collobert-figure-1.7",
    title="Collobert et al., Figure 1.7: training time of TSVMs",
    reference=REFERENCE.replace("Table 1.3", "Figure 1.7"),
    url=URL,
    selection=TEST_TUNED,
    cells=tuple(_cell(name, column, size) for name in SIZES for column in TSVMS for size in SIZES[name]),
    draws=3,
    measures="milliseconds",
    x_label="number of unlabeled samples",
    notes=(
        "The chapter says: with all unlabeled samples of Text, CCCP is 133 times faster than SVM-light and 50 times "
        "faster than nabla-TSVM, those being programs of other authors",
        "Parameters are those of the smallest error on the unlabeled samples of the first split; labels are those of "
        "that split, unlabeled samples are drawn. CCCP has s = 0 and C* = C l/u, the others C* = C",
    ),
)
