"""Safe least squares (Krijthe and Loog): never worse than the supervised machine, whatever the labels are.

For soft labels q in [-1, 1] of the unlabeled rows the objective J(v; q) of v = (w, b) is quadratic, with a Hessian A
that does not depend on q, and smallest at v(q). Its projection onto the convex set of all v(q), in the norm of A,
brings the supervised machine v_s closer to every v(q), the one of the true labels included; and J(v; q) - J(v(q); q) is
half the squared distance, so the objective with the true labels does not rise. The projection is a quadratic program
over a box:

    min over q of J(v_s; q) - 1/2 [y; q]'S[y; q]  =  1/2 q'(c - S_UU)q - q'(c f_s + S_UL y) + constant
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..balance import Count, Free
from ..linalg import box_qp
from ..losses import Squared, SymmetricSquared
from ..problem import Problem
from ..solution import Certificate, Solution
from .least_squares import fitted, machine, need_memory, system_of


@dataclass(frozen=True)
class SafeProjection:
    """The projection of the supervised machine onto what soft labels can make of it.

    Parameters
    ----------
    max_time : float or None
        Not reached: the program is solved to the end.
    """

    max_time: float | None = None

    losses = (Squared,)
    unlabeled_losses = (type(None), SymmetricSquared)
    balances = (Free, Count)

    def solve(self, problem: Problem, start: Solution | None = None, callback=None, rng=None) -> Solution:
        """Project; no balance is kept, for the promise holds over all labels."""
        first = fitted(problem.alone(), callback)
        if problem.unlabeled is None or not len(system_of(problem).free):
            return first
        system = system_of(problem)
        form, rows, labeled, free = system
        need_memory(len(free), 8)
        f = first.scores[rows[free]]
        cost = form.cost[free]
        y = problem.signs[rows].copy()
        P = np.diag(cost) - form.block(free)
        P = 0.5 * (P + P.T)
        P[np.diag_indices(len(free))] += 1e-15 * len(free) * cost  # what rounding may have taken off
        pull = cost * f + form.block(free, labeled) @ y[labeled]
        y[free] = q = box_qp(P, -pull, np.clip(f, -1.0, 1.0))
        slope = P @ q - pull
        off = np.where(q <= -1.0, np.minimum(slope, 0.0), np.where(q >= 1.0, np.maximum(slope, 0.0), slope))
        certificate = Certificate("stationary", float(np.abs(off).max(initial=0.0)))
        return machine(problem, system, y, soft=True, certificate=certificate)
