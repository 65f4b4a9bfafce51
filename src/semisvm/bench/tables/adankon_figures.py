"""Adankon's thesis, Figures 5.1 to 5.7: errors of ten choices of the labeled samples, and over their number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...estimators import LSSVM, SVM
from ..data import Partition, show_labels
from ..protocol import FIXED, Cell, Measure, Measured, Protocol, Setup
from . import adankon_s2ls, genetic_s3vm, help_training
from .adankon_s2ls import NAMES, PARAMETERS

SVM_CURVES = ("S3VM-GA", "HT-S3VM")
LSSVM_CURVES = ("S2LS-SVM 1", "S2LS-SVM 2", "BS2LS-SVM", "HT-S2LS-SVM")
SELECTIONS_AXIS, RATIO_AXIS = "choice of the labeled samples", "labeled over unlabeled samples, in percent"
RATIOS, QUICK_RATIOS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0), (5.0, 20.0)


def model(column: str, family: str, name: str, data: Partition, setup: Setup, draw: int) -> Any:
    """The model of a curve, with the parameters that the articles print for it."""
    if family == "SVM":
        gamma, C = genetic_s3vm.GAMMAS_AND_COSTS[name]
    else:
        gamma, C = PARAMETERS[name].gamma, PARAMETERS[name].C
    if column == "S3VM-GA":
        return genetic_s3vm.model(column, C, gamma, data.shares, setup, draw)
    if column in ("HT-S3VM", "HT-S2LS-SVM"):
        gamma, C = help_training.GAMMAS_AND_COSTS[name]
        return help_training.model("Help-Training", help_training.CLASSIFIERS[family](C, gamma=gamma))
    if column in LSSVM_CURVES:
        return adankon_s2ls.model(column, PARAMETERS[name], data.shares)
    return SVM(C, gamma=gamma) if family == "SVM" else LSSVM(C, gamma=gamma)


def measure_selection(
    name: str, family: str, share: float, column: str, selection: int, setup: Setup, draw: int
) -> Measured:
    """Error of one choice of the labeled samples; training and test samples are the same for all."""
    data = adankon_s2ls.partition(name, share, setup, 0)
    count = int(np.sum(data.shown != -1))
    data = data._replace(shown=show_labels(data.y, count, np.random.default_rng(selection)))
    made = model(column, family, name, data, setup, selection)
    return Measured(data.error(made, all_labels=column == "all labels"))


def measure_ratio(name: str, family: str, ratio: float, column: str, setup: Setup, draw: int) -> Measured:
    """Error with so many labeled samples in percent of the unlabeled ones."""
    data = adankon_s2ls.partition(name, n_labeled(name, ratio), setup, draw)
    made = model(column, family, name, data, setup, draw)
    return Measured(data.error(made, all_labels=column == "all labels"))


def n_labeled(name: str, ratio: float) -> int:
    """Number of labeled samples, from their number in percent of the unlabeled ones."""
    n_train = {"gaus50": 550, "gaus50x": 550, "text": 1446}[name]
    return max(2, round(n_train * ratio / (100.0 + ratio)))


def _needs(name: str) -> tuple[str, ...]:
    return () if name.startswith("gaus") else (name,)


def selection_figure(number: str, name: str, family: str, share: float, curves: Sequence[str]) -> Protocol:
    """A figure over ten choices of the labeled samples."""
    cells = []
    for column in ("all labels", "labeled samples", *curves):
        for selection in range(1, 11):
            run: Measure = partial(measure_selection, name, family, share, column, selection)
            quick = selection <= 2 and not (name == "text" and column == "S3VM-GA")
            cells.append(
                Cell(f"choice {selection}", column, None, run, _needs(name), in_quick=quick, x=float(selection))
            )
    notes = (
        f"{100 * share:g} % of the training samples are labeled. Training and test samples are drawn once, the labels "
        "ten times, as in the thesis; its choices are not ours, so that no curve has a printed counterpart",
    )
    return _figure(number, name, family, SELECTIONS_AXIS, cells, 1, notes)


def ratio_figure(number: str, name: str, family: str, curves: Sequence[str], draws: int) -> Protocol:
    """A figure over the number of labeled samples."""
    cells = []
    for column in ("all labels", "labeled samples", *curves):
        for ratio in RATIOS:
            run: Measure = partial(measure_ratio, name, family, ratio, column)
            quick = ratio in QUICK_RATIOS and not (name == "text" and column == "S3VM-GA")
            n_draws = 1 if name == "text" and column == "S3VM-GA" else None
            cells.append(Cell(f"{ratio:g} %", column, None, run, _needs(name), n_draws, in_quick=quick, x=ratio))
    notes = (
        "The ratios are ours: the thesis prints a picture without numbers. Each draw has its own labeled samples and, "
        "on Gaus50, its own set",
        "The captions of Figures 5.4 to 5.6 cannot be read in our copy: their sets and classifiers follow the text",
    )
    return _figure(number, name, family, RATIO_AXIS, cells, draws, notes)


def _figure(
    number: str, name: str, family: str, x_label: str, cells: list[Cell], draws: int, notes: tuple[str, ...]
) -> Protocol:
    return Protocol(
        name=f"adankon-figure-{number}",
        title=f"Adankon's thesis, Figure {number}: {family} on {NAMES[name]}",
        reference='M. M. Adankon, "Apprentissage semi-supervise pour les SVMs et leurs variantes", doctoral thesis, '
        "Ecole de technologie superieure, Montreal.",
        url="",
        selection=FIXED,
        cells=tuple(cells),
        draws=draws,
        notes=(
            *notes,
            "gamma and C are those of the articles; S3VM-GA, S2LS-SVM 1 and BS2LS-SVM have the true class shares, "
            "S2LS-SVM 2 labels the classes in proportion to the labeled samples",
        ),
        x_label=x_label,
    )


FIGURES = (
    selection_figure("5.1", "gaus50", "SVM", 0.1, SVM_CURVES),
    selection_figure("5.2", "gaus50x", "LS-SVM", 0.05, LSSVM_CURVES),
    selection_figure("5.3", "text", "LS-SVM", 0.05, LSSVM_CURVES),
    ratio_figure("5.4", "gaus50", "SVM", SVM_CURVES, 5),
    ratio_figure("5.5", "gaus50", "LS-SVM", LSSVM_CURVES, 10),
    ratio_figure("5.6", "text", "SVM", SVM_CURVES, 5),
    ratio_figure("5.7", "text", "LS-SVM", LSSVM_CURVES, 5),
)
