"""Collobert et al., Table 1.3: CCCP for transductive SVMs on the official splits of four small sets."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from ...datasets import Dataset
from ...estimators import CCCPTSVM, SVM, GradientTSVM
from ...spaces import Gram, Kernel, kernel_pca
from ...spaces.bandwidth import resolve_gamma, total_variance
from ..data import UNLABELED
from ..protocol import FIXED, TEST_TUNED, Cell, Measured, Printed, Protocol, Setup
from ..selection import best_on_test


class Grid(NamedTuple):
    """Multiples of 0.5 / median squared distance for gamma, of 1 / total variance for C, of C l/u for C*; s."""

    gamma: tuple[float, ...]
    C: tuple[float, ...]
    C_unlabeled: tuple[float, ...]
    s: tuple[float, ...]


class DataRow(NamedTuple):
    """A set: its name in the table and in the data folder, number of unlabeled samples, and grids of the TSVMs.

    ``grid`` is for C* = C l/u, ``all_tuned``, which is coarser in the others, for the column where C* is tuned as well,
    ``gradient`` for nabla-TSVM, on ``n_components`` kernel principal components or, if None, on all.
    """

    title: str
    name: str
    test_size: int
    grid: Grid
    all_tuned: Grid
    gradient: Grid
    n_components: int | None = None
    draws: int | None = None
    stand_in: str = ""


POWERS = tuple(2.0**power for power in range(-5, 4))
COSTS = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)
SLOPES = (0, -0.1, -0.2, -0.3, -0.5)
SVM_GRID = Grid(POWERS, COSTS, (), ())
QUICK = Grid((1, 2), (10,), (1,), (0, -0.3))
DRAWN_SPLITS = "splits of the same protocol drawn by us stand in for the published ones, which could not be had"
ROWS = (
    DataRow(
        "Coil20",
        "coil20",
        1400,
        Grid((2, 4), (10,), (1,), (0, -0.1)),
        Grid((2, 4), (10,), (0.3, 1, 3), (0, -0.1)),
        Grid((2, 4), (30, 100, 300), (1,), ()),
        n_components=400,
        draws=5,
        stand_in=DRAWN_SPLITS,
    ),
    DataRow(
        "g50c",
        "g50c",
        500,
        Grid(POWERS[:-1], COSTS, (1,), SLOPES),
        Grid(POWERS[2:-1], (1, 3, 10, 30, 100), (0.1, 0.3, 1, 3, 10), (0, -0.2, -0.5)),
        Grid(POWERS[4:-1], (1, 3, 10, 30), (1, 10), ()),
    ),
    DataRow(
        "Text",
        "text",
        1896,
        Grid(POWERS[1:-1], (1, 3, 10, 30, 100), (1,), SLOPES),
        Grid((0.5, 1, 2), (3, 10, 30), (0.3, 1, 3), (0, -0.2, -0.3)),
        Grid((0.5, 1, 2), (3, 10, 30), (1, 10), ()),
    ),
    DataRow(
        "Uspst",
        "uspst",
        1957,
        Grid((2, 4), (10, 30), (1,), (0, -0.1)),
        Grid((2, 4), (10,), (0.3, 1, 3), (0, -0.1)),
        Grid((2, 4), (30, 100, 300), (0.3, 1), ()),
        n_components=400,
    ),
)
PRINTED = {  # in the order of the rows
    "SVM": (24.64, 8.32, 18.86, 23.18),
    "SVMlight-TSVM": (26.26, 6.87, 7.44, 26.46),
    "nabla-TSVM": (17.56, 5.80, 5.71, 17.61),
    "CCCP-TSVM, s = 0, C* = C l/u": (16.69, 5.62, 7.97, 16.57),
    "CCCP-TSVM, C* = C l/u": (16.06, 5.04, 5.59, 16.47),
    "CCCP-TSVM": (15.92, 3.92, 4.92, 16.45),
}
WHY_NOT = {"SVMlight-TSVM": "the figure is of the program SVM-light"}


class SplitErrors:
    """Errors on the unlabeled samples of a split by parameters in the units of the grid."""

    def __init__(self, data: Dataset, draw: int):
        self.data, self.split = data, data.splits[draw]
        self.shown = np.full(len(data.y), UNLABELED)
        self.shown[self.split.labeled] = data.y[self.split.labeled]
        self._kernel_matrix: tuple[float, np.ndarray, float] | None = (
            None  # the last one: gamma, matrix, total variance
        )
        self._components: tuple[float, np.ndarray] | None = None  # the last ones, with their gamma

    @cached_property
    def unit(self) -> float:
        """0.5 / median squared distance."""
        return resolve_gamma(Kernel("rbf"), "median", self.data.X, np.ones(len(self.shown)))

    def kernel_matrix(self, gamma: float) -> tuple[np.ndarray, float]:
        """The kernel matrix and its total variance; gamma is the outermost axis of the grid."""
        if self._kernel_matrix is None or self._kernel_matrix[0] != gamma:
            K = Gram(Kernel("rbf", gamma * self.unit), self.data.X).compute()
            self._kernel_matrix = gamma, K, total_variance(Kernel("precomputed"), K, np.ones(len(K)))
        return self._kernel_matrix[1:]

    def error(self, model: Any, X: Any) -> float:
        """Percent error of a model on the test samples."""
        predicted = model.fit(X, self.shown).predict(X[self.split.test])
        return 100.0 * float(np.mean(predicted != self.data.y[self.split.test]))

    def svm(self, gamma: float, C: float) -> float:
        """Percent error of the SVM."""
        K, variance = self.kernel_matrix(gamma)
        return self.error(SVM(C / variance, kernel="precomputed"), K)

    def cccp(self, gamma: float, C: float, factor: float, s: float) -> float:
        """Percent error of the TSVM; the share of the classes is that of the labeled samples, as in the chapter."""
        K, variance = self.kernel_matrix(gamma)
        star = factor * C / variance * len(self.split.labeled) / len(self.split.unlabeled)
        return self.error(CCCPTSVM(C / variance, C_unlabeled=star, s=s, balance="labeled", kernel="precomputed"), K)

    def components(self, gamma: float, count: int | None) -> np.ndarray:
        """Kernel principal components; gamma is the outermost axis of the grid."""
        if self._components is None or self._components[0] != gamma:
            self._components = gamma, kernel_pca(Kernel("rbf", gamma * self.unit), self.data.X, count).X
        return self._components[1]

    def gradient(self, gamma: float, C: float, factor: float, n_components: int | None) -> float:
        """Percent error of nabla-TSVM on kernel principal components, with the same share of the classes."""
        Z = self.components(gamma, n_components)
        cost = C / float(Z.var(axis=0).sum())
        star = factor * cost * len(self.split.labeled) / len(self.split.unlabeled)
        return self.error(GradientTSVM(cost, C_unlabeled=star, balance="labeled", kernel="linear"), Z)


def measure(row: DataRow, column: str, setup: Setup, draw: int) -> Measured:
    """The best cell of the grid on the test samples; a column may fix s = 0."""
    errors = SplitErrors(setup.data.load(row.name), draw)
    if column == "SVM":
        grid = QUICK if setup.quick else SVM_GRID
        return best_on_test({"gamma": grid.gamma, "C": grid.C}, errors.svm)
    if column == "nabla-TSVM":
        grid = QUICK if setup.quick else row.gradient
        axes = {"gamma": grid.gamma, "C": grid.C, "C*": grid.C_unlabeled}
        return best_on_test(axes, partial(errors.gradient, n_components=row.n_components))
    grid = QUICK if setup.quick else row.grid if "C* = C l/u" in column else row.all_tuned
    slopes = (0.0,) if "s = 0" in column else grid.s
    return best_on_test({"gamma": grid.gamma, "C": grid.C, "C*": grid.C_unlabeled, "s": slopes}, errors.cccp)


def measure_defaults(row: DataRow, setup: Setup, draw: int) -> Measured:
    """CCCPTSVM as it comes."""
    data = setup.data.load(row.name)
    return Measured(SplitErrors(data, draw).error(CCCPTSVM(), data.X))


def _cell(row: DataRow, column: str) -> Cell:
    printed = Printed(PRINTED[column][ROWS.index(row)], test_size=row.test_size)
    if column in WHY_NOT:
        return Cell(row.title, column, printed, None, why_not=WHY_NOT[column])
    run, in_quick = partial(measure, row, column), row.name in ("g50c", "text")
    return Cell(row.title, column, printed, run, (row.name,), row.draws, row.stand_in, in_quick=in_quick)


REFERENCE = (
    'R. Collobert, F. Sinz, J. Weston and L. Bottou, "Large scale transductive SVMs", JMLR 7, 2006; Table 1.3 of the '
    'chapter "Trading convexity for scalability".'
)
URL = "https://jmlr.org/papers/v7/collobert06a.html"
PROTOCOL = Protocol(
    name="collobert-1.3",
    title="Collobert et al., Table 1.3: small sets",
    reference=REFERENCE,
    url=URL,
    selection=TEST_TUNED,
    cells=tuple(_cell(row, column) for row in ROWS for column in PRINTED),
    draws=10,
    notes=(
        "The test samples are the unlabeled ones of the official splits; the best cell of the grid is chosen on them "
        "for every split, as in the chapter",
        "The chapter prints no deviation: its standard error is binomial from the test samples of one split",
        "More than two classes: one-vs-rest. nabla-TSVM is GradientTSVM on kernel principal components, 400 of them on "
        "Coil20 and Uspst",
    ),
)
DEFAULTS = Protocol(
    name="collobert-1.3-defaults",
    title="The sets of Collobert et al., Table 1.3, with the defaults of CCCPTSVM",
    reference=REFERENCE,
    url=URL,
    selection=FIXED,
    cells=tuple(
        Cell(row.title, "CCCPTSVM()", None, partial(measure_defaults, row), needs=(row.name,), differs=row.stand_in)
        for row in ROWS
    ),
    draws=10,
    notes=("Nothing is chosen; the table has no such column",),
)
