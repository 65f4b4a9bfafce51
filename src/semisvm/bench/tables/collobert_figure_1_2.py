"""Collobert et al., Figure 1.2: support vectors by training samples, and error and support vectors by s."""

from __future__ import annotations

from functools import lru_cache, partial

from ...estimators import SVM, RampSVM
from ..protocol import FIXED, Cell, Measured, Protocol, Setup
from .collobert_1_1 import ADULT, ERROR, REFERENCE, SUPPORT, URL, USPS, RampSet, partition

SIZES = {"USPS+N": (500, 1000, 2000, 4000, 7298), "Adult": (1000, 2000, 4000, 8000, 16000, 32561)}
RAMPS = (-2.0, -1.0, -0.7, -0.5, -0.3, 0.0, 0.3, 0.6, 0.8)
LOSSES = {"H1": None, "R-1": -1.0, "R0": 0.0}
N_RIGHT = {"USPS+N": 7298, "Adult": 10000}
PARAMETERS = (
    "gamma = 1/128 and C = 1 for USPS+N, gamma = 0.01 and C = 1 for Adult; the chapter does not print its parameters",
    "The partitions are drawn by us",
)


def model_of(row: RampSet, s: float | None) -> SVM | RampSVM:
    """The SVM, or the ramp-loss SVM that starts from it."""
    gamma, C = row.fixed
    return SVM(C, gamma=gamma) if s is None else RampSVM(C, gamma=gamma, s=s)


def measure_count(row: RampSet, loss: str, n_train: int, setup: Setup, draw: int) -> Measured:
    """Number of support vectors."""
    data = partition(row, setup, draw, n_train)
    return Measured(float(len(data.fit(model_of(row, LOSSES[loss]))[1].support_)))


@lru_cache(maxsize=1)
def fitted(row: RampSet, s: float, setup: Setup, draw: int) -> dict[str, float]:
    """Test error and support vectors in percent; kept for the next cell."""
    data = partition(row, setup, draw, min(2000, N_RIGHT[row.title]) if setup.quick else N_RIGHT[row.title])
    error, model = data.fit(model_of(row, s))
    return {ERROR: error, SUPPORT: 100.0 * len(model.support_) / len(data.y)}


def measure_ramp(row: RampSet, s: float, kind: str, setup: Setup, draw: int) -> Measured:
    """One of the two numbers for a value of s."""
    return Measured(fitted(row, s, setup, draw)[kind])


def _count_cell(row: RampSet, loss: str, n_train: int) -> Cell:
    run, draws = partial(measure_count, row, loss, n_train), 1 if n_train > 20000 else None
    column, in_quick = f"{row.title}, {loss}", n_train <= 4000
    return Cell(f"{n_train:,} samples", column, None, run, (row.name,), draws, in_quick=in_quick, x=n_train)


def _ramp_cell(row: RampSet, s: float, kind: str) -> Cell:
    run = partial(measure_ramp, row, s, kind)
    differs = "10,000 of the 32,561 training samples, to save time" if row is ADULT else ""
    return Cell(f"s = {s:g}", f"{row.title}, {kind}", None, run, (row.name,), differs=differs, x=s)


LEFT = Protocol(
    name="collobert-figure-1.2-left",
    title="Collobert et al., Figure 1.2, left: number of support vectors by number of training samples",
    reference=f"{REFERENCE}, Figure 1.2.",
    url=URL,
    selection=FIXED,
    cells=tuple(_count_cell(row, loss, n) for row in (USPS, ADULT) for n in SIZES[row.title] for loss in LOSSES),
    draws=3,
    measures="number of support vectors",
    x_label="number of training samples",
    notes=(
        *PARAMETERS,
        "The chapter says: a straight line for the hinge loss H1, almost one for the ramp loss with s = -1 on Adult, "
        "and about the square root of the number of samples for s = 0",
    ),
)
RIGHT = Protocol(
    name="collobert-figure-1.2-right",
    title="Collobert et al., Figure 1.2, right: error and support vectors by s",
    reference=f"{REFERENCE}, Figure 1.2.",
    url=URL,
    selection=FIXED,
    cells=tuple(_ramp_cell(row, s, kind) for row in (USPS, ADULT) for s in RAMPS for kind in (ERROR, SUPPORT)),
    draws=3,
    measures="percent: errors of the test samples, support vectors of the training samples",
    x_label="s",
    notes=(
        *PARAMETERS,
        "The chapter says: 0 < s < 1 degrades the error on both sets. It plots errors against support vectors, with s "
        "printed along the curve; here both are plotted against s",
        'Its caption has "training error" where the text speaks of generalization: test errors are measured',
    ),
)
