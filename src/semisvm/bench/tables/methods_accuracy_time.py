"""Error against seconds for all methods with their defaults, on one generated set."""

from __future__ import annotations

import time
from functools import cache, partial
from typing import Any

import numpy as np

from ...datasets import hide_labels, make_gaus50
from ...ensemble import ENSEMBLES
from ...estimators import ESTIMATORS
from ...self_training import WRAPPERS
from ..protocol import FIXED, Cell, Measured, Protocol, Setup

N_TRAIN, N_LABELED, N_TEST = 200, 20, 1000
MAX_SECONDS, QUICK_SECONDS = 10.0, 1.0
GENERIC = "S3VM"  # the pieces of another method
METHODS = {name: cls for name, cls in (ESTIMATORS | WRAPPERS | ENSEMBLES).items() if name != GENERIC}


def family(name: str) -> str:
    """The column of a method."""
    if name not in ESTIMATORS:
        return "wrapper or ensemble"
    if not hasattr(METHODS[name], "supervised_"):
        return "supervised"
    return "least squares" if name.endswith(("LSSVM", "RLSC")) else "hinge losses"


def estimator(name: str, max_time: float | None) -> Any:
    """A method with its defaults, a seed and a limit of time."""
    cls = METHODS[name]
    given = {"max_time": max_time, "random_state": 0}
    known = cls().get_params(deep=False)
    return cls(**{key: value for key, value in given.items() if key in known})


@cache
def compile_loops(name: str) -> None:
    """Fit a few samples, so that no time is measured in which numba compiles."""
    X, y = make_gaus50(24, 0)
    estimator(name, None).fit(X, hide_labels(y, 12, 0))


def measure(name: str, setup: Setup, draw: int) -> Measured:
    """Percent error on the test samples, and the seconds of the fit."""
    compile_loops(name)
    X, y = make_gaus50(N_TRAIN + N_TEST, draw)
    shown = hide_labels(y[:N_TRAIN], N_LABELED, draw)
    model = estimator(name, QUICK_SECONDS if setup.quick else MAX_SECONDS)
    begin = time.perf_counter()
    model.fit(X[:N_TRAIN], shown)
    seconds = time.perf_counter() - begin
    error = 100.0 * float(np.mean(model.predict(X[N_TRAIN:]) != y[N_TRAIN:]))
    return Measured(error, seconds=seconds)


PROTOCOL = Protocol(
    name="methods-accuracy-time",
    title="All methods: error against seconds",
    reference="Gaus50 with 20 labeled and 180 unlabeled samples, 1,000 test samples; not of an article.",
    url="",
    selection=FIXED,
    cells=tuple(Cell(name, family(name), None, partial(measure, name)) for name in METHODS),
    draws=5,
    notes=(
        f"Every method has its defaults and at most {MAX_SECONDS:g} seconds ({QUICK_SECONDS:g} in the short form), "
        "where it takes such a limit; exact methods and GeneticTSVM use it up",
        "Seconds are those of the fit, with loops compiled before",
    ),
    picture="time",
)
