"""Mixed integer programs of norm 2 by SCIP, a package of its own."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy import sparse

from .integer_program import LEVEL, SAFE, Found, Program


def package(what: str, instead: str):
    """The package pyscipopt, or one sentence that says how to get it or do without it.

    Parameters
    ----------
    what, instead : str
        The setting that needs it, and one that does not.
    """
    try:
        import pyscipopt
    except ImportError:
        raise ImportError(
            f"{what} needs SCIP, which is not installed: pip install 'semisvm[exact]', or pass {instead}."
        ) from None
    return pyscipopt


def by_scip(program: Program, tol: float, max_nodes: int, end: float, start: np.ndarray, told: Callable) -> Found:
    """Solve a program of norm 2 by SCIP.

    Parameters
    ----------
    program : Program
        The program.
    tol : float
        Relative gap at which to stop.
    max_nodes : int
        Largest number of nodes.
    end : float
        ``time.perf_counter()`` at which to stop.
    start : array
        v, b, slacks and d of a machine to begin with.
    told : callable
        Sees nodes, bound and labels at every better machine; True stops.
    """
    pyscipopt = package("norm=2", "norm=1")
    left = end - time.perf_counter()
    if left <= 0:
        return Found(None, 0.0, 0, "max_time")
    factor = LEVEL / program.upper
    model, variables = _model(pyscipopt, program, factor)
    for name, value in {"limits/gap": tol, "limits/nodes": max_nodes, "numerics/feastol": 1e-9}.items():
        model.setParam(name, value)
    if left < np.inf:
        model.setParam("limits/time", left)
    first = model.createSol()
    for variable, value in zip(variables, start):
        model.setSolVal(first, variable, float(value))
    model.addSol(first)
    d = variables[-len(program.weight) :]
    stopped = _watch(
        pyscipopt, model, lambda: told(int(model.getNNodes()), model.getDualbound() / factor, _sides(model, d))
    )
    model.optimize()
    labels = _sides(model, d) if model.getNSols() else None
    status = {"optimal": "converged", "gaplimit": "converged", "nodelimit": "max_iter", "userinterrupt": "interrupted"}
    why = "stopped" if stopped else status.get(model.getStatus(), "max_time")
    bound = model.getDualbound() / factor
    return Found(labels, bound - SAFE * program.upper, int(model.getNTotalNodes()), why)


def _model(pyscipopt, program: Program, factor: float):
    """The program as a model, and its variables v, b, q, slacks, d; q is at least 1/2 ||v||^2 [+ 1/2 price b^2]."""
    n, width = program.Z.shape
    Z = program.Z.toarray() if sparse.issparse(program.Z) else program.Z
    model, total = pyscipopt.Model(), pyscipopt.quicksum
    model.hideOutput()
    v = [model.addVar(lb=None, name=f"v{k}") for k in range(width)]
    b = [] if program.intercept is False else [model.addVar(lb=None, name="b")]
    q = model.addVar(name="q")
    slack = [model.addVar(name=f"xi{i}") for i in range(n)]
    d = [model.addVar(vtype="B", name=f"d{j}") for j in range(len(program.weight))]
    free = iter(zip(d, *program.big))
    for row, y, xi in zip(Z, program.signs, slack):
        f = total([float(z) * one for z, one in zip(row, v) if z] + b)
        if y:
            model.addCons(float(y) * f + xi >= 1.0)
            continue
        label, above, below = next(free)
        model.addCons(f + xi + float(above) * (1.0 - label) >= 1.0)
        model.addCons(-f + xi + float(below) * label >= 1.0)
    squares = [0.5 * one * one for one in v]
    if program.intercept == "regularised":
        squares.append(0.5 * program.price * b[0] * b[0])
    model.addCons(total(squares) <= q)
    if np.isfinite(program.high):
        positive = total(float(w) * one for w, one in zip(program.weight, d))
        model.addCons(positive <= program.high)
        model.addCons(positive >= program.low)
    costs = [factor * float(c) * xi for c, xi in zip(program.cost, slack)]
    model.setObjective(factor * q + total(costs), "minimize")
    return model, [*v, *b, q, *slack, *d]


def _sides(model, d: list) -> np.ndarray:
    """The labels of the best machine."""
    best = model.getBestSol()
    return np.array([1.0 if model.getSolVal(best, one) > 0.5 else -1.0 for one in d])


def _watch(pyscipopt, model, told: Callable) -> list:
    """Tell of every better machine; the list is not empty once somebody asked to stop."""
    event, stopped = pyscipopt.SCIP_EVENTTYPE.BESTSOLFOUND, []

    class Watch(pyscipopt.Eventhdlr):
        def eventinit(self):
            self.model.catchEvent(event, self)

        def eventexit(self):
            self.model.dropEvent(event, self)

        def eventexec(self, _):
            if told():
                stopped.append(True)
                self.model.interruptSolve()

    model.includeEventhdlr(Watch(), "watch", "tells of better machines")
    return stopped
