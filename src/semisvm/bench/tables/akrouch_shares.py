"""Akrouch and Nederveen, Figures 4 and 5: cS3VM on MNIST against the share of labeled samples."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...estimators import SVM, ContinuationTSVM
from ..data import UNLABELED, Partition, show_labels
from ..protocol import FIXED, Cell, Measured, Printed, Protocol, Setup

REPORT = 'M. Akrouch and C. Nederveen, "A continuation method for semi-supervised SVMs", student project report, 2021'
PERCENTS = (1, 2, 5, 10, 15, 20, 25, 30, 35, 40)
QUICK_PERCENTS = (2, 25)
COST = 100.0
LINEAR, PROJECTED, ALL_SAMPLES = "linear", "rbf, labeled samples", "rbf, all samples"


class Digits(NamedTuple):
    """Which digits are separated, and the numbers of training and test samples that are drawn."""

    digits: tuple[int, ...]
    n_train: int
    n_test: int


PAIR, ALL_DIGITS = Digits((0, 3), 190, 1990), Digits(tuple(range(10)), 1000, 2000)
SAMPLES = (
    "The report has 47 labeled and 143 unlabeled images of 0 and 3 at 25 %, which is the number of these digits among "
    "some thousand: 190 training samples are drawn for them, 1000 for ten digits, with pixels between 0 and 1. Its "
    "number of test samples is not said; the standard errors of its numbers are binomial for as many as in training"
)
MODEL = "C = C* = 100, one-vs-rest; the mean of f over unlabeled samples is that of the labels, as in the report"
WIDTH = "sigma is read as exp(-|x - z|^2 / (2 sigma^2)), which the report does not define"


def partition(task: Digits, percent: float, setup: Setup, draw: int) -> Partition:
    """Samples of the training part and of the test part of MNIST, with labels of every class."""
    rng = np.random.default_rng(draw)
    _, X, y, splits = setup.data.load("mnist")
    classes = 1 + np.array(task.digits)  # counted from 1
    parts = (splits[0].labeled, splits[0].test)
    train, test = (rng.permutation(part[np.isin(y[part], classes)]) for part in parts)
    train, test = train[: task.n_train], test[: task.n_test]
    shown = show_labels(y[train], max(len(classes), int(percent * len(train) / 100)), rng)
    return Partition(X[train] / 255.0, shown, y[train], X[test] / 255.0, y[test])


def model(space: str, sigma: float, C: float = COST, C_unlabeled: float = COST) -> ContinuationTSVM:
    """cS3VM on the samples, or on components of the kernel of all samples or of the labeled ones."""
    common: dict[str, Any] = {"C_unlabeled": C_unlabeled, "balance": "labeled", "multiclass": "ovr"}
    if space == LINEAR:
        return ContinuationTSVM(C, kernel="linear", **common)
    common["gamma"] = 0.5 / sigma**2
    if space == ALL_SAMPLES:
        return ContinuationTSVM(C, approximation=None, **common)
    return ContinuationTSVM(C, approximation="nystroem", landmarks="labeled", **common)


def measure(task: Digits, percent: float, column: str, sigma: float, setup: Setup, draw: int) -> Measured:
    """Percent error on the test samples, or on unlabeled ones where the column says so."""
    data = partition(task, percent, setup, draw)
    if column.startswith("SVM"):
        return Measured(data.error(SVM(COST, kernel="linear")))
    space, _, where = column.partition(": ")
    error, fitted = data.fit(model(space, sigma))
    if where == "unlabeled":
        error = 100.0 * float(np.mean((fitted.transduction_ != data.y)[data.shown == UNLABELED]))
    return Measured(error)


def _cells(task: Digits, sigma: float, printed: dict[str, Printed]) -> tuple[Cell, ...]:
    curves = (f"{LINEAR}: test", "SVM, linear: test")
    cells = []
    for column in dict.fromkeys((*curves, *printed)):
        for percent in PERCENTS if column in curves else (25,):
            run, quick = partial(measure, task, percent, column, sigma), percent in QUICK_PERCENTS
            at_25 = printed.get(column) if percent == 25 else None
            cells.append(Cell(f"{percent} % labeled", column, at_25, run, ("mnist",), in_quick=quick, x=percent))
    return tuple(cells)


def _protocol(number: int, what: str, cells: tuple[Cell, ...], *notes: str) -> Protocol:
    return Protocol(
        name=f"akrouch-figure-{number}",
        title=f"Akrouch and Nederveen, Figure {number}: cS3VM on MNIST, {what}, against the share of labels",
        reference=f"{REPORT}, Figure {number}, and what its text says at 25 %.",
        url="",
        selection=FIXED,
        cells=cells,
        draws=10 if number == 4 else 5,
        x_label="labeled samples in percent of the training samples",
        notes=(*notes, MODEL, SAMPLES, WIDTH, "Labels are drawn until every class is among them"),
    )


ABOUT_2, ABOUT_1 = Printed(2.0, test_size=190), Printed(1.0, test_size=143)
TWO_DIGITS = _protocol(
    4,
    "0 against 3",
    _cells(
        PAIR,
        4.0,
        {f"{space}: test": ABOUT_2 for space in (LINEAR, ALL_SAMPLES, PROJECTED)}
        | {f"{space}: unlabeled": ABOUT_1 for space in (LINEAR, ALL_SAMPLES, PROJECTED)},
    ),
    "The report prints about 98 % right on test and 99 % on unlabeled samples at 25 %, linear or with sigma = 4; the "
    "curve is a picture. Components of the kernel are those of Figures 6 (all samples) and 7 (labeled samples)",
)
TEN_DIGITS = _protocol(
    5,
    "ten digits",
    _cells(
        ALL_DIGITS,
        3.0,
        {
            f"{LINEAR}: test": Printed(45.9, test_size=1000),
            f"{LINEAR}: unlabeled": Printed(38.0, test_size=750),
            f"{PROJECTED}: test": Printed(31.3, test_size=1000),
        },
    ),
    "The report prints 54.10 % right on test and 62 % on unlabeled samples at 25 %, and 68.7 % with sigma = 3",
)
