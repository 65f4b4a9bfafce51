"""From a problem with a hinge to its dual, and back from a dual point to a solution.

Every row brings a box and a slope to the dual (``smo`` states it); c is its cost, beta the slope of the concave part
of its loss at the present scores, times c (zero for a convex loss):

=====================================  ==========================  ===============================================
row                                    slope                       box
=====================================  ==========================  ===============================================
labeled, hinge                         y                           0 <= y a <= c
labeled, squared hinge                 y, ridge 1/(2c)             0 <= y a
labeled, ramp                          y                           -beta <= y a <= c - beta
unlabeled, symmetric ramp: the copies  +1 up to mid, -1 above      -beta_+ <= a_+ <= c - beta_+ for label +1 and
for both labels are one coordinate     mid = beta_- - beta_+       -beta_- <= -a_- <= c - beta_-, a = a_+ + a_-
=====================================  ==========================  ===============================================

A free intercept is the condition sum a = 0. Without one a virtual row absorbs the sum: the origin, or for a
regularised intercept the constant -1, which is the kernel K + 1 up to a constant that sum a = 0 makes invisible. A
mean balance is one more virtual row, the mean of the unlabeled rows in feature space, whose slope is the mean wanted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .. import losses
from ..balance import Mean
from ..losses import SquaredHinge
from ..problem import Problem, objective_of_scores, violation
from ..solution import Certificate, Solution
from ..spaces import Gram


class Dual(NamedTuple):
    """maximise sum phi_i(a_i) - 1/2 a'(K + diag(ridge)) a, sum a = 0, lo <= a <= hi.

    phi_i has slope ``slope`` up to ``mid`` and ``high_slope`` above; None for both where no row has a kink.
    ``virtual`` holds the kernel values of virtual rows with all rows and with each other, shape (k, n + k); their
    coordinates are free and their linear terms are ``virtual_slope``.
    """

    gram: Gram
    lo: np.ndarray
    hi: np.ndarray
    slope: np.ndarray
    ridge: np.ndarray | None = None
    mid: np.ndarray | None = None
    high_slope: np.ndarray | None = None
    virtual: np.ndarray | None = None
    virtual_slope: np.ndarray | None = None


@dataclass
class DualPoint:
    """A feasible point of a dual.

    Attributes
    ----------
    a : array of shape (n + k,)
        The coordinates, virtual ones last.
    f : array of shape (n + k,)
        (K + diag(ridge)) a.
    b : float
        The multiplier of sum a = 0.
    violation : float
        max (up - f) - min (down - f), zero at a solution.
    n_iter : int
        Pair steps made.
    status : str
        As in ``Solution``.
    """

    a: np.ndarray
    f: np.ndarray
    b: float
    violation: float
    n_iter: int
    status: str


def formulate(problem: Problem) -> Dual:
    """The dual of the labeled rows with all concave slopes zero and the boxes of unlabeled rows shut.

    With a balance this is the labeled machine that meets it. ``bend`` opens the other boxes.
    """
    known, priced = problem.is_labeled, problem.cost > 0
    y = problem.signs
    squared = isinstance(problem.labeled, SquaredHinge)
    reach = np.where(known & priced, np.inf if squared else problem.cost, 0.0)
    virtual, virtual_slope = _virtual(problem)
    return Dual(
        problem.space.gram(),
        lo=np.where(y < 0, -reach, 0.0),
        hi=np.where(y > 0, reach, 0.0),
        slope=y.astype(np.float64),
        ridge=np.divide(0.5, problem.cost, out=np.zeros_like(problem.cost), where=known & priced) if squared else None,
        virtual=virtual,
        virtual_slope=virtual_slope,
    )


def bend(problem: Problem, dual: Dual, f: np.ndarray) -> Dual:
    """The dual of the convex step at scores f: boxes moved by the concave slopes there."""
    known, y, c = problem.is_labeled, problem.signs, problem.cost
    lo, hi = dual.lo.copy(), dual.hi.copy()
    if known.any() and not isinstance(problem.labeled, SquaredHinge):
        beta = c * losses.concave_slope(problem.labeled, y * f)
        lo[known] = np.where(y > 0, -beta, beta - c)[known]
        hi[known] = np.where(y > 0, c - beta, beta)[known]
    if problem.unlabeled is None or not problem.has_unlabeled:
        return dual._replace(lo=lo, hi=hi)
    tilt = c * losses.concave_slope(problem.unlabeled, f)  # beta_+ - beta_-
    lo[~known], hi[~known] = (-c - tilt)[~known], (c - tilt)[~known]
    slope = np.where(known, dual.slope, 1.0)
    return dual._replace(
        lo=lo, hi=hi, mid=np.where(known, hi, -tilt), slope=slope, high_slope=np.where(known, slope, -1.0)
    )


def balanced(problem: Problem) -> bool:
    """Whether the first virtual row is the mean of the unlabeled rows."""
    return isinstance(problem.balance, Mean) and problem.has_unlabeled


def _virtual(problem: Problem) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Kernel values and slopes of the virtual rows: the mean of a balance, then what absorbs the sum."""
    gram, n = problem.space.gram(), problem.space.gram().n
    heads, slopes = [], []
    shares = problem.shares()
    if balanced(problem):
        heads.append(gram.times(shares))
        slopes.append(problem.balance.m)
    if problem.intercept is not True:
        heads.append(np.full(n, -1.0 if problem.intercept == "regularised" else 0.0))
        slopes.append(0.0)
    if not heads:
        return None, None
    corner = np.full((len(heads), len(heads)), heads[-1][0] if problem.intercept is not True else 0.0)
    if balanced(problem):
        corner[0, 0] = shares @ heads[0]
    return np.c_[np.array(heads), corner], np.array(slopes)


def read(problem: Problem, dual: Dual, point: DualPoint) -> tuple[np.ndarray, float, float]:
    """Scores, intercept and ||w||^2 as the dual point carries them, without touching the kernel."""
    n = dual.gram.n
    plain = point.f
    if dual.ridge is not None:
        plain = plain.copy()
        plain[:n] -= dual.ridge * point.a[:n]
    offset = problem.balance.m - plain[n] if balanced(problem) else point.b
    b = offset if problem.intercept is True else float(point.a[:n].sum()) if problem.intercept else 0.0
    norm2 = float(point.a @ plain) - (b**2 if problem.intercept == "regularised" else 0.0)
    return plain[:n] + offset, b, norm2


def solution_of(problem: Problem, point: DualPoint, kind: str, trace: list | None = None, n_iter=None) -> Solution:
    """The solution at a dual point, judged by ``problem``."""
    n = problem.space.gram().n
    shares = problem.shares()
    own, rest = point.a[:n], point.a[n:]
    a = own + rest[0] * shares if balanced(problem) else own
    coef = problem.space.from_dual(a)
    scores = problem.space.scores(coef, 0.0)
    norm2 = float(a @ scores)
    b = 0.0 if problem.intercept is False else float(a.sum()) if problem.intercept == "regularised" else point.b
    if balanced(problem) and problem.intercept is True:
        b = problem.balance.m - float(shares @ scores)
    scores += b
    certificate = Certificate(kind, violation(problem, own, scores))
    value = objective_of_scores(problem, norm2, scores, b)
    if kind == "kkt":
        certificate = _with_gap(problem, own, norm2, b, value, certificate)
    labels = np.where(problem.is_labeled, problem.signs, np.where(scores > 0, 1.0, -1.0))
    steps = point.n_iter if n_iter is None else n_iter
    return Solution(coef, b, scores, labels, value, certificate, point.status, steps, own, a, trace or [])


def _with_gap(problem, a, norm2, b, value, certificate) -> Certificate:
    """Weak duality: y'a - 1/2 ||w||^2 [- 1/2 b^2] [- sum a^2/(4c)] is below every objective."""
    ridge = 0.0
    if isinstance(problem.labeled, SquaredHinge):
        ridge = np.divide(a**2, 4.0 * problem.cost, out=np.zeros_like(a), where=problem.cost > 0).sum()
    bound = float(problem.signs @ a - 0.5 * norm2 - (0.5 * b**2 if problem.intercept == "regularised" else 0.0) - ridge)
    return Certificate(certificate.kind, certificate.value, bound, value - bound)
