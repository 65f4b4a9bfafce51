"""What a solver returns: where it stopped, why, and what it can prove about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Certificate:
    """What is known about a solution.

    Attributes
    ----------
    kind : {"kkt", "gap", "stationary", "no_flip", "monotone", "none"}
        "kkt": a convex problem, ``value`` is the largest violation of the optimality conditions. "gap": bounded from
        below. "stationary": ``value`` is the violation of the conditions at a point of a problem that is not convex.
        "no_flip": no allowed change of a label improves. "monotone": the objective fell at every step. "none".
    value : float
        The size of what is left.
    lower_bound, gap : float or None
        A bound on the best objective and the distance to it, where there is one.
    """

    kind: str
    value: float
    lower_bound: float | None = None
    gap: float | None = None


@dataclass
class Solution:
    """A point of a ``Problem``.

    Attributes
    ----------
    coef, intercept : array, float
        f, in the coordinates of the problem's space.
    scores : array of shape (n,)
        f at the training rows.
    labels : array of shape (n,)
        The signs, with those of unlabeled rows filled in.
    objective : float
        As ``problem.objective`` has it.
    certificate : Certificate
        What is proved.
    status : {"converged", "max_iter", "max_time", "interrupted", "stopped"}
        Why the solver returned.
    n_iter : int
        Iterations of the outermost loop, the first solve included.
    multipliers : array of shape (n,) or None
        The rows' own dual variables, without what a balance spreads over them.
    dual : array of shape (n,) or None
        The same with it: w = sum of dual_i phi(x_i).
    trace : list of dict
        One row per outer iteration.
    facts : dict
        Numbers that only some methods have.
    """

    coef: np.ndarray
    intercept: float
    scores: np.ndarray
    labels: np.ndarray
    objective: float
    certificate: Certificate
    status: str
    n_iter: int
    multipliers: np.ndarray | None = None
    dual: np.ndarray | None = None
    trace: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, float] = field(default_factory=dict)
