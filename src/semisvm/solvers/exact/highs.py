"""Mixed integer programs of norm 1 by HiGHS, which comes with scipy."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from ..base import StoppingRule
from .integer_program import OBJECTIVE_SIZE, IntegerProgram, IntegerResult
from .linear_program import intercept_variables

Result = TypeVar("Result")
OPTIMAL, LIMIT, OTHER = 0, 1, 4  # statuses of scipy; 2 and 3 are infeasible and unbounded programs


def solve_with_highs(program: IntegerProgram, tol: float, max_nodes: int, stop: StoppingRule) -> IntegerResult:
    """Solve a program of norm 1.

    Parameters
    ----------
    program : IntegerProgram
        The program.
    tol : float
        Relative gap at which to end.
    max_nodes : int
        Largest number of nodes.
    stop : StoppingRule
        Its deadline is that of HiGHS.
    """
    if stop.time_is_over:
        return IntegerResult(None, 0.0, 0, "max_time")
    factor = OBJECTIVE_SIZE / program.upper
    arguments = _milp_arguments(program, factor)
    options = {"mip_rel_gap": tol, "node_limit": max_nodes}
    if stop.time_left is not None:
        options["time_limit"] = stop.time_left
    result = run_interruptible(lambda: milp(**arguments, options=options))
    n_nodes, status = int(result.mip_node_count or 0), _status(result, max_nodes, stop)
    has_bound = status != "stalled" and result.mip_dual_bound is not None
    bound = result.mip_dual_bound / factor if has_bound else -np.inf
    labels = None
    if result.x is not None:
        labels = np.where(result.x[-len(program.weights) :] > 0.5, 1.0, -1.0)
    return IntegerResult(labels, bound, n_nodes, status)


def _status(result: Any, max_nodes: int, stop: StoppingRule) -> str:
    """Why HiGHS ended; "stalled" where it failed, as with an infeasible program, which proves nothing here."""
    if result.status == OPTIMAL:
        return "converged"
    if result.status in (LIMIT, OTHER) and (result.mip_node_count or 0) >= max_nodes:
        return "max_iter"  # scipy has no status of its own for the limit of nodes
    timed_out = result.status == LIMIT or (result.status == OTHER and stop.time_is_over)  # OTHER: while it prepares
    return "max_time" if timed_out else "stalled"


def _milp_arguments(program: IntegerProgram, factor: float) -> dict[str, Any]:
    """The arguments of ``milp``; variables are p, q with v = p - q, those of the intercept, slacks, d."""
    n, d = program.Z.shape
    searched = np.flatnonzero(program.signs == 0)
    Z, u = sparse.csr_array(program.Z), len(searched)
    shift, price, b_bounds = intercept_variables(program.intercept, program.objective_scale)
    f = sparse.hstack([Z, -Z, sparse.csr_array(np.tile(shift, (n, 1)))], format="csr")
    slack = sparse.eye_array(n, format="csr")
    signs, diagonal = sparse.csr_array(program.signs[:, None]), sparse.diags_array
    labeled = program.signs != 0
    M_positive, M_negative = program.big_m
    matrix = sparse.vstack(
        [
            sparse.hstack([(f * signs)[labeled], slack[labeled], sparse.csr_array((int(labeled.sum()), u))]),
            sparse.hstack([f[searched], slack[searched], diagonal(-M_positive)]),
            sparse.hstack([-f[searched], slack[searched], diagonal(M_negative)]),
        ],
        format="csr",
    )
    lower = np.r_[np.zeros(2 * d), b_bounds[:, 0], np.zeros(n + u)]
    upper = np.r_[np.full(2 * d, np.inf), b_bounds[:, 1], np.full(n, np.inf), np.ones(u)]
    constraints = [LinearConstraint(matrix, np.r_[np.ones(labeled.sum()), 1.0 - M_positive, np.ones(u)], np.inf)]
    if np.isfinite(program.high):
        positive = np.r_[np.zeros(f.shape[1] + n), program.weights]
        constraints.append(LinearConstraint(positive[None], program.low, program.high))
    return {
        "c": factor * np.r_[np.ones(2 * d), price, program.cost, np.zeros(u)],
        "constraints": constraints,
        "bounds": Bounds(lower, upper),
        "integrality": np.r_[np.zeros(len(lower) - u), np.ones(u)],
    }


def run_interruptible(task: Callable[[], Result]) -> Result:
    """What ``task`` returns, computed in a thread of its own, so that Ctrl-C is seen while HiGHS runs.

    After Ctrl-C HiGHS goes on in the background until its own limit, and its result is not used.
    """
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(task())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    while not future.done():
        wait([future], timeout=0.05)
    return future.result()
