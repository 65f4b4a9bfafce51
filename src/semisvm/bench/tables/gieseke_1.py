"""Gieseke et al., Table 1: S2RLSC and RLSC, linear kernel, parameters chosen on the test samples ("non-realistic")."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...datasets import make_gaussian_clusters
from ...estimators import LSSVM, LocalSearchRLSC
from ..data import Partition, show_labels
from ..protocol import TEST_TUNED, Cell, Measured, Printed, Protocol, Setup
from ..selection import best_on_test

NOT_PRINTED = (float("nan"), float("nan"))


class Row(NamedTuple):
    """A set, numbers of samples, and printed means and deviations: chosen on the test samples, then realistic."""

    name: str
    n_labeled: int
    n_unlabeled: int
    n_test: int
    rlsc: tuple[float, float] = NOT_PRINTED
    s2rlsc: tuple[float, float] = NOT_PRINTED
    realistic_rlsc: tuple[float, float] = NOT_PRINTED
    realistic_s2rlsc: tuple[float, float] = NOT_PRINTED

    @property
    def title(self) -> str:
        """What the row is called."""
        return f"{self.name}, {self.n_labeled} labels"

    @property
    def needs(self) -> tuple[str, ...]:
        """The sets that the row takes from the data folder."""
        return ("usps",) if self.name.startswith("USPS") else ()


ROWS = (
    Row("Gaussian2C", 25, 225, 250, (10.6, 2.3), (0.6, 0.5), (11.4, 2.4), (6.6, 2.6)),
    Row("Gaussian2C", 50, 200, 250, (4.9, 1.9), (0.6, 0.5), (5.3, 2.1), (3.3, 2.6)),
    Row("Gaussian4C", 25, 225, 250, (16.1, 7.0), (6.8, 12.5), (16.5, 6.8), (12.0, 13.6)),
    Row("Gaussian4C", 50, 200, 250, (6.1, 2.1), (0.8, 0.6), (6.5, 1.9), (4.1, 2.4)),
    Row("USPS(2,5)", 16, 806, 823, (7.9, 2.9), (2.9, 0.4), (9.3, 2.3), (6.3, 2.8)),
    Row("USPS(2,5)", 32, 790, 823, (4.4, 0.5), (2.9, 0.4), (5.8, 1.6), (6.4, 2.0)),
    Row("USPS(2,7)", 17, 843, 861, (3.6, 2.4), (1.0, 0.1), (4.0, 2.4), (1.4, 0.2)),
    Row("USPS(2,7)", 34, 826, 861, (2.2, 0.7), (1.0, 0.1), (3.1, 1.7), (1.3, 0.2)),
    Row("USPS(3,8)", 15, 751, 766, (9.8, 6.6), (4.1, 1.3), (11.0, 6.4), (6.2, 2.7)),
    Row("USPS(3,8)", 30, 736, 766, (6.3, 2.0), (3.9, 1.2), (7.7, 1.4), (6.4, 2.8)),
    Row("USPS(8,0)", 22, 1108, 1131, (4.8, 1.9), (1.2, 0.2), (6.6, 3.3), (1.8, 0.6)),
    Row("USPS(8,0)", 45, 1085, 1131, (2.6, 0.8), (1.1, 0.2), (3.3, 0.9), (2.0, 0.5)),
)
LAMBDAS, PRIMES = [2.0**power for power in range(-10, 11)], [0.01, 1.0, 100.0]
QUICK_LAMBDAS = LAMBDAS[2::8]
LINEAR: dict[str, Any] = {"kernel": "linear", "fit_intercept": False}
ARTICLE = (
    'F. Gieseke, O. Kramer, A. Airola and T. Pahikkala, "Speedy local search for semi-supervised '
    'regularized least-squares", KI, 2011'
)
REFERENCE = f"{ARTICLE}, Table 1."
URL = "https://doi.org/10.1007/978-3-642-24455-1_8"
EASY_SET = (
    "the rule by the means of 250 labeled training samples has the error Phi(-2.5^2 / sqrt(2.5^2 + 500/250)) = 1.5 %, "
    "as ours and RLSC with all labels have. The printed error is that of one set of 500 samples, which varies by 0.55 "
    "points from set to set, and lies 1.6 of these deviations below (Gaussian4C 1.3). Neither the test samples among "
    "the unlabeled ones (1.4 %) nor the error on unlabeled samples (1.9 %) gives it"
)
FEW_SAMPLES = "ten partitions are printed, whose deviation is that of two or three test samples; ours are 30"
DRAWN_ANEW = (
    "Gaussian2C and Gaussian4C are drawn anew for every partition; the article seems to have partitioned one set, "
    "whose chance, that of 500 samples, is part of the margin"
)
GRAY_VALUES = (
    "The pixels of USPS are gray values from 0 to 1: the article has 8 bits of gray. There is no intercept, so that "
    "the zero matters; it was decided by the supervised column, after its errors had been seen. With values from -1 to "
    "1, as in the file, RLSC has 4.9 and 2.6 % for 2 against 5 and 7 with the larger number of labels (60 partitions), "
    "with values from 0 to 1 4.7 and 2.0 %, printed are 4.4 and 2.2 %"
)
GENERATED = 500


def samples(name: str, setup: Setup, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """The samples of a set, digits as gray values from 0 to 1; the second digit is class 2."""
    if name.startswith("Gaussian"):
        return make_gaussian_clusters(GENERATED, 500, 1 if "2C" in name else 2, draw)
    first, second = (1 + int(digit) for digit in name[5:-1].split(","))  # the classes are counted from 1
    _, X, y, _ = setup.data.load("usps")
    kept = np.isin(y, (first, second))
    return (X[kept].astype(float) + 1.0) / 2.0, 1 + (y[kept] == second)


def partition(row: Row, setup: Setup, draw: int) -> Partition:
    """Labeled, unlabeled and test samples at random."""
    X, y = samples(row.name, setup, draw)
    rng = np.random.default_rng(draw)
    n_train = row.n_labeled + row.n_unlabeled
    order = rng.permutation(len(y))
    train, test = order[:n_train], order[n_train : n_train + row.n_test]
    return Partition(X[train], show_labels(y[train], row.n_labeled, rng), y[train], X[test], y[test])


def rlsc(lam: float, n_labeled: int) -> LSSVM:
    """The minimum of (1/l) sum of squared residuals + lambda ||f||^2."""
    return LSSVM(1 / (lam * n_labeled), **LINEAR)


def s2rlsc(lam: float, prime: float, n_labeled: int, n_unlabeled: int, balance: float | str) -> LocalSearchRLSC:
    """The same with (lambda'/u) sum over unlabeled samples; one start, the share of the classes within 0.1."""
    settings = LINEAR | {"balance": balance, "balance_tol": 0.1, "n_init": 1, "random_state": 0}
    return LocalSearchRLSC(1 / (lam * n_labeled), C_unlabeled=prime / (lam * n_unlabeled), **settings)


def measure(row: Row, column: str, setup: Setup, draw: int) -> Measured:
    """The best cell of the grid on the test samples of a partition."""
    data, n_labeled, n_unlabeled = partition(row, setup, draw), row.n_labeled, row.n_unlabeled
    lambdas = QUICK_LAMBDAS if setup.quick else LAMBDAS
    if column == "S2RLSC":
        share = float(np.mean(samples(row.name, setup, draw)[1] == 2))
        axes = {"lambda": lambdas, "lambda'": PRIMES}
        return best_on_test(axes, lambda lam, prime: data.error(s2rlsc(lam, prime, n_labeled, n_unlabeled, share)))
    count = n_labeled if column == "RLSC" else n_labeled + n_unlabeled
    return best_on_test({"lambda": lambdas}, lambda lam: data.error(rlsc(lam, count), column != "RLSC"))


def printed_of(row: Row, figures: tuple[float, float]) -> Printed:
    """Mean and deviation of ten partitions."""
    one_set = row.name.startswith("Gaussian")
    return Printed(*figures, 10, GENERATED if one_set else row.n_test, one_test_set=one_set)


def _cell(row: Row, column: str) -> Cell:
    figures = {"RLSC": row.rlsc, "S2RLSC": row.s2rlsc}
    printed = printed_of(row, figures[column]) if column in figures else None
    remark = EASY_SET if row.name.startswith("Gaussian") else FEW_SAMPLES
    remark = remark if column == "S2RLSC" else ""
    return Cell(row.title, column, printed, partial(measure, row, column), needs=row.needs, remark=remark)


PROTOCOL = Protocol(
    name="gieseke-1",
    title="Gieseke et al., Table 1: S2RLSC, parameters chosen on the test samples",
    reference=REFERENCE,
    url=URL,
    selection=TEST_TUNED,
    draws=30,
    cells=tuple(_cell(row, column) for row, column in product(ROWS, ("RLSC", "S2RLSC", "RLSC, all labels"))),
    notes=(
        DRAWN_ANEW,
        "30 partitions of every row; the article has ten",
        GRAY_VALUES,
        "S2RLSC is given the share of the classes of all samples, within 0.1",
        '"RLSC, all labels" knows every training label; the article does not print it',
        "The columns of the program UniverSVM are left out",
    ),
)
