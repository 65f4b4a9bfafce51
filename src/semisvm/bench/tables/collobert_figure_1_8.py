"""Collobert et al., Figure 1.8: objective and test error of the TSVM during the steps of CCCP."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...estimators import CCCPTSVM
from ...spaces import Kernel
from ...spaces.bandwidth import total_variance
from ..protocol import FIXED, Cell, Measured, Protocol, Setup
from .collobert_1_3 import REFERENCE, URL, SplitErrors

SETS = {"g50c": (1.0, 1.0, 0.0), "text": (1.0, 10.0, -0.3)}  # gamma and C in the units of Table 1.3, s
STEPS = tuple(range(1, 13))
ERROR, OBJECTIVE = "test error", "objective"


def tsvm(name: str, errors: SplitErrors, max_iter: int = 100) -> CCCPTSVM:
    """The TSVM with C* = C l/u, ended after some convex steps."""
    width, cost, s = SETS[name]
    gamma, split = width * errors.unit, errors.split
    C = cost / total_variance(Kernel("rbf", gamma), errors.data.X, np.ones(len(errors.shown)))
    star = C * len(split.labeled) / len(split.unlabeled)
    return CCCPTSVM(C, C_unlabeled=star, s=s, balance="labeled", gamma=gamma, max_iter=max_iter)


def measure(name: str, kind: str, step: int, setup: Setup, draw: int) -> Measured:
    """Test error after a step in percent, or the objective in percent of its last value."""
    errors = SplitErrors(setup.data.load(name), draw)
    if kind == ERROR:
        return Measured(errors.error(tsvm(name, errors, step), errors.data.X))
    path = [line["objective"] for line in tsvm(name, errors).fit(errors.data.X, errors.shown).trace_]
    objective = float(path[min(step, len(path) - 1)])  # the first is that of the start
    return Measured(100.0 * objective / path[-1], objective)


PROTOCOL = Protocol(
    name="collobert-figure-1.8",
    title="Collobert et al., Figure 1.8: objective and test error by steps of CCCP",
    reference=REFERENCE.replace("Table 1.3", "Figure 1.8"),
    url=URL,
    selection=FIXED,
    cells=tuple(
        Cell(f"step {step}", f"{name}, {kind}", None, partial(measure, name, kind, step), (name,), x=step)
        for name in SETS
        for kind in (OBJECTIVE, ERROR)
        for step in STEPS
    ),
    draws=10,
    measures="percent: errors of the unlabeled samples, objective of its last value",
    x_label="convex steps",
    notes=(
        "The chapter shows a single trial and says: the objective converges after five to ten steps",
        "gamma, C and s are fixed by us to values that are good in Table 1.3; the chapter does not print its own",
    ),
)
