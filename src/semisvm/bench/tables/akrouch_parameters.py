"""Akrouch and Nederveen, Figures 3 and 8: cross-validation of the costs and of the width of the kernel of cS3VM."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
from sklearn.base import clone

from ...estimators import ContinuationTSVM
from ...model_selection import LabeledKFold
from ..data import UNLABELED, Partition
from ..protocol import FIXED, Cell, Measured, Printed, Protocol, Setup
from .akrouch_shares import ALL_DIGITS, LINEAR, MODEL, PAIR, PROJECTED, REPORT, SAMPLES, WIDTH, model, partition

COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
SIGMAS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
CROSS_VALIDATED, TEST = "cross-validation", "test"
N_FOLDS = 5
FOLDS = "Cross-validation has five folds of the labeled samples, all unlabeled ones in training; the report says none"


def cross_validated(estimator: ContinuationTSVM, data: Partition, draw: int) -> float:
    """Percent error on held-out labels."""
    wrong = []
    for train, test in LabeledKFold(N_FOLDS, shuffle=True, random_state=draw).split(data.X, data.shown):
        fitted = clone(estimator).fit(data.X[train], data.shown[train])
        held_out = test[data.shown[test] != UNLABELED]
        wrong.extend(fitted.predict(data.X[held_out]) != data.shown[held_out])
    return 100.0 * float(np.mean(wrong))


def measure_costs(C: float, C_unlabeled: float, setup: Setup, draw: int) -> Measured:
    """Held-out error of the linear model of 0 against 3."""
    return Measured(cross_validated(model(LINEAR, 1.0, C, C_unlabeled), partition(PAIR, 25, setup, draw), draw))


def measure_width(sigma: float, column: str, setup: Setup, draw: int) -> Measured:
    """Held-out or test error of ten digits on components of the kernel of the labeled samples."""
    data, estimator = partition(ALL_DIGITS, 25, setup, draw), model(PROJECTED, sigma)
    return Measured(data.error(estimator) if column == TEST else cross_validated(estimator, data, draw))


def _cost_cell(C: float, C_unlabeled: float) -> Cell:
    run, x = partial(measure_costs, C, C_unlabeled), float(np.log10(C_unlabeled))
    return Cell(f"C* = {C_unlabeled:g}", f"C = {C:g}", None, run, ("mnist",), in_quick=C == 100, x=x)


def _width_cell(sigma: float, column: str) -> Cell:
    printed = Printed(31.3, test_size=1000) if (sigma, column) == (3.0, TEST) else None
    run, quick = partial(measure_width, sigma, column), column == TEST and sigma in (0.5, 3.0)
    return Cell(f"sigma = {sigma:g}", column, printed, run, ("mnist",), in_quick=quick, x=sigma)


COST_GRID = Protocol(
    name="akrouch-figure-3",
    title="Akrouch and Nederveen, Figure 3: cross-validation of C and C* of cS3VM, 0 against 3",
    reference=f"{REPORT}, Figure 3.",
    url="",
    selection=FIXED,
    cells=tuple(_cost_cell(*costs) for costs in product(COSTS, COSTS)),
    draws=5,
    x_label="logarithm to base 10 of C*",
    notes=("The report prints a picture of the grid only, and takes C = C* = 100", FOLDS, SAMPLES),
)
WIDTHS = Protocol(
    name="akrouch-figure-8",
    title="Akrouch and Nederveen, Figure 8: cross-validation of the width of the kernel of cS3VM, ten digits",
    reference=f"{REPORT}, Figure 8.",
    url="",
    selection=FIXED,
    cells=tuple(_width_cell(sigma, column) for column, sigma in product((CROSS_VALIDATED, TEST), SIGMAS)),
    draws=5,
    x_label="sigma",
    notes=(
        "The report finds sigma between 2 and 4 the best and below 1 bad, and prints 68.7 % right on test samples at 3",
        FOLDS,
        MODEL,
        SAMPLES,
        WIDTH,
    ),
)
