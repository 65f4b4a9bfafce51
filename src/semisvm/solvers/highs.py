"""Mixed integer programs of norm 1 by HiGHS, which comes with scipy."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from .integer_program import LEVEL, SAFE, Found, Program


def by_highs(program: Program, tol: float, max_nodes: int, end: float) -> Found:
    """Solve a program of norm 1 by HiGHS."""
    factor = LEVEL / program.upper
    arguments = _arguments(program, factor)
    left = end - time.perf_counter()
    if left <= 0:
        return Found(None, 0.0, 0, "max_time")
    options = {"mip_rel_gap": tol, "node_limit": max_nodes} | ({"time_limit": left} if left < np.inf else {})
    answer = interruptible(lambda: milp(**arguments, options=options))
    nodes = int(answer.mip_node_count or 0)
    bound = -np.inf if answer.mip_dual_bound is None else answer.mip_dual_bound / factor
    labels = None
    if answer.x is not None:
        labels = np.where(answer.x[-len(program.weight) :] > 0.5, 1.0, -1.0)
    late = "max_iter" if nodes >= max_nodes else "max_time"
    return Found(labels, bound - SAFE * program.upper, nodes, "converged" if answer.status == 0 else late)


def _arguments(program: Program, factor: float) -> dict:
    """The program in the words of ``milp``; variables are p, q with v = p - q, the intercept, slacks, d."""
    n, d = program.Z.shape
    free = np.flatnonzero(program.signs == 0)
    Z, u = sparse.csr_array(program.Z), len(free)
    parts = {True: [1.0], False: [], "regularised": [1.0, -1.0]}[program.intercept]
    f = sparse.hstack([Z, -Z, sparse.csr_array(np.tile(parts, (n, 1)))], format="csr")
    slack = sparse.eye_array(n, format="csr")
    signs, switch = sparse.csr_array(program.signs[:, None]), sparse.diags_array
    known = program.signs != 0
    above, below = program.big
    matrix = sparse.vstack(
        [
            sparse.hstack([(f * signs)[known], slack[known], sparse.csr_array((int(known.sum()), u))]),
            sparse.hstack([f[free], slack[free], switch(-above)]),
            sparse.hstack([-f[free], slack[free], switch(below)]),
        ],
        format="csr",
    )
    count = np.r_[np.zeros(f.shape[1] + n), program.weight]
    upper = np.full(len(count), np.inf)
    lower = np.zeros(len(count))
    lower[2 * d : 2 * d + len(parts)] = -np.inf if program.intercept is True else 0.0
    upper[-u:] = 1.0
    price = np.full(len(parts), program.price if program.intercept == "regularised" else 0.0)
    constraints = [LinearConstraint(matrix, np.r_[np.ones(known.sum()), 1.0 - above, np.ones(u)], np.inf)]
    if np.isfinite(program.high):
        constraints.append(LinearConstraint(count[None], program.low, program.high))
    return {
        "c": factor * np.r_[np.ones(2 * d), price, program.cost, np.zeros(u)],
        "constraints": constraints,
        "bounds": Bounds(lower, upper),
        "integrality": np.r_[np.zeros(len(count) - u), np.ones(u)],
    }


def interruptible(task: Callable):
    """What ``task`` returns, computed in a thread of its own: so Ctrl-C is heard while HiGHS runs.

    After Ctrl-C HiGHS goes on in the background until its own limit, and nobody listens.
    """
    answers = []

    def run() -> None:
        try:
            answers.append((task(), None))
        except Exception as error:
            answers.append((None, error))

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(0.05)
    answer, error = answers[0]
    if error is not None:
        raise error
    return answer
