"""Labels that are proved optimal, and lower bounds on the objective of all labels.

The free samples have the labels x = y_U of +-1; all others are fixed. Since x'x is their number, the smallest
eigenvalue of S_UU can be taken out of the form:

    1/2 y'Sy = 1/2 x'Px + q'x + constant,     P = S_UU - lambda_min I,  q = S_UF y_F

which is convex, has the same values at labels, and over the box [-1, 1] is a relaxation. For few samples all labels are
enumerated, for some more SCIP solves the program over labels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from ..._validation import import_optional
from ...balance import positive_band
from ...problem import Problem
from ...spaces import require_memory
from ..base import StoppingRule
from .box_qp import box_lower_bound, solve_box_qp
from .flips import enumerate_labels
from .system import System

STATUS_OF_SCIP = {
    "optimal": "converged",
    "gaplimit": "converged",
    "nodelimit": "max_iter",
    "totalnodelimit": "max_iter",
    "stallnodelimit": "max_iter",
    "timelimit": "max_time",
    "userinterrupt": "interrupted",
}
KEEP_CONVEX = 1.0 - 1e-9  # share of the smallest eigenvalue that is taken out of the form


class Labeling(NamedTuple):
    """Labels of the samples of a system, a lower bound on the objective of all labels, and whether they are optimal."""

    y: np.ndarray
    bound: float | None = None
    is_optimal: bool = False


def convex_program(system: System, y: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """P, q and a constant such that 1/2 y'Sy = 1/2 x'Px + q'x + constant for labels x = y[free], P barely convex."""
    require_memory(8 * len(free) ** 2, f"the quadratic program over {len(free):,} labels", "Use exact=False")
    fixed = np.setdiff1d(np.arange(len(y)), free)
    P = system.form.block(free)
    P = 0.5 * (P + P.T)
    q = system.form.block(free, fixed) @ y[fixed]
    shift = KEEP_CONVEX * float(linalg.eigvalsh(P, subset_by_index=(0, 0))[0])
    P[np.diag_indices(len(free))] -= shift
    fixed_labels = np.zeros(len(y))
    fixed_labels[fixed] = y[fixed]
    return P, q, system.form.value(fixed_labels) + 0.5 * shift * len(free)


def relaxation_bound(system: System, y: np.ndarray, free: np.ndarray, stop: StoppingRule | None = None) -> float:
    """A lower bound on 1/2 y'Sy over all labels of the free samples: the smallest value over the box around them.

    Where the deadline of ``stop`` ends the program over the box, its last point gives a lower one.
    """
    P, q, constant = convex_program(system, y, free)
    x = solve_box_qp(P, q, 0.5 * y[free], stop=stop)
    return constant + box_lower_bound(float(0.5 * x @ P @ x + q @ x), P @ x + q, x)


def _free_band(
    problem: Problem, system: System, y: np.ndarray, free: np.ndarray
) -> tuple[np.ndarray, tuple[float, float]]:
    """Weights of the free samples, and lowest and highest weight of the positive ones among them."""
    weights = np.ones(len(y))
    weights[system.searched] = problem.weights_of(problem.searched)
    low, high = positive_band(problem.balance, weights[system.searched], y[system.searched])
    fixed = np.setdiff1d(system.searched, free)
    fixed_positive = float(weights[fixed] @ (y[fixed] > 0))
    positive = float(weights[free] @ (y[free] > 0))  # the nearest attainable if the fixed samples break the balance
    return weights[free], (min(low - fixed_positive, positive), max(high - fixed_positive, positive))


def enumerate_all(problem: Problem, system: System, y: np.ndarray, free: np.ndarray) -> Labeling:
    """The best of all labels of the free samples; its value is the bound."""
    S = np.ascontiguousarray(system.form.block(free))
    weights, band = _free_band(problem, system, y, free)
    alpha = system.form.product(y)[free]
    positive = float(weights @ (y[free] > 0))
    best = y.copy()
    best[free] = enumerate_labels(S, y[free].copy(), alpha, weights, positive, *band)
    return Labeling(best, system.form.value(best), is_optimal=True)


def solve_scip(problem: Problem, system: System, y: np.ndarray, free: np.ndarray, stop: StoppingRule) -> Labeling:
    """The best labels of the free samples by SCIP, from the ones found, with a bound."""
    scip = import_optional("pyscipopt", "exact", needed_by="exact=True", instead="exact=False")
    P, q, constant = convex_program(system, y, free)
    model, z = _scip_model(scip, P, q, y[free], *_free_band(problem, system, y, free))
    if stop.time_left is not None:
        model.setParam("limits/time", stop.time_left)
    model.optimize()
    best = y.copy()
    if model.getNSols():
        best[free] = [1.0 if model.getVal(variable) > 0.5 else -1.0 for variable in z]
    if not system.form.value(best) < system.form.value(y):
        best = y
    status = status_of_scip(model.getStatus())
    if status == "stalled":
        stop.end(status)
        return Labeling(best)
    if status != "converged":
        stop.end(status)
    bound = constant + _offset(P, q) + model.getDualbound()
    return Labeling(best, min(bound, system.form.value(best)), status == "converged")


def status_of_scip(status: str) -> str:
    """Why SCIP ended; "stalled" where it failed, for lack of memory or as infeasible by rounding: no bound holds."""
    return STATUS_OF_SCIP.get(status, "stalled")


def _offset(P: np.ndarray, q: np.ndarray) -> float:
    """1/2 x'Px + q'x at the labels -1, which ``_scip_model`` leaves out of its objective."""
    return 0.5 * P.sum() - q.sum()


def _scip_model(
    scip: Any, P: np.ndarray, q: np.ndarray, x: np.ndarray, weights: np.ndarray, band: tuple[float, float]
) -> tuple[Any, list[Any]]:
    """The program over labels 2 z - 1 of binary z, started at labels x; returns the model and z.

    1/2 x'Px + q'x = 2 z'Pz + 2 (q - P1)'z + 1/2 1'P1 - q'1
    """
    n = len(x)
    model = scip.Model()
    model.hideOutput()
    model.setParam("limits/gap", 0.0)
    z = [model.addVar(vtype="B", name=f"z{i}") for i in range(n)]
    value = model.addVar(lb=None, name="value")
    linear = 2.0 * (q - P.sum(axis=1))
    model.addCons(
        scip.quicksum(2.0 * P[i, i] * z[i] * z[i] + linear[i] * z[i] for i in range(n))
        + scip.quicksum(4.0 * P[i, j] * z[i] * z[j] for i in range(n) for j in range(i))
        <= value
    )
    model.setObjective(value, "minimize")
    if np.isfinite(band[1]):
        positive = scip.quicksum(float(weight) * variable for weight, variable in zip(weights, z))
        model.addCons(positive <= band[1])
        model.addCons(positive >= band[0])
    start = model.createSol()
    for variable, label in zip(z, x):
        model.setSolVal(start, variable, float(label > 0))
    start_value = 0.5 * x @ P @ x + q @ x - _offset(P, q)
    model.setSolVal(start, value, float(start_value) + 1e-9)  # above the value, so that rounding keeps it feasible
    model.addSol(start)
    return model, z
