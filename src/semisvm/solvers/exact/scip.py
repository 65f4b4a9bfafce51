"""Mixed integer programs of norm 2 by SCIP, an optional package."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from scipy import sparse

from ..._validation import import_optional
from ..base import StoppingRule
from ..least_squares.optimal_labels import status_of_scip
from .integer_program import OBJECTIVE_SIZE, IntegerProgram, IntegerResult

FEASIBILITY_TOL = 1e-9


def solve_with_scip(
    program: IntegerProgram,
    tol: float,
    max_nodes: int,
    stop: StoppingRule,
    start: np.ndarray,
    on_incumbent: Callable[[int, float, np.ndarray], None],
) -> IntegerResult:
    """Solve a program of norm 2.

    Parameters
    ----------
    program : IntegerProgram
        The program.
    tol : float
        Relative gap at which to end.
    max_nodes : int
        Largest number of nodes.
    stop : StoppingRule
        Its deadline is that of SCIP, which ends, too, once the rule has ended.
    start : array
        v, b, the bound on the norm, slacks and d of a feasible point.
    on_incumbent : callable
        Called with nodes, bound and labels whenever SCIP has found a better point.
    """
    pyscipopt = import_optional("pyscipopt", "exact", needed_by="norm=2", instead="norm=1")
    if stop.time_is_over:
        return IntegerResult(None, 0.0, 0, "max_time")
    factor = OBJECTIVE_SIZE / program.upper
    model, variables = _build_model(pyscipopt, program, factor)
    for name, value in {"limits/gap": tol, "limits/nodes": max_nodes, "numerics/feastol": FEASIBILITY_TOL}.items():
        model.setParam(name, value)
    if stop.time_left is not None:
        model.setParam("limits/time", stop.time_left)
    first = model.createSol()
    for variable, value in zip(variables, start):
        model.setSolVal(first, variable, float(value))
    model.addSol(first)
    d = variables[-len(program.weights) :]
    errors = _watch_incumbents(
        pyscipopt,
        model,
        stop,
        lambda: on_incumbent(int(model.getNNodes()), model.getDualbound() / factor, _labels(model, d)),
    )
    model.optimize()
    if errors:
        raise errors[0]
    labels = _labels(model, d) if model.getNSols() else None
    status = status_of_scip(model.getStatus())
    bound = -np.inf if status == "stalled" else model.getDualbound() / factor
    return IntegerResult(labels, bound, int(model.getNTotalNodes()), status if stop.running else str(stop.status))


def _build_model(pyscipopt: ModuleType, program: IntegerProgram, factor: float) -> tuple[Any, list[Any]]:
    """The model and its variables v, b, q, slacks, d; q is at least 1/2 ||v||^2 [+ 1/2 objective_scale b^2]."""
    n, width = program.Z.shape
    Z = program.Z.toarray() if sparse.issparse(program.Z) else program.Z
    model, total = pyscipopt.Model(), pyscipopt.quicksum
    model.hideOutput()
    v = [model.addVar(lb=None, name=f"v{k}") for k in range(width)]
    b = [] if program.intercept is False else [model.addVar(lb=None, name="b")]
    q = model.addVar(name="q")
    slack = [model.addVar(name=f"xi{i}") for i in range(n)]
    d = [model.addVar(vtype="B", name=f"d{j}") for j in range(len(program.weights))]
    switches = iter(zip(d, *program.big_m))
    for row, y, xi in zip(Z, program.signs, slack):
        f = total([float(z) * v_k for z, v_k in zip(row, v) if z] + b)
        if y:
            model.addCons(float(y) * f + xi >= 1.0)
            continue
        is_positive, M_positive, M_negative = next(switches)
        model.addCons(f + xi + float(M_positive) * (1.0 - is_positive) >= 1.0)
        model.addCons(-f + xi + float(M_negative) * is_positive >= 1.0)
    squares = [0.5 * v_k * v_k for v_k in v]
    if program.intercept == "regularized":
        squares.append(0.5 * program.objective_scale * b[0] * b[0])
    model.addCons(total(squares) <= q)
    if np.isfinite(program.high):
        positive = total(float(weight) * d_j for weight, d_j in zip(program.weights, d))
        model.addCons(positive <= program.high)
        model.addCons(positive >= program.low)
    costs = [factor * float(c) * xi for c, xi in zip(program.cost, slack)]
    model.setObjective(factor * q + total(costs), "minimize")
    return model, [*v, *b, q, *slack, *d]


def _labels(model: Any, d: list[Any]) -> np.ndarray:
    """The labels of the best point."""
    best = model.getBestSol()
    return np.array([1.0 if model.getSolVal(best, d_j) > 0.5 else -1.0 for d_j in d])


def _watch_incumbents(
    pyscipopt: ModuleType, model: Any, stop: StoppingRule, on_incumbent: Callable[[], None]
) -> list[Exception]:
    """Call ``on_incumbent`` at every better point and end SCIP once ``stop`` has ended.

    SCIP drops exceptions of its event handlers: Ctrl-C ends ``stop``, and an error is added to the list returned.
    """
    event, errors = pyscipopt.SCIP_EVENTTYPE.BESTSOLFOUND, []

    class Watch(pyscipopt.Eventhdlr):  # type: ignore[name-defined]
        def eventinit(self) -> None:
            self.model.catchEvent(event, self)

        def eventexit(self) -> None:
            self.model.dropEvent(event, self)

        def eventexec(self, _: Any) -> None:
            try:
                with stop.nested():
                    on_incumbent()
            except Exception as error:
                errors.append(error)
            if errors or not stop.running:
                self.model.interruptSolve()

    model.includeEventhdlr(Watch(), "watch", "calls back at every better point")
    return errors
