"""Collobert et al., Table 1.1: errors and support vectors of the ramp-loss SVM beside the SVM."""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...datasets import flip_labels
from ...estimators import SVM, RampSVM
from ..data import Partition
from ..protocol import REALISTIC, Cell, Measured, Printed, Protocol, Setup, binomial_error


class RampSet(NamedTuple):
    """A set: its names, numbers of samples here and in the paper, share of labels flipped, and grids of parameters.

    ``fixed`` is the gamma and C of the figures.
    """

    title: str
    name: str
    sizes: tuple[int, int]
    printed_sizes: tuple[int, int]
    gamma: tuple[float, ...]
    C: tuple[float, ...]
    s: tuple[float, ...]
    fixed: tuple[float, float]
    noise: float = 0.0
    draws: int | None = None


WAVEFORM = RampSet(
    "Waveform", "raetsch_waveform", (4000, 1000), (4000, 1000), (0.01, 0.03, 0.1), (1, 3, 10), (-2, -1, 0), (0.03, 1)
)
BANANA = RampSet("Banana", "raetsch_banana", (4000, 1300), (4000, 1300), (0.3, 1, 3), (1, 3, 10), (-2, -1, 0), (1, 1))
USPS = RampSet(
    "USPS+N",
    "usps",
    (7298, 2000),
    (7329, 2000),
    (1 / 256, 1 / 128, 1 / 64),
    (1, 3),
    (-1, -0.6, -0.3, 0),
    (1 / 128, 1),
    noise=0.1,
)
ADULT = RampSet(
    "Adult",
    "adult_a9a",
    (32561, 16281),
    (32562, 16282),
    (0.005, 0.01, 0.02),
    (1, 3),
    (-1, -0.7, -0.4, 0),
    (0.01, 1),
    draws=3,
)
SETS = (WAVEFORM, BANANA, USPS, ADULT)
COUNTS = {  # error in percent and number of support vectors, of the SVM and of the ramp-loss SVM
    "Waveform": {"SVM": (8.8, 983), "RampSVM": (8.8, 865)},
    "Banana": {"SVM": (9.5, 1029), "RampSVM": (9.5, 891)},
    "USPS+N": {"SVM": (0.5, 3317), "RampSVM": (0.5, 601)},
    "Adult": {"SVM": (15.1, 11347), "RampSVM": (15.0, 4588)},
}
ERROR, SUPPORT = "error", "support vectors"
SPARSE = "RampSVM, sparse choice"
COLUMNS = ("SVM", "RampSVM", SPARSE)
N_CHOOSING = 3000
SPLITS = "the partitions are drawn by us, those of the paper are not known"
REFERENCE = (
    'R. Collobert, F. Sinz, J. Weston and L. Bottou, "Trading convexity for scalability", ICML, 2006, and the chapter '
    "of the same title"
)
URL = "https://doi.org/10.1145/1143844.1143870"


class Score(NamedTuple):
    """Validation error in percent and number of support vectors of a model."""

    error: float
    n_support: int


def partition(row: RampSet, setup: Setup, draw: int, n_train: int | None = None) -> Partition:
    """Training and test samples at random; only training labels are flipped, and USPS is 0 against the rest."""
    data = setup.data.load(row.name)
    y = 1 + (data.y == 1) if row.name == "usps" else data.y
    order = np.random.default_rng(draw).permutation(len(y))
    n_test = min(row.sizes[1], len(y) // 2)
    test, train = order[:n_test], order[n_test:][: n_train or row.sizes[0]]
    y_train = flip_labels(y[train], row.noise, draw)
    return Partition(data.X[train], y_train, y_train, data.X[test], y[test])


def grid(row: RampSet, column: str, quick: bool) -> list[Any]:
    """The models to choose from; in the short form those of a single gamma and C."""
    pairs = [row.fixed] if quick else list(product(row.gamma, row.C))
    if column == "SVM":
        return [SVM(C, gamma=gamma) for gamma, C in pairs]
    return [RampSVM(C, gamma=gamma, s=s) for gamma, C in pairs for s in row.s]


def validate(data: Partition, models: list[Any], seed: int, n_fit: int = N_CHOOSING) -> tuple[list[Score], int]:
    """Validation errors of models that are fitted on ``n_fit`` training samples, and the number of all others."""
    order = np.random.default_rng((seed, 1)).permutation(len(data.y))
    n_fit = min(n_fit, 3 * len(order) // 4)
    fit, rest = order[:n_fit], order[n_fit:]
    part = Partition(data.X[fit], data.y[fit], data.y[fit], data.X[rest], data.y[rest])
    found = [part.fit(model) for model in models]
    return [Score(error, len(model.support_)) for error, model in found], len(rest)


def choose(scores: list[Score], n_validation: int, sparse: bool) -> int:
    """The smallest error, or the fewest support vectors within a standard error of it; ties by the other number."""
    least = min(scores).error
    limit = least + (binomial_error(least, n_validation) if sparse else 0.0)
    return min((score.n_support, score.error, i) for i, score in enumerate(scores) if score.error <= limit)[2]


@lru_cache(maxsize=1)
def scores_of(row: RampSet, family: str, setup: Setup, draw: int) -> tuple[list[Score], int]:
    """Validation errors of the models of a family; kept for the next column."""
    return validate(partition(row, setup, draw), grid(row, family, setup.quick), draw)


@lru_cache(maxsize=1)
def fitted(row: RampSet, column: str, setup: Setup, draw: int) -> dict[str, Measured]:
    """Test error and support vectors of the chosen model, both in percent; kept for the next cell."""
    data, family = partition(row, setup, draw), column.partition(",")[0]
    chosen_one = choose(*scores_of(row, family, setup, draw), sparse=column == SPARSE)
    error, model = data.fit(grid(row, family, setup.quick)[chosen_one])
    chosen = {name: getattr(model, name) for name in ("gamma", "C", "s") if hasattr(model, name)}
    share = 100.0 * len(model.support_) / len(data.y)
    return {kind: Measured(value, chosen=chosen) for kind, value in ((ERROR, error), (SUPPORT, share))}


def measure(row: RampSet, column: str, kind: str, setup: Setup, draw: int) -> Measured:
    """One of the two numbers of a model."""
    return fitted(row, column, setup, draw)[kind]


UNKNOWN_WEIGHTS = (
    "the number of support vectors is that of s, which the chapter chooses in a way that it does not print: here s "
    "has the smallest validation error, and the sparse choice beside it has fewer support vectors at the same error"
)


def _cell(row: RampSet, column: str, kind: str) -> Cell:
    error, count = COUNTS[row.title][column.partition(",")[0]]
    n_train, n_test = row.printed_sizes
    printed = Printed(error, test_size=n_test) if kind == ERROR else Printed(100 * count / n_train, test_size=n_train)
    sizes = f"; {row.sizes[0]:,} training samples instead of {n_train:,}" if row.sizes[0] != n_train else ""
    differs = SPLITS + sizes + ("; the sparsest model within a standard error is chosen" if column == SPARSE else "")
    run, in_quick = partial(measure, row, column, kind), row is not ADULT
    title, remark = f"{column}, {kind}", UNKNOWN_WEIGHTS if kind == SUPPORT else ""
    return Cell(row.title, title, printed, run, (row.name,), row.draws, differs, remark, in_quick=in_quick)


PROTOCOL = Protocol(
    name="collobert-1.1",
    title="Collobert et al., Table 1.1: hinge and ramp loss",
    reference=f"{REFERENCE}, Table 1.1.",
    url=URL,
    selection=REALISTIC,
    cells=tuple(_cell(row, column, kind) for row in SETS for column in COLUMNS for kind in (ERROR, SUPPORT)),
    draws=10,
    measures="percent: errors of the test samples, support vectors of the training samples",
    notes=(
        "The table prints numbers of support vectors, here divided by its number of training samples; their standard "
        "error is binomial from the training samples",
        f"Parameters, s among them, are validated on the training samples beside {N_CHOOSING:,} on which models are "
        "fitted; the chosen model is fitted on all",
        '"Sparse choice": the fewest support vectors of all models whose validation error is within a standard error '
        "of the smallest. The chapter does not say how it weighs errors against support vectors",
        "Both numbers of a model are of one fit, whose seconds stand with the first",
    ),
)
